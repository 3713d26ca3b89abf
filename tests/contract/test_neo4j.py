"""The graph in Neo4j: the same answers, nothing left of what was erased, and nothing lost with the server."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("neo4j", reason="the driver is an extra")

from recollect import Memory
from recollect.bench.scale.graph import graph_agreement
from recollect.errors import ProjectionError
from recollect.model.changes import Chunk, Put, Remove
from recollect.model.space import Space
from recollect.ports.projection import Projection
from recollect.ports.store import Store
from recollect.settings import Settings
from recollect.stores.neo4j.index import Neo4jGraph, open_graph
from recollect.stores.sqlite.backend import open_store
from recollect.tend.tender import Tender
from recollect.testing.graph_suite import GraphContract, told
from recollect.testing.projection_suite import Opened, ProjectionContract, fill, opening, run
from recollect.testing.store_samples import (
    OTHER_SPACE,
    SPACE,
    ManualClock,
    append,
    axis,
    draft,
    entity,
    fact,
    put,
)
from recollect.testing.store_upkeep import fill as fill_in
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
        assert memory.graph is not None
        memory.graph.drop()


@pytest.fixture
def store(in_file: Store) -> Store:
    return in_file


@pytest.fixture
def opened(store: Store, place: bolt.Place) -> Iterator[Opened]:
    with opening(lambda: opened_at(place, store)) as again:
        yield again


def opened_at(place: bolt.Place, store: Store) -> Neo4jGraph:
    given = place.settings()
    return open_graph(store, *(given.pop(name) for name in ("neo4j", *_SIGNED, "neo4j_timeout")))


_SIGNED = ("neo4j_user", "neo4j_password", "neo4j_database")


class TestNeo4j(GraphContract):
    @pytest.fixture
    def walked(self, in_neo4j: Memory) -> Memory:
        return in_neo4j


class TestDrawn(ProjectionContract):
    @pytest.fixture
    def store(self, store: Store) -> Store:
        return store

    @pytest.fixture
    def opened(self, opened: Opened) -> Opened:
        return opened

    @pytest.fixture(autouse=True)
    def _looking(self, place: bolt.Place, store: Store) -> None:
        self.place, self.memory = place, store.identity()

    def held(self, projection: Projection, epoch: str, number: int) -> Any:
        return bolt.held(self.place, f"{self.memory}.{number}")


def tending(store: Store, graph: Projection) -> Tender:
    def nobodys(scope: object) -> Any:
        raise AssertionError("To project takes no workspace.")

    return Tender(store, None, ManualClock(), Settings(), nobodys, projections=(graph,))


def vectors_in(place: bolt.Place, store: Store, space: Space) -> dict[str, list[float]]:
    """What has a vector of a space, by id."""
    name = f"vector_{space.code}"
    asked = f"MATCH (n) WHERE n.user STARTS WITH $whose AND n.{name} IS NOT NULL RETURN n.id, n.{name}"
    found: Any = bolt.asked(place, asked, whose=f"{store.identity()}.")
    return dict(found)


def test_vectors_come_along_when_they_are_there_and_go_with_what_they_are_of(
    store: Store, opened: Opened, place: bolt.Place
) -> None:
    alice, tender = store.user("alice"), tending(store, opened())
    alice.apply([append(draft(id="t")), put(fact("f")), put(entity("e", "E"))], SPACE)
    long = fact("long", "tea " * 20)
    alice.apply([Put(long, (Chunk(0, 40, axis(3)), Chunk(40, 80, axis(4))))], SPACE)
    run(tender)
    assert vectors_in(place, store, SPACE) == {"long": axis(3).tolist()}
    fill_in(alice, SPACE)
    run(tender)
    filled = vectors_in(place, store, SPACE)
    assert filled.keys() == {"t", "f", "e", "long"}
    assert {len(vector) for vector in filled.values()} == {SPACE.dimensions}
    alice.apply([put(fact("f"), axis(7))], SPACE)
    alice.apply([Remove("turn", ("t",)), Remove("entity", ("e",)), Remove("fact", ("long",))])
    run(tender)
    assert vectors_in(place, store, SPACE) == {"f": axis(7).tolist()}
    alice.erase()
    run(tender)
    assert vectors_in(place, store, SPACE) == {}


def test_vectors_are_of_the_model_that_is_searched(store: Store, opened: Opened, place: bolt.Place) -> None:
    alice, graph = store.user("alice"), opened()
    tender = tending(store, graph)
    alice.apply([put(fact("f"), axis(0))], SPACE)
    run(tender)
    before = graph.epoch()
    portion = alice.reading(lambda view: graph.read(view, 0))
    store.add_space(OTHER_SPACE)
    fill_in(alice, OTHER_SPACE)
    run(tender)
    assert graph.epoch() == before
    assert vectors_in(place, store, SPACE).keys() == {"f"}
    store.switch_space(OTHER_SPACE)
    run(tender)
    assert graph.epoch() != before
    assert vectors_in(place, store, SPACE) == {}
    ((id, vector),) = vectors_in(place, store, OTHER_SPACE).items()
    assert (id, len(vector)) == ("f", OTHER_SPACE.dimensions)
    with pytest.raises(ProjectionError, match="made anew"):  # by whoever read it before
        graph.write(graph.epoch(), 1, portion)


def test_a_conversation_goes_also_when_the_key_that_names_it_was_another(
    store: Store, opened: Opened, place: bolt.Place
) -> None:
    alice, tender = store.user("alice"), tending(store, opened())
    alice.apply([append(draft(id="t", conversation="secret-plans", title="Secret plans"))], SPACE)
    run(tender)
    assert "secret-plans" in bolt.everything(place)
    assert alice.adopt_secret(bytes(32))
    alice.apply([Remove("turn", ("t",)), Remove("conversation", ("secret-plans",))])
    run(tender)
    assert bolt.held(place, store.identity()) == []


def test_notes_are_drawn_with_what_cites_them_and_go_with_it(
    store: Store, opened: Opened, place: bolt.Place
) -> None:
    alice, tender = store.user("alice"), tending(store, opened())
    note = draft("Remember the tea", id="n", role="note", channel="work", chunked=False)
    alice.apply([append(note), put(fact("f", sources=("n",)))], SPACE)
    run(tender)
    cited = "MATCH (:Fact {id: 'f'})-[:DERIVED_FROM]->(t:Turn) WHERE t.user STARTS WITH $whose "
    drawn = f"{cited} MATCH (c:Conversation)-[:HAS_TURN]->(t) RETURN t.content, t.role, t.channel, c.name"
    whose = f"{store.identity()}."
    assert bolt.asked(place, drawn, whose=whose) == [["Remember the tea", "note", "work", "march-15"]]
    alice.apply([Remove("turn", ("n",)), Remove("fact", ("f",))])
    run(tender)
    assert "Remember" not in bolt.everything(place)
    assert bolt.asked(place, "MATCH (t:Turn) WHERE t.user STARTS WITH $whose RETURN t", whose=whose) == []


def test_memories_that_share_a_database_keep_out_of_one_another(
    store: Store, opened: Opened, place: bolt.Place, tmp_path: Path
) -> None:
    other = open_store(tmp_path / "other.db", cache_bytes=1 << 20)
    other.add_space(SPACE)
    tender, beside = tending(store, opened()), tending(other, opened_at(place, other))
    for one in (store, other):
        fill(one.user("alice"), 4)
    run(tender)
    whole = bolt.held(place, store.identity())
    assert whole
    run(beside)
    assert len(bolt.held(place, other.identity())) == len(whole)
    other.user("alice").erase()
    run(beside)
    assert bolt.held(place, other.identity()) == []
    assert bolt.held(place, store.identity()) == whole
    fill(other.user("alice"), 2)
    run(beside)
    epoch = tender.projections[0].epoch()
    beside.projections[0].drop()
    beside.projections[0].close()
    other.close()
    assert bolt.held(place, store.identity()) == whole
    assert tender.projections[0].epoch() == epoch
    tender.projections[0].drop()
    assert bolt.held(place, store.identity()) == []


def test_a_server_that_refuses_an_index_of_vectors_has_the_graph(
    store: Store, opened: Opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked = "CREATE VECTOR INDEX recollect_no FOR (n:Turn) ON (n.no) OPTIONS {indexConfig: {no: 'no'}}"
    monkeypatch.setattr("recollect.stores.neo4j.cypher.indexes_vectors", lambda agent: True)
    monkeypatch.setattr("recollect.stores.neo4j.cypher.vector_indexes", lambda space: [asked])
    tender = tending(store, opened())
    fill(store.user("alice"), 2)
    run(tender)
    assert "indexes of vectors are not as they should be" in caplog.text


if "RECOLLECT_TEST_NEO4J" in os.environ:  # only Neo4j has indexes of vectors

    def test_neo4j_finds_what_is_near_by_its_index(store: Store, opened: Opened, place: bolt.Place) -> None:
        alice, graph = store.user("alice"), opened()
        space = Space("suite-index", SPACE.dimensions)
        store.add_space(space)
        alice.apply([put(fact(f"f{n}"), axis(n)) for n in range(4)], space)
        store.switch_space(space)
        run(tending(store, graph))
        bolt.asked(place, "CALL db.awaitIndexes(60)")
        near = "CALL db.index.vector.queryNodes($index, 1, $vector) YIELD node RETURN node.id"
        index = f"recollect_fact_{space.code}"
        assert bolt.asked(place, near, index=index, vector=axis(2).tolist()) == [["f2"]]
        graph.drop()
        named = "SHOW INDEXES YIELD name WHERE name = $index RETURN name"
        assert bolt.asked(place, named, index=index) == []


def test_both_ways_are_compared(in_neo4j: Memory) -> None:
    found = graph_agreement(in_neo4j, "measured", entities=20, relations=80)
    assert (found["entities"], found["agreement"]) == (20, 1.0)
    assert found["graph_ms"]["p50"] > 0 < found["store_ms"]["p95"]
