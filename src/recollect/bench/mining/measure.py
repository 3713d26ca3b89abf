"""The whole measurement: how often rules are right, how much they find, and what they cost."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from recollect import settings as settings_module
from recollect import wiring
from recollect.bench.latency import Stage
from recollect.bench.measure import machine
from recollect.bench.mining import cost, observations, score
from recollect.bench.mining.labelled import HALVES, Half, labelled, session_of, window_of
from recollect.bench.mining.observations import Extract, Talk
from recollect.bench.mining.whole import whole
from recollect.bench.quality.datasets import Session, spread
from recollect.mine.extracted import Claim, Extraction, Window
from recollect.model.records import Role
from recollect.text.sentences import sentences

TURNS_WHOLE, EXCHANGES_WHOLE = 600, 60
"""How much of LoCoMo and of ours the whole of mining is measured on."""


def run(
    path: Path | None, embedder: str | None, reveal: bool, extract: Extract, stage: Stage
) -> dict[str, Any]:
    """Everything that is reported. What went wrong on the held half is told only when it is asked for:
    whoever has seen it can no longer write rules that it measures."""
    talks = observations.read(path) if path else []
    result: dict[str, Any] = {
        "halves": {half: quality(half, extract, reveal) for half in HALVES},
        "as_said": {half: _in_short(quality(half, as_said)) for half in HALVES},
    }
    if talks:
        advance = stage("observations", len(talks))
        result["observations"] = observations.coverage(talks, extract, advance)
        verbatim = observations.coverage(talks, as_said, lambda count: None)
        result["as_said"]["observations"] = verbatim["covered"]
    result |= _cost(talks, embedder, extract, stage)
    result["settings"] = machine()
    return result


def quality(half: Half, extract: Extract, reveal: bool = False) -> dict[str, Any]:
    judged = [score.judge(one, extract(window_of(one)).claims) for one in labelled(half)]
    result = score.figures(judged)
    return result | score.details(judged) if half == "tune" or reveal else result


def as_said(window: Window) -> Extraction:
    """To compare with: every sentence of the user's that asks nothing, as it is."""
    claims = (
        Claim(content=sentence, turns=(turn.id,))
        for turn in window.turns
        if turn.role is Role.USER
        for sentence in sentences(turn.content)
        if not sentence.endswith("?")
    )
    return Extraction(claims=tuple(claims))


def _in_short(figures: dict[str, Any]) -> dict[str, Any]:
    short = {name: figures[name] for name in ("claims", "precision", "recall")}
    return short | {"traps_that_became_facts": figures["traps"]["became_facts"]}


def _cost(talks: list[Talk], name: str | None, extract: Extract, stage: Stage) -> dict[str, Any]:
    """Of rules alone and of the whole of mining; None where nothing is embedded."""
    given: dict[str, Any] = {} if name is None else {"embedder": name}
    embedder = wiring.open_embedder(settings_module.load(**given))
    if embedder is None:
        return {"cost": None, "whole": None}
    ours = [window_of(one) for half in HALVES for one in labelled(half)]
    windows = ours + cost.spread(observations.windows(talks))
    alone = cost.cost(windows, extract, embedder, stage("cost", len(windows)))
    groups = _groups(talks)
    advance = stage("mine", sum(map(len, groups.values())))
    return {
        "cost": alone,
        "whole": {name: whole(people, embedder, advance) for name, people in groups.items()},
    }


def _groups(talks: list[Talk]) -> dict[str, dict[str, list[Session]]]:
    """Whose turns are mined: one user with many short exchanges, and one for each of LoCoMo's conversations,
    whose sessions are longer. Each session is mined by itself."""
    ours = [session_of(one) for half in HALVES for one in labelled(half)]
    groups = {"exchanges": {"somebody": spread(ours, EXCHANGES_WHOLE)}}
    if talks:
        each = TURNS_WHOLE // len(talks)
        groups["locomo"] = {str(n): _first(talk.sessions, each) for n, talk in enumerate(talks)}
    return groups


def _first(sessions: Sequence[Session], turns: int) -> list[Session]:
    """The first of them that have so many turns together, one at least."""
    counts = accumulate(len(session.turns) for session in sessions)
    fitting = [session for session, count in zip(sessions, counts, strict=True) if count <= turns]
    return fitting or list(sessions[:1])
