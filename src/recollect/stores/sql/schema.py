"""The one schema, for every SQL store.

Each table that holds anything of a user's starts its primary key with `user_id`, by which PostgreSQL
partitions it. Times are microseconds since 1970 UTC. `seq` is the user's change feed: every write takes
the next number.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeEngine, UserDefinedType

metadata = MetaData()

PARTITIONS = 64
"""Into how many parts PostgreSQL splits each table by its user."""
BY_USER = "HASH (user_id)"
BY_TIME = "RANGE (at)"


class Halfvec(UserDefinedType[bytes]):
    """pgvector's 16-bit vectors. Rows carry the bytes that `codec.encode_vector` made; the PostgreSQL
    store's connections turn them into vectors and back."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "halfvec"


def vector_type() -> TypeEngine[bytes]:
    return LargeBinary().with_variant(Halfvec(), "postgresql")


def text_type() -> TypeEngine[str]:
    """Compared character by character, as Python does, whatever the database's language is."""
    return Text().with_variant(Text(collation="C"), "postgresql")


def _text(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, text_type(), nullable=null)


def _time(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=null)


def _number(name: str) -> Column[Any]:
    return Column(name, Integer, nullable=False)


def _record_table(name: str, *columns: Any, partition_by: str = BY_USER) -> Table:
    return Table(
        name,
        metadata,
        Column("user_id", text_type(), primary_key=True),
        Column("id", text_type(), primary_key=True),
        *columns,
        _text("metadata"),
        Column("seq", BigInteger, nullable=False),
        postgresql_partition_by=partition_by,
    )


users = Table(
    "users",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("number", BigInteger, nullable=False, unique=True),
    Column("seq", BigInteger, nullable=False),
    Column("next_doc", BigInteger, nullable=False),
    Column("documents", BigInteger, nullable=False),
    Column("terms", BigInteger, nullable=False),
    _text("secret"),
)
"""`number` names the user in the text index and is never used again; `documents` and `terms` are the
user's own text statistics."""

conversations = _record_table(
    "conversations",
    _text("channel"),
    _text("agent", null=True),
    _text("title", null=True),
    _time("started_at"),
    _time("last_at"),
    _number("next_index"),
    _number("mined_to"),
    _time("ended_at", null=True),
    _time("archived_at", null=True),
)

turns = _record_table(
    "turns",
    _text("conversation"),
    _number("index"),
    _text("role"),
    _text("content"),
    _time("at"),
    _time("recorded_at"),
    _text("digest"),
    _text("channel"),
    _text("agent", null=True),
    _text("zone", null=True),
    _text("model", null=True),
    _number("tokens"),
    UniqueConstraint("user_id", "conversation", "index", name="uq_turns_place"),
    Index("ix_turns_at", "user_id", "at"),
)

memories = _record_table(
    "memories",
    _text("kind"),
    _text("content"),
    _time("recorded_at"),
    _time("valid_from"),
    _time("valid_to", null=True),
    _time("stated_to", null=True),
    _time("retired_at", null=True),
    _text("channel"),
    _text("agent", null=True),
    Column("confidence", Float, nullable=False),
    Column("salience", Float, nullable=False),
    _text("tense"),
    _text("origin"),
    _text("supersedes", null=True),
    _text("superseded_by", null=True),
    _time("expires_at", null=True),
    Column("pinned", Boolean, nullable=False),
    _text("details"),
    Index("ix_memories_kind", "user_id", "kind", "id"),
    Index("ix_memories_supersedes", "user_id", "supersedes"),
)
"""`details` holds what only one kind of memory has."""

entities = _record_table(
    "entities",
    _text("name"),
    _text("type"),
    _text("aliases"),
    _text("description"),
    _text("channel"),
    Column("salience", Float, nullable=False),
    _time("first_seen"),
    Index("ix_entities_name", "user_id", "name"),
)

relations = _record_table(
    "relations",
    _text("source"),
    _text("type"),
    _text("target"),
    _time("valid_from"),
    _time("valid_to", null=True),
    _time("recorded_at"),
    _time("retired_at", null=True),
    _text("channel"),
    Column("confidence", Float, nullable=False),
    Index("ix_relations_source", "user_id", "source"),
    Index("ix_relations_target", "user_id", "target"),
)

goals = _record_table(
    "goals",
    _text("description"),
    _time("created_at"),
    _text("status"),
    _number("priority"),
    _time("deadline", null=True),
    _time("closed_at", null=True),
    _text("result", null=True),
    _text("parent", null=True),
    _text("channel"),
    _text("agent", null=True),
    _text("conversation", null=True),
    Index("ix_goals_status", "user_id", "status"),
)

tool_invocations = _record_table(
    "tool_invocations",
    _text("tool"),
    _text("input"),
    _text("output"),
    Column("success", Boolean, nullable=False),
    Column("latency_ms", Float),
    _text("error", null=True),
    _time("at"),
    _text("conversation", null=True),
    _text("turn", null=True),
    _text("channel"),
    _text("agent", null=True),
    Index("ix_tool_invocations_conversation", "user_id", "conversation"),
)

