"""What the background keeps about each user: who looks after them, how far chores have come."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, false, or_, select, union

from recollect.model.changes import Pool
from recollect.model.records import Conversation
from recollect.model.search import Words
from recollect.ports.store import FeedEntry, Usage
from recollect.ports.stored import Tally
from recollect.ports.tending import Mark, Size, Visit
from recollect.stores.sql import schema
from recollect.stores.sql.backend import only_reads
from recollect.stores.sql.codec import decode_text, decode_time, encode_text, encode_time
from recollect.stores.sql.glancing import GlancedUser
from recollect.stores.sql.placing import places
from recollect.stores.sql.reading import RECORDED, UNCONCLUDED, is_over, may_be_mined, records
from recollect.stores.sql.rows import UserRows, own_select, own_update
from recollect.stores.sql.sharing import sharing
from recollect.stores.sql.sizes import sizes

# What is set for a time further ahead than these was set by a clock that was wrong. Clocks of several workers
# may well differ by minutes, so it has to be further ahead than whoever looks would have set it.
LONGEST_LEASE = timedelta(hours=25)
LONGEST_INTERVAL = timedelta(days=366)


def users_due(connection: Connection, now: datetime, quiet_since: datetime) -> list[str]:
    """Users to look after whom nobody is looking after."""
    users, visits, talks = schema.users, schema.visits, schema.conversations
    at, never = encode_time(now), encode_time(now + LONGEST_INTERVAL)
    due = (
        select(users.c.user_id)
        .select_from(users.outerjoin(visits, users.c.user_id == visits.c.user_id))
        .where(
            or_(
                visits.c.user_id.is_(None),
                ~visits.c.due_at.between(at + 1, never),
                and_(~visits.c.soon_at.between(at + 1, never), users.c.seq > visits.c.seq),
            )
        )
    )
    unmined = select(talks.c.user_id).where(schema.unmined, may_be_mined(now))
    unconcluded = select(talks.c.user_id).where(
        schema.unconcluded, is_over(encode_time(quiet_since), select(RECORDED))
    )
    held = select(visits.c.user_id).where(_held(now))
    wanted = union(due, unmined, unconcluded).subquery()
    free = select(wanted.c.user_id).where(wanted.c.user_id.not_in(held)).order_by(wanted.c.user_id)
    return list(connection.execute(free).scalars())


def is_held(until: int, now: datetime) -> bool:
    """Whether something that is held until then is still held."""
    return encode_time(now) < until <= encode_time(now + LONGEST_LEASE)


def _held(now: datetime) -> ColumnElement[bool]:
    until = schema.visits.c.until
    believed = until > encode_time(now), until <= encode_time(now + LONGEST_LEASE)
    return and_(schema.visits.c.holder.is_not(None), *believed)


_HOLD = own_update(schema.visits).values(holder=bindparam("new_holder"), until=bindparam("new_until"))
_SETTLE = (
    own_update(schema.visits)
    .where(schema.visits.c.holder == bindparam("ours"))
    .values(
        holder=None,
        until=None,
        seq=bindparam("new_seq"),
        due_at=bindparam("new_due"),
        soon_at=bindparam("new_soon"),
    )
)


_PASSED = [
    own_update(table).where(table.c.seq == bindparam("reached")).values(seq=bindparam("new_seq"))
    for table in (schema.visits, schema.marks)
]
_EVER = 2**62
_USED = own_select(schema.usage).where(schema.usage.c.count >= bindparam("least"))


@lru_cache(maxsize=64)
def _changed(kinds: tuple[str, ...]) -> tuple[Select[Any], Select[Any]]:
    """What of these kinds changed after one place of the feed and up to another; and where the last of so
    many is."""
    table = schema.chunks
    of_kinds = or_(false(), *(table.c.kind == kind for kind in kinds))
    after = table.c.seq > bindparam("since")
    wanted = own_select(table, table.c.seq, table.c.kind, table.c.owner).where(after, of_kinds)
    last = own_select(table, table.c.seq).where(after, of_kinds).order_by(table.c.seq)
    return (
        wanted.where(table.c.seq <= bindparam("upto")).order_by(table.c.seq, table.c.doc),
        last.limit(1).offset(bindparam("skipped")),
    )


def pass_by(rows: UserRows, seq: int) -> None:
    """That this step of the feed is nothing new to whoever had come as far as the one before."""
    for passed in _PASSED:
        rows.change(passed, reached=seq - 1, new_seq=seq)


def pool_usage(rows: UserRows, change: Pool) -> None:
    """What was counted of some, added to what was counted of another."""
    table = schema.usage
    found = rows.all_in(rows.select(table), table.c.id, [change.into, *change.ids])
    if not found:
        return
    rows.delete_in(table, table.c.id, [row["id"] for row in found])
    summed = {name: sum(row[name] for row in found) for name in ("count", "since_renewal")}
    last = max(row["last_at"] for row in found)
    rows.insert(table, [{"id": change.into, "kind": change.kind, "last_at": last, **summed}])


class TendedUser(GlancedUser):
    """The part of a user's store that the background works with."""

    @only_reads
    def used(self, least: int) -> dict[str, Usage]:
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            found = rows.all(_USED, least=least)
        return {r["id"]: Usage(r["count"], r["since_renewal"], decode_time(r["last_at"])) for r in found}

    @only_reads
    def changed(self, kinds: Sequence[str], since: int, most: int | None = None) -> list[FeedEntry]:
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            wanted, last = _changed(tuple(kinds))
            ends = [] if most is None else rows.all(last, since=since, skipped=most - 1)
            found = rows.all(wanted, since=since, upto=ends[0]["seq"] if ends else _EVER)
        entries = [FeedEntry(row["seq"], row["kind"], row["owner"], False) for row in found]
        return [*{(entry.kind, entry.id): entry for entry in entries}.values()]

    @only_reads
    def sharing(self, asked: Sequence[Words], share: float, limit: int) -> list[list[str]]:
        with self._backend.read(self._user) as connection:
            return sharing(self._backend, UserRows(connection, self._user), asked, share, limit)

    @only_reads
    def unconcluded(self, quiet_since: datetime) -> list[Conversation]:
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            return records(rows, Conversation, rows.all(UNCONCLUDED, quiet=encode_time(quiet_since)))

    @only_reads
    def sizes(self) -> dict[str, Size]:
        with self._backend.read(self._user) as connection:
            return sizes(UserRows(connection, self._user))

    @only_reads
    def places(self, channels: Sequence[str], wing: int | None, behind: int, limit: int) -> list[Tally]:
        with self._backend.read(self._user) as connection:
            return places(UserRows(connection, self._user), channels, wing, behind, limit)

    @only_reads
    def marks(self) -> dict[str, Mark]:
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            return {row["chore"]: _mark(row) for row in rows.all(rows.select(schema.marks))}

    def claim(self, holder: str, now: datetime, until: datetime) -> bool:
        def work(connection: Connection) -> bool:
            rows, table = UserRows(connection, self._user), schema.visits
            # Of two who come first at once, one waits here for the other.
            if not rows.all(self._backend.locked(rows.select(schema.users, schema.users.c.seq))):
                return False
            found = rows.all(rows.select(table))
            at, end = encode_time(now), encode_time(until)
            if not found:
                first = {"seq": 0, "due_at": at, "soon_at": at, "holder": holder, "until": end}
                rows.insert(table, [first])
                return True
            if found[0]["holder"] not in (None, holder) and is_held(found[0]["until"], now):
                return False
            rows.change(_HOLD, new_holder=holder, new_until=end)
            return True

        return self._backend.write(work, self._user, durable=False)

    def settle(self, holder: str, marks: Mapping[str, Mark], visit: Visit) -> None:
        def work(connection: Connection) -> None:
            rows = UserRows(connection, self._user)
            due, soon = encode_time(visit.due), encode_time(visit.soon)
            if not rows.change(_SETTLE, ours=holder, new_seq=visit.seq, new_due=due, new_soon=soon):
                return
            rows.delete_in(schema.marks, schema.marks.c.chore, list(marks))
            rows.insert(schema.marks, [_row(chore, mark) for chore, mark in marks.items()])

        self._backend.write(work, self._user, durable=False)


def _mark(row: Mapping[str, Any]) -> Mark:
    at, after = (None if row[name] is None else decode_time(row[name]) for name in ("at", "after"))
    problem = None if row["problem"] is None else decode_text(row["problem"])
    return Mark(row["seq"], at, after, row["failures"], problem)


def _row(chore: str, mark: Mark) -> dict[str, Any]:
    times = {"at": mark.at, "after": mark.after}
    return {
        "chore": chore,
        "seq": mark.seq,
        "failures": mark.failures,
        "problem": None if mark.problem is None else encode_text(mark.problem),
        **{name: None if time is None else encode_time(time) for name, time in times.items()},
    }
