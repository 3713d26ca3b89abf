"""UUIDv7 from an injected clock: ids that sort by when they were made."""

import os
import secrets
import threading
from collections.abc import Callable

from recollect.ports.clock import Clock

_COUNTER_BITS = 42


def id_maker(clock: Clock) -> Callable[[], str]:
    """A thread-safe source of ids that never repeat and never go back, even when the clock does.

    The time in milliseconds, a counter of 42 bits around the version and the variant, 32 random bits.
    """
    lock = threading.Lock()
    millisecond, counter, time = 0, 0, "00000000-0000"

    def new_id() -> str:
        nonlocal millisecond, counter, time
        with lock:
            now = int(clock.now().timestamp() * 1000)
            if now > millisecond:
                millisecond, counter = now, secrets.randbits(_COUNTER_BITS - 1)
                time = f"{now >> 16:08x}-{now & 0xFFFF:04x}"
            else:
                counter += 1
            time_here, count = time, counter
        middle = f"7{count >> 30:03x}-{0x8000 | count >> 16 & 0x3FFF:04x}"
        return f"{time_here}-{middle}-{count & 0xFFFF:04x}{os.urandom(4).hex()}"

    return new_id
