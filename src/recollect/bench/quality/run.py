"""The steps one after the other: ingest, retrieve, score. Each finds what an earlier run has done.

What is kept is named by a hash of all that it depends on, so nothing out of date is ever taken: the
stores by the data, the model and the code that writes, the answers also by every setting and all code.
"""

import hashlib
import json
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from recollect import Memory, __version__, wiring
from recollect import settings as settings_module
from recollect.bench.latency import Stage
from recollect.bench.measure import machine
from recollect.bench.quality.cache import CachingEmbedder
from recollect.bench.quality.datasets import Dataset
from recollect.bench.quality.ingest import SetClock, ingest
from recollect.bench.quality.retrieve import retrieve
from recollect.bench.quality.score import score
from recollect.settings import Settings

PACKAGE = Path(__file__).parents[2]
WRITING = ("record", "text", "mine", "bench/quality/datasets.py", "bench/quality/ingest.py")
"""The code that decides what is in a store."""

Step = Literal["ingest", "retrieve", "score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a dataset is run."""

    cache: Path
    """The folder for vectors and answers."""
    db: str
    """A folder for SQLite files, or postgresql://…"""
    embedder: str | None = None
    top_k: int = 50
    mine: str = "none"
    smoke: bool = False
    until: Step = "score"


def run(dataset: Dataset, plan: Plan, stage: Stage) -> dict[str, Any]:
    """The figures, or how far it came when it is to end earlier."""
    given: dict[str, Any] = {} if plan.embedder is None else {"embedder": plan.embedder}
    settings = settings_module.load(db=plan.db, **given)
    with ExitStack() as stack:
        inner = wiring.open_embedder(settings)
        embedder = None if inner is None else stack.enter_context(CachingEmbedder(inner, plan.cache))
        key = _ingest_key(dataset, plan, embedder)
        clock = SetClock()
        memory = stack.enter_context(
            Memory.open(_database(settings, dataset, key), embedder=embedder or "none", clock=clock)
        )
        result: dict[str, Any] = {"recorded": ingest(memory, clock, dataset, key, stage)}
        if plan.until != "ingest":
            answered = plan.cache / "answers" / f"{dataset.name}-{_answer_key(key, plan, settings)}.jsonl"
            answers = retrieve(memory, clock, dataset, key, plan.top_k, answered, stage)
            result = score(dataset, answers) if plan.until == "score" else {"answers": str(answered)}
        result["settings"] = _told(dataset, plan, settings, key, embedder)
    return result


def _database(settings: Settings, dataset: Dataset, key: str) -> str:
    if wiring.is_server(settings):
        return settings.db
    folder = wiring.database_file(settings)
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / f"{dataset.name}-{key}.db")


def _ingest_key(dataset: Dataset, plan: Plan, embedder: CachingEmbedder | None) -> str:
    space = embedder and (embedder.space.model, embedder.space.dimensions)
    code = _code(path for part in WRITING for path in _files(PACKAGE / part))
    return _hash(dataset.name, dataset.digest, plan.smoke, plan.mine, space, code)


def _answer_key(key: str, plan: Plan, settings: Settings) -> str:
    return _hash(key, plan.top_k, asdict(settings), _code(_files(PACKAGE)))


def _files(path: Path) -> Iterable[Path]:
    return [path] if path.is_file() else path.rglob("*.py")


def _code(files: Iterable[Path]) -> str:
    return _hash(*(file.read_text("utf-8") for file in sorted(files)))


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:12]


def _told(
    dataset: Dataset, plan: Plan, settings: Settings, key: str, embedder: CachingEmbedder | None
) -> dict[str, Any]:
    """What the figures were got with; no address of a server, which may hold a password."""
    return {
        **machine(),
        "recollect": __version__,
        "dataset": dataset.name,
        "data_sha256": dataset.digest,
        "store": "postgresql" if wiring.is_server(settings) else "sqlite",
        "store_key": key,
        "embedder": embedder.space.model if embedder else "none",
        "embedded": embedder.computed if embedder else 0,
        "embedded_s": round(embedder.seconds, 3) if embedder else 0.0,
        "top_k": plan.top_k,
        "mine": plan.mine,
        "smoke": plan.smoke,
        "semantic_weight": settings.semantic_weight,
        "candidates": settings.candidates,
        "threshold": settings.threshold,
        "latency": "without embedding the question",
    }
