"""What a recall did, step by step, collected on the way."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import perf_counter

from recollect.model.recollection import Used
from recollect.tracing import span


class Step:
    """A step that is being taken: how much it found, and what there is to say of it."""

    def __init__(self) -> None:
        self.found = 0
        self.notes: list[str] = []


class Report:
    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self.used: list[Used] = []
        self.problems: list[str] = []

    def problem(self, said: str) -> None:
        """Something that goes wrong: told once in the recollection, and to whoever runs it."""
        if said not in self.problems:
            self._warn(said)
            self.problems.append(said)

    def add(self, other: "Report") -> None:
        """What was done in a part that has a report of its own."""
        self.used += other.used
        self.problems += [said for said in other.problems if said not in self.problems]

    @contextmanager
    def step(self, name: str) -> Generator[Step]:
        step, begun = Step(), perf_counter()
        with span(f"recall.{name}") as traced:
            try:
                yield step
            finally:
                ms = (perf_counter() - begun) * 1000
                self.used.append(Used(name, ms, step.found, "; ".join(step.notes)))
                traced.set_attribute("found", step.found)
