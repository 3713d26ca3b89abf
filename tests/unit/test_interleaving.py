"""What others do between the reading and the writing of a change is neither lost nor undone."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from recollect import Memory, ScopedMemory
from recollect.model.changes import Change
from recollect.model.space import Space
from recollect.ports.store import Applied, UserStore
from tests.unit.support import contents


class Interrupted:
    """A user's store; before the first write that goes through it, something else happens."""

    def __init__(self, store: UserStore, meanwhile: Callable[[], object]) -> None:
        self._store = store
        self._meanwhile: Callable[[], object] | None = meanwhile

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, changes: Sequence[Change], space: Space | None = None) -> Applied:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile:
            meanwhile()
        return self._store.apply(changes, space)


@pytest.fixture
def interrupted(derek: ScopedMemory) -> Callable[[Callable[[], object]], ScopedMemory]:
    def scope(meanwhile: Callable[[], object]) -> ScopedMemory:
        store: Any = Interrupted(derek._work.store, meanwhile)
        return ScopedMemory(
            replace(derek._work, store=store), lambda user, found: None, lambda: None, derek._reads
        )

    return scope


Interrupt = Callable[[Callable[[], object]], ScopedMemory]


def test_a_turn_said_while_its_conversation_is_forgotten_goes_too(
    derek: ScopedMemory, interrupted: Interrupt
) -> None:
    derek.record("user", "one", conversation="c")
    late = interrupted(lambda: derek.record("user", "late", conversation="c"))
    assert late.forget(conversation="c").counts == {"conversation": 1, "turn": 2}
    assert derek.conversation("c") == []
    assert [derek.record("user", f"new {i}", conversation="c").index for i in range(3)] == [0, 1, 2]


def test_a_turn_said_while_a_channel_is_forgotten_keeps_its_conversation(
    memory: Memory, derek: ScopedMemory, interrupted: Interrupt
) -> None:
    memory.scope("derek", channel="work").record("user", "one", conversation="c")
    late = interrupted(lambda: derek.record("user", "late", conversation="c"))
    late.forget(channel="work")
    assert [turn.content for turn in derek.conversation("c")] == ["late"]
    assert [c.next_index for c in derek.conversations()] == [2]


def test_a_correction_made_while_its_predecessor_is_forgotten_is_the_one_in_force(
    derek: ScopedMemory, interrupted: Interrupt
) -> None:
    first = derek.remember("budget 1")
    second = derek.correct(first.id, "budget 2")
    interrupted(lambda: derek.correct(second.id, "budget 3")).forget(second.id)
    assert contents(derek.recall("budget")) == ["budget 3"]
    interrupted(lambda: derek.pin(first.id)).forget(derek.recall("budget").hits[0].id)
    assert contents(derek.recall("budget")) == ["budget 1"]


def test_a_turn_said_during_an_import_keeps_its_place(derek: ScopedMemory, interrupted: Interrupt) -> None:
    for i in range(3):
        derek.record("user", f"turn {i}", conversation="c")
    lines = [json.loads(line) for line in derek.export()]
    lines[1]["title"] = "renamed"
    late = interrupted(lambda: derek.record("user", "turn 3", conversation="c"))
    late.import_([json.dumps(line) for line in lines])
    assert derek.record("user", "turn 4", conversation="c").index == 4
    assert [turn.content for turn in derek.conversation("c")] == [f"turn {i}" for i in range(5)]
    assert [c.title for c in derek.conversations()] == ["renamed"]


def test_a_pin_set_during_an_import_stays(derek: ScopedMemory, interrupted: Interrupt) -> None:
    fact = derek.remember("likes tea")
    lines = [json.loads(line) for line in derek.export()]
    lines[-1]["salience"] = 0.9
    late = interrupted(lambda: derek.pin(fact.id))
    late.import_([json.dumps(line) for line in lines])
    assert derek.get(fact.id) == replace(fact, pinned=True, salience=0.9)


def test_a_name_met_by_several_at_once_is_one_entity(derek: ScopedMemory, interrupted: Interrupt) -> None:
    late = interrupted(lambda: derek.remember("Ana sings", about=["Ana"]))
    late.remember("Ana swims", about=["Ana", "Ben"])
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda i: derek.remember(f"Eve does {i}", about=["Eve"]), range(8)))
    assert sorted(entity.name for entity in derek.list("entity")) == ["Ana", "Ben", "Eve"]  # type: ignore[attr-defined]
    assert (len(derek.timeline("Ana")), len(derek.timeline("Eve"))) == (2, 8)


def test_the_id_of_a_name_does_not_tell_the_name(memory: Memory, derek: ScopedMemory) -> None:
    other = memory.scope("ann")
    for scoped in (derek, other):
        scoped.remember("Ana sings", about=["Ana"])
    assert derek.list("entity")[0].id != other.list("entity")[0].id
