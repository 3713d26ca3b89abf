"""The wall between users, in PostgreSQL itself: it stands when our own filters fail."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection

from recollect.errors import StoreError, StoreUnavailable
from recollect.model.changes import Once, Put, Remove, Revise, Thread
from recollect.model.records import RECORD_TYPES, Fact, Turn
from recollect.ports.store import Spent, Store
from recollect.ports.tending import Mark, Visit
from recollect.stores.postgres import objects
from recollect.testing.store_keys import key
from recollect.testing.store_samples import SPACE, START, append, axis, draft, fact, put, question, sample
from recollect.testing.store_suite import found
from tests.contract.postgres import opened

pytestmark = pytest.mark.engine

UNFILTERED = Path(__file__).with_name("postgres_unfiltered.py")
SRC = Path(__file__).parents[2] / "src"

OURS = "c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"
WITH_USERS = f"""
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id'
WHERE {OURS} AND NOT c.relispartition
"""

WITH_USER = [table for table in objects.OWNED if table != objects.KEYS]  # which knows them as owners


@pytest.fixture(scope="module")
def store(database: str) -> Iterator[Store]:
    """Alice and Bob, who have the same of everything."""
    store = opened(database)
    store.add_space(SPACE)
    for name, own in (("alice", "mine"), ("bob", "bobs")):
        user = store.user(name)
        turn = draft(f"budget of {name}", id=f"t-{name}", conversation=f"of {name}", vector=axis(0))
        record = fact(own, f"budget {name}", sources=(f"t-{name}",))
        user.apply([append(turn), put(record, axis(1)), put(fact(f"{own}-waiting", f"waits {name}"))], SPACE)
        user.apply([Put(sample(kind, f"sample-{kind.kind}")) for kind in RECORD_TYPES])
        user.touch({own: ("fact", 1, START)})
        user.spend([Spent(START.date(), "memory_embed", "model", 1)])
        once = Once("a key", "a token", "a digest", START, START - timedelta(days=1))
        user.apply([once, Thread("a digest", turn.conversation)])
        user.apply([Put(fact("gone")), Remove("fact", ("gone",))])
        assert user.claim("a worker", START, START + timedelta(days=1))
        user.settle("a worker", {"mine": Mark(1, START)}, Visit(1, START, START))
        moment = user.moment()
        assert moment is not None
        assert user.project("copy", "epoch", moment.number, 0, 1, START, timedelta(0))
    yield store
    store.close()


def asked(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement.encode()).fetchall()


def contents(url: str, user: str) -> dict[str, list[Any]]:
    """Every row of a user, in every table there is."""
    statement = "SELECT t::text FROM {} t WHERE user_id = '{}' ORDER BY 1"
    return {name: asked(url, statement.format(name, user)) for (name,) in asked(url, WITH_USERS)}


def within(store: Store, user: str, statement: str, *values: Any) -> Any:
    """What a statement gives in a transaction of the user's, which is undone."""
    answers: list[Any] = []

    class Undone(Exception):
        pass

    def work(connection: Connection) -> None:
        done = connection.exec_driver_sql(statement, values)
        answers.append(done.fetchall() if done.returns_rows else done.rowcount)
        raise Undone

    with pytest.raises(Undone):
        store._backend.write(work, user)  # type: ignore[attr-defined]
    return answers[0]


def test_every_table_with_users_has_its_wall(store: Store, database: str) -> None:
    tables = {name for (name,) in asked(database, WITH_USERS)}
    assert tables == set(WITH_USER)
    walls = asked(
        database,
        f"""
        SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,
            (SELECT array_agg(concat_ws(' ', polname, polpermissive, polcmd, polroles::regrole[],
                pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) ORDER BY polname)
            FROM pg_policy WHERE polrelid = c.oid)
        FROM pg_class c WHERE c.oid IN (SELECT c.oid FROM pg_class c JOIN pg_attribute a
            ON a.attrelid = c.oid AND a.attname = 'user_id' WHERE {OURS} AND NOT c.relispartition)
        """,
    )
    own = "(user_id = current_setting('recollect.user'::text, true))"
    policies = [
        f"every t * {{{objects.WORKER}}} true true",
        f"own t * {{{objects.APP}}} {own} {own}",
    ]
    assert [wall for wall in walls if wall[1:] != (True, True, policies)] == []


