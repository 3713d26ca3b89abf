"""Terms, chunks and BM25."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.analyse import TERM_LIMIT, query_terms, terms
from recollect.text.bm25 import COUNT_LIMIT, K1, B, Postings, scores
from recollect.text.chunk import CHUNK_TOKENS, estimate_tokens, spans

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\n!?-_…", []),
        ("My budget is $10,000", ["my", "budget", "is", "10", "000"]),
        ("snake_case CamelCase", ["snak", "case", "camelcas"]),
        ("What's Derek's? I don't, we'll", ["what", "derek", "i", "dont", "well"]),
        ("what’s don’t", ["what", "dont"]),
        ("o'clock 'quoted' ''", ["o", "quot"]),
        ("Zoë Zoe\u0308 ZOE", ["zoe", "zoe", "zoe"]),
        ("Straße ﬁn Ⅳ ½", ["strass", "fin", "iv", "1", "2"]),
        ("Acme™ ℌ 𝐁𝐨𝐥𝐝 ＦＵＬＬ İ K", ["acmetm", "h", "bold", "full", "i", "k"]),
        ("Привет МИР", ["привет", "мир"]),
        ("नमस्ते", ["नमस्ते"]),
        ("שָׁלוֹם", ["שָׁלוֹם"]),
        ("東京", ["東", "京", "東京"]),
        ("がぎ", ["が", "ぎ", "がぎ"]),
        ("한국어 좋아", ["한국어", "좋아"]),
        ("abc東京xyz", ["abc", "東", "京", "東京", "xyz"]),
        ("I ♥ 🙂🙂", ["i", "♥", "🙂", "🙂"]),
        ("a\x00b\ud800c", ["a", "b", "c"]),
        ("x" * 100, ["x" * TERM_LIMIT]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(ANY_TEXT)
def test_terms_are_what_every_index_can_hold(text: str) -> None:
    """Nothing in a term may be cut, folded or refused by the engine that stores it."""
    for term in terms(text):
        assert 0 < len(term) <= TERM_LIMIT
        assert not any(c.isspace() for c in term)
        assert all(c.isdigit() or "a" <= c <= "z" for c in term if c.isascii()), term
        term.encode("utf-8")


def test_terms_of_every_code_point_are_folded() -> None:
    text = " ".join(f"é{chr(code)}" for code in range(0x110000))
    assert not [
        term for term in terms(text) if any(c.isascii() and (c.isupper() or not c.isalnum()) for c in term)
    ]


@given(ANY_TEXT, ANY_TEXT)
def test_terms_of_joined_texts_are_those_of_both(one: str, other: str) -> None:
    assert terms(f"{one}\n{other}") == terms(one) + terms(other)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_cut_for_ascii_makes_no_difference(text: str) -> None:
    assert terms(f"{text}\n東") == [*terms(text), "東"]


@given(ANY_TEXT)
def test_case_does_not_matter(text: str) -> None:
    assert terms(text.casefold()) == terms(text)


def test_query_terms_leave_out_what_says_nothing() -> None:
    assert query_terms("What is my budget for the budget trip?") == ["budget", "trip"]
    assert query_terms("who is it?") == ["who", "is", "it"]
    assert query_terms("") == []


# Chunks

TEXTS = st.one_of(
    ANY_TEXT,
    st.lists(
        st.sampled_from(["word ", "Done. ", "\n\n", "日本。", "x" * 30, "   ", "é", "🙂", "?! "]),
        max_size=120,
    ).map("".join),
)


@given(TEXTS, st.integers(1, 40))
def test_spans_cover_everything_but_white_space(text: str, limit: int) -> None:
    found = spans(text, limit)
    end = 0
    for start, stop in found:
        assert end <= start < stop <= len(text)
        assert not text[end:start].strip()
        assert text[start:stop].strip()
        end = stop
    assert not text[end:].strip()


@given(TEXTS, st.integers(1, 40))
def test_spans_are_within_the_limit(text: str, limit: int) -> None:
    assert all(estimate_tokens(text[start:stop]) <= limit for start, stop in spans(text, limit))


@given(st.lists(st.sampled_from(["one two three.", "Four five!", "Six?"]), min_size=1, max_size=60))
def test_spans_end_with_sentences_where_they_can(sentences: list[str]) -> None:
    text = " ".join(sentences)
    for start, stop in spans(text, 8):
        assert text[stop - 1] in ".!?"
        assert start == 0 or text[start - 1] == " "


def test_a_short_text_is_one_chunk() -> None:
    assert spans("Hello there.") == [(0, 12)]
    assert spans("") == spans(" \n\t ") == []


def test_a_long_text_is_many_full_chunks() -> None:
    text = "The budget of the trip is ten thousand. " * 500
    found = spans(text)
    assert len(found) > 10
    sizes = [estimate_tokens(text[start:stop]) for start, stop in found[:-1]]
    assert min(sizes) > CHUNK_TOKENS // 2


def test_a_mebibyte_is_cut_in_reasonable_time() -> None:
    for text in ("word " * 210_000, "x" * (1 << 20), "雨" * (1 << 20), "a.\n" * 350_000):
        found = spans(text)
        assert sum(stop - start for start, stop in found) > len(text) * 0.6


# BM25


def naive(documents: list[list[str]], query: list[str]) -> list[float]:
    mean = sum(map(len, documents)) / len(documents)
    totals: list[float] = []
    for document in documents:
        counts, total = Counter(document), 0.0
        for term in query:
            having = sum(term in other for other in documents)
            rarity = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            if counts[term]:
                count, length = min(counts[term], COUNT_LIMIT), 1 - B + B * len(document) / mean
                total += rarity * count * (K1 + 1) / (count + K1 * length)
        totals.append(total)
    return totals


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), min_size=1, max_size=15).filter(any),
    st.lists(st.sampled_from("abcdefz"), unique=True, max_size=4),
)
def test_bm25_is_the_textbooks(documents: list[list[str]], query: list[str]) -> None:
    postings: list[Postings] = []
    for term in query:
        places = [i for i, document in enumerate(documents) if term in document]
        counts = [documents[i].count(term) for i in places]
        postings.append(Postings(np.array(places, np.int64), np.array(counts, np.int64)))
    lengths = np.array([len(document) for document in documents], np.int32)
    found = scores(postings, lengths, len(documents), int(lengths.sum()))
    assert found.tolist() == pytest.approx(naive(documents, query), rel=1e-5)
    assert (found >= 0).all()


def test_bm25_over_a_part_of_the_documents() -> None:
    """Places may be fewer than documents: the statistics are the user's, not those of the places."""
    some = Postings(np.array([1], np.int64), np.array([2], np.int64))
    lengths = np.array([5, 10], np.int32)
    wide, narrow = scores([some], lengths, 1000, 10_000), scores([some], lengths, 2, 15)
    assert wide[1] > narrow[1] > wide[0] == narrow[0] == 0.0


def test_bm25_of_nothing() -> None:
    assert scores([], np.empty(0, np.int32), 0, 0).tolist() == []
    assert scores([], np.array([3], np.int32), 1, 3).tolist() == [0.0]


def test_a_clitic_alone_is_no_term() -> None:
    assert terms("大阪's") == ["大", "阪", "大阪"]
    assert "" not in terms("東京's ' '' a's")
