"""Scratch databases on a server, measured against the statements one would write by hand, with plain
psycopg, as a login that no row-level security holds back."""

import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from struct import pack
from time import perf_counter
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format
from sqlalchemy import make_url

from recollect.bench.corpus import DIMENSIONS, Query, Rows
from recollect.bench.measure import MiB
from recollect.bench.place import Found, Limits
from recollect.bench.subject import USER, open_memory
from recollect.errors import StoreUnavailable

PREFIX = "recollect_bench_"
TOP = 50
HITS = 5
"""Of so many the texts are fetched: as many as recall returns."""

_SETTINGS = ("shared_buffers", "work_mem", "fsync", "synchronous_commit", "max_parallel_workers_per_gather")
_WRITTEN = {"turns": "id", "chunks": "doc", "vectors": "doc", "texts": "doc"}
"""The tables with a row for each turn, in the order in which a turn is written, and what they count by."""


class PostgresPlace:
    """Implements `place.Place`. `scratch` makes one."""

    limits = Limits(recall_p50=1.5, others=1.3, batches=0.5, found=0.98)
    approximate = True
    in_process = False

    def __init__(self, server: str) -> None:
        self._server = server
        self._prefix = f"{PREFIX}{secrets.token_hex(4)}_"
        self._made: list[str] = []

    def about(self) -> dict[str, Any]:
        with connected(self._server) as connection:
            shown = {
                name: connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
                for name in ("server_version", *_SETTINGS)
            }
            offered = "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
            (vector,) = connection.execute(offered).fetchone() or ("?",)
        values = {name: found[0] if found else None for name, found in shown.items()}
        engine = f"PostgreSQL {values.pop('server_version')}, pgvector {vector}"
        return {"engine": engine, "server": values}

    def database(self, name: str, *, like: str | None = None) -> str:
        """The address of a new database: an empty one, or a copy of one of these that nobody uses now."""
        made = f"{self._prefix}{name.replace('-', '_')}"
        create = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(made))
        if like is not None:
            template = sql.Identifier(make_url(like).database or "")
            create += sql.SQL(" TEMPLATE {} STRATEGY file_copy").format(template)
        with connected(self._server) as connection:
            try:
                connection.execute(create)
            except psycopg.errors.InsufficientPrivilege:
                raise StoreUnavailable(
                    f"The login {connection.info.user!r} may not make a scratch database, without which "
                    f'nothing is measured: ALTER ROLE "{connection.info.user}" CREATEDB, or use another.'
                ) from None
        self._made.append(made)
        return make_url(self._server).set(database=made).render_as_string(hide_password=False)

    def settle(self, address: str) -> None:
        with connected(address) as connection:
            connection.execute(f"VACUUM (ANALYZE) {', '.join(_WRITTEN)}".encode())

    def megabytes(self, address: str) -> float:
        with connected(address) as connection:
            asked = connection.execute("SELECT pg_database_size(current_database())")
            (size,) = asked.fetchone() or (0,)
        return round(size / MiB, 1)

    def search(self, address: str, rows: Rows) -> "BareSearch":
        return BareSearch(address, rows)

    def copy(self, address: str, product: str) -> "BareCopy":
        return BareCopy(address, product)

    def commits(self, address: str) -> "BareCommits":
        return BareCommits(address)

    def drop(self) -> None:
        """Leave no database of it on the server."""
        if not self._made:
            return
        with connected(self._server) as connection:
            while self._made:
                name = sql.Identifier(self._made[-1])
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
                self._made.pop()


@contextmanager
def scratch(server: str) -> Generator[PostgresPlace]:
    """A place whose databases are gone afterwards, whatever happens."""
    place = PostgresPlace(server)
    try:
        yield place
    finally:
        place.drop()


def connected(address: str) -> psycopg.Connection[Any]:
    try:
        return psycopg.connect(address, autocommit=True)
    except psycopg.Error as error:
        named = conninfo_to_dict(address)
        where = f"{named.get('host', 'localhost')}, database {named.get('dbname', named.get('user'))}"
        said = str(error).strip().splitlines()[-1]
        raise StoreUnavailable(f"PostgreSQL ({where}) cannot be reached: {said}") from None


class _Halfvec(bytes):
    """A vector as pgvector sends it."""


class _HalfvecDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: _Halfvec) -> bytes:
        return obj


def _halfvec(vector: NDArray[np.float32]) -> _Halfvec:
    return _Halfvec(pack(">hh", len(vector), 0) + vector.astype(">f2").tobytes())


