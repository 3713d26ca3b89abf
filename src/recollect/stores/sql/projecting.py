"""How far projections have come: marks of users, and who was erased meanwhile."""

import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
)

from recollect.ports.stored import Lag, Reach
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.codec import decode_time, encode_time
from recollect.stores.sql.rows import UserRows, own_select
from recollect.stores.sql.slicing import Slice, slice_behind

_USERS, _DONE, _LEFT = schema.users, schema.projected, schema.unprojected
_OF_MAKING = (
    _DONE.c.user_id == _USERS.c.user_id,
    _DONE.c.projection == bindparam("name", type_=Text),
    or_(
        bindparam("epoch", type_=Text).is_(None),
        _DONE.c.epoch == bindparam("epoch", type_=Text),
    ),
)
_WITH_MARK = _USERS.outerjoin(_DONE, and_(*_OF_MAKING))
_FOUND = (_USERS.c.number, _USERS.c.seq, _USERS.c.documents, _USERS.c.secret)
_MARKED = (_DONE.c.at, _DONE.c.settling, _DONE.c.began, _DONE.c.settled)
_REACH = own_select(_USERS, *_FOUND, _DONE.c.epoch, _DONE.c.seq.label("done"), *_MARKED).select_from(
    _WITH_MARK
)
_REACHED = func.coalesce(_DONE.c.seq, 0)
_BEHIND = _USERS.c.seq > _REACHED
_LAG = (
    select(
        func.count(),
        func.coalesce(func.sum(_USERS.c.seq - _REACHED), 0),
        func.min(_DONE.c.at),
    )
    .select_from(_WITH_MARK)
    .where(_BEHIND)
)


def _behind(part: Slice, *columns: ColumnElement[Any]) -> Select[Any]:
    """Of the users of a slice of whom a projection has not everything."""
    marked = _USERS.outerjoin(_DONE, and_(*_OF_MAKING, *part.has(_DONE.c.user_id)))
    return select(*columns).select_from(marked).where(_BEHIND, *part.has(_USERS.c.user_id))


_WHICH = select(schema.meta.c.value).where(schema.meta.c.key == "identity")


def _identify(connection: Connection) -> int:
    """Give the database a number of its own, unless somebody else just did."""
    known = connection.execute(_WHICH).scalar()
    if known is None:
        known = secrets.randbits(62)
        connection.execute(insert(schema.meta).values(key="identity", value=known))
    return known


class _Mark(NamedTuple):
    """How far a projection has come with a user.

    Were the last note all that is kept, one that is noted again before it has settled would never settle. So
    an earlier one is kept beside it, `settling` since it `began`, until it has.
    """

    seq: int
    at: int
    settling: int
    began: int
    settled: int

    def seen(self, before: int) -> int:
        """Up to where readers are sure to see it, when they see what was noted before."""
        if self.at <= before:
            return self.seq
        return self.settling if self.began <= before else self.settled

    def moved(self, seq: int, now: datetime, settles: timedelta) -> Self:
        """The mark when more was written, or less: what is made anew begins at the beginning."""
        at, before = encode_time(now), encode_time(now - settles)
        settling, began = self.settling, self.began
        if began <= before:
            settling, began = (seq, at) if self.at <= before else (self.seq, self.at)
        return self._replace(
            seq=seq, at=at, settling=min(settling, seq), began=began, settled=min(self.seen(before), seq)
        )


_NOTHING = _Mark(0, 0, 0, 0, 0)
_BEFORE_ALL = -1
"""Where no worker begins by itself, so that none who is at the user just then moves the mark from here."""


def _mark(row: Mapping[str, Any], seq: int) -> _Mark:
    return _Mark(seq, row["at"], row["settling"], row["began"], row["settled"])


