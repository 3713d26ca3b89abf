"""The same questions to Recollect and to the others, one system after the other.

Ours goes through the steps of the quality benchmark; the others through a script each, in an environment
of their own. What is kept is named by a hash of what it depends on, so nothing out of date is taken.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from recollect import __version__, wiring
from recollect import settings as settings_module
from recollect.bench.latency import Stage
from recollect.bench.measure import machine, ratio
from recollect.bench.peers import environment, exchange
from recollect.bench.peers.environment import PeerFailed
from recollect.bench.peers.pins import Peer
from recollect.bench.quality import run as quality
from recollect.bench.quality.cache import CachingEmbedder
from recollect.bench.quality.datasets import Dataset
from recollect.bench.quality.score import score
from recollect.bench.subject import Advance

OURS = "recollect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Who is asked, and how."""

    cache: Path
    """The folder for everything: environments, vectors, stores, answers."""
    peers: Sequence[Peer]
    embedder: str | None = None
    top_k: int = 50
    smoke: bool = False
    again: bool = False
    """Ask again what was answered, to have all times from one run."""

    @property
    def folder(self) -> Path:
        return self.cache / "peers"


def run(dataset: Dataset, plan: Plan, stage: Stage) -> dict[str, Any]:
    """The figures of every system. One that fails is there with its reason."""
    told = machine()
    systems = [_ours(dataset, plan, stage)]
    given: dict[str, Any] = {} if plan.embedder is None else {"embedder": plan.embedder}
    with ExitStack() as stack:
        inner = wiring.open_embedder(settings_module.load(**given)) if _vectors_wanted(plan) else None
        embedder = None if inner is None else stack.enter_context(CachingEmbedder(inner, plan.cache))
        for peer in plan.peers:
            try:
                systems.append(_theirs(peer, dataset, plan, embedder, stage))
            except PeerFailed as failure:
                systems.append({**_about(peer), "problem": str(failure)})
    return {
        "settings": told
        | {
            "dataset": dataset.name,
            "data_sha256": dataset.digest,
            "questions": sum(1 for _ in dataset.questions),
            "left_out": dataset.left_out,
            "embedder": systems[0]["embedder"],
            "top_k": plan.top_k,
            "smoke": plan.smoke,
            "latency": "without embedding the question",
        },
        "systems": systems,
        "ratios": ratios(systems),
    }


def ratios(systems: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """How many times our median the others' is."""
    ours, *others = systems
    base = ours["latency_ms"]["p50"]
    return {one["system"]: ratio(one["latency_ms"]["p50"], base) for one in others if not one["problem"]}


def _vectors_wanted(plan: Plan) -> bool:
    return any(peer.vectors for peer in plan.peers)


# Ours


def _ours(dataset: Dataset, plan: Plan, stage: Stage) -> dict[str, Any]:
    begun: dict[str, float] = {}
    turns: dict[str, int] = {}

    def noting(name: str, total: int) -> Advance:
        begun[name], turns[name] = perf_counter(), total
        return stage(f"{OURS}: {name}", total)

    steps = quality.Plan(
        cache=plan.cache,
        db=str(plan.cache / "stores"),
        embedder=plan.embedder,
        top_k=plan.top_k,
        smoke=plan.smoke,
        until="ingest",
    )
    ingested = quality.run(dataset, steps, noting)
    seconds = perf_counter() - begun["ingest"] - ingested["settings"]["embedded_s"]
    said = [turn for person in dataset.people for session in person.sessions for turn in session.turns]
    whole = turns["ingest"] == len(said)
    if plan.again:
        Path(quality.run(dataset, replace(steps, until="retrieve"), noting)["answers"]).unlink()
    found = quality.run(dataset, replace(steps, until="score"), noting)
    kept = plan.folder / "ingest" / f"{dataset.name}-{found['settings']['store_key']}.json"
    return {
        "system": OURS,
        "version": __version__,
        "how": "record_many and recall, SQLite",
        "unit": "turn",
        "vectors": "ours",
        "embedder": found["settings"]["embedder"],
        "problem": None,
        "documents": sum(1 for turn in said if turn.content.strip()),
        "ingest_s": _remembered(kept, seconds if whole else None),
        **{name: found[name] for name in ("session", "turn", "latency_ms", "interval")},
    }


def _remembered(path: Path, seconds: float | None) -> float | None:
    """How long filling took: now, or when it was done; None when it was done in parts."""
    if seconds is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(seconds), "utf-8")
    return round(json.loads(path.read_text("utf-8")), 1) if path.exists() else None


# Theirs


def _about(peer: Peer) -> dict[str, Any]:
    vectors = "ours" if peer.vectors else "none"
    return {
        "system": peer.name,
        "version": peer.version,
        "how": peer.how,
        "unit": peer.unit,
        "vectors": vectors,
    }


def _theirs(
    peer: Peer, dataset: Dataset, plan: Plan, embedder: CachingEmbedder | None, stage: Stage
) -> dict[str, Any]:
    if peer.vectors and embedder is None:
        raise PeerFailed("There is no embedding model to get vectors from.")
    python = environment.prepare(peer, plan.folder / "environments", stage)
    given = embedder if peer.vectors else None
    space = given and (given.space.model, given.space.dimensions)
    key = _hash(dataset.name, dataset.digest, plan.smoke, peer.unit, space, _code(Path(exchange.__file__)))
    data = plan.folder / "data" / f"{dataset.name}-{peer.unit}-{key}"
    exchange.write(dataset, peer.unit, given, data, stage)
    asked = _hash(key, plan.top_k, peer.requirements, _code(*_scripts(peer)))
    work = plan.folder / "work" / f"{dataset.name}-{peer.name}-{asked}"
    answered = work / "answers.jsonl"
    if plan.again:
        answered.unlink(missing_ok=True)
    environment.ask(peer, python, data, work, plan.top_k, sum(1 for _ in dataset.questions), stage)
    figures = score(dataset, exchange.answers(dataset, answered))
    documents, seconds = exchange.filled(work / "filled.jsonl")
    if peer.unit == "session":
        figures["turn"] = figures["interval"]["turn any@10"] = None  # it does not say which turn
    return _about(peer) | {
        "problem": None,
        "documents": documents,
        "ingest_s": round(seconds, 1),
        **{name: figures[name] for name in ("session", "turn", "latency_ms", "interval")},
    }


def _scripts(peer: Peer) -> list[Path]:
    """Its own, the one that it varies, and those that are shared."""
    every = sorted(environment.RUNNERS.glob("*.py"))
    return [path for path in every if peer.runner.startswith(path.stem) or not path.stem.startswith("run_")]


def _code(*paths: Path) -> list[str]:
    return [path.read_text("utf-8") for path in paths]


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:12]
