"""The store's contract: search finds what is there now, by meaning and by words."""

import math
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from recollect.model.changes import Chunk, Put, Remove, Revise
from recollect.model.records import Procedure, Role
from recollect.model.search import Candidate, Search
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import (
    HARD_TEXTS,
    SPACE,
    START,
    append,
    axis,
    draft,
    entity,
    fact,
    memory,
    put,
    question,
    vectors,
)
from recollect.testing.store_suite import Opener, StoreSuite, found
from recollect.text.analyse import terms

K1, B = 1.2, 0.75


def candidate(user: UserStore, search: Search, owner: str) -> Candidate:
    (only,) = [c for c in user.search(search) if c.owner == owner]
    return only


def bm25(texts: dict[str, str], query: str) -> dict[str, float]:
    """The textbook, one document after the other."""
    words = {owner: Counter(terms(text)) for owner, text in texts.items()}
    mean = sum(sum(counts.values()) for counts in words.values()) / len(words)
    scores: dict[str, float] = {}
    for owner, counts in words.items():
        for term in dict.fromkeys(terms(query)):
            if not counts[term]:
                continue
            having = sum(1 for other in words.values() if other[term])
            rarity = math.log(1 + (len(words) - having + 0.5) / (having + 0.5))
            length = 1 - B + B * sum(counts.values()) / mean
            score = rarity * (K1 + 1) * counts[term] / (counts[term] + K1 * length)
            scores[owner] = scores.get(owner, 0.0) + score
    return scores


