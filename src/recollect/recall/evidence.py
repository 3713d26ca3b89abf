"""What mining knows of the hits: a fact and the turn that says it are one piece of evidence, and a turn that
says what no longer holds is told as what held then."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.model.recollection import Hit
from recollect.model.records import TENSE_WEIGHT, Fact, Record, Tense, Turn
from recollect.ports.store import UserView
from recollect.text.analyse import terms

COVERED = 0.6
"""The part of a turn's words that a fact must have for the turn to say nothing more."""
STEPS = 3
"""How many versions back are looked at."""


class Evidence:
    """What the hits so far say, and which turns say it."""

    def __init__(self) -> None:
        self._turns: dict[str, str] = {}
        self._facts: dict[str, list[Fact]] = {}

    def told(self, record: Record) -> str | None:
        """Why a record need not be told: a hit says it already."""
        match record:
            case Fact():
                turn = next((self._turns[id] for id in record.sources if id in self._turns), None)
                return None if turn is None else f"{turn} says it"
            case Turn():
                words = {*terms(record.content)}
                for fact in self._facts.get(record.id, ()):
                    if len(words & {*terms(fact.content)}) >= COVERED * len(words):
                        return f"{fact.id} says it"
            case _:
                pass
        return None

    def add(self, record: Record) -> None:
        """A record that is a hit."""
        match record:
            case Turn():
                self._turns[record.id] = record.id
            case Fact():
                for turn in record.sources:
                    self._facts.setdefault(turn, []).append(record)
            case _:
                pass


def dated(view: UserView, hits: Sequence[Hit], seen: Iterable[Record]) -> list[Hit]:
    """The hits, with an end where a turn says what no longer holds; then it counts less.

    `seen` is what was found, best first: the best fact that has to do with a turn, because it rests on it or
    has overtaken one that does, says whether the turn still holds as far as the question goes.
    """
    facts = [fact for fact in seen if isinstance(fact, Fact)]
    ended = _overtaken(view, [fact for fact in facts if fact.supersedes])
    if not ended:
        return list(hits)
    ends: dict[str, datetime | None] = {}
    for fact in facts:
        for turn in fact.sources:
            ends.setdefault(turn, None)
        for turn, end in ended.get(fact.id, {}).items():
            ends.setdefault(turn, end)
    past = TENSE_WEIGHT[Tense.PAST]
    told = [replace(h, score=h.score * past, valid_to=ends[h.id]) if ends.get(h.id) else h for h in hits]
    return sorted(told, key=lambda hit: -hit.score)


def _overtaken(view: UserView, newer: Sequence[Fact]) -> dict[str, dict[str, datetime | None]]:
    """For each fact the turns behind the versions before it, and when those ended."""
    ended: dict[str, dict[str, datetime | None]] = {}
    following = {fact.supersedes: fact.id for fact in newer}
    for _ in range(STEPS):
        if not following:
            break
        older = {fact.id: fact for fact in view.get(Fact, [id for id in following if id])}
        for id, fact in older.items():
            ended.setdefault(following[id], {}).update(dict.fromkeys(fact.sources, fact.valid_to))
        following = {fact.supersedes: following[id] for id, fact in older.items() if fact.supersedes}
    return ended
