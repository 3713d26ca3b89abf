"""UUIDv7 from an injected clock: ids that sort by when they were made."""

import os
import secrets
import threading
from collections.abc import Callable

from recollect.ports.clock import Clock

_COUNTER_BITS = 42


def id_maker(clock: Clock) -> Callable[[int], list[str]]:
    """A thread-safe source of ids, so many at a time, that never repeat and never go back, even when the
    clock does.

    The time in milliseconds, a counter of 42 bits around the version and the variant, 32 random bits.
    """
    lock = threading.Lock()
    millisecond, counter, time = 0, 0, "00000000-0000"

    def new_ids(count: int) -> list[str]:
        nonlocal millisecond, counter, time
        with lock:
            now = int(clock.now().timestamp() * 1000)
            if now > millisecond:
                millisecond, counter = now, secrets.randbits(_COUNTER_BITS - 1)
                time = f"{now >> 16:08x}-{now & 0xFFFF:04x}"
            prefix, first = time, counter + 1
            counter += count
        random = os.urandom(4 * count).hex()
        return [
            f"{prefix}-7{n >> 30:03x}-{0x8000 | n >> 16 & 0x3FFF:04x}-{n & 0xFFFF:04x}{random[i : i + 8]}"
            for n, i in zip(range(first, first + count), range(0, 8 * count, 8), strict=True)
        ]

    return new_ids
