"""What a turn, a fact and a question cost here: bytes by table, and processor time of this process and of
the server where it is on this machine. Vectors come with the rows; what one costs by the configured model is
told beside it."""

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from time import process_time
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recollect import Memory
from recollect.bench.corpus import DIMENSIONS
from recollect.bench.mining.labelled import labelled
from recollect.bench.scale.crowd import LARGE
from recollect.bench.scale.growth import Setting, large_queries, small_queries
from recollect.bench.subject import USER, NoModel, ask, open_memory
from recollect.errors import EmbedderError
from recollect.settings import load
from recollect.wiring import open_embedder

FACTS = 1000
VECTORS = 50
TURNS = 100
"""Recorded one by one."""

Bytes = dict[str, int]
"""By table, with its indexes."""


class Drawn(NoModel):
    """An embedder that costs next to nothing: a vector drawn for each text, the same for the same text."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        drawn = [
            np.random.default_rng(crc32(text.encode())).standard_normal(DIMENSIONS, np.float32)
            for text in texts
        ]
        matrix = np.stack(drawn)
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True).astype(np.float32)


class Meter:
    """Processor milliseconds for each of some things, here and in the server's processes for us."""

    def __init__(self, serving: Callable[[], Sequence[int]] = tuple) -> None:
        self._serving = serving
        self.spent: dict[str, dict[str, float]] = {}

    def measure(self, name: str, count: int, work: Callable[[], object]) -> None:
        before, here = self._servers(), process_time()
        work()
        figures = {"here": process_time() - here}
        if before:
            after = self._servers()
            figures["server"] = sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())
        self.spent[name] = {where: round(spent / count * 1000, 3) for where, spent in figures.items()}

    def _servers(self) -> dict[int, float]:
        found = {pid: _seconds(pid) for pid in self._serving()}
        return {pid: seconds for pid, seconds in found.items() if seconds is not None}


def _seconds(pid: int) -> float | None:
    """What a process of PostgreSQL has spent; None when it is not on this machine."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return None
    name, _, rest = stat.read_text().partition(") ")
    if "postgres" not in name:
        return None
    user, system = rest.split()[11:13]
    return (int(user) + int(system)) / 100


def postgres_costs(setting: Setting, rows: int) -> dict[str, Any]:
    from recollect.bench.scale.sizes import server_bytes, serving

    with serving(setting.address) as pids:
        return _costs(setting, rows, Meter(pids), lambda: server_bytes(setting.address))


def file_costs(setting: Setting, rows: int) -> dict[str, Any]:
    from recollect.bench.scale.sizes import file_bytes

    return _costs(setting, rows, Meter(), lambda: file_bytes(Path(setting.address)))


def _costs(setting: Setting, rows: int, meter: Meter, sizes: Callable[[], Bytes]) -> dict[str, Any]:
    setting.options.stage("costs", 0)
    turn = {table: round(size / rows, 1) for table, size in sizes().items() if size > rows / 10}
    with closing(open_memory(setting.address, Drawn())) as memory:
        _recalls(memory, setting, meter)
        _writes(memory, setting, meter)
        _vectors(setting, meter)
        before = sizes()
        facts = [f"{text} {n}" for n, text in enumerate(setting.crowd.corpus.rows(FACTS, 1).texts)]
        meter.measure("a fact", FACTS, lambda: memory.scope("facts").remember_many(facts))
        memory.flush()
    grown = {table: size - before.get(table, 0) for table, size in sizes().items()}
    fact = {table: round(size / FACTS, 1) for table, size in grown.items() if size > 0}
    return {
        "bytes_a_turn": turn | {"all": round(sum(turn.values()), 1)},
        "bytes_a_fact": fact | {"all": round(sum(fact.values()), 1)},
        "processor_ms": meter.spent,
    }


def _recalls(memory: Memory, setting: Setting, meter: Meter) -> None:
    there = setting.crowd.there
    asked = ((USER, there.memories, small_queries(setting)), (LARGE, there.large, large_queries(setting)))
    for user, rows, queries in asked:
        scope = memory.scope(user)
        ask(scope, queries[0])
        meter.measure(
            f"a recall among {rows:,}", len(queries), lambda s=scope, q=queries: [ask(s, one) for one in q]
        )


def _vectors(setting: Setting, meter: Meter) -> None:
    """Of turns, one by one, as recording does it."""
    embedder = open_embedder(load(install_models=False))
    texts = setting.crowd.corpus.rows(VECTORS + 1, 3).texts
    if embedder is None:
        return
    with suppress(EmbedderError):
        embedder.embed_passages(texts[:1])
        meter.measure("a vector", VECTORS, lambda: [embedder.embed_passages([text]) for text in texts[1:]])


def _writes(memory: Memory, setting: Setting, meter: Meter) -> None:
    one, many = memory.scope("one-by-one"), memory.scope("in-a-batch")
    said = setting.crowd.corpus.rows(2 * TURNS, 2).messages()
    one.record_many(said[:1])
    many.record_many(said[:1])
    meter.measure("a turn, alone", TURNS - 1, lambda: [one.record_many([m]) for m in said[1:TURNS]])
    meter.measure("a turn, in a batch of 100", TURNS, lambda: many.record_many(said[TURNS:]))
    mined = memory.scope("mined")
    turns = [
        mined.record(turn.role, turn.content, conversation=exchange.id, at=exchange.at)
        for exchange in labelled("tune")
        for turn in exchange.turns
    ]
    meter.measure("mining a turn by rules", len(turns), mined.mine)
