"""A verb that is done once however often it is asked for under one key."""

from collections.abc import Callable
from copy import copy
from typing import TypeVar

from recollect.errors import Repeated
from recollect.record.once import Made, Sent, answered, guarded
from recollect.scoped import ScopedMemory
from recollect.workspace import Workspace

T = TypeVar("T")


def once(
    memory: ScopedMemory,
    sent: Sent,
    write: Callable[[ScopedMemory], T],
    again: Callable[[ScopedMemory, Made], T],
    kinds: tuple[str, ...] = (),
) -> T:
    """What `write` gives; when it was done before, or just now by somebody else, what `again` makes of the
    ids of what it stored."""
    work = memory._work  # pyright: ignore[reportPrivateUsage]
    if (made := answered(work, sent)) is not None:
        return again(memory, made)
    try:
        return write(_guarded(memory, guarded(work, sent, kinds)))
    except Repeated:
        made = answered(work, sent)
        if made is None:
            raise
        return again(memory, made)


def _guarded(memory: ScopedMemory, work: Workspace) -> ScopedMemory:
    """The same memory, worked on in another workspace."""
    other = copy(memory)
    other._work = work  # pyright: ignore[reportPrivateUsage]
    return other
