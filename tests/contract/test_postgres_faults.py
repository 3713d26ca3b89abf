"""PostgreSQL's own faults: connections that break, servers that restart or crash."""

import os
import signal
import subprocess
from contextlib import suppress
from time import sleep

import psycopg
import pytest

from recollect.ports.store import Store
from recollect.stores.postgres import session
from recollect.testing.store_samples import SPACE
from tests.contract.postgres import Server, emptied, opened
from tests.contract.postgres_load import under_load

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def server(own_server: Server) -> str:
    return own_server.address


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes long to start a server again; a store that gives up in time is not tested here."""
    monkeypatch.setattr(session, "PATIENCE", 60.0)


def terminate(url: str) -> None:
    """End every connection of ours."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'recollect'"
        )


def test_connections_that_are_ended_under_load(store: Store, database: str) -> None:
    under_load(store, lambda: terminate(database), times=8).verify()


def test_as_many_threads_as_connections(database: str) -> None:
    """Whoever has to ask how a commit ended needs a connection, and no other thread's."""
    emptied(database)
    store = opened(database, pool=2)
    store.add_space(SPACE)
    under_load(store, lambda: terminate(database), times=5).verify()
    store.close()


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_a_restart_under_load_only_delays(store: Store, own_server: Server, how: str) -> None:
    under_load(store, lambda: own_server.restart(how)).verify()


def test_a_killed_server_under_load(store: Store, own_server: Server) -> None:
    def killed() -> None:
        own_server.kill()
        for _ in range(100):
            with suppress(subprocess.CalledProcessError):  # its processes are still going
                own_server.start()
                break
            sleep(0.1)

    under_load(store, killed).verify()


def test_a_killed_backend_takes_all_connections_with_it(store: Store, own_server: Server) -> None:
    """The server notices that its memory may be damaged, and starts anew without a restart."""

    def crash() -> None:
        with psycopg.connect(own_server.address) as connection:
            os.kill(connection.info.backend_pid, signal.SIGKILL)

    under_load(store, crash).verify()
