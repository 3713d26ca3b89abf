"""What is looked up with every erasure and every window that is mined is found by an index."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_ANSWERED = sa.text("payload IS NOT NULL")


def upgrade() -> None:
    op.drop_index("ix_closets_slug", "closets")
    op.create_index("ix_closets_wings", "closets", ["user_id", "slug", "wing", "id"])
    op.create_index("ix_tool_invocations_turn", "tool_invocations", ["user_id", "turn"])
    op.create_index("ix_audit_conversation", "audit", ["user_id", "conversation"])
    op.create_index(
        "ix_audit_payload", "audit", ["user_id"], sqlite_where=_ANSWERED, postgresql_where=_ANSWERED
    )
