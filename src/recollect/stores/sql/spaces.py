"""Embedding spaces: which there are, which one is searched, and the way from one to the next.

What touches every chunk is done in short transactions, so that others can write in between, and is
marked in `meta` until it is finished: the marks are what a later call goes by.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, literal, select, update

from recollect.errors import Conflict, NotFound
from recollect.model.space import Space
from recollect.ports.store import SpaceState
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.reading import active_space, space_id
from recollect.stores.sql.rows import UserRows

NEXT_SPACE = "next_space"
ADDING, RETIRED = "adding space ", "retired space "
"""Marks, each with the number of a space: chunks still lack their row in it; it is gone, its vectors
are still to be deleted."""
BATCH = 2000
"""How many chunks one transaction touches."""

Span = tuple[str, int, int]
"""Some of one user's chunks: from the first, before the second."""


class SpaceKeeper:
    """The part of `ports.store.Store` that is about spaces."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @only_reads
    def active_space(self) -> Space | None:
        with self._backend.read() as connection:
            found = active_space(connection)
        return None if found is None else found[1]

    @only_reads
    def spaces(self) -> list[SpaceState]:
        table, vectors = schema.spaces, schema.vectors
        waiting = select(vectors.c.space, func.count()).where(schema.waiting).group_by(vectors.c.space)
        with self._backend.read() as connection:
            rows = connection.execute(select(table).order_by(table.c.active.desc(), table.c.id)).all()
            adding = marked(connection, ADDING)
            missing: dict[int, int] = {row[0]: row[1] for row in connection.execute(waiting)}
            total = select(func.coalesce(func.sum(schema.users.c.documents), 0))
            chunks = int(connection.execute(total).scalar_one())
        return [
            SpaceState(
                Space(row.model, row.dimensions, row.unrelated),
                row.active,
                chunks,
                chunks if row.id in adding else missing.get(row.id, 0),
            )
            for row in rows
        ]

    def add_space(self, space: Space) -> bool:
        def work(connection: Connection) -> bool:
            table = schema.spaces
            row = connection.execute(select(table).where(table.c.id == space_id(space))).one_or_none()
            if row is not None:
                return row.active
            first = connection.execute(select(func.count()).select_from(table)).scalar_one() == 0
            id = _next_space(connection)
            values = {"model": space.model, "dimensions": space.dimensions, "unrelated": space.unrelated}
            connection.execute(insert(table).values(id=id, active=first, **values))
            connection.execute(insert(schema.meta).values(key=f"{ADDING}{id}", value=0))
            return first

        known = self._is_active(space)
        active = self._backend.write_alone(work) if known is None else known
        self._await_vectors(space)
        return active

    @only_reads
    def _is_active(self, space: Space) -> bool | None:
        """None when there is no such space."""
        table = schema.spaces
        with self._backend.read() as connection:
            return connection.execute(select(table.c.active).where(table.c.id == space_id(space))).scalar()

    def claim_space(self, space: Space) -> bool:
        active = self.active_space()
        if active is not None and active.compares_with(space):
            return True  # as nearly always; nothing is written

        def work(connection: Connection) -> None:
            vectors, ids = schema.vectors, select(schema.spaces.c.id)
            if connection.execute(select(space_id(space))).scalar() is not None:
                return  # somebody else has just begun it
            filled = select(vectors.c.doc).where(~schema.empty, vectors.c.space.in_(ids)).limit(1)
            if connection.execute(filled).first() is None:
                _retire(connection, list(connection.execute(ids).scalars()))

        self._backend.write_alone(work)
        active = self.active_space()
        return self.add_space(space) if active is None else active.compares_with(space)

    def reset_space(self, space: Space) -> None:
        def work(connection: Connection) -> None:
            table = schema.spaces
            old = connection.execute(select(space_id(space))).scalar_one()
            # By its new number whoever has the old vectors in memory knows that they are void.
            new = _next_space(connection)
            connection.execute(update(table).where(table.c.id == old).values(id=new))
            connection.execute(insert(schema.meta).values(key=f"{ADDING}{new}", value=0))
            _retire(connection, [old])

        self.add_space(space)
        self._backend.write_alone(work)
        self._await_vectors(space)

    def switch_space(self, space: Space) -> None:
        def work(connection: Connection) -> None:
            table, vectors = schema.spaces, schema.vectors
            id = connection.execute(select(space_id(space))).scalar()
            if id is None:
                raise NotFound(f"There are no vectors of {space.model}: add the space first.")
            waiting = select(func.count()).select_from(vectors).where(vectors.c.space == id, schema.waiting)
            left = connection.execute(waiting).scalar_one()
            if left or id in marked(connection, ADDING):
                raise Conflict(
                    f"{left:,} chunks still wait for a vector of {space.model}: run `recollect tend`."
                )
            before = select(table.c.id).where(table.c.active, table.c.id != id)
            _retire(connection, list(connection.execute(before).scalars()))
            connection.execute(update(table).where(table.c.id == id).values(active=True))

        self._backend.write_alone(work)

    def drop_space(self, space: Space) -> None:
        def work(connection: Connection) -> None:
            table = schema.spaces
            row = connection.execute(select(table).where(table.c.id == space_id(space))).one_or_none()
            if row is not None and row.active:
                raise Conflict(f"The memory is searched by {space.model}: switch to another model first.")
            if row is not None:
                _retire(connection, [row.id])

        self._backend.write_alone(work)

    def drop_retired(self) -> Iterator[int]:
        ids = self._retired()
        done = 0
        for spans in self._spans() if ids else ():
            done += self._backend.write(lambda connection, some=spans: self._drop(connection, ids, some))
            yield done
        if ids:
            keys = [f"{RETIRED}{id}" for id in ids]
            gone = delete(schema.meta).where(schema.meta.c.key.in_(keys))
            self._backend.write(lambda connection: connection.execute(gone).rowcount)

    @only_reads
    def _retired(self) -> list[int]:
        with self._backend.read() as connection:
            return sorted(marked(connection, RETIRED))

    @only_reads
    def users_unembedded(self, space: Space) -> list[str]:
        table = schema.vectors
        statement = select(table.c.user_id).where(table.c.space == space_id(space), schema.waiting).distinct()
        with self._backend.read() as connection:
            return list(connection.execute(statement).scalars())

    def _await_vectors(self, space: Space) -> None:
        """Every chunk that is older than the space waits for a vector of it; the others do anyway."""
        id = self._adding(space)
        if id is None:
            return
        for spans in self._spans():
            self._backend.write(lambda connection, some=spans: self._await(connection, id, some))
        done = delete(schema.meta).where(schema.meta.c.key == f"{ADDING}{id}")
        self._backend.write(lambda connection: connection.execute(done).rowcount)

    @only_reads
    def _adding(self, space: Space) -> int | None:
        """The space's number, if it is marked as not complete."""
        with self._backend.read() as connection:
            id = connection.execute(select(space_id(space))).scalar()
            return id if id in marked(connection, ADDING) else None

    def _await(self, connection: Connection, id: int, spans: Sequence[Span]) -> None:
        known = select(schema.spaces.c.id).where(schema.spaces.c.id == id)
        if connection.execute(known).first() is None:
            return  # it was dropped in the meantime
        chunks, vectors = schema.chunks, schema.vectors
        there = select(vectors.c.doc).where(
            vectors.c.user_id == chunks.c.user_id, vectors.c.space == id, vectors.c.doc == chunks.c.doc
        )
        for rows, first, end in self._locked(connection, spans):
            missing = rows.select(chunks, chunks.c.user_id, literal(id), chunks.c.doc).where(
                chunks.c.doc >= first, chunks.c.doc < end, ~there.exists()
            )
            rows.run(insert(vectors).from_select(["user_id", "space", "doc"], missing))

    def _drop(self, connection: Connection, ids: Sequence[int], spans: Sequence[Span]) -> int:
        table, done = schema.vectors, 0
        for rows, first, end in self._locked(connection, spans):
            gone = rows.delete(table).where(table.c.space.in_(ids), table.c.doc >= first, table.c.doc < end)
            done += rows.run(gone).rowcount
        return done

    def _locked(self, connection: Connection, spans: Sequence[Span]) -> Iterator[tuple[UserRows, int, int]]:
        """The spans, with nobody writing for their users who has not seen the spaces as they are now."""
        for user, first, end in spans:
            rows = UserRows(connection, user)
            rows.all(self._backend.locked(rows.select(schema.users)))
            yield rows, first, end

    @only_reads
    def _ends(self) -> list[tuple[str, int]]:
        """The users, each with the number that the next chunk gets."""
        with self._backend.read() as connection:
            return [(row.user_id, row.next_doc) for row in connection.execute(select(schema.users))]

    def _spans(self) -> Iterator[list[Span]]:
        """Everybody's chunks, a batch at a time."""
        batch: list[Span] = []
        room = BATCH
        for user, end in self._ends():
            first = 0
            while first < end:
                stop = min(end, first + room)
                batch.append((user, first, stop))
                first, room = stop, room - (stop - first)
                if not room:
                    yield batch
                    batch, room = [], BATCH
        if batch:
            yield batch


