"""The contract of whatever answers what touches an entity, as a test class for any adapter to inherit.

    class TestMyGraph(GraphContract):
        @pytest.fixture
        def walked(self): ...   # a Memory, with your `GraphIndex` as its `graph`, or with none

The store of record is held to the same contract as any index beside it: answers are compared with what one
finds who looks at every record, and those of the verbs with what they are without an index.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count, islice
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from recollect import Memory
from recollect.model.changes import Change, Put, Remove
from recollect.model.records import MEMORY_TYPES, Entity, MemoryRecord, Relation
from recollect.ports.store import UserStore
from recollect.recall.entities import related
from recollect.recall.graph import GAP, Graph
from recollect.recall.neighbours import neighbours
from recollect.recall.timeline import timeline
from recollect.tend.projecting import project
from recollect.testing.store_samples import START, entity, memory, put
from recollect.workspace import Workspace

HOSTILE = (
    "Anna",
    "anna",
    "O'Brien",
    '"quoted"',
    "`tick`",
    "') DETACH DELETE n //",
    "}) MATCH (n) DETACH DELETE n RETURN ({a: '",
    "$user",
    "{{user}}",
    "\\",
    "\\u0027",
    "a b",
    "a\tb\nc",
    "~7e",
    " 20",
    "é",
    "e\u0301",
    "🙂",
    "\uffff",
    "\U00010000",
    "%00",
)
"""Names and ids that try to be more than that, or sort in their own way."""
TYPES = (*HOSTILE, "a\x00b", "lone \ud800", "x" * 500)
CHANNELS = ("_global", "work", "`; DROP", "wörk")
MOMENTS = tuple(START + timedelta(days=days) for days in (-20, 0, 20))

_numbers = count()


def told(memory: Memory) -> None:
    """Have every index caught up."""
    _, problem = project(memory._tender(), lambda: True)  # pyright: ignore[reportPrivateUsage]
    assert problem is None, problem


def workspace(memory: Memory, user: str, channel: str = "_global") -> Workspace:
    return memory.scope(user, channel=channel)._work  # pyright: ignore[reportPrivateUsage]


def graph_of(memory: Memory, user: str) -> Graph:
    """One that must not need the database in place of an index."""
    return Graph(workspace(memory, user), memory.store.user(user), pytest.fail)


def somebody() -> str:
    return f"user {next(_numbers)}"


def relation(id: str, source: str, target: str, **fields: Any) -> Relation:
    values: dict[str, Any] = {"type": "knows", "valid_from": START, "recorded_at": START, **fields}
    return Relation(id=id, source=source, target=target, **values)


def looked_at(store: UserStore, ids: Iterable[str], channels: Sequence[str] | None) -> list[str]:
    """What touches the entities, by looking at every relation."""
    return _among(list(store.find(Relation)), ids, channels)


def _among(known: Iterable[Relation], ids: Iterable[str], channels: Sequence[str] | None) -> list[str]:
    among = set(ids)
    touching = (one for one in known if among & {one.source, one.target})
    return sorted((one.id for one in touching if channels is None or one.channel in channels), reverse=True)


def agree(memory: Memory, user: str) -> None:
    """Whatever is asked, it is answered as if all was looked at, and by the verbs as without an index."""
    store, problems = memory.store.user(user), list[str]()
    graph = Graph(workspace(memory, user), store, problems.append)
    known = [one.id for one in store.find(Entity)]
    relations, memories = list(store.find(Relation)), list(store.find(MemoryRecord))
    for ids in ([], known, ["nobody"], *([id] for id in known)):
        for channels, most in ((None, 1), ((), 200), (("_global", "work"), 3), (CHANNELS, 200)):
            found = [one.id for one in graph.touching(ids, channels, most)]
            assert found == _among(relations, ids, channels)
    for id in (*known, "nobody"):
        about = [one.id for one in memories if id in one.about]
        assert [one.id for one in graph.about(id)] == about
    assert problems == []
    for channel in ("_global", "work"):
        with_it = workspace(memory, user, channel)
        without = replace(with_it, graph=None)
        for id in known:
            assert _verbs(with_it, id) == _verbs(without, id)


def _verbs(work: Workspace, id: str) -> list[Any]:
    (start,) = work.store.get(Entity, [id])
    graph = Graph(work, work.store, pytest.fail)
    walked = [related(graph, [start], at, channels) for at in MOMENTS for channels in (None, work.channels)]
    if not work.reaches(start.channel):
        return walked
    around = [neighbours(work, id, hops, at, limit) for at in MOMENTS for hops, limit in ((1, 50), (3, 3))]
    return [*walked, *around, *(timeline(work, id, None, None, 100, at) for at in (None, *MOMENTS))]


_ENTITIES = HOSTILE[:8]
_ids = st.sampled_from(HOSTILE)
_entity_ids = st.sampled_from(_ENTITIES)
_channels = st.sampled_from(CHANNELS)
_times = st.sampled_from(MOMENTS)


@st.composite
def _changes(draw: st.DrawFn) -> Change:
    """Something stored, stored anew in another way, or removed."""
    id, channel = draw(_ids), draw(_channels)
    match draw(st.sampled_from(["relation", "relation", "relation", "entity", "memory", "removal"])):
        case "relation":
            times = {
                "valid_from": draw(_times),
                "valid_to": draw(st.none() | _times),
                "retired_at": draw(st.none() | _times),
            }
            type = draw(st.sampled_from(TYPES))
            return Put(
                relation(id, draw(_entity_ids), draw(_entity_ids), type=type, channel=channel, **times)
            )
        case "entity":
            return put(entity(draw(_entity_ids), draw(st.sampled_from(TYPES)), channel=channel))
        case "memory":
            about = tuple(sorted(draw(st.sets(_entity_ids, max_size=3))))
            kind = MEMORY_TYPES[len(id) % len(MEMORY_TYPES)]
            ends = draw(st.none() | _times)
            return put(memory(kind, f"m {id}", "Said", about=about, channel=channel, valid_to=ends))
        case _:
            gone = draw(st.sampled_from(["relation", "entity", "fact"]))
            return Remove(gone, (f"m {id}" if gone == "fact" else id,))


class GraphContract:
    """What every graph answers, whatever was stored and however little the index was told of it."""

    @pytest.mark.slow
    @pytest.mark.timeout(600)
    @settings(
        max_examples=15,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),  # each example asks a server some hundred times
        suppress_health_check=[
            HealthCheck.differing_executors,  # every adapter's class runs it
            HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
        ],
    )
    @given(changes=st.lists(st.tuples(_changes(), st.booleans()), max_size=20))
    def test_any_graph_is_walked_as_it_is_stored(
        self, walked: Memory, changes: list[tuple[Change, bool]]
    ) -> None:
        user = somebody()
        store = walked.store.user(user)
        for change, tell in changes:
            store.apply([change])
            if tell:
                told(walked)
        agree(walked, user)
        told(walked)
        agree(walked, user)

    def test_hostile_names_are_names(self, walked: Memory) -> None:
        user = somebody()
        store = walked.store.user(user)
        store.apply([put(entity(id, name)) for id, name in zip(HOSTILE, reversed(HOSTILE), strict=True)])
        pairs = zip(HOSTILE, (*HOSTILE[1:], HOSTILE[0]), TYPES, strict=False)
        store.apply([Put(relation(f"r {a}", a, b, type=type, channel=a)) for a, b, type in pairs])
        told(walked)
        graph = graph_of(walked, user)
        for id in HOSTILE:
            found = [one.id for one in graph.touching([id], None)]
            assert found == looked_at(store, [id], None)
            assert len(found) == 2
            assert [one.id for one in graph.touching(HOSTILE, [id])] == [f"r {id}"]

    def test_nobody_is_led_to_anybody_else(self, walked: Memory) -> None:
        users = [somebody(), somebody()]
        for user in users:
            store = walked.store.user(user)
            store.apply([put(entity("a", f"A of {user}")), put(entity("b", "B"))])
            store.apply([Put(relation("r", "a", "b", type=user)), Put(relation(user, "b", "a"))])
        told(walked)
        for user in users:
            found = list(graph_of(walked, user).touching(["a"], None))
            assert sorted(one.id for one in found) == sorted(["r", user])
            assert user in {one.type for one in found}
        assert walked.store.user(users[0]).erase()
        told(walked)
        agree(walked, users[1])
        assert list(graph_of(walked, users[0]).touching(["a"], None)) == []

    def test_what_was_forgotten_is_not_found_before_the_index_knows(self, walked: Memory) -> None:
        user = somebody()
        store = walked.store.user(user)
        store.apply([put(entity("a", "A")), put(entity("b", "B")), Put(relation("r", "a", "b"))])
        told(walked)
        store.apply([Remove("relation", ("r",))])
        agree(walked, user)
        store.apply([Put(relation("r", "b", "b"))])
        agree(walked, user)

    def test_one_that_nothing_touches_takes_nobodys_place(self, walked: Memory) -> None:
        user = somebody()
        store = walked.store.user(user)
        store.apply([put(entity(id, id)) for id in ("a", "b", "alone")])
        store.apply([Put(relation(f"r{n}", "a", "b")) for n in range(5)])
        told(walked)
        agree(walked, user)

    def test_of_very_many_the_newest_are_read_first(self, walked: Memory) -> None:
        user = somebody()
        store = walked.store.user(user)
        store.apply([put(entity("a", "A"))])
        store.apply([Put(relation(f"r{n:03}", "a", f"e{n % 7}")) for n in range(GAP - 100)])
        told(walked)
        graph = graph_of(walked, user)
        assert [one.id for one in islice(graph.touching(["a"], None, 3), 5)] == [
            f"r{n:03}" for n in range(GAP - 101, GAP - 106, -1)
        ]
        assert len([*graph.touching(["a"], None, 3)]) == GAP - 100
