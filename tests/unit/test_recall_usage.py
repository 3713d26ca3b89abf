"""What was returned is counted, later, and nothing else is (C8)."""

import threading
from pathlib import Path

import pytest

from recollect import Invalid, Memory, ScopedMemory
from recollect.memory import FLUSH_AT
from recollect.testing.store_samples import ManualClock
from tests.unit.support import OpenMemory


def counted(memory: Memory, *ids: str) -> list[int]:
    usage = memory.store.user("derek").usage(ids)
    return [usage[id].count if id in usage else 0 for id in ids]


def test_counts_rise_for_what_was_returned_after_a_flush(
    derek: ScopedMemory, memory: Memory, clock: ManualClock
) -> None:
    tea, coffee = derek.record("user", "green tea"), derek.remember("black coffee")
    feed = list(memory.store.user("derek").feed())
    for _ in range(3):
        derek.recall("tea", top_k=1)
    assert counted(memory, tea.id, coffee.id) == [0, 0]
    memory.flush()
    assert counted(memory, tea.id, coffee.id) == [3, 0]
    clock.advance(days=1)
    derek.recall("tea coffee")
    memory.flush()
    assert counted(memory, tea.id, coffee.id) == [4, 1]
    assert memory.store.user("derek").usage([tea.id])[tea.id].last_at == clock.now()
    assert list(memory.store.user("derek").feed()) == feed


def test_a_fact_that_a_returned_turn_says_counts_too(derek: ScopedMemory, memory: Memory) -> None:
    derek.record("user", "I live in Berlin.", conversation="c")
    derek.record("user", "The cat is asleep.", conversation="c")
    derek.mine()
    (fact,) = derek.list("fact")
    (hit,) = derek.recall("Where do I live?").hits
    assert (hit.kind, hit.says) == ("turn", (fact.id,))
    memory.flush()
    assert counted(memory, hit.id, fact.id) == [1, 1]


def test_what_was_weighed_but_not_returned_is_not_counted(derek: ScopedMemory, memory: Memory) -> None:
    turns = derek.record_many({"role": "user", "content": f"tea {i}"} for i in range(10))
    returned = {hit.id for hit in derek.recall("tea", top_k=2).hits}
    memory.flush()
    usage = memory.store.user("derek").usage([turn.id for turn in turns])
    assert set(usage) == returned


def test_whoever_only_looks_makes_nothing_popular(derek: ScopedMemory, memory: Memory) -> None:
    tea = derek.remember("green tea")
    assert derek.recall("tea", count=False).hits == derek.recall("tea").hits
    derek.recall("tea", count=False)
    memory.flush()
    assert counted(memory, tea.id) == [1]
    with pytest.raises(Invalid, match="count"):
        derek.recall("tea", count="no")  # pyright: ignore[reportArgumentType]


def test_closing_writes_the_counts(open_memory: OpenMemory) -> None:
    memory = open_memory()
    turn = memory.scope("derek").record("user", "tea")
    memory.scope("derek").recall("tea")
    memory.close()
    assert counted(open_memory(), turn.id) == [1]


@pytest.mark.parametrize("background", [False, True])
def test_many_counts_do_not_pile_up(open_memory: OpenMemory, background: bool) -> None:
    """Nor where the background, which writes them too, is busy or sleeps."""
    memory = open_memory(background=background, tend_seconds=3600)
    derek = memory.scope("derek")
    turns = derek.record_many({"role": "user", "content": f"tea {i}"} for i in range(FLUSH_AT))
    derek.recall("tea", top_k=FLUSH_AT)
    for thread in threading.enumerate():  # it is written out of the question's way
        if thread.name == "recollect-count":
            thread.join()
    assert sum(counted(memory, *(turn.id for turn in turns))) == FLUSH_AT


def test_what_was_forgotten_meanwhile_is_not_counted(derek: ScopedMemory, memory: Memory) -> None:
    turn = derek.record("user", "tea")
    derek.recall("tea")
    derek.forget(turn.id)
    memory.flush()
    assert counted(memory, turn.id) == [0]


def test_counting_never_brings_an_erased_user_back(derek: ScopedMemory, memory: Memory) -> None:
    derek.record("user", "tea")
    derek.recall("tea")
    derek.forget(everything=True)
    memory.flush()
    assert memory.store.stats()["rows"]["users"] == 0


def test_counts_that_cannot_be_written_are_dropped(
    open_memory: OpenMemory, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = open_memory()
    derek = memory.scope("derek")
    derek.record("user", "tea")
    derek.recall("tea")
    memory.store.close()
    for file in path.parent.glob("memory.db*"):
        file.unlink()
    path.mkdir()
    memory.flush()
    assert "not counted" in caplog.text
