"""What mining keeps: what a memory answers, what entities are known by, the palace, what models cost."""

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.schema import text_type

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_UNMINED = sa.text("mined_to < next_index")


def upgrade() -> None:
    op.add_column("memories", sa.Column("slot", text_type(), nullable=True))
    op.create_index("ix_memories_slot", "memories", ["user_id", "slot"])
    failures = sa.Column("mining_failures", sa.Integer(), nullable=False, server_default="0")
    op.add_column("conversations", failures)
    op.add_column("conversations", sa.Column("mining_problem", text_type(), nullable=True))
    op.add_column("conversations", sa.Column("mining_after", sa.BigInteger(), nullable=True))
    op.create_index(
        "ix_conversations_unmined",
        "conversations",
        ["user_id"],
        sqlite_where=_UNMINED,
        postgresql_where=_UNMINED,
    )
    op.create_table(
        "closets",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("id", text_type(), nullable=False),
        sa.Column("wing", sa.Integer(), nullable=False),
        sa.Column("room", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("subject", text_type(), nullable=False),
        sa.Column("type", text_type(), nullable=False),
        sa.Column("slug", text_type(), nullable=False),
        sa.Column("title", text_type(), nullable=False),
        sa.Column("conversation", text_type(), nullable=True),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("channel", text_type(), nullable=False),
        sa.Column("agent", text_type(), nullable=True),
        sa.Column("metadata", text_type(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_closets_place", "closets", ["user_id", "wing", "room"])
    op.create_index("ix_closets_slug", "closets", ["user_id", "slug"])
    op.create_index("ix_closets_conversation", "closets", ["user_id", "conversation"])
    op.create_table(
        "spending",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("source", text_type(), nullable=False),
        sa.Column("model", text_type(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("prompt", sa.BigInteger(), nullable=False),
        sa.Column("completion", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "day", "source", "model"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
