"""What the tests of PostgreSQL share: a server, a database of each module's own, a store on it.

A module that stops its server, or looks into its files, takes one of its own: it overrides `server` with
the address of `own_server`.
"""

from collections.abc import Iterator

import pytest

# The suite lives in the package; its assertions are to show their values all the same.
pytest.register_assert_rewrite(
    *(
        f"recollect.testing.store_{part}"
        for part in (
            "bad_input",
            "concurrency",
            "copying",
            "feed",
            "isolation",
            "learning",
            "mining",
            "ranking",
            "reading",
            "recording",
            "search",
            "search_filters",
            "spaces",
            "spending",
            "upkeep",
        )
    )
)

from recollect.ports.store import Store  # noqa: E402
from recollect.testing.store_samples import SPACE  # noqa: E402
from tests.contract import postgres  # noqa: E402
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
