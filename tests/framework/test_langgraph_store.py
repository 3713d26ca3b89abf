"""LangGraph's store on a memory: durable, exact, one user's, expiring, erased, and used by a real graph."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

import pytest

pytest.importorskip("langgraph.store.base")

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import IndexConfig, InvalidNamespaceError, PutOp, SearchOp

from recollect import Invalid, Memory, TooLarge
from recollect.integrations.langgraph import RecollectStore
from recollect.testing.store_samples import ManualClock
from tests.framework.running import run_example
from tests.unit.support import OpenMemory, SwitchedEmbedder

pytestmark = pytest.mark.framework


@pytest.fixture
def store(memory: Memory, clock: ManualClock) -> RecollectStore:
    return RecollectStore(memory, "derek", now=clock.now)


def value(store: RecollectStore, namespace: tuple[str, ...], key: str) -> Any:
    item = store.get(namespace, key)
    return None if item is None else item.value


def test_items_survive_a_restart(open_memory: OpenMemory, clock: ManualClock) -> None:
    first = open_memory()
    RecollectStore(first, "derek", now=clock.now).put(("a", "b"), "k", {"n": [1, {"x": None}]})
    first.close()
    again = RecollectStore(open_memory(), "derek", now=clock.now)
    assert value(again, ("a", "b"), "k") == {"n": [1, {"x": None}]}
    assert again.list_namespaces() == [("a", "b")]


def test_users_and_channels_are_apart(memory: Memory, store: RecollectStore) -> None:
    ana, work = RecollectStore(memory, "ana"), RecollectStore(memory, "derek", channel="work")
    for number, one in enumerate((store, ana, work)):
        one.put(("notes",), "k", {"n": number})
    for number, one in enumerate((store, ana, work)):
        assert value(one, ("notes",), "k") == {"n": number}
        assert [item.value for item in one.search((), query="n")] == [{"n": number}]
        assert one.list_namespaces() == [("notes",)]
    ana.delete(("notes",), "k")
    assert value(store, ("notes",), "k") == {"n": 0}


def test_times_of_an_item(store: RecollectStore, clock: ManualClock) -> None:
    store.put(("a",), "k", {"n": 1})
    made = clock.now()
    clock.advance(hours=1)
    store.put(("a",), "k", {"n": 2})
    item = store.get(("a",), "k")
    assert item is not None
    assert (item.created_at, item.updated_at) == (made, clock.now())


def test_large_and_odd_values_are_exact(store: RecollectStore) -> None:
    values: dict[str, dict[str, Any]] = {
        "large": {"text": "ß🐢\n" * 100_000, "n": list(range(1000))},
        "odd": {"\x00": "\ud800", "quoted": '"\\', "whole": 2**70, "small": 5e-324, "deep": [[[{}]]]},
        "edge": {"text": "x" * 40_000},
        "blank": {"text": " \n"},
    }
    for key, one in values.items():
        store.put(("a",), key, one)
        assert value(store, ("a",), key) == one
    assert {item.key: item.value for item in store.search(("a",), query="ß")} == values


@pytest.mark.parametrize(
    "odd",
    [
        {"n": float("nan")},
        {"s": {1, 2}},
        {"f": print},
        {"a": [{1: 2}]},
        {1: "x" * 50_000},
        {"a": {None: "x" * 50_000}},
    ],
)
def test_what_is_no_json_is_refused(store: RecollectStore, odd: dict[str, Any]) -> None:
    store.put(("a",), "k", {"n": 1})
    with pytest.raises((Invalid, TypeError, ValueError)):
        store.put(("a",), "k", odd)
    assert value(store, ("a",), "k") == {"n": 1}


def test_too_large_says_what_to_do(store: RecollectStore) -> None:
    with pytest.raises(TooLarge, match="RECOLLECT_CONTENT_LIMIT"):
        store.put(("a",), "k", {"text": "x" * 2_000_000})
    assert value(store, ("a",), "k") is None


def test_an_index_with_an_embedder_is_refused(memory: Memory) -> None:
    with pytest.raises(ValueError, match="own embedder"):
        RecollectStore(memory, "derek", index={"dims": 3, "embed": lambda texts: [[0.0] * 3 for _ in texts]})


def test_labels_in_a_batch_are_checked(store: RecollectStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {"n": 1})])
    assert store.search(()) == []


def test_time_to_live(memory: Memory, store: RecollectStore, clock: ManualClock) -> None:
    store.put(("a",), "short", {"text": "milk"}, ttl=10)
    store.put(("a",), "long", {"text": "bread"})
    clock.advance(minutes=9)
    assert store.get(("a",), "short", refresh_ttl=False) is not None
    clock.advance(minutes=2)
    assert store.get(("a",), "short") is None
    assert [item.key for item in store.search(("a",), query="milk")] == ["long"]
    memory.tend()
    assert memory.scope("derek").counts()["fact"] == 1
    assert value(store, ("a",), "long") == {"text": "bread"}


def test_reading_renews_it(memory: Memory, clock: ManualClock) -> None:
    store = RecollectStore(memory, "derek", ttl={"default_ttl": 10, "refresh_on_read": True}, now=clock.now)
    store.put(("a",), "got", {"n": 1})
    store.put(("a",), "found", {"n": 2})
    store.put(("a",), "left", {"n": 3})
    for _ in range(4):
        clock.advance(minutes=6)
        assert store.get(("a",), "got") is not None
        found = store.search(("a",), filter={"n": 2})
        assert [(item.key, item.updated_at < clock.now()) for item in found] == [("found", True)]
    memory.tend()
    assert [item.key for item in store.search(("a",))] == ["got", "found"]


def test_what_was_deleted_leaves_no_byte(open_memory: OpenMemory, path: Path) -> None:
    memory = open_memory()
    store = RecollectStore(memory, "derek")
    store.put(("secrets",), "pin", {"text": "the pin is walrus-4711"})
    store.put(("secrets",), "pin", {"text": "the pin is otter-4712"})
    store.put(("secrets",), "other", {"text": "kept"})
    store.delete(("secrets",), "pin")
    assert store.get(("secrets",), "pin") is None
    memory.close()
    stored = b"".join(file.read_bytes() for file in path.parent.glob("memory.db*"))
    assert (b"walrus" in stored, b"otter" in stored, b"kept" in stored) == (False, False, True)


def test_an_empty_namespace_is_none(store: RecollectStore) -> None:
    store.put(("a",), "k", {"n": 1})
    store.put(("b" * 300,), "k", {"n": 2})
    store.delete(("a",), "k")
    store.delete(("b" * 300,), "k")
    assert store.list_namespaces() == []


def test_the_background_leaves_items_alone(
    memory: Memory,
    store: RecollectStore,
    clock: ManualClock,
) -> None:
    for number in range(3):  # which say the same, and are three items
        store.put(("a",), f"k{number}", {"text": "I live in Lyon and like green tea."})
    memory.scope("derek").set_retention(expire=True, ttl_days=1)
    for _ in range(3):
        clock.advance(days=200)
        memory.tend()
    assert len(store.search(("a",), query="tea")) == 3


def test_without_an_embedder_items_are_found_by_words(
    store: RecollectStore,
    embedder: SwitchedEmbedder,
) -> None:
    store.put(("a",), "k", {"text": "green tea"})
    embedder.down = True
    store.put(("a",), "other", {"text": "turtles"})
    assert [item.key for item in store.search(("a",), query="turtles")] == ["other", "k"]


def test_a_user_who_switched_memory_off_still_has_their_items(memory: Memory, store: RecollectStore) -> None:
    store.put(("a",), "k", {"text": "green tea"})
    memory.scope("derek").update_settings(enabled=False)
    assert [item.key for item in store.search(("a",), query="tea")] == ["k"]


def test_many_namespaces_are_searched_together(store: RecollectStore) -> None:
    store.batch([PutOp(("u", f"{n:03}"), "k", {"text": f"number {n}"}) for n in range(60)])
    store.put(("other",), "k", {"text": "number 7"})
    found = store.search(("u",), query="number 59", limit=60)
    assert found[0].namespace == ("u", "059")
    assert len(found) == 60
    assert len(store.list_namespaces(prefix=("u",))) == 60


def test_the_best_of_many_come_without_reading_all(store: RecollectStore) -> None:
    store.batch([PutOp(("n",), f"{n:03}", {"text": f"note {n}", "n": n}) for n in range(120)])
    pages = [store.search(("n",), query="note 100", limit=20, offset=offset) for offset in (0, 20)]
    assert pages[0][0].key == "100"
    assert not {item.key for item in pages[0]} & {item.key for item in pages[1]}
    assert [i.key for i in store.search(("n",), query="note 100", filter={"n": {"$gte": 118}})] == [
        "118",
        "119",
    ]


def test_threads_and_two_stores_at_once(open_memory: OpenMemory) -> None:
    stores = [RecollectStore(open_memory(), "derek"), RecollectStore(open_memory(), "derek")]

    def use(number: int) -> None:
        store = stores[number % 2]
        for round in range(5):
            store.put(("shared",), "one", {"n": number, "round": round})
            store.put(("own",), f"{number}-{round}", {"n": number})

    threads = [threading.Thread(target=use, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for store in stores:
        assert len(store.search(("own",), limit=100)) == 30
        assert len(store.search(("shared",))) == 1


class State(TypedDict):
    text: str
    found: NotRequired[list[str]]


def remember(state: State, runtime: Runtime) -> dict[str, Any]:
    assert runtime.store is not None
    runtime.store.put(("notes",), state["text"], {"text": state["text"]})
    found = runtime.store.search(("notes",), query=state["text"])
    return {"found": [item.key for item in found]}


async def aremember(state: State, runtime: Runtime) -> dict[str, Any]:
    assert runtime.store is not None
    await runtime.store.aput(("notes",), state["text"], {"text": state["text"]})
    found = await runtime.store.asearch(("notes",), query=state["text"])
    return {"found": [item.key for item in found]}


@pytest.mark.parametrize("node", [remember, aremember])
def test_in_a_graph(store: RecollectStore, node: Any) -> None:
    builder = StateGraph(State)
    builder.add_node("remember", node)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    graph = builder.compile(store=store)
    for text in ("green tea", "turtles"):
        asyncio.run(graph.ainvoke({"text": text}))
    assert asyncio.run(graph.ainvoke({"text": "turtles"}))["found"] == ["turtles", "green tea"]


def test_items_are_part_of_an_export(memory: Memory, store: RecollectStore) -> None:
    store.put(("a",), "k", {"text": "green tea"})
    memory.scope("ana").import_(memory.scope("derek").export())
    assert value(RecollectStore(memory, "ana"), ("a",), "k") == {"text": "green tea"}


def test_fields_and_operations_of_one_batch(memory: Memory) -> None:
    store = RecollectStore(memory, "derek", index=cast("IndexConfig", {"fields": ["text"]}))
    store.batch([PutOp(("a",), str(n), {"text": f"tea {n}", "json": json.dumps(n)}) for n in range(3)])
    (found,) = store.batch([SearchOp(("a",), query="tea 2", limit=1)])
    assert [item.key for item in cast(Any, found)] == ["2"]


def test_the_example_runs(tmp_path: Path) -> None:
    assert run_example("langgraph_memory.py", tmp_path)[-4:] == [
        "derek: When does Rex eat?",
        "agent: I know that Rex the dog eats at six.",
        "ana: When does Rex eat?",
        "agent: Tell me more.",
    ]
