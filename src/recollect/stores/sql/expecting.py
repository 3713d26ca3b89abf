"""What a change was planned on is still so, or it is refused."""

from collections.abc import Sequence, Set

from recollect.errors import Conflict, Overtaken
from recollect.model.changes import Expect, ExpectOnly
from recollect.model.records import BY_KIND
from recollect.stores.sql import schema
from recollect.stores.sql.reading import ids_of, of_kind, records, shaped
from recollect.stores.sql.rows import UserRows, own_select

_HOLDER = own_select(schema.visits, schema.visits.c.holder)


def expect(rows: UserRows, expects: Sequence[Expect]) -> None:
    """Records of one kind are stored just so."""
    if not expects:
        return
    kind = BY_KIND[expects[0].kind]
    table = schema.RECORD_TABLES[kind.kind]
    ids = [change.id for change in expects]
    found = rows.all_in(of_kind(rows.select(table), kind), table.c.id, ids)
    stored = {record.id: record for record in records(rows, kind, found)}
    for change in expects:
        if stored.get(change.id) != change.record:
            raise Overtaken(f"The {kind.kind} {change.id!r} was changed in the meantime: read it again.")


def expect_only(rows: UserRows, change: ExpectOnly) -> None:
    kind = BY_KIND[change.kind]
    shape, given = shaped(rows, kind, change.where)
    if frozenset(row["id"] for row in rows.all(ids_of(kind, shape), **given)) != change.ids:
        raise Overtaken(f"Another {kind.kind} of the same sort was stored in the meantime: read them again.")


def expect_held(rows: UserRows, holders: Set[str]) -> None:
    """Whoever says that the user is theirs has not lost them."""
    if holders and {row["holder"] for row in rows.all(_HOLDER)} != holders:
        raise Conflict("Another worker looks after this user by now.")
