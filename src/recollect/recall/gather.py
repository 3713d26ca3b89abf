"""Everything that may answer a question, by every technique that is switched on."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recollect.model.search import Candidate, Filter, Search
from recollect.ports.store import UserView
from recollect.recall import entities
from recollect.recall.fuse import HALF_TEXT, Found, Window
from recollect.recall.graph import Graph
from recollect.recall.proposing import Proposer
from recollect.recall.query import Anchor, QueryPlan, TimeHint
from recollect.recall.question import Asked
from recollect.recall.report import Report
from recollect.recall.window import anchored, narrowed, past, windows
from recollect.text.analyse import query_terms
from recollect.workspace import Workspace, usable

FEWER = 20
"""How many candidates each search beside the main one adds."""
ANYTHING = -1.0
"""A threshold that nothing is below."""
EMBEDDED = 4000
"""The most characters of a question that are embedded: a model's window or two."""
FARTHER = 0.5
"""How much of a match by words counts with each relation between it and the question."""

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Sought:
    """A text to search by."""

    path: str
    text: str
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Searches:
    """What is searched for a question: its own text, and what else stands for it."""

    main: Sought
    others: tuple[Sought, ...] = ()
    anchor: tuple[Anchor, Sought] | None = None
    hints: tuple[TimeHint, ...] = ()
    only_times: bool = False
    """Whether nothing is asked for but a time: then all that is of it will do, however unlike."""


@dataclass(frozen=True, slots=True)
class Gathered:
    found: list[Found]
    windows: list[Window]
    filter: Filter
    """What was searched, with the time that the question asked for."""


_Searching = Callable[[Sought, Filter, int, float], list[Candidate]]


def prepare(
    work: Workspace, asked: Asked, plan: QueryPlan, more: Sequence[tuple[str, str]], report: Report
) -> Searches:
    """Embed what is to be searched. `more` are texts beside the plan's own, each with the name of the
    technique that made it."""
    with report.step("embed") as step:
        texts = [(path, text) for path, text in (*_beside(asked, plan), *more) if text.strip()]
        if asked.vector is not None:
            main = Sought("question", plan.text, asked.vector)
        else:
            main = _sought(work, asked, "question", plan.text, report)

        def beside(path: str, text: str) -> Sought:
            if main.vector is None:  # whoever gave none for the question is not asked again
                return Sought(path, text, None)
            return _sought(work, asked, path, text, report)

        others = tuple(beside(path, text) for path, text in texts)
        anchor = None
        if "anchor" in asked.on and plan.anchor is not None and plan.anchor.relation == "since":
            anchor = (plan.anchor, beside("anchor", plan.anchor.event))
        step.found = 1 + len(others) + (anchor is not None)
        step.notes += [f"{path}: {text[:60]}" for path, text in texts]
        return Searches(main, others, anchor, plan.times, plan.only_times)


def _beside(asked: Asked, plan: QueryPlan) -> Iterable[tuple[str, str]]:
    if "sentences" in asked.on:
        yield from (("sentences", sentence) for sentence in plan.sentences)
    if "statement" in asked.on and plan.statement:
        yield "statement", plan.statement
    if "preferences" in asked.on and plan.preference:
        yield "preferences", plan.preference


def _sought(work: Workspace, asked: Asked, path: str, text: str, report: Report) -> Sought:
    vector, problem = None, None
    if "meaning" in asked.on and text.strip():
        vector, problem = embed_query(work, text)
    if problem:
        report.problem(problem)
    return Sought(path, text, vector)


def embed_query(work: Workspace, query: str) -> tuple[Vector | None, str | None]:
    """The query's vector, or why there is none."""
    if work.embedder is None:
        return None, None
    try:
        if not work.searched.ours and (problem := work.searched.problem(work.embedder.space)):
            return None, problem
        if reason := work.resting.reason("embedder"):
            return None, reason
        with work.resting.after_slow_failure("embedder", "Recalled by words only"):
            return usable(work.embedder.embed_query(_ends(query)), (work.embedder.space.dimensions,)), None
    except Exception as error:  # noqa: BLE001 - whatever an embedder does, recall answers
        return None, f"Recalled by words only: {str(error) or type(error).__name__}"


def _ends(query: str) -> str:
    """What is embedded of it: of a very long one its beginning and its end, where questions stand."""
    return query if len(query) <= EMBEDDED else f"{query[: EMBEDDED // 2]}\n{query[-EMBEDDED // 2 :]}"


