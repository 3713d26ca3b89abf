"""What is counted for operators, for all users together; nothing of it tells of anybody."""

import json
from collections.abc import Sequence
from datetime import date, timedelta

from sqlalchemy import Connection, insert, select, text

from recollect.ports.tending import JobState, Measure, Receipt
from recollect.stores.sql import schema
from recollect.stores.sql.codec import decode_text, decode_time, encode_text, encode_time

_FIRST = date(1970, 1, 1)

_COUNT = text(
    "INSERT INTO measures (day, name, bucket, count) VALUES (:day, :name, :bucket, :count) "
    "ON CONFLICT (day, name, bucket) DO UPDATE SET count = measures.count + excluded.count"
)
_NOTE = text(
    "INSERT INTO jobs (name, at, seconds, done, problem, runs, total, progress) "
    "VALUES (:name, :at, :seconds, :done, :problem, :runs, :done, :progress) "
    "ON CONFLICT (name) DO UPDATE SET at = excluded.at, progress = excluded.progress, "
    "runs = jobs.runs + excluded.runs, total = jobs.total + excluded.done, "
    + ", ".join(
        f"{name} = CASE WHEN excluded.runs > 0 THEN excluded.{name} ELSE jobs.{name} END"
        for name in ("seconds", "done", "problem")
    )
)
"""With no run to add it is told how far one has come that goes on: what came of the last one stays."""


def measure(connection: Connection, measures: Sequence[Measure]) -> None:
    # In one order for all, so that no two wait for each other.
    for one in sorted(measures, key=lambda m: (m.day, m.name, m.bucket)):
        given = {"day": (one.day - _FIRST).days, "name": one.name, "bucket": one.bucket, "count": one.count}
        connection.execute(_COUNT, given)


def measures(connection: Connection, since: date | None) -> list[Measure]:
    table = schema.measures
    wanted = select(table).order_by(table.c.day, table.c.name, table.c.bucket)
    if since is not None:
        wanted = wanted.where(table.c.day >= (since - _FIRST).days)
    return [
        Measure(_FIRST + timedelta(days=row["day"]), row["name"], row["bucket"], row["count"])
        for row in connection.execute(wanted).mappings()
    ]


def note_jobs(connection: Connection, states: Sequence[JobState]) -> None:
    for state in sorted(states, key=lambda s: s.name):
        given = {
            "name": state.name,
            "at": encode_time(state.at),
            "seconds": state.seconds,
            "done": state.done,
            "problem": None if state.problem is None else encode_text(state.problem),
            "runs": state.runs,
            "progress": state.progress,
        }
        connection.execute(_NOTE, given)


def jobs(connection: Connection) -> list[JobState]:
    return [
        JobState(
            row.name,
            decode_time(row.at),
            row.seconds,
            row.done,
            None if row.problem is None else decode_text(row.problem),
            row.runs,
            row.total,
            row.progress,
        )
        for row in connection.execute(select(schema.jobs).order_by(schema.jobs.c.name))
    ]


def put_receipt(connection: Connection, receipt: Receipt) -> None:
    values = {"at": encode_time(receipt.at), "what": receipt.what, "counts": json.dumps(receipt.counts)}
    connection.execute(insert(schema.receipts).values(id=receipt.id, **values))


def receipts(connection: Connection, limit: int) -> list[Receipt]:
    table = schema.receipts
    newest = select(table).order_by(table.c.at.desc(), table.c.id.desc()).limit(limit)
    return [
        Receipt(row.id, decode_time(row.at), row.what, json.loads(row.counts))
        for row in connection.execute(newest)
    ]
