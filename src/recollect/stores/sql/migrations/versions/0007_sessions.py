"""Sessions of the memory page: keys that were opened with another."""

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.schema import text_type

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("parent", text_type(), nullable=True))
    op.create_index("ix_api_keys_parent", "api_keys", ["parent"])
