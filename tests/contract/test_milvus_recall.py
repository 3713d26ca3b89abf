"""Recall with Milvus beside the database: the same is found, nothing forgotten, and no request fails."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

pytest.importorskip("pymilvus", reason="the client is an extra")
pytest.importorskip("milvus_lite", reason="Milvus Lite is an extra of the tests")

from recollect import Memory, ScopedMemory
from recollect.models.hashing import HashingEmbedder
from recollect.ports.search_index import Proposed
from recollect.recall.proposing import LACKING
from recollect.stores.milvus.index import MilvusIndex
from recollect.tend.projecting import project
from recollect.testing.store_samples import ManualClock
from tests.contract import milvus

pytestmark = pytest.mark.engine

OVER = 10
THINGS = [
    f"{thing} in the {place}"
    for thing in ("tea", "boat", "violin")
    for place in ("shed", "attic", "hall", "bag")
]

Opening = Callable[..., Memory]


@pytest.fixture
def opening(tmp_path: Path, lite: str) -> Iterator[Opening]:
    """Opens the memory, with Milvus Lite beside it unless told otherwise."""
    opened: list[Memory] = []

    def again(**given: Any) -> Memory:
        settings = {
            "embedder": "hashing",
            "clock": ManualClock(),
            "milvus": lite,
            "milvus_over": OVER,
            "milvus_timeout": 30.0,
            **given,
        }
        opened.append(Memory.open(tmp_path / "memory.db", **settings))
        return opened[-1]

    yield again
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(opening: Opening) -> Memory:
    return opening()


@pytest.fixture
def derek(memory: Memory) -> ScopedMemory:
    return told(memory.scope("derek", conversation="c"))


def told(scope: ScopedMemory) -> ScopedMemory:
    for thing in THINGS:
        scope.record("user", f"I keep a {thing}.")
    return scope


def projected(memory: Memory) -> None:
    assert project(memory._tender(), lambda: True)[1] is None


def finds(scope: ScopedMemory, query: str, **given: Any) -> list[tuple[str, float]]:
    found = scope.recall(query, **given)
    assert found.problems == ()
    return [(hit.content, round(hit.score, 4)) for hit in found.hits]


def index_of(memory: Memory) -> MilvusIndex:
    assert isinstance(memory.index, MilvusIndex)
    return memory.index


def asked(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What Milvus is asked and answers from here on."""
    index, answers = index_of(memory), list[Any]()
    propose = index.propose

    def noting(*given: Any) -> Proposed:
        answers.append(propose(*given))
        return answers[-1]

    monkeypatch.setattr(index, "propose", noting)
    return answers


