"""What a user's memory holds, as a count and a hash of each kind: equal if and only if the contents are,
in whatever order they are read."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from recollect.model.changes import Chunk
from recollect.model.records import RECORD_TYPES, SEARCHABLE, Record
from recollect.model.space import Space
from recollect.ports.store import UserView
from recollect.record.transfer import line_of

CHUNKS, USAGE = "chunk", "usage"
_BATCH = 200
_MODULUS = 1 << 256


@dataclass(frozen=True, slots=True)
class Content:
    """How many there are, and the sum of their hashes (SHA-256, modulo 2**256)."""

    count: int
    hash: str


class _Sum:
    """Adds hashes up: a sum has no order, and unlike an exclusive or it tells twice from not at all."""

    def __init__(self) -> None:
        self._count = 0
        self._total = 0

    def add(self, *parts: bytes) -> None:
        hashed = hashlib.sha256()
        for part in parts:
            hashed.update(len(part).to_bytes(8, "big") + part)
        self._count += 1
        self._total = (self._total + int.from_bytes(hashed.digest(), "big")) % _MODULUS

    @property
    def content(self) -> Content:
        return Content(self._count, f"{self._total:064x}")


def contents(user: UserView, space: Space | None) -> dict[str, Content]:
    """Each kind of record as an export writes it, what is searched with its vectors, and the usage."""
    sums = {name: _Sum() for name in (*(kind.kind for kind in RECORD_TYPES), CHUNKS, USAGE)}
    for kind in RECORD_TYPES:
        records = user.find(kind)
        while batch := list(islice(records, _BATCH)):
            for record in batch:
                sums[kind.kind].add(line_of(record).encode())
            if kind.kind in SEARCHABLE:
                _add_searched(user, space, batch, sums)
    return {name: found.content for name, found in sums.items()}


def _add_searched(
    user: UserView, space: Space | None, records: Sequence[Record], sums: dict[str, _Sum]
) -> None:
    ids = [record.id for record in records]
    for owner, chunks in user.chunks(ids, space).items():
        for mark in marks_of(chunks):
            sums[CHUNKS].add(owner.encode(), *mark)
    for id, usage in user.usage(ids).items():
        counted = f"{usage.count} {usage.since_renewal} {usage.last_at.isoformat()}"
        sums[USAGE].add(id.encode(), counted.encode())


def marks_of(chunks: Sequence[Chunk]) -> list[tuple[bytes, bytes]]:
    """Where each chunk is and what its vector is, to compare them by."""
    return [(f"{c.start}-{c.stop}".encode(), b"" if c.vector is None else c.vector.tobytes()) for c in chunks]
