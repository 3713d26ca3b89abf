"""Two scores become one order: on one scale, by the best part of each record."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.model.search import Candidate
from recollect.recall.fuse import fuse, ranked

CANDIDATES = st.lists(
    st.builds(
        Candidate,
        kind=st.just("turn"),
        owner=st.sampled_from("abcdefgh"),
        start=st.just(0),
        stop=st.just(1),
        similarity=st.none() | st.floats(-2, 2),
        text=st.floats(0, 1000),
    ),
    max_size=20,
)
WEIGHT = st.floats(0, 1)


def candidate(owner: str, similarity: float | None, text: float) -> Candidate:
    return Candidate("turn", owner, 0, 1, similarity, text)


@given(CANDIDATES, WEIGHT, st.booleans())
def test_each_record_once_best_first_within_zero_and_one(
    candidates: list[Candidate], weight: float, has_vector: bool
) -> None:
    fused = fuse(candidates, weight, has_vector)
    assert sorted(f.id for f in fused) == sorted({c.owner for c in candidates})
    assert all(0 <= f.score <= 1 for f in fused)
    assert fused == sorted(fused, key=lambda f: (-f.score, f.id))


@given(CANDIDATES, WEIGHT, st.booleans(), st.randoms())
def test_the_order_of_the_candidates_changes_nothing(
    candidates: list[Candidate], weight: float, has_vector: bool, random: object
) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [f.id for f in fuse(shuffled, weight, has_vector)] == [
        f.id for f in fuse(candidates, weight, has_vector)
    ]


@given(WEIGHT, st.floats(0, 1), st.floats(0, 1), st.floats(0, 50), st.floats(0, 50))
def test_more_of_either_never_ranks_lower(weight: float, s1: float, s2: float, t1: float, t2: float) -> None:
    lower, higher = candidate("b", min(s1, s2), min(t1, t2)), candidate("a", max(s1, s2), max(t1, t2))
    assert [f.id for f in fuse([lower, higher], weight, True)] == ["a", "b"]


@given(CANDIDATES, st.integers(1, 10))
def test_the_best_by_words_keeps_a_place(candidates: list[Candidate], top_k: int) -> None:
    fused = fuse(candidates, 0.6, True)
    chosen = ranked(fused, top_k)[:top_k]
    assert len(chosen) == min(top_k, len(fused))
    assert len({f.id for f in chosen}) == len(chosen)
    assert chosen[:1] == fused[:1]
    most = max((f.signals["bm25"] for f in fused), default=0)
    if most > 0 and top_k > 1:
        assert max(f.signals["bm25"] for f in chosen) == most


def test_a_record_counts_by_its_best_part() -> None:
    (fused,) = fuse([candidate("a", 0.1, 0), candidate("a", 0.9, 0), candidate("a", 0.5, 0)], 1, True)
    assert fused.score == 0.9


def test_without_a_query_vector_only_words_count() -> None:
    by_words = fuse([candidate("a", None, 8), candidate("b", None, 4)], 0.6, False)
    assert [f.id for f in by_words] == ["a", "b"]
    assert by_words[0].score == by_words[0].signals["text"]


def test_a_chunk_that_waits_for_its_vector_is_weighed_by_its_words() -> None:
    first, second = fuse([candidate("a", None, 8), candidate("b", 0.0, 8)], 0.6, True)
    assert first.score == second.score > 0
