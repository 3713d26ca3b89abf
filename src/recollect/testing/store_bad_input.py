"""The store's contract: what cannot be stored is refused whole, everything else comes back as it was."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from recollect.errors import Invalid, NotFound
from recollect.model.changes import Chunk, Put, Remove, Revise
from recollect.model.records import Conversation, Entity, Fact, Profile, ToolInvocation, Turn
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import (
    HARD_TEXTS,
    SPACE,
    START,
    Vector,
    append,
    axis,
    draft,
    entity,
    fact,
    put,
    question,
)
from recollect.testing.store_suite import Opener, StoreSuite, found

MIB = 1 << 20
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = [
    EPOCH,
    EPOCH - timedelta(days=400),
    datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=UTC),
]
NAIVE = datetime(2026, 3, 15)  # noqa: DTZ001 - the point


def _naive(field: str) -> dict[str, Any]:
    return {field: NAIVE}


class BadInputContract(StoreSuite):
    """Bad vectors, hard text, odd names, missing ids, naive times."""

    @pytest.mark.parametrize(
        "vector",
        [
            np.ones(SPACE.dimensions - 1, np.float32),
            np.ones(SPACE.dimensions + 1, np.float32),
            np.ones(0, np.float32),
            np.ones((1, SPACE.dimensions), np.float32),
            np.full(SPACE.dimensions, np.nan, np.float32),
            np.full(SPACE.dimensions, np.inf, np.float32),
            np.full(SPACE.dimensions, 1e30, np.float32),
        ],
        ids=["short", "long", "empty", "flat", "nan", "infinite", "huge"],
    )
    def test_a_bad_vector_is_refused_and_nothing_stored(
        self, embedded: Store, alice: UserStore, vector: Vector
    ) -> None:
        for change in (put(fact("f", "tea"), vector), append(draft("tea", id="t", vector=vector))):
            with pytest.raises(Invalid):
                alice.apply([Put(fact("other")), change], SPACE)
        assert (alice.count(Fact), alice.count(Turn), list(alice.feed())) == (0, 0, [])
        alice.apply([put(fact("f", "tea"))], SPACE)
        (waiting,) = alice.unembedded(SPACE, 5)
        with pytest.raises(Invalid):
            alice.embed(SPACE, {waiting: vector})
        assert alice.unembedded(SPACE, 5) == [waiting]

    def test_a_vector_needs_its_space_named(self, embedded: Store, alice: UserStore) -> None:
        with pytest.raises(Invalid):
            alice.apply([put(fact("f", "tea"), axis(0))])
        assert alice.count(Fact) == 0

    @pytest.mark.parametrize("name", HARD_TEXTS)
    def test_hard_text_comes_back_as_it_was(self, alice: UserStore, reopen: Opener, name: str) -> None:
        text = HARD_TEXTS[name]
        records = (
            fact("f", text, origin=text, metadata={"k": text, text: 1}),
            entity("e", text, aliases=(text, "b"), description=text),
            ToolInvocation(id="i", tool=text, input=[text], output=text, success=True, error=text, at=START),
            Profile(id="profile", preferences={text: text}, expertise=(text,), updated_at=START),
        )
        alice.apply([append(draft(text, id="t", title=text)), *map(put, records[:2]), *map(Put, records[2:])])
        reader = reopen().user("alice")
        assert reader.get(Turn, ["t"])[0].content == text
        assert reader.get(Conversation, ["march-15"])[0].title == text
        for record in records:
            assert reader.get(type(record), [record.id]) == [record]
        assert list(reader.find(Fact, {"origin": text})) == [records[0]]
        assert list(reader.find(Entity, {"name": [text]})) == [records[1]]

    def test_every_code_point(self, alice: UserStore) -> None:
        text = "".join(map(chr, range(0x110000)))
        assert len(text) > MIB
        alice.apply([put(fact("f", text))])
        assert alice.get(Fact, ["f"])[0].content == text

    @pytest.mark.parametrize("word", ["tea ", "x", "雨", "🙂"])
    def test_a_mebibyte(self, embedded: Store, alice: UserStore, word: str) -> None:
        text = (word * MIB)[:MIB] + " needle"
        chunks = (Chunk(0, 1000, axis(0)), Chunk(1000, len(text), axis(1)))
        alice.apply([Put(fact("f", text), chunks)], SPACE)
        assert alice.get(Fact, ["f"])[0].content == text
        assert [c.start for c in alice.search(question("needle"))] == [1000]

    def test_empty_text_is_stored_and_not_found(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([append(draft("", id="t")), put(fact("f", "")), put(fact("g", "tea"))], SPACE)
        assert alice.get(Turn, ["t"])[0].content == ""
        assert found(alice, question("tea")) == {"g"}
        assert {chunk.text for chunk in alice.unembedded(SPACE, 5)} == {"", "tea"}

    @pytest.mark.parametrize(
        "id", ["", "nobody", "%", "*", "' OR 1=1 --", "\x00", "\ud800", "\x10", "x" * 10_000]
    )
    def test_ids_that_do_not_exist(self, alice: UserStore, id: str) -> None:
        alice.apply([put(fact("f", "tea", sources=("t",)))])
        before = list(alice.feed())
        assert alice.get(Fact, [id]) == []
        assert alice.get(Turn, [id, "f"]) == []
        assert alice.count(Fact, {"id": id}) == 0
        assert alice.linking("sources", [id]) == {}
        assert alice.usage([id]) == {}
        with pytest.raises(NotFound):
            list(alice.find(Fact, after=id))
        with pytest.raises(NotFound):
            alice.apply([Revise("fact", id, {"pinned": True})])
        alice.apply([Remove("fact", (id,))])
        alice.touch({id: ("fact", 1, START)})
        assert alice.usage([id]) == {}
        assert list(alice.feed()) == before

    @pytest.mark.parametrize("id", ["a\x00b", "\ud800", "\x10"])
    def test_ids_that_no_store_can_keep(self, alice: UserStore, id: str) -> None:
        for change in (
            Put(fact(id)),
            Put(fact("f", sources=(id,))),
            append(draft(id=id)),
            append(draft(id="t", conversation=id)),
        ):
            with pytest.raises(Invalid):
                alice.apply([change])
        assert list(alice.feed()) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"valid_from": NAIVE},
            {"recorded_at": NAIVE},
            {"expires_at": NAIVE},
            {"confidence": float("nan")},
            {"salience": float("inf")},
            {"metadata": {"at": START}},
            {"metadata": {"n": float("nan")}},
        ],
        ids=str,
    )
    def test_values_that_are_refused(self, alice: UserStore, fields: dict[str, Any]) -> None:
        alice.apply([Put(fact("f"))])
        before = list(alice.feed())
        with pytest.raises(Invalid):
            alice.apply([Put(fact("new")), Put(fact("g", **fields))])
        with pytest.raises(Invalid):
            alice.apply([Revise("fact", "f", fields)])
        assert list(alice.feed()) == before
        assert alice.get(Fact, ["f"]) == [fact("f")]

    @pytest.mark.parametrize("field", ["at", "recorded_at"])
    def test_a_turn_at_a_naive_time_is_refused(self, alice: UserStore, field: str) -> None:
        with pytest.raises(Invalid):
            alice.apply([append(draft("first", id="s"), draft(id="t", **_naive(field)))])
        assert list(alice.feed()) == []

    @pytest.mark.parametrize("at", TIMES, ids=str)
    def test_times_long_ago_and_far_ahead(self, alice: UserStore, at: datetime) -> None:
        alice.apply(
            [
                append(draft("tea", id="t", at=at)),
                put(fact("f", "tea", valid_from=at, recorded_at=at, metadata={"at": at.isoformat()})),
                put(entity("e", "tea", first_seen=at)),
            ]
        )
        assert alice.get(Turn, ["t"])[0].at == at
        assert alice.get(Fact, ["f"])[0].valid_from == at
        assert found(alice, question("tea", since=at)) == {"t", "f", "e"}
        assert found(alice, question("tea", until=at)) == set()

    def test_what_is_not_searched_has_no_chunks(self, alice: UserStore) -> None:
        with pytest.raises(Invalid):
            alice.apply([Put(Profile(id="profile", updated_at=START), (Chunk(0, 1),))])
        assert list(alice.feed()) == []

    def test_naive_times_are_refused_everywhere_else(self, store: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f", "tea"))])
        for field in ("now", "since", "as_of", "known_at"):
            with pytest.raises(Invalid):
                alice.search(question("tea", **_naive(field)))
        with pytest.raises(Invalid):
            list(alice.find(Fact, {"valid_from": NAIVE}))
        with pytest.raises(Invalid):
            alice.touch({"f": ("fact", 1, NAIVE)})
        with pytest.raises(Invalid):
            store.acquire("lease", "me", START, NAIVE)

    @pytest.mark.parametrize("index", [2**63, -(2**63) - 1, 10**30])
    def test_numbers_that_do_not_fit(self, alice: UserStore, index: int) -> None:
        with pytest.raises(Invalid):
            alice.apply([append(draft(id="t", index=index))])
        assert list(alice.feed()) == []

    @pytest.mark.parametrize("user", ["", "  ", "\t", "x" * 257, "a\x00b", "a\nb", "\x7f", "\ud800"])
    def test_users_that_cannot_be(self, store: Store, user: str) -> None:
        with pytest.raises(Invalid):
            store.user(user)

    @pytest.mark.parametrize(
        "user", ["x" * 256, "🙂", "Ünïcödé Näme", "a'b\"c;--", "%_*?", "a b", "\u200b\u202e!"]
    )
    def test_users_that_can(self, store: Store, reopen: Opener, user: str) -> None:
        store.user(user).apply([put(fact("f", "tea"))])
        reader = reopen().user(user)
        assert found(reader, question("tea")) == {"f"}
        assert reader.erase() == {"fact": 1}
