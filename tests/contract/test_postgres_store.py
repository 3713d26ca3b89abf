"""The store's contract, on PostgreSQL."""

from functools import partial

import pytest

from recollect.testing.store_contract import StoreContract
from recollect.testing.store_suite import Opener
from tests.contract.postgres import emptied, opened

pytestmark = pytest.mark.engine


@pytest.fixture
def open_store(database: str) -> Opener:
    emptied(database)
    return partial(opened, database)


class TestPostgresStore(StoreContract):
    pass
