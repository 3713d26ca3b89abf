"""What records link to, kept in step with them.

An entity cites dozens of turns, and one more whenever it is spoken of: only what differs is written.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import bindparam, or_

from recollect.model.records import Record
from recollect.stores.sql import schema
from recollect.stores.sql.codec import LINKS, check_id, link_fields
from recollect.stores.sql.rows import UserRows, own_delete, own_select

_LINKS = schema.links.c
_PLACED = own_select(schema.links, _LINKS.owner, _LINKS.name, _LINKS.place, _LINKS.target).order_by(
    _LINKS.owner, _LINKS.name, _LINKS.place
)
_NAMED = own_delete(schema.links).where(_LINKS.name == bindparam("link"))
_LEADING = own_delete(schema.links).where(or_(*(_LINKS.name == name for name in LINKS)))
"""By their names, too, because the index has those before what is linked to."""


def link(rows: UserRows, records: Sequence[Record], replaced: Sequence[str]) -> None:
    """Records of one kind link to what they say; `replaced` are those that were there before."""
    names = link_fields(type(records[0]))
    found = rows.tuples_in(_PLACED, _LINKS.owner, replaced) if names else ()
    there = {key: [*placed] for key, placed in groupby(found, itemgetter(0, 1))}
    new: list[dict[str, Any]] = []
    for name in names:
        others: list[str] = []
        for record in records:
            targets = tuple(dict.fromkeys(getattr(record, name)))
            known = there.get((record.id, name), [])
            if tuple(target for *_, target in known) != targets[: len(known)]:
                others.append(record.id)
                known = []
            first = known[-1][2] + 1 if known else 0  # of targets that went the places are empty
            new += (
                {"owner": record.id, "name": name, "place": place, "target": check_id(target)}
                for place, target in enumerate(targets[len(known) :], first)
            )
        rows.change_in(_NAMED, _LINKS.owner, others, link=name)
    rows.insert(schema.links, new)


def unlink(rows: UserRows, ids: Sequence[str]) -> None:
    """These link to nothing, and nothing to them."""
    rows.delete_in(schema.links, _LINKS.owner, ids)
    rows.change_in(_LEADING, _LINKS.target, ids)
