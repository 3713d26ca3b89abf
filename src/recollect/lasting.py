"""Processes of our own that go on for days: a server, a worker. A library has no business to change these."""

import ctypes
import gc
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

M_ARENA_MAX, ARENAS = -8, 2
"""The option of glibc's mallopt, and how many of them the threads of a process share."""
M_MMAP_THRESHOLD, LARGE = -3, 256 * 1024
"""From which size on a piece of memory is one of its own, which goes back to the system when it is freed."""
TRIM_SECONDS = 60.0
"""How often what is free goes back to the system."""
COLLECT_AFTER = (20_000, 5, 20)
"""How many objects more there are before cycles are looked for, and how often among older ones."""


def steady_memory() -> None:
    """Have threads share where they take memory from. Each with its own, as glibc has it, what one frees is
    of no use to the others, and the process grows to several times what it needs. Nor may it come to take
    large pieces from there, as it does once some were freed: users' columns leave holes that nothing fits."""
    with suppress(OSError, AttributeError, TypeError):  # another system, or another allocator
        system = ctypes.CDLL(None)
        for option, value in ((M_ARENA_MAX, ARENAS), (M_MMAP_THRESHOLD, LARGE)):
            system.mallopt(option, value)
        trim = partial(system.malloc_trim, 0)
        threading.Thread(target=_now_and_then, args=(trim,), name="recollect-trim", daemon=True).start()


def _now_and_then(trim: Callable[[], object]) -> None:
    """Give back the pages that are free. By itself glibc does so at the end of what it has alone, and there
    is always something at the end: each peak, as when many records are read at once, would be kept."""
    never = threading.Event()
    while not never.wait(TRIM_SECONDS):
        trim()


def rare_collections() -> None:
    """Have what is loaded by now left out when cycles are looked for, and have that happen less often:
    records are read by the thousand, and hold none."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
