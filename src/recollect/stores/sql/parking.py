"""What keeps failing by its own fault is parked: it is left alone until somebody has it tried again."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, bindparam, func, select, update

from recollect.model.records import NEVER
from recollect.model.space import Space
from recollect.ports.store import Unembedded
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.codec import encode_time
from recollect.stores.sql.reading import space_id
from recollect.stores.sql.rows import UserRows, own_select, own_update

_THIS = (schema.vectors.c.space == bindparam("which_space"), schema.vectors.c.doc == bindparam("which"))
_ONCE_MORE = {"failures": schema.vectors.c.failures + 1}
_FAILED = own_update(schema.vectors).where(*_THIS, schema.waiting).values(_ONCE_MORE)
_PARKED = own_select(schema.vectors, func.count()).where(*_THIS, schema.parked)


def fail(backend: Backend, rows: UserRows, space: Space, chunks: Sequence[Unembedded]) -> int:
    """Count that the model refuses these texts; how many are parked by now."""
    owner = rows.all(backend.locked(rows.select(schema.users, schema.users.c.number)))
    id = rows.connection.execute(select(space_id(space))).scalar()
    if not owner or id is None:
        return 0
    parked = 0
    for chunk in chunks:
        if chunk.number == owner[0]["number"]:
            rows.run(_FAILED, which_space=id, which=chunk.doc)
            parked += rows.run(_PARKED, which_space=id, which=chunk.doc).scalar_one()
    return parked


def unpark(connection: Connection) -> int:
    """Chunks and chores that failed are as if they had not; how many of them."""
    vectors, marks, visits = schema.vectors, schema.marks, schema.visits
    whose = list(connection.execute(select(marks.c.user_id).where(marks.c.failures > 0).distinct()).scalars())
    for user in whose:
        rows = UserRows(connection, user)
        rows.run(rows.update(visits).values(due_at=0))
    again = {"seq": 0, "at": None, "after": None, "failures": 0, "problem": None}
    chores = update(marks).where(marks.c.failures > 0).values(**again)
    texts = update(vectors).where(schema.empty, vectors.c.failures > 0).values(failures=0)
    return connection.execute(chores).rowcount + connection.execute(texts).rowcount


def failed_mining(connection: Connection) -> Iterator[tuple[str, str]]:
    """Users and conversations that could not be mined, and wait to be tried again."""
    table = schema.conversations
    waiting = schema.unmined, table.c.mining_after.is_not(None), table.c.mining_after < encode_time(NEVER)
    for row in connection.execute(select(table.c.user_id, table.c.id).where(*waiting)):
        yield row.user_id, row.id
