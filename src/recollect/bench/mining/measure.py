"""The whole measurement: how often rules are right, how much they find, and what they cost."""

from pathlib import Path
from typing import Any

from recollect import settings as settings_module
from recollect import wiring
from recollect.bench.latency import Stage
from recollect.bench.measure import machine
from recollect.bench.mining import cost, observations, score
from recollect.bench.mining.labelled import HALVES, Half, labelled, window_of
from recollect.bench.mining.observations import Extract, Talk
from recollect.mine.extracted import Window


def run(
    path: Path | None, embedder: str | None, reveal: bool, extract: Extract, stage: Stage
) -> dict[str, Any]:
    """Everything that is reported. What went wrong on the held half is told only when it is asked for:
    whoever has seen it can no longer write rules that it measures."""
    talks = observations.read(path) if path else []
    result: dict[str, Any] = {"halves": {half: quality(half, extract, reveal) for half in HALVES}}
    if talks:
        advance = stage("observations", len(talks))
        result["observations"] = observations.coverage(talks, extract, advance)
    result["cost"] = _cost(talks, embedder, extract, stage)
    result["settings"] = machine()
    return result


def quality(half: Half, extract: Extract, reveal: bool = False) -> dict[str, Any]:
    judged = [score.judge(one, extract(window_of(one)).claims) for one in labelled(half)]
    result = score.figures(judged)
    return result | score.details(judged) if half == "tune" or reveal else result


def _windows(talks: list[Talk]) -> list[Window]:
    ours = [window_of(one) for half in HALVES for one in labelled(half)]
    return ours + cost.spread(observations.windows(talks))


def _cost(talks: list[Talk], name: str | None, extract: Extract, stage: Stage) -> dict[str, Any] | None:
    """None where nothing is embedded."""
    given: dict[str, Any] = {} if name is None else {"embedder": name}
    embedder = wiring.open_embedder(settings_module.load(**given))
    if embedder is None:
        return None
    windows = _windows(talks)
    return cost.cost(windows, extract, embedder, stage("cost", len(windows)))
