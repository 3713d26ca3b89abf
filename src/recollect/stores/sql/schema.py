"""The one schema, for every SQL store.

Each table that holds anything of a user's starts its primary key with `user_id`, by which PostgreSQL
partitions it. Times are microseconds since 1970 UTC. `seq` is the user's change feed: every write takes
the next number.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    Table,
    UniqueConstraint,
    true,
)

from recollect.stores.sql.operating import (
    answers,
    api_keys,
    deletions,
    erasures,
    jobs,
    leases,
    marks,
    measures,
    meta,
    places,
    projected,
    receipts,
    sizes,
    spending,
    threads,
    unprojected,
    usage,
    visits,
)
from recollect.stores.sql.searching import chunks, empty, parked, spaces, vectors, waiting
from recollect.stores.sql.tables import (
    BY_TIME,
    BY_USER,
    PARTITIONS,
    metadata,
    number,
    record_table,
    text,
    text_type,
    time,
    vector_type,
)

__all__ = [
    "PARTITIONS",
    "answers",
    "api_keys",
    "chunks",
    "deletions",
    "empty",
    "erasures",
    "jobs",
    "leases",
    "marks",
    "measures",
    "meta",
    "metadata",
    "parked",
    "places",
    "projected",
    "receipts",
    "sizes",
    "spaces",
    "spending",
    "text_type",
    "threads",
    "unprojected",
    "usage",
    "vector_type",
    "vectors",
    "visits",
    "waiting",
]

users = Table(
    "users",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("next_doc", BigInteger, nullable=False),
    Column("documents", BigInteger, nullable=False),
    Column("terms", BigInteger, nullable=False),
    text("secret"),
)
"""`number` names the user in the text index and is never used again. A counter sees to that (`locking.py`): a
key of it alone would be one over all servers that users are spread over. `documents` and `terms` are the
user's own text statistics."""

conversations = record_table(
    "conversations",
    text("channel"),
    text("agent", null=True),
    text("title", null=True),
    time("started_at"),
    time("last_at"),
    number("next_index"),
    number("mined_to"),
    time("ended_at", null=True),
    time("archived_at", null=True),
    added=(
        Column("mining_failures", Integer, nullable=False, server_default="0"),
        text("mining_problem", null=True),
        time("mining_after", null=True),
        Column("concluded_to", Integer, nullable=False, server_default="0"),
    ),
)

unmined = conversations.c.mined_to < conversations.c.next_index
Index("ix_conversations_unmined", conversations.c.user_id, sqlite_where=unmined, postgresql_where=unmined)

unconcluded = conversations.c.concluded_to < conversations.c.next_index
Index(
    "ix_conversations_unconcluded",
    conversations.c.user_id,
    sqlite_where=unconcluded,
    postgresql_where=unconcluded,
)

turns = record_table(
    "turns",
    text("conversation"),
    number("index"),
    text("role"),
    text("content"),
    time("at"),
    time("recorded_at"),
    text("digest"),
    text("channel"),
    text("agent", null=True),
    text("zone", null=True),
    text("model", null=True),
    number("tokens"),
    UniqueConstraint("user_id", "conversation", "index", name="uq_turns_place"),
    Index("ix_turns_at", "user_id", "at"),
)

memories = record_table(
    "memories",
    text("kind"),
    text("content"),
    time("recorded_at"),
    time("valid_from"),
    time("valid_to", null=True),
    time("stated_to", null=True),
    time("retired_at", null=True),
    text("channel"),
    text("agent", null=True),
    Column("confidence", Float, nullable=False),
    Column("salience", Float, nullable=False),
    text("tense"),
    text("origin"),
    text("supersedes", null=True),
    text("superseded_by", null=True),
    time("expires_at", null=True),
    Column("pinned", Boolean, nullable=False),
    text("details"),
    Index("ix_memories_kind", "user_id", "kind", "id"),
    Index("ix_memories_supersedes", "user_id", "supersedes"),
    added=(
        text("slot", null=True),
        Index("ix_memories_slot", "user_id", "slot"),
        Column("initial", Float),
        text("promoted_from", null=True),
    ),
)
expiring = memories.c.expires_at.is_not(None)
Index(
    "ix_memories_expiry",
    memories.c.user_id,
    memories.c.expires_at,
    sqlite_where=expiring,
    postgresql_where=expiring,
)
"""`details` holds what only one kind of memory has."""

entities = record_table(
    "entities",
    text("name"),
    text("type"),
    text("aliases"),
    text("description"),
    text("channel"),
    Column("salience", Float, nullable=False),
    time("first_seen"),
    Index("ix_entities_name", "user_id", "name"),
    added=(
        Column("initial", Float),
        time("last_seen", null=True),
        Index("ix_entities_seq", "user_id", "seq"),
    ),
)

