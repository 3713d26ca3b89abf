"""The audit in a SQL store: noting what was read, and taking out what was forgotten."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

from sqlalchemy import Connection, Select, Text, bindparam, false, or_

from recollect.model.records import AuditEntry, Conversation
from recollect.model.scope import FORGOTTEN
from recollect.ports.tending import Moment
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.codec import decode_text, encode_fields, to_columns
from recollect.stores.sql.rows import UserRows, own_select, own_update
from recollect.stores.sql.tending import pass_by

_AUDIT = schema.audit
_EMPTY = (
    own_update(_AUDIT).where(_AUDIT.c.payload.is_not(None)).values(payload=None, seq=bindparam("new_seq"))
)
_DETAILS = own_select(_AUDIT, _AUDIT.c.id, _AUDIT.c.details).where(_AUDIT.c.details != "{}")
MOST_SOUGHT = 20
_GONE = schema.deletions
_ERASED = own_select(_GONE, _GONE.c.seq).where(
    _GONE.c.seq > bindparam("since"),
    _GONE.c.kind != "chunk",  # goes with its record, or when that is searched anew
)
_ENDED = _ERASED.where(_GONE.c.kind == Conversation.kind)
"""By whoever: the retention policy lets go of conversations, too."""
_FORGOTTEN = own_select(_AUDIT, _AUDIT.c.id).where(
    _AUDIT.c.seq > bindparam("since"),
    _AUDIT.c.operation == "forget",
    _AUDIT.c.subject.in_(("conversation", "channel", "agent")),
)
_NAMELESS: dict[str, str | None] = {"conversation": None, "channel": FORGOTTEN, "agent": None}
_UNNAME = {
    field: own_update(_AUDIT).values({field: value, "seq": bindparam("new_seq")})
    for field, value in _NAMELESS.items()
}


def empty_payloads(rows: UserRows, seq: int) -> None:
    """What was asked and answered may repeat what is erased."""
    rows.change(_EMPTY, new_seq=seq)


def unname(rows: UserRows, seq: int, field: str, names: Sequence[str]) -> None:
    """Leave the entries, without these names. Of all names, only channels' are among the details."""
    rows.change_in(_UNNAME[field], _AUDIT.c[field], names, new_seq=seq)
    if field != "channel":
        return
    gone = {*names}
    for row in _telling_of(rows, names):
        known = json.loads(decode_text(row["details"]))
        left = _without(known, gone)
        if left != known:
            entry = rows.update(_AUDIT).where(_AUDIT.c.id == row["id"])
            rows.run(entry.values(**encode_fields(AuditEntry, {"details": left}), seq=seq))


def _telling_of(rows: UserRows, names: Sequence[str]) -> list[Mapping[str, Any]]:
    """Entries whose details may have one of the names: of a few names only those with their letters."""
    if rows.seal is not None or len(names) > MOST_SOUGHT:
        return rows.all(_DETAILS)
    sought = [f"%{_literal(json.dumps(name)[1:-1])}%" for name in names]
    return rows.all(_naming(len(sought)), **{f"sought_{n}": text for n, text in enumerate(sought)})


@cache
def _naming(count: int) -> Select[Any]:
    """Details with any of so many texts in them; in one go, for it reads all of them."""
    sought = [bindparam(f"sought_{number}", type_=Text) for number in range(count)]
    return _DETAILS.where(or_(false(), *(_AUDIT.c.details.like(text, escape="\\") for text in sought)))


def _literal(text: str) -> str:
    """As it is found by LIKE."""
    for special in ("\\", "%", "_"):
        text = text.replace(special, f"\\{special}")
    return text


def _without(value: Any, names: set[str]) -> Any:
    match value:
        case str():
            return FORGOTTEN if value in names else _unquoted(value, names)
        case list():
            return [_without(part, names) for part in cast("list[Any]", value)]
        case dict():
            parts = cast("dict[str, Any]", value)
            return {_without(name, names): _without(part, names) for name, part in parts.items()}
        case _:
            return value


def _unquoted(told: str, names: set[str]) -> str:
    """Reasons that were noted before these had no names in them quote a channel."""
    for name in names:
        told = told.replace(f"in the channel {name!r}", f"in the channel {FORGOTTEN!r}")
    return told


class AuditedUser:
    """The part of a user's store that takes in what was read."""

    _backend: Backend
    _user: str

    @only_reads
    def moment(self) -> Moment | None:
        with self._backend.read(self._user) as connection:
            return _moment(self._backend, UserRows(connection, self._user), hold=False)

    def note(self, entries: Sequence[AuditEntry], since: Moment) -> None:
        def work(connection: Connection) -> None:
            rows = UserRows(connection, self._user)
            now = _moment(self._backend, rows, hold=True)
            if now is None or now.number != since.number:
                return
            kept = _left(rows, entries, since.seq)
            seq = [now.seq + 1] * len(kept)
            rows.insert_columns(_AUDIT, len(kept), to_columns(AuditEntry, kept) | {"seq": seq})
            rows.run(rows.update(schema.users).values(seq=now.seq + 1))
            pass_by(rows, now.seq + 1)

        self._backend.write(work, self._user)


def _moment(backend: Backend, rows: UserRows, *, hold: bool) -> Moment | None:
    users = rows.select(schema.users, schema.users.c.number, schema.users.c.seq, schema.users.c.secret)
    for row in rows.all(backend.locked(users) if hold else users):
        return Moment(row["number"], row["seq"], bytes.fromhex(row["secret"]))
    return None


def _left(rows: UserRows, entries: Sequence[AuditEntry], since: int) -> list[AuditEntry]:
    """The entries, without what may have been forgotten while they waited to be written."""
    kept = [*entries]
    if rows.all(_ERASED.limit(1), since=since):
        kept = [replace(entry, payload=None) for entry in kept]
    if any(rows.all(gone.limit(1), since=since) for gone in (_ENDED, _FORGOTTEN)):
        kept = [replace(entry, **_NAMELESS, details={}, payload=None) for entry in kept]
    return kept