summaries = _record_table(
    "summaries",
    _text("conversation"),
    _text("query"),
    _text("summary"),
    _text("result"),
    _time("at"),
    _text("channel"),
    _text("agent", null=True),
    Index("ix_summaries_conversation", "user_id", "conversation"),
)

profiles = _record_table(
    "profiles", _text("preferences"), _text("expertise"), _text("style"), _time("updated_at")
)
user_settings = _record_table("user_settings", _text("values"), _time("updated_at"))
tombstones = _record_table(
    "tombstones", _text("digest"), _time("at"), Index("ix_tombstones_digest", "user_id", "digest")
)
audit = _record_table(
    "audit",
    _text("operation"),
    _text("subject"),
    Column("at", BigInteger, primary_key=True),
    _number("count"),
    _text("channel"),
    _text("agent", null=True),
    _text("conversation", null=True),
    Index("ix_audit_at", "user_id", "at"),
    partition_by=BY_TIME,
)
"""By day, so that old ones go by dropping a partition; therefore `at` is part of its key."""

links = Table(
    "links",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("owner", text_type(), primary_key=True),
    Column("name", text_type(), primary_key=True),
    Column("place", Integer, primary_key=True),
    _text("target"),
    Index("ix_links_target", "user_id", "name", "target"),
    postgresql_partition_by=BY_USER,
)
"""Which turns a record cites, which entities it is about, which goals block it."""

chunks = Table(
    "chunks",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("doc", BigInteger, primary_key=True),
    _text("kind"),
    _text("owner"),
    _number("start"),
    _number("stop"),
    _number("terms"),
    _text("channel"),
    _text("agent", null=True),
    _text("conversation", null=True),
    _text("role", null=True),
    Column("confidence", Float, nullable=False),
    _time("at"),
    _time("valid_from"),
    _time("valid_to", null=True),
    _time("stated_to", null=True),
    _time("recorded_at"),
    _time("retired_at", null=True),
    _time("expires_at", null=True),
    _text("supersedes", null=True),
    Column("seq", BigInteger, nullable=False),
    Column("place", Integer),
    Column("weight", Float, nullable=False, server_default="1"),
    Index("ix_chunks_owner", "user_id", "owner"),
    Index("ix_chunks_seq", "user_id", "seq"),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""What is searched: a span of a record's text with a copy of what filters and ranking need. `doc` counts
per user; `place` is a turn's in its conversation; `weight` is how much a find counts."""

vectors = Table(
    "vectors",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("space", Integer, primary_key=True),
    Column("doc", BigInteger, primary_key=True),
    Column("vector", vector_type()),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""Float16, little-endian. A row without a vector waits for one."""

waiting = vectors.c.vector.is_(None)
Index(
    "ix_vectors_waiting",
    vectors.c.space,
    vectors.c.user_id,
    vectors.c.doc,
    sqlite_where=waiting,
    postgresql_where=waiting,
)

usage = Table(
    "usage",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("id", text_type(), primary_key=True),
    _text("kind"),
    _number("count"),
    _number("since_renewal"),
    _time("last_at"),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""How often a memory was returned; apart from the memory, so that counting does not rewrite it."""

deletions = Table(
    "deletions",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("kind", text_type(), primary_key=True),
    Column("id", text_type(), primary_key=True),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""What is gone, for whoever follows the feed. Holds no content."""

spaces = Table(
    "spaces",
    metadata,
    Column("id", Integer, primary_key=True),
    _text("model"),
    _number("dimensions"),
    Column("unrelated", Float, nullable=False),
    Column("active", Boolean, nullable=False),
    UniqueConstraint("model", "dimensions", name="uq_spaces_model"),
)

leases = Table(
    "leases",
    metadata,
    Column("name", text_type(), primary_key=True),
    _text("holder"),
    _time("until"),
)

meta = Table(
    "meta",
    metadata,
    Column("key", text_type(), primary_key=True),
    Column("value", BigInteger, nullable=False),
)
"""Counters and marks of the whole database: the next user number, the analyser's version."""

erasures = Table(
    "erasures",
    metadata,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("erased", BigInteger, nullable=False),
    Column("scrubbed", BigInteger, nullable=False),
)
"""How often something was erased in a partition, and up to which of these its files were scrubbed."""

RECORD_TABLES: dict[str, Table] = {
    "conversation": conversations,
    "turn": turns,
    "fact": memories,
    "procedure": memories,
    "episode": memories,
    "reflection": memories,
    "entity": entities,
    "relation": relations,
    "goal": goals,
    "tool_invocation": tool_invocations,
    "summary": summaries,
    "profile": profiles,
    "settings": user_settings,
    "tombstone": tombstones,
    "audit": audit,
}

USER_TABLES: tuple[Table, ...] = tuple(t for t in metadata.sorted_tables if "user_id" in t.c)
