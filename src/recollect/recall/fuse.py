"""One order out of all that was found.

The score of a record is that of its best chunk: a blend of meaning and words on one scale, and what
speaks for it beyond that, each with its own weight. The weights were set on conversations of two public
benchmarks, on one half of the questions and checked on the other (docs/quality.md).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from recollect.model.search import Candidate

HALF_TEXT = 20.0
"""The BM25 score that counts as half of a perfect match by words."""
IN_TIME = 0.175
"""What a time that the question names is worth."""
NEXT = 0.1
"""How much of the next turn's score counts."""
CONVERSATION_WORDS, CONVERSATION_MEANING = 0.47, 0.1
"""How much of the best that the user says in a conversation counts for all of it."""
RECENT = 0.1
RECENT_HALF = timedelta(days=30)
KIND_WEIGHT = {"turn": 0.3, "fact": 0.25, "entity": 0.2, "procedure": 0.15}
RRF_K = 60
SHARE = 0.6
"""The part of the hits that one conversation may fill."""


class Found(NamedTuple):
    """A chunk that was found, and how."""

    chunk: Candidate
    paths: tuple[str, ...] = ()


class Window(NamedTuple):
    """A time that the question names, or the room around one, which is worth less."""

    since: datetime
    until: datetime
    worth: float = 1.0


@dataclass(frozen=True, slots=True)
class Weighing:
    """What is weighed, and how."""

    semantic: float
    """The share of meaning; 0 when there is nothing to compare by meaning."""
    now: datetime
    on: Collection[str]
    windows: Sequence[Window] = ()


class Fused(NamedTuple):
    """A record that was found, by its best chunk."""

    score: float
    chunk: Candidate
    paths: tuple[str, ...]
    semantic: float
    text: float
    in_time: float
    around: float
    following: float
    recent: float
    weight: float

    @property
    def id(self) -> str:
        return self.chunk.owner

    @property
    def signals(self) -> Mapping[str, float]:
        return {
            "semantic": self.semantic,
            "text": self.text,
            "bm25": self.chunk.text,
            "in_time": self.in_time,
            "conversation": self.around,
            "next_turn": self.following,
            "recency": self.recent,
            "weight": self.weight,
        }


class _Best(NamedTuple):
    base: float
    semantic: float
    text: float
    in_time: float
    found: Found


def fuse(found: Sequence[Found], weighing: Weighing) -> list[Fused]:
    """What was found as records, best first."""
    best = _by_record(found, weighing)
    if "rrf" in weighing.on:
        best = _by_rank(best)
    conversations = _conversations(best.values()) if "conversation" in weighing.on else {}
    places = _places(best.values()) if "neighbours" in weighing.on else {}
    fused = [_fused(one, conversations, places, weighing) for one in best.values()]
    return sorted(fused, key=_order)


def _order(record: Fused) -> tuple[float, str]:
    return -record.score, record.chunk.owner


def _by_record(found: Sequence[Found], weighing: Weighing) -> dict[str, _Best]:
    """The best chunk of each record."""
    best: dict[str, _Best] = {}
    share = weighing.semantic
    for one in found:
        chunk = one.chunk
        near = chunk.similarity
        semantic = 0.0 if near is None or near < 0 else near if near < 1 else 1.0
        text = chunk.text / (chunk.text + HALF_TEXT)
        in_time = _in_time(chunk.at, weighing.windows) if weighing.windows else 0.0
        base = share * semantic + (1 - share) * text + IN_TIME * in_time
        known = best.get(chunk.owner)
        if known is None or base > known.base:
            best[chunk.owner] = _Best(base, semantic, text, in_time, one)
    return best


def _in_time(at: datetime, windows: Sequence[Window]) -> float:
    return max((window.worth for window in windows if window.since <= at < window.until), default=0.0)


def _by_rank(best: Mapping[str, _Best]) -> dict[str, _Best]:
    """The same with the ranks by meaning and by words in place of the scores, stretched to their scale."""
    base = dict.fromkeys(best, 0.0)
    for signal in ("semantic", "text"):
        order = sorted(best, key=lambda id: (-getattr(best[id], signal), id))
        for rank, id in enumerate(order, 1):
            if getattr(best[id], signal) > 0:
                base[id] += (RRF_K + 1) / (RRF_K + rank) / 2
    return {id: one._replace(base=base[id] + IN_TIME * one.in_time) for id, one in best.items()}


