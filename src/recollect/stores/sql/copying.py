"""What a copy to another store needs of one user's rows: one state of them, and what is searched."""

import hmac
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar, cast

from sqlalchemy import Connection, bindparam, select

from recollect.model.changes import Chunk
from recollect.model.records import Conversation, Record
from recollect.model.space import Space
from recollect.ports.store import Usage
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.codec import decode_vectors, encode_time
from recollect.stores.sql.reading import space_id
from recollect.stores.sql.rows import UserRows, own_select

T = TypeVar("T")

_CHUNKS, _VECTORS = schema.chunks, schema.vectors
_SEARCHED = (
    own_select(_CHUNKS, _CHUNKS.c.owner, _CHUNKS.c.start, _CHUNKS.c.stop, _VECTORS.c.vector)
    .select_from(
        _CHUNKS.outerjoin(
            _VECTORS,
            (_VECTORS.c.user_id == _CHUNKS.c.user_id)
            & (_VECTORS.c.space == bindparam("space"))
            & (_VECTORS.c.doc == _CHUNKS.c.doc),
        )
    )
    .order_by(_CHUNKS.c.owner, _CHUNKS.c.doc)
)
_DELETED = own_select(schema.deletions, schema.deletions.c.id).where(
    schema.deletions.c.kind == bindparam("which_kind")
)


class _Held:
    """A backend as it stood at one moment: everything is read through one connection."""

    def __init__(self, connection: Connection, backend: Backend) -> None:
        self._connection = connection
        self.search = backend.search

    def read(self, user: str | None = None, *, latest: bool = True) -> AbstractContextManager[Connection]:
        return nullcontext(self._connection)

    def again(self, step: Callable[[], T]) -> T:
        return step()  # a state that is lost is not to be had again


def held(connection: Connection, backend: Backend) -> Backend:
    """For reading only: whoever gets it sees a `UserView`, which has no way to write."""
    return cast(Backend, _Held(connection, backend))


def chunks_of(rows: UserRows, ids: Sequence[str], space: Space | None) -> dict[str, tuple[Chunk, ...]]:
    number = None if space is None else rows.connection.execute(select(space_id(space))).scalar()
    found: dict[str, list[Chunk]] = {}
    for row in rows.all_in(_SEARCHED, _CHUNKS.c.owner, ids, space=number or 0):
        blob = row["vector"]
        vector = None if blob is None else decode_vectors([blob], len(blob) // 2)[0]
        found.setdefault(row["owner"], []).append(Chunk(row["start"], row["stop"], vector))
    return {owner: tuple(chunks) for owner, chunks in found.items()}


def deleted_of(rows: UserRows, kind: type[Record], ids: Sequence[str], secret: bytes) -> set[str]:
    names = {id: id for id in ids}
    if kind is Conversation:  # the feed has a hash of its id
        names = {hmac.digest(secret, id.encode(), "sha256").hex(): id for id in ids}
    found = rows.all_in(_DELETED, schema.deletions.c.id, list(names), which_kind=kind.kind)
    return {names[row["id"]] for row in found}


def put_usage(rows: UserRows, kind: type[Record], usage: Mapping[str, Usage]) -> None:
    table = schema.usage
    searched = rows.all_in(rows.select(_CHUNKS, _CHUNKS.c.owner), _CHUNKS.c.owner, list(usage))
    owners = sorted({row["owner"] for row in searched})
    rows.delete_in(table, table.c.id, owners)
    rows.insert(
        table,
        [
            {
                "id": id,
                "kind": kind.kind,
                "count": usage[id].count,
                "since_renewal": usage[id].since_renewal,
                "last_at": encode_time(usage[id].last_at),
            }
            for id in owners
        ],
    )