@cache
def marks(prefix: str) -> Select[Any]:
    """The marks that begin so, each with the number of a space behind that."""
    return select(schema.meta.c.key).where(schema.meta.c.key.startswith(prefix))


def marked(connection: Connection, prefix: str) -> set[int]:
    """The spaces that have such a mark."""
    return {int(key.removeprefix(prefix)) for key in connection.execute(marks(prefix)).scalars()}


def _next_space(connection: Connection) -> int:
    """A number that no space had before."""
    table = schema.meta
    bump = update(table).where(table.c.key == NEXT_SPACE).values(value=table.c.value + 1)
    if not connection.execute(bump).rowcount:
        highest = connection.execute(select(func.coalesce(func.max(schema.spaces.c.id), 0))).scalar_one()
        connection.execute(insert(table).values(key=NEXT_SPACE, value=highest + 1))
    return connection.execute(select(table.c.value).where(table.c.key == NEXT_SPACE)).scalar_one()


def _retire(connection: Connection, ids: Sequence[int]) -> None:
    """The spaces are no more; their vectors go later, a few at a time."""
    table = schema.meta
    connection.execute(delete(schema.spaces).where(schema.spaces.c.id.in_(ids)))
    for id in ids:
        connection.execute(delete(table).where(table.c.key == f"{ADDING}{id}"))
        connection.execute(insert(table).values(key=f"{RETIRED}{id}", value=0))
