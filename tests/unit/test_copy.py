"""Copying to another store: complete, repeatable, refused where it would mix, and true to a source in use."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recollect import Conflict, Memory, NotFound, ScopedMemory, StoreError
from recollect.model.changes import Put, Remove
from recollect.model.records import RECORD_TYPES, Fact, Turn
from recollect.ports.store import Store, Usage, UserView
from recollect.record import copy as copying
from recollect.record.copy import copy_store
from recollect.record.digest import contents
from recollect.stores.sql.user_store import SqlUserStore
from recollect.stores.sqlite.backend import open_store
from recollect.testing.store_samples import START, fact, put, sample
from tests.unit.support import OpenMemory, SwitchedEmbedder


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path / "target.db", cache_bytes=1 << 24)
    yield store
    store.close()


def live(derek: ScopedMemory, memory: Memory) -> None:
    """A little of everything."""
    derek.record_many({"role": "user", "content": f"tea {i}", "conversation": "c"} for i in range(30))
    old = derek.remember("Derek lives in Lyon", about=["Derek"])
    derek.correct(old.id, "Derek lives in Porto")
    derek.forget(derek.remember("a secret").id)
    derek.update_profile(preferences={"seat": "window"})
    derek.update_settings(custom={"quiet": True})
    derek.add_goal("Learn Portuguese")
    derek.record_tool("search", {"q": "x"}, success=True)
    for _ in range(3):
        derek.recall("tea")
    memory.flush()


def same(source: Store, target: Store, user: str) -> bool:
    space = source.active_space()
    ours, theirs = source.user(user), target.user(user)
    return contents(ours, space) == contents(theirs, space) and ours.secret() == theirs.secret()


def test_everything_is_copied_and_nothing_is_embedded_again(
    memory: Memory, derek: ScopedMemory, target: Store, embedder: SwitchedEmbedder, tmp_path: Path
) -> None:
    live(derek, memory)
    memory.scope("ann").record("user", "coffee")
    embedder.seen.clear()
    told: list[tuple[int, int]] = []
    copied = copy_store(memory.store, target, progress=lambda done, total: told.append((done, total)))
    assert [user.user for user in copied.users] == ["ann", "derek"]
    assert told[-1] == (copied.records, copied.records)
    assert copied.space == embedder.space
    assert all(same(memory.store, target, user) for user in ("ann", "derek"))
    assert copied.users[1].contents["usage"].count > 0
    assert copied.users[1].contents["tombstone"].count == 1
    assert copied.users[1].contents["chunk"].count > 30
    assert target.active_space() == memory.store.active_space()
    assert target.stats()["rows"]["chunks_waiting_for_a_vector"] == 0
    assert target.check() == []
    assert embedder.seen == []
    with Memory.open(tmp_path / "target.db", embedder=embedder) as other:
        ours, theirs = derek.recall("tea 7"), other.scope("derek").recall("tea 7")
        assert theirs.hits == ours.hits
        assert other.scope("derek").record("user", "more", conversation="c").index == 30


@pytest.mark.parametrize("kind", RECORD_TYPES, ids=lambda kind: kind.kind)
def test_every_kind_with_every_field(memory: Memory, target: Store, kind: Any) -> None:
    memory.store.user("derek").apply([Put(sample(kind))])
    copy_store(memory.store, target)
    assert list(target.user("derek").find(kind)) == [sample(kind)]


def test_usage_is_copied_as_it_is(memory: Memory, target: Store) -> None:
    ours = memory.store.user("derek")
    ours.apply([put(fact("f"))])
    ours.put_usage(Fact, {"f": Usage(9, 2, START)})
    copy_store(memory.store, target)
    assert target.user("derek").usage(["f"]) == {"f": Usage(9, 2, START)}


def test_copying_again_writes_nothing(memory: Memory, derek: ScopedMemory, target: Store) -> None:
    live(derek, memory)
    first = copy_store(memory.store, target)
    seq = target.user("derek").seq()
    again = copy_store(memory.store, target)
    assert again == replace(first, users=tuple(replace(user, new=0) for user in first.users))
    assert (first.new, again.new) == (first.records, 0)
    assert target.user("derek").seq() == seq


def test_one_user_alone(memory: Memory, derek: ScopedMemory, target: Store) -> None:
    derek.record("user", "tea")
    memory.scope("ann").record("user", "coffee")
    assert [user.user for user in copy_store(memory.store, target, "derek").users] == ["derek"]
    assert list(target.users()) == ["derek"]
    with pytest.raises(NotFound):
        copy_store(memory.store, target, "nobody")
    assert list(target.users()) == ["derek"]


def test_what_was_forgotten_between_two_copies_goes_from_the_target(
    memory: Memory, derek: ScopedMemory, target: Store
) -> None:
    live(derek, memory)
    copy_store(memory.store, target)
    derek.forget(conversation="c")
    derek.record("user", "a new beginning", conversation="c", index=0)
    copy_store(memory.store, target)
    assert same(memory.store, target, "derek")
    assert target.user("derek").count(Turn, {"conversation": "c"}) == 1
    assert not target.needs_scrub()
    assert target.check() == []


def test_a_target_with_something_else_is_refused_and_stays_as_it_was(
    memory: Memory, derek: ScopedMemory, target: Store
) -> None:
    derek.record("user", "tea", conversation="c")
    theirs = target.user("derek")
    theirs.apply([put(fact("mine", "something else"))])
    before = contents(theirs, None)
    with pytest.raises(Conflict, match="something else of 'derek': the fact 'mine'"):
        copy_store(memory.store, target)
    assert contents(theirs, None) == before
    theirs.apply([Remove("fact", ("mine",)), Put(sample(RECORD_TYPES[-2], "tombstone"))])
    with pytest.raises(Conflict):
        copy_store(memory.store, target)


def test_a_copy_that_was_used_since_is_not_overwritten(
    memory: Memory, derek: ScopedMemory, target: Store, tmp_path: Path, embedder: SwitchedEmbedder
) -> None:
    derek.record("user", "tea", conversation="c")
    copy_store(memory.store, target)
    with Memory.open(tmp_path / "target.db", embedder=embedder) as other:
        other.scope("derek").record("user", "said to the copy", conversation="c")
        with pytest.raises(Conflict):
            copy_store(memory.store, target)
        assert other.scope("derek").counts()["turn"] == 2


def test_another_content_under_the_same_id_is_refused(memory: Memory, target: Store) -> None:
    memory.store.user("derek").apply([put(fact("f", "tea"))])
    target.user("derek").apply([put(fact("f", "coffee"))])
    with pytest.raises(Conflict):
        copy_store(memory.store, target)


def test_users_whom_only_the_target_has_are_named(memory: Memory, derek: ScopedMemory, target: Store) -> None:
    derek.record("user", "tea")
    target.user("gone").apply([put(fact("f"))])
    assert copy_store(memory.store, target).others == ("gone",)


def test_a_target_searched_by_another_model_computes_its_own_vectors(
    memory: Memory, derek: ScopedMemory, target: Store, tmp_path: Path
) -> None:
    live(derek, memory)
    other = SwitchedEmbedder(64)
    calm = {"clock": memory.clock, "auto_mine": False, "conclude": False}
    with Memory.open(tmp_path / "target.db", embedder=other, **calm) as there:
        there.scope("ann").record("user", "coffee")
        copied = copy_store(memory.store, there.store)
        assert copied.space is None
        there.tend()
        assert there.scope("derek").recall("teas", threshold=0).hits
        again = copy_store(memory.store, there.store)
        assert again.users[0].contents == copied.users[0].contents
        assert there.store.stats()["rows"]["chunks_waiting_for_a_vector"] == 0


def test_vectors_that_come_late_are_copied_by_the_next_copy(open_memory: OpenMemory, target: Store) -> None:
    memory = open_memory(embed_on_write=False)
    memory.scope("derek").record("user", "tea")
    copy_store(memory.store, target)
    assert target.stats()["rows"]["chunks_waiting_for_a_vector"] == 1
    memory.tend()
    copy_store(memory.store, target)
    assert target.stats()["rows"]["chunks_waiting_for_a_vector"] == 0
    assert same(memory.store, target, "derek")


def meddling(monkeypatch: pytest.MonkeyPatch, *steps: Any) -> list[Any]:
    """Has one step happen in the source each time a pass has taken its snapshot."""
    left, snapshot = list(steps), SqlUserStore.snapshot

    @contextmanager
    def then(self: SqlUserStore) -> Iterator[UserView]:
        with snapshot(self) as view:
            view.seq()
            if left:
                left.pop(0)()
            yield view

    monkeypatch.setattr(SqlUserStore, "snapshot", then)
    return left


def test_what_is_written_and_forgotten_meanwhile_is_copied_as_well(
    memory: Memory, derek: ScopedMemory, target: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(derek, memory)
    fact = derek.remember("Derek has a dog")
    left = meddling(
        monkeypatch,
        lambda: derek.record("user", "said meanwhile", conversation="c"),
        lambda: derek.forget(fact.id),
        lambda: derek.forget(conversation="c"),
        lambda: derek.record("user", "once more", conversation="c", index=0),
        lambda: memory.scope("late").record("user", "hello"),
        lambda: derek.pin(derek.remember("Derek has a cat").id),
    )
    copied = copy_store(memory.store, target)
    assert left == []
    assert same(memory.store, target, "derek")
    assert same(memory.store, target, "late")
    assert [user.user for user in copied.users] == ["derek", "late"]
    assert target.check() == []


def test_somebody_who_is_erased_meanwhile_is_erased_in_the_target(
    memory: Memory, derek: ScopedMemory, target: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(derek, memory)
    memory.scope("eve").record("user", "hello")
    left = meddling(
        monkeypatch,
        lambda: derek.record("user", "still here"),
        lambda: derek.forget(everything=True),
        lambda: derek.record("user", "back again"),
        lambda: memory.scope("eve").forget(everything=True),
    )
    copied = copy_store(memory.store, target)
    assert left == []
    assert same(memory.store, target, "derek")
    assert target.user("derek").count(Turn) == 1
    assert [user.user for user in copied.users] == ["derek"]
    assert list(target.users()) == ["derek"]


def test_a_difference_that_stays_is_an_error(
    memory: Memory, derek: ScopedMemory, target: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(derek, memory)
    monkeypatch.setattr(copying._Copy, "_sync", lambda *_: None)
    with pytest.raises(StoreError, match="'derek' differs from the source in: conversation, turn"):
        copy_store(memory.store, target)
