"""How far copies in other engines have come, and an index for changes of what is not always searched."""

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.schema import text_type

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "projected",
        sa.Column("user_id", text_type(), nullable=False),
        sa.Column("projection", text_type(), nullable=False),
        sa.Column("epoch", text_type(), nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("seq", "at", "settling", "began", "settled")
        ),
        sa.PrimaryKeyConstraint("user_id", "projection"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_table(
        "unprojected",
        sa.Column("projection", text_type(), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("projection", "number"),
    )
    for table in ("entities", "relations", "goals", "tool_invocations"):
        op.create_index(f"ix_{table}_seq", table, ["user_id", "seq"])
