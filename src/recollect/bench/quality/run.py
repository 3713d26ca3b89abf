"""The steps one after the other: ingest, mine, age, retrieve, score, answer, judge. Each finds what an
earlier run has done.

What is kept is named by a hash of all that it depends on, so nothing out of date is ever taken: the
stores by the data, the model and the code that writes, what was found also by every setting and all code,
what a language model said also by its name.
"""

import hashlib
import json
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from recollect import Memory, __version__, wiring
from recollect import settings as settings_module
from recollect.bench.latency import Stage
from recollect.bench.measure import machine
from recollect.bench.quality import qa
from recollect.bench.quality.age import age, aged_to
from recollect.bench.quality.cache import CachingEmbedder
from recollect.bench.quality.datasets import Dataset
from recollect.bench.quality.ingest import SetClock, ingest
from recollect.bench.quality.mine import kept, mine
from recollect.bench.quality.retrieve import Answer, retrieve
from recollect.bench.quality.score import score
from recollect.errors import SettingsError
from recollect.ports.language_model import LanguageModel
from recollect.settings import SECRET, Settings

PACKAGE = Path(__file__).parents[2]
WRITING = ("record", "text", "bench/quality/datasets.py", "bench/quality/ingest.py")
"""The code that decides what is in a store."""
MINING = ("mine", "bench/quality/mine.py")
"""What decides it as well, where turns are mined."""
AGEING = ("mine", "tend", "model/retention.py", "bench/quality/age.py")
"""And where time goes by."""

Step = Literal["ingest", "mine", "retrieve", "score", "answer", "judge"]
Mining = Literal["off", "rules", "model"]
EARLY = ("ingest", "mine")
"""The steps that ask nothing."""
SCORED = ("score", "answer", "judge")
"""The steps whose figures include those of retrieval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a dataset is run."""

    cache: Path
    """The folder for vectors and answers."""
    db: str
    """A folder for SQLite files, or postgresql://…"""
    embedder: str | None = None
    top_k: int = 50
    mine: Mining = "off"
    """What derives memories from the turns."""
    age_days: int = 0
    """How long after the last session the questions are asked; until then the background is at work."""
    smoke: bool = False
    until: Step = "score"
    techniques: tuple[tuple[str, bool], ...] = ()
    """Those that are switched the other way."""
    model: str | None = None
    """The name of the model that mines and answers; else the settings'."""
    judge: str | None = None
    """The name of the model that judges; else the one that answers."""


def run(dataset: Dataset, plan: Plan, stage: Stage) -> dict[str, Any]:
    """The figures, or how far it came when it is to end earlier."""
    given: dict[str, Any] = {} if plan.embedder is None else {"embedder": plan.embedder}
    settings = settings_module.load(db=plan.db, **given)
    if plan.age_days and wiring.is_server(settings):  # all users of a database grow old together
        raise SettingsError("Time goes by for a database as a whole: give --db a folder, not a server.")
    asks = plan.until in ("answer", "judge")
    scored, dataset = dataset, dataset.with_abstaining() if asks else dataset
    with ExitStack() as stack:
        # First, so that a model that is not there is told at once and not after an hour.
        models = _models(stack, settings, plan) if asks else ()
        inner = wiring.open_embedder(settings)
        embedder = None if inner is None else stack.enter_context(CachingEmbedder(inner, plan.cache))
        key = _ingest_key(dataset, plan, settings, embedder)
        clock = SetClock()
        database = _database(settings, dataset, key)
        memory = stack.enter_context(
            Memory.open(database, embedder=embedder or "none", clock=clock, **_mining(plan, settings))
        )
        result: dict[str, Any] = {"recorded": ingest(memory, clock, dataset, key, stage)}
        if plan.until != "ingest" and plan.mine != "off":
            result["mined"] = mine(memory, clock, dataset, key, stage)
        tended = age(memory, clock, dataset, key, plan.age_days, stage) if plan.until not in EARLY else {}
        if plan.until not in EARLY:
            answered = plan.cache / "answers" / f"{dataset.name}-{_answer_key(key, plan, settings)}.jsonl"
            at = aged_to(dataset, plan.age_days)
            answers = retrieve(memory, clock, dataset, key, answered, stage, at, **_asking(plan))
            result = {"answers": str(answered)}
            if plan.until in SCORED:
                result = score(scored, _those(answers, scored)) | result
            if plan.mine != "off" or plan.age_days:
                result["records"] = kept(memory, dataset, key)
            if plan.age_days:
                result["tended"] = tended
            if models:
                result["qa"] = _qa(dataset, answers, plan, models, answered, stage)
        result["settings"] = _told(dataset, plan, settings, key, embedder)
    return result


