"""Ingestion beside bare COPY: the same rows in the same transactions, into a database of the same size with
the same tables and indexes, one connection against one. COPY gets them as the server itself sent them, so
that nothing but the server is measured."""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

from psycopg import Connection, sql

from recollect.bench.measure import ratio, settled
from recollect.bench.postgres import PostgresPlace, connected
from recollect.bench.scale.crowd import Loaded, record_all
from recollect.bench.scale.growth import Setting
from recollect.bench.subject import BATCH

BLOCK = 2000
"""Rows that are put by one way and then by the other."""

_OWNED = """
SELECT relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id'
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
ORDER BY relname
"""
"""Every table with users' rows: whatever a turn writes, and where, is copied."""

_EMPTY = 21
"""Bytes of no rows."""

Copied = dict[str, list[bytes]]
"""Rows by table, as COPY sends and takes them."""


def measure_copying(setting: Setting) -> dict[str, Any]:
    """How many rows a second, of new users with few rows each and with many, a transaction a user."""
    place, options = setting.place, setting.options
    assert isinstance(place, PostgresPlace)
    bare = place.database("scale-copy", like=setting.address)
    advance = options.stage("ingestion and COPY", options.ingested)
    found: dict[str, Any] = {}
    with setting.opened() as memory, _Bare(bare, setting.address) as copy:
        record_all(memory, setting.crowd.others(BLOCK, options.memories, 0), 1, Loaded())
        number = 1
        for name, each, share in (("small", options.memories, 0.6), ("large", BATCH, 0.4)):
            ours, theirs = Loaded(), Loaded()
            with settled():
                while ours.rows < options.ingested * share:
                    batches = setting.crowd.others(BLOCK, each, number)
                    record_all(memory, batches, 1, ours)
                    copy.put([user for user, _ in batches], theirs)
                    number += 1
                    advance(BLOCK)
            theirs.rows = ours.rows
            found[name] = _figures(ours, theirs, each)
    return found


def _figures(ours: Loaded, copied: Loaded, each: int) -> dict[str, Any]:
    return {
        "rows": ours.rows,
        "rows_a_transaction": each,
        "rows_per_s": round(ours.rows / ours.seconds),
        "copy_rows_per_s": round(copied.rows / copied.seconds),
        "ratio": ratio(copied.seconds, ours.seconds),
        "processor_us": round(ours.processor / ours.rows * 1e6, 1),
    }


class _Bare:
    """Takes users' rows from one database and puts them into another, which has no wall."""

    def __init__(self, address: str, source: str) -> None:
        self._source, self._line = connected(source), connected(address)
        self._tables = [name for (name,) in self._source.execute(_OWNED)]
        for table in self._tables:
            take_down = sql.SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(sql.Identifier(table))
            self._line.execute(take_down)

    def __enter__(self) -> "_Bare":
        return self

    def __exit__(self, *_: object) -> None:
        for line in (self._source, self._line):
            line.close()

    def put(self, users: Sequence[str], loaded: Loaded) -> None:
        """What these users have, a transaction each."""
        rows = [self._rows(user) for user in users]
        begun = perf_counter()
        for one in rows:
            _copy(self._line, one)
        loaded.seconds += perf_counter() - begun

    def _rows(self, user: str) -> Copied:
        sent = {table: [*self._sent(table, user)] for table in self._tables}
        return {table: data for table, data in sent.items() if sum(map(len, data)) > _EMPTY}

    def _sent(self, table: str, user: str) -> Iterator[bytes]:
        """The rows as the server sends them, with a head before and an end behind them."""
        chosen = sql.SQL("COPY (SELECT * FROM {} WHERE user_id = {}) TO STDOUT (FORMAT BINARY)").format(
            sql.Identifier(table), sql.Literal(user)
        )
        with self._source.cursor().copy(chosen) as copy:
            yield from (bytes(data) for data in copy)


def _copy(line: Connection[Any], rows: Copied) -> None:
    with line.transaction():
        for table, data in rows.items():
            statement = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(sql.Identifier(table))
            with line.cursor().copy(statement) as copy:
                for part in data:
                    copy.write(part)
