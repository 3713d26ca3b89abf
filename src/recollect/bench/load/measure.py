"""How many questions a second one server process answers, beside its embedder alone and recall in process."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any

from recollect import __version__
from recollect.bench.corpus import Query
from recollect.bench.latency import Stage
from recollect.bench.load.soak import CLIENTS, soak
from recollect.bench.measure import Times, machine, peak_rss_mb, ratio, settled
from recollect.bench.place import Place
from recollect.bench.serving.child import Child
from recollect.bench.serving.client import Answer, Connection
from recollect.bench.serving.judged import at_least, at_most, figures
from recollect.bench.serving.setting import Served, served
from recollect.bench.subject import Advance, ask
from recollect.errors import EmbedderError

TEXT_LIMIT = 0.7
"""Of the questions a second that the embedder alone takes, one after the other. With a thread a core it
takes more; so could the server, if a question were its embedding and nothing else: that ratio is told too."""
VECTOR_LIMIT = 0.6
"""Of the recalls a second of as many threads as do best in this process."""
THREADS = (1, 2, 4, 8)
WARM = 64
FEWER = 4
"""Of how many questions one is embedded one at a time, for information."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    memories: int = 10_000
    clients: int = 32
    questions: int = 1_000
    rounds: int = 3
    soak: float = 0.0
    embedder: str | None = None


@dataclass(slots=True)
class Rate:
    """Questions a second, round by round."""

    rounds: list[float] = field(default_factory=list[float])
    times: Times = field(default_factory=Times)
    cpu: float = 0.0
    asked: int = 0
    errors: int = 0

    def note(self, asked: int, seconds: float, cpu: float) -> None:
        self.rounds.append(asked / seconds)
        self.asked += asked
        self.cpu += cpu

    @property
    def median(self) -> float:
        return round(median(self.rounds), 1)

    def told(self) -> dict[str, Any]:
        told = {
            "per_second": self.median,
            "rounds": [round(one, 1) for one in self.rounds],
            "cpu_ms": round(self.cpu / self.asked * 1000, 3),
        }
        return {**told, **figures(self.times), "errors": self.errors} if self.times.seconds else told


def run(place: Place, plan: Plan, stage: Stage) -> dict[str, Any]:
    begun = perf_counter()
    settings = {**machine(), **place.about(), "recollect": __version__, **asdict(plan)}
    asked = plan.questions * plan.rounds + WARM
    with Child("upstream", {}) as upstream:
        options: dict[str, Any] = {"embedder": plan.embedder, "upstream": upstream.url}
        options |= {"concurrency": 2 * plan.clients + CLIENTS, "server_tends": plan.soak > 0}
        with served(place, "load", plan.memories, asked, stage, **options) as here:
            settings["embedder"] = here.model
            found = _measured(here, plan, stage)
            if plan.soak:
                found["soak"] = asyncio.run(soak(here, plan.soak, stage))
            settings["server_rss_mb"] = here.server.rss_mb()
    settings |= {"seconds": round(perf_counter() - begun, 1), "peak_rss_mb": peak_rss_mb()}
    return {"settings": settings, **found, "targets": _targets(found)}


