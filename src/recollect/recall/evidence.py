"""What mining knows of the hits: a fact and the turn that says it are one piece of evidence, and a turn that
says what no longer holds is told as what held then."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from recollect.model.mined import USER
from recollect.model.recollection import Hit
from recollect.model.records import Fact, Record, Tense, Turn, mined
from recollect.model.searched import TENSE_WEIGHT
from recollect.ports.store import UserView
from recollect.recall.question import Asked
from recollect.text.analyse import query_terms, terms

COVERED = 0.6
"""The part of a turn's words that a fact must have for the turn to say nothing more."""
SOMEBODY_ELSE = 0.8
"""How much a turn counts that tells of others, for a question about oneself."""
_OF_ONESELF = re.compile(r"\b(?:do|did|am|was|have|had|can|could|should|will|would) i\b", re.IGNORECASE)
STEPS = 3
"""How many versions on are looked at."""


class Evidence:
    """What the hits so far say, and which turns say it."""

    def __init__(self) -> None:
        self.turns: set[str] = set()
        """The turns among the hits."""
        self._facts: dict[str, list[Fact]] = {}

    def told(self, record: Record) -> str | None:
        """The hit that says it already, so that it need not be told."""
        match record:
            case Fact():
                return next((id for id in record.sources if id in self.turns), None)
            case Turn():
                words = {*terms(record.content)}
                for fact in self._facts.get(record.id, ()):
                    if len(words & {*terms(fact.content)}) >= COVERED * len(words):
                        return fact.id
            case _:
                pass
        return None

    def add(self, record: Record) -> None:
        """A record that is a hit."""
        match record:
            case Turn():
                self.turns.add(record.id)
            case Fact():
                for turn in record.sources:
                    self._facts.setdefault(turn, []).append(record)
            case _:
                pass


def overtaken(view: UserView, hits: Sequence[Hit], asked: Asked, wanted: int) -> list[Hit]:
    """The hits, where a turn says what no longer holds with its end, and with what holds now before it.

    A turn may say several things: the one that has most words in common with the question decides.
    """
    turns = [hit.id for hit in hits if hit.kind == Turn.kind]
    if not turns or asked.filter.as_of or asked.filter.known_at:
        return list(hits)
    facts = view.get(Fact, list(view.linking("sources", turns)))
    words, own = {*query_terms(asked.query)}, _OF_ONESELF.search(asked.query) is not None
    if not facts or not (own or any(fact.superseded_by for fact in facts)):
        return list(hits)
    nearest = {hit.id: _nearest(hit.id, facts, words) for hit in hits}
    if own:
        hits = [_of_others(hit, nearest[hit.id]) for hit in hits]
    told = [_told(hit, nearest[hit.id]) for hit in hits]
    ended = {hit.id: fact for hit, fact in told if fact is not None}
    heads = _in_force(view, ended, asked)
    known = {hit.id for hit, _ in told} | {id for hit, _ in told for id in hit.sources}
    found: list[Hit] = []
    raised: dict[str, float] = {}
    for hit, _ in told:
        found.append(hit)
        head = heads.get(hit.id)
        if head is None:
            continue
        if known.isdisjoint((head.id, *head.sources)):
            known.add(head.id)
            found.append(_head(hit, head))
        else:  # a hit says it, perhaps in words further from the question than those of what ended
            for id in (head.id, *head.sources):
                raised[id] = max(raised.get(id, 0.0), hit.score / TENSE_WEIGHT[Tense.PAST])
    found = [replace(hit, score=max(hit.score, raised.get(hit.id, 0.0))) for hit in found]
    return sorted(found, key=lambda hit: -hit.score)[:wanted]


def _nearest(turn: str, facts: Iterable[Fact], words: Collection[str]) -> Fact | None:
    """The fact of a turn that answers a question best; of two, the one that holds."""

    def likeness(fact: Fact) -> tuple[float, bool]:
        told = {*terms(fact.content)}
        return 2 * len(told.intersection(words)) / (len(told) + len(words) or 1), fact.superseded_by is None

    return max((fact for fact in facts if turn in fact.sources), key=likeness, default=None)


def _of_others(hit: Hit, fact: Fact | None) -> Hit:
    """A hit for a question about oneself, which counts less where it tells of somebody else."""
    subject: object = mined(fact).get("subject") if fact is not None else None
    return hit if subject in (None, "", USER) else replace(hit, score=hit.score * SOMEBODY_ELSE)


def _told(hit: Hit, fact: Fact | None) -> tuple[Hit, Fact | None]:
    if fact is None or fact.superseded_by is None or fact.valid_to is None:
        return hit, None
    return replace(hit, score=hit.score * TENSE_WEIGHT[Tense.PAST], valid_to=fact.valid_to), fact


def _in_force(view: UserView, ended: Mapping[str, Fact], asked: Asked) -> dict[str, Fact]:
    """What holds in place of each fact that ended, if it may be told."""
    heads = dict(ended)
    for _ in range(STEPS):
        wanted = [fact.superseded_by for fact in heads.values() if fact.superseded_by]
        if not wanted:
            break
        newer = {fact.id: fact for fact in view.get(Fact, wanted)}
        heads = {turn: newer.get(fact.superseded_by or "", fact) for turn, fact in heads.items()}
    filter = asked.filter
    return {
        turn: fact
        for turn, fact in heads.items()
        if Fact.kind in filter.kinds
        and fact.superseded_by is None
        and (filter.channels is None or fact.channel in filter.channels)
        and fact.confidence >= filter.min_confidence
        and (fact.expires_at is None or fact.pinned or fact.expires_at > filter.now)
    }


def _head(hit: Hit, fact: Fact) -> Hit:
    """What holds now, as a hit in front of the turn that said what held before."""
    return Hit(
        id=fact.id,
        kind=fact.kind,
        content=fact.content,
        excerpt=fact.content,
        score=hit.score / TENSE_WEIGHT[Tense.PAST],
        at=fact.valid_from,
        channel=fact.channel,
        agent=fact.agent,
        confidence=fact.confidence,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        sources=fact.sources,
        signals=hit.signals,
        paths=(f"it holds in place of what {hit.id} says",),
    )
