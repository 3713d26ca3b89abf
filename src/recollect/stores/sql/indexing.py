"""Keeps what is searched (chunks, their vectors, their words) in step with the records."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from recollect.errors import Invalid
from recollect.model.changes import Chunk
from recollect.model.space import Space
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.codec import encode_vector
from recollect.stores.sql.rows import UserRows
from recollect.text.analyse import terms

COPIED = (
    "channel",
    "agent",
    "confidence",
    "valid_from",
    "valid_to",
    "stated_to",
    "retired_at",
    "expires_at",
    "supersedes",
)
"""Columns of a record that its chunks repeat, so that filters need no join."""

_SPACES = select(schema.spaces.c.id, schema.spaces.c.model, schema.spaces.c.dimensions)


class Indexer:
    """The search entries of one user, inside one transaction of theirs."""

    def __init__(
        self, backend: Backend, rows: UserRows, user: Mapping[str, Any], seq: int, space: Space | None
    ) -> None:
        self._backend = backend
        self._rows = rows
        self._number: int = user["number"]
        self._seq = seq
        self.next_doc: int = user["next_doc"]
        self.documents: int = user["documents"]
        self.terms: int = user["terms"]
        self._space = space
        self._spaces = _spaces(rows.connection, space)
        self._chunks: list[dict[str, Any]] = []
        self._vectors: list[dict[str, Any]] = []
        self._texts: list[tuple[int, list[str]]] = []
        self._gone: set[tuple[str, str]] = set()

    def add(self, kind: str, row: Mapping[str, Any], text: str, chunks: Sequence[Chunk]) -> None:
        """Have the chunks of a record indexed with the next `flush`; `row` is the record's own."""
        header = _header(kind, row, self._seq)
        for chunk in chunks:
            doc, self.next_doc = self.next_doc, self.next_doc + 1
            words = terms(text[chunk.start : chunk.stop])
            self._chunks.append(
                {**header, "doc": doc, "start": chunk.start, "stop": chunk.stop, "terms": len(words)}
            )
            self._texts.append((doc, words))
            vector = None if chunk.vector is None else self._encoded(chunk)
            for space, ours in self._spaces.items():
                self._vectors.append({"space": space, "doc": doc, "vector": vector if ours else None})
            self.documents += 1
            self.terms += len(words)

    def flush(self) -> None:
        self._rows.insert(schema.chunks, self._chunks)
        self._rows.insert(schema.vectors, self._vectors)
        self._backend.add_text(self._rows, self._number, self._texts)
        self._chunks, self._vectors, self._texts = [], [], []

    def remove(self, owners: Sequence[str]) -> None:
        """Take the records' chunks out of every index."""
        self.flush()
        table = schema.chunks
        found = self._rows.all_in(self._rows.select(table, table.c.doc, table.c.terms), table.c.owner, owners)
        docs = [row["doc"] for row in found]
        self._backend.remove_text(self._rows, self._number, docs)
        self._rows.delete_in(schema.vectors, schema.vectors.c.doc, docs)
        self._rows.delete_in(table, table.c.doc, docs)
        self.note_gone("chunk", [str(doc) for doc in docs])
        self.documents -= len(docs)
        self.terms -= sum(row["terms"] for row in found)

    def revise(self, owner: str, row: Mapping[str, Any]) -> None:
        """Repeat a record's changed columns in its chunks."""
        changed = {name: row[name] for name in COPIED if name in row}
        if changed:
            self.flush()
            table = schema.chunks
            self._rows.run(
                self._rows.update(table).where(table.c.owner == owner).values(**changed, seq=self._seq)
            )

    def note_gone(self, kind: str, ids: Sequence[str]) -> None:
        new = [id for id in ids if (kind, id) not in self._gone]
        self._gone.update((kind, id) for id in new)
        self._rows.insert(schema.deletions, [{"seq": self._seq, "kind": kind, "id": id} for id in new])

    def _encoded(self, chunk: Chunk) -> bytes:
        vector = np.asarray(chunk.vector, np.float32)
        if self._space is None or vector.shape != (self._space.dimensions,):
            expected = self._space.dimensions if self._space else "no"
            raise Invalid(f"The vector has shape {vector.shape}; {expected} dimensions were expected.")
        return encode_vector(vector)


def _spaces(connection: Connection, space: Space | None) -> dict[int, bool]:
    """The spaces that chunks have vectors in, and whether that is the one given."""
    given = None if space is None else (space.model, space.dimensions)
    return {id: (model, dimensions) == given for id, model, dimensions in connection.execute(_SPACES)}


def chunk_expiry(row: Mapping[str, Any]) -> int | None:
    """A pinned memory does not expire."""
    return None if row.get("pinned") else row.get("expires_at")


def _header(kind: str, row: Mapping[str, Any], seq: int) -> dict[str, Any]:
    """What a chunk repeats of its record. A turn holds from when it was said, without end."""
    start = next(row[name] for name in ("valid_from", "at", "first_seen") if name in row)
    return {
        "kind": kind,
        "owner": row["id"],
        "channel": row["channel"],
        "agent": row.get("agent"),
        "conversation": row.get("conversation"),
        "role": row.get("role"),
        "confidence": row.get("confidence", 1.0),
        "at": row.get("at", start),
        "valid_from": start,
        "valid_to": row.get("valid_to"),
        "stated_to": row.get("stated_to"),
        "recorded_at": row.get("recorded_at", start),
        "retired_at": row.get("retired_at"),
        "expires_at": chunk_expiry(row),
        "supersedes": row.get("supersedes"),
        "seq": seq,
    }