def _measured(here: Served, plan: Plan, stage: Stage) -> dict[str, Any]:
    """Every round all of them, with questions that nobody has asked before."""
    embedding, singly, recalling, by_text, by_vector = (Rate() for _ in range(5))
    advance = stage("questions", plan.questions * plan.rounds * 4)
    warm = here.questions[:WARM]
    best = {"embedder": _best(here, warm, _embed), "in_process": _best(here, warm, _recall)}
    for way in (text_body, vector_body):
        asyncio.run(_served(here, plan.clients, warm, way, Rate(), lambda _: None))
    with settled():
        for number in range(plan.rounds):
            start = WARM + number * plan.questions
            questions = here.questions[start : start + plan.questions]
            _threads(here, questions[: -(-len(questions) // FEWER)], _embed, 1, singly)
            _threads(here, questions, _embed, best["embedder"], embedding)
            advance(len(questions))
            asyncio.run(_served(here, plan.clients, questions, text_body, by_text, advance))
            _threads(here, questions, _recall, best["in_process"], recalling)
            advance(len(questions))
            asyncio.run(_served(here, plan.clients, questions, vector_body, by_vector, advance))
    return {
        "threads": best,
        "embedder": embedding.told(),
        "embedder_singly": singly.told(),
        "server": by_text.told(),
        "in_process": recalling.told(),
        "server_with_vectors": by_vector.told(),
        "ratios": {
            "text": ratio(by_text.median, embedding.median),
            "text_singly": ratio(by_text.median, singly.median),
            "vectors": ratio(by_vector.median, recalling.median),
        },
    }


def _embed(here: Served, question: Query) -> None:
    assert here.memory.embedder is not None
    here.memory.embedder.embed_query(question.text)


def _recall(here: Served, question: Query) -> None:
    ask(here.scope, question)


def _best(here: Served, questions: Sequence[Query], work: Callable[[Served, Query], None]) -> int:
    """With how many threads it does most here."""
    return max(THREADS, key=lambda threads: _threads(here, questions, work, threads, Rate()).median)


def _threads(
    here: Served, questions: Sequence[Query], work: Callable[[Served, Query], None], threads: int, rate: Rate
) -> Rate:
    with ThreadPoolExecutor(threads) as pool:
        begun, used = perf_counter(), process_time()
        for _ in pool.map(partial(work, here), questions):
            pass
        rate.note(len(questions), perf_counter() - begun, process_time() - used)
    return rate


def text_body(question: Query) -> dict[str, Any]:
    return {"query": question.text}


def vector_body(question: Query) -> dict[str, Any]:
    return {"query": question.text, "vector": [round(float(value), 7) for value in question.vector]}


async def _served(
    here: Served,
    clients: int,
    questions: Sequence[Query],
    body: Callable[[Query], dict[str, Any]],
    rate: Rate,
    advance: Advance,
) -> None:
    """So many clients, each of which asks its next question when it has its answer."""
    answers: list[Answer] = []
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(Connection(f"{here.server.url}/api/v1")) for _ in range(clients)
        ]
        requests = iter([opened[0].request("/recall", body(question)) for question in questions])

        async def client(connection: Connection) -> None:
            for request in requests:
                begun = perf_counter()
                answers.append(await connection.ask(request))
                rate.times.seconds.append(perf_counter() - begun)

        begun, used = perf_counter(), here.server.cpu_seconds()
        await asyncio.gather(*(client(connection) for connection in opened))
        rate.note(len(questions), perf_counter() - begun, here.server.cpu_seconds() - used)
    rate.errors += sum(not _is_right(answer) for answer in answers)
    advance(len(questions))


def _is_right(answer: Answer) -> bool:
    """It is an answer, with memories in it, and nothing went wrong on the way."""
    if answer.status != 200:
        return False
    found = answer.json()
    if problems := found.get("problems"):
        raise EmbedderError("; ".join(problems))
    return bool(found["hits"])


def _targets(found: dict[str, Any]) -> list[dict[str, Any]]:
    ratios = found["ratios"]
    errors = found["server"]["errors"] + found["server_with_vectors"]["errors"]
    targets = [
        at_least("questions a second, in those of the embedder alone", ratios["text_singly"], TEXT_LIMIT),
        at_least("with vectors, in recalls a second in process", ratios["vectors"], VECTOR_LIMIT),
        at_most("errors", errors, 0),
    ]
    if "soak" in found:
        lasting = found["soak"]
        targets.append(at_most("soak: errors", lasting["errors"], 0))
        targets.append(at_most("soak: growth of memory in its second half, share", lasting["growth"], 0.03))
    return targets
