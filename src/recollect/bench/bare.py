"""What the product is measured against: plain sqlite3 and NumPy, with nothing around them."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect import wiring
from recollect.bench.corpus import Query, Rows
from recollect.settings import load

BATCH = 1000
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

    def by_vector(self, vector: NDArray[np.float32]) -> list[int]:
        scores = self._matrix @ vector
        if len(scores) <= TOP:
            return list(range(len(scores)))
        return np.argpartition(scores, -TOP)[-TOP:].tolist()

    def by_words(self, words: Sequence[str]) -> list[int]:
        found = self._connection.execute(
            f"SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT {TOP}",
            (" OR ".join(words),),
        )
        return [rowid for rowid, _ in found.fetchall()]

    def search(self, query: Query) -> tuple[list[int], list[int]]:
        return self.by_vector(query.vector), self.by_words(query.words)

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
        """The rows of some turns, in one transaction."""
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
