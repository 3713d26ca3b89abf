"""The contract of a projection, on Milvus; and what it proposes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymilvus", reason="the client is an extra")

from recollect.ports.projection import Projection
from recollect.ports.store import Store
from recollect.stores.milvus.index import MilvusIndex
from recollect.stores.sqlite.backend import open_store
from recollect.testing.projection_suite import Opened, ProjectionContract
from recollect.testing.store_samples import SPACE
from tests.contract import milvus

pytestmark = pytest.mark.engine

TIMEOUT = 30.0


@pytest.fixture(scope="module")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server_manager = pytest.importorskip("milvus_lite").server_manager_instance
    path = str(tmp_path_factory.mktemp("milvus") / "lite.db")
    yield path
    server_manager.release_server(path)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with milvus.own_server() as server:
        yield server.url


@pytest.fixture(scope="module", params=["lite", pytest.param("server", marks=pytest.mark.slow)])
def where(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def looking(where: str) -> Iterator[Any]:
    client = milvus.client(where)
    yield client
    client.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path / "memory.db", cache_bytes=1 << 26)
    store.add_space(SPACE)
    yield store
    store.close()


@pytest.fixture
def opened(store: Store, where: str) -> Iterator[Opened]:
    """Opens it once more; what is in it goes after the test."""
    made: list[MilvusIndex] = []

    def again() -> MilvusIndex:
        made.append(MilvusIndex(store, where, token="", timeout=TIMEOUT))
        return made[-1]

    yield again
    for index in made[:1]:
        index.drop()
    for index in made:
        index.close()


class TestMilvus(ProjectionContract):
    @pytest.fixture
    def store(self, store: Store) -> Store:
        return store

    @pytest.fixture
    def opened(self, opened: Opened) -> Opened:
        return opened

    @pytest.fixture(autouse=True)
    def _looking(self, looking: Any) -> None:
        self.looking = looking

    def held(self, projection: Projection, epoch: str, number: int) -> Any:
        return milvus.rows(self.looking, epoch, number)
