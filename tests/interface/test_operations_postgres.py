"""Servers on one PostgreSQL: several processes, a database that goes away and comes back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract import postgres
from tests.interface.load import lost, writing
from tests.interface.serving import get, started
from tests.interface.test_operations_process import stored

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def own_server() -> Iterator[postgres.Server]:
    with postgres.own_server() as server:
        yield server


@pytest.fixture
def database(own_server: postgres.Server) -> Iterator[str]:
    with postgres.new_database(own_server.address, "recollect_serving") as url:
        yield url


def test_two_servers_with_two_processes_each_are_one_memory(database: str, tmp_path: Path) -> None:
    with (
        started(tmp_path / "a", "--processes", "2", db=database) as one,
        started(tmp_path / "b", "--processes", "2", db=database) as other,
        writing(one.url) as left,
        writing(other.url) as right,
    ):
        left.more(20)
        right.more(20)
        one.signal()
        assert one.wait() == 0
        left.join()
        right.more(10)
        other.signal()
        assert other.wait() == 0
    found = stored(database)
    assert set(left.answers) == set(right.answers) == {201}
    assert not set(left.accepted) - set(found)
    assert not set(right.accepted) - set(found)


def test_a_database_that_goes_and_comes_back(
    own_server: postgres.Server, database: str, tmp_path: Path
) -> None:
    with started(tmp_path / "log", db=database, db_timeout=5, tend_seconds=0.5) as process:
        with writing(process.url, patient=True) as load:
            load.more(20)
            own_server.stop()
            load.until(lambda load: load.answers[503] >= 4)
            unready = get(f"{process.url}/readyz")
            assert unready.status_code == 503
            assert unready.json()["problems"]
            assert get(f"{process.url}/healthz").status_code == 200
            metrics = get(f"{process.url}/metrics")
            assert "recollect_store_up 0" in metrics.text
            own_server.start()
            load.more(20)
            while get(f"{process.url}/readyz").status_code != 200:  # it gives the database two seconds
                assert process.running
            own_server.restart("fast")
            load.more(20)
        assert set(load.answers) <= {201, 503}
        process.signal()
        assert process.wait() == 0
    assert lost(load, stored(database)) == []
