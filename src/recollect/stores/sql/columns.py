"""One user's chunks as columns: what filters look at, and the vectors.

Rows are only ever appended. A chunk that changed is appended again and its old row marked dead, so
that a search running over an older state is never disturbed and needs no lock.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.model.records import SEARCHABLE, Role
from recollect.model.search import Filter
from recollect.stores.sql.codec import decode_vectors, encode_time

NEVER = np.iinfo(np.int64).max
"""Stands for an end that is not set."""

_TIMES = ("at", "valid_from", "valid_to", "stated_to", "recorded_at", "retired_at", "expires_at")
_NUMBERS: dict[str, Any] = {
    "doc": np.int64,
    "seq": np.int64,
    "terms": np.int32,
    "start": np.int32,
    "stop": np.int32,
    "confidence": np.float32,
    "weight": np.float32,
}
_NAMES = ("kind", "role", "channel", "agent", "conversation")
_TYPES: dict[str, Any] = {
    **_NUMBERS,
    **dict.fromkeys(_TIMES, np.int64),
    **dict.fromkeys(_NAMES, np.int32),
    "place": np.int32,
    "has_vector": np.bool_,
    "corrects": np.bool_,
}
_FIRST_CAPACITY = 256


class Columns:
    """A state of the columns. `extended` makes the next one, sharing what did not change."""

    def __init__(self, dimensions: int) -> None:
        self._buffers: dict[str, NDArray[Any]] = {name: np.empty(0, kind) for name, kind in _TYPES.items()}
        self._vectors = np.empty((0, dimensions), np.float32)
        self._alive = np.empty(0, np.bool_)
        self._place = np.empty(0, np.int64)
        self._codes: dict[str, dict[str | None, int]] = {
            **{name: {} for name in _NAMES},
            "kind": {kind: code for code, kind in enumerate(SEARCHABLE)},
            "role": {role: code for code, role in enumerate((*Role, None))},
        }
        self._named: dict[str, list[str | None]] = {name: list(codes) for name, codes in self._codes.items()}
        self._owners: list[str] = []
        self.count = 0
        self.dead = 0
        self._changed = 0
        """When a chunk that was there last changed or went, as a place in the feed."""
        self._until = NEVER
        """Chunks that came after this place in the feed are not seen."""

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self._buffers[name][: self.count]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def vectors(self) -> NDArray[np.float32]:
        return self._vectors[: self.count]

    @property
    def size(self) -> int:
        arrays = (*self._buffers.values(), self._vectors, self._alive, self._place)
        return sum(array.nbytes for array in arrays) + 100 * len(self._owners)

    def names_of(self, column: str, places: NDArray[np.int64]) -> list[Any]:
        names = self._named[column]
        return [names[code] for code in self._buffers[column][places].tolist()]

    def owners_of(self, places: NDArray[np.int64]) -> list[str]:
        owners = self._owners
        return [owners[place] for place in places.tolist()]

    def places(self, docs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where each of the documents is; -1 for one that is not here."""
        inside = docs < len(self._place)
        found = np.full(len(docs), -1, np.int64)
        found[inside] = self._place[docs[inside]]
        return found

    def extended(self, rows: Sequence[Mapping[str, Any]], gone: Sequence[int], seq: int) -> "Columns":
        """The state at `seq`, after chunks were added or changed (`rows`) and deleted (`gone`)."""
        new = self._copy()
        if not self.count:  # what was there before is not known
            new._changed = seq
        new._forget([row["doc"] for row in rows], gone, seq)
        new._append(rows)
        return new

    def as_of(self, seq: int) -> "Columns | None":
        """The state as it was at an earlier `seq`; None when chunks have changed or gone since."""
        if self._changed > seq:
            return None
        old = self._copy()
        old._until = seq
        return old

    def compacted(self) -> "Columns":
        """The same state without the rows that are dead, and without names that only these had."""
        living = np.flatnonzero(self._alive[: self.count])
        new = Columns(self._vectors.shape[1])
        new._buffers = {name: buffer[living] for name, buffer in self._buffers.items()}
        for name in _NAMES:
            used, codes = np.unique(new._buffers[name], return_inverse=True)
            new._named[name] = [self._named[name][code] for code in used.tolist()]
            new._codes[name] = {value: code for code, value in enumerate(new._named[name])}
            new._buffers[name] = codes.astype(_TYPES[name])
        new._vectors, new._alive = self._vectors[living], np.ones(len(living), np.bool_)
        new._owners = self.owners_of(living)
        new.count, new._changed = len(living), self._changed
        new._find(0)
        return new

    def _copy(self) -> "Columns":
        new = object.__new__(Columns)
        new.__dict__.update(self.__dict__)
        return new

    def _forget(self, changed: Sequence[int], gone: Sequence[int], seq: int) -> None:
        docs = np.array([*changed, *gone], np.int64)
        places = self.places(docs)
        old = places >= 0
        if old.any():
            self._alive = self._alive.copy()
            self._alive[places[old]] = False
            self._place = self._place.copy()
            self._place[docs[old]] = -1
            self.dead += int(old.sum())
            self._changed = seq

    def _append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        if not rows:
            return
        start, stop = self.count, self.count + len(rows)
        self._reserve(stop)
        for name in _NUMBERS:
            self._buffers[name][start:stop] = [row[name] for row in rows]
        for name in _TIMES:
            self._buffers[name][start:stop] = [NEVER if row[name] is None else row[name] for row in rows]
        for name in _NAMES:
            codes, names = self._codes[name], self._named[name]
            self._buffers[name][start:stop] = [codes.setdefault(row[name], len(codes)) for row in rows]
            names.extend(islice(codes, len(names), None))  # a dictionary keeps the order of its codes
        self._buffers["place"][start:stop] = [-1 if row["place"] is None else row["place"] for row in rows]
        self._buffers["corrects"][start:stop] = [row["supersedes"] is not None for row in rows]
        self._append_vectors([row["vector"] for row in rows], start, stop)
        self._alive[start:stop] = True
        del self._owners[start:]
        self._owners.extend(row["owner"] for row in rows)
        self.count = stop
        self._find(start)

    def _find(self, start: int) -> None:
        """Note where the documents from this place on are."""
        docs = self._buffers["doc"][start : self.count]
        if len(docs) and (top := int(docs.max()) + 1) > len(self._place):
            place = np.full(max(top, 2 * len(self._place)), -1, np.int64)
            place[: len(self._place)] = self._place
            self._place = place
        self._place[docs] = np.arange(start, self.count)

    def _append_vectors(self, blobs: Sequence[bytes | None], start: int, stop: int) -> None:
        dimensions = self._vectors.shape[1]
        present = np.array([blob is not None and len(blob) == 2 * dimensions for blob in blobs])
        self._buffers["has_vector"][start:stop] = present
        target = self._vectors[start:stop]
        target[~present] = 0
        target[present] = decode_vectors(
            [b for b, ok in zip(blobs, present, strict=True) if ok and b], dimensions
        )

    def _reserve(self, size: int) -> None:
        if size <= len(self._alive):
            return
        capacity = max(size, 2 * self.count, _FIRST_CAPACITY)
        self._buffers = {name: _grown(buffer, self.count, capacity) for name, buffer in self._buffers.items()}
        self._vectors = _grown(self._vectors, self.count, capacity)
        self._alive = _grown(self._alive, self.count, capacity)

    def allowed(self, filter: Filter) -> NDArray[np.bool_]:
        """Which chunks the filter lets through."""
        mask = self._alive[: self.count].copy()
        if self._until != NEVER:
            mask &= self.seq <= self._until
        for name, wanted in filter.wanted.items():
            codes = self._codes[name]
            found = [codes[value] for value in wanted if value in codes]
            chosen = np.zeros(len(codes), np.bool_)  # others may add codes meanwhile, never remove
            chosen[found] = True
            mask &= chosen[self._buffers[name][: self.count]]
        if filter.exclude_conversation is not None:
            mask &= self.conversation != self._codes["conversation"].get(filter.exclude_conversation, -1)
        if filter.since is not None:
            mask &= self.at >= encode_time(filter.since)
        if filter.until is not None:
            mask &= self.at < encode_time(filter.until)
        if filter.min_confidence > 0:
            mask &= self.confidence >= filter.min_confidence
        return mask & self._holds(filter) if filter.in_force else mask

    def _holds(self, filter: Filter) -> NDArray[np.bool_]:
        """Which chunks were valid at `as_of`, as far as was known at `known_at`; by default, now."""
        now = encode_time(filter.now)
        current = self.expires_at > now
        if filter.as_of is None and filter.known_at is None:
            # A correction made for later leaves the old memory in force until then. What began after it
            # was recorded is told from what a clock that went back has put into the future.
            planned = self.corrects & (self.valid_from > self.recorded_at) & (self.valid_from > now)
            return current & (self.retired_at == NEVER) & (self.valid_to > now) & ~planned
        known_at = NEVER if filter.known_at is None else encode_time(filter.known_at)
        as_of = known_at if filter.as_of is None else encode_time(filter.as_of)
        retired_later = (self.retired_at > known_at) & (self.retired_at != NEVER)
        end = np.where(retired_later, self.stated_to, self.valid_to)
        return current & (self.recorded_at <= known_at) & (self.valid_from <= as_of) & (end > as_of)


def _grown(buffer: NDArray[Any], count: int, capacity: int) -> NDArray[Any]:
    grown = np.empty((capacity, *buffer.shape[1:]), buffer.dtype)
    grown[:count] = buffer[:count]
    return grown
