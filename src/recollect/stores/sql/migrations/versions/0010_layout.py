"""Every unique key of what a user has contains the user, so that users can be spread over servers."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None
SERVES = "0008"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":  # a file is one place, where the key may stay
        op.execute("ALTER TABLE users DROP CONSTRAINT IF EXISTS users_number_key")
