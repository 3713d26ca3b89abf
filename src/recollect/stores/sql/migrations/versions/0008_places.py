"""How much is in each place of the palace is kept, and what is in a room and where a turn lies is found by an
index."""

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.schema import text_type

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_COUNTS = ("rooms", "closets", "drawers", "first", "last")


def upgrade() -> None:
    op.create_table(
        "places",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("inside", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("channel", text_type(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _COUNTS),
        sa.Column("closet", text_type(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "inside", "number", "channel"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.drop_index("ix_closets_place", "closets")
    op.drop_index("ix_closets_conversation", "closets")
    op.create_index("ix_closets_numbers", "closets", ["user_id", "wing", "room", "number", "id"])
    op.create_index("ix_closets_turns", "closets", ["user_id", "conversation", "first", "id"])