relations = record_table(
    "relations",
    text("source"),
    text("type"),
    text("target"),
    time("valid_from"),
    time("valid_to", null=True),
    time("recorded_at"),
    time("retired_at", null=True),
    text("channel"),
    Column("confidence", Float, nullable=False),
    Index("ix_relations_source", "user_id", "source"),
    Index("ix_relations_target", "user_id", "target"),
    added=(Index("ix_relations_seq", "user_id", "seq"),),
)

closets = record_table(
    "closets",
    number("wing"),
    number("room"),
    number("number"),
    text("subject"),
    text("type"),
    text("slug"),
    text("title"),
    text("conversation", null=True),
    number("first"),
    number("last"),
    time("at"),
    text("channel"),
    text("agent", null=True),
    added=(
        Index("ix_closets_wings", "user_id", "slug", "wing", "id"),
        Index("ix_closets_numbers", "user_id", "wing", "room", "number", "id"),
        Index("ix_closets_turns", "user_id", "conversation", "first", "id"),
    ),
)

goals = record_table(
    "goals",
    text("description"),
    time("created_at"),
    text("status"),
    number("priority"),
    time("deadline", null=True),
    time("closed_at", null=True),
    text("result", null=True),
    text("parent", null=True),
    text("channel"),
    text("agent", null=True),
    text("conversation", null=True),
    Index("ix_goals_status", "user_id", "status"),
    added=(Index("ix_goals_seq", "user_id", "seq"),),
)

tool_invocations = record_table(
    "tool_invocations",
    text("tool"),
    text("input"),
    text("output"),
    Column("success", Boolean, nullable=False),
    Column("latency_ms", Float),
    text("error", null=True),
    time("at"),
    text("conversation", null=True),
    text("turn", null=True),
    text("channel"),
    text("agent", null=True),
    Index("ix_tool_invocations_conversation", "user_id", "conversation"),
    added=(
        Index("ix_tool_invocations_turn", "user_id", "turn"),
        Index("ix_tool_invocations_seq", "user_id", "seq"),
    ),
)

summaries = record_table(
    "summaries",
    text("conversation"),
    text("query"),
    text("summary"),
    text("result"),
    time("at"),
    text("channel"),
    text("agent", null=True),
    Index("ix_summaries_conversation", "user_id", "conversation"),
)

responses = record_table(
    "responses",
    text("conversation"),
    time("at"),
    text("previous", null=True),
    text("input"),
    text("body"),
    text("channel"),
    text("agent", null=True),
    Index("ix_responses_conversation", "user_id", "conversation"),
    Index("ix_responses_at", "user_id", "at"),
)

profiles = record_table("profiles", text("preferences"), text("expertise"), text("style"), time("updated_at"))
user_settings = record_table("user_settings", text("values"), time("updated_at"))
tombstones = record_table(
    "tombstones", text("digest"), time("at"), Index("ix_tombstones_digest", "user_id", "digest")
)
audit = record_table(
    "audit",
    text("operation"),
    text("subject"),
    Column("at", BigInteger, primary_key=True),
    number("count"),
    text("channel"),
    text("agent", null=True),
    text("conversation", null=True),
    Index("ix_audit_at", "user_id", "at"),
    added=(
        text("memory_kind", null=True),
        Column("latency_ms", Float),
        Column("success", Boolean, nullable=False, server_default=true()),
        text("error", null=True),
        Column("details", text_type(), nullable=False, server_default="{}"),
        text("payload", null=True),
        Index("ix_audit_conversation", "user_id", "conversation"),
    ),
    partition_by=BY_TIME,
)
"""By day, so that old ones go by dropping a partition; therefore `at` is part of its key."""
answered = audit.c.payload.is_not(None)
Index("ix_audit_payload", audit.c.user_id, sqlite_where=answered, postgresql_where=answered)

links = Table(
    "links",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("owner", text_type(), primary_key=True),
    Column("name", text_type(), primary_key=True),
    Column("place", Integer, primary_key=True),
    text("target"),
    Index("ix_links_target", "user_id", "name", "target"),
    postgresql_partition_by=BY_USER,
)
"""Which turns a record cites, which entities it is about, which goals block it, what it is known by."""

RECORD_TABLES: dict[str, Table] = {
    "conversation": conversations,
    "turn": turns,
    "fact": memories,
    "procedure": memories,
    "episode": memories,
    "reflection": memories,
    "entity": entities,
    "relation": relations,
    "closet": closets,
    "goal": goals,
    "tool_invocation": tool_invocations,
    "summary": summaries,
    "response": responses,
    "profile": profiles,
    "settings": user_settings,
    "tombstone": tombstones,
    "audit": audit,
}

USER_TABLES: tuple[Table, ...] = tuple(t for t in metadata.sorted_tables if "user_id" in t.c)
