"""What the server keeps: keys, responses to go on from, whose messages are whose, writes done once."""

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.schema import text_type

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, text_type(), nullable=null)


def _time(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=null)


def upgrade() -> None:
    op.create_table(
        "responses",
        _text("user_id"),
        _text("id"),
        _text("conversation"),
        _time("at"),
        _text("previous", null=True),
        _text("input"),
        _text("body"),
        _text("channel"),
        _text("agent", null=True),
        _text("metadata"),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id"),
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_responses_conversation", "responses", ["user_id", "conversation"])
    op.create_index("ix_responses_at", "responses", ["user_id", "at"])
    op.create_table(
        "threads",
        _text("user_id"),
        _text("digest"),
        _text("conversation"),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "digest", "conversation"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_index("ix_threads_conversation", "threads", ["user_id", "conversation"])
    op.create_table(
        "answers",
        _text("user_id"),
        _text("key"),
        _text("digest"),
        _text("token"),
        _time("at"),
        _text("answer", null=True),
        sa.PrimaryKeyConstraint("user_id", "key"),
        sqlite_with_rowid=False,
        postgresql_partition_by="HASH (user_id)",
    )
    op.create_table(
        "api_keys",
        _text("id"),
        _text("digest"),
        _text("name"),
        _text("role"),
        _text("owner", null=True),
        _time("created_at"),
        _time("expires_at", null=True),
        _time("revoked_at", null=True),
        _time("used_at", null=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_api_keys_digest", "api_keys", ["digest"], unique=True)
