"""What a language model makes of a question, where that is switched on and a model is configured."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import TypeVar

from recollect.recall.query import QueryPlan
from recollect.recall.question import Asked
from recollect.recall.report import Report
from recollect.recall.rewrite import hypothetical, rewrite, self_query
from recollect.workspace import Workspace

T = TypeVar("T")

BY_MODEL = ("rewrite", "hyde", "self_query")


def rewritten(
    work: Workspace, asked: Asked, plan: QueryPlan, report: Report
) -> tuple[QueryPlan, list[tuple[str, str]]]:
    """The plan as the model changes it, and further texts to search by. Where the model fails the plan
    stays as it is."""
    wanted = [name for name in BY_MODEL if name in asked.on]
    model = work.model
    if not wanted:
        return plan, []
    if model is None:
        report.problem(f"Not used without a language model: {', '.join(wanted)} (set RECOLLECT_MODEL).")
        return plan, []
    if reason := work.resting.reason("model"):
        report.problem(reason)
        return plan, []
    end = monotonic() + work.settings.model_timeout  # somebody waits for all of it together

    def tried(name: str, ask: Callable[[float], T]) -> T | None:
        if name not in wanted:
            return None
        with report.step(name):
            try:
                with work.resting.after_slow_failure("model", f"Without {name}"):
                    return ask(max(0.001, end - monotonic()))
            except Exception as error:  # noqa: BLE001 - whatever a model does, recall answers
                report.problem(f"Without {name}: {str(error) or type(error).__name__}")
                return None

    if not plan.self_contained and (
        text := tried("rewrite", lambda within: rewrite(model, asked.query, asked.said, within=within))
    ):
        plan = replace(plan, text=text)
    passage = tried("hyde", lambda within: hypothetical(model, plan.text, within=within))
    found = tried(
        "self_query", lambda within: self_query(model, asked.query, asked.filter.now, within=within)
    )
    if found and found.hint:
        plan = replace(plan, times=(found.hint,), text=found.text if plan.text == asked.query else plan.text)
    return plan, [("hyde", passage)] if passage else []
