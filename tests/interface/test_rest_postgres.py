"""REST on PostgreSQL: the tests that could find a difference."""

from collections.abc import Iterator

import pytest

from recollect import Memory
from tests.contract.postgres import new_database
from tests.interface import serving
from tests.interface.serving import Served
from tests.interface.test_rest_compat import (
    test_kagent_ranks_by_use,
    test_router_forgets_by_scope,
    test_router_lists_by_type,
)
from tests.interface.test_rest_hostile import (
    test_odd_questions,
    test_odd_values_are_taken_or_refused,
    test_what_has_halves_of_characters_is_answered_as_json,
)
from tests.interface.test_rest_once import fact, goal, test_every_write_is_done_once
from tests.interface.test_rest_records import (
    test_anothers_id_is_nobodys,
    test_lists_are_narrowed_by_fields,
    test_pages_go_on_where_the_last_one_ended,
    test_turns_are_recorded_word_for_word,
)
from tests.interface.test_rest_transfer import test_what_is_exported_is_imported

__all__ = [
    "fact",
    "goal",
    "test_anothers_id_is_nobodys",
    "test_every_write_is_done_once",
    "test_kagent_ranks_by_use",
    "test_lists_are_narrowed_by_fields",
    "test_odd_questions",
    "test_odd_values_are_taken_or_refused",
    "test_pages_go_on_where_the_last_one_ended",
    "test_router_forgets_by_scope",
    "test_router_lists_by_type",
    "test_turns_are_recorded_word_for_word",
    "test_what_has_halves_of_characters_is_answered_as_json",
    "test_what_is_exported_is_imported",
]

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def served(server: str) -> Iterator[Served]:
    with (
        new_database(server, "recollect_rest") as database,
        Memory.open(database, embedder="hashing", rate_limit=0) as memory,
        serving.served(memory) as found,
    ):
        yield found
