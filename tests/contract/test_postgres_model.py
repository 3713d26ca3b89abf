"""PostgreSQL against the model that SQLite is compared with, over arbitrary histories."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from recollect.ports.store import Store
from tests.contract.postgres import emptied, opened
from tests.unit.test_store_model import StoreMachine

pytestmark = pytest.mark.engine


def test_the_same_histories(database: str) -> None:
    class PostgresMachine(StoreMachine):
        def opened(self) -> list[Store]:
            emptied(database)
            return [opened(database, pool=2) for _ in range(2)]

    run_state_machine_as_test(
        PostgresMachine,
        settings=settings(
            max_examples=(settings.default or settings()).max_examples // 10,
            stateful_step_count=20,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
