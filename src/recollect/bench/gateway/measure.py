"""What the gateway adds until the first word, with memory and without, and whether it holds chunks back."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

from recollect import __version__
from recollect.bench.latency import Stage
from recollect.bench.measure import Times, machine, peak_rss_mb, ratio, settled
from recollect.bench.place import Place
from recollect.bench.serving.child import Child
from recollect.bench.serving.client import Connection, Streamed
from recollect.bench.serving.judged import at_most, figures
from recollect.bench.serving.setting import Served, served
from recollect.bench.serving.upstream import SCHEDULE
from recollect.bench.subject import Advance
from recollect.errors import RecollectError

ADDED_LIMIT = 1.5
"""What memory adds until the first word, in recalls of the same questions in this process."""
ADDED_MS = 50.0
OFF_LIMIT = 1.2
"""The gateway without memory, in bare proxies."""
HELD_LIMIT = 0.01
"""The share of chunks that come only after the next one was sent."""
WARM = 10

WAYS = ("direct", "bare", "off", "memory")
"""Straight to the upstream, by a bare proxy, by the gateway with memory off, and with it."""
RECALL = "recall"
OFF = {"x-recollect-memory": "off"}
INJECTED = b"x-recollect-injected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    memories: int = 10_000
    questions: int = 200
    streams: int = 10
    chunks: int = 20
    gap: float = 0.02
    embedder: str | None = None


@dataclass(slots=True)
class Found:
    """How long each way to the upstream took, and a recall of the same questions."""

    first: dict[str, Times] = field(default_factory=lambda: {way: Times() for way in WAYS})
    total: dict[str, Times] = field(default_factory=lambda: {way: Times() for way in WAYS})
    recalls: Times = field(default_factory=Times)
    injected: int = 0

    def note(self, way: str, streamed: Streamed) -> None:
        self.first[way].seconds.append(streamed.first)
        self.total[way].seconds.append(streamed.total)
        self.injected += way == "memory" and INJECTED in streamed.head.lower()


def run(place: Place, plan: Plan, stage: Stage) -> dict[str, Any]:
    begun = perf_counter()
    settings = {**machine(), **place.about(), "recollect": __version__, **asdict(plan)}
    asked = plan.questions + WARM
    with Child("upstream", {}) as upstream, Child("bare", {"upstream": upstream.url}) as bare:
        options = {"upstream": upstream.url, "embedder": plan.embedder}
        with served(place, "gateway", plan.memories, asked, stage, **options) as here:
            settings["embedder"] = here.model
            found = asyncio.run(_measured(here, upstream.url, bare.url, plan, stage))
            settings["server_rss_mb"] = here.server.rss_mb()
    settings |= {"seconds": round(perf_counter() - begun, 1), "peak_rss_mb": peak_rss_mb()}
    return {"settings": settings, **found, "targets": _targets(found, plan)}


async def _measured(here: Served, upstream: str, bare: str, plan: Plan, stage: Stage) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        gateway = f"{here.server.url}/v1"
        opened = {
            way: await stack.enter_async_context(Connection(url))
            for way, url in zip(WAYS, (upstream, bare, gateway, gateway), strict=True)
        }
        with settled():
            first = await _first_words(here, opened, plan, stage)
            chunks = await _chunk_by_chunk(opened, plan, stage)
    return {**first, "chunks": chunks}


def _chat(way: str, connection: Connection, text: str, **more: Any) -> bytes:
    messages = [{"role": "user", "content": text}]
    body = {"model": "scripted", "messages": messages, "stream": True, **more}
    headers = {"authorization": "Bearer scripted", **(OFF if way == "off" else {})}
    return connection.request("/chat/completions", body, headers)


async def _asked(
    here: Served, opened: dict[str, Connection], questions: Sequence[str], advance: Advance
) -> Found:
    """Each question by every way and in process, every time in another order."""
    found = Found()
    for number, text in enumerate(questions):
        order = (*WAYS, RECALL)
        for way in (*order[number % len(order) :], *order[: number % len(order)]):
            if way != RECALL:
                found.note(way, await opened[way].stream(_chat(way, opened[way], text)))
            elif problems := found.recalls.take(lambda text=text: here.scope.recall(text)).problems:
                raise RecollectError("; ".join(problems))
        advance(1)
    return found


async def _first_words(
    here: Served, opened: dict[str, Connection], plan: Plan, stage: Stage
) -> dict[str, Any]:
    texts = [question.text for question in here.questions]
    await _asked(here, opened, texts[:WARM], lambda _: None)
    found = await _asked(here, opened, texts[WARM:], stage("first words", plan.questions))
    direct, recalled = found.first["direct"].p50, found.recalls.p50
    added = {way: round(found.first[way].p50 - direct, 3) for way in WAYS[1:]}
    return {
        "ways": {
            way: {"first": figures(found.first[way]), "total": figures(found.total[way])} for way in WAYS
        },
        "added_first_p50_ms": added,
        "recall": figures(found.recalls),
        "injected": found.injected / plan.questions,
        "ratios": {
            "memory": ratio(added["memory"], recalled),
            "off_first": ratio(found.first["off"].p50, found.first["bare"].p50),
            "off_total": ratio(found.total["off"].p50, found.total["bare"].p50),
        },
    }


async def _chunk_by_chunk(opened: dict[str, Connection], plan: Plan, stage: Stage) -> dict[str, Any]:
    """How much later than it was sent each chunk of slow answers comes, by every way."""
    advance = stage("chunk by chunk", plan.streams * len(opened))
    found: dict[str, list[Streamed]] = {way: [] for way in opened}
    for number in range(plan.streams):
        for way, connection in opened.items():
            schedule = {SCHEDULE: [plan.chunks, plan.gap]}
            chat = _chat(way, connection, f"Tell me slowly, please, number {number}.", **schedule)
            found[way].append(await connection.stream(chat))
            advance(1)
    return {way: _lateness(streams, plan) for way, streams in found.items()}


def _lateness(streams: list[Streamed], plan: Plan) -> dict[str, Any]:
    lags = Times([lag for one in streams for lag in one.lags])
    if len(lags.seconds) != plan.chunks * len(streams):
        raise RecollectError("Chunks of an answer are missing, or were changed.")
    pairs = [(came, sent) for one in streams for came, sent in zip(one.came[:-1], one.sent[1:], strict=True)]
    places = [Times([one.lags[place] for one in streams]) for place in range(plan.chunks)]
    return {
        **figures(lags),
        "max_ms": round(lags.ms(100), 3),
        "held_back": ratio(sum(came > sent for came, sent in pairs), len(pairs)),
        "by_chunk_p50_ms": [round(times.p50, 3) for times in places],
    }


def _targets(found: dict[str, Any], plan: Plan) -> list[dict[str, Any]]:
    ratios, added = found["ratios"], found["added_first_p50_ms"]["memory"]
    return [
        at_most("memory: added until the first word, p50, in recalls", ratios["memory"], ADDED_LIMIT),
        at_most("memory: added until the first word, p50 ms", added, ADDED_MS),
        at_most("memory off: until the first word, p50, in bare proxies", ratios["off_first"], OFF_LIMIT),
        at_most("memory off: until the end, p50, in bare proxies", ratios["off_total"], OFF_LIMIT),
        at_most(
            f"chunks {plan.gap * 1000:g} ms apart: share that comes after the next was sent",
            found["chunks"]["memory"]["held_back"],
            HELD_LIMIT,
        ),
    ]
