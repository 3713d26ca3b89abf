"""What operators are told has to come out the same on every engine, sealed or not."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from recollect import Memory, ModelError
from recollect.ports.tending import JobState, Measure
from recollect.testing.store_samples import START, ManualClock
from tests.contract.conftest import ENGINES, NAMES
from tests.contract.postgres import new_database
from tests.unit.mining import Scripted, say
from tests.unit.support import SwitchedEmbedder
from tests.unit.test_metrics import fail, park_vectors, samples


@pytest.fixture(params=ENGINES, ids=NAMES)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """The address of an empty database, and its key."""
    engine, key = request.param
    if engine == "sqlite":
        yield {"db": str(tmp_path_factory.mktemp("measured") / "memory.db"), "key": key}
        return
    with new_database(request.getfixturevalue("server"), f"recollect_measured_{len(key)}") as url:
        yield {"db": url, "key": key}


def test_what_waits_what_is_put_aside_and_what_was_counted(place: dict[str, Any]) -> None:
    clock, embedder = ManualClock(), SwitchedEmbedder()
    model = Scripted(ModelError("The model is down."))
    with Memory.open(**place, clock=clock, embedder=embedder, model=model) as memory:
        ann = memory.scope("ann")
        embedder.down = True
        say(ann, "I live in Lyon.")
        embedder.down = False
        memory.scope("bob").record("user", "tea")
        memory.scope("bob").remember("Bob likes tea.")
        clock.advance(hours=1)
        ann.mine()
        park_vectors(memory)
        fail(memory, "ann", "decay", "Out of luck.")
        fail(memory, "bob", "decay", "Out of luck.")
        ann.recall("Lyon")
        ann.recall("Lyon")
        stats = memory.store.stats(timedelta(minutes=1), timedelta(minutes=30))
        assert stats["waiting"] == {
            "mine": {"conversations": 3, "since": START + timedelta(minutes=1)},
            "conclude": {"conversations": 3, "since": START + timedelta(minutes=30)},
        }
        assert stats["unconsolidated"] == {"memories": 1, "since": START}
        assert stats["parked"] == {
            "chunks": 1,
            "mining": {"The model is down.": 1},
            "chores": {"decay": {"Out of luck.": 2}},
        }
        found = samples(memory.metrics())
        assert found["lag_seconds mine"] == 59 * 60
        assert (found["recall_seconds_count"], found["parked decay"]) == (2, 2)
        cached = "postgresql" not in place["db"] or bool(place["key"])
        assert bool(found["cache_hits_total"]) == cached
        assert (memory.store.unpark(), memory.store.unpark()) == (4, 0)
        assert memory.store.stats()["parked"] == {"chunks": 0, "mining": {}, "chores": {}}
        memory.tend()
        assert memory.store.stats()["parked"]["chunks"] == 0
        assert memory.store.stats()["unconsolidated"] == {"memories": 0, "since": None}
        assert samples(memory.metrics())["waiting embed"] == 0


def test_jobs_and_counts_add_up(place: dict[str, Any]) -> None:
    with Memory.open(**place, embedder="none", clock=ManualClock()) as memory:
        store, day = memory.store, START.date()
        store.note_jobs([JobState("embed", START, 2.0, 5, "It broke.")])
        store.note_jobs([JobState("embed", START, 0.0, 0, runs=0, progress=7)])
        assert store.jobs() == [JobState("embed", START, 2.0, 5, "It broke.", runs=1, total=5, progress=7)]
        store.note_jobs([JobState("embed", START, 1.0, 9)])
        assert store.jobs() == [JobState("embed", START, 1.0, 9, None, runs=2, total=14)]
        store.measure([Measure(day, "recall", 20, 2), Measure(day, "recall", 22, 1)])
        store.measure([Measure(day, "recall", 20, 1)])
        assert store.measures(day) == [Measure(day, "recall", 20, 3), Measure(day, "recall", 22, 1)]
        assert store.measures(day + timedelta(days=1)) == []
