"""How far a benchmark is, on the terminal."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from recollect.bench.latency import Stage
from recollect.bench.subject import Advance


@contextmanager
def progress() -> Generator[Stage]:
    """A bar for each stage on the terminal; silence elsewhere."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:

        def stage(name: str, total: int) -> Advance:
            for task in progress.tasks:
                progress.update(task.id, total=task.completed or 1, completed=task.completed or 1)
            task_id = progress.add_task(name, total=total or None)
            return lambda count: progress.advance(task_id, count)

        yield stage
