"""What ranking needs of a chunk: its turn's place in the conversation, and how much a find of it counts."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_PLACE = """
UPDATE chunks SET place = (
    SELECT t."index" FROM turns t WHERE t.user_id = chunks.user_id AND t.id = chunks.owner
) WHERE kind = 'turn'
"""
_WEIGHT = """
UPDATE chunks SET weight = (
    SELECT (CASE m.tense WHEN 'current' THEN 1.2 WHEN 'past' THEN 0.7 ELSE 1.0 END) * (0.75 + m.salience / 2)
    FROM memories m WHERE m.user_id = chunks.user_id AND m.id = chunks.owner
) WHERE kind NOT IN ('turn', 'entity')
"""
_SALIENCE = """
UPDATE chunks SET weight = (
    SELECT 0.75 + e.salience / 2 FROM entities e WHERE e.user_id = chunks.user_id AND e.id = chunks.owner
) WHERE kind = 'entity'
"""
_ARCHIVED = """
UPDATE chunks SET weight = 0.7 WHERE kind = 'turn' AND EXISTS (
    SELECT 1 FROM conversations c
    WHERE c.user_id = chunks.user_id AND c.id = chunks.conversation AND c.archived_at IS NOT NULL
)
"""
FILL = (_PLACE, _WEIGHT, _SALIENCE, _ARCHIVED)
"""A server does these user by user, when the revision is through: nobody is to wait for all of it."""
_FILLED = "SELECT EXISTS (SELECT FROM meta WHERE key = 'partitions')"


def upgrade() -> None:
    op.add_column("chunks", sa.Column("place", sa.Integer(), nullable=True))
    op.add_column("chunks", sa.Column("weight", sa.Float(), nullable=False, server_default="1"))
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        for statement in FILL:
            op.execute(statement)
    elif connection.exec_driver_sql(_FILLED).scalar():  # in a new one there is nothing to fill in
        op.execute("INSERT INTO meta (key, value) VALUES ('fill 0002', 0)")
