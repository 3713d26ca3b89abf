"""A graph that is down, silent, lost or half told costs no request anything, and is whole again by itself."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("neo4j", reason="the driver is an extra")

from recollect import Memory
from recollect.errors import ProjectionError, SettingsError
from recollect.model.changes import Put, Remove
from recollect.model.records import LEARNT, Procedure
from recollect.testing.graph_suite import agree, graph_of, relation, told, workspace
from recollect.testing.store_samples import ManualClock, append, draft, entity, fact, memory, put
from tests.contract import bolt

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def server() -> Iterator[bolt.Server]:
    with bolt.own_server() as server:
        yield server


@pytest.fixture
def place(server: bolt.Server) -> bolt.Place:
    return server.place


@pytest.fixture
def drawn(place: bolt.Place, tmp_path: Path) -> Iterator[Memory]:
    """A memory whose graph has nothing in it yet, in a database with nothing else in it."""
    bolt.asked(place, "MATCH (n) DETACH DELETE n")
    with Memory.open(tmp_path / "memory.db", embedder="none", **place.settings()) as memory:
        told(memory)
        yield memory


def tell_some(memory: Memory, user: str = "derek") -> None:
    """Something of every kind that is drawn, mined and told."""
    mine = memory.scope(user)
    for n in range(3):
        mine.record("user", f"My sister Anna lives in Zanzibar{n}.", conversation="a trip")
    mine.record("user", "I work at Quillfeather.", conversation="work")
    mine.mine()
    trip = memory.scope(user, conversation="a trip")
    trip.record_tool("weather", {"place": "Zanzibar"}, output="hot", success=True)
    goal = mine.add_goal("Visit Zanzibar")
    mine.add_goal("Book a flight", parent=goal.id)
    told(memory)


def test_what_is_drawn(drawn: Memory, place: bolt.Place) -> None:
    tell_some(drawn)
    walk = (
        "MATCH (a:Entity {name: $a})-[:HAS_RELATION]->(r:Relation)-[:RELATES_TO]->(b) RETURN r.type, b.name"
    )
    assert ["LOCATED_IN", "Zanzibar2"] in bolt.asked(place, walk, a="Anna")
    for path in (
        "(:Conversation {name: 'a trip'})-[:HAS_TURN]->(:Turn {index: 0})-[:FOLLOWED_BY]->(:Turn {index: 1})",
        "(:Fact)-[:DERIVED_FROM]->(:Turn {role: 'user'})",
        "(:Fact)-[:ABOUT]->(:Entity {name: 'Anna'})",
        "(:Fact)-[:SUPERSEDES]->(:Fact)",
        "(:Relation)-[:DERIVED_FROM]->(:Turn)",
        "(:User)-[:HAS_GOAL]->(:Goal {description: 'Book a flight'})-[:SUBGOAL_OF]->(:Goal)",
        "(:Conversation {name: 'a trip'})-[:HAS_TURN]->(:Turn)-[:MENTIONS]->(:Entity {name: 'Anna'})",
        "(:Conversation)-[:USED_TOOL]->(:ToolInvocation {success: true})-[:INVOKED]->(:Tool {id: 'weather'})",
    ):
        ((found,),) = bolt.asked(place, f"MATCH p = {path} RETURN count(p)")
        assert found, path


def test_what_came_of_what(drawn: Memory, place: bolt.Place) -> None:
    """Of tasks that a procedure was learnt from those that went well; of facts those that were promoted."""
    cases, store = {"t1": True, "t2": False, "t3": True}, drawn.store.user("derek")
    learnt = memory(
        Procedure,
        "p",
        "Ask first",
        sources=tuple(cases),
        metadata={LEARNT: {"counted": cases}},
        origin=LEARNT,
    )
    store.apply([append(*(draft(id=id) for id in cases)), put(learnt)])
    store.apply([put(fact("f", promoted_from="work")), put(fact("g", promoted_from="home", channel="home"))])
    store.apply([put(entity("e", "E", sources=("t1", "t2")))])
    told(drawn)

    def ends(type: str) -> set[tuple[str, str]]:
        return {(a, b) for a, b in bolt.asked(place, f"MATCH (a)-[:{type}]->(b) RETURN a.id, b.id")}

    assert ends("SUCCEEDED_IN") == {("p", "t1"), ("p", "t3")}
    assert ends("PROMOTED_FROM") == {("f", "work")}
    assert ends("MENTIONS") == {("t1", "e"), ("t2", "e")}
    store.apply([Remove("turn", ("t1",)), put(fact("f"))])
    told(drawn)
    left = bolt.everything(place)
    assert "'t1'" not in left
    assert "'work'" not in left
    assert ends("SUCCEEDED_IN") == {("p", "t3")}
    assert ends("MENTIONS") == {("t2", "e")}
    before = _epoch(drawn)
    drawn.rebuild_projection("neo4j")
    assert bolt.everything(place) == left.replace(before, _epoch(drawn))


def test_drawing_it_again_changes_nothing(drawn: Memory, place: bolt.Place) -> None:
    tell_some(drawn)
    before, graph = bolt.everything(place), drawn.graph
    assert graph is not None
    store, epoch = drawn.store.user("derek"), graph.epoch()
    reach = store.reach(graph.name, epoch, drawn.clock.now(), graph.settles)
    assert reach is not None
    for _ in range(2):
        graph.write(epoch, reach.number, store.reading(lambda view: graph.read(view, 0)))
    assert bolt.everything(place) == before


@pytest.mark.parametrize("size", ["PORTION", "AT_ONCE"])
def test_portions_of_any_size_draw_the_same(
    drawn: Memory, place: bolt.Place, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    tell_some(drawn)
    drawn.scope("derek").forget(conversation="work")
    told(drawn)
    before, epoch = bolt.everything(place), _epoch(drawn)
    monkeypatch.setattr(f"recollect.stores.neo4j.index.{size}", 1)
    assert drawn.rebuild_projection("neo4j") == 1
    assert bolt.everything(place) == before.replace(epoch, _epoch(drawn))
    drawn.scope("derek").forget(conversation="a trip")
    told(drawn)
    before, epoch = bolt.everything(place), _epoch(drawn)
    assert "Zanzibar2" not in before
    monkeypatch.undo()
    drawn.rebuild_projection("neo4j")
    assert bolt.everything(place) == before.replace(epoch, _epoch(drawn))


def _epoch(memory: Memory) -> str:
    assert memory.graph is not None
    return memory.graph.epoch()


@pytest.mark.parametrize("what", ["turn", "conversation", "user"])
def test_nothing_is_left_of_what_was_erased(drawn: Memory, place: bolt.Place, what: str) -> None:
    tell_some(drawn)
    tell_some(drawn, "zoe")
    drawn.store.user("derek").apply([append(draft("xylophone " * 900, id="t", conversation="my xylophone"))])
    told(drawn)
    mine = drawn.scope("derek")
    assert "xylophone" in bolt.everything(place)
    match what:
        case "turn":
            mine.forget("t")
        case "conversation":
            mine.forget(conversation="my xylophone")
        case _:
            mine.forget(everything=True)
    told(drawn)
    left = bolt.everything(place)
    if what != "turn":  # a conversation outlives its turns
        assert "xylophone" not in left
    assert "xylophone " not in left
    assert "'t'" not in left
    ((of_others,),) = bolt.asked(place, "MATCH (n:Entity {name: 'Anna'}) RETURN count(n)")
    assert of_others == (1 if what == "user" else 2)
    if what == "user":
        users = {row[0] for row in bolt.asked(place, "MATCH (n) WHERE n.user IS NOT NULL RETURN n.user")}
        assert len(users) == 1


def test_whoever_knows_another_epoch_is_told_so(drawn: Memory) -> None:
    tell_some(drawn)
    graph, old = drawn.graph, _epoch(drawn)
    assert graph is not None
    graph.drop()
    new = graph.epoch()
    assert new != old
    for asked in (
        lambda: graph.bonds(old, 1, ["a"], None, 5),
        lambda: graph.about(old, 1, "a"),
        lambda: graph.forget(old, 1),
        lambda: graph.write(old, 1, drawn.store.user("derek").reading(lambda view: graph.read(view, 0))),
    ):
        with pytest.raises(ProjectionError, match="made anew"):
            asked()
    assert graph.bonds(new, 1, ["a"], None, 5) == []


@pytest.mark.usefixtures("tireless")
def test_it_is_rebuilt_while_it_is_asked(drawn: Memory) -> None:
    tell_some(drawn)
    mine, wanted = drawn.scope("derek"), drawn.scope("derek").neighbours("Anna", hops=3)
    with ThreadPoolExecutor(1) as pool:
        rebuilding = pool.submit(drawn.rebuild_projection, "neo4j")
        while not rebuilding.done():
            assert mine.neighbours("Anna", hops=3) == wanted
        assert rebuilding.result() > 0
    agree(drawn, "derek")


def test_one_that_another_process_has_rebuilt_is_asked(
    drawn: Memory, place: bolt.Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_some(drawn)
    assert drawn.scope("derek").recall("Where does Anna live?").problems == ()
    with Memory.open(tmp_path / "memory.db", embedder="none", **place.settings()) as other:
        other.rebuild_projection("neo4j")
    monkeypatch.setattr("recollect.recall.graph.GAP", 2)
    assert drawn.scope("derek").recall("Where does Anna live?").problems == ()
    agree(drawn, "derek")


def test_too_far_behind_the_database_is_asked_and_that_is_said(
    drawn: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tell_some(drawn)
    wanted = drawn.scope("derek").neighbours("Anna", hops=3)
    store = drawn.store.user("derek")
    store.apply([Put(relation(f"r{n}", "x", "y")) for n in range(3)])
    monkeypatch.setattr("recollect.recall.graph.GAP", 2)
    found = drawn.scope("derek").recall("Where does Anna live?")
    assert any("neo4j has not caught up" in problem for problem in found.problems)
    assert drawn.scope("derek").neighbours("Anna", hops=3) == wanted
    assert "neo4j has not caught up" in caplog.text
    told(drawn)
    assert drawn.scope("derek").recall("Where does Anna live?").problems == ()


@pytest.mark.usefixtures("tireless")
def test_a_server_that_is_killed_fails_no_request_and_is_caught_up_with(
    drawn: Memory, server: bolt.Server
) -> None:
    tell_some(drawn)
    mine, numbers, problems = drawn.scope("derek"), count(), list[str]()
    drawn.store.user("derek").apply([put(entity("hub", "Hub"))])

    def work(times: int) -> None:
        for _ in range(times):
            n = next(numbers)
            mine.record("user", f"Anna visited Nowhere{n}.", conversation="load")
            problems.extend(mine.recall("Where does Anna live?", include=["related"]).problems)
            drawn.store.user("derek").apply(
                [put(entity(f"e{n}", "E")), Put(relation(f"r{n}", f"e{n}", "hub"))]
            )
            assert [one.id for one in mine.neighbours(f"e{n}").relations]

    with ThreadPoolExecutor(3) as pool:
        working = [pool.submit(work, 5) for _ in range(3)]
        server.kill()
        for one in working:
            one.result()
    work(1)
    assert any("cannot be reached" in problem for problem in problems)
    assert any(outcome.job == "project" and outcome.problem for outcome in drawn.tend())
    server.start()
    told(drawn)
    problems.clear()
    work(1)
    assert problems == []
    agree(drawn, "derek")
    assert drawn.store.stats()["projections"]["neo4j"].users == 1
    told(drawn)
    assert drawn.store.stats()["projections"]["neo4j"].users == 0


def test_a_silent_server_is_waited_for_once(drawn: Memory, server: bolt.Server, tmp_path: Path) -> None:
    tell_some(drawn)
    given: dict[str, Any] = server.place.settings(neo4j_timeout=0.6)
    with Memory.open(tmp_path / "memory.db", embedder="none", **given) as memory, server.silent():
        asked: list[str] = []
        for _ in range(3):
            found = memory.scope("derek").recall("Where does Anna live?")
            asked.append(found.problems[0])
            assert found.hits
        assert "gave no answer within 0.6 s" in asked[0]
        assert all("It is asked again in" in problem for problem in asked[1:])


@pytest.mark.usefixtures("tireless")
def test_a_graph_that_was_lost_is_drawn_again(drawn: Memory, place: bolt.Place) -> None:
    tell_some(drawn)
    before = bolt.everything(place).replace(_epoch(drawn), "")
    bolt.asked(place, "MATCH (n) DETACH DELETE n")
    found = drawn.scope("derek").recall("Where does Anna live?")
    assert any("made anew, or is gone" in problem for problem in found.problems)
    told(drawn)
    assert bolt.everything(place).replace(_epoch(drawn), "") == before
    agree(drawn, "derek")


def test_what_a_cluster_was_told_just_now_is_added_from_the_store(
    drawn: Memory, place: bolt.Place, tmp_path: Path
) -> None:
    """Told by the address of one: members of it may not have heard of what another took."""
    clock, url = ManualClock(), place.neo4j.replace("bolt://", "neo4j://")
    given = place.settings(neo4j=url)
    with Memory.open(tmp_path / "routed.db", embedder="none", clock=clock, **given) as memory:
        tell_some(memory)
        assert memory.graph is not None
        for reached in (False, True):
            reach = memory.store.user("derek").reach(
                "neo4j", _epoch(memory), clock.now(), memory.graph.settles
            )
            assert reach is not None
            assert (reach.noted, reach.reached == reach.seq) == (reach.seq, reached)
            agree(memory, "derek")
            clock.advance(seconds=10)


def test_what_the_graph_says_wrongly_is_not_believed(drawn: Memory, place: bolt.Place) -> None:
    """Somebody put into it what the record does not have, and what it has of others."""
    store = drawn.store.user("derek")
    store.apply([put(entity("a", "A")), put(entity("b", "B")), Put(relation("r", "b", "b")), put(fact("f"))])
    told(drawn)
    bolt.asked(
        place,
        "MATCH (a:Entity {id: 'a'}), (r:Relation {id: 'r'}), (f:Fact {id: 'f'}) "
        "CREATE (a)-[:HAS_RELATION]->(r) "
        "CREATE (a)-[:HAS_RELATION]->(:Relation {user: a.user, id: 's', channel: '_global'}) "
        "CREATE (f)-[:ABOUT]->(a)",
    )
    graph = graph_of(drawn, "derek")
    assert list(graph.touching(["a"], None)) == []
    assert graph.about("a") == []
    store.apply([Remove("relation", ("r",))])
    assert list(graph_of(drawn, "derek").touching(["b"], None)) == []


@pytest.mark.parametrize(
    "url", ["http://h:7687", "bolt://u:hunter2@h:7687", "bolt://h:port", "bolt://", "neo4j://[h", "x"]
)
def test_an_address_that_cannot_be_read_is_refused_without_being_shown(tmp_path: Path, url: str) -> None:
    with pytest.raises(SettingsError, match="RECOLLECT_NEO4J") as refused:
        Memory.open(tmp_path / "memory.db", embedder="none", neo4j=url)
    assert "hunter2" not in str(refused.value)


def test_no_password_is_told(place: bolt.Place, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "recollect")
    given = place.settings(neo4j_password="hunter2")
    with Memory.open(tmp_path / "memory.db", embedder="none", **given) as memory:
        memory.scope("derek").record("user", "Hello")
        (problem,) = [outcome.problem for outcome in memory.tend() if outcome.job == "project"]
        assert "RECOLLECT_NEO4J_PASSWORD" in str(problem)
        assert workspace(memory, "derek").graph is memory.graph
    assert "hunter2" not in caplog.text + str(problem)
