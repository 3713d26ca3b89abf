"""Many scores become one order: on one scale, by the best part of each record (C3, C5)."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recollect.model.search import Candidate
from recollect.recall.fuse import Found, Fused, Weighing, Window, fuse, ranked
from recollect.recall.techniques import DEFAULT
from recollect.testing.store_samples import START

CANDIDATES = st.lists(
    st.builds(
        Candidate,
        kind=st.just("turn"),
        owner=st.sampled_from("abcdefgh"),
        start=st.just(0),
        stop=st.just(1),
        similarity=st.none() | st.floats(-2, 2),
        text=st.floats(0, 1000),
        at=st.just(START),
        conversation=st.sampled_from(["one", "two"]),
        role=st.sampled_from(["user", "assistant"]),
        place=st.none(),
        weight=st.floats(0.5, 1.5),
    ),
    max_size=20,
)
WEIGHT = st.floats(0, 1)
PLAIN = frozenset[str]()


def candidate(owner: str, similarity: float | None, text: float, **fields: Any) -> Candidate:
    return Candidate("turn", owner, 0, 1, similarity, text, **{"at": START, **fields})


def fused(
    candidates: list[Candidate], share: float = 0.6, on: frozenset[str] = PLAIN, **more: Any
) -> list[Fused]:
    return fuse([Found(chunk) for chunk in candidates], Weighing(share, START, on, **more))


@given(CANDIDATES, WEIGHT, st.sampled_from([PLAIN, DEFAULT, frozenset({"rrf"})]))
def test_each_record_once_best_first(candidates: list[Candidate], share: float, on: frozenset[str]) -> None:
    found = fused(candidates, share, on)
    assert sorted(f.id for f in found) == sorted({c.owner for c in candidates})
    assert all(f.score >= 0 for f in found)
    assert found == sorted(found, key=lambda f: (-f.score, f.id))


@given(CANDIDATES, WEIGHT, st.randoms())
def test_the_order_of_the_candidates_changes_nothing(
    candidates: list[Candidate], share: float, random: object
) -> None:
    once = list({c.owner: c for c in candidates}.values())
    shuffled = list(once)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [f.id for f in fused(shuffled, share, DEFAULT)] == [f.id for f in fused(once, share, DEFAULT)]


@given(WEIGHT, st.floats(0, 1), st.floats(0, 1), st.floats(0, 50), st.floats(0, 50))
def test_more_of_either_never_ranks_lower(share: float, s1: float, s2: float, t1: float, t2: float) -> None:
    lower, higher = candidate("b", min(s1, s2), min(t1, t2)), candidate("a", max(s1, s2), max(t1, t2))
    assert [f.id for f in fused([lower, higher], share)] == ["a", "b"]


@given(CANDIDATES, st.integers(1, 10), st.sampled_from([PLAIN, DEFAULT]))
def test_the_best_by_words_keeps_a_place(candidates: list[Candidate], top_k: int, on: frozenset[str]) -> None:
    found = fused(candidates)
    chosen = ranked(found, top_k, on)
    assert sorted(f.id for f in chosen) == sorted(f.id for f in found)
    assert chosen[:1] == found[:1]
    most = max((f.signals["bm25"] for f in found), default=0)
    if most > 0 and top_k > 1:
        assert max(f.signals["bm25"] for f in chosen[:top_k]) == most


def test_a_record_counts_by_its_best_part() -> None:
    (one,) = fused([candidate("a", 0.1, 0), candidate("a", 0.9, 0), candidate("a", 0.5, 0)], 1)
    assert one.score == 0.9


def test_without_a_query_vector_only_words_count() -> None:
    by_words = fused([candidate("a", None, 8), candidate("b", None, 4)], 0)
    assert [f.id for f in by_words] == ["a", "b"]
    assert by_words[0].score == by_words[0].signals["text"]


def test_a_chunk_that_waits_for_its_vector_is_weighed_by_its_words() -> None:
    first, second = fused([candidate("a", None, 8), candidate("b", 0.0, 8)])
    assert first.score == second.score > 0


def test_a_time_that_is_asked_for_is_preferred() -> None:
    june = Window(START + timedelta(days=80), START + timedelta(days=110))
    inside = candidate("a", 0.5, 0, at=START + timedelta(days=90))
    outside = candidate("b", 0.6, 0, at=START)
    assert [f.id for f in fused([inside, outside], 1)] == ["b", "a"]
    assert [f.id for f in fused([inside, outside], 1, windows=[june])] == ["a", "b"]


def test_what_the_user_says_elsewhere_in_the_conversation_counts() -> None:
    talk = [
        candidate("a", 0.5, 0, conversation="trip", role="assistant", place=1),
        candidate("b", 0.4, 30, conversation="trip", role="user", place=4),
        candidate("c", 0.55, 0, conversation="other", role="user", place=1),
    ]
    on = frozenset({"conversation"})
    assert [f.id for f in fused(talk)] == ["b", "c", "a"]
    assert [f.id for f in fused(talk, on=on)] == ["b", "a", "c"]
    talk[1] = talk[1]._replace(role="assistant")
    assert [f.id for f in fused(talk, on=on)] == ["b", "c", "a"]


def test_a_question_counts_by_its_answer() -> None:
    talk = [
        candidate("question", 0.5, 0, conversation="c", place=1),
        candidate("answer", 0.9, 0, conversation="c", place=2),
        candidate("other", 0.52, 0, conversation="d", place=1),
    ]
    assert [f.id for f in fused(talk)] == ["answer", "other", "question"]
    assert [f.id for f in fused(talk, on=frozenset({"neighbours"}))] == ["answer", "question", "other"]


def test_weights_newness_and_kinds_count_when_they_are_switched_on() -> None:
    heavy, light = candidate("h", 0.5, 0, weight=1.2), candidate("l", 0.55, 0, weight=0.7)
    assert [f.id for f in fused([heavy, light])] == ["l", "h"]
    assert [f.id for f in fused([heavy, light], on=frozenset({"boosts"}))] == ["h", "l"]
    old, new = candidate("o", 0.5, 0, at=START - timedelta(days=300)), candidate("n", 0.45, 0)
    assert [f.id for f in fused([old, new])] == ["o", "n"]
    assert [f.id for f in fused([old, new], on=frozenset({"recency"}))] == ["n", "o"]
    turn, fact = candidate("t", 0.5, 0), candidate("f", 0.55, 0)._replace(kind="fact")
    assert [f.id for f in fused([turn, fact])] == ["f", "t"]
    assert [f.id for f in fused([turn, fact], on=frozenset({"kinds"}))] == ["t", "f"]


def test_ranks_can_be_fused_in_place_of_scores() -> None:
    both = candidate("both", 0.5, 5)
    some = [both, candidate("near", 0.99, 0), candidate("worded", None, 900)]
    assert fused(some)[0].id != "both"
    assert fused(some, on=frozenset({"rrf"}))[0].id == "both"


def test_one_conversation_does_not_fill_all_places() -> None:
    one = [candidate(f"a{n}", 0.9 - n / 100, 0, conversation="one") for n in range(9)]
    others = [candidate("b", 0.3, 0, conversation="two"), candidate("c", 0.2, 0)]
    found = fused([*one, *others])
    assert [f.id for f in ranked(found, 5, PLAIN)][:5] == ["a0", "a1", "a2", "a3", "a4"]
    assert [f.id for f in ranked(found, 5, frozenset({"diversity"}))][:6] == [
        "a0",
        "a1",
        "a2",
        "b",
        "c",
        "a3",
    ]
    alone = fused(one)
    assert ranked(alone, 5, frozenset({"diversity"})) == alone