_TABLES = f"""
CREATE EXTENSION vector;
CREATE TABLE turns (user_id text, id bigint, content text NOT NULL, PRIMARY KEY (user_id, id));
CREATE TABLE chunks (
    user_id text, doc bigint, kind text NOT NULL, channel text NOT NULL, agent text, conversation text,
    role text, confidence float NOT NULL, at bigint NOT NULL, valid_from bigint NOT NULL, valid_to bigint,
    recorded_at bigint NOT NULL, retired_at bigint, expires_at bigint, PRIMARY KEY (user_id, doc)
);
CREATE TABLE vectors (
    user_id text, doc bigint, vector halfvec({DIMENSIONS}) NOT NULL, PRIMARY KEY (user_id, doc)
);
CREATE TABLE texts (user_id text, doc bigint, terms tsvector NOT NULL, PRIMARY KEY (user_id, doc));
"""
_COPIED = {
    "turns (user_id, id, content)": ("text", "int8", "text"),
    "chunks (user_id, doc, kind, channel, conversation, role, confidence, at, valid_from, recorded_at)": (
        *("text", "int8", "text", "text", "text", "text", "float8", "int8", "int8", "int8"),
    ),
    "vectors (user_id, doc, vector)": ("text", "int8", "bytea"),
}
_INDEX = """
INSERT INTO texts SELECT user_id, id, to_tsvector('simple', content) FROM turns;
CREATE INDEX ON texts USING gin (terms);
"""
_NEAREST = f"""
SELECT c.doc, c.kind, v.vector <#> %s::halfvec AS distance
FROM vectors v JOIN chunks c ON c.user_id = v.user_id AND c.doc = v.doc
WHERE v.user_id = %s AND c.channel = ANY(%s) AND c.retired_at IS NULL
    AND (c.expires_at IS NULL OR c.expires_at > %s) AND (c.valid_to IS NULL OR c.valid_to > %s)
ORDER BY distance LIMIT {TOP}
"""
_WORDED = f"""
SELECT doc, ts_rank_cd(terms, query) AS rank FROM texts, to_tsquery('simple', %s) AS query
WHERE user_id = %s AND terms @@ query ORDER BY rank DESC LIMIT {TOP}
"""
_TEXTS = "SELECT id, content FROM turns WHERE user_id = %s AND id = ANY(%s)"


class BareSearch:
    """The rows in plain tables, with pgvector and a full-text index (GIN)."""

    def __init__(self, address: str, rows: Rows) -> None:
        self._connection = connected(address)
        self._connection.adapters.register_dumper(_Halfvec, _HalfvecDumper)
        self._connection.execute(_TABLES.encode())
        vectors = (_halfvec(vector) for vector in rows.vectors)
        times = [round(m.at.timestamp() * 1e6) if m.at else 0 for m in rows.messages()]
        self._now = max(times)
        values = (
            ((USER, i, text) for i, text in enumerate(rows.texts)),
            (
                (USER, i, "turn", "_global", m.conversation, m.role, 1.0, times[i], times[i], times[i])
                for i, m in enumerate(rows.messages())
            ),
            ((USER, i, vector) for i, vector in enumerate(vectors)),
        )
        for (table, types), lines in zip(_COPIED.items(), values, strict=True):
            _copy_in(self._connection, table, types, lines)
        self._connection.execute(_INDEX.encode())
        self._connection.execute("VACUUM ANALYZE")

    def search(self, query: Query) -> Found:
        run, begun = self._connection.execute, perf_counter()
        values = (_halfvec(query.vector), USER, ["_global"], self._now, self._now)
        near = [doc for doc, _, _ in run(_NEAREST.encode(), values).fetchall()]
        scanned = perf_counter()
        worded = [doc for doc, _ in run(_WORDED.encode(), (" | ".join(query.words), USER)).fetchall()]
        ranked = perf_counter()
        run(_TEXTS, (USER, near[:HITS])).fetchall()
        steps = {"scan": scanned - begun, "fts": ranked - scanned, "fetch": perf_counter() - ranked}
        return Found([*near, *worded], steps)

    def close(self) -> None:
        self._connection.close()


def _copy_in(connection: psycopg.Connection[Any], table: str, types: Sequence[Any], rows: Any) -> None:
    with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT BINARY)".encode()) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


class BareCopy:
    """A database with the product's tables, partitions and indexes, but no wall, to be filled with the
    rows of one of the product's by COPY, which a wall would forbid."""

    def __init__(self, address: str, product: str) -> None:
        open_memory(address).close()
        with connected(product) as source:
            _take_wall_down(source)
            self._rows = {table: _rows(source, table, key) for table, key in _WRITTEN.items()}
        self._connection = connected(address)
        _take_wall_down(self._connection)

    @property
    def count(self) -> int:
        return len(self._rows["turns"][1])

    def insert(self, start: int, stop: int) -> None:
        with self._connection.transaction():
            for table, (types, rows) in self._rows.items():
                _copy_in(self._connection, table, types, rows[start:stop])

    def close(self) -> None:
        self._connection.close()


def _take_wall_down(connection: psycopg.Connection[Any]) -> None:
    for table in _WRITTEN:
        connection.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY".encode())


def _rows(source: psycopg.Connection[Any], table: str, key: str) -> tuple[list[int], list[Any]]:
    """The rows, with the types as which COPY takes their values: what the driver does not know, as bytes."""
    cursor = source.cursor(binary=True)
    rows = cursor.execute(f"SELECT * FROM {table} ORDER BY {key}".encode()).fetchall()
    known = {info.oid for info in psycopg.adapters.types if info.name not in ("tsvector", "bytea")}
    bytea = psycopg.adapters.types["bytea"].oid
    return [c.type_code if c.type_code in known else bytea for c in cursor.description or ()], rows


class BareCommits:
    """One small row a commit, each flushed to the disk."""

    def __init__(self, address: str) -> None:
        self._connection = connected(address)
        self._connection.execute("CREATE TABLE small (id bigserial PRIMARY KEY, content text NOT NULL)")

    def commit(self, content: str) -> None:
        self._connection.execute("INSERT INTO small (content) VALUES (%s)", (content,))

    def close(self) -> None:
        self._connection.close()
