"""What is saved in a slot takes the place of what was there, on every engine, sealed or not."""

import pytest

from recollect import Conflict, ScopedMemory


def test_one_memory_a_slot(derek: ScopedMemory) -> None:
    first = derek.remember("The theme is dark", slot="app:ü \x00", metadata={"value": "\ud800"})
    derek.remember("Something else", slot="other")
    second = derek.remember("The theme is light", slot="app:ü \x00", replaces=first.id)
    assert derek.list("fact", slot=["app:ü \x00", "none"]) == [second]
    assert derek.counts() == {"conversation": 1, "turn": 2, "fact": 2}
    with pytest.raises(Conflict):
        derek.remember("The theme is blue", slot="app:ü \x00", replaces=first.id)
    derek.forget(second.id)
    assert derek.list("fact", slot="app:ü \x00") == []