def _conversations(best: Collection[_Best]) -> dict[str, tuple[float, float]]:
    """The best by words and by meaning that the user says in each conversation."""
    found: dict[str, tuple[float, float]] = {}
    for one in best:
        chunk = one.found.chunk
        if chunk.conversation is not None and chunk.role == "user":
            words, meaning = found.get(chunk.conversation, (0.0, 0.0))
            found[chunk.conversation] = (max(words, one.text), max(meaning, one.semantic))
    return found


def _places(best: Collection[_Best]) -> dict[tuple[str | None, int], float]:
    """The score of the turn at each place of a conversation."""
    chunks = ((one.found.chunk, one.base) for one in best)
    return {(c.conversation, c.place): base for c, base in chunks if c.place is not None}


def _fused(
    one: _Best,
    conversations: Mapping[str, tuple[float, float]],
    places: Mapping[tuple[str | None, int], float],
    weighing: Weighing,
) -> Fused:
    base, semantic, text, in_time, (chunk, paths) = one
    around = following = recent = 0.0
    if conversations and chunk.conversation is not None:
        words, meaning = conversations.get(chunk.conversation, (0.0, 0.0))
        around = CONVERSATION_WORDS * words + CONVERSATION_MEANING * meaning
    if places and chunk.place is not None:
        following = places.get((chunk.conversation, chunk.place + 1), 0.0)
    if "recency" in weighing.on:
        recent = 0.5 ** (max(weighing.now - chunk.at, timedelta()) / RECENT_HALF)
    weight = chunk.weight if "boosts" in weighing.on else 1.0
    if "kinds" in weighing.on:
        weight *= KIND_WEIGHT.get(chunk.kind, 0.15) / KIND_WEIGHT["turn"]
    score = weight * (base + around + NEXT * following + RECENT * recent)
    return Fused(score, chunk, paths, semantic, text, in_time, around, following, recent, weight)


def parts(one: Fused, weighing: Weighing) -> dict[str, float]:
    """What each signal adds to the score of a record; together they are the score."""
    share = weighing.semantic
    added = {
        "semantic": share * one.semantic,
        "text": (1 - share) * one.text,
        "in_time": IN_TIME * one.in_time,
        "conversation": one.around,
        "next_turn": NEXT * one.following,
        "recency": RECENT * one.recent,
    }
    if "rrf" in weighing.on:  # ranks stand in place of the first two
        behind = sum(list(added.values())[2:])
        added |= {
            "semantic": 0.0,
            "text": 0.0,
            "rank": one.score / one.weight - behind if one.weight else 0.0,
        }
    return {name: one.weight * value for name, value in added.items() if value}


def ranked(fused: Sequence[Fused], top_k: int, on: Collection[str]) -> list[Fused]:
    """All of them, in the order in which they become hits.

    One conversation fills no more than its share of the first `top_k`, as long as there are others. The
    best match by words is among them: an exact code is not crowded out by what resembles the question.
    """
    order = _shared(fused, top_k) if "diversity" in on else list(fused)
    place = max(range(len(order)), key=lambda i: order[i].text, default=0)
    if place >= top_k > 1 and order[place].text > 0:
        order.insert(top_k - 1, order.pop(place))
    return order


def _shared(fused: Sequence[Fused], top_k: int) -> list[Fused]:
    most = max(1, round(SHARE * top_k))
    first: list[Fused] = []
    waiting: list[Fused] = []
    taken = Counter[str]()
    for place, one in enumerate(fused):
        if len(first) == top_k:
            rest = fused[place:]
            return [*first, *(sorted([*waiting, *rest], key=_order) if waiting else rest)]
        conversation = one.chunk.conversation
        if conversation is not None and taken[conversation] >= most:
            waiting.append(one)
            continue
        first.append(one)
        taken[conversation or ""] += 1
    return [*first, *waiting]
