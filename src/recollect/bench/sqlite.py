"""Files in a folder, measured against plain sqlite3 and NumPy, with nothing around them."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect import wiring
from recollect.bench.corpus import Query, Rows
from recollect.bench.measure import MiB
from recollect.bench.place import Found, Limits
from recollect.bench.subject import BATCH
from recollect.settings import load

TOP = 50

# Those of the product's connections, so that both pay for the same promises.
_PRAGMAS = (
    "PRAGMA page_size = 8192",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA cache_size = -65536",
    "PRAGMA temp_store = MEMORY",
)
_TEXTS = "texts"
_WRITTEN = ("turns", "chunks", "vectors", _TEXTS)
"""The tables with a row for each turn, in the order in which a turn is written."""


class SqlitePlace:
    """Implements `place.Place`."""

    limits = Limits(
        recall_p50=2, recall_p95=3, others=1.5, chat=1.3, whole=2, batches=0.5, commits=0.8, threads=3
    )
    approximate = False
    in_process = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def about(self) -> dict[str, Any]:
        return {"engine": f"SQLite {sqlite3.sqlite_version}"}

    def database(self, name: str) -> str:
        return str(self.folder / f"{name}.db")

    def settle(self, address: str) -> None: ...

    def megabytes(self, address: str) -> float:
        """The file with its log."""
        files = (Path(address + end) for end in ("", "-wal", "-shm"))
        return round(sum(file.stat().st_size for file in files if file.exists()) / MiB, 1)

    def search(self, address: str, rows: Rows) -> "BareSearch":
        return BareSearch(Path(address), rows)

    def copy(self, address: str, product: str) -> "BareCopy":
        return BareCopy(Path(address), Path(product))

    def commits(self, address: str) -> "BareCommits":
        return BareCommits(Path(address))


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    return connection


class BareSearch:
    """A float32 matrix, and a plain FTS5 table of the same texts in a file of its own."""

    def __init__(self, path: Path, rows: Rows) -> None:
        self._matrix = np.ascontiguousarray(rows.vectors)
        self._connection = connect(path)
        self._connection.execute("CREATE VIRTUAL TABLE texts USING fts5(content)")
        for start in range(0, len(rows), BATCH):
            self._connection.execute("BEGIN")
            self._connection.executemany(
                "INSERT INTO texts(rowid, content) VALUES (?, ?)",
                enumerate(rows.texts[start : start + BATCH], start),
            )
            self._connection.execute("COMMIT")

    def search(self, query: Query) -> Found:
        begun = perf_counter()
        near = self._by_vector(query.vector)
        scanned = perf_counter()
        worded = self._by_words(query.words)
        return Found([*near, *worded], {"scan": scanned - begun, "fts": perf_counter() - scanned})

    def _by_vector(self, vector: NDArray[np.float32]) -> list[int]:
        scores = self._matrix @ vector
        if len(scores) <= TOP:
            return list(range(len(scores)))
        return np.argpartition(scores, -TOP)[-TOP:].tolist()

    def _by_words(self, words: Sequence[str]) -> list[int]:
        found = self._connection.execute(
            f"SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT {TOP}",
            (" OR ".join(words),),
        )
        return [rowid for rowid, _ in found.fetchall()]

    def close(self) -> None:
        self._connection.close()


class BareCopy:
    """A file with a product file's tables, columns and indexes, to be filled with that file's rows."""

    def __init__(self, path: Path, product: Path) -> None:
        self._connection = connect(path)
        source = wiring.database_driver(load(db=str(product))).connect(product)  # it may be encrypted
        for (statement,) in source.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
            f" AND name NOT GLOB '{_TEXTS}_*' ORDER BY rootpage = 0, type = 'index'"
        ).fetchall():
            self._connection.execute(statement)
        self._rows = {table: _rows(source, table) for table in _WRITTEN}
        self._insert = {
            table: f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            for table, (columns, _) in self._rows.items()
        }
        source.close()

    @property
    def count(self) -> int:
        return len(self._rows[_WRITTEN[0]][1])

    def insert(self, start: int, stop: int) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        for table in _WRITTEN:
            self._connection.executemany(self._insert[table], self._rows[table][1][start:stop])
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


def _rows(source: Any, table: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    key = "rowid" if table == _TEXTS else "id" if table == "turns" else "doc"
    chosen = f"{key}, *" if table == _TEXTS else "*"
    cursor = source.execute(f"SELECT {chosen} FROM {table} ORDER BY {key}")
    return [f'"{column[0]}"' for column in cursor.description], cursor.fetchall()


class BareCommits:
    """One small row a commit, each flushed to the disk."""

    def __init__(self, path: Path) -> None:
        self._connection = connect(path)
        self._connection.execute("CREATE TABLE small (id INTEGER PRIMARY KEY, content TEXT NOT NULL)")

    def commit(self, content: str) -> None:
        self._connection.execute("INSERT INTO small (content) VALUES (?)", (content,))

    def close(self) -> None:
        self._connection.close()
