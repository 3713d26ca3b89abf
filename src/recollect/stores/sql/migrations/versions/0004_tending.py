"""What tending keeps: how far it has come with whom, sizes, counts, receipts; what decays and is promoted."""

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.schema import text_type

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_UNCONCLUDED = sa.text("concluded_to < next_index")
_EXPIRING = sa.text("expires_at IS NOT NULL")


def upgrade() -> None:
    concluded = sa.Column("concluded_to", sa.Integer(), nullable=False, server_default="0")
    op.add_column("conversations", concluded)
    _index("ix_conversations_unconcluded", "conversations", ["user_id"], _UNCONCLUDED)
    op.add_column("memories", sa.Column("initial", sa.Float(), nullable=True))
    op.add_column("memories", sa.Column("promoted_from", text_type(), nullable=True))
    _index("ix_memories_expiry", "memories", ["user_id", "expires_at"], _EXPIRING)
    op.add_column("entities", sa.Column("initial", sa.Float(), nullable=True))
    op.add_column("entities", sa.Column("last_seen", sa.BigInteger(), nullable=True))
    op.add_column("vectors", sa.Column("failures", sa.Integer(), nullable=False, server_default="0"))
    for column in (
        sa.Column("memory_kind", text_type(), nullable=True),
        sa.Column("latency_ms", sa.Float(), nullable=True),
        sa.Column("success", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("error", text_type(), nullable=True),
        sa.Column("details", text_type(), nullable=False, server_default="{}"),
        sa.Column("payload", text_type(), nullable=True),
    ):
        op.add_column("audit", column)
    _make_users_tables()
    _make_operators_tables()


def _index(name: str, table: str, columns: list[str], where: sa.TextClause) -> None:
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def _make_users_tables() -> None:
    op.create_table(
        "sizes",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("turns", sa.BigInteger(), nullable=False),
        sa.Column("memories", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "channel"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_table(
        "visits",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("soon_at", sa.BigInteger(), nullable=False),
        sa.Column("holder", text_type(), nullable=True),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("user_id"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_visits_due", "visits", ["due_at"])
    op.create_table(
        "marks",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("chore", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=True),
        sa.Column("after", sa.BigInteger(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("problem", text_type(), nullable=True),
        sa.PrimaryKeyConstraint("user_id", "chore"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )


def _make_operators_tables() -> None:
    op.create_table(
        "jobs",
        sa.Column("name", text_type(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("problem", text_type(), nullable=True),
        sa.Column("runs", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("progress", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "measures",
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", text_type(), nullable=False),
        sa.Column("bucket", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "name", "bucket"),
    )
    op.create_table(
        "receipts",
        sa.Column("id", text_type(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("what", text_type(), nullable=False),
        sa.Column("counts", text_type(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
