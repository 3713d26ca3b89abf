"""The tables that are searched: texts in pieces, their vectors, and by which models those were made."""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, Table, UniqueConstraint, and_

from recollect.ports.tending import PARKED_AFTER
from recollect.stores.sql.tables import BY_USER, metadata, number, text, text_type, time, vector_type

chunks = Table(
    "chunks",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("doc", BigInteger, primary_key=True),
    text("kind"),
    text("owner"),
    number("start"),
    number("stop"),
    number("terms"),
    text("channel"),
    text("agent", null=True),
    text("conversation", null=True),
    text("role", null=True),
    Column("confidence", Float, nullable=False),
    time("at"),
    time("valid_from"),
    time("valid_to", null=True),
    time("stated_to", null=True),
    time("recorded_at"),
    time("retired_at", null=True),
    time("expires_at", null=True),
    text("supersedes", null=True),
    Column("seq", BigInteger, nullable=False),
    Column("place", Integer),
    Column("weight", Float, nullable=False, server_default="1"),
    Index("ix_chunks_owner", "user_id", "owner"),
    Index("ix_chunks_seq", "user_id", "seq"),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""What is searched: a span of a record's text with a copy of what filters and ranking need. `doc` counts
per user; `place` is a turn's in its conversation; `weight` is how much a find counts."""

vectors = Table(
    "vectors",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("space", Integer, primary_key=True),
    Column("doc", BigInteger, primary_key=True),
    Column("vector", vector_type()),
    Column("failures", Integer, nullable=False, server_default="0"),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""Float16, little-endian. A row without a vector waits for one, and is parked once that has failed often."""

empty = vectors.c.vector.is_(None)
waiting = and_(empty, vectors.c.failures < PARKED_AFTER)
parked = and_(empty, vectors.c.failures >= PARKED_AFTER)
Index(
    "ix_vectors_waiting",
    vectors.c.space,
    vectors.c.user_id,
    vectors.c.doc,
    sqlite_where=empty,
    postgresql_where=empty,
)

spaces = Table(
    "spaces",
    metadata,
    Column("id", Integer, primary_key=True),
    text("model"),
    number("dimensions"),
    Column("unrelated", Float, nullable=False),
    Column("active", Boolean, nullable=False),
    UniqueConstraint("model", "dimensions", name="uq_spaces_model"),
)
