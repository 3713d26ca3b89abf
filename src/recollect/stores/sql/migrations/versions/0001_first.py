"""The first schema."""

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.schema import text_type, vector_type

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:  # noqa: PLR0915 - a list of tables
    op.create_table(
        "audit",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("operation", text_type(), nullable=False),
        sa.Column("subject", text_type(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("agent", text_type(), nullable=True),
        sa.Column("conversation", text_type(), nullable=True),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id", "at"),
        postgresql_partition_by="RANGE (at)",
    )
    op.create_index("ix_audit_at", "audit", ["user_id", "at"], unique=False)
    op.create_table(
        "chunks",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("doc", sa.BigInteger(), nullable=False),
        sa.Column("kind", text_type(), nullable=False),
        sa.Column("owner", text_type(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("stop", sa.Integer(), nullable=False),
        sa.Column("terms", sa.Integer(), nullable=False),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("agent", text_type(), nullable=True),
        sa.Column("conversation", text_type(), nullable=True),
        sa.Column("role", text_type(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("stated_to", sa.BigInteger(), nullable=True),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("retired_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("supersedes", text_type(), nullable=True),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "doc"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_chunks_owner", "chunks", ["user_id", "owner"], unique=False)
    op.create_index("ix_chunks_seq", "chunks", ["user_id", "seq"], unique=False)
    op.create_table(
        "conversations",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("agent", text_type(), nullable=True),
        sa.Column("title", text_type(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.Column("next_index", sa.Integer(), nullable=False),
        sa.Column("mined_to", sa.Integer(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("archived_at", sa.BigInteger(), nullable=True),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_table(
        "deletions",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "seq", "kind", "id"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_table(
        "entities",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("name", text_type(), nullable=False),
        sa.Column("type", text_type(), nullable=False),
        sa.Column("aliases", text_type(), nullable=False),
        sa.Column("description", text_type(), nullable=False),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("salience", sa.Float(), nullable=False),
        sa.Column("first_seen", sa.BigInteger(), nullable=False),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_entities_name", "entities", ["user_id", "name"], unique=False)
    op.create_table(
        "erasures",
        sa.Column("partition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("erased", sa.BigInteger(), nullable=False),
        sa.Column("scrubbed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("partition"),
    )
    op.create_table(
        "goals",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("description", text_type(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("status", text_type(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("deadline", sa.BigInteger(), nullable=True),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("result", text_type(), nullable=True),
        sa.Column("parent", text_type(), nullable=True),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("agent", text_type(), nullable=True),
        sa.Column("conversation", text_type(), nullable=True),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_goals_status", "goals", ["user_id", "status"], unique=False)
    op.create_table(
        "leases",
        sa.Column("name", text_type(), nullable=False),
        sa.Column("holder", text_type(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "links",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("owner", text_type(), nullable=False),
        sa.Column("name", text_type(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("target", text_type(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "owner", "name", "place"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_links_target", "links", ["user_id", "name", "target"], unique=False)
    op.create_table(
        "memories",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("kind", text_type(), nullable=False),
        sa.Column("content", text_type(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("stated_to", sa.BigInteger(), nullable=True),
        sa.Column("retired_at", sa.BigInteger(), nullable=True),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("agent", text_type(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("salience", sa.Float(), nullable=False),
        sa.Column("tense", text_type(), nullable=False),
        sa.Column("origin", text_type(), nullable=False),
        sa.Column("supersedes", text_type(), nullable=True),
        sa.Column("superseded_by", text_type(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("details", text_type(), nullable=False),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_memories_kind", "memories", ["user_id", "kind", "id"], unique=False)
    op.create_index("ix_memories_supersedes", "memories", ["user_id", "supersedes"], unique=False)
    op.create_table(
        "meta",
        sa.Column("key", text_type(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "profiles",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("preferences", text_type(), nullable=False),
        sa.Column("expertise", text_type(), nullable=False),
        sa.Column("style", text_type(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_table(
        "relations",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("source", text_type(), nullable=False),
        sa.Column("type", text_type(), nullable=False),
        sa.Column("target", text_type(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("retired_at", sa.BigInteger(), nullable=True),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_relations_source", "relations", ["user_id", "source"], unique=False)
    op.create_index("ix_relations_target", "relations", ["user_id", "target"], unique=False)
    op.create_table(
        "spaces",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model", text_type(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("unrelated", sa.Float(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("model", "dimensions", name="uq_spaces_model"),
    )
    op.create_table(
        "summaries",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("conversation", text_type(), nullable=False),
        sa.Column("query", text_type(), nullable=False),
        sa.Column("summary", text_type(), nullable=False),
        sa.Column("result", text_type(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("agent", text_type(), nullable=True),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_summaries_conversation", "summaries", ["user_id", "conversation"], unique=False)
    op.create_table(
        "tombstones",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("digest", text_type(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_tombstones_digest", "tombstones", ["user_id", "digest"], unique=False)
    op.create_table(
        "tool_invocations",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("tool", text_type(), nullable=False),
        sa.Column("input", text_type(), nullable=False),
        sa.Column("output", text_type(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("latency_ms", sa.Float(), nullable=True),
        sa.Column("error", text_type(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("conversation", text_type(), nullable=True),
        sa.Column("turn", text_type(), nullable=True),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("agent", text_type(), nullable=True),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index(
        "ix_tool_invocations_conversation", "tool_invocations", ["user_id", "conversation"], unique=False
    )
    op.create_table(
        "turns",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("conversation", text_type(), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("role", text_type(), nullable=False),
        sa.Column("content", text_type(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("digest", text_type(), nullable=False),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("agent", text_type(), nullable=True),
        sa.Column("zone", text_type(), nullable=True),
        sa.Column("model", text_type(), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        sa.UniqueConstraint("user_id", "conversation", "index", name="uq_turns_place"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_turns_at", "turns", ["user_id", "at"], unique=False)
    op.create_table(
        "usage",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("kind", text_type(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("since_renewal", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_table(
        "user_settings",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("values", text_type(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_table(
        "users",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("next_doc", sa.BigInteger(), nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.Column("terms", sa.BigInteger(), nullable=False),
        sa.Column("secret", text_type(), nullable=False),
        sa.PrimaryKeyConstraint("user_id"),
        sa.UniqueConstraint("number"),
    )
    op.create_table(
        "vectors",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("space", sa.Integer(), nullable=False),
        sa.Column("doc", sa.BigInteger(), nullable=False),
        sa.Column("vector", vector_type(), nullable=True),
        sa.PrimaryKeyConstraint("user_id", "space", "doc"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index(
        "ix_vectors_waiting",
        "vectors",
        ["space", "user_id", "doc"],
        unique=False,
        sqlite_where=sa.text("vector IS NULL"),
        postgresql_where=sa.text("vector IS NULL"),
    )
    erasures = sa.table("erasures", *map(sa.column, ("partition", "erased", "scrubbed")))
    op.bulk_insert(erasures, [{"partition": number, "erased": 0, "scrubbed": 0} for number in range(64)])
    meta = sa.table("meta", sa.column("key"), sa.column("value"))
    op.bulk_insert(
        meta,
        [
            {"key": "next_user", "value": 0},
            {"key": "analyser", "value": 1},
        ],
    )
