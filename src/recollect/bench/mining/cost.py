"""What mining costs beside embedding, which every turn costs anyway. Both in one run, in turns."""

from collections.abc import Callable, Sequence
from typing import Any

from recollect.bench.measure import Times, alternate, ratio, settled
from recollect.bench.mining.observations import Extract
from recollect.mine.extracted import Window
from recollect.ports.embedder import Embedder
from recollect.text.chunk import spans

TURNS_LIMIT = 1500
"""More tell nothing new, and a slow embedder would take minutes."""
LIMIT = 1.0
"""Mining by rules is to cost no more than embedding."""


def spread(windows: Sequence[Window], turns: int = TURNS_LIMIT) -> list[Window]:
    """Windows from the first to the last, evenly, of about so many turns in all."""
    total = sum(len(window.turns) for window in windows)
    step = max(1.0, total / turns)
    chosen: list[Window] = []
    due = 0.0
    for place, window in enumerate(windows):
        if place >= due:
            chosen.append(window)
            due += step
    return chosen


def cost(
    windows: Sequence[Window], extract: Extract, embedder: Embedder, advance: Callable[[int], None]
) -> dict[str, Any]:
    """The time of rules over that of embedding the same turns, window by window. A window's turns are
    embedded in one go, which is the least that recording them can take."""
    texts = [_chunks(window) for window in windows]
    mining, embedding = Times(), Times()
    if windows:  # what is loaded or compiled at first use is not counted
        extract(windows[0])
        embedder.embed_passages(texts[0][:1])
    with settled():
        for place, (window, passages) in enumerate(zip(windows, texts, strict=True)):
            alternate(
                place,
                lambda window=window: mining.take(lambda: extract(window)),
                lambda passages=passages: embedding.take(lambda: embedder.embed_passages(passages)),
            )
            advance(1)
    turns = sum(len(window.turns) for window in windows)
    measured = ratio(mining.total, embedding.total)
    return {
        "turns": turns,
        "embedder": embedder.space.model,
        "rules_ms_a_turn": _per(mining, turns),
        "embedding_ms_a_turn": _per(embedding, turns),
        "ratio": measured,
        "limit": LIMIT,
        "within": measured <= LIMIT,
    }


def _chunks(window: Window) -> list[str]:
    return [turn.content[a:b] for turn in window.turns for a, b in spans(turn.content)]


def _per(times: Times, turns: int) -> float:
    return round(times.total * 1000 / turns, 3) if turns else 0.0
