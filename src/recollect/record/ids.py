"""UUIDv7 from an injected clock: ids that sort by when they were made."""

import secrets
import threading
from collections.abc import Callable

from recollect.ports.clock import Clock

_COUNTER_BITS = 42
_RANDOM_BITS = 32


def id_maker(clock: Clock) -> Callable[[], str]:
    """A thread-safe source of ids that never repeat and never go back, even when the clock does."""
    lock = threading.Lock()
    millisecond, counter = 0, 0

    def new_id() -> str:
        nonlocal millisecond, counter
        with lock:
            now = int(clock.now().timestamp() * 1000)
            if now > millisecond:
                millisecond, counter = now, secrets.randbits(_COUNTER_BITS - 1)
            else:
                counter += 1
            low = counter << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
            value = millisecond << 80 | 0x7 << 76 | (low >> 62) << 64 | 0b10 << 62 | low & (1 << 62) - 1
        digits = f"{value:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    return new_id
