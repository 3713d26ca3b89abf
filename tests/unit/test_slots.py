"""A memory that is saved in a slot of its own name takes the place of what was there (A4)."""

import threading
from typing import Any

import pytest

from recollect import Conflict, Invalid, Memory, ScopedMemory
from recollect.testing.store_samples import ManualClock
from tests.unit.support import OpenMemory, contents


def held(memory: ScopedMemory, slot: str = "app:theme") -> list[str]:
    return [fact.content for fact in memory.list("fact", slot=slot)]  # pyright: ignore[reportAttributeAccessIssue]


def test_what_was_there_is_replaced_and_leaves_nothing(derek: ScopedMemory) -> None:
    derek.remember("The theme is dark", slot="app:theme")
    other = derek.remember("The theme is dark")
    new = derek.remember("The theme is light", slot="app:theme", metadata={"n": 2})
    assert held(derek) == ["The theme is light"]
    assert derek.get(new.id) == new
    assert sorted(contents(derek.recall("theme", threshold=-1))) == [
        "The theme is dark",
        "The theme is light",
    ]
    derek.forget(other.id)
    assert contents(derek.recall("dark theme", threshold=-1)) == ["The theme is light"]
    assert derek.counts() == {"conversation": 1, "turn": 1, "fact": 1}
    assert [turn.content for turn in derek.conversation("_notes")] == ["The theme is light"]


def test_the_same_may_be_said_again(derek: ScopedMemory) -> None:
    for theme in ("dark", "light", "dark"):
        derek.remember(theme, slot="app:theme")
    assert held(derek) == ["dark"]


def test_users_channels_and_kinds_have_slots_of_their_own(memory: Memory, derek: ScopedMemory) -> None:
    derek.remember("dark", slot="s")
    derek.remember("darkly", slot="s", kind="procedure")
    memory.scope("derek", channel="work").remember("light", slot="s")
    memory.scope("ana").remember("blue", slot="s")
    assert held(derek, "s") == ["light", "dark"]
    assert held(memory.scope("ana"), "s") == ["blue"]


def test_a_corrected_one_goes_with_its_versions(derek: ScopedMemory) -> None:
    first = derek.remember("dark", slot="s")
    derek.correct(first.id, "light")
    derek.remember("blue", slot="s")
    assert held(derek, "s") == ["blue"]
    assert derek.counts()["turn"] == 1


def test_only_what_was_read_is_replaced(derek: ScopedMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("recollect.workspace.time.sleep", waits.append)
    first = derek.remember("one", slot="s")
    second = derek.remember("two", slot="s", replaces=first.id)
    with pytest.raises(Conflict):
        derek.remember("three", slot="s", replaces=first.id)
    with pytest.raises(Conflict):
        derek.remember("four", slot="other", replaces=second.id)
    assert held(derek, "s") == ["two"]
    assert waits == []  # to read again would change nothing


@pytest.mark.parametrize(
    "given",
    [
        {"slot": ""},
        {"slot": "=abc"},
        {"slot": "derek|lives in"},
        {"slot": 7},
        {"slot": "s" * 1001},
        {"replaces": "id"},
        {"slot": "s", "replaces": 7},
    ],
)
def test_odd_slots_are_refused(derek: ScopedMemory, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        derek.remember("x", **given)


def test_two_for_one_slot_are_refused(derek: ScopedMemory) -> None:
    with pytest.raises(Invalid):
        derek.remember_many([{"content": "a", "slot": "s"}, {"content": "b", "slot": "s"}])
    assert held(derek, "s") == []


def test_many_at_once_leave_one(memory: Memory) -> None:
    def put(number: int) -> None:
        for round in range(5):
            memory.scope("derek").remember(f"{number}-{round}", slot="s")

    threads = [threading.Thread(target=put, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(held(memory.scope("derek"), "s")) == 1
    assert memory.scope("derek").counts()["turn"] == 1


def test_it_survives_an_export_and_the_background(
    memory: Memory, derek: ScopedMemory, open_memory: OpenMemory, clock: ManualClock
) -> None:
    derek.remember("kept", slot="s", pinned=True)
    clock.advance(days=400)
    memory.tend()
    ana = memory.scope("ana")
    ana.import_(derek.export())
    ana.remember("new", slot="s")
    assert (held(derek, "s"), held(ana, "s")) == (["kept"], ["new"])
