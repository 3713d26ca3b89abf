"""Working memory in this process."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from recollect.model.working import Desk, WorkingItem, WorkingState
from recollect.ports.clock import Clock
from recollect.stores.working.codec import decode, decode_item, encode, encode_item

_OVERHEAD = 1024
"""About how many bytes a conversation takes with nothing in it."""


@dataclass(slots=True)
class _Held:
    """What is held of one conversation, as bytes: nobody else can change it, and its size is known."""

    until: datetime
    items: list[bytes] = field(default_factory=list[bytes])
    values: dict[str, bytes] = field(default_factory=dict[str, bytes])
    goal: str | None = None
    size: int = _OVERHEAD


@dataclass(slots=True)
class _Share:
    """How much of all that is one user's."""

    desks: int = 0
    size: int = 0


class ProcessWorkingStore:
    """The `WorkingStore` port. At most so many conversations and bytes are held: those used longest ago go
    first, and of a user who has more than half of it, their own. As each use renews the same time to live,
    those used longest ago are also the first to expire."""

    def __init__(self, clock: Clock, *, ttl: float, conversations: int, most_bytes: int) -> None:
        self._clock = clock
        self._ttl = timedelta(seconds=ttl)
        self._most = conversations
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._desks: OrderedDict[Desk, _Held] = OrderedDict()
        self._shares: dict[str, _Share] = {}
        self._bytes = 0
        self._evicted = 0

    def append(self, desk: Desk, item: WorkingItem) -> None:
        encoded = encode_item(item)
        with self._lock:
            held = self._use(desk)
            held.items.append(encoded)
            self._grow(desk, held, len(encoded))

    def items(self, desk: Desk) -> list[WorkingItem]:
        with self._lock:
            held = self._find(desk)
            found = list(held.items) if held else []
        return [decode_item(data) for data in found]

    def replace(self, desk: Desk, expected: Sequence[WorkingItem], items: Sequence[WorkingItem]) -> bool:
        old, new = [encode_item(item) for item in expected], [encode_item(item) for item in items]
        with self._lock:
            held = self._find(desk)
            if held is None or held.items[: len(old)] != old:
                return False
            held.items[: len(old)] = new
            self._grow(desk, held, sum(map(len, new)) - sum(map(len, old)))
            return True

    def put(self, desk: Desk, key: str, value: Any, most: int) -> bool:
        encoded = None if value is None else encode(value)
        with self._lock:
            held = self._use(desk)
            before = held.values.get(key)
            if encoded is not None and before is None and len(held.values) >= most:
                return False
            grown = -_size(key, before) + _size(key, encoded)
            if encoded is None:
                held.values.pop(key, None)
            else:
                held.values[key] = encoded
            self._grow(desk, held, grown)
            return True

    def value(self, desk: Desk, key: str) -> Any:
        with self._lock:
            held = self._find(desk)
            found = held.values.get(key) if held else None
        return None if found is None else decode(found)

    def values(self, desk: Desk) -> Mapping[str, Any]:
        with self._lock:
            held = self._find(desk)
            found = dict(held.values) if held else {}
        return {key: decode(data) for key, data in found.items()}

    def set_goal(self, desk: Desk, goal: str | None) -> None:
        with self._lock:
            held = self._use(desk)
            grown = len(goal or "") - len(held.goal or "")
            held.goal = goal
            self._grow(desk, held, grown)

    def goal(self, desk: Desk) -> str | None:
        with self._lock:
            held = self._find(desk)
            return held.goal if held else None

    def erase(self, user: str, *, channel: str | None = None, conversation: str | None = None) -> None:
        with self._lock:
            for desk in [desk for desk in self._desks if desk.user == user]:
                if channel in (None, desk.channel) and conversation in (None, desk.conversation):
                    self._drop(desk)

    def state(self) -> WorkingState:
        with self._lock:
            self._expire()
            return WorkingState(
                "in process",
                self._bytes,
                self._most_bytes,
                len(self._desks),
                self._evicted,
                "least recently used",
            )

    def close(self) -> None:
        with self._lock:
            self._desks.clear()
            self._shares.clear()
            self._bytes = 0

    def _find(self, desk: Desk) -> _Held | None:
        """What is held of it, if anything, its time to live renewed."""
        self._expire()
        now = self._clock.now()
        held = self._desks.get(desk)
        if held is not None and held.until <= now:  # behind one that was used before the clock went back
            self._drop(desk)
            return None
        if held is not None:
            held.until = now + self._ttl
            self._desks.move_to_end(desk)
        return held

    def _use(self, desk: Desk) -> _Held:
        """What is held of it, from now on if nothing was."""
        held = self._find(desk)
        if held is None:
            held = self._desks[desk] = _Held(self._clock.now() + self._ttl)
            self._bytes += held.size
            share = self._shares.setdefault(desk.user, _Share())
            share.desks += 1
            share.size += held.size
        return held

    def _grow(self, desk: Desk, held: _Held, size: int) -> None:
        """Count what was added; if that is too much, let others go. The one in use, the last, stays."""
        held.size += size
        self._bytes += size
        self._shares[desk.user].size += size
        while len(self._desks) > 1 and (len(self._desks) > self._most or self._bytes > self._most_bytes):
            self._drop(self._dispensable(desk))
            self._evicted += 1

    def _dispensable(self, used: Desk) -> Desk:
        """The one that goes for the one in use: nobody drives out others by holding much."""
        share = self._shares[used.user]
        if share.desks > 1 and (2 * share.desks > self._most or 2 * share.size > self._most_bytes):
            return next(desk for desk in self._desks if desk.user == used.user)
        return next(iter(self._desks))

    def _expire(self) -> None:
        now = self._clock.now()
        while self._desks:
            desk, held = next(iter(self._desks.items()))
            if held.until > now:
                return
            self._drop(desk)

    def _drop(self, desk: Desk) -> None:
        size = self._desks.pop(desk).size
        self._bytes -= size
        share = self._shares[desk.user]
        share.desks -= 1
        share.size -= size
        if not share.desks:
            del self._shares[desk.user]


def _size(key: str, value: bytes | None) -> int:
    return 0 if value is None else len(key) + len(value)
