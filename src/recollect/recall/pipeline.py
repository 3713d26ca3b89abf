"""The read path: gate, query, gather, fuse, rerank, render. It never fails a request: what goes wrong is
reported in the recollection and memory is left out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.errors import StoreError
from recollect.model.recollection import Hit, LeftOut, Recollection
from recollect.model.records import Goal, GoalStatus, Profile
from recollect.ports.store import UserView
from recollect.ports.tending import Moment
from recollect.recall.by_model import rewritten
from recollect.recall.cached import Answered, lasts, remembered
from recollect.recall.fuse import Fused, Weighing, fuse, parts, ranked
from recollect.recall.gate import decide
from recollect.recall.gather import Searches, gather, not_compared, prepare
from recollect.recall.graph import Graph
from recollect.recall.hits import hits as fetch
from recollect.recall.included import related_names
from recollect.recall.passed_over import passed_over
from recollect.recall.query import QueryPlan, plan
from recollect.recall.question import Asked, Question, checked
from recollect.recall.render import rendered
from recollect.recall.report import Report
from recollect.recall.rerank import RERANKED, reranked
from recollect.text.chunk import estimate_tokens
from recollect.tracing import span
from recollect.wishes import Wishes
from recollect.workspace import Workspace

BEYOND = 5
"""How many of those that come after the hits are told when it is explained."""

NOTHING = 1e-9
"""What a sum may be off by."""


def recall(work: Workspace, question: Question) -> Recollection:
    with span("recall") as traced:
        found = _recalled(work, question)
        traced.set_attribute("hits", len(found.hits))
        traced.set_attribute("problems", len(found.problems))
    return found


def _recalled(work: Workspace, question: Question) -> Recollection:
    report = Report(work.resting.warn)
    try:
        wishes = work.wishes()
    except StoreError as error:  # whether anything may be recalled is not known
        checked(work, question, Wishes())
        report.problem(f"Nothing recalled: {error}")
        return Recollection(query=question.query, problems=tuple(report.problems))
    asked = checked(work, question, wishes)
    if off := wishes.off(work.scope.agent):
        return Recollection(query=asked.query, skipped=off)
    if "gate" in asked.on and asked.query.strip():
        with report.step("gate") as step:
            verdict = decide(asked.query, asked.said)
            step.notes.append(str(verdict.reason))
        if not verdict.search:
            return Recollection(query=asked.query, skipped=str(verdict.reason), used=tuple(report.used))
    try:
        return remembered(work, wishes, asked, report, lambda work: _answered(work, asked, report))
    except StoreError as error:
        report.problem(f"Nothing recalled: {error}")
        return Recollection(query=asked.query, problems=tuple(report.problems), used=tuple(report.used))


def _answered(work: Workspace, asked: Asked, report: Report) -> Answered:
    answer = _Answer(Report(work.resting.warn))
    if asked.query.strip() or asked.vector is not None:
        planned, more = rewritten(work, asked, _planned(asked, report), report)
        searches = prepare(work, asked, planned, more, report)
        try:
            answer = work.reading(lambda work, view: _read(work, view, asked, searches), latest=False)
        except StoreError as error:
            report.problem(f"Nothing recalled: {error}")
        report.add(answer.report)
        if planned.times or planned.anchor:  # which time is meant depends on when it is asked
            answer.until = None
    order = reranked(work, asked, answer.hits, report)
    hits, rest = order[: asked.top_k], order[asked.top_k :]
    if asked.explain:
        answer.left_out += [
            LeftOut(hit.id, hit.kind, hit.score, f"it comes in place {place}")
            for place, hit in enumerate(rest[:BEYOND], asked.top_k + 1)
        ]
    with report.step("render") as step:
        context, told = rendered(hits, asked.context_tokens)
        step.found = len(told)
    if asked.explain:
        known = {hit.id for hit in told}
        answer.left_out += [
            LeftOut(hit.id, hit.kind, hit.score, "it is a hit, but the block has no room for it")
            for hit in hits
            if hit.id not in known
        ]
    found = Recollection(
        query=asked.query,
        hits=tuple(hits),
        context=context,
        context_tokens=estimate_tokens(context),
        told=tuple(hit.id for hit in told),
        problems=tuple(report.problems),
        used=tuple(report.used),
        left_out=tuple(answer.left_out),
        goals=answer.goals,
        profile=answer.profile,
        related={
            name: paths
            for name, paths in answer.related.items()
            if not rest or any(name in hit.content for hit in hits)
        },
    )
    return Answered(found, answer.until, answer.moment)


def _planned(asked: Asked, report: Report) -> QueryPlan:
    with report.step("query") as step:
        planned = plan(asked.query, history=asked.said if "context" in asked.on else (), now=asked.filter.now)
        if planned.added:
            step.notes.append(f"with {' '.join(planned.added)}")
    return planned


@dataclass(slots=True)
class _Answer:
    report: Report
    hits: list[Hit] = field(default_factory=list[Hit])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])
    goals: tuple[Goal, ...] = ()
    profile: Profile | None = None
    related: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    until: datetime | None = None
    """Until when it holds, where that is asked for; then also the state that it was made of."""
    moment: Moment | None = None


def _read(work: Workspace, view: UserView, asked: Asked, searches: Searches) -> _Answer:
    """Everything that is read from the store, from one state of it. A lost connection makes it begin
    again, so it keeps a report of its own."""
    report = Report(work.resting.warn)
    graph = Graph(work, view, report.problem)
    gathered = gather(work, view, graph, asked, searches, report)
    with report.step("fuse") as step:
        share = work.settings.semantic_weight if searches.main.vector is not None else 0.0
        if share and (problem := not_compared(work, view, gathered.found)):
            share = 0.0
            report.problem(problem)
        weighing = Weighing(share, asked.filter.now, asked.on, gathered.windows)
        order = ranked(fuse(gathered.found, weighing), asked.top_k, asked.on)
        step.found = len(order)
    with report.step("fetch") as step:
        wanted = max(asked.top_k, RERANKED) if work.reranker and "rerank" in asked.on else asked.top_k
        hits, left_out = fetch(view, order, wanted, asked)
        step.found = len(hits)
        answer = _Answer(report, hits, left_out)
        _include(work, view, graph, asked, answer)
        if work.cache is not None:
            answer.moment = view.moment()
            answer.until = lasts(view, hits, left_out, asked.filter.now, work.settings.cache_seconds)
    if asked.explain:
        answer.hits = _taken_apart(hits, order, weighing)
        answer.left_out += _beyond(order, hits, left_out)
        wanted = replace(asked, filter=gathered.filter)
        answer.left_out += passed_over(view, wanted, searches.main, work.space, [one.id for one in order])
    return answer


def _include(work: Workspace, view: UserView, graph: Graph, asked: Asked, answer: _Answer) -> None:
    """What is asked for beside the hits."""
    if "goals" in asked.include:
        found = (g for g in view.find(Goal, {"status": GoalStatus.ACTIVE}) if work.reaches(g.channel))
        answer.goals = tuple(sorted(found, key=lambda goal: (-goal.priority, goal.id)))
    if "profile" in asked.include:
        answer.profile = next(view.find(Profile, limit=1), None)
    if "related" in asked.include:
        answer.related = related_names(view, graph, answer.hits, asked.filter)


def _taken_apart(hits: Sequence[Hit], order: Sequence[Fused], weighing: Weighing) -> list[Hit]:
    """The hits with what each signal adds. What their order among each other adds or takes is one more: what
    no longer holds counts less, and what is said anew comes first."""
    fused = {one.id: one for one in order}
    found: list[Hit] = []
    for hit in hits:
        added = parts(fused[hit.id], weighing) if hit.id in fused else {}
        rest = hit.score - sum(added.values())
        found.append(replace(hit, parts=added if abs(rest) < NOTHING else {**added, "order": rest}))
    return found


def _beyond(order: Sequence[Fused], hits: Sequence[Hit], left_out: Sequence[LeftOut]) -> list[LeftOut]:
    """The best of what came after the hits."""
    told = {hit.id for hit in hits} | {out.id for out in left_out}
    rest = [(place, one) for place, one in enumerate(order, 1) if one.id not in told][:BEYOND]
    return [LeftOut(one.id, one.chunk.kind, one.score, f"it comes in place {place}") for place, one in rest]
