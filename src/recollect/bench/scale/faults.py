"""Redis, Milvus and the graph server killed under load, each in turn: whether a request fails or a memory is
lost, and how long after a server is back the copies have caught up by themselves."""

import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import perf_counter, sleep
from typing import Any

from recollect import Memory
from recollect.bench.corpus import Corpus, Rows
from recollect.bench.scale.beside import graph_settings, own
from recollect.bench.scale.options import Options, at_most
from recollect.bench.sqlite import SqlitePlace
from recollect.bench.subject import BATCH, open_memory
from recollect.model.records import Turn
from recollect.testing.engines import BoltServer, MilvusServer, RedisServer, Server

USERS = 4
COPIES = 2
"""Milvus and the graph: what is in Redis is no copy."""
PATIENCE = 180.0
"""Seconds after which a copy that has not caught up never will."""


@dataclass(slots=True)
class Load:
    """Recalls and turns of several users at once, until it is told to end; what they met."""

    memory: Memory
    rows: Rows
    ending: threading.Event = field(default_factory=threading.Event)
    asked: int = 0
    impaired: int = 0
    recorded: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    failed: list[str] = field(default_factory=list[str])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def work(self, number: int) -> None:
        scope = self.memory.scope(f"user-{number}")
        for n in self._until_told():
            row = (number * 7919 + n) % len(self.rows)
            try:
                turn = scope.record_many(self.rows.messages(row, row + 1, prefix=f"load-{n}-"))[0]
                found = scope.recall(self.rows.texts[row], vector=self.rows.vectors[row])
            except Exception as error:  # noqa: BLE001 - whatever it is, a request failed
                self.failed.append(f"{type(error).__name__}: {error}")
                continue
            if all(hit.content != self.rows.texts[row] for hit in found.hits):
                self.failed.append(f"What was just said was not found: {'; '.join(found.problems)}")
                continue
            with self.lock:
                self.asked += 1
                self.impaired += bool(found.problems)
                self.recorded.append((f"user-{number}", turn.id))

    @contextmanager
    def going_on(self) -> Generator[None]:
        threads = [threading.Thread(target=self.work, args=(n,), daemon=True) for n in range(USERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.ending.set()
            for thread in threads:
                thread.join()

    def wait_for(self, requests: int) -> None:
        until = self.asked + len(self.failed) + requests
        while self.asked + len(self.failed) < until:
            sleep(0.01)

    def _until_told(self) -> Iterator[int]:
        n = 0
        while not self.ending.is_set():
            yield n
            n += 1


def faults(options: Options) -> dict[str, Any]:
    """Everything beside one database, and each of them killed and started again."""
    rows = Corpus(options.seed).rows(200 if options.quick else 2000, stream=9)
    with ExitStack() as stack:
        servers = {
            "redis": stack.enter_context(own(RedisServer, "redis")),
            "milvus": stack.enter_context(own(MilvusServer, "milvus")),
            "neo4j": stack.enter_context(own(BoltServer, "neo4j")),
        }
        memory = stack.enter_context(_opened(options, servers))
        for number in range(USERS):
            for start in range(0, len(rows), BATCH):
                memory.scope(f"user-{number}").record_many(rows.messages(start, start + BATCH))
        _caught_up(memory)
        load = Load(memory, rows)
        with load.going_on():
            killed = {name: _killed(load, name, server, options) for name, server in servers.items()}
        behind, seconds = _caught_up(memory)
        lost = sum(not memory.store.user(user).get(Turn, [id]) for user, id in load.recorded)
    return {
        "requests": load.asked,
        "impaired": load.impaired,
        "failures": load.failed[:5],
        "killed": killed,
        "caught_up_after_s": seconds,
        "checks": {
            "requests that failed": at_most(len(load.failed), 0),
            "memories that were lost": at_most(lost, 0),
            "changes that copies lack in the end": at_most(behind, 0),
        },
    }


def _opened(options: Options, servers: dict[str, Any]) -> Memory:
    settings: dict[str, Any] = {
        "background": True,
        "tend_seconds": 1.0,
        "auto_mine": False,
        "redis": servers["redis"].url,
        "milvus": servers["milvus"].url,
        "milvus_over": 0,
        **graph_settings(servers["neo4j"]),
        "neo4j_timeout": 2.0,
    }
    return open_memory(SqlitePlace(options.folder).database("faults"), **settings)


def _killed(load: Load, name: str, server: Server, options: Options) -> dict[str, Any]:
    """Kill it, let some requests pass, start it again, and let some more pass."""
    some = 40 if options.quick else 400
    options.stage(f"{name} is killed", 0)
    impaired = load.impaired
    begun = perf_counter()
    server.kill()
    load.wait_for(some)
    away = perf_counter() - begun
    server.start()
    load.wait_for(some)
    return {"away_s": round(away, 1), "impaired": load.impaired - impaired}


def _caught_up(memory: Memory) -> tuple[int, float]:
    """How many changes the copies lack once nothing more comes, and after how many seconds."""
    begun = perf_counter()
    while True:
        lags = memory.store.stats()["projections"]
        behind = sum(lag.changes for lag in lags.values())
        passed = perf_counter() - begun
        if (len(lags) == COPIES and not behind) or passed > PATIENCE:
            return behind, round(passed, 1)
        sleep(0.2)
