"""The best hits in the order that a reranker gives them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from recollect.model.recollection import Hit
from recollect.ports.choosing import Choosing
from recollect.ports.reranker import Reranker
from recollect.recall.question import Asked
from recollect.recall.report import Report
from recollect.workspace import Workspace

RERANKED = 20
"""How many of the best are put in a new order."""


def _chosen(work: Workspace, reranker: Reranker, model: str | None) -> Reranker:
    """The deployment's, or the same with the model of the user's choice, as long as that is offered."""
    if model is None or model not in work.rerank_models[1:]:
        return reranker
    return cast(Choosing[Reranker], reranker).choosing(model)


def reranked(work: Workspace, asked: Asked, hits: Sequence[Hit], report: Report) -> list[Hit]:
    """The hits, the first of them in the reranker's order; in their own when it fails. Its relevance is
    one more signal; the score stays what it was, since rerankers have scales of their own."""
    if work.reranker is None or "rerank" not in asked.on or len(hits) < 2:
        return list(hits)
    if reason := work.resting.reason("reranker"):
        report.problem(reason)
        return list(hits)
    first, rest = hits[:RERANKED], hits[RERANKED:]
    with report.step("rerank") as step:
        try:
            with work.resting.after_slow_failure("reranker", "Not reranked"):
                reranker = _chosen(work, work.reranker, asked.rerank_model)
                relevance = reranker.rerank(asked.query, [hit.excerpt for hit in first])
            judged = [
                replace(hit, signals={**hit.signals, "rerank": float(value)})
                for hit, value in zip(first, relevance, strict=True)
            ]
        except Exception as error:  # noqa: BLE001 - whatever a reranker does, recall answers
            report.problem(f"Not reranked: {str(error) or type(error).__name__}")
            return list(hits)
        step.found = len(first)
    return [*sorted(judged, key=lambda hit: -hit.signals["rerank"]), *rest]
