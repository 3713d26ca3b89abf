"""What LangGraph's store finds, ours finds: one suite, run on both. Filters and queries."""

from typing import Any

import pytest

pytest.importorskip("langgraph.store.base")

from langgraph.store.base import BaseStore, PutOp

from tests.framework.langgraph_stores import by_text, keys, memory, server, store

__all__ = ["by_text", "memory", "server", "store"]

pytestmark = pytest.mark.framework


DOCS: dict[str, dict[str, Any]] = {
    "a": {"color": "red", "score": 4.5, "tags": ["x", "y"], "meta": {"lang": "en", "year": 2020}},
    "b": {"color": "red", "score": 3.0, "tags": ["x"], "meta": {"lang": "de", "year": 2021}},
    "c": {"color": "green", "score": 4.0, "tags": [], "meta": {"lang": "en", "year": 2022}},
}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"color": "red"}, "ab"),
        ({"color": {"$eq": "green"}}, "c"),
        ({"color": {"$ne": "red"}}, "c"),
        ({"score": {"$gt": 3.0}}, "ac"),
        ({"score": {"$gte": 4.0}}, "ac"),
        ({"score": {"$lt": 4.5}}, "bc"),
        ({"score": {"$lte": 3}}, "b"),
        ({"score": {"$gt": 3.0, "$lt": 4.5}}, "c"),
        ({"score": {"$gte": 4.0}, "color": "green"}, "c"),
        ({"score": 3}, "b"),
        ({"tags": ["x", "y"]}, "a"),
        ({"tags": ["y", "x"]}, ""),
        ({"tags": []}, "c"),
        ({"meta": {"lang": "en"}}, "ac"),
        ({"meta": {"year": {"$gte": 2021}}}, "bc"),
        ({"meta": "en"}, ""),
        ({"missing": None}, "abc"),
        ({"missing": 1}, ""),
        ({"missing": {"$ne": 1}}, "abc"),
        ({"color": "blue"}, ""),
        ({}, "abc"),
        (None, "abc"),
    ],
)
def test_filters(store: BaseStore, wanted: dict[str, Any] | None, found: str) -> None:
    store.batch([PutOp(("docs",), key, value) for key, value in DOCS.items()])
    assert sorted(keys(store.search(("docs",), filter=wanted))) == [*found]


def test_an_unknown_operator_is_refused(store: BaseStore) -> None:
    store.put(("docs",), "a", {"n": 1})
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("docs",), filter={"n": {"$near": 1}})


def test_the_nearest_comes_first(by_text: BaseStore) -> None:
    texts = {
        "zebra": "a zany zebra called Xerxes",
        "dogs": "something about dogs",
        "birds": "words about birds",
    }
    for key, text in texts.items():
        by_text.put(("test",), key, {"text": text, "other": "Xerxes dogs birds"})
    found = by_text.search(("test",), query="Xerxes the zebra")
    assert found[0].key == "zebra"
    assert len(found) == 3
    scores = [item.score for item in found if item.score is not None]
    assert scores == sorted(scores, reverse=True)
    assert scores


def test_what_was_overwritten_is_not_found_by_its_old_text(by_text: BaseStore) -> None:
    by_text.put(("test",), "one", {"text": "a zany zebra called Xerxes"})
    by_text.put(("test",), "two", {"text": "the zebra crossing"})
    before = by_text.search(("test",), query="zany Xerxes")
    assert before[0].key == "one"
    by_text.put(("test",), "one", {"text": "dogs that bark"})
    after = {item.key: item.score or 0.0 for item in by_text.search(("test",), query="zany Xerxes")}
    assert after["one"] < (before[0].score or 0.0)
    assert by_text.search(("test",), query="dogs that bark")[0].key == "one"


def test_what_is_not_indexed_comes_last_without_a_score(by_text: BaseStore) -> None:
    by_text.put(("test",), "hidden", {"text": "new text about dogs"}, index=False)
    for number in range(3):
        by_text.put(("test",), f"k{number}", {"text": f"text about dogs {number}"})
    assert "hidden" not in keys(by_text.search(("test",), query="new text about dogs", limit=3))
    last = by_text.search(("test",), query="new text about dogs")[-1]
    assert (last.key, last.score) == ("hidden", None)
    assert by_text.get(("test",), "hidden") is not None


def test_an_item_may_be_indexed_by_its_own_fields(by_text: BaseStore) -> None:
    by_text.put(
        ("test",),
        "a",
        {"text": "nothing", "chapters": [{"t": "volcano"}, {"t": "glacier"}]},
        ["chapters[*].t"],
    )
    by_text.put(("test",), "b", {"text": "harbour and ships", "chapters": []})
    assert by_text.search(("test",), query="volcano")[0].key == "a"
    assert by_text.search(("test",), query="harbour ships")[0].key == "b"


def test_a_query_with_a_filter(by_text: BaseStore) -> None:
    docs = [
        ("1", "red apple", "red"),
        ("2", "red car", "red"),
        ("3", "green apple", "green"),
        ("4", "blue car", "blue"),
    ]
    for key, text, color in docs:
        by_text.put(("test",), key, {"text": text, "color": color})
    assert keys(by_text.search(("test",), query="apple", filter={"color": "red"})) == ["1", "2"]
    assert keys(by_text.search(("test",), query="car", filter={"color": "red"})) == ["2", "1"]
    assert keys(by_text.search(("test",), query="car", filter={"color": {"$ne": "red"}})) == ["4", "3"]


def test_pages_of_a_query(by_text: BaseStore) -> None:
    for number in range(5):
        by_text.put(("test",), f"doc{number}", {"text": f"test document number {number}"})
    pages = [by_text.search(("test",), query="test", limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert len({key for page in pages for key in keys(page)}) == 5
    assert len(by_text.search(("test",), query="test")) == 5


@pytest.mark.parametrize("query", ["", None, "test " * 100, "test!@#$%^&*()", "thanks!", "🐢"])
def test_odd_queries(store: BaseStore, query: str | None) -> None:
    store.put(("test",), "doc", {"text": "test document"})
    assert keys(store.search(("test",), query=query)) == ["doc"]


def test_a_query_looks_below_a_prefix_only(by_text: BaseStore) -> None:
    by_text.put(("a", "1"), "in", {"text": "turtles swim"})
    by_text.put(("a", "2"), "too", {"text": "turtles"})
    by_text.put(("b",), "out", {"text": "turtles swim"})
    assert sorted(keys(by_text.search(("a",), query="turtles swim"))) == ["in", "too"]
    assert keys(by_text.search(("b",), query="turtles swim")) == ["out"]


def test_the_same_text_twice_is_found_twice(by_text: BaseStore) -> None:
    for key in ("one", "two"):
        by_text.put(("a",), key, {"text": "turtles swim"})
    by_text.put(("a",), "three", {"text": "ships sail"})
    found = by_text.search(("a",), query="turtles")
    assert sorted(keys(found[:2])) == ["one", "two"]
    assert found[0].score == pytest.approx(found[1].score)
