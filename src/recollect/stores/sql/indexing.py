"""Keeps what is searched (chunks, their vectors, their words) in step with the records."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, select

from recollect.errors import Invalid
from recollect.model.changes import Chunk
from recollect.model.searched import proof, weight
from recollect.model.space import Space
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.codec import decode_json, encode_vectors
from recollect.stores.sql.rows import UserRows, own_delete, own_revision, own_select, own_update
from recollect.stores.sql.spaces import RETIRED, marks
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
    "weight",
)
"""Columns of a record that its chunks repeat, so that filters need no join."""

DERIVED_FROM = ("pinned", "expires_at", "salience", "tense", "details")
"""Columns of a record that others of its chunks are worked out from."""

Columns = Mapping[str, list[Any]]

_SPACES = select(schema.spaces.c.id, schema.spaces.c.model, schema.spaces.c.dimensions)


_ITS_TURNS = own_select(schema.turns, schema.turns.c.id).where(
    schema.turns.c.conversation == bindparam("which")
)
_ARCHIVE = (
    own_update(schema.chunks)
    .where(schema.chunks.c.weight != bindparam("counts"))
    .values(weight=bindparam("counts"), seq=bindparam("new_seq"))
)
_FORGET = own_delete(schema.vectors).where(schema.vectors.c.space == bindparam("which_space"))
"""Space by space, because the key has that before the document: else all of a user's would be read."""


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
        self._spaces = _spaces(rows, space)
        self._chunks = defaultdict[str, list[Any]](list)
        self._vectors = defaultdict[str, list[Any]](list)
        self._texts: list[tuple[int, list[str]]] = []
        self._gone: set[tuple[str, str]] = set()

    def add(self, kind: str, columns: Columns, searched: Iterable[tuple[str, Sequence[Chunk]]]) -> None:
        """Have the chunks of records of one kind indexed with the next `flush`.

        `columns` are the records' own, `searched` the text and the chunks of each.
        """
        placed = [(owner, text, chunk) for owner, (text, chunks) in enumerate(searched) for chunk in chunks]
        owners = [owner for owner, _, _ in placed]
        vectors = [chunk.vector for _, _, chunk in placed]
        words = [terms(text[chunk.start : chunk.stop]) for _, text, chunk in placed]
        lengths = [*map(len, words)]
        first, self.next_doc = self.next_doc, self.next_doc + len(placed)
        self._texts += zip(range(first, self.next_doc), words, strict=True)
        self.documents += len(placed)
        self.terms += sum(lengths)
        new = self._chunks
        new["start"] += [chunk.start for _, _, chunk in placed]
        new["stop"] += [chunk.stop for _, _, chunk in placed]
        new["terms"] += lengths
        new["doc"] += range(first, self.next_doc)
        new["kind"] += [kind] * len(owners)
        new["seq"] += [self._seq] * len(owners)
        for name, column in _repeated(columns).items():
            new[name] += map(column.__getitem__, owners)
        encoded = self._encoded(vectors)
        for space, ours in self._spaces.items():
            self._vectors["doc"] += range(first, self.next_doc)
            self._vectors["space"] += [space] * len(vectors)
            self._vectors["vector"] += encoded if ours else [None] * len(vectors)
            self._vectors["failures"] += [0] * len(vectors)

    def flush(self) -> None:
        self._rows.insert_columns(schema.chunks, len(self._chunks["doc"]), self._chunks)
        self._rows.insert_columns(schema.vectors, len(self._vectors["doc"]), self._vectors)
        self._backend.add_text(self._rows, self._number, self._texts)
        for pending in (self._chunks, self._vectors, self._texts):
            pending.clear()

    def remove(self, owners: Sequence[str]) -> None:
        """Take the records' chunks out of every index."""
        self.flush()
        table = schema.chunks
        found = self._rows.all_in(self._rows.select(table, table.c.doc, table.c.terms), table.c.owner, owners)
        docs = [row["doc"] for row in found]
        self._backend.remove_text(self._rows, self._number, docs)
        retired = {int(row["key"].removeprefix(RETIRED)) for row in self._rows.all(marks(RETIRED))}
        for space in {*self._spaces} | retired:
            self._rows.change_in(_FORGET, schema.vectors.c.doc, docs, which_space=space)
        self._rows.delete_in(table, table.c.doc, docs)
        self.note_gone("chunk", [str(doc) for doc in docs])
        self.documents -= len(docs)
        self.terms -= sum(row["terms"] for row in found)

    def revise(self, owner: str, row: Mapping[str, Any]) -> None:
        """Repeat a record's changed columns in its chunks."""
        changed = {name: row[name] for name in COPIED if name in row}
        if changed:
            self.flush()
            given = {f"new_{name}": value for name, value in changed.items()}
            revision = own_revision(schema.chunks, schema.chunks.c.owner, (*changed, "seq"))
            self._rows.change(revision, which=owner, new_seq=self._seq, **given)

    def archive(self, conversation: str, archived: bool) -> None:
        """Have the turns of a conversation count less, or as before. By the turns: chunks have no index for
        their conversation."""
        self.flush()
        turns = [row["id"] for row in self._rows.all(_ITS_TURNS, which=conversation)]
        given = {"counts": weight(None, None, archived), "new_seq": self._seq}
        self._rows.change_in(_ARCHIVE, schema.chunks.c.owner, turns, **given)

    def note_gone(self, kind: str, ids: Sequence[str]) -> None:
        new = [id for id in ids if (kind, id) not in self._gone]
        self._gone.update((kind, id) for id in new)
        self._rows.insert(schema.deletions, [{"seq": self._seq, "kind": kind, "id": id} for id in new])

    def _encoded(self, vectors: Sequence[NDArray[np.float32] | None]) -> list[bytes | None]:
        given = [np.asarray(vector, np.float32) for vector in vectors if vector is not None]
        for vector in given:
            if self._space is None or vector.shape != (self._space.dimensions,):
                expected = self._space.dimensions if self._space else "no"
                raise Invalid(f"The vector has shape {vector.shape}; {expected} dimensions were expected.")
        encoded = iter(encode_vectors(given))
        return [None if vector is None else next(encoded) for vector in vectors]


