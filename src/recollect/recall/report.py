"""What a recall did, step by step, collected on the way."""

from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter

from recollect.model.recollection import LeftOut, Used


class Step:
    """A step that is being taken: how much it found, and what there is to say of it."""

    def __init__(self) -> None:
        self.found = 0
        self.notes: list[str] = []


class Report:
    def __init__(self) -> None:
        self.used: list[Used] = []
        self.problems: list[str] = []
        self.left_out: list[LeftOut] = []

    @contextmanager
    def step(self, name: str) -> Generator[Step]:
        step, begun = Step(), perf_counter()
        try:
            yield step
        finally:
            ms = (perf_counter() - begun) * 1000
            self.used.append(Used(name, ms, step.found, "; ".join(step.notes)))
