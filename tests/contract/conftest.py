"""What the tests of PostgreSQL share: a server, a database of each module's own, a store on it; and a memory
on each engine, for what has to come out the same on all of them.

A module that stops its server, or looks into its files, takes one of its own: it overrides `server` with
the address of `own_server`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# The suite lives in the package; its assertions are to show their values all the same.
pytest.register_assert_rewrite(
    "recollect.testing.projection_suite",
    "recollect.testing.graph_suite",
    "recollect.testing.working_suite",
    *(
        f"recollect.testing.store_{part}"
        for part in (
            "audit",
            "bad_input",
            "concurrency",
            "copying",
            "counting",
            "feed",
            "isolation",
            "keys",
            "learning",
            "mining",
            "near",
            "once",
            "ranking",
            "reading",
            "recording",
            "search",
            "search_filters",
            "spaces",
            "spending",
            "tending",
            "threads",
            "upkeep",
        )
    ),
)

from recollect import Memory, ScopedMemory  # noqa: E402
from recollect.ports.store import Store  # noqa: E402
from recollect.stores.sqlite.backend import open_store  # noqa: E402
from recollect.testing.store_samples import SPACE, ManualClock  # noqa: E402
from tests.contract import postgres, redis  # noqa: E402
from tests.contract.postgres_proxy import Proxy  # noqa: E402


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server."""
    with postgres.started() as address:
        yield address


@pytest.fixture(scope="module")
def own_server() -> Iterator[postgres.Server]:
    with postgres.own_server() as server:
        yield server


@pytest.fixture(scope="module")
def redis_server() -> Iterator[redis.Server]:
    with redis.own_server() as server:
        yield server


@pytest.fixture
def redis_client(redis_server: redis.Server) -> Iterator[Any]:
    """Looks into it from outside; it is emptied before."""
    with redis_server.client() as client:
        client.flushall()
        client.config_set("maxmemory", 0)
        client.config_set("maxmemory-policy", "noeviction")
        yield client


@pytest.fixture
def tireless(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is asked again at once: on a busy machine any failure may be a slow one, after which it
    would be left alone for longer than a test waits."""
    monkeypatch.setattr("recollect.resting.REST", 0.0)


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[str]:
    """The path of a Milvus Lite."""
    from milvus_lite import server_manager_instance

    path = str(tmp_path / "lite.db")
    yield path
    server_manager_instance.release_server(path)


@pytest.fixture
def in_file(tmp_path: Path) -> Iterator[Store]:
    """A store in a file, with nothing in it but a space."""
    store = open_store(tmp_path / "memory.db", cache_bytes=1 << 26)
    store.add_space(SPACE)
    yield store
    store.close()


@pytest.fixture(scope="module")
def database(server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database that is made, and that only this module uses."""
    with postgres.new_database(server, f"recollect_{request.path.stem}") as url:
        postgres.opened(url).close()
        yield url


@pytest.fixture
def empty(server: str) -> Iterator[str]:
    """The address of a database with nothing in it."""
    with postgres.new_database(server, "recollect_nothing_yet") as url:
        yield url


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    """A store with nothing in it but a space."""
    postgres.emptied(database)
    store = postgres.opened(database)
    store.add_space(SPACE)
    yield store
    store.close()


@pytest.fixture
def proxy(database: str) -> Iterator[Proxy]:
    """Before a database with nothing in it."""
    postgres.emptied(database)
    proxy = Proxy(database)
    yield proxy
    proxy.close()


SECRET = "5e" * 32
ENGINES = [
    ("sqlite", ""),
    ("sqlite", SECRET),
    pytest.param(("postgres", ""), marks=pytest.mark.engine),
    pytest.param(("postgres", SECRET), marks=pytest.mark.engine),
]
NAMES = ["sqlite", "sealed-sqlite", "postgres", "sealed-postgres"]


@pytest.fixture(scope="module", params=ENGINES, ids=NAMES)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The address of a database that the tests of an engine share, and its key."""
    engine, key = request.param
    if engine == "sqlite":
        yield {"db": str(tmp_path_factory.mktemp("shared") / "memory.db"), "key": key}
        return
    name = f"recollect_{request.path.stem}_{len(key)}"
    with postgres.new_database(request.getfixturevalue("server"), name) as url:
        yield {"db": url, "key": key}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(place: dict[str, str], clock: ManualClock) -> Iterator[Memory]:
    with Memory.open(embedder="hashing", clock=clock, **place) as memory:  # type: ignore[arg-type]
        yield memory


@pytest.fixture
def derek(memory: Memory, request: pytest.FixtureRequest) -> ScopedMemory:
    return memory.scope(request.node.originalname)
