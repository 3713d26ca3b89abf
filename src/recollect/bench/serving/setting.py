"""One user with many memories, opened here and served by a process of its own."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from recollect import Memory, ScopedMemory
from recollect.bench.corpus import Corpus, Query
from recollect.bench.latency import Stage
from recollect.bench.place import Place
from recollect.bench.serving.child import Child
from recollect.bench.subject import fill
from recollect.errors import SettingsError
from recollect.settings import load

STREAM = 70


@dataclass(frozen=True, slots=True)
class Served:
    """The memory in this process, the same one behind a server, and questions about it."""

    memory: Memory
    server: Child
    questions: Sequence[Query]

    @property
    def model(self) -> str:
        return self.memory.embedder.space.model if self.memory.embedder else "none"

    @property
    def scope(self) -> ScopedMemory:
        return self.memory.scope(self.memory.settings.user)


@contextmanager
def served(
    place: Place, name: str, size: int, questions: int, stage: Stage, **given: Any
) -> Generator[Served]:
    """Nobody tends and no limit holds back, unless `given` says so: what is measured is the way through the
    server."""
    settings: dict[str, Any] = {
        "db": place.database(name),
        "embedder": given.pop("embedder", None) or load().embedder,
    }
    settings |= {"install_models": False}
    corpus = Corpus()
    rows = corpus.rows(size, stream=STREAM)
    with Memory.open(**settings) as memory:
        embedder = memory.embedder
        if embedder is None or embedder.space.dimensions != rows.vectors.shape[1]:
            dimensions = rows.vectors.shape[1]
            raise SettingsError(f"This benchmark needs an embedder of {dimensions} dimensions, or hashing.")
        fill(memory.scope(memory.settings.user), rows, stage(f"{size:,} memories", size))
        place.settle(settings["db"])
        embedder.embed_query("Is it loaded?")
        serving = {
            "host": "127.0.0.1",
            "port": 0,
            "rate_limit": 0,
            "server_tends": False,
            "log_level": "warning",
        }
        with Child("server", {**settings, **serving, **given}) as server:
            yield Served(memory, server, corpus.queries(rows, questions))