def test_a_user_can_take_their_own_keys_away_and_do_nothing_else_with_keys(store: Store) -> None:
    for owner in ("alice", "bob"):
        store.add_key(key(f"of {owner}", owner))
    assert within(store, "alice", "SELECT owner FROM api_keys") == [("alice",)]
    for forbidden in (
        "SELECT digest FROM api_keys",
        "UPDATE api_keys SET owner = 'alice'",
        "INSERT INTO api_keys SELECT * FROM api_keys",
    ):
        with pytest.raises(StoreError, match=r"permission|right"):
            store._backend.write(lambda c, s=forbidden: c.exec_driver_sql(s).rowcount, "alice")  # type: ignore[attr-defined]
    assert within(store, "alice", "DELETE FROM api_keys WHERE owner IN ('alice', 'bob')") == 1


def test_the_roles_have_no_rights_beyond(store: Store, database: str) -> None:
    store.maintain()
    rights = "has_table_privilege('{role}', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')"
    parts = f"SELECT c.relname FROM pg_class c WHERE {OURS} AND c.relispartition AND {rights}"
    assert asked(database, parts.format(role=objects.APP)) == []
    assert asked(database, parts.format(role=objects.WORKER)) == []
    shared = f"SELECT c.relname FROM pg_class c WHERE {OURS} AND NOT c.relispartition AND {rights}"
    reached = {name for (name,) in asked(database, shared.format(role=objects.APP))}
    assert reached == {
        *objects.OWNED,
        "spaces",
        "meta",
        "erasures",
        "receipts",
        "unprojected",
        "alembic_version",
    }
    above = "rolsuper OR rolbypassrls OR rolcreaterole OR rolcanlogin"
    assert asked(database, f"SELECT 1 FROM pg_roles WHERE rolname LIKE 'recollect%' AND ({above})") == []
    definers = "SELECT proname, proowner::regrole::text FROM pg_proc WHERE prosecdef"
    assert asked(database, definers) == [("recollect_matches", objects.WORKER)]
    create = f"SELECT has_schema_privilege('{objects.WORKER}', 'public', 'CREATE')"
    assert asked(database, create) == [(False,)]


@pytest.mark.parametrize("table", WITH_USER)
def test_statements_without_a_filter(store: Store, database: str, table: str) -> None:
    ((mine,),) = asked(database, f"SELECT count(*) FROM {table} WHERE user_id = 'alice'")
    assert mine, "every table is tried"
    assert within(store, "alice", f"SELECT DISTINCT user_id FROM {table}") == [("alice",)]
    assert within(store, "alice", f"UPDATE {table} SET user_id = user_id") == mine
    assert within(store, "alice", f"DELETE FROM {table}") == mine
    assert within(store, "nobody", f"SELECT * FROM {table}") == []
    with pytest.raises(StoreUnavailable, match="row-level security"):
        within(store, "alice", f"UPDATE {table} SET user_id = 'bob'")
    as_bobs = f"""SELECT (jsonb_populate_record(t, '{{"user_id": "bob"}}')).* FROM {table} t"""
    with pytest.raises(StoreUnavailable, match="row-level security"):
        within(store, "alice", f"INSERT INTO {table} {as_bobs}")


@pytest.mark.parametrize("table", [*objects.PARTITIONED, "audit_other"])
def test_no_way_around_by_a_partition(store: Store, table: str) -> None:
    part = table if table == "audit_other" else objects.partition(table, 7)
    for statement in (f"SELECT * FROM {part}", f"DELETE FROM {part}", f"TRUNCATE {table}"):
        with pytest.raises(StoreUnavailable, match="permission denied"):
            within(store, "alice", statement)
    for other in ("pg_statistic", "pg_authid", "leases"):
        with pytest.raises(StoreUnavailable, match="permission denied"):
            within(store, "alice", f"SELECT * FROM {other}")


