"""Step four: what the answers are worth. Pure: from questions and what was found for them to figures.

any@k: one of the places of the evidence is among the first k. all@k: every one is.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from recollect.bench.quality.datasets import Dataset, Question
from recollect.bench.quality.retrieve import Answer

CUTS = (1, 3, 5, 10)
NDCG_AT = 10
MAIN = (("session", "any@5"), ("session", "all@5"), ("turn", "any@10"))
RESAMPLES = 2000
UPDATES = "knowledge-update"

Figures = dict[str, float]


def score(dataset: Dataset, answers: Sequence[Answer]) -> dict[str, Any]:
    """Everything that is reported of a run but its settings."""
    questions = [question for _, question in dataset.questions]
    scored = [_levels(q, answer) for q, answer in zip(questions, answers, strict=True)]
    types = sorted({question.type for question in questions})
    by_type = {
        name: _means([one for one, q in zip(scored, questions, strict=True) if q.type == name])
        for name in types
    }
    times = [answer.ms for answer in answers]
    return {
        "questions": len(questions),
        "abstention_left_out": dataset.left_out,
        **_means(scored),
        "by_type": by_type,
        "newest_first": newest_first(dataset, answers),
        "latency_ms": {f"p{p}": round(float(np.percentile(times, p)), 2) for p in (50, 95)} if times else {},
        "interval": {
            f"{level} {name}": interval([one[level][name] for one in scored if level in one])
            for level, name in MAIN
        },
    }


def newest_first(dataset: Dataset, answers: Sequence[Answer]) -> dict[str, float]:
    """Of the questions about what has changed, how often the newest session of the evidence comes before the
    older ones."""
    counted = right = 0
    for (person, question), answer in zip(dataset.questions, answers, strict=True):
        at = {session.id: session.at for session in person.sessions if session.id in question.sessions}
        if question.type != UPDATES or len(set(at.values())) < 2:
            continue
        first = next((session for session, _ in answer.turns if session in at), None)
        counted += 1
        right += first is not None and at[first] == max(at.values())
    return {"questions": counted, "share": round(right / counted, 4) if counted else 0.0}


def _levels(question: Question, answer: Answer) -> dict[str, Figures]:
    """The figures of one question by sessions and, where the evidence names turns, by turns. Sessions
    come in the order of their best turn."""
    sessions = list(dict.fromkeys(session for session, _ in answer.turns))
    levels = {"session": ranking(sessions, question.sessions)}
    if question.turns:
        levels["turn"] = ranking(answer.turns, question.turns)
    return levels


def ranking(found: Sequence[Hashable], gold: Collection[Hashable]) -> Figures:
    """The figures of one list, best first, against what belongs in it."""
    places = [place for place, item in enumerate(found, 1) if item in gold]
    figures: Figures = {}
    for k in CUTS:
        among = sum(place <= k for place in places)
        figures |= {f"any@{k}": float(among > 0), f"all@{k}": float(among == len(gold))}
    ideal = sum(_gain(place) for place in range(1, min(len(gold), NDCG_AT) + 1))
    gain = sum(_gain(place) for place in places if place <= NDCG_AT)
    return figures | {"mrr": 1 / places[0] if places else 0.0, f"ndcg@{NDCG_AT}": gain / ideal}


def _gain(place: int) -> float:
    return 1 / math.log2(place + 1)


def _means(scored: Iterable[Mapping[str, Figures]]) -> dict[str, Any]:
    """The mean of every figure, level by level, with the number of questions behind it."""
    scored = list(scored)
    means: dict[str, Any] = {}
    for level in ("session", "turn"):
        rows = [one[level] for one in scored if level in one]
        names = rows[0] if rows else ()
        means[level] = {"questions": len(rows)} | {
            name: round(sum(row[name] for row in rows) / len(rows), 4) for name in names
        }
    return means


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float] | None:
    """Between which means 95 of 100 such sets of questions would lie, by drawing from this one."""
    if not values:
        return None
    chance = np.random.default_rng(seed)
    drawn = chance.choice(np.asarray(values), (RESAMPLES, len(values))).mean(axis=1)
    low, high = np.percentile(drawn, (2.5, 97.5))
    return round(float(low), 4), round(float(high), 4)
