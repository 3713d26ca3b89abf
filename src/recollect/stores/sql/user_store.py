"""One user's memory on any SQL database."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, bindparam, select
from sqlalchemy.exc import IntegrityError

from recollect.errors import Conflict, Invalid, NotFound
from recollect.model.changes import Change, Chunk, Held
from recollect.model.records import BY_KIND, Conversation, Record
from recollect.model.search import Candidate, Search
from recollect.model.space import Space
from recollect.ports.store import Applied, Led, Spent, Unembedded, Usage, UserView
from recollect.ports.tending import Receipt
from recollect.stores.sql import schema
from recollect.stores.sql.auditing import AuditedUser
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.codec import decode_time, encode_time, encode_vector, table_of
from recollect.stores.sql.copying import chunks_of, held, put_usage
from recollect.stores.sql.counting import put_receipt
from recollect.stores.sql.following import FollowedUser
from recollect.stores.sql.key_ring import drop_keys
from recollect.stores.sql.once import AnsweredUser
from recollect.stores.sql.parking import fail
from recollect.stores.sql.projecting import ProjectedUser, leave_anew, leave_projections
from recollect.stores.sql.reading import (
    MINABLE,
    PAGE_SIZE,
    UNMINED,
    beyond,
    count_of,
    linking,
    of_kind,
    page_of,
    records,
    rooms,
    shaped,
    space_id,
    texts,
)
from recollect.stores.sql.rows import UserRows, own_update
from recollect.stores.sql.sealing import SEALED
from recollect.stores.sql.searched import SearchedUser
from recollect.stores.sql.spending import spend, spending
from recollect.stores.sql.tending import TendedUser
from recollect.stores.sql.threads import threads_of
from recollect.stores.sql.writer import apply, note_erasure

R = TypeVar("R", bound=Record)
T = TypeVar("T")

PAGE = 500

_FILL = (
    own_update(schema.vectors)
    .where(
        schema.vectors.c.space == bindparam("which_space"),
        schema.vectors.c.doc == bindparam("which"),
        schema.waiting,
    )
    .values(vector=bindparam("new_vector"))
)
_TELL = (
    own_update(schema.chunks)
    .where(schema.chunks.c.doc == bindparam("which"))
    .values(seq=bindparam("new_seq"))
)


class SqlUserStore(TendedUser, AuditedUser, AnsweredUser, FollowedUser, ProjectedUser, SearchedUser):
    """One user's memory. Implements `ports.store.UserStore`."""

    def __init__(self, backend: Backend, user: str) -> None:
        self._backend = backend
        self._user = user

    @property
    def user(self) -> str:
        return self._user

    def apply(self, changes: Sequence[Change], space: Space | None = None) -> Applied:
        def work(connection: Connection) -> Applied:
            try:
                return apply(self._backend, connection, self._user, changes, space)
            except IntegrityError as error:
                raise Conflict(f"Something else is already stored in that place ({error.orig}).") from None

        waited_for = not any(isinstance(change, Held) for change in changes)
        return self._backend.write(work, self._user, durable=waited_for)

    @contextmanager
    def snapshot(self, *, latest: bool = True) -> Generator[UserView]:
        with self._backend.read(self._user, latest=latest) as connection:
            yield SqlUserStore(held(connection, self._backend), self._user)

    @only_reads
    def reading(self, step: Callable[[UserView], T], *, latest: bool = True) -> T:
        with self.snapshot(latest=latest) as view:
            return step(view)

    @only_reads
    def seq(self) -> int:
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            found = rows.all(rows.select(schema.users, schema.users.c.seq))
        return found[0]["seq"] if found else 0

    @only_reads
    def chunks(self, ids: Sequence[str], space: Space | None) -> dict[str, tuple[Chunk, ...]]:
        with self._backend.read(self._user) as connection:
            return chunks_of(UserRows(connection, self._user), ids, space)

    @only_reads
    def get(self, kind: type[R], ids: Sequence[str], *, bare: bool = False) -> list[R]:
        table = table_of(kind)
        if not ids:
            return []
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            found = rows.all_in(of_kind(rows.select(table), kind), table.c.id, list(dict.fromkeys(ids)))
            by_id = {record.id: record for record in records(rows, kind, found, bare)}
        return [by_id[id] for id in ids if id in by_id]

    def find(
        self,
        kind: type[R],
        where: Mapping[str, Any] | None = None,
        *,
        order: str = "id",
        descending: bool = False,
        after: str | None = None,
        limit: int | None = None,
        bare: bool = False,
    ) -> Iterator[R]:
        table = table_of(kind)
        if order not in table.c:
            raise Invalid(f"A {kind.kind} cannot be ordered by {order!r}.")
        key = (table.c[order], table.c.id)
        place = self._place(kind, order, after) if after is not None else None
        left = limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            behind = [] if place is None else [beyond(key, place, descending)]
            found, place = self._page(kind, where, behind, order, descending, size, bare)
            yield from found
            if len(found) < size:
                return
            left = None if left is None else left - len(found)

    @only_reads
    def _page(
        self,
        kind: type[R],
        where: Mapping[str, Any] | None,
        behind: Sequence[ColumnElement[bool]],
        order: str,
        descending: bool,
        size: int,
        bare: bool,
    ) -> tuple[list[R], tuple[Any, str] | None]:
        """Some records, and the place of the last one in their order."""
        table = table_of(kind)
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            if rows.seal is not None and order in SEALED.get(table.name, ()):
                raise Invalid(f"A {kind.kind} cannot be ordered by {order!r}: that is encrypted.")
            shape, given = shaped(rows, kind, where)
            wanted = page_of(kind, shape, order, descending)
            page = rows.all(wanted.where(*behind) if behind else wanted, **given, **{PAGE_SIZE: size})
            return records(rows, kind, page, bare), (page[-1][order], page[-1]["id"]) if page else None

    @only_reads
    def _place(self, kind: type[Record], order: str, id: str) -> tuple[Any, str]:
        table = table_of(kind)
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            found = rows.all_in(of_kind(rows.select(table, table.c[order]), kind), table.c.id, [id])
        if not found:
            raise NotFound(f"There is no {kind.kind} {id!r} to continue after.")
        return found[0][order], id

    @only_reads
    def count(self, kind: type[Record], where: Mapping[str, Any] | None = None) -> int:
        with self._backend.read(self._user) as connection:
            return _count(UserRows(connection, self._user), kind, where)

    @only_reads
    def search(self, search: Search) -> list[Candidate]:
        with self._backend.read(self._user) as connection:
            return self._backend.search(UserRows(connection, self._user), search)

    @only_reads
    def linking(self, link: str, targets: Sequence[str]) -> dict[str, tuple[str, ...]]:
        if not targets:
            return {}
        with self._backend.read(self._user) as connection:
            return linking(UserRows(connection, self._user), link, targets)

    @only_reads
    def rooms(self, turns: Sequence[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
        with self._backend.read(self._user) as connection:
            return rooms(UserRows(connection, self._user), turns)

    @only_reads
    def unmined(self, limit: int | None = None, now: datetime | None = None) -> list[Conversation]:
        given, waiting = ({}, UNMINED) if now is None else ({"now": encode_time(now)}, MINABLE)
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            found = rows.all(waiting if limit is None else waiting.limit(limit), **given)
            return records(rows, Conversation, found)

    @only_reads
    def threads(self, digests: Sequence[str]) -> list[Led]:
        with self._backend.read(self._user) as connection:
            return threads_of(UserRows(connection, self._user), digests)

    def spend(self, spent: Sequence[Spent]) -> None:
        def work(connection: Connection) -> None:
            spend(self._backend, UserRows(connection, self._user), spent)

        self._backend.write(work, self._user, durable=False)

    @only_reads
    def spending(self, since: date | None = None) -> list[Spent]:
        with self._backend.read(self._user) as connection:
            return spending(UserRows(connection, self._user), since)

    def touch(self, ids: Mapping[str, tuple[str, int, datetime]]) -> None:
        def work(connection: Connection) -> None:
            rows, table, chunks = UserRows(connection, self._user), schema.usage, schema.chunks
            rows.all(self._backend.locked(rows.select(schema.users, schema.users.c.seq)))
            living = rows.all_in(rows.select(chunks, chunks.c.owner), chunks.c.owner, list(ids))
            known = {row["id"]: row for row in rows.all_in(rows.select(table), table.c.id, list(ids))}
            counted: list[dict[str, Any]] = []
            for id in {row["owner"] for row in living}:
                kind, times, at = ids[id]
                old = known.get(id, {"count": 0, "since_renewal": 0, "last_at": 0})
                counted.append(
                    {
                        "id": id,
                        "kind": kind,
                        "count": old["count"] + times,
                        "since_renewal": old["since_renewal"] + times,
                        "last_at": max(encode_time(at), old["last_at"]),
                    }
                )
            rows.delete_in(table, table.c.id, [row["id"] for row in counted])
            rows.insert(table, counted)

        self._backend.write(work, self._user, durable=False)

    @only_reads
    def usage(self, ids: Sequence[str]) -> dict[str, Usage]:
        table = schema.usage
        if not ids:
            return {}
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            found = rows.all_in(rows.select(table), table.c.id, list(ids))
        return {r["id"]: Usage(r["count"], r["since_renewal"], decode_time(r["last_at"])) for r in found}

    def put_usage(self, kind: type[Record], usage: Mapping[str, Usage]) -> None:
        self._backend.write(lambda c: put_usage(UserRows(c, self._user), kind, usage), self._user)

    def secret(self) -> bytes:
        while (found := self._secret()) is None:
            self.apply(())
        return bytes.fromhex(found)

    @only_reads
    def _secret(self) -> str | None:
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            found = rows.all(rows.select(schema.users, schema.users.c.secret))
        return found[0]["secret"] if found else None

    def adopt_secret(self, secret: bytes) -> bool:
        def work(connection: Connection) -> bool:
            rows = UserRows(connection, self._user)
            (user,) = rows.all(self._backend.locked(rows.select(schema.users, schema.users.c.secret)))
            if secret.hex() == user["secret"]:
                return True
            if rows.all(rows.select(schema.tombstones, schema.tombstones.c.id).limit(1)):
                return False
            new = rows.closed(schema.users, {"secret": secret.hex()})
            rows.run(rows.update(schema.users).values(**new))
            leave_anew(rows)
            return True

        self.secret()
        return self._backend.write(work, self._user)

    @only_reads
    def unembedded(self, space: Space, limit: int, after: int = 0) -> list[Unembedded]:
        table, chunks = schema.vectors, schema.chunks
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            docs = [
                r["doc"]
                for r in rows.all(
                    rows.select(table, table.c.doc)
                    .where(table.c.space == space_id(space), table.c.doc > after, schema.waiting)
                    .order_by(table.c.doc)
                    .limit(limit)
                )
            ]
            found = sorted(rows.all_in(rows.select(chunks), chunks.c.doc, docs), key=lambda row: row["doc"])
            text_of = texts(rows, found)
            numbers = [row["number"] for row in rows.all(rows.select(schema.users))]
        return [Unembedded(r["doc"], text_of[r["owner"]][r["start"] : r["stop"]], numbers[0]) for r in found]

    def embed(self, space: Space, vectors: Mapping[Unembedded, NDArray[np.float32]]) -> int:
        for vector in vectors.values():
            if vector.shape != (space.dimensions,):
                raise Invalid(f"A vector of {space.dimensions} finite numbers was expected.")
        encoded = {chunk: encode_vector(vector) for chunk, vector in vectors.items()}

        def work(connection: Connection) -> int:
            rows = UserRows(connection, self._user)
            owner = rows.all(self._backend.locked(rows.select(schema.users)))
            id = connection.execute(select(space_id(space))).scalar()
            if not owner or id is None:
                return 0
            seq, done = owner[0]["seq"] + 1, 0
            for chunk, vector in encoded.items():
                if chunk.number == owner[0]["number"]:
                    new = rows.closed(schema.vectors, {"vector": vector})["vector"]
                    done += rows.run(_FILL, which_space=id, which=chunk.doc, new_vector=new).rowcount
                    rows.run(_TELL, which=chunk.doc, new_seq=seq)
            rows.run(rows.update(schema.users).values(seq=seq))
            return done

        return self._backend.write(work, self._user)

    def fail(self, space: Space, chunks: Sequence[Unembedded]) -> int:
        return self._backend.write(
            lambda c: fail(self._backend, UserRows(c, self._user), space, chunks), self._user
        )

    def erase(self, receipt: Receipt | None = None) -> dict[str, int]:
        def work(connection: Connection) -> dict[str, int]:
            rows = UserRows(connection, self._user)
            user = rows.all(self._backend.locked(rows.select(schema.users)))
            keys = drop_keys(connection, self._user)
            if not user:
                if keys:
                    note_erasure(self._backend, rows)
                return {}
            docs = [r["doc"] for r in rows.all(rows.select(schema.chunks, schema.chunks.c.doc))]
            self._backend.remove_text(rows, user[0]["number"], docs)
            leave_projections(rows, user[0]["number"])
            counts = {kind: _count(rows, BY_KIND[kind]) for kind in schema.RECORD_TABLES}
            for table in schema.USER_TABLES:
                rows.run(rows.delete(table))
            note_erasure(self._backend, rows)
            gone = {kind: count for kind, count in counts.items() if count}
            if receipt is not None:
                put_receipt(connection, replace(receipt, counts=gone))
            return gone

        return self._backend.write(work, self._user)


def _count(rows: UserRows, kind: type[Record], where: Mapping[str, Any] | None = None) -> int:
    shape, given = shaped(rows, kind, where)
    ((count,),) = (row.values() for row in rows.all(count_of(kind, shape), **given))
    return count
