"""The store of record on any SQL database: what is shared, which is nearly all of it."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, select, text, true, update

from recollect.errors import NotFound, StoreCorrupt
from recollect.model.changes import Revise
from recollect.model.records import FRESH, SEARCHABLE
from recollect.model.retention import Retention
from recollect.model.scope import check_name
from recollect.ports.tending import JobState, Measure, Receipt, Standing
from recollect.stores.sql import backlog, counting, migrate, schema
from recollect.stores.sql.backend import only_reads
from recollect.stores.sql.codec import encode_time
from recollect.stores.sql.key_ring import KeyRing
from recollect.stores.sql.parking import failed_mining, unpark
from recollect.stores.sql.placing import wrong_places
from recollect.stores.sql.projecting import ProjectedStore, lags
from recollect.stores.sql.reading import texts
from recollect.stores.sql.rows import UserRows
from recollect.stores.sql.sizes import standings, wrong_sizes
from recollect.stores.sql.spaces import ADDING, RETIRED, SpaceKeeper, marked
from recollect.stores.sql.tending import is_held, users_due
from recollect.stores.sql.user_store import PAGE, SqlUserStore
from recollect.text.analyse import VERSION, terms

ANALYSER = "analyser"
REBUILD_BATCH = 1000


class SqlStore(SpaceKeeper, KeyRing, ProjectedStore):
    """A database of record. Implements `ports.store.Store`."""

    def user(self, user: str) -> SqlUserStore:
        return SqlUserStore(self._backend, check_name("user", user))

    def users(self) -> Iterator[str]:
        found = self._users_behind("")
        while found:
            yield from found
            found = self._users_behind(found[-1])

    @only_reads
    def _users_behind(self, last: str) -> list[str]:
        name = schema.users.c.user_id
        page = select(name).order_by(name).limit(PAGE)
        with self._backend.read() as connection:
            return list(connection.execute(page.where(name > last)).scalars())

    @only_reads
    def users_due(self, now: datetime, quiet_since: datetime) -> list[str]:
        with self._backend.read() as connection:
            return users_due(connection, now, quiet_since)

    def unpark(self) -> int:
        done = self._backend.write(unpark)
        for user, conversation in self._failed_mining():
            with suppress(NotFound):  # it was forgotten just now
                self.user(user).apply([Revise("conversation", conversation, FRESH)])
                done += 1
        return done

    @only_reads
    def _failed_mining(self) -> list[tuple[str, str]]:
        with self._backend.read() as connection:
            return list(failed_mining(connection))

    # What is counted

    def note_jobs(self, states: Sequence[JobState]) -> None:
        self._backend.write(lambda connection: counting.note_jobs(connection, states), durable=False)

    @only_reads
    def jobs(self) -> list[JobState]:
        with self._backend.read() as connection:
            return counting.jobs(connection)

    def measure(self, measures: Sequence[Measure]) -> None:
        self._backend.write(lambda connection: counting.measure(connection, measures), durable=False)

    @only_reads
    def measures(self, since: date | None = None) -> list[Measure]:
        with self._backend.read() as connection:
            return counting.measures(connection, since)

    def tally(self) -> dict[str, int]:
        return self._backend.tally()

    @only_reads
    def standings(self, policy: Retention) -> list[Standing]:
        with self._backend.read() as connection:
            return standings(connection, policy)

    @only_reads
    def receipts(self, limit: int = 100) -> list[Receipt]:
        with self._backend.read() as connection:
            return counting.receipts(connection, limit)

    def drop_audit(self, before: datetime) -> int:
        return self._backend.drop_audit(before)

    # Text index

    @only_reads
    def text_is_current(self) -> bool:
        with self._backend.read() as connection:
            return _mark(connection, ANALYSER) == VERSION

    def rebuild_text(self) -> Iterator[int]:
        ours = -secrets.randbelow(1 << 62) - 1  # not current, and ours to finish while nobody else begins

        def begin(connection: Connection) -> None:
            self._backend.clear_text(connection)
            _set_mark(connection, ANALYSER, ours)

        def finish(connection: Connection) -> None:
            if _mark(connection, ANALYSER) == ours:
                _set_mark(connection, ANALYSER, VERSION)

        self._backend.write_alone(begin)
        done = 0
        for user, end in self._ends():  # what is stored from here on is indexed by whoever stores it
            last = 0
            while True:
                count, last = self._backend.write(
                    lambda connection, u=user, e=end, after=last: self._reindex(connection, u, after, e),
                    user,
                )
                if not count:
                    break
                done += count
                yield done
        self._backend.write(finish)

    def _reindex(self, connection: Connection, user: str, after: int, end: int) -> tuple[int, int]:
        """A batch of the user's chunks behind `after` and before `end`: how many, and the last one."""
        rows, table = UserRows(connection, user), schema.chunks
        owner = rows.all(self._backend.locked(rows.select(schema.users)))
        batch = rows.select(table).where(table.c.doc > after, table.c.doc < end)
        found = rows.all(batch.order_by(table.c.doc).limit(REBUILD_BATCH))
        if not owner or not found:
            totals = rows.select(table, func.count(), func.coalesce(func.sum(table.c.terms), 0))
            documents, words = rows.all(totals)[0].values()
            rows.run(rows.update(schema.users).values(documents=documents, terms=words))
            return 0, after
        text_of = texts(rows, found)
        documents = [(r["doc"], terms(text_of[r["owner"]][r["start"] : r["stop"]])) for r in found]
        number: int = owner[0]["number"]
        # What was stored since the index was cleared is in it already.
        self._backend.remove_text(rows, number, [doc for doc, _ in documents])
        self._backend.add_text(rows, number, documents)
        for doc, words in documents:
            rows.run(rows.update(table).where(table.c.doc == doc).values(terms=len(words)))
        return len(found), found[-1]["doc"]

    # Erasure

    def needs_scrub(self) -> bool:
        return bool(self._unscrubbed())

    def scrub(self) -> bool:
        scrubbed = [self._scrub(*waiting) for waiting in self._unscrubbed()]  # all of them are tried
        return all(scrubbed)

    @only_reads
    def _unscrubbed(self) -> list[tuple[int, int]]:
        with self._backend.read() as connection:
            return [(row.partition, row.erased) for row in connection.execute(_UNSCRUBBED)]

    def _scrub(self, partition: int, erased: int) -> bool:
        """Whether the partition's files hold nothing of its first so many erasures any more."""
        if not self._backend.scrub(partition):
            return False
        table = schema.erasures
        done = update(table).where(table.c.partition == partition, table.c.scrubbed < erased)
        self._backend.write(lambda connection: connection.execute(done.values(scrubbed=erased)).rowcount)
        return True

    def maintain(self) -> int:
        return self._backend.maintain()

    # Leases

    def acquire(self, lease: str, holder: str, now: datetime, until: datetime) -> bool:
        def work(connection: Connection) -> bool:
            table = schema.leases
            values = {"holder": holder, "until": encode_time(until)}
            if connection.execute(_FIRST_LEASE, {"name": lease, **values}).rowcount:
                return True
            held = self._backend.locked(select(table).where(table.c.name == lease))
            row = connection.execute(held).one_or_none()
            if row is None:
                return False  # it was released just now
            if row.holder != holder and is_held(row.until, now):
                return False
            connection.execute(update(table).where(table.c.name == lease).values(**values))
            return True

        return self._backend.write(work, durable=False)

    def release(self, lease: str, holder: str) -> None:
        table = schema.leases
        gone = delete(table).where(table.c.name == lease, table.c.holder == holder)
        self._backend.write(lambda connection: connection.execute(gone).rowcount, durable=False)

    # Operation

    @only_reads
    def stats(
        self,
        quiet: timedelta = timedelta(0),
        idle: timedelta = timedelta(0),
        every: timedelta = timedelta(0),
        copies: Sequence[str] = (),
    ) -> dict[str, Any]:
        counted = {t.name: t for t in (schema.users, *schema.RECORD_TABLES.values(), schema.chunks)}
        with self._backend.read() as connection:
            rows = {
                name: connection.execute(select(func.count()).select_from(table)).scalar_one()
                for name, table in counted.items()
            }
            living = schema.vectors.c.space.in_(select(schema.spaces.c.id))
            waiting = select(func.count()).select_from(schema.vectors).where(schema.waiting, living)
            rows["chunks_waiting_for_a_vector"] = connection.execute(waiting).scalar_one()
            rows["spaces_to_drop"] = len(marked(connection, RETIRED))
            told = {
                "waiting": backlog.waiting(connection, quiet, idle),
                "unconsolidated": backlog.unconsolidated(connection, every),
                "parked": backlog.parked(connection),
                "projections": lags(connection, copies),
            }
        return {"rows": rows, **told, **self._backend.stats()}

    @only_reads
    def is_current(self) -> bool:
        with self._backend.read() as connection:
            return migrate.is_served(connection)

    @only_reads
    def check(self) -> list[str]:
        problems: list[str] = []
        try:
            problems += self._backend.check()
            with self._backend.read() as connection:
                problems += _disagreements(connection)
        except StoreCorrupt as error:
            problems.append(str(error))
        return problems

    def close(self) -> None:
        self._backend.close()


