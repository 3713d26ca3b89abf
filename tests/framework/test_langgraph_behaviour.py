"""What LangGraph's store does, ours does: one suite, run on both."""

import asyncio
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("langgraph.store.base")

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from recollect import Client, Memory
from recollect.integrations.langgraph import RecollectStore
from recollect.models.hashing import HashingEmbedder
from tests.interface.serving import Served, served

pytestmark = pytest.mark.framework

HASHING = HashingEmbedder()


def embed(texts: list[str]) -> list[list[float]]:
    return HASHING.embed_passages(texts).tolist()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("langgraph") / "memory.db"
    with Memory.open(path, embedder=HASHING, background=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(memory: Memory) -> Iterator[Served]:
    with served(memory) as running:
        yield running


def made(request: pytest.FixtureRequest, index: dict[str, Any]) -> BaseStore:
    """LangGraph's own store, one on a memory here, or one on a memory behind a server; with nothing in it."""
    user = f"user-{uuid.uuid4()}"
    match request.param:
        case "langgraph":
            return InMemoryStore(index=cast("IndexConfig", {"dims": 384, "embed": embed, **index}))
        case "recollect":
            return RecollectStore(request.getfixturevalue("memory"), user, index=cast("IndexConfig", index))
        case _:
            running: Served = request.getfixturevalue("server")
            client = Client(running.url, running.issue(owner=user).key)
            request.addfinalizer(client.close)
            return RecollectStore(client, user, index=cast("IndexConfig", index))


KINDS = ["langgraph", "recollect", "server"]


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest) -> BaseStore:
    """Searched by all of a value."""
    return made(request, {})


@pytest.fixture(params=KINDS)
def by_text(request: pytest.FixtureRequest) -> BaseStore:
    """Searched by the field `text`."""
    return made(request, {"fields": ["text"]})


def keys(found: Any) -> list[str]:
    return [item.key for item in found]


def test_what_was_put_is_got(store: BaseStore) -> None:
    before = datetime.now(UTC)
    value = {"a": [1, 2.5, None, True, {"b": "ß 🐢"}], "": {}, "nested": {"deep": [[]]}}
    store.put(("users", "1"), "k", value)
    item = store.get(("users", "1"), "k")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (value, "k", ("users", "1"))
    assert before <= item.created_at <= item.updated_at <= datetime.now(UTC)


def test_what_was_not_put_is_none(store: BaseStore) -> None:
    store.put(("users", "1"), "k", {"a": 1})
    assert store.get(("users", "1"), "other") is None
    assert store.get(("users", "2"), "k") is None
    assert store.get(("users",), "k") is None


def test_putting_again_overwrites(store: BaseStore) -> None:
    store.put(("a",), "k", {"text": "first", "gone": 1})
    store.put(("a",), "k", {"text": "second"})
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"text": "second"}
    assert len(store.search(("a",))) == 1


def test_a_value_is_a_copy(store: BaseStore) -> None:
    value: dict[str, Any] = {"a": 1}
    store.put(("a",), "k", value)
    value["a"] = 2
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"a": 1}


def test_an_empty_value_is_a_value(store: BaseStore) -> None:
    store.put(("a",), "k", {})
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {}


def test_deleting(store: BaseStore) -> None:
    store.put(("a",), "k", {"x": 1})
    store.put(("a",), "other", {"x": 2})
    store.delete(("a",), "k")
    store.delete(("a",), "never there")
    assert store.get(("a",), "k") is None
    assert keys(store.search(("a",))) == ["other"]
    store.put(("a",), "k", {"x": 3})
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"x": 3}


def test_one_key_in_several_namespaces(store: BaseStore) -> None:
    places = [("a",), ("a", "b"), ("a", "b", "c"), ("b",)]
    for number, namespace in enumerate(places):
        store.put(namespace, "k", {"n": number})
    for number, namespace in enumerate(places):
        item = store.get(namespace, "k")
        assert item is not None
        assert item.value == {"n": number}


def test_namespaces_that_look_alike(store: BaseStore) -> None:
    places = [("a", "b"), ("a b",), ("a/b",), ("a:b",), ("A", "b"), ("ä", "b"), ("a%", "_"), ("x" * 300,)]
    for number, namespace in enumerate(places):
        store.put(namespace, "k", {"n": number})
    for number, namespace in enumerate(places):
        assert [item.value for item in store.search(namespace)] == [{"n": number}]
    assert store.list_namespaces() == sorted(places)


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("a", ""), ("langgraph", "a"), (1,)])
def test_bad_namespaces_are_refused(store: BaseStore, namespace: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"a": 1})


def test_reserved_namespaces_in_a_batch(store: BaseStore) -> None:
    store.batch([PutOp(("langgraph", "x"), "k", {"a": 1})])
    item = store.get(("langgraph", "x"), "k")
    assert item is not None
    assert item.value == {"a": 1}


