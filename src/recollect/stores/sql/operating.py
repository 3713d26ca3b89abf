"""The tables of the background and of operators: who works on what, how far that has come, what was counted.

Those with a `user_id` go with their user; the others tell nothing of anybody.
"""

from sqlalchemy import BigInteger, Column, Float, Index, Integer, Table

from recollect.stores.sql.tables import BY_USER, metadata, number, text, text_type, time

leases = Table(
    "leases",
    metadata,
    Column("name", text_type(), primary_key=True),
    text("holder"),
    time("until"),
)

meta = Table(
    "meta",
    metadata,
    Column("key", text_type(), primary_key=True),
    Column("value", BigInteger, nullable=False),
)
"""Counters and marks of the whole database: the next user number, the analyser's version."""

erasures = Table(
    "erasures",
    metadata,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("erased", BigInteger, nullable=False),
    Column("scrubbed", BigInteger, nullable=False),
)
"""How often something was erased in a partition, and up to which of these its files were scrubbed."""

deletions = Table(
    "deletions",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("kind", text_type(), primary_key=True),
    Column("id", text_type(), primary_key=True),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""What is gone, for whoever follows the feed. Holds no content."""

usage = Table(
    "usage",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("id", text_type(), primary_key=True),
    text("kind"),
    number("count"),
    number("since_renewal"),
    time("last_at"),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""How often a memory was returned; apart from the memory, so that counting does not rewrite it."""

spending = Table(
    "spending",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("day", Integer, primary_key=True),
    Column("source", text_type(), primary_key=True),
    Column("model", text_type(), primary_key=True),
    Column("calls", BigInteger, nullable=False),
    Column("prompt", BigInteger, nullable=False),
    Column("completion", BigInteger, nullable=False),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""What models were asked for a user, and how many tokens that took: `day` counts from 1970, in UTC."""

sizes = Table(
    "sizes",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("channel", text_type(), primary_key=True),
    Column("turns", BigInteger, nullable=False),
    Column("memories", BigInteger, nullable=False),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""How much a user has in each channel and, under the empty name, in all; quotas are held against it."""

places = Table(
    "places",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("inside", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("channel", text_type(), primary_key=True),
    *(Column(name, BigInteger, nullable=False) for name in ("rooms", "closets", "drawers", "first", "last")),
    text("closet"),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""How much is in each wing of the palace (`inside` 0) and in each room of a wing, by channel; and a closet
that tells its name."""

visits = Table(
    "visits",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    time("due_at"),
    time("soon_at"),
    text("holder", null=True),
    time("until", null=True),
    Index("ix_visits_due", "due_at"),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""When the background looks after a user again, and who does so now, until when."""

marks = Table(
    "marks",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("chore", text_type(), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    time("at", null=True),
    time("after", null=True),
    number("failures"),
    text("problem", null=True),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""How far each chore has come with a user, and why it failed."""

projected = Table(
    "projected",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("projection", text_type(), primary_key=True),
    text("epoch"),
    Column("seq", BigInteger, nullable=False),
    time("at"),
    Column("settling", BigInteger, nullable=False),
    time("began"),
    Column("settled", BigInteger, nullable=False),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""How far a projection, of one making, has come with a user, and when that was. A moment later its readers
see it; until then, what is `settling` a moment after that `began`, or else only what is `settled`."""

unprojected = Table(
    "unprojected",
    metadata,
    Column("projection", text_type(), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
)
"""The numbers of erased users of whom a projection still has something."""

jobs = Table(
    "jobs",
    metadata,
    Column("name", text_type(), primary_key=True),
    time("at"),
    Column("seconds", Float, nullable=False),
    Column("done", BigInteger, nullable=False),
    text("problem", null=True),
    Column("runs", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("progress", BigInteger, nullable=False),
)
"""What each job did when it last ran, and in all."""

measures = Table(
    "measures",
    metadata,
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("name", text_type(), primary_key=True),
    Column("bucket", Integer, primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
)
"""How often something happened on a day, for all users together."""

receipts = Table(
    "receipts",
    metadata,
    Column("id", text_type(), primary_key=True),
    time("at"),
    text("what"),
    text("counts"),
)
"""That users were erased; not which."""

threads = Table(
    "threads",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("digest", text_type(), primary_key=True),
    Column("conversation", text_type(), primary_key=True),
    number("index"),
    Index("ix_threads_conversation", "user_id", "conversation"),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""Which conversation a run of messages led to, and where it stood then: clients that send all of their
messages each time are known by it. Holds keyed digests only."""

answers = Table(
    "answers",
    metadata,
    Column("user_id", text_type(), primary_key=True),
    Column("key", text_type(), primary_key=True),
    text("digest"),
    text("token"),
    time("at"),
    text("answer", null=True),
    sqlite_with_rowid=False,
    postgresql_partition_by=BY_USER,
)
"""Writes that are done once however often they are sent: what was sent, by a digest, and what came of it, by
ids and numbers; holds no content."""

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", text_type(), primary_key=True),
    text("digest"),
    text("name"),
    text("role"),
    text("owner", null=True),
    time("created_at"),
    time("expires_at", null=True),
    time("revoked_at", null=True),
    time("used_at", null=True),
    text("parent", null=True),
    Index("ix_api_keys_digest", "digest", unique=True),
    Index("ix_api_keys_parent", "parent"),
)
"""Who may use the server: digests of keys, for whom each is (`owner` is a user), until when; of sessions, the
key they were opened with (`parent`)."""
