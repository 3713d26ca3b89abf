"""What is asked and told over Bolt, without a server that answers."""

import socket
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("neo4j", reason="the driver is an extra")

from recollect.errors import ProjectionError
from recollect.ports.projection import Portion
from recollect.ports.store import Store, UserView
from recollect.stores.neo4j import index
from recollect.stores.neo4j.bolt import Bolt, Run
from recollect.stores.neo4j.drawing import EDGES, Drawing, parts
from recollect.stores.neo4j.index import Neo4jGraph
from recollect.stores.sqlite.backend import open_store
from recollect.testing.store_samples import SPACE, axis, fact, put

PATIENCE = 30.0


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """It takes connections, and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE)
        yield listening


@contextmanager
def asking(bolt: Bolt, silent: socket.socket) -> Generator[Future[Any]]:
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(bolt.read, "RETURN 1")
        with silent.accept()[0] as taken:
            taken.settimeout(PATIENCE)
            assert taken.recv(4), "the driver has begun, and waits"
            yield asked


def test_whoever_waits_for_an_answer_is_let_go_when_it_closes(silent: socket.socket) -> None:
    bolt = Bolt(f"bolt://127.0.0.1:{silent.getsockname()[1]}", "", "", "", timeout=10 * PATIENCE)
    with asking(bolt, silent) as asked:
        bolt.close()
        with pytest.raises(ProjectionError, match="this is closing"):
            asked.result(PATIENCE)
    with pytest.raises(ProjectionError, match="this is closing"):
        bolt.read("RETURN 1")
    bolt.close()


class Told:
    """Takes all, and keeps how much of it came in each transaction."""

    def __init__(self) -> None:
        self.gone: list[list[str]] = []

    @contextmanager
    def transaction(self) -> Generator[Run]:
        gone: list[str] = []

        def run(statement: str, **given: Any) -> list[dict[str, Any]]:
            if "SET n = {user: $user, id: id}" in statement:
                gone.extend(given["ids"])
            return [{"ends": [], "epoch": ""}]

        yield run
        self.gone.append(gone)

    def read(self, statement: str, **given: Any) -> list[dict[str, Any]]:
        return [{"epoch": given["epoch"], "ids": []}]


class Named:
    def identity(self) -> str:
        return "m"


def test_a_large_erasure_is_told_in_several_transactions() -> None:
    told, ids = Told(), [f"t{n}" for n in range(2 * index.AT_ONCE + 1)]
    graph = Neo4jGraph(cast(Store, Named()), cast(Bolt, told))
    graph.write("none_1", 1, Portion(1, Drawing(None, gone={"turn": ids, "fact": ["f"]})))
    assert max(map(len, told.gone)) <= index.AT_ONCE
    assert [id for gone in told.gone for id in gone] == [*ids, "f"]
    graph.write("none_1", 1, Portion(2, Drawing(None)))
    assert told.gone.pop() == [], "the epoch is looked at all the same"


def test_while_the_store_is_read_nothing_is_asked_of_it_but_of_the_view(tmp_path: Path) -> None:
    """It would take another connection, and the view may have the only one."""
    store = open_store(tmp_path / "memory.db", cache_bytes=1 << 20)
    store.add_space(SPACE)
    alice = store.user("alice")
    alice.apply([put(fact("f", "tea"), axis(0))], SPACE)
    graph = Neo4jGraph(store, cast(Bolt, Told()))

    def read(view: UserView) -> Portion:
        store.close()
        assert graph.about("none_1", 1, "e") == graph.bonds("none_1", 1, ["e"], None, 1) == []
        return graph.read(view, 0)

    drawing: Drawing = alice.reading(read).content
    assert drawing.space == SPACE
    assert [row["id"] for row in drawing.nodes["fact"]] == ["f"]


def test_parts_have_all_of_a_drawing_with_records_and_their_edges_together() -> None:
    (has_turn,), about = EDGES["turn"], EDGES["fact"][1]
    turns, facts = ([{"id": f"{n}", "channel": kind} for n in range(3)] for kind in ("turn", "fact"))
    leading = [{"id": f"{n // 2}", "target": f"{n}"} for n in range(6)]
    edges = {("turn", has_turn): leading[:3], ("fact", about): leading}
    whole = Drawing(SPACE, {"turn": ["x", "y", "z"]}, {"turn": turns, "fact": facts}, edges)
    assert [*parts(whole, 9)] == [whole]
    cut = [*parts(whole, 2)]
    assert [part.gone.get("turn", []) for part in cut] == [["x", "y"], ["z"], [], [], []]
    for kind, rows in whole.nodes.items():
        assert [row for part in cut for row in part.nodes.get(kind, [])] == rows
    for which, rows in whole.edges.items():
        assert [row for part in cut for row in part.edges.get(which, [])] == rows
    for part in cut:
        assert part.space == SPACE
        for (kind, _), rows in part.edges.items():
            assert {row["id"] for row in rows} <= {row["id"] for row in part.nodes[kind]}
