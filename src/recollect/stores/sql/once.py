"""Writes that are done once however often they are sent."""

import json
from collections.abc import Iterator, Sequence

from sqlalchemy import bindparam

from recollect.errors import Repeated
from recollect.model.changes import Answered, Append, Change, Expect, Log, Once, Put
from recollect.model.records import Turn
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.codec import decode_time, encode_time
from recollect.stores.sql.rows import UserRows, own_delete, own_select

_TABLE = schema.answers
_ONE = own_select(_TABLE).where(_TABLE.c.key == bindparam("which"))
_LET_GO = own_delete(_TABLE).where(_TABLE.c.at < bindparam("before"))


def note_once(rows: UserRows, changes: Sequence[Change], turns: Sequence[Turn]) -> None:
    """Keep what the changes made under the key of their `Once`; `Repeated` if somebody else did it before."""
    for once in changes:
        if not isinstance(once, Once):
            continue
        made = [(kind, id) for kind, id in _made(changes, turns) if kind in once.kinds]
        if once.kinds and not made:
            continue
        rows.change(_LET_GO, before=encode_time(once.since))
        if found := rows.all(_ONE, which=once.key):
            if found[0]["token"] != once.token:
                raise Repeated
            continue
        kept = {"key": once.key, "digest": once.digest, "token": once.token}
        rows.insert(_TABLE, [{**kept, "at": encode_time(once.at), "answer": json.dumps(made)}])


def _made(changes: Sequence[Change], turns: Sequence[Turn]) -> Iterator[tuple[str, str]]:
    """The kinds and ids of what was stored that was not there before, in order."""
    said = iter(turns)
    known = {(one.kind, one.id) for one in changes if isinstance(one, Expect) and one.record is not None}
    for change in changes:
        match change:
            case Append(drafts):
                yield from ((turn.kind, turn.id) for _, turn in zip(drafts, said, strict=False))
            case Put(record) if (record.kind, record.id) not in known:
                yield record.kind, record.id
            case Log(entry):
                yield entry.kind, entry.id
            case _:
                pass


class AnsweredUser:
    _backend: Backend
    _user: str

    @only_reads
    def answered(self, key: str) -> Answered | None:
        with self._backend.read(self._user) as connection:
            found = UserRows(connection, self._user)
            for row in found.all(_ONE, which=key):
                made = tuple((kind, id) for kind, id in json.loads(row["answer"]))
                return Answered(row["digest"], decode_time(row["at"]), made)
        return None
