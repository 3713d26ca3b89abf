"""What touches an entity is answered alike by the store of record and by a graph beside it (C3, I1, I2)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Memory
from recollect.testing.graph_suite import GraphContract
from recollect.testing.store_samples import ManualClock
from tests.contract import postgres


@pytest.fixture(scope="module")
def in_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("graph") / "memory.db"
    with Memory.open(path, embedder="none", clock=ManualClock()) as memory:
        yield memory


@pytest.fixture(scope="module")
def in_postgres(server: str) -> Iterator[Memory]:
    with (
        postgres.new_database(server, "recollect_graph") as url,
        Memory.open(url, embedder="none", clock=ManualClock()) as memory,
    ):
        yield memory


class TestSqlite(GraphContract):
    @pytest.fixture
    def walked(self, in_sqlite: Memory) -> Memory:
        return in_sqlite


@pytest.mark.engine
@pytest.mark.slow
class TestPostgres(GraphContract):
    @pytest.fixture
    def walked(self, in_postgres: Memory) -> Memory:
        return in_postgres
