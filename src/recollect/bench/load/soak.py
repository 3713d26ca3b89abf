"""Mixed traffic for a long time: whether anything fails, and whether the server's memory stays as it is."""

import asyncio
from contextlib import AsyncExitStack
from itertools import count
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from recollect.bench.latency import Stage
from recollect.bench.measure import Times
from recollect.bench.serving.client import Connection
from recollect.bench.serving.judged import figures
from recollect.bench.serving.setting import Served

CLIENTS = 8
TURNS = 4
"""How often each of them asks, records and chats in a conversation before it is forgotten."""
SAMPLES = 200
MINUTE = 60.0


async def soak(here: Served, seconds: float, stage: Stage) -> dict[str, Any]:
    """What is recorded is forgotten again, so that there is as much at the end as at the beginning."""
    stopped = asyncio.Event()
    traffic = _Traffic(here, stopped)
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(Connection(here.server.url)) for _ in range(CLIENTS)]
        tasks = [asyncio.create_task(traffic.client(connection)) for connection in opened]
        samples = await _watched(here, seconds, stage)
        stopped.set()
        await asyncio.gather(*tasks)
    return {
        "seconds": seconds,
        "requests": {name: len(times.seconds) for name, times in traffic.times.items()},
        "times": {name: figures(times) for name, times in traffic.times.items()},
        "errors": len(traffic.errors),
        "first_errors": traffic.errors[:5],
        "rss_mb": [(round(at, 1), size) for at, size in samples],
        **_slope(samples),
    }


async def _watched(here: Served, seconds: float, stage: Stage) -> list[tuple[float, float]]:
    """What the server holds in memory, from time to time."""
    advance, begun = stage("soak", SAMPLES), perf_counter()
    samples = [(0.0, here.server.rss_mb())]
    for _ in range(SAMPLES):
        await asyncio.sleep(seconds / SAMPLES)
        samples.append((perf_counter() - begun, here.server.rss_mb()))
        advance(1)
    return samples


def _slope(samples: list[tuple[float, float]]) -> dict[str, float]:
    """Of the second half, in which everything is warm: its slope, and the share by which its end is above its
    beginning."""
    late = samples[len(samples) // 2 :]
    part = max(1, len(late) // 4)
    before, after = (median(size for _, size in some) for some in (late[:part], late[-part:]))
    slope = float(np.polyfit([at for at, _ in late], [size for _, size in late], 1)[0]) * MINUTE
    return {"slope_mb_a_minute": round(slope, 3), "growth": round(after / before - 1, 4) if before else 0.0}


class _Traffic:
    """What clients do: each lives through one short conversation after the other."""

    def __init__(self, here: Served, stopped: asyncio.Event) -> None:
        self.times: dict[str, Times] = {}
        self.errors: list[str] = []
        self._questions = [question.text for question in here.questions]
        self._stopped = stopped
        self._numbers = count()

    async def client(self, connection: Connection) -> None:
        while not self._stopped.is_set():
            conversation = f"soak-{next(self._numbers)}"
            for _ in range(TURNS):
                text = self._questions[next(self._numbers) % len(self._questions)]
                await self._said(connection, conversation, text)
            path = f"/api/v1/conversations/{conversation}"
            await self._ask("forget", connection, connection.request(path, method="DELETE"))

    async def _said(self, connection: Connection, conversation: str, text: str) -> None:
        messages = [{"role": "user", "content": text}]
        body: dict[str, Any] = {"messages": messages, "conversation": conversation}
        await self._ask("record", connection, connection.request("/api/v1/turns", body))
        await self._ask("recall", connection, connection.request("/api/v1/recall", {"query": text}))
        chat = {"model": "scripted", "messages": messages}
        headers = {"x-recollect-conversation": conversation, "authorization": "Bearer scripted"}
        request = connection.request("/v1/chat/completions", chat, headers)
        await self._ask("gateway", connection, request)

    async def _ask(self, name: str, connection: Connection, request: bytes) -> None:
        begun = perf_counter()
        answer = await connection.ask(request)
        self.times.setdefault(name, Times()).seconds.append(perf_counter() - begun)
        if not 200 <= answer.status < 300:
            self.errors.append(f"{name}: {answer.status} {answer.body[:200]!r}")
