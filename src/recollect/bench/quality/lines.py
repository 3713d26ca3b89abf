"""Results that go to a file line by line, so that a run that was stopped goes on where it was."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Key = tuple[str, str]
"""A question: its user and its id."""
Line = dict[str, Any]


def read(path: Path) -> dict[Key, Line]:
    """What an earlier run has written. A line that a killed process left unfinished is dropped."""
    if not path.exists():
        return {}
    lines = path.read_text("utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n")]
    if len(whole) < len(lines):
        path.write_text("".join(whole), "utf-8")
    found = [json.loads(line) for line in whole]
    return {(line["user"], line["question"]): line for line in found}


@contextmanager
def appending(path: Path) -> Generator[Callable[[Line], None]]:
    """Writes lines behind what is there, each at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:

        def write(line: Line) -> None:
            file.write(json.dumps(line) + "\n")
            file.flush()

        yield write
