"""The store's contract: several embedding spaces at once, and the way from one to the next."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from recollect.errors import Conflict
from recollect.model.changes import Remove
from recollect.model.search import Candidate
from recollect.model.space import Space
from recollect.ports.store import SpaceState, Store, UserStore
from recollect.testing.store_samples import OTHER_SPACE, SPACE, axis, fact, put, question
from recollect.testing.store_suite import Opener, StoreSuite, found
from recollect.testing.store_upkeep import fill

THIRD_SPACE = Space("suite-third", 4)


def states(store: Store) -> list[tuple[str, bool, int, int]]:
    return [(s.space.model, s.active, s.chunks, s.waiting) for s in store.spaces()]


class SpacesContract(StoreSuite):
    """From one model to the next, without a moment in which nothing is found."""

    def test_spaces_say_how_far_they_are_filled(
        self, store: Store, alice: UserStore, bob: UserStore, reopen: Opener
    ) -> None:
        assert store.spaces() == []
        alice.apply([put(fact("f", "tea")), put(fact("g", "milk"))])
        bob.apply([put(fact("f", "beer"))])
        store.add_space(SPACE)
        store.add_space(OTHER_SPACE)
        fill(alice, SPACE)
        fill(bob, OTHER_SPACE)
        expected = [SpaceState(SPACE, True, 3, 1), SpaceState(OTHER_SPACE, False, 3, 2)]
        assert reopen().spaces() == expected

    def test_a_state_tells_which_space_was_searched_in_it(self, embedded: Store, alice: UserStore) -> None:
        with alice.snapshot() as view:
            assert view.active_space() == SPACE
            embedded.add_space(OTHER_SPACE)
            embedded.switch_space(OTHER_SPACE)
            assert view.active_space() == SPACE
        assert alice.active_space() == OTHER_SPACE

    def test_what_is_recorded_while_a_space_is_filled_belongs_to_both(
        self, embedded: Store, alice: UserStore
    ) -> None:
        embedded.add_space(OTHER_SPACE)
        alice.apply([put(fact("f", "tea"), axis(0))], SPACE)
        alice.apply([put(fact("g", "milk"), axis(1, OTHER_SPACE.dimensions))], OTHER_SPACE)
        assert [w.text for w in alice.unembedded(OTHER_SPACE, 10)] == ["tea"]
        assert [w.text for w in alice.unembedded(SPACE, 10)] == ["milk"]
        alice.apply([Remove("fact", ("f",))])
        assert embedded.check() == []

    def test_a_space_that_is_filled_meanwhile_survives_a_switch_to_another(
        self, embedded: Store, alice: UserStore
    ) -> None:
        alice.apply([put(fact("f", "tea"), axis(0)), put(fact("g", "milk"), axis(1))], SPACE)
        for space in (OTHER_SPACE, THIRD_SPACE):
            embedded.add_space(space)
        fill(alice, OTHER_SPACE)
        (first, _) = alice.unembedded(THIRD_SPACE, 10)
        alice.embed(THIRD_SPACE, {first: axis(0, 4)})
        embedded.switch_space(OTHER_SPACE)
        assert states(embedded) == [("suite-other", True, 2, 0), ("suite-third", False, 2, 1)]
        fill(alice, THIRD_SPACE)
        embedded.switch_space(THIRD_SPACE)
        assert states(embedded) == [("suite-third", True, 2, 0)]
        assert found(alice, question(vector=axis(0, 4), threshold=0.9)) == {"f"}
        assert embedded.check() == []

    def test_the_vectors_before_are_deleted_later_and_a_few_at_a_time(
        self, embedded: Store, alice: UserStore, bob: UserStore
    ) -> None:
        for user in (alice, bob):
            user.apply([put(fact(f"f-{i}", f"tea{i}"), axis(i % 16)) for i in range(60)], SPACE)
        embedded.add_space(OTHER_SPACE)
        fill(alice, OTHER_SPACE)
        fill(bob, OTHER_SPACE)
        embedded.switch_space(OTHER_SPACE)
        assert embedded.stats()["rows"]["spaces_to_drop"] == 1
        assert embedded.check() == []
        dropped: list[int] = []
        for done in embedded.drop_retired():
            dropped.append(done)
            bob.apply([put(fact("meanwhile", "beer"), axis(0, 8))], OTHER_SPACE)
        assert dropped[-1] == 120
        assert embedded.stats()["rows"]["spaces_to_drop"] == 0
        assert list(embedded.drop_retired()) == []
        assert embedded.check() == []
        assert len(found(alice, question(vector=axis(1, 8)))) == 60

    def test_a_deletion_stopped_half_way_is_finished_later(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f", "tea"), axis(0))], SPACE)
        embedded.reset_space(SPACE)
        stopped = embedded.drop_retired()
        next(stopped)
        del stopped
        assert embedded.stats()["rows"]["spaces_to_drop"] == 1
        assert list(embedded.drop_retired())[-1] == 0
        assert embedded.stats()["rows"]["spaces_to_drop"] == 0
        fill(alice, SPACE)
        assert embedded.check() == []

    def test_a_space_is_given_up_but_not_the_one_that_is_searched(
        self, embedded: Store, alice: UserStore
    ) -> None:
        alice.apply([put(fact("f", "tea"), axis(0))], SPACE)
        embedded.add_space(OTHER_SPACE)
        fill(alice, OTHER_SPACE)
        embedded.drop_space(OTHER_SPACE)
        embedded.drop_space(THIRD_SPACE)
        with pytest.raises(Conflict):
            embedded.drop_space(SPACE)
        assert states(embedded) == [("suite-model", True, 1, 0)]
        embedded.add_space(OTHER_SPACE)
        assert [w.text for w in alice.unembedded(OTHER_SPACE, 10)] == ["tea"], "what was computed is void"
        assert sum(embedded.drop_retired()) == 1
        assert [w.text for w in alice.unembedded(OTHER_SPACE, 10)] == ["tea"]
        assert embedded.check() == []

    def test_a_search_sees_the_old_space_or_the_new_one(
        self, embedded: Store, alice: UserStore, reopen: Opener
    ) -> None:
        alice.apply([put(fact(f"f-{i}", "tea"), axis(0)) for i in range(20)], SPACE)
        others = {space: axis(0, space.dimensions) for space in (SPACE, OTHER_SPACE)}
        done = threading.Event()

        def search(space: Space) -> list[Sequence[Candidate]]:
            user = reopen().user("alice")
            seen: list[Sequence[Candidate]] = []
            while not seen or not done.is_set():
                asked = replace(question("tea", others[space]), space=space)
                seen.append(user.search(asked))
            return seen

        with ThreadPoolExecutor(2) as threads:
            searching = [threads.submit(search, space) for space in others]
            try:
                for space in (OTHER_SPACE, SPACE, OTHER_SPACE):
                    embedded.add_space(space)
                    for waiting in alice.unembedded(space, 100):
                        alice.embed(space, {waiting: axis(0, space.dimensions)})
                    embedded.switch_space(space)
                    list(embedded.drop_retired())
            finally:
                done.set()
            answers = [answer for future in searching for answer in future.result()]
        assert answers
        for answer in answers:
            assert len(answer) == 20, "found by its words at least"
            assert len({candidate.similarity is None for candidate in answer}) == 1, "all of it, or none"
