"""LangGraph's store on every engine, sealed or not."""

import pytest

pytest.importorskip("langgraph.store.base")

from langgraph.store.base import PutOp

from recollect import Memory
from recollect.integrations.langgraph import RecollectStore
from recollect.testing.store_samples import ManualClock

pytestmark = pytest.mark.framework


def test_items_on_every_engine(memory: Memory, clock: ManualClock, request: pytest.FixtureRequest) -> None:
    store = RecollectStore(memory, request.node.originalname, now=clock.now)
    odd = {"text": "green tea", "\x00": "\ud800", "n": [1, None]}
    store.batch([PutOp(("a", "ü"), "k\x00", odd), PutOp(("b",), "large", {"text": "x " * 30_000})])
    store.put(("a", "ü"), "short", {"text": "milk"}, ttl=5)
    store.put(("a", "ü"), "k\x00", {**odd, "n": 2})
    item = store.get(("a", "ü"), "k\x00")
    assert item is not None
    assert item.value == {**odd, "n": 2}
    assert [found.key for found in store.search(("a",), query="green tea")] == ["k\x00", "short"]
    assert [found.key for found in store.search((), filter={"n": {"$gte": 2}})] == ["k\x00"]
    clock.advance(minutes=6)
    memory.tend()
    assert len(store.search(("a",))) == 1
    store.delete(("a", "ü"), "k\x00")
    assert store.list_namespaces() == [("b",)]