def _models(stack: ExitStack, settings: Settings, plan: Plan) -> tuple[LanguageModel, LanguageModel]:
    """The one that answers and the one that judges."""
    name = plan.model or settings.model_name
    opened = [
        wiring.open_model(replace(settings, model_name=chosen)) for chosen in (name, plan.judge or name)
    ]
    if any(model is None for model in opened):
        raise SettingsError("A language model has to answer: set RECOLLECT_MODEL to the base URL of one.")
    answering, judging = (model for model in opened if model is not None)
    stack.callback(answering.close)
    stack.callback(judging.close)
    return answering, judging


def _mining(plan: Plan, settings: Settings) -> dict[str, Any]:
    """What a memory that mines is opened with."""
    if plan.mine == "off":
        return {"auto_mine": False}
    if plan.mine == "model" and not settings.model:
        raise SettingsError("A language model has to mine: set RECOLLECT_MODEL to the base URL of one.")
    return {"miner": plan.mine, "model_name": plan.model or settings.model_name}


def _those(answers: Iterable[Answer], dataset: Dataset) -> list[Answer]:
    """What was found for the questions of this dataset, in their order."""
    found = {(answer.user, answer.question): answer for answer in answers}
    return [found[person.user, question.id] for person, question in dataset.questions]


def _qa(
    dataset: Dataset,
    found: list[Answer],
    plan: Plan,
    models: tuple[LanguageModel, LanguageModel],
    path: Path,
    stage: Stage,
) -> dict[str, Any]:
    """What the model made of what was found, and the judge of that. Both are kept beside it."""
    answering, judging = models
    said = path.with_suffix(f".{_hash(answering.name)}.said.jsonl")
    answered = qa.answer(answering, dataset, found, said, stage)
    result: dict[str, Any] = {
        "model": answering.name,
        "answered": len(answered),
        "answers": str(said),
        "tokens": {"answer": qa.spent(answered)},
    }
    if plan.until == "judge":
        verdicts = said.with_suffix(f".{_hash(judging.name)}.judged.jsonl")
        judged = qa.judge(judging, dataset, answered, verdicts, stage)
        result |= {"judge": judging.name, "verdicts": str(verdicts), **qa.accuracy(dataset, judged)}
        result["tokens"]["judge"] = qa.spent(judged)
    return result


def _database(settings: Settings, dataset: Dataset, key: str) -> str:
    if wiring.is_server(settings):
        return settings.db
    folder = wiring.database_file(settings)
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / f"{dataset.name}-{key}.db")


def _ingest_key(dataset: Dataset, plan: Plan, settings: Settings, embedder: CachingEmbedder | None) -> str:
    space = embedder and (embedder.space.model, embedder.space.dimensions)
    parts = (*WRITING, *(() if plan.mine == "off" else MINING), *(AGEING if plan.age_days else ()))
    code = _code(path for part in parts for path in _files(PACKAGE / part))
    plain = plan.mine == "off" and not plan.age_days
    used = {} if plain else _used(settings, "db") | _mining(plan, settings)
    aged = (plan.age_days,) if plan.age_days else ()
    return _hash(dataset.name, dataset.digest, plan.smoke, plan.mine, used, space, code, *aged)


def _answer_key(key: str, plan: Plan, settings: Settings) -> str:
    return _hash(key, _asking(plan), _used(settings), _code(_files(PACKAGE)))


def _used(settings: Settings, *but: str) -> dict[str, Any]:
    """The settings that results depend on: another API key finds nothing else."""
    return {name: value for name, value in asdict(settings).items() if name not in (*SECRET, *but)}


def _asking(plan: Plan) -> dict[str, Any]:
    """What recall is asked with."""
    return {"top_k": plan.top_k, "techniques": dict(plan.techniques)}


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
        "age_days": plan.age_days,
        "smoke": plan.smoke,
        "semantic_weight": settings.semantic_weight,
        "candidates": settings.candidates,
        "threshold": settings.threshold,
        "latency": "without embedding the question",
    }
