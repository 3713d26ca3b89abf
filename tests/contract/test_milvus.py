"""The contract of a projection, on Milvus; and what it proposes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymilvus", reason="the client is an extra")

from recollect.bench.scale.milvus import milvus_agreement
from recollect.model.search import Near
from recollect.ports.projection import Projection
from recollect.ports.store import Store
from recollect.stores.milvus.index import MilvusIndex
from recollect.stores.sqlite.backend import open_store
from recollect.testing.projection_suite import Opened, ProjectionContract, opening
from recollect.testing.store_samples import SPACE, START, axis, fact, put, question, vectors
from recollect.testing.store_search_filters import FILTERS, SearchFilterContract
from tests.contract import milvus

pytestmark = pytest.mark.engine

TIMEOUT = 30.0
SECRET = b"no words are asked for"
SERVER = pytest.param("server", marks=[pytest.mark.slow, pytest.mark.timeout(1200)])
"""Of which there is one at a time: other modules may have theirs first."""


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


@pytest.fixture(scope="module", params=["lite", SERVER])
def where(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def looking(where: str) -> Iterator[Any]:
    client = milvus.client(where)
    yield client
    client.close()


@pytest.fixture
def store(in_file: Store) -> Store:
    return in_file


@pytest.fixture
def opened(store: Store, where: str) -> Iterator[Opened]:
    with opening(lambda: MilvusIndex(store, where, token="", timeout=TIMEOUT)) as again:
        yield again


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


def test_it_proposes_just_what_passes_the_filter(store: Store, opened: Opened, looking: Any) -> None:
    alice, index = store.user("alice"), opened()
    assert isinstance(index, MilvusIndex)
    SearchFilterContract()._fill(alice)
    epoch, number = written(store, index, "alice")
    seen(looking, epoch)
    query = vectors(1, seed=99)[0]
    for name, given in FILTERS.items():
        asked = replace(question(vector=query, **{"now": START, **given}), space=SPACE)
        docs = index.propose(epoch, number, SECRET, asked, 1000).docs
        passing = alice.search(asked)
        assert len(docs) == len(passing), name
        near = replace(asked, near=Near(docs, 1 << 60))
        assert {c.owner for c in alice.search(near)} == {c.owner for c in passing}, name
        few = index.propose(epoch, number, SECRET, asked, 5).docs
        assert few == docs[:5], name


def test_users_of_one_database_and_of_others_do_not_meet(
    store: Store, opened: Opened, looking: Any, where: str, tmp_path: Path
) -> None:
    index, other = opened(), open_store(tmp_path / "other.db", cache_bytes=1 << 20)
    other.add_space(SPACE)
    beside = MilvusIndex(other, where, token="", timeout=TIMEOUT)
    assert isinstance(index, MilvusIndex)
    for place, (one, user) in enumerate(((store, "alice"), (store, "bob"), (other, "alice"))):
        one.user(user).apply([put(fact(f"f-{i}", "x"), axis(place)) for i in range(3 + place)], SPACE)
    asked = replace(question(vector=axis(0)), space=SPACE)
    counts: list[int] = []
    for one, user, engine in ((store, "alice", index), (store, "bob", index), (other, "alice", beside)):
        epoch, number = written(one, engine, user)
        seen(looking, epoch)
        counts.append(len(engine.propose(epoch, number, SECRET, asked, 100).docs))
    assert counts == [3, 4, 5]
    beside.drop()
    beside.close()
    other.close()
    epoch, number = written(store, index, "alice")
    assert len(index.propose(epoch, number, SECRET, asked, 100).docs) == 3


def test_the_same_is_found_as_in_the_database(where: str, tmp_path: Path) -> None:
    """Of many users, whose vectors come in clusters."""
    figures = milvus_agreement(str(tmp_path / "memory.db"), where, users=6, documents=200, questions=60)
    assert figures["agreement"] >= 0.97


def written(store: Store, index: MilvusIndex, user: str) -> tuple[str, int]:
    """Everything of a user's; which epoch it was, and the user's number."""
    epoch, own = index.epoch(), store.user(user)
    reach = own.reach(index.name, epoch, START, index.settles)
    assert reach is not None
    index.write(epoch, reach.number, own.reading(lambda view: index.read(view, 0)))
    return epoch, reach.number


def seen(looking: Any, epoch: str) -> None:
    """Until what was written is seen by whoever reads: a strong read waits for that."""
    looking.query(epoch, filter="user_id >= 0", output_fields=["count(*)"], consistency_level="Strong")
