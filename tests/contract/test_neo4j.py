"""The graph in Neo4j: the same answers, nothing left of what was erased, and nothing lost with the server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("neo4j", reason="the driver is an extra")

from recollect import Memory
from recollect.bench.scale.graph import graph_agreement
from recollect.testing.graph_suite import GraphContract, told
from recollect.testing.store_samples import ManualClock
from tests.contract import bolt

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def place() -> Iterator[bolt.Place]:
    with bolt.started() as place:
        yield place


@pytest.fixture(scope="module")
def in_neo4j(place: bolt.Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("graph") / "memory.db"
    with Memory.open(path, embedder="none", clock=ManualClock(), **place.settings()) as memory:
        told(memory)  # draws what there is to draw first
        yield memory


class TestNeo4j(GraphContract):
    @pytest.fixture
    def walked(self, in_neo4j: Memory) -> Memory:
        return in_neo4j


def test_both_ways_are_compared(in_neo4j: Memory) -> None:
    found = graph_agreement(in_neo4j, "measured", entities=20, relations=80)
    assert (found["entities"], found["agreement"]) == (20, 1.0)
    assert found["graph_ms"]["p50"] > 0 < found["store_ms"]["p95"]