def test_no_statistics_of_content(store: Store, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("ANALYZE")
    kept = """
        SELECT DISTINCT s.attname FROM pg_stats s
        JOIN pg_attribute a ON a.attrelid = s.tablename::regclass AND a.attname = s.attname
        WHERE s.schemaname = 'public' AND s.tablename NOT IN ('alembic_version', 'erasures', 'meta', 'spaces')
        AND a.atttypid::regtype::text {} ('text', 'tsvector', 'halfvec')
    """
    assert {name for (name,) in asked(database, kept.format("IN"))} <= {"kind", "role"}
    assert ("seq",) in asked(database, kept.format("NOT IN"))
    values = asked(database, "SELECT pg_stats::text FROM pg_stats WHERE schemaname = 'public'")
    assert not [value for (value,) in values if "alice" in value or "budget" in value]
    assert within(store, "alice", kept.format("NOT IN")) == []


def test_words_of_another(store: Store, database: str) -> None:
    numbers = dict(asked(database, "SELECT user_id, number FROM users"))
    ask = "SELECT docs FROM recollect_matches(%s)"
    theirs, mine = (f"'{numbers[name]}_budget'" for name in ("bob", "alice"))
    assert within(store, "alice", ask, [mine]) != [(None,)]
    assert within(store, "alice", ask, [theirs]) == [(None,)]
    assert within(store, "alice", ask, [f"{mine} | {theirs}"]) == within(store, "alice", ask, [mine])
    assert within(store, "alice", ask, [f"!{mine}"]) == within(store, "alice", ask, [f"!{mine} & !{theirs}"])
    for hostile in ("x' OR user_id = 'bob", "x'::tsquery OR true --", "'a') UNION SELECT 1, 2, 3 --"):
        with pytest.raises(StoreError, match="42601"):
            within(store, "alice", ask, [hostile])


HOSTILE = [
    "O'Reilly",
    'the "other"',
    "back\\slash",
    "\\",
    "\\'; --",
    "'; DROP TABLE users; --",
    "' OR '1'='1",
    "'||current_user||'",
    "$$ $1 $body$",
    "%s %(user)s %% {} :x ?",
    "bob'; SET recollect.\"user\" = 'bob",
    "Ω≈ç√ 名前 👩‍👩‍👧 \u202e",
    "x" * 200,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(store: Store, database: str, name: str) -> None:
    before = contents(database, "bob")
    user = store.user(name)
    user.apply([append(draft(f"{name} tea", id="t", conversation=name, vector=axis(0)))], SPACE)
    user.apply([put(fact("f", f"{name} milk", channel=name[:50].strip(), sources=("t",)))], SPACE)
    assert [turn.conversation for turn in user.find(Turn, {"conversation": name})] == [name]
    assert found(user, question("tea", axis(0))) == {"t"}
    assert found(user, question("tea milk", conversation=name)) == {"t"}
    assert found(user, question("milk", channels=(name[:50].strip(),))) == {"f"}
    user.embed(SPACE, dict.fromkeys(user.unembedded(SPACE, 9), axis(2)))
    user.touch({"f": ("fact", 1, START)})
    assert user.usage(["f"])["f"].count == 1
    assert {entry.id for entry in user.feed()} == {"t", "f", name}
    user.apply([Revise("fact", "f", {"agent": name})])
    assert user.get(Fact, ["f"])[0].agent == name
    assert user.get(Fact, [name]) == []
    assert name in set(store.users())
    assert user.deleted(Turn, [name]) == set()
    assert user.erase()["turn"] == 1
    assert name not in set(store.users())
    assert contents(database, "bob") == before


def test_a_hostile_name_in_an_index(store: Store, database: str) -> None:
    large = opened(database, index_over=1)
    for name in HOSTILE:
        user = large.user(name)
        user.apply([append(*(draft("tea", id=f"t-{n}", vector=axis(n)) for n in range(3)))], SPACE)
    assert large.maintain() == len(HOSTILE) + 2
    for name in HOSTILE:
        assert found(large.user(name), question(vector=axis(1), limit=1)) == {"t-1"}
        large.user(name).erase()
    assert large.maintain() == len(HOSTILE)
    large.close()
    assert store.maintain() == 2


def test_a_forgotten_filter_shows_and_changes_nothing_of_anothers(store: Store, database: str) -> None:
    before = contents(database, "bob")
    assert all(before.values()), "every table is tried"
    done = subprocess.run(
        [sys.executable, str(UNFILTERED), database],
        env={"PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen, afterwards = (json.loads(line) for line in done.stdout.splitlines())
    assert seen["words"] == ["mine", "t-alice"]
    assert seen["vectors"] == ["mine", "t-alice"]
    assert seen["counted"] == len(seen["records"]) == len(RECORD_TYPES) + 4
    assert not [what for what in seen["records"] if "bob" in what]
    assert seen["got"] == sorted(f"sample-{kind.kind}" for kind in RECORD_TYPES)
    assert not [id for id in seen["feed"] if "bob" in id]
    assert (seen["usage"], seen["chunks"], seen["derived"]) == (["mine"], ["mine"], ["mine"])
    assert seen["waiting"] == ["waits alice"]
    assert not any(afterwards.values()), "she could erase herself"
    assert contents(database, "bob") == before
