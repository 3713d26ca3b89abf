"""Relations that hold again, once what ended them is gone."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from recollect.mine.bonds import ENDED_IN, group, reopened, settled
from recollect.model.changes import Change, Expect, ExpectOnly, Put
from recollect.model.records import Record, Relation, mined
from recollect.workspace import Workspace


def reopen(
    work: Workspace, gone: Mapping[str, Record], turns: Collection[str], citing: Iterable[str]
) -> list[Change]:
    """What becomes of the relations beside those that are gone, and of those that cite gone turns. Comes
    before the removals, which change what is expected."""
    touched = work.store.get(Relation, sorted({*citing, *gone}))
    changes: list[Change] = []
    for source, type, channel in sorted({group(relation) for relation in touched}):
        where = {"source": source, "type": type, "channel": channel}
        stored = {r.id: r for r in work.store.find(Relation, where)}
        left = {id: _without(relation, turns) for id, relation in stored.items() if id not in gone}
        left |= {relation.id: relation for relation in settled(left.values())}
        changed = [relation for relation in left.values() if relation != stored[relation.id]]
        if changed:
            changes.append(ExpectOnly("relation", where, frozenset(stored)))
        for relation in changed:
            changes += [Expect("relation", relation.id, stored[relation.id]), Put(relation)]
    return changes


def _without(relation: Relation, turns: Collection[str]) -> Relation:
    left = tuple(id for id in relation.sources if id not in turns)
    kept = replace(relation, sources=left) if left != relation.sources else relation
    return reopened(kept) if mined(kept).get(ENDED_IN) in turns else kept
