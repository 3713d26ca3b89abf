"""A memory in each form that an integration may be given."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect import AsyncMemory, Client, Memory
from tests.interface.serving import served

FORMS = ("here", "asyncio", "server")
ROOT = Path(__file__).parents[2]


@contextmanager
def opened(form: str, path: Path) -> Iterator[Any]:
    """The memory at a path: in this process, for asyncio, or behind a server."""
    if form == "asyncio":
        memory = AsyncMemory(Memory.open(path, embedder="hashing"))
        try:
            yield memory
        finally:
            asyncio.run(memory.close())
        return
    with Memory.open(path, embedder="hashing") as memory:
        if form == "here":
            yield memory
            return
        with served(memory) as server, Client(server.url, server.issue("service").key) as client:
            yield client


def run_example(name: str, *arguments: object) -> str:
    """What an example prints, run as a reader would, with warnings as errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout
