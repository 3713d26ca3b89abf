"""What PostgreSQL wants done now and then: partitions, indexes of large users, soundness."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from recollect.errors import Conflict
from recollect.model.changes import Put
from recollect.model.records import AuditEntry, Fact, MemoryRecord, Role, Turn
from recollect.model.space import Space
from recollect.ports.store import Store, UserStore
from recollect.stores.postgres import search
from recollect.stores.postgres.upkeep import OWNER
from recollect.stores.sql.codec import encode_vector
from recollect.testing.store_samples import (
    START,
    ManualClock,
    append,
    draft,
    fact,
    put,
    question,
    said,
    sample,
)
from tests.contract.postgres import emptied, opened

pytestmark = pytest.mark.engine

CLUSTERED = Space("clustered", 32)
LARGE, SMALL = 2000, 300
OVER = 500
Record = Turn | Fact


def asked(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        answer = connection.execute(statement.encode())
        return answer.fetchall() if answer.description else []


# Partitions of the audit


def test_partitions_are_made_ahead_and_rows_moved_into_them(database: str) -> None:
    emptied(database)
    clock = ManualClock(datetime(2025, 6, 1, 12, tzinfo=UTC))
    store = opened(database, clock=clock)
    days = [datetime(2025, 6, 20, 3, n, tzinfo=UTC) for n in range(3)]
    entries = [replace(sample(AuditEntry, f"a-{n}"), at=at) for n, at in enumerate(days)]
    alice = store.user("alice")
    alice.apply([Put(entry) for entry in entries])
    assert asked(database, "SELECT count(*) FROM audit_other") == [(3,)]
    for _ in range(2):  # any number of times
        store.maintain()
    assert asked(database, "SELECT to_regclass('audit_20250608') IS NOT NULL") == [(True,)]
    assert asked(database, "SELECT to_regclass('audit_20250609') IS NULL") == [(True,)]
    clock.advance(days=15)
    store.maintain()
    assert asked(database, "SELECT count(*) FROM audit_other") == [(0,)]
    assert asked(database, "SELECT count(*) FROM audit_20250620") == [(3,)]
    assert list(alice.find(AuditEntry)) == entries
    assert store.check() == []
    store.close()


# Search, with an index and without


def clustered(count: int, seed: int) -> NDArray[np.float32]:
    """Vectors as texts have them: in groups."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(40, CLUSTERED.dimensions))
    rows = centres[random.integers(40, size=count)] + 0.6 * random.normal(size=(count, CLUSTERED.dimensions))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float16).astype(np.float32)


def filled(user: UserStore, count: int) -> tuple[list[Record], NDArray[np.float32]]:
    """Turns and facts of many kinds, with their vectors."""
    rows = clustered(count, seed=count)
    records: list[Record] = []
    for n in range(count):
        common = {
            "channel": f"channel-{n % 5}",
            "agent": ("scout", "guide", None)[n % 3],
            "recorded_at": START - timedelta(hours=n),
        }
        if n % 2:
            ended = START - timedelta(days=1) if n % 7 == 1 else None
            record = fact(
                f"f-{n}",
                "tea",
                valid_from=START - timedelta(hours=n),
                valid_to=ended,
                confidence=n % 10 / 10,
                **common,
            )
            user.apply([put(record, rows[n])], CLUSTERED)
            records.append(record)
        else:
            role = (Role.USER, Role.ASSISTANT)[n % 4 // 2]
            said = draft(
                "milk",
                id=f"t-{n}",
                conversation=f"c-{n % 11}",
                role=role,
                vector=rows[n],
                at=START - timedelta(hours=n),
                **common,
            )
            records += user.apply([append(said)], CLUSTERED).turns
    return records, rows


def at(record: Record) -> datetime:
    return record.valid_from if isinstance(record, MemoryRecord) else record.at


def holds(record: Record, when: datetime = START) -> bool:
    if isinstance(record, Turn):
        return record.at <= when
    return record.valid_from <= when and (record.valid_to is None or record.valid_to > when)


LATELY, LONG_AGO = START - timedelta(hours=150), START - timedelta(hours=200)
FILTERS: dict[str, tuple[dict[str, Any], Callable[[Record], bool]]] = {
    "none": ({}, holds),
    "kinds": ({"kinds": ("fact",)}, lambda r: holds(r) and r.kind == "fact"),
    "channel": ({"channels": ("channel-3",)}, lambda r: holds(r) and r.channel == "channel-3"),
    "agent": ({"agent": "scout"}, lambda r: holds(r) and r.agent == "scout"),
    "conversation": (
        {"conversation": "c-4"},
        lambda r: isinstance(r, Turn) and r.conversation == "c-4",
    ),
    "exclude_conversation": (
        {"exclude_conversation": "c-4"},
        lambda r: holds(r) and getattr(r, "conversation", None) != "c-4",
    ),
    "roles": ({"roles": ("assistant",)}, lambda r: isinstance(r, Turn) and r.role == Role.ASSISTANT),
    "since": ({"since": LATELY}, lambda r: holds(r) and at(r) >= LATELY),
    "until": ({"until": LATELY}, lambda r: holds(r) and at(r) < LATELY),
    "as_of": ({"as_of": LONG_AGO}, lambda r: holds(r, LONG_AGO)),
    "min_confidence": (
        {"min_confidence": 0.75},
        lambda r: holds(r) and getattr(r, "confidence", 1.0) >= 0.75,
    ),
}


@pytest.fixture(scope="module")
def searched(database: str) -> Iterator[tuple[Store, dict[str, Any]]]:
    emptied(database)
    store = opened(database, index_over=OVER)
    store.add_space(CLUSTERED)
    people = {"large": filled(store.user("large"), LARGE), "small": filled(store.user("small"), SMALL)}
    assert store.maintain() == 1
    assert store.maintain() == 0
    yield store, people
    store.close()


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize(("who", "least"), [("large", 0.98), ("small", 1.0)])
def test_the_nearest_are_found(
    searched: tuple[Store, dict[str, Any]], who: str, least: float, name: str
) -> None:
    store, people = searched
    given, passes = FILTERS[name]
    records, rows = people[who]
    allowed = np.array([passes(record) for record in records])
    assert allowed.sum() > 10, "enough to rank"
    hits, wanted = 0, 0
    for query in clustered(15, seed=5):
        dots = np.where(allowed, rows @ query, -9)
        best = {records[place].id for place in np.argsort(-dots)[:10]}
        found = store.user(who).search(question(vector=query, limit=10, **given))
        assert len(found) == 10
        hits, wanted = hits + len(best & {candidate.owner for candidate in found}), wanted + 10
    assert hits / wanted >= least


def test_the_index_is_used(searched: tuple[Store, dict[str, Any]], database: str) -> None:
    store, _ = searched
    ((index, made),) = asked(
        database, "SELECT indexname, indexdef FROM pg_indexes WHERE indexname LIKE 'large%'"
    )
    assert "'large'" not in made, "it does not tell whose it is"
    statement = search._NEAREST.format(
        vector=f"vector::halfvec({CLUSTERED.dimensions})",
        owner=f" AND hashtextextended(user_id, 0) = {OWNER}",
        where="true",
    )
    ((space,),) = asked(database, "SELECT id FROM spaces")
    values = {"user": "large", "space": space, "tried": 40, "limit": 10}
    vector = encode_vector(clustered(1, seed=5)[0])
    with store._backend.read("large") as connection:  # type: ignore[attr-defined]
        connection.exec_driver_sql(search._BY_INDEX)
        plan = connection.exec_driver_sql(f"EXPLAIN {statement}", {**values, "vector": vector}).scalars()
        assert index in "\n".join(plan)


def test_an_index_that_was_cut_off_is_made_again(
    searched: tuple[Store, dict[str, Any]], database: str
) -> None:
    store, people = searched
    asked(
        database,
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = "
        "(SELECT oid FROM pg_class WHERE relname LIKE 'large%')",
    )
    (problem,) = store.check()
    assert "not valid" in problem
    query = clustered(1, seed=5)[0]
    best = people["large"][0][int(np.argmax(people["large"][1] @ query))]
    assert store.user("large").search(question(vector=query, limit=1, as_of=at(best)))[0].owner == best.id
    assert store.maintain() == 2
    assert store.check() == []
    assert store.maintain() == 0


def test_the_index_goes_with_its_user(searched: tuple[Store, dict[str, Any]], database: str) -> None:
    store, _ = searched
    store.user("large").erase()
    assert store.maintain() == 1
    assert asked(database, "SELECT 1 FROM pg_class WHERE relname LIKE 'large%'") == []
    assert store.check() == []


# Soundness

FAULTS = {
    "1 chunks are not in the text index": ("DELETE FROM texts WHERE user_id = 'alice' AND doc = 2", None),
    "memories has no wall": (
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE memories ENABLE ROW LEVEL SECURITY",
    ),
    "goals has no wall": (
        "ALTER TABLE goals NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE goals FORCE ROW LEVEL SECURITY",
    ),
    "links has no wall": ("DROP POLICY own ON links", None),
    "recollect_app is above": ("ALTER ROLE recollect_app SUPERUSER", "ALTER ROLE recollect_app NOSUPERUSER"),
    "recollect_worker is above": (
        "ALTER ROLE recollect_worker BYPASSRLS",
        "ALTER ROLE recollect_worker NOBYPASSRLS",
    ),
    "goals has 63 partitions": ("DROP TABLE goals_07", None),
}


# Retention of the audit

TODAY = datetime(2025, 6, 20, 12, tzinfo=UTC)


@pytest.fixture
def audited(database: str) -> Iterator[tuple[Store, ManualClock]]:
    """A store with an entry on each of the last ten days, each in its partition, and one of long ago."""
    emptied(database)
    clock = ManualClock(TODAY - timedelta(days=9))
    store = opened(database, clock=clock)
    alice = store.user("alice")
    for n in range(10):
        store.maintain()
        alice.apply([Put(replace(sample(AuditEntry, f"a-{n}"), at=clock.now()))])
        clock.advance(days=1)
    alice.apply([Put(replace(sample(AuditEntry, "stray"), at=TODAY - timedelta(days=900)))])
    yield store, clock
    store.close()


def days(url: str) -> list[str]:
    """The days of June that there are partitions for."""
    found = asked(
        url, "SELECT relname FROM pg_class WHERE relname ~ '^audit_202506[0-9]{2}$' AND relkind = 'r'"
    )
    return sorted(name.removeprefix("audit_202506") for (name,) in found)


def kept(store: Store) -> list[str]:
    return [entry.id for entry in store.user("alice").find(AuditEntry)]


def test_old_days_are_dropped_as_a_whole(audited: tuple[Store, ManualClock], database: str) -> None:
    store, _ = audited
    assert asked(database, "SELECT count(*) FROM audit_other") == [(1,)]
    assert store.drop_audit(datetime(2025, 6, 18, tzinfo=UTC)) >= 7
    assert days(database)[0] == "18"
    assert kept(store) == ["a-7", "a-8", "a-9"]
    assert asked(database, "SELECT count(*) FROM audit_other") == [(0,)], "those without a day too"
    assert store.drop_audit(datetime(2025, 6, 18, tzinfo=UTC)) == 0
    assert store.check() == []


def test_a_long_reader_holds_up_nobody(audited: tuple[Store, ManualClock], database: str) -> None:
    """Neither dropping nor making days hangs, and it is made up for later."""
    store, clock = audited
    with psycopg.connect(database) as reader:
        reader.execute("SELECT count(*) FROM audit").fetchall()
        assert store.drop_audit(datetime(2025, 6, 18, tzinfo=UTC)) == 0
        clock.advance(days=3)
        store.maintain()
        store.user("alice").apply([Put(replace(sample(AuditEntry, "meanwhile"), at=clock.now()))])
    assert store.drop_audit(datetime(2025, 6, 18, tzinfo=UTC)) >= 7
    store.maintain()
    ahead = f"audit_{clock.now() + timedelta(days=7):%Y%m%d}"
    assert asked(database, f"SELECT to_regclass('{ahead}') IS NOT NULL") == [(True,)]
    assert kept(store) == ["a-7", "a-8", "a-9", "meanwhile"]


def test_many_workers_at_once(audited: tuple[Store, ManualClock], database: str) -> None:
    store, clock = audited
    clock.advance(days=30)

    def tend(_: int) -> int:
        store.maintain()
        return store.drop_audit(datetime(2025, 6, 18, tzinfo=UTC))

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(tend, range(12)))
    store.drop_audit(datetime(2025, 6, 18, tzinfo=UTC))
    assert days(database)[0] == "18"
    assert kept(store) == ["a-7", "a-8", "a-9"]
    assert store.check() == []


# Last: not everything that is damaged here is repaired


@pytest.mark.parametrize("problem", FAULTS)
def test_what_is_wrong_is_told(database: str, problem: str) -> None:
    damage, repair = FAULTS[problem]
    store = opened(database)
    with suppress(Conflict):  # it is there already
        store.user("alice").apply([said(3)])
    known = store.check()
    try:
        asked(database, damage)
        assert [told for told in store.check() if told not in known and problem in told]
    finally:
        if repair:
            asked(database, repair)
        store.close()