def gather(
    work: Workspace, view: UserView, graph: Graph, asked: Asked, searches: Searches, report: Report
) -> Gathered:
    merged, search, least = _Merged(), _searching(work, view, asked, report), asked.threshold
    limit = max(work.settings.candidates, asked.top_k)
    with report.step("gather") as step:
        hints = _hints(asked, searches, search)
        filter, of_time = narrowed(asked.filter, hints), ANYTHING if searches.only_times else least
        candidates = search(searches.main, filter, limit, least if filter == asked.filter else of_time)
        if filter != asked.filter:
            step.notes.append("only what was said " + ", ".join(hint.phrase for hint in hints))
            if not candidates:
                step.notes.append("which matched nothing: searched without the time")
                filter, candidates = asked.filter, search(searches.main, asked.filter, limit, least)
        merged.add(candidates)
        for hint in hints if filter == asked.filter else ():
            then = replace(filter, since=hint.since, until=hint.until)
            merged.add(search(searches.main, then, FEWER, ANYTHING), "times")
            step.notes.append(f"times: {hint.phrase}")
        for sought in searches.others:
            merged.add(search(sought, filter, FEWER, least), sought.path)
        for one in _related(view, graph, asked):
            beyond = search(Sought("entities", one.entity.name, None), filter, FEWER, least)
            merged.add(_farther(beyond, one.depth), f"entities: {one.path}")
            step.notes.append(f"entities: {one.path}")
        step.found = len(merged.found)
    return Gathered(list(merged.found.values()), windows(hints, asked.filter.now), filter)


def _searching(work: Workspace, view: UserView, asked: Asked, report: Report) -> _Searching:
    proposed = Proposer(work, view, report)

    def search(sought: Sought, filter: Filter, limit: int, threshold: float) -> list[Candidate]:
        terms = tuple(query_terms(sought.text)) if "words" in asked.on else ()
        if sought.vector is None and not terms:
            return []
        given = Search(
            filter=filter,
            terms=terms,
            vector=sought.vector,
            space=work.space,
            threshold=threshold,
            limit=limit,
        )
        return view.search(proposed(given))

    return search


def _hints(asked: Asked, searches: Searches, search: _Searching) -> list[TimeHint]:
    """The times to look at: none when the caller gave some."""
    if asked.filter.since is not None or asked.filter.until is not None:
        return []
    hints = past(searches.hints, asked.filter.now) if "times" in asked.on else []
    if searches.anchor is not None and not hints:
        anchor, event = searches.anchor
        told = max(search(event, asked.filter, FEWER, asked.threshold), key=_strength, default=None)
        if told is not None:
            hints.append(anchored(anchor, told.at))
    return hints


def _strength(chunk: Candidate) -> float:
    return (chunk.similarity or 0.0) + chunk.text / (chunk.text + HALF_TEXT)


def _related(view: UserView, graph: Graph, asked: Asked) -> list[entities.Related]:
    if not {"entities", "words"} <= asked.on:
        return []
    filter = asked.filter
    start, then = entities.named(view, asked.query, filter.channels), filter.as_of or filter.now
    return entities.related(graph, start, then, filter.channels) if start else []


def _farther(candidates: Iterable[Candidate], depth: int) -> list[Candidate]:
    return [chunk._replace(text=chunk.text * FARTHER**depth) for chunk in candidates]


class _Merged:
    """Chunks, each once, with the best scores that any search gave it and all the ways it was found."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], Found] = {}

    def add(self, candidates: Iterable[Candidate], path: str | None = None) -> None:
        if not self.found and path is None:  # nothing to compare with: most questions need one search
            self.found = {(chunk.owner, chunk.start): Found(chunk, _paths(chunk)) for chunk in candidates}
            return
        for chunk in candidates:
            key = (chunk.owner, chunk.start)
            paths = _paths(chunk) if path is None else (path,)
            if (known := self.found.get(key)) is not None:
                chunk = known.chunk._replace(
                    similarity=_greater(known.chunk.similarity, chunk.similarity),
                    text=max(known.chunk.text, chunk.text),
                )
                paths = tuple(dict.fromkeys((*known.paths, *paths)))
            self.found[key] = Found(chunk, paths)


def _paths(chunk: Candidate) -> tuple[str, ...]:
    if chunk.text <= 0:
        return ("meaning",)
    return ("words",) if chunk.similarity is None else ("meaning", "words")


def _greater(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else max(one, other)


def not_compared(work: Workspace, view: UserView, found: Sequence[Found]) -> str | None:
    """Why no candidate could be compared with the query's vector, if the model is the reason. It is only
    asked when none was: in a memory that is searched by this model, nearly every answer has one."""
    if work.space is None or any(one.chunk.similarity is not None for one in found):
        return None
    return work.searched.problem(work.space, view.active_space)
