"""Relations over time: of those of which one holds at a time, each ends where the next one begins.

As of memories, their order is that in which they were said. What a relation ends at on its own is noted with
it, so that its end can be told anew whenever another comes in between or goes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.mine.extracted import Bond
from recollect.mine.versions import SAID, noted_time, said_at
from recollect.model.records import Relation, mined, noted

MOST_SOURCES = 50
SINGLE, ENDS, ENDED_IN = "single", "ends", "ended_in"
"""What mining notes of a relation: that no other holds beside it, when it ends on its own, and the turn that
said that it has ended."""

Group = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Tying:
    """How relations are made of bonds."""

    said: Callable[[Bond], datetime]
    new: Callable[[Bond, str, str], Relation]
    new_id: Callable[[], str]
    times: Mapping[str, datetime]
    """When the turns were said that relations cite."""


def plan_relations(
    bonds: Sequence[tuple[Bond, str, str]], known: Iterable[Relation], tying: Tying
) -> list[Relation]:
    """The relations that are new or change. Each bond comes with the ids of its two ends."""
    stored = {relation.id: relation for relation in known}
    relations = dict(stored)
    said, new = tying.said, tying.new
    for bond, source, target in bonds:
        same = [r for r in relations.values() if (r.source, r.type) == (source, bond.type)]
        found = _met(same, bond, target, said(bond), tying.times)
        if any(_told(r, bond) for r in same if r.target == target) or (bond.ended and found is None):
            continue
        if found is None:
            changed = new(bond, source, target)
            until = {ENDS: bond.until and bond.until.isoformat(), SINGLE: bond.single or None}
            changed = replace(changed, metadata=noted(changed, until))
            relations |= {r.id: r for r in _parted(same, bond, tying)}
        elif bond.ended:
            changed = _ended(found, bond, bond.until or said(bond))
        else:
            changed = _again(found, bond, said(bond))
        relations[changed.id] = changed
        others = [r for r in relations.values() if group(r) == group(changed)]
        relations |= {r.id: r for r in settled(others)}
    return [relation for relation in relations.values() if stored.get(relation.id) != relation]


def group(relation: Relation) -> Group:
    """Those of one group stand in each other's way, where one holds at a time."""
    return relation.source, relation.type, relation.channel


def settled(relations: Iterable[Relation]) -> list[Relation]:
    """The relations of one group, each with the end it has among the others."""
    alone = [r for r in relations if mined(r).get(SINGLE)]
    ordered = sorted(alone, key=lambda r: (said_at(r), r.recorded_at, r.id))
    done: list[Relation] = []
    for place, relation in enumerate(ordered):
        ends = [end for end in (_own_end(relation),) if end is not None]
        ends += [max(other.valid_from, relation.valid_from) for other in ordered[place + 1 : place + 2]]
        done.append(replace(relation, valid_to=min(ends, default=None)))
    return done


def reopened(relation: Relation) -> Relation:
    """The relation, once nobody says any more that it has ended."""
    return replace(relation, valid_to=None, metadata=noted(relation, {ENDED_IN: None, ENDS: None}))


def _own_end(relation: Relation) -> datetime | None:
    ends = noted_time(mined(relation).get(ENDS))
    return None if ends is None else max(ends, relation.valid_from)


def _parted(same: Sequence[Relation], bond: Bond, tying: Tying) -> list[Relation]:
    """Of relations of which one holds, the one that held when another is said to begin: up to then, and as it
    was said again after it, if it was."""
    at = tying.said(bond)
    alone = [r for r in same if bond.single and mined(r).get(SINGLE) and said_at(r) <= at]
    held = max(alone, key=lambda r: (said_at(r), r.recorded_at, r.id), default=None)
    late = [] if held is None else _later(held, at, tying.times)
    if held is None or not late:
        return []
    again = min(tying.times[turn] for turn in late)
    later = replace(
        held,
        id=tying.new_id(),
        sources=tuple(late),
        valid_from=again,
        metadata=noted(held, {SAID: again.isoformat()}),
    )
    return [replace(held, sources=tuple(turn for turn in held.sources if turn not in late)), later]


def _later(relation: Relation, at: datetime, times: Mapping[str, datetime]) -> list[str]:
    return [turn for turn in relation.sources if turn in times and times[turn] > at]


def _met(
    same: Sequence[Relation], bond: Bond, target: str, at: datetime, times: Mapping[str, datetime]
) -> Relation | None:
    """The relation that a bond tells of: the one that held when it was said, or that followed."""
    ordered = sorted(same, key=lambda r: (said_at(r), r.recorded_at, r.id))
    beside = [r for r in ordered if r.target == target or (bond.single and mined(r).get(SINGLE))]
    before, after = [r for r in beside if said_at(r) <= at], [r for r in beside if said_at(r) > at]
    if bond.ended:  # another may hold by then
        before = [r for r in before if r.target == target]
    if before and before[-1].target != target and _later(before[-1], at, times):
        after = []  # which was said again in between
    for relation in (*before[-1:], *after[:1]):
        end = _own_end(relation)
        if relation.target == target and (end is None or (end >= at and not bond.ended)):
            return relation
    return None


def _told(relation: Relation, bond: Bond) -> bool:
    """Whether it knows already what the bond tells."""
    knows = {*bond.turns} <= {*relation.sources}
    return knows and (not bond.ended or mined(relation).get(ENDED_IN) in bond.turns)


def _cited(sources: Sequence[str], turns: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*sources, *turns)))[:MOST_SOURCES]


def _again(relation: Relation, bond: Bond, at: datetime) -> Relation:
    """Said again, perhaps earlier than what is known of it."""
    begins, first = min(relation.valid_from, bond.since or at, at), min(said_at(relation), at)
    metadata = noted(relation, {SAID: first.isoformat(), SINGLE: bond.single or mined(relation).get(SINGLE)})
    sources = _cited(relation.sources, bond.turns)
    return replace(relation, sources=sources, valid_from=begins, metadata=metadata)


def _ended(relation: Relation, bond: Bond, end: datetime) -> Relation:
    end = max(end, relation.valid_from)
    return replace(
        relation,
        valid_to=end if relation.valid_to is None else min(end, relation.valid_to),
        sources=_cited(relation.sources, bond.turns),
        metadata=noted(relation, {ENDED_IN: bond.turns[-1], ENDS: end.isoformat()}),
    )
