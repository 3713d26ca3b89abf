"""What LangGraph's store does, ours does: one suite, run on both. Items and namespaces."""

import asyncio
from datetime import UTC, datetime
from typing import Any, cast

import pytest

pytest.importorskip("langgraph.store.base")

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from tests.framework.langgraph_stores import by_text, keys, memory, server, store

__all__ = ["by_text", "memory", "server", "store"]

pytestmark = pytest.mark.framework


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