def test_the_same_is_found_as_without_it(
    opening: Opening, derek: ScopedMemory, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    projected(memory)
    answers = asked(memory, monkeypatch)
    plain = opening(milvus="").scope("derek")
    for thing in THINGS:
        assert finds(derek, f"where is my {thing}?") == finds(plain, f"where is my {thing}?")
    assert len(answers) >= len(THINGS)
    assert all(answer.by_vector and answer.by_words for answer in answers)


def test_another_process_finds_it_too(
    opening: Opening, derek: ScopedMemory, memory: Memory, lite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from milvus_lite import server_manager_instance

    projected(memory)
    before = finds(derek, "where is my boat in the hall?")
    memory.close()
    server_manager_instance.release_server(lite)  # as when its process ends: it lives in ours
    after = opening()
    answers = asked(after, monkeypatch)
    assert finds(after.scope("derek"), "where is my boat in the hall?") == before
    assert all(answer.by_vector and answer.by_words for answer in answers)
    assert answers


def test_what_was_said_just_now_is_found(derek: ScopedMemory, memory: Memory) -> None:
    projected(memory)
    derek.record("user", "I keep a zebra in the cellar.")
    assert finds(derek, "where is my zebra?")[0][0] == "I keep a zebra in the cellar."
    vector = HashingEmbedder().embed_query("I keep a zebra in the cellar.")
    near = derek.recall("?", vector=vector)
    assert near.hits[0].content == "I keep a zebra in the cellar."


def test_what_was_forgotten_is_never_found_whatever_milvus_still_has(
    derek: ScopedMemory, memory: Memory
) -> None:
    user, index = memory.store.user("derek"), index_of(memory)
    before = user.reading(lambda view: index.read(view, 0))
    projected(memory)
    turn = next(hit for hit in derek.recall("the tea in the shed").hits if "tea in the shed" in hit.content)
    derek.forget(turn.id)
    reach = user.reach("milvus", None, memory.clock.now(), index.settles)
    assert reach is not None
    index.write(reach.epoch, reach.number, before)  # as a worker does that was held up
    assert all("tea in the shed" not in content for content, _ in finds(derek, "tea in the shed"))


def test_what_is_forgotten_goes_from_milvus_at_once(derek: ScopedMemory, memory: Memory, lite: str) -> None:
    projected(memory)
    looking, number = milvus.client(lite), _number(memory, "derek")
    epoch = index_of(memory).epoch()
    assert len(milvus.rows(looking, epoch, number)) == len(THINGS)
    hit = derek.recall("the tea in the shed").hits[0]
    derek.forget(hit.id)
    assert len(milvus.rows(looking, epoch, number)) == len(THINGS) - 1
    derek.forget(everything=True)
    assert milvus.rows(looking, epoch, number) == {}
    assert memory.store.unprojected("milvus") == []


def test_a_name_is_nowhere_in_its_files(derek: ScopedMemory, memory: Memory, lite: str) -> None:
    """What it has is numbers, so no erasure is needed to keep what was said out of its files."""
    derek.record("user", "The password is xylophone.", conversation="about-quicksilver")
    projected(memory)
    index_of(memory).close()
    files = [path for path in Path(lite).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) > 1000
    for word in (b"xylophone", b"quicksilver", b"derek", b"attic"):
        assert not any(word in path.read_bytes() for path in files)


def test_small_users_are_searched_in_the_database(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = memory.scope("ann", conversation="c")
    for thing in THINGS[:OVER]:
        ann.record("user", f"I keep a {thing}.")
    projected(memory)
    answers = asked(memory, monkeypatch)
    assert finds(ann, "tea")
    assert answers == []
    ann.record("user", "One more.")
    assert finds(ann, "tea")
    assert len(answers) > 0


def test_while_it_is_far_behind_the_database_is_searched(derek: ScopedMemory, memory: Memory) -> None:
    projected(memory)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("recollect.recall.proposing.LACKING", 3)
        for number in range(3):
            derek.record("user", f"I keep a lamp {number}.")
        assert finds(derek, "lamp")
        derek.record("user", "I keep a lamp 3.")
        found = derek.recall("lamp")
        assert len([hit for hit in found.hits if "lamp" in hit.content]) == 4
        (problem,) = found.problems
        assert problem.startswith("Searched in the database: milvus is behind")
        projected(memory)
        assert finds(derek, "lamp")
    assert LACKING >= 1000


@pytest.mark.usefixtures("tireless")
def test_one_that_was_dropped_is_made_anew(derek: ScopedMemory, memory: Memory) -> None:
    projected(memory)
    before = finds(derek, "violin")
    index_of(memory).drop()
    found = derek.recall("violin")
    assert [(hit.content, round(hit.score, 4)) for hit in found.hits] == before
    (problem,) = found.problems
    assert problem.startswith("Searched in the database: Milvus at ")
    assert "RECOLLECT_MILVUS" in problem
    projected(memory)
    assert finds(derek, "violin") == before
    assert memory.rebuild_projection("milvus") == 1
    assert finds(derek, "violin") == before


@pytest.mark.parametrize("listens", [False, True], ids=["refuses", "never answers"])
def test_a_server_that_is_down_fails_no_request(opening: Opening, listens: bool) -> None:
    with opening() as memory:
        here = told(memory.scope("derek", conversation="c"))
        projected(memory)
        before = finds(here, "violin")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if listens:
            taken.listen()
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        secret = {"milvus": f"http://user:hunter2@{where}", "milvus_token": "hunter3"}
        memory = opening(**secret, milvus_timeout=0.6)
        derek = memory.scope("derek", conversation="c")
        for _ in range(2):  # then it is left alone, unless it fails at once
            begun = monotonic()
            found = derek.recall("violin")
            assert monotonic() - begun < 30
            assert [(hit.content, round(hit.score, 4)) for hit in found.hits] == before
            (problem,) = found.problems
            assert f"http://{where}" in problem
            assert "hunter" not in problem
        if listens:  # one that refuses is as well, where the machine is so busy that this takes a while
            assert "It is asked again in" in problem
        _, failure = project(memory._tender(), lambda: True)
        assert failure is not None
        assert "hunter" not in str(failure)
        derek.forget(found.hits[0].id)
        assert len(derek.recall("violin").hits) > 0


def test_another_model_gets_a_collection_of_its_own(opening: Opening, lite: str, memory: Memory) -> None:
    derek = told(memory.scope("derek", conversation="c"))
    projected(memory)
    old = index_of(memory).epoch()
    memory.rebuild_vectors(embedder=HashingEmbedder(64))
    after = opening(embedder=HashingEmbedder(64))
    derek = after.scope("derek", conversation="c")
    found = derek.recall("violin in the bag")
    assert found.hits[0].content == "I keep a violin in the bag."
    assert "has nothing of hashing-" in found.problems[0]
    projected(after)
    assert finds(derek, "violin in the bag")[0][0] == "I keep a violin in the bag."
    assert index_of(after).epoch() != old
    assert milvus.client(lite).list_collections() == [index_of(after).epoch()]


def _number(memory: Memory, user: str) -> int:
    reach = memory.store.user(user).reach("milvus", None, memory.clock.now(), index_of(memory).settles)
    assert reach is not None
    return reach.number
