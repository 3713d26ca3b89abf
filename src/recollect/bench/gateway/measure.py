"""What the gateway adds until the first word, with memory and without, and whether it holds chunks back."""

import asyncio
from collections.abc import Coroutine
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
from recollect.errors import RecollectError

ADDED_LIMIT = 1.5
"""What memory adds until the first word, in recalls of the same questions in this process."""
ADDED_MS = 50.0
OFF_LIMIT = 1.2
"""The gateway without memory, in bare proxies."""
HELD_LIMIT = 0.01
"""The share of chunks that come only after the next one was sent."""
WARM = 10

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
class Ways:
    """Times of the ways to the upstream."""

    first: dict[str, Times] = field(default_factory=dict[str, Times])
    total: dict[str, Times] = field(default_factory=dict[str, Times])

    def note(self, way: str, streamed: Streamed) -> None:
        self.first.setdefault(way, Times()).seconds.append(streamed.first)
        self.total.setdefault(way, Times()).seconds.append(streamed.total)

    def told(self) -> dict[str, Any]:
        return {
            way: {"first": figures(self.first[way]), "total": figures(self.total[way])} for way in self.first
        }


def run(place: Place, plan: Plan, stage: Stage) -> dict[str, Any]:
    begun = perf_counter()
    settings = {**machine(), **place.about(), "recollect": __version__, **asdict(plan)}
    asked = plan.questions + WARM
    with Child("upstream", {}) as upstream, Child("bare", {"upstream": upstream.url}) as bare:
        options = {"upstream": upstream.url, "embedder": plan.embedder}
        with served(place, "gateway", plan.memories, asked, stage, **options) as here:
            settings["embedder"] = here.scope.recall("?").query and _model(here)
            found = asyncio.run(_measured(here, upstream.url, bare.url, plan, stage))
            settings["server_rss_mb"] = here.server.rss_mb()
    settings |= {"seconds": round(perf_counter() - begun, 1), "peak_rss_mb": peak_rss_mb()}
    return {"settings": settings, **found, "targets": _targets(found, plan)}


def _model(here: Served) -> str:
    return here.memory.embedder.space.model if here.memory.embedder else "none"


async def _measured(here: Served, upstream: str, bare: str, plan: Plan, stage: Stage) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        gateway = f"{here.server.url}/v1"
        opened = {
            way: await stack.enter_async_context(Connection(url))
            for way, url in {"direct": upstream, "bare": bare, "off": gateway, "memory": gateway}.items()
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


async def _first_words(
    here: Served, opened: dict[str, Connection], plan: Plan, stage: Stage
) -> dict[str, Any]:
    """Each question by every way, the first of which changes from one to the next."""
    ways, recalls = Ways(), Times()
    advance, injected = stage("first words", plan.questions), 0
    for number, question in enumerate(here.questions):
        if number == WARM:  # connections are open and caches filled
            ways, recalls, injected = Ways(), Times(), 0

        async def through(way: str, text: str = question.text) -> Streamed:
            streamed = await opened[way].stream(_chat(way, opened[way], text))
            ways.note(way, streamed)
            return streamed

        async def recalled(text: str = question.text) -> None:
            if problems := recalls.take(lambda: here.scope.recall(text)).problems:
                raise RecollectError("; ".join(problems))

        async def remembered() -> None:
            nonlocal injected
            injected += INJECTED in (await through("memory")).head.lower()

        steps: list[Any] = [lambda: through("direct"), lambda: through("bare"), lambda: through("off")]
        steps += [remembered, recalled]
        for step in (*steps[number % len(steps) :], *steps[: number % len(steps)]):
            work: Coroutine[Any, Any, Any] = step()
            await work
        advance(number >= WARM)
    direct = ways.first["direct"].p50
    added = {way: round(ways.first[way].p50 - direct, 3) for way in ("bare", "off", "memory")}
    return {
        "ways": ways.told(),
        "added_first_p50_ms": added,
        "recall": figures(recalls),
        "injected": injected / plan.questions,
        "ratios": {
            "memory": ratio(added["memory"], recalls.p50),
            "off_first": ratio(ways.first["off"].p50, ways.first["bare"].p50),
            "off_total": ratio(ways.total["off"].p50, ways.total["bare"].p50),
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
    pairs = [
        (came, sent)
        for one in streams
        for came, sent in zip(one.came[:-1], one.sent[1:], strict=True)
    ]
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