class SearchContract(StoreSuite):
    """Vectors are searched exactly, words by BM25 over the user's own statistics."""

    def test_a_user_without_anything_finds_nothing(self, embedded: Store, alice: UserStore) -> None:
        assert alice.search(question("tea", axis(0))) == []
        alice.secret()
        assert alice.search(question("tea", axis(0))) == []

    def test_a_candidate_says_where_and_how_near(self, embedded: Store, alice: UserStore) -> None:
        text = "First this. Then tea."
        chunks = (Chunk(0, 11, axis(0)), Chunk(12, 21, axis(1)))
        alice.apply([Put(fact("f", text), chunks)], SPACE)
        near, far = sorted(alice.search(question("tea", axis(1))), key=lambda c: c.start, reverse=True)
        assert (near.kind, near.owner, near.start, near.stop) == ("fact", "f", 12, 21)
        assert near.similarity == pytest.approx(1.0, abs=1e-3)
        assert near.text > 0
        assert (far.start, far.stop, far.text) == (0, 11, 0.0)
        assert far.similarity == pytest.approx(SPACE.similarity(0.0), abs=1e-3)

    def test_turns_and_entities_are_found_too(self, embedded: Store, alice: UserStore) -> None:
        named = entity("e", "Oahu", aliases=("the gathering place",), description="an island")
        alice.apply([append(draft("we fly to Oahu", id="t", vector=axis(0))), put(named, axis(1))], SPACE)
        assert {(c.kind, c.owner) for c in alice.search(question("oahu"))} == {("turn", "t"), ("entity", "e")}
        assert found(alice, question("gathering")) == {"e"}
        assert found(alice, question("island", axis(0), threshold=0.5)) == {"e", "t"}

    def test_what_has_no_chunks_is_not_found(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([Put(fact("f", "tea")), append(draft("tea", id="t", chunked=False))], SPACE)
        assert alice.search(question("tea", axis(0))) == []

    @pytest.mark.parametrize("limit", [1, 7, 50])
    def test_vectors_are_searched_exactly(self, embedded: Store, alice: UserStore, limit: int) -> None:
        rows, queries = vectors(400), vectors(20, seed=8)
        alice.apply([put(fact(f"f-{i}", "x"), row) for i, row in enumerate(rows)], SPACE)
        for query in queries:
            cosines = rows @ query
            best = np.argsort(cosines)[::-1][:limit]
            hits = alice.search(question(vector=query, limit=limit))
            assert {c.owner for c in hits} == {f"f-{i}" for i in best}
            for c in hits:
                expected = SPACE.similarity(float(cosines[int(c.owner[2:])]))
                assert c.similarity == pytest.approx(expected, abs=1e-4)

    def test_words_are_scored_by_bm25(self, alice: UserStore) -> None:
        texts = {
            f"f-{i}": " ".join(f"w{(i * j) % 11}" for j in range(1, 3 + i % 9)) + (" rare" if i == 13 else "")
            for i in range(60)
        }
        alice.apply([put(fact(owner, text)) for owner, text in texts.items()])
        alice.apply([Remove("fact", ("f-0", "f-1")), put(fact("f-2", "w3 changed"))])
        del texts["f-0"], texts["f-1"]
        texts["f-2"] = "w3 changed"
        for query in ("w3", "w1 w5 rare", "rare rare", "w3 changed nowhere", "nowhere"):
            scores = {c.owner: c.text for c in alice.search(question(query))}
            assert scores == pytest.approx(bm25(texts, query), rel=1e-4)

    def test_at_most_the_limit_by_each(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([put(fact(f"tea-{i}", "tea " * (i + 1)), axis(1)) for i in range(9)], SPACE)
        alice.apply([put(fact(f"near-{i}", "x"), axis(0)) for i in range(9)], SPACE)
        hits = found(alice, question("tea", axis(0), limit=4))
        assert {owner[:3] for owner in hits} == {"tea", "nea"}
        assert len(hits) == 8
        assert found(alice, question("tea", axis(0), limit=0)) == set()

    def test_the_threshold_is_for_what_only_the_vector_finds(self, embedded: Store, alice: UserStore) -> None:
        alice.apply(
            [
                put(fact("same", "x"), axis(0)),
                put(fact("unrelated", "x"), axis(1)),
                put(fact("words", "tea"), axis(1)),
                put(fact("waiting", "tea")),
            ],
            SPACE,
        )
        assert found(alice, question("tea", axis(0), threshold=0.5)) == {"same", "words", "waiting"}
        low = candidate(alice, question("tea", axis(0), threshold=0.5), "words")
        assert low.similarity == pytest.approx(SPACE.similarity(0.0), abs=1e-3)
        assert candidate(alice, question("tea", axis(0)), "waiting").similarity is None
        assert found(alice, question("tea", axis(0), threshold=1.1)) == {"words", "waiting"}

    @pytest.mark.parametrize(
        "vector", [np.ones(3, np.float32), np.ones(0, np.float32), np.full(16, np.nan, np.float32)]
    )
    def test_a_vector_of_another_space_leaves_the_words(
        self, embedded: Store, alice: UserStore, vector: np.ndarray
    ) -> None:
        alice.apply([put(fact("f", "tea"), axis(0)), put(fact("g", "milk"), axis(0))], SPACE)
        (hit,) = alice.search(question("tea", vector))
        assert (hit.owner, hit.similarity) == ("f", None)

    def test_without_a_space_words_are_searched(self, alice: UserStore) -> None:
        alice.apply([put(fact("f", "tea")), put(fact("g", "milk"))])
        (hit,) = alice.search(question("tea", axis(0)))
        assert (hit.owner, hit.similarity) == ("f", None)

    @pytest.mark.parametrize("name", HARD_TEXTS)
    def test_hard_text_is_found_by_its_own_words(self, alice: UserStore, name: str) -> None:
        text = HARD_TEXTS[name]
        alice.apply([put(fact("other", "nothing in common zzz")), put(fact("hard", text))])
        expected = {"hard"} if terms(text) else set[str]()
        for query in (text, f"{text} ", f'"{text}"', f"NEAR({text})*"):
            assert found(alice, question(query)) - {"other"} == expected

    @pytest.mark.parametrize(
        "term",
        [
            "",
            " ",
            "*",
            '"',
            "'",
            "NEAR(",
            "a OR b",
            "tea*",
            "^tea",
            "-tea",
            "te_a",
            "\x00",
            "\ud800",
            "1_tea",
        ],
    )
    def test_raw_terms_are_never_operators(self, alice: UserStore, term: str) -> None:
        alice.apply([put(fact("f", "tea or b near a"))])
        assert alice.search(replace(question(), terms=(term,))) == []
        assert found(alice, replace(question(), terms=(term, "tea"))) == {"f"}

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("The BUDGET of Zoë", "budget zoe"),
            ("Straße", "STRASSE"),
            ("don't", "dont"),
            ("Acme™ ℌall", "acmetm hall"),
            ("𝐁𝐨𝐥𝐝 ﬁne", "bold fine"),
            ("我们去东京", "东京"),
            ("İstanbul", "istanbul"),
        ],
    )
    def test_case_accents_and_scripts_do_not_matter(self, alice: UserStore, text: str, query: str) -> None:
        alice.apply([put(fact("f", text))])
        for word in query.split():
            assert found(alice, question(word)) == {"f"}

    def test_changes_are_seen_at_once(self, embedded: Store, alice: UserStore, reopen: Opener) -> None:
        other = reopen().user("alice")
        for user in (alice, other):
            assert found(user, question("tea coffee", axis(0))) == set()
        alice.apply([put(fact("f", "tea"), axis(0))], SPACE)
        for user in (alice, other):
            assert candidate(user, question("tea"), "f").text > 0
        other.apply([put(fact("f", "coffee"), axis(1))], SPACE)
        for user in (alice, other):
            assert found(user, question("tea")) == set()
            hit = candidate(user, question("coffee", axis(1)), "f")
            assert hit.similarity == pytest.approx(1.0, abs=1e-3)
        other.apply([Remove("fact", ("f",))])
        for user in (alice, other):
            assert user.search(question("coffee", axis(1))) == []

    def test_a_late_vector_is_seen_at_once(self, embedded: Store, alice: UserStore, reopen: Opener) -> None:
        other = reopen().user("alice")
        alice.apply([put(fact("f", "tea"))], SPACE)
        for user in (alice, other):
            assert user.search(question(vector=axis(0))) == []
        (waiting,) = other.unembedded(SPACE, 5)
        assert other.embed(SPACE, {waiting: axis(0)}) == 1
        for user in (alice, other):
            assert found(user, question(vector=axis(0), threshold=0.9)) == {"f"}

    def test_revised_fields_are_seen_by_filters_at_once(
        self, embedded: Store, alice: UserStore, reopen: Opener
    ) -> None:
        other = reopen().user("alice")
        alice.apply([put(fact("f", "tea"), axis(0))], SPACE)
        later = START + timedelta(hours=1)
        steps: list[tuple[dict[str, Any], dict[str, Any]]] = [
            ({"channel": "work"}, {"channels": ("work",)}),
            ({"agent": "helper"}, {"agent": "helper"}),
            ({"confidence": 0.25}, {"min_confidence": 0.5}),
            ({"confidence": 0.75}, {"min_confidence": 0.5}),
            ({"expires_at": START}, {}),
            ({"expires_at": None}, {}),
            ({"valid_to": START}, {}),
            ({"valid_to": None}, {}),
            ({"retired_at": later}, {}),
        ]
        for fields, filters in steps:
            before = found(alice, question("tea", **filters))
            other.apply([Revise("fact", "f", fields)])
            after = found(alice, question("tea", **filters))
            assert after == found(other, question("tea", **filters))
            assert len(before) + len(after) == 1, fields

    def test_changes_in_one_transaction_are_searched_as_they_ended(
        self, embedded: Store, alice: UserStore
    ) -> None:
        alice.apply(
            [
                put(fact("f", "tea"), axis(0)),
                Revise("fact", "f", {"channel": "work"}),
                put(memory(Procedure, "p", "how to brew"), axis(1)),
                put(fact("f", "coffee", channel="home"), axis(2)),
                put(memory(Procedure, "q", "how to pour"), axis(3)),
                Revise("fact", "f", {"retired_at": None, "confidence": 0.5}),
                append(draft("water", id="t", vector=axis(4))),
                Remove("turn", ("t",)),
            ],
            SPACE,
        )
        assert found(alice, question("tea water")) == set()
        assert found(alice, question("coffee how", channels=("home", "_global"))) == {"f", "p", "q"}
        assert found(alice, question("coffee", min_confidence=0.6)) == set()
        assert len(alice.search(question(vector=axis(0)))) == 3
        assert embedded.check() == []

    def test_a_hundred_small_writes_and_searches_stay_right(
        self, embedded: Store, alice: UserStore, reopen: Opener
    ) -> None:
        hands = [alice, reopen().user("alice")]
        rows = vectors(100)
        alive: dict[str, tuple[int, str]] = {}
        for i in range(100):
            writer, reader = hands[i % 2], hands[(i // 2) % 2]
            id = f"m-{i * 7 % 40}"
            if i % 5 == 4 and alive:
                id = sorted(alive)[i % len(alive)]
                writer.apply([Remove("fact", (id,))])
                del alive[id]
            else:
                writer.apply([put(fact(id, f"word{i % 6} all"), rows[i])], SPACE)
                alive[id] = (i, f"word{i % 6} all")
            assert found(reader, question(f"word{i % 6}")) == {
                id for id, (_, text) in alive.items() if f"word{i % 6} " in text
            }
            best = sorted(alive, key=lambda id: float(rows[alive[id][0]] @ rows[0]), reverse=True)[:3]
            assert found(reader, question(vector=rows[0], limit=3)) == set(best)
            scores = {c.owner: c.text for c in reader.search(question("all"))}
            expected = bm25({id: text for id, (_, text) in alive.items()}, "all")
            assert scores == pytest.approx(expected, rel=1e-4)

    def test_roles_of_turns(self, alice: UserStore) -> None:
        alice.apply(
            [append(draft("tea", id="u"), draft("tea", id="a", role=Role.ASSISTANT)), put(fact("f", "tea"))]
        )
        assert found(alice, question("tea", roles=(Role.ASSISTANT,))) == {"a"}
        assert found(alice, question("tea", roles=(Role.USER, Role.TOOL))) == {"u"}
        assert found(alice, question("tea", roles=())) == set()
