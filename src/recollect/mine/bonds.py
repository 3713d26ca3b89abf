"""Relations over time: a change closes the old one and opens a new one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.mine.extracted import Bond
from recollect.mine.versions import said_at
from recollect.model.records import Relation, noted

MOST_SOURCES = 50
CLOSES, ENDED_IN = "closes", "ended_in"
"""What mining notes of a relation: which one it closed, and the turn that said that it has ended."""


def plan_relations(
    bonds: Sequence[tuple[Bond, str, str]],
    known: Iterable[Relation],
    said: Callable[[Bond], datetime],
    new: Callable[[Bond, str, str], Relation],
) -> list[Relation]:
    """The relations that are new or change. Each bond comes with the ids of its two ends."""
    stored = {relation.id: relation for relation in known}
    relations = dict(stored)
    for bond, source, target in bonds:
        at = said(bond)
        same = [r for r in relations.values() if (r.source, r.type) == (source, bond.type)]
        held = _held(r for r in same if r.target == target)
        if held is not None and _cites(held, bond):
            continue
        if bond.ended:
            if held is not None:
                relations[held.id] = _ended(held, bond, bond.until or at)
        elif held is not None:
            relations[held.id] = replace(held, sources=_cited(held.sources, bond.turns))
        else:
            opened = new(bond, source, target)
            other = _held(same) if bond.single else None
            for relation in _changed(opened, other):
                relations[relation.id] = relation
    return [relation for relation in relations.values() if stored.get(relation.id) != relation]


def _held(relations: Iterable[Relation]) -> Relation | None:
    """The one that holds, if any does."""
    return next((r for r in relations if r.valid_to is None and r.retired_at is None), None)


def _cites(relation: Relation, bond: Bond) -> bool:
    return {*bond.turns} <= {*relation.sources}


def _cited(sources: Sequence[str], turns: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*sources, *turns)))[:MOST_SOURCES]


def _changed(opened: Relation, other: Relation | None) -> list[Relation]:
    """The new relation and the one it takes the place of; one that was said earlier is closed itself."""
    if other is None:
        return [opened]
    if said_at(opened) < said_at(other):
        return [replace(opened, valid_to=max(opened.valid_from, other.valid_from))]
    end = max(opened.valid_from, other.valid_from)
    closing = replace(opened, metadata=noted(opened, {CLOSES: other.id}))
    return [replace(other, valid_to=end), closing]


def _ended(relation: Relation, bond: Bond, end: datetime) -> Relation:
    return replace(
        relation,
        valid_to=max(end, relation.valid_from),
        sources=_cited(relation.sources, bond.turns),
        metadata=noted(relation, {ENDED_IN: bond.turns[-1]}),
    )


def reopened(relation: Relation) -> Relation:
    """The relation, once what closed it is gone."""
    return replace(relation, valid_to=None, metadata=noted(relation, {ENDED_IN: None}))
