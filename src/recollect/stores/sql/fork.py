"""Connections must not cross a fork: both sides would use one and the same, and acknowledged turns would
be lost. What holds some is told of every fork, so that each side opens its own again."""

import os
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    def before_fork(self) -> None: ...

    def after_fork(self) -> None: ...


_open: WeakSet[Forkable] = WeakSet()


def watch(forkable: Forkable) -> None:
    """Have it told of every fork while it lives."""
    _open.add(forkable)


def _before() -> None:
    for forkable in list(_open):
        forkable.before_fork()


def _after() -> None:
    for forkable in list(_open):
        forkable.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
