"""Vectors that were computed once are not computed again."""

import hashlib
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from recollect.model.space import Space
from recollect.ports.embedder import Embedder

SLICE = 64
"""Texts that are embedded before their vectors are written: so much is lost when the process is killed."""

Use = Literal["passage", "query"]


class CachingEmbedder:
    """An embedder that keeps what another one computes in a file of the folder, one file a model.

    `computed` counts the texts that were not there, `seconds` what computing them took.
    """

    def __init__(self, inner: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self.computed = 0
        self.seconds = 0.0
        name = re.sub(r"[^\w.-]+", "-", f"{inner.space.model}-{inner.space.dimensions}")
        # Recall may embed in other threads than the one that opened it; each call is one statement.
        self._file = sqlite3.connect(folder / f"vectors-{name}.db", timeout=60, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def space(self) -> Space:
        return self._inner.space

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [_key("passage", text) for text in texts]
        found = {key: self._read(key) for key in dict.fromkeys(keys)}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        for start in range(0, len(missing), SLICE):
            some = list(missing)[start : start + SLICE]
            begun = perf_counter()
            vectors = self._inner.embed_passages([missing[key] for key in some])
            self.seconds += perf_counter() - begun
            self._write(some, vectors)
            found |= zip(some, vectors, strict=True)
        rows = [vector for key in keys if (vector := found[key]) is not None]
        return np.stack(rows) if rows else np.empty((0, self.space.dimensions), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        key = _key("query", text)
        vector = self._read(key)
        if vector is None:
            begun = perf_counter()
            vector = self._inner.embed_query(text)
            self.seconds += perf_counter() - begun
            self._write([key], vector[np.newaxis])
        return vector

    def _read(self, key: bytes) -> NDArray[np.float32] | None:
        row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)

    def _write(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        self.computed += len(keys)
        rows = [(key, vector.astype(np.float32).tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        with self._file:
            self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)


def _key(use: Use, text: str) -> bytes:
    return hashlib.sha256(f"{use}\0{text}".encode("utf-8", "surrogatepass")).digest()