class ProjectedUser:
    """The part of a user's store that projections follow."""

    _backend: Backend
    _user: str

    @only_reads
    def reach(self, name: str, epoch: str | None, now: datetime, settles: timedelta) -> Reach | None:
        with self._backend.read(self._user) as connection:
            found = UserRows(connection, self._user).all(_REACH, name=name, epoch=epoch)
        for row in found:
            mark = _NOTHING if row["done"] is None else _mark(row, row["done"])
            seen = mark.seen(encode_time(now - settles))
            known = (row["number"], row["seq"], row["documents"], mark.seq, seen)
            return Reach(*known, bytes.fromhex(row["secret"]), row["epoch"] or "")
        return None

    def project(
        self, name: str, epoch: str, number: int, since: int, seq: int, now: datetime, settles: timedelta
    ) -> bool:
        def work(connection: Connection) -> bool:
            rows = UserRows(connection, self._user)
            user = rows.all(self._backend.locked(rows.select(_USERS, _USERS.c.number)))
            if not user or user[0]["number"] != number:
                return False
            old = rows.all(rows.select(_DONE).where(_DONE.c.projection == name, _DONE.c.epoch == epoch))
            known = _mark(old[0], old[0]["seq"]) if old else _NOTHING
            upto = seq if known.seq == since else min(known.seq, since)
            mark = known.moved(upto, now, settles)
            rows.run(rows.delete(_DONE).where(_DONE.c.projection == name))
            rows.insert(_DONE, [{"projection": name, "epoch": epoch, **mark._asdict()}])
            return True

        return self._backend.write(work, self._user, durable=False)


def leave_projections(rows: UserRows, number: int) -> None:
    """Note, with the erasure of a user, which projections still have something of theirs."""
    for row in rows.all(rows.select(_DONE, _DONE.c.projection)):
        rows.connection.execute(insert(_LEFT), {"projection": row["projection"], "number": number})


def leave_anew(rows: UserRows) -> None:
    """Have projections forget a user and begin anew: what they hold is named by a secret that is no more."""
    rows.run(rows.update(_DONE).values(seq=_BEFORE_ALL, settling=_BEFORE_ALL, settled=_BEFORE_ALL))


class ProjectedStore:
    """The part of a store that projections follow."""

    _backend: Backend

    def identity(self) -> str:
        known = self._identity()
        return f"{self._backend.write_alone(_identify) if known is None else known:016x}"

    @only_reads
    def _identity(self) -> int | None:
        with self._backend.read() as connection:
            return connection.execute(_WHICH).scalar()

    def users_behind(self, name: str, epoch: str, last: str, limit: int) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        end: str | None = last
        while end is not None and len(found) < limit:
            some, end = self._some_behind({"name": name, "epoch": epoch}, end, limit - len(found))
            found += some
        return found

    @only_reads
    def _some_behind(
        self, making: Mapping[str, str], last: str, limit: int
    ) -> tuple[list[tuple[str, int]], str | None]:
        """Some who are, of a slice, and where it ends. Asked for a few of none, PostgreSQL goes from one user
        to the next in search of them; so the first is asked for by itself, of all at once."""
        name = _USERS.c.user_id
        with self._backend.read() as connection:
            part = slice_behind(connection, last)
            first = connection.execute(_behind(part, func.min(name)), making).scalar()
            if first is None:
                return [], part.end
            some = _behind(part, name, _USERS.c.number).where(name >= first).order_by(name).limit(limit)
            return [(row.user_id, row.number) for row in connection.execute(some, making)], part.end

    @only_reads
    def unprojected(self, name: str) -> list[int]:
        left = select(_LEFT.c.number).where(_LEFT.c.projection == name)
        with self._backend.read() as connection:
            return list(connection.execute(left).scalars())

    def unproject(self, name: str, number: int) -> None:
        gone = delete(_LEFT).where(_LEFT.c.projection == name, _LEFT.c.number == number)
        self._backend.write(lambda connection: connection.execute(gone).rowcount, durable=False)


def lags(connection: Connection, names: Iterable[str]) -> dict[str, Lag]:
    """How far each projection is behind, these too if they have not begun. Its present making is the one that
    was noted last."""
    found: dict[str, Lag] = {}
    begun = connection.execute(select(_DONE.c.projection).distinct()).scalars()
    for name in dict.fromkeys((*names, *begun)):
        newest = select(_DONE.c.epoch).where(_DONE.c.projection == name).order_by(_DONE.c.at.desc()).limit(1)
        epoch = connection.execute(newest).scalar() or ""
        users, changes, since = connection.execute(_LAG, {"name": name, "epoch": epoch}).one()
        found[name] = Lag(users, int(changes), None if since is None else decode_time(since))
    return found
