"""What every request works with, and how it gets at it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from fastapi import Request

from recollect import Memory
from recollect.server.identity.gate import Gate
from recollect.settings import Settings

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Serving:
    """One server process: the memory it serves, who may come in, and the threads in which memory works."""

    memory: Memory
    gate: Gate
    upstream: "httpx.AsyncClient"
    threads: ThreadPoolExecutor = field(repr=False)

    @property
    def settings(self) -> Settings:
        return self.memory.settings

    async def run(self, work: Callable[[], T]) -> T:
        """Do what takes a while, such as any verb of a memory, in a thread."""
        import asyncio

        return await asyncio.get_running_loop().run_in_executor(self.threads, work)


def serving(request: Request) -> Serving:
    """The process a request came to."""
    return request.app.state.serving
