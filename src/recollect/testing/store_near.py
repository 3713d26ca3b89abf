"""The store's contract: what an index beside it follows it by, and what comes of what that proposes."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from recollect.model.changes import Put, Remove, Revise
from recollect.model.search import Near
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import (
    OTHER_SPACE,
    SPACE,
    START,
    axis,
    fact,
    put,
    question,
    vectors,
)
from recollect.testing.store_suite import Opener, StoreSuite, found

ROWS = vectors(60)
NOTHING_LATER = 1 << 60


def fill(user: UserStore) -> dict[str, int]:
    """Facts `f-0`, `f-1`, …, a step each; the numbers of their documents."""
    for place, row in enumerate(ROWS):
        user.apply([put(fact(f"f-{place}", f"tea {place}"), row)], SPACE)
    chunks = sorted(user.searched_since(0, 1000).chunks, key=lambda chunk: chunk.doc)
    return {f"f-{place}": chunk.doc for place, chunk in enumerate(chunks)}


class NearContract(StoreSuite):
    """A projection proposes, the store of record disposes."""

    @pytest.mark.parametrize("limit", [5, 1000])
    def test_only_what_is_proposed_is_compared(self, embedded: Store, alice: UserStore, limit: int) -> None:
        docs = fill(alice)
        named = [f"f-{place}" for place in range(0, 60, 3)]
        near = Near(tuple(docs[name] for name in named), NOTHING_LATER)
        best = sorted(named, key=lambda name: -float(ROWS[int(name[2:])] @ axis(0)))[:limit]
        asked = replace(question(vector=axis(0), limit=limit), near=near)
        hits = alice.search(asked)
        assert {hit.owner for hit in hits} == set(best)
        for hit in hits:
            cosine = float(ROWS[int(hit.owner[2:])] @ axis(0))
            assert hit.similarity == pytest.approx(SPACE.similarity(cosine), abs=1e-4)
        threshold = sorted(hit.similarity or 0.0 for hit in hits)[len(hits) // 2]
        assert 0 < len(alice.search(replace(asked, threshold=threshold))) < len(hits)

    def test_what_changed_since_is_compared_too(self, embedded: Store, alice: UserStore) -> None:
        docs, then = fill(alice), alice.seq()
        near = Near((docs["f-1"],), then)
        asked = replace(question(vector=axis(0)), near=near)
        assert found(alice, asked) == {"f-1"}
        alice.apply([put(fact("new", "x"), axis(3)), Revise("fact", "f-2", {"pinned": True})], SPACE)
        alice.apply([put(fact("late", "x"))], SPACE)
        assert found(alice, asked) == {"f-1", "f-2", "new"}
        (waiting,) = alice.unembedded(SPACE, 10)
        alice.embed(SPACE, {waiting: axis(4)})
        assert found(alice, asked) == {"f-1", "f-2", "new", "late"}
        assert found(alice, replace(asked, near=Near((), alice.seq()))) == set()

    def test_what_is_gone_or_filtered_is_not_found_whatever_is_proposed(
        self, embedded: Store, alice: UserStore, bob: UserStore
    ) -> None:
        docs = fill(alice)
        bob.apply([put(fact("bobs", "tea"), axis(0))], SPACE)
        alice.apply([put(fact("at work", "tea", channel="work"), axis(0))], SPACE)
        alice.apply([Revise("fact", "f-2", {"retired_at": START}), Remove("fact", ("f-1",))])
        proposed = (*docs.values(), 0, 1, 2, 10_000, 1 << 40)
        asked = replace(question(vector=axis(0), channels=("_global",)), near=Near(proposed, 0))
        assert found(alice, asked) == docs.keys() - {"f-1", "f-2"}
        assert found(bob, replace(asked, near=Near(proposed, NOTHING_LATER))) <= {"bobs"}

    def test_words_are_searched_as_ever(self, embedded: Store, alice: UserStore) -> None:
        docs = fill(alice)
        plain = {hit.owner: hit for hit in alice.search(question("tea 7", axis(0), limit=10))}
        asked = replace(question("tea 7", axis(0), limit=10), near=Near((docs["f-50"],), NOTHING_LATER))
        hits = {hit.owner: hit for hit in alice.search(asked)}
        assert hits["f-50"].similarity is not None
        assert hits["f-7"] == plain["f-7"]
        words = {name for name, hit in plain.items() if hit.text > 0 and name != "f-50"}
        assert len(hits.keys() & words) >= 9
        assert all(hit.similarity is not None for hit in hits.values())

    @pytest.mark.parametrize("most", [1, 7, 1000])
    def test_what_is_searched_is_followed_in_whole_steps(
        self, embedded: Store, alice: UserStore, bob: UserStore, most: int
    ) -> None:
        bob.apply([put(fact("f", "x"), axis(0))], SPACE)
        for step in range(5):
            rows = [put(fact(f"f-{step}-{i}", "x", channel="work"), axis(step)) for i in range(4)]
            alice.apply(rows, SPACE)
        alice.apply([Put(fact("unsearched"))])
        alice.apply([Remove("fact", ("f-0-0", "f-4-3")), Revise("fact", "f-2-1", {"confidence": 0.25})])
        known: dict[int, Any] = {}
        since, portions = 0, 0
        while since < alice.seq():
            feed = alice.searched_since(since, most)
            assert feed.upto > since
            assert feed.space == SPACE
            for doc in feed.gone:
                known.pop(doc, None)
            known |= {chunk.doc: chunk for chunk in feed.chunks}
            since, portions = feed.upto, portions + 1
        assert since == alice.seq()
        assert len(known) == 18
        assert (portions == 1) == (most == 1000)
        assert {chunk.confidence for chunk in known.values()} == {1.0, 0.25}
        assert {chunk.channel for chunk in known.values()} == {"work"}
        assert sum(np.array_equal(chunk.vector, axis(1)) for chunk in known.values()) == 4
        assert alice.searched_since(since, most).chunks == ()

    def test_vectors_that_are_followed_are_those_that_are_searched(
        self, store: Store, alice: UserStore
    ) -> None:
        alice.apply([put(fact("f", "x"))])
        feed = alice.searched_since(0, 10)
        assert feed.space is None
        assert [chunk.vector for chunk in feed.chunks] == [None]
        store.add_space(SPACE)
        (waiting,) = alice.unembedded(SPACE, 10)
        alice.embed(SPACE, {waiting: axis(1)})
        store.add_space(OTHER_SPACE)
        (waiting,) = alice.unembedded(OTHER_SPACE, 10)
        alice.embed(OTHER_SPACE, {waiting: axis(2, 8)})
        (chunk,) = alice.searched_since(0, 10).chunks
        assert chunk.terms == ()
        assert alice.searched_since(0, 10, terms=True).chunks[0].terms == ("x",)
        assert chunk.vector is not None
        assert chunk.vector.tolist() == axis(1).tolist()
        store.switch_space(OTHER_SPACE)
        feed = alice.searched_since(0, 10)
        assert feed.space == OTHER_SPACE
        assert [chunk.vector.tolist() for chunk in feed.chunks if chunk.vector is not None] == [
            axis(2, 8).tolist()
        ]

    def test_what_is_lacking_is_counted_up_to_a_number(self, embedded: Store, alice: UserStore) -> None:
        assert alice.lacking(0, 10) == 0
        then = alice.apply([put(fact("f", "x"), axis(0))], SPACE).seq
        alice.apply([put(fact(f"f-{i}", "x"), axis(0)) for i in range(7)], SPACE)
        assert [alice.lacking(since, 5) for since in (0, then, alice.seq())] == [5, 5, 0]
        assert alice.lacking(then, 100) == 7

    def test_whichever_epoch_a_projection_was_written_in_is_told(self, alice: UserStore) -> None:
        assert alice.reach("copy", None, START, timedelta(0)) is None
        alice.apply([put(fact("f", "x"))])
        first = alice.reach("copy", None, START, timedelta(0))
        assert first is not None
        assert (first.epoch, first.reached) == ("", 0)
        for epoch in ("one", "two"):
            assert alice.project("copy", epoch, first.number, 0, first.seq, START, timedelta(0))
        last = alice.reach("copy", None, START, timedelta(0))
        assert last is not None
        assert (last.epoch, last.reached) == ("two", first.seq)
        other = alice.reach("copy", "one", START, timedelta(0))
        assert other is not None
        assert (other.epoch, other.reached) == ("", 0)

    def test_a_database_is_told_from_others(self, store: Store, reopen: Opener) -> None:
        known = store.identity()
        assert len(known) == 16
        assert reopen().identity() == store.identity() == known