def _spaces(rows: UserRows, space: Space | None) -> dict[int, bool]:
    """The spaces that chunks have vectors in, and whether that is the one given."""
    given = None if space is None else (space.model, space.dimensions)
    return {row["id"]: (row["model"], row["dimensions"]) == given for row in rows.all(_SPACES)}


def derived(row: Mapping[str, Any]) -> dict[str, Any]:
    """What chunks have that is worked out from several columns of a record."""
    return {
        "expires_at": _expiry(row.get("pinned"), row.get("expires_at")),
        "weight": weight(
            row.get("salience"), row.get("tense"), row.get("archived"), _proof(row.get("details"))
        ),
    }


def _proof(details: str | None) -> float | None:
    """How what is done went so far; only procedures and episodes say."""
    if not details or '"success' not in details:
        return None
    known = decode_json(details)
    one = known.get("success")
    return proof(
        known.get("successes", int(one is True)),
        known.get("failures", int(one is False)),
    )


def _expiry(pinned: bool | None, expires_at: int | None) -> int | None:
    """A pinned memory does not expire."""
    return None if pinned else expires_at


def _repeated(columns: Columns) -> Columns:
    """What chunks repeat of their records. A turn holds from when it was said, without end."""
    start = next(columns[name] for name in ("valid_from", "at", "first_seen") if name in columns)
    nothing = [None] * len(start)
    pinned, expires = columns.get("pinned", nothing), columns.get("expires_at", nothing)
    salience, tense = columns.get("salience", nothing), columns.get("tense", nothing)
    proofs = map(_proof, columns.get("details", nothing))
    return {
        "owner": columns["id"],
        "channel": columns["channel"],
        "agent": columns.get("agent", nothing),
        "conversation": columns.get("conversation", nothing),
        "role": columns.get("role", nothing),
        "confidence": columns.get("confidence", [1.0] * len(start)),
        "at": columns.get("at", start),
        "valid_from": start,
        "valid_to": columns.get("valid_to", nothing),
        "stated_to": columns.get("stated_to", nothing),
        "recorded_at": columns.get("recorded_at", start),
        "retired_at": columns.get("retired_at", nothing),
        "expires_at": list(map(_expiry, pinned, expires)),
        "supersedes": columns.get("supersedes", nothing),
        "place": columns.get("index", nothing),
        "weight": list(map(weight, salience, tense, columns.get("archived", nothing), proofs)),
    }