def test_a_batch_reads_before_it_writes_and_the_last_put_counts(store: BaseStore) -> None:
    store.put(("a",), "k", {"n": 0})
    ops = [
        PutOp(("a",), "k", {"n": 1}),
        GetOp(("a",), "k"),
        PutOp(("a",), "k", {"n": 2}),
        SearchOp(("a",)),
        ListNamespacesOp(),
        GetOp(("a",), "missing"),
        PutOp(("b",), "new", {"n": 3}),
        PutOp(("b",), "new", None),
    ]
    _, got, _, searched, namespaces, missing, *_ = store.batch(ops)
    assert cast(Any, got).value == {"n": 0}
    assert [item.value for item in cast(Any, searched)] == [{"n": 0}]
    assert (namespaces, missing) == ([("a",)], None)
    assert cast(Any, store.get(("a",), "k")).value == {"n": 2}
    assert store.get(("b",), "new") is None


def test_an_unknown_operation_is_refused(store: BaseStore) -> None:
    with pytest.raises(ValueError, match="Unknown operation"):
        store.batch([cast(Any, "no operation")])


def test_a_prefix_finds_what_is_below(store: BaseStore) -> None:
    for number, namespace in enumerate(
        [("docs",), ("docs", "a"), ("docs", "a", "b"), ("docsx",), ("z", "docs")]
    ):
        store.put(namespace, f"k{number}", {"n": number})
    assert sorted(keys(store.search(("docs",)))) == ["k0", "k1", "k2"]
    assert sorted(keys(store.search(("docs", "a")))) == ["k1", "k2"]
    assert sorted(keys(store.search(()))) == ["k0", "k1", "k2", "k3", "k4"]
    assert store.search(("nothing",)) == []


def test_pages_without_a_query(store: BaseStore) -> None:
    for number in range(25):
        store.put(("p",), f"k{number:02}", {"n": number})
    assert len(store.search(("p",))) == 10
    assert keys(store.search(("p",), limit=4)) == ["k00", "k01", "k02", "k03"]
    assert keys(store.search(("p",), limit=4, offset=23)) == ["k23", "k24"]
    assert store.search(("p",), offset=25) == []


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


NAMESPACES = [
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
    ("b", "a", "f"),
    ("users", "123"),
]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6]),
        ({"prefix": ("a", "b")}, [0, 1, 2, 3]),
        ({"suffix": ("f",)}, [3, 4, 5]),
        ({"prefix": ("a",), "suffix": ("f",)}, [3, 4]),
        ({"prefix": ("a", "*", "f")}, [3, 4]),
        ({"suffix": ("*", "f")}, [3, 4, 5]),
        ({"prefix": ("a", "b"), "limit": 2}, [0, 1]),
        ({"prefix": ("a", "b"), "offset": 2}, [2, 3]),
        ({"prefix": ("nothing",)}, []),
        ({"prefix": ("users", "123", "more")}, []),
    ],
)
def test_listing_namespaces(store: BaseStore, asked: dict[str, Any], found: list[int]) -> None:
    store.batch([PutOp(namespace, "k", {"n": number}) for number, namespace in enumerate(NAMESPACES)])
    assert store.list_namespaces(**asked) == [NAMESPACES[number] for number in found]


def test_listing_namespaces_to_a_depth(store: BaseStore) -> None:
    store.batch([PutOp(namespace, "k", {"n": number}) for number, namespace in enumerate(NAMESPACES)])
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [
        ("a", "b", "c"),
        ("a", "b", "d"),
        ("a", "b", "f"),
    ]
    assert store.list_namespaces(max_depth=1) == [("a",), ("b",), ("users",)]


def test_no_namespaces(store: BaseStore) -> None:
    assert store.list_namespaces() == []


def test_an_unknown_match_is_refused(store: BaseStore) -> None:
    store.put(("a",), "k", {"n": 1})
    odd = MatchCondition(match_type=cast(Any, "middle"), path=("a",))
    with pytest.raises(ValueError, match="Unsupported match"):
        store.batch([ListNamespacesOp(match_conditions=(odd,))])


def test_many_at_once_in_asyncio(store: BaseStore) -> None:
    async def use() -> None:
        await asyncio.gather(*(store.aput(("many",), f"k{n:02}", {"n": n}) for n in range(20)))
        got = await asyncio.gather(*(store.aget(("many",), f"k{n:02}") for n in range(20)))
        assert [item.value for item in got if item] == [{"n": n} for n in range(20)]
        await asyncio.gather(*(store.adelete(("many",), f"k{n:02}") for n in range(10)))
        assert len(await store.asearch(("many",), limit=100)) == 10
        assert await store.alist_namespaces(prefix=("many",)) == [("many",)]

    asyncio.run(use())


def test_an_item_written_by_many_has_one_of_their_values(store: BaseStore) -> None:
    async def use() -> None:
        await asyncio.gather(*(store.aput(("one",), "k", {"n": n}) for n in range(12)))

    asyncio.run(use())
    (found,) = store.search(("one",))
    assert found.value["n"] in range(12)