# Of two who take it at once, one finds it taken.
_FIRST_LEASE = text(
    "INSERT INTO leases (name, holder, until) VALUES (:name, :holder, :until) ON CONFLICT DO NOTHING"
)
_UNSCRUBBED = select(schema.erasures).where(schema.erasures.c.erased > schema.erasures.c.scrubbed)


def _mark(connection: Connection, key: str) -> int:
    return connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == key)).scalar_one()


def _set_mark(connection: Connection, key: str, value: int) -> None:
    connection.execute(update(schema.meta).where(schema.meta.c.key == key).values(value=value))


def _disagreements(connection: Connection) -> list[str]:
    """Where rows that belong together do not match."""
    chunks, users, vectors = schema.chunks, schema.users, schema.vectors
    between = marked(connection, ADDING) | marked(connection, RETIRED)  # there, a difference is no fault
    every = (
        select(chunks.c.user_id, schema.spaces.c.id, chunks.c.doc)
        .select_from(chunks.join(schema.spaces, true()))
        .where(schema.spaces.c.id.not_in(between))
    )
    stored = select(vectors.c.user_id, vectors.c.space, vectors.c.doc).where(vectors.c.space.not_in(between))
    counted = select(chunks.c.user_id, func.count(), func.sum(chunks.c.terms)).group_by(chunks.c.user_id)
    noted = select(users.c.user_id, users.c.documents, users.c.terms).where(users.c.documents > 0)
    differences: dict[str, Any] = {
        "chunks have no row for their vector: run `recollect rebuild vectors`.": every.except_(stored),
        "vectors belong to no chunk: run `recollect rebuild vectors`.": stored.except_(every),
        "users' text statistics are wrong: run `recollect rebuild text`.": counted.except_(noted),
        "users have text statistics without text: run `recollect rebuild text`.": noted.except_(counted),
    }
    differences["sizes of channels are wrong; quotas go by them."] = wrong_sizes()
    differences["counts of places in the palace are wrong."] = wrong_places()
    for table in {schema.RECORD_TABLES[kind] for kind in SEARCHABLE}:
        kinds = [kind for kind in SEARCHABLE if schema.RECORD_TABLES[kind] is table]
        owners = select(chunks.c.user_id, chunks.c.owner).where(chunks.c.kind.in_(kinds))
        orphans = owners.except_(select(table.c.user_id, table.c.id))
        differences[f"owners of chunks are not in {table.name}."] = orphans
    counts = {
        problem: connection.execute(select(func.count()).select_from(found.subquery())).scalar_one()
        for problem, found in differences.items()
    }
    return [f"{count:,} {problem}" for problem, count in counts.items() if count]
