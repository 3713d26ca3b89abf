"""What waits for the background and what it has put aside; tells nothing of anybody."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Join, and_, case, exists, func, not_, or_, select

from recollect.model.records import NEVER, PARKED
from recollect.ports.tending import CONSOLIDATED
from recollect.stores.sql import schema
from recollect.stores.sql.codec import decode_text, decode_time, encode_time

MINE, CONCLUDE = "mine", "conclude"
"""The chores by which conversations are put right."""
CONSOLIDATE = "consolidate"
"""The one by which memories are."""
USERS = 500
"""How many users' memories are counted in one statement."""

_TALKS, _MARKS, _VECTORS = schema.conversations, schema.marks, schema.vectors
_HELD = encode_time(NEVER)
_ASKED = or_(_TALKS.c.mining_after.is_(None), _TALKS.c.mining_after < _HELD)
"""To be mined by itself: one that was unmined is mined on demand only."""
_READY = or_(_TALKS.c.mining_after.is_(None), _TALKS.c.mining_after < encode_time(PARKED))
_LIVING = _VECTORS.c.space.in_(select(schema.spaces.c.id))
_FAILED = and_(schema.unmined, _TALKS.c.mining_problem.is_not(None), _ASKED)


def waiting(connection: Connection, quiet: timedelta, idle: timedelta) -> dict[str, Any]:
    """How many conversations wait for which chore, and since when the oldest one has been ready."""
    return {
        MINE: _waiting(connection, and_(schema.unmined, _READY), MINE, quiet),
        CONCLUDE: _waiting(connection, schema.unconcluded, CONCLUDE, idle),
    }


def _waiting(
    connection: Connection, condition: ColumnElement[bool], chore: str, after: timedelta
) -> dict[str, Any]:
    """It is ready so long after its last turn was stored. One that a worker has come by since then, and that
    nothing was wrong with, does not wait: its user does not want it."""
    turns = schema.turns
    last = and_(
        turns.c.user_id == _TALKS.c.user_id,
        turns.c.conversation == _TALKS.c.id,
        turns.c.index == _TALKS.c.next_index - 1,
    )
    ready = func.coalesce(turns.c.recorded_at, _TALKS.c.last_at) + int(after.total_seconds() * 1e6)
    passed = exists().where(
        _MARKS.c.user_id == _TALKS.c.user_id,
        _MARKS.c.chore == chore,
        _MARKS.c.failures == 0,
        _MARKS.c.at >= ready,
    )
    found = (
        select(func.count(), func.min(ready))
        .select_from(_TALKS.outerjoin(turns, last))
        .where(condition, not_(passed))
    )
    count, since = connection.execute(found).one()
    return {"conversations": count, "since": None if since is None else decode_time(since)}


def unconsolidated(connection: Connection, every: timedelta) -> dict[str, Any]:
    """How many memories are new to the chore, and since when the first of them should have been looked at.
    What was there already when it came and merely changed since is left out: when that was is not known."""
    users = schema.users
    mark = and_(_MARKS.c.user_id == users.c.user_id, _MARKS.c.chore == CONSOLIDATE)
    seen = func.coalesce(_MARKS.c.seq, 0)
    standing = users.outerjoin(_MARKS, mark)
    changed = select(users.c.user_id).select_from(standing).where(users.c.seq > seen)
    who = connection.execute(changed).scalars().all()
    # By name, some at a time: to find them itself, the server would read everybody's chunks.
    told = [_new(connection, standing, seen, every, who[n : n + USERS]) for n in range(0, len(who), USERS)]
    since = min((since for _, since in told if since is not None), default=None)
    count = sum(count for count, _ in told)
    return {"memories": count, "since": None if since is None else decode_time(since)}


def _new(
    connection: Connection, standing: Join, seen: ColumnElement[int], every: timedelta, who: Sequence[str]
) -> tuple[int, int | None]:
    """What `unconsolidated` tells, of these users."""
    users, chunks = schema.users, schema.chunks
    # One that failed was there, and left what it has not seen.
    came = case((_MARKS.c.after.is_(None), func.coalesce(_MARKS.c.at, 0)), else_=0)
    due = came + int(every.total_seconds() * 1e6)
    stored = chunks.c.recorded_at
    found = (
        select(func.count(), func.min(case((stored > due, stored), else_=due)))
        .select_from(standing.join(chunks, chunks.c.user_id == users.c.user_id))
        .where(
            users.c.user_id.in_(who),
            chunks.c.user_id.in_(who),
            chunks.c.seq > seen,
            chunks.c.kind.in_(CONSOLIDATED),
            chunks.c.start == 0,  # the first of each memory
            stored > came,
        )
    )
    count, since = connection.execute(found).one()
    return count, since


def parked(connection: Connection) -> dict[str, Any]:
    """What failed and is put aside for a while: chunks that have no vector, why conversations were not mined,
    why chores failed; each with how many."""
    stuck = select(func.count()).select_from(_VECTORS).where(schema.parked, _LIVING)
    mining = select(_TALKS.c.mining_problem, func.count()).where(_FAILED).group_by(_TALKS.c.mining_problem)
    failing = and_(_MARKS.c.failures > 0, _MARKS.c.chore != MINE)  # of that one the conversations tell
    chores = select(_MARKS.c.chore, _MARKS.c.problem, func.count()).where(failing)
    failures: dict[str, dict[str, int]] = {}
    for chore, problem, count in connection.execute(chores.group_by(_MARKS.c.chore, _MARKS.c.problem)):
        failures.setdefault(chore, {})[decode_text(problem or "")] = count
    return {
        "chunks": connection.execute(stuck).scalar_one(),
        "mining": {decode_text(problem): count for problem, count in connection.execute(mining)},
        "chores": failures,
    }
