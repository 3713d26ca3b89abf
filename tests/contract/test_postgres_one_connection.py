"""With a single connection to PostgreSQL everything works: nobody who has one waits for another."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import timedelta
from typing import Any

import pytest

from recollect import Memory, Recollection
from recollect.models.hashing import HashingEmbedder
from recollect.testing.store_samples import ManualClock
from tests.contract import postgres
from tests.interface.parity import SCENARIOS, Scenario

pytestmark = pytest.mark.engine


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What users have set is read whenever it is asked for, as in a process that knows nothing yet."""
    monkeypatch.setattr("recollect.policies.KEPT", timedelta(0))


def opened(url: str, **given: Any) -> Memory:
    return Memory.open(
        url, **{"embedder": HashingEmbedder(384), "db_pool": 1, "clock": ManualClock(), **given}
    )


@pytest.fixture
def memory(database: str) -> Iterator[Memory]:
    postgres.emptied(database)
    with opened(database, audit="verbose", contradictions="flag_review") as memory:
        yield memory


def recollections(value: Any) -> Iterator[Recollection]:
    if isinstance(value, Recollection):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from recollections(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from recollections(getattr(value, field.name))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_everything_can_be_done_with_one(scenario: Scenario, memory: Memory) -> None:
    for came in scenario(memory):
        for found in recollections(came):
            assert found.problems == ()
    assert [outcome.problem for outcome in memory.tend() if outcome.problem] == []


def test_recall_of_somebody_with_nothing_stored_takes_one(memory: Memory) -> None:
    found = memory.scope("nobody").recall("Where do I live?")
    assert (found.hits, found.problems) == ((), ())


def test_recall_by_another_model_than_is_searched_takes_one(memory: Memory, database: str) -> None:
    memory.scope("derek").record("user", "The boat is called Albatross")
    with opened(database, embedder=HashingEmbedder(64)) as other:
        other._searched.ours = True  # as it was before others switched
        (problem,) = other.scope("derek").recall("albatross").problems
    assert "recollect rebuild vectors" in problem


def test_what_else_is_included_and_where_it_may_be_read_takes_one(memory: Memory) -> None:
    everywhere, work = memory.scope("derek"), memory.scope("derek", "work")
    work.add_goal("See Porto")
    work.record("user", "My sister Anna works at Acme.", conversation="c")
    work.mine()
    assert everywhere.recall("Porto", include=["goals", "profile", "related"]).problems == ()
    (anna,) = (one for one in work.list("entity") if one.name == "Anna")  # type: ignore[attr-defined]
    assert everywhere.neighbours(anna.id).entities
    assert work.neighbours(anna.id).relations
    assert work.timeline(anna.id)
    assert work.palace()


def test_recall_with_an_index_beside_it_takes_one(memory: Memory, database: str, lite: str) -> None:
    pytest.importorskip("pymilvus", reason="the client is an extra")
    with opened(database, milvus=lite, milvus_over=1, milvus_timeout=30.0) as beside:
        derek = beside.scope("derek", conversation="c")
        for thing in ("tea", "boat", "violin"):
            derek.record("user", f"I keep a {thing}.")
        assert [outcome.problem for outcome in beside.tend() if outcome.problem] == []
    with opened(database, milvus=lite, milvus_over=1, milvus_timeout=30.0) as anew:
        found = anew.scope("derek").recall("What do I keep?")
        assert found.problems == ()
        assert found.hits
