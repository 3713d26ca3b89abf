"""The store's contract, on PostgreSQL."""

from collections.abc import Iterator
from functools import partial

import pytest

from recollect.testing.store_contract import StoreContract
from recollect.testing.store_suite import Opener
from tests.contract.postgres import emptied, new_database, opened, started

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with started() as server, new_database(server, "recollect_contract") as url:
        opened(url).close()
        yield url


@pytest.fixture
def open_store(database: str) -> Opener:
    emptied(database)
    return partial(opened, database)


class TestPostgresStore(StoreContract):
    pass
