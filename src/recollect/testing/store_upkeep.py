"""The store's contract: spaces and late vectors, counting, leases, the text index, erasure, health."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from recollect.errors import Conflict, NotFound
from recollect.model.changes import Put, Remove
from recollect.model.records import Fact, Tombstone
from recollect.model.space import Space
from recollect.ports.store import Store, Usage, UserStore
from recollect.testing.store_samples import (
    OTHER_SPACE,
    SPACE,
    START,
    ManualClock,
    append,
    axis,
    draft,
    entity,
    fact,
    put,
    question,
    said,
    vectors,
)
from recollect.testing.store_suite import Opener, StoreSuite, found


def fill(user: UserStore, space: Space) -> int:
    """Gives every waiting chunk a vector along its number's axis."""
    waiting = user.unembedded(space, 1000)
    return user.embed(space, {w: axis(w.doc % space.dimensions, space.dimensions) for w in waiting})


class UpkeepContract(StoreSuite):
    """What workers and operators use."""

    def test_the_first_space_is_searched_at_once(self, store: Store, reopen: Opener) -> None:
        assert store.active_space() is None
        assert store.add_space(SPACE) is True
        assert store.add_space(SPACE) is True
        assert store.add_space(OTHER_SPACE) is False
        assert store.add_space(OTHER_SPACE) is False
        assert reopen().active_space() == SPACE

    def test_what_was_stored_before_waits_for_the_new_space(self, store: Store, alice: UserStore) -> None:
        alice.apply([append(draft("first", id="t")), put(entity("e", "Oahu", aliases=("island",)))])
        store.add_space(SPACE)
        alice.apply([put(fact("f", "later"))], SPACE)
        assert [w.text for w in alice.unembedded(SPACE, 10)] == ["first", "Oahu\nisland\nwell known", "later"]
        assert len(alice.unembedded(SPACE, 2)) == 2
        assert alice.unembedded(OTHER_SPACE, 10) == []
        assert store.users_unembedded(SPACE) == ["alice"]
        assert fill(alice, SPACE) == 3
        assert (alice.unembedded(SPACE, 10), store.users_unembedded(SPACE)) == ([], [])

    def test_a_vector_is_filled_in_once(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f", "tea")), put(fact("g", "milk"), axis(5))], SPACE)
        (waiting,) = alice.unembedded(SPACE, 10)
        assert alice.embed(SPACE, {waiting: axis(0)}) == 1
        assert alice.embed(SPACE, {waiting: axis(1)}) == 0
        assert alice.embed(SPACE, {}) == 0
        assert found(alice, question(vector=axis(0), threshold=0.9)) == {"f"}
        alice.apply([Remove("fact", ("f",))])
        assert alice.embed(SPACE, {waiting: axis(0)}) == 0

    def test_a_vector_computed_before_an_erasure_is_not_given_to_what_came_after(
        self, embedded: Store, alice: UserStore
    ) -> None:
        alice.apply([append(draft("my diagnosis", id="a"))])
        (before,) = alice.unembedded(SPACE, 10)
        alice.erase()
        alice.apply([append(draft("buy oat milk", id="b"))])
        assert alice.embed(SPACE, {before: axis(0)}) == 0
        assert [chunk.text for chunk in alice.unembedded(SPACE, 10)] == ["buy oat milk"]

    def test_a_vector_of_another_space_is_not_used(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f", "tea"), axis(0, OTHER_SPACE.dimensions))], OTHER_SPACE)
        assert [w.text for w in alice.unembedded(SPACE, 10)] == ["tea"]

    def test_a_new_space_is_filled_and_then_searched(
        self, embedded: Store, alice: UserStore, bob: UserStore, reopen: Opener
    ) -> None:
        rows = vectors(3)
        for user in (alice, bob):
            user.apply([put(fact(f"f-{i}", f"tea{i}"), row) for i, row in enumerate(rows)], SPACE)
        other = reopen()
        assert found(other.user("alice"), question(vector=rows[1], threshold=0.99)) == {"f-1"}
        embedded.add_space(OTHER_SPACE)
        with pytest.raises(Conflict):
            embedded.switch_space(OTHER_SPACE)
        assert fill(alice, OTHER_SPACE) == 3
        alice.apply([put(fact("new", "both"), rows[0])], SPACE)
        assert found(alice, question(vector=rows[1], threshold=0.99)) == {"f-1"}
        assert (fill(alice, OTHER_SPACE), fill(bob, OTHER_SPACE)) == (1, 3)
        embedded.switch_space(OTHER_SPACE)
        for store in (embedded, other):
            assert store.active_space() == OTHER_SPACE
            user = store.user("alice")
            assert all(c.similarity is None for c in user.search(question("tea1", rows[1])))
            hits = user.search(question(vector=axis(1, OTHER_SPACE.dimensions), threshold=0.9))
            assert len(hits) == 1
        assert alice.unembedded(SPACE, 10) == []
        assert embedded.check() == []

    def test_going_back_to_the_old_space(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f", "tea"), axis(0))], SPACE)
        for space in (OTHER_SPACE, SPACE, OTHER_SPACE):
            embedded.add_space(space)
            fill(alice, space)
            embedded.switch_space(space)
            assert embedded.active_space() == space
            assert len(alice.search(question(vector=axis(1, space.dimensions), threshold=0.9))) == 1
            assert all(c.similarity is None for c in alice.search(question("tea", axis(0, 3))))

    def test_switching_to_what_was_never_added(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f", "tea"), axis(0))], SPACE)
        with pytest.raises(NotFound):
            embedded.switch_space(OTHER_SPACE)
        assert embedded.active_space() == SPACE
        assert found(alice, question(vector=axis(0))) == {"f"}

    def test_reset_makes_every_chunk_wait_again(
        self, embedded: Store, alice: UserStore, reopen: Opener
    ) -> None:
        other = reopen().user("alice")
        alice.apply([put(fact("f", "tea"), axis(0)), put(fact("g", "milk"))], SPACE)
        for user in (alice, other):
            assert found(user, question(vector=axis(0))) == {"f"}
        embedded.reset_space(SPACE)
        assert embedded.active_space() == SPACE
        assert [w.text for w in alice.unembedded(SPACE, 10)] == ["tea", "milk"]
        for user in (alice, other):
            assert user.search(question(vector=axis(0))) == []
            assert found(user, question("tea", axis(0))) == {"f"}
        assert fill(alice, SPACE) == 2
        for user in (alice, other):
            assert found(user, question(vector=axis(1), threshold=0.9)) == {"f"}

    def test_usage_is_counted(self, alice: UserStore, reopen: Opener, clock: ManualClock) -> None:
        alice.apply([put(fact("f")), put(fact("g")), append(draft(id="t"))])
        before = list(alice.feed())
        alice.touch({"f": ("fact", 1, clock.now()), "t": ("turn", 2, clock.now())})
        later = clock.advance(hours=1)
        alice.touch({"f": ("fact", 3, later)})
        alice.touch({"f": ("fact", 1, clock.advance(days=-1))})
        assert reopen().user("alice").usage(["f", "g", "t", "nobody"]) == {
            "f": Usage(5, 5, later),
            "t": Usage(2, 2, START),
        }
        alice.touch({})
        assert list(alice.feed()) == before

    def test_usage_goes_with_its_memory_and_survives_its_replacement(self, alice: UserStore) -> None:
        alice.apply([put(fact("f"))])
        alice.touch({"f": ("fact", 1, START), "nobody": ("fact", 1, START)})
        alice.apply([put(fact("f", "in other words"))])
        assert alice.usage(["f", "nobody"]) == {"f": Usage(1, 1, START)}
        alice.apply([Remove("fact", ("f",))])
        alice.touch({"f": ("fact", 1, START)})
        assert alice.usage(["f"]) == {}

    def test_a_lease_is_held_by_one(self, store: Store, reopen: Opener, clock: ManualClock) -> None:
        other, minute = reopen(), timedelta(minutes=1)
        now = clock.now()
        assert store.acquire("tend", "a", now, now + minute)
        assert not other.acquire("tend", "b", now, now + minute)
        assert other.acquire("tend:bob", "b", now, now + minute)
        now = clock.advance(seconds=59)
        assert not other.acquire("tend", "b", now, now + minute)
        assert store.acquire("tend", "a", now, now + minute), "renewed"
        now = clock.advance(seconds=59)
        assert not other.acquire("tend", "b", now, now + minute)
        now = clock.advance(seconds=1)
        assert other.acquire("tend", "b", now, now + minute), "taken over"
        assert not store.acquire("tend", "a", now, now + minute)

    def test_a_lease_of_a_clock_that_was_wrong_is_taken_over(self, store: Store, clock: ManualClock) -> None:
        minute = timedelta(minutes=1)
        ahead = START + timedelta(days=5000)
        assert store.acquire("job", "lost", ahead, ahead + minute)
        assert store.acquire("job", "one", START, START + minute)
        assert not store.acquire("job", "two", START, START + minute)

    def test_an_open_store_has_the_schema_of_this_release(self, store: Store) -> None:
        assert store.is_current()

    def test_of_two_rebuilds_the_one_that_began_last_says_when_it_is_done(
        self, store: Store, alice: UserStore
    ) -> None:
        alice.apply([put(fact("f", "tea"))])
        first, second = store.rebuild_text(), store.rebuild_text()
        next(first)
        next(second)
        assert list(first) == []
        assert not store.text_is_current()
        assert list(second) == []
        assert store.text_is_current()

    def test_two_scrubs_at_once_do_not_hide_the_next_erasure(self, store: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f", "tea")), put(fact("g", "milk"))])
        alice.apply([Remove("fact", ("f",))])
        with ThreadPoolExecutor(4) as threads:
            for scrub in [threads.submit(store.scrub) for _ in range(8)]:
                scrub.result()
        while store.needs_scrub():
            assert store.scrub()
        alice.apply([Remove("fact", ("g",))])
        assert store.needs_scrub()

    def test_a_lease_is_released_by_its_holder_only(self, store: Store) -> None:
        until = START + timedelta(minutes=1)
        assert store.acquire("tend", "a", START, until)
        store.release("tend", "b")
        store.release("never taken", "a")
        assert not store.acquire("tend", "b", START, until)
        store.release("tend", "a")
        assert store.acquire("tend", "b", START, until)

    def test_the_text_index_is_built_anew(self, embedded: Store, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply(
                [said(5), put(entity("e", "Oahu", description="island")), put(fact("f", "tea"))], SPACE
            )
        before = sorted(alice.search(question("number1 number2 oahu tea")), key=repr)
        assert len(before) == 4
        assert embedded.text_is_current()
        assert list(embedded.rebuild_text())[-1] == 14
        assert embedded.text_is_current()
        assert sorted(alice.search(question("number1 number2 oahu tea")), key=repr) == before
        assert embedded.check() == []

    def test_a_rebuild_stopped_half_way_is_not_current(self, store: Store, alice: UserStore) -> None:
        alice.apply([said(5)])
        rebuilding = store.rebuild_text()
        next(rebuilding)
        del rebuilding
        assert not store.text_is_current()
        list(store.rebuild_text())
        assert store.text_is_current()

    def test_writing_goes_on_during_a_rebuild(self, store: Store, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([said(5)])
        for done in store.rebuild_text():
            for user in (alice, bob):
                user.apply([Remove("turn", (f"turn-00{done % 3}",)), put(fact(f"f-{done}", "tea"))])
        for user in (alice, bob):
            facts = {record.id for record in user.find(Fact)}
            assert found(user, question("tea")) == facts
            assert "turn-004" in found(user, question("turn"))
        assert store.check() == []

    def test_the_key_of_an_imported_memory_is_taken_over(self, alice: UserStore, bob: UserStore) -> None:
        key = bytes(range(32))
        assert alice.adopt_secret(key)
        assert alice.secret() == key
        assert alice.adopt_secret(key)
        bob.apply([Put(Tombstone(id="x", digest="d", at=START))])
        own = bob.secret()
        assert not bob.adopt_secret(key)
        assert bob.adopt_secret(own)
        assert bob.secret() == own

    def test_erasure_asks_for_a_scrub(self, store: Store, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([said(2), put(fact("f", "tea"))])
        assert not store.needs_scrub()
        alice.apply([Remove("fact", ("f",))])
        assert store.needs_scrub()
        assert store.scrub()
        assert not store.needs_scrub()
        bob.erase()
        assert store.needs_scrub()
        assert store.scrub()
        assert not store.needs_scrub()
        assert found(alice, question("number1")) == {"turn-001"}
        assert store.check() == []

    def test_stats_tell_nothing_of_content(self, store: Store, alice: UserStore) -> None:
        alice.apply([append(draft("xylophone", id="t", title="xylophone"))])
        assert "xylophone" not in repr(store.stats())
        assert "alice" not in repr(store.stats())

    def test_a_sound_database_has_no_problems(
        self, embedded: Store, alice: UserStore, bob: UserStore
    ) -> None:
        for user in (alice, bob):
            user.apply([said(3), put(fact("f", "tea"), axis(0)), put(entity("e", "Oahu"))], SPACE)
        alice.apply([Remove("turn", ("turn-001",)), put(fact("f", "coffee"), axis(1))], SPACE)
        bob.erase()
        assert embedded.check() == []
