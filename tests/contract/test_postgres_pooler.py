"""Behind a pooler in transaction mode: what is set holds for its transaction, and nothing leaks."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from recollect.errors import StoreUnavailable
from recollect.model.records import Fact
from recollect.ports.store import Store
from recollect.testing.store_samples import SPACE, axis, fact, put, question
from tests.contract.pooler import Pooler
from tests.contract.postgres import emptied, opened
from tests.contract.standby import until

pytestmark = pytest.mark.engine

CONNECTIONS = 2


@pytest.fixture(scope="module", params=["ours", *filter(shutil.which, ["pgbouncer"])])
def pooler(database: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of one: a small one of our own, and pgbouncer where it is installed."""
    if request.param == "ours":
        pooler = Pooler(database, CONNECTIONS)
        yield pooler.address
        pooler.close()
        return
    url = make_url(database)
    with tempfile.TemporaryDirectory(prefix="recollect-bouncer-") as folder:
        Path(folder).chmod(0o777)
        settings = Path(folder) / "settings.ini"
        given = {
            "unix_socket_dir": folder,
            "listen_port": 5432,
            "auth_type": "any",
            "pool_mode": "transaction",
            "default_pool_size": CONNECTIONS,
        }
        lines = ["[databases]", f"* = host={url.query['host']} user=postgres", "[pgbouncer]"]
        settings.write_text("\n".join([*lines, *(f"{name} = {value}" for name, value in given.items()), ""]))
        user = Path(str(url.query["host"])).owner()  # root may not run it, and nobody else reaches the server
        running = subprocess.Popen(["pgbouncer", "-q", str(settings)], user=user)
        address = url.update_query_dict({"host": folder}).render_as_string(hide_password=False)
        until((Path(folder) / ".s.PGSQL.5432").exists)
        yield address
        running.terminate()
        running.wait()


@pytest.fixture
def pooled(database: str, pooler: str) -> Iterator[Store]:
    emptied(database)
    store = opened(database, pooler=pooler, pool=8)
    store.add_space(SPACE)
    yield store
    store.close()


def test_many_share_few_connections(pooled: Store, database: str) -> None:
    def work(n: int) -> None:
        user = pooled.user(f"user-{n}")
        for m in range(20):
            user.apply([put(fact(f"f-{m}", f"tea {n}"), axis(m % 8))], SPACE)
            found = user.search(question("tea", axis(0)))
            assert {candidate.owner for candidate in found} <= {f"f-{m}" for m in range(20)}
            assert user.count(Fact) == m + 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert pooled.check() == []


def set_there(store: Store, user: str | None = None) -> dict[str, Any]:
    names = ("statement_timeout", "jit", "TimeZone", "role", "recollect.user")
    with store._backend.read(user) as connection:  # type: ignore[attr-defined]
        asked = ", ".join(f"current_setting('{name}', true)" for name in names)
        return dict(zip(names, connection.exec_driver_sql(f"SELECT {asked}").one(), strict=True))


def test_what_is_set_holds_for_its_transaction_only(pooled: Store, pooler: str) -> None:
    found = set_there(pooled, "alice")
    assert (found["role"], found["recollect.user"]) == ("recollect_app", "alice")
    assert (found["statement_timeout"], found["jit"], found["TimeZone"]) == ("30s", "off", "UTC")
    for _ in range(2 * CONNECTIONS):
        with psycopg.connect(pooler, autocommit=True, prepare_threshold=None) as other:
            left = other.execute(
                "SELECT current_setting('role'), current_setting('recollect.user', true), "
                "current_setting('statement_timeout')"
            ).fetchone()
            assert left is not None
            assert (left[0], left[1] or None, left[2]) == ("none", None, "0")


def test_upkeep_has_connections_of_its_own(pooled: Store, pooler: str) -> None:
    pooled.user("alice").apply([put(fact("f", "tea"), axis(0))], SPACE)
    pooled.user("alice").erase()
    pooled.maintain()
    assert pooled.scrub()
    for _ in range(2 * CONNECTIONS):
        with psycopg.connect(pooler, autocommit=True, prepare_threshold=None) as other:
            assert other.execute("SELECT current_setting('lock_timeout')").fetchone() == ("0",)


def test_a_pooler_given_as_the_database_is_refused(pooler: str) -> None:
    with pytest.raises(StoreUnavailable, match="RECOLLECT_DB_POOLER"):
        opened(pooler)
