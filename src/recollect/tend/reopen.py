"""Relations that hold again, once what closed them is gone."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from recollect.mine.bonds import CLOSES, ENDED_IN, reopened
from recollect.model.changes import Change, Expect, Put
from recollect.model.records import Record, Relation, mined
from recollect.workspace import Workspace


def reopen(work: Workspace, gone: Mapping[str, Record], turns: Collection[str]) -> list[Change]:
    """What becomes of the relations that gone ones had closed, or that gone turns say have ended."""
    closed = [str(mined(r)[CLOSES]) for r in gone.values() if isinstance(r, Relation) and CLOSES in mined(r)]
    citing = list(work.store.linking("sources", sorted(turns)))
    found = {r.id: r for r in work.store.get(Relation, sorted({*closed, *citing} - gone.keys()))}
    changes: list[Change] = []
    for relation in found.values():
        left = replace(relation, sources=tuple(id for id in relation.sources if id not in turns))
        if relation.id in closed or mined(relation).get(ENDED_IN) in turns:
            left = reopened(left)
        if left != relation:
            changes += [Expect("relation", relation.id, relation), Put(left)]
    return changes
