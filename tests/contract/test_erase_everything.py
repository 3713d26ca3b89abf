"""Words of a user's own, wherever one can be put, and forgotten: in no table, no index and no file (I5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from recollect import Fact, Memory, ScopedMemory
from recollect.model.records import Response, Turn
from recollect.record.retention import set_retention
from recollect.record.threads import Said, record_thread
from recollect.tend.wordings import others
from recollect.testing.store_keys import key
from tests.contract.conftest import SECRET
from tests.contract.keeping import a_fact, returned
from tests.contract.postgres import Server, contents, emptied, new_database

LEARNT = ("fact", "episode", "summary", "procedure")
OPTIONS: dict[str, Any] = {"embedder": "hashing", "audit": "verbose", "same_similarity": 0.3}
NAMES = (
    *("user", "channel", "agent", "conversation", "turn", "title", "note", "fact", "about", "metadata"),
    *("correction", "entity", "town", "goal", "result", "toolname", "toolin", "toolout", "toolerror"),
    *("asked", "summary", "reached", "profile", "setting", "query", "episode", "lesson", "imported"),
    *("outcome", "home", "other", "response"),
)
KEPT = {
    "turn": {*NAMES} - {"turn", "query", "response"},
    "conversation": {"user", "channel", "agent", "profile", "setting", "home", "other"},
    "channel": {"user", "agent", "profile", "setting"},
    "agent": {"user", "channel", "profile", "setting", "entity", "town", "home"},
    "everything": set[str](),
}
"""What is somebody's still, after so much is forgotten."""


@dataclass
class Place:
    memory: Memory
    url: str | None
    folder: Path
    sealed: bool
    how: str

    def mark(self, name: str) -> str:
        """A word that nothing has by chance, and no test before."""
        return f"Zq{name}{self.how}qz"

    def rows(self) -> str:
        """Every row of every table, of indexes and statistics."""
        if self.url:
            with psycopg.connect(self.url) as connection:
                connection.execute("ANALYZE")
                asked = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                names = [name for (name,) in connection.execute(asked)]
                found = [connection.execute(f"SELECT * FROM {name}".encode()).fetchall() for name in names]
                found.append(
                    connection.execute("SELECT * FROM pg_stats WHERE schemaname = 'public'").fetchall()
                )
                return str(found)
        with self.memory.store._backend.read() as connection:  # type: ignore[attr-defined]
            run = connection.exec_driver_sql
            tables = run("SELECT name FROM sqlite_master WHERE type = 'table'").scalars().all()
            return str([tuple(row) for name in tables for row in run(f'SELECT * FROM "{name}"')])

    def files(self) -> list[bytes]:
        folder = self.folder
        if self.url:
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute("CHECKPOINT")
                row = connection.execute(
                    "SELECT oid::text FROM pg_database WHERE datname = current_database()"
                )
                (number,) = row.fetchone() or ("",)
            folder = folder / "base" / number
        return [contents(path) for path in folder.iterdir()]

    def left(self) -> set[str]:
        rows, files = self.rows().lower(), self.files()
        words = {name: self.mark(name).lower() for name in NAMES}
        return {
            n for n, word in words.items() if word in rows or any(word.encode() in file for file in files)
        }

    def vectors(self, owner: str) -> list[Any]:
        """The vectors of one record, as the database has them."""
        asked = "SELECT vector FROM vectors v JOIN chunks c ON c.doc = v.doc AND c.user_id = v.user_id"
        if self.url:
            with psycopg.connect(self.url) as connection:
                found = connection.execute(f"{asked} WHERE c.owner = %s".encode(), (owner,)).fetchall()
        else:
            with self.memory.store._backend.read() as connection:  # type: ignore[attr-defined]
                found = connection.exec_driver_sql(f"{asked} WHERE c.owner = ?", (owner,)).fetchall()
        return [vector for (vector,) in found]


@pytest.fixture(scope="module")
def server(own_server: Server) -> str:
    return own_server.address


@pytest.fixture(scope="module", params=["", SECRET], ids=["plain", "sealed"])
def own_database(own_server: Server, request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """A database, and its key: those of one server take long to make."""
    key: str = request.param
    with new_database(own_server.address, f"recollect_erase_{'sealed' if key else 'plain'}") as url:
        Memory.open(url, key=key, embedder="hashing").close()
        yield url, key


@pytest.fixture(params=KEPT)
def how(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("key", ["", SECRET], ids=["plain", "encrypted"])
def test_no_word_of_it_is_left_in_a_file(tmp_path: Path, key: str, how: str) -> None:
    with Memory.open(tmp_path / "memory.db", key=key, **OPTIONS) as memory:
        check(Place(memory, None, tmp_path, False, how))


@pytest.mark.engine
def test_no_word_of_it_is_left_in_a_server(
    own_server: Server, own_database: tuple[str, str], how: str
) -> None:
    url, key = own_database
    emptied(url)
    with Memory.open(url, key=key, **OPTIONS) as memory:
        check(Place(memory, url, own_server.data, bool(key), how))


def fill(place: Place) -> ScopedMemory:
    """Everything that a user can leave somewhere."""
    memory, mark = place.memory, place.mark
    for n in range(40):
        memory.scope("ann").record("user", f"ordinary talk number {n} about tea", conversation="plain")
    memory.store.add_key(key("k1", mark("user"), name=mark("user")))
    derek = memory.scope(*map(mark, ("user", "channel", "agent", "conversation")))
    turn = derek.record("user", f"It was {mark('turn')}.", title=mark("title"))
    derek.record(
        "user", f"My sister {mark('entity')} lives in {mark('town')}.", metadata={"m": mark("metadata")}
    )
    derek.mine()
    fact = derek.remember(
        f"{mark('note')} {mark('fact')}", about=[mark("about")], metadata={mark("metadata"): 1}
    )
    derek.correct(fact.id, f"{mark('correction')} {mark('fact')}")
    derek.remember(mark("episode"), kind="episode", goal=mark("episode"), lessons=mark("lesson"))
    goal = derek.add_goal(mark("goal"))
    derek.complete_goal(goal.id, result=mark("result"))
    derek.record_tool(
        mark("toolname"),
        {mark("toolin"): mark("toolin")},
        mark("toolout"),
        error=mark("toolerror"),
        turn=turn.id,
    )
    derek.update_profile(preferences={mark("profile"): mark("profile")}, expertise=[mark("profile")])
    derek.update_settings(custom={"own": mark("setting")}, agents={mark("agent"): {"recall": True}})
    set_retention(derek._work, mark("channel"), {"ttl_days": 30})
    copy = memory.scope(mark("imported"))
    copy.import_([*derek.export()])
    copy.forget(everything=True)
    derek.recall(f"{mark('query')} {mark('turn')}")
    derek.list("fact", channel=mark("channel"))
    derek.conversation(mark("conversation"))
    learn(place, derek)
    answered(place, derek)
    derek.record_summary(mark("asked"), mark("summary"), mark("reached"))
    derek.recall(f"{mark('query')} again")  # still waits to be written
    return derek


def answered(place: Place, derek: ScopedMemory) -> None:
    """What passed through the gateway: a response to go on from, and where messages have led to."""
    word = place.mark("response")
    kept = Response(
        id="resp_0",
        conversation="",
        at=place.memory.clock.now(),
        input=[{"role": "user", "content": word}],
        body={"id": "resp_0", "output": [word]},
        channel=place.mark("channel"),
        agent=place.mark("agent"),
    )
    said = [Said(role="user", text=f"Again {place.mark('turn')}")]
    talk = place.mark("conversation")
    record_thread(derek._work, said, Said(role="assistant", text="Yes."), named=talk, response=kept)


def learn(place: Place, derek: ScopedMemory) -> None:
    """What the background makes of it has its words too: an episode and a summary, a procedure of each task,
    one memory of two, one that is moved to where all channels read it."""
    memory, mark, user = place.memory, place.mark, place.mark("user")
    word = mark("turn").lower()
    other = memory.scope(user, mark("channel"), mark("agent"), mark("other"))
    for talk, thing in ((other, "ordinary"), (derek, word)):
        talk.remember(f"Derek greatly enjoys {thing} music with green tea")
        talk.record("user", f"I live in {mark('home')}.")
        talk.record("user", f"Can you deploy the {thing} shop to staging?")
        talk.record_tool("build_image", {"of": "shop"}, "ok")
        talk.record_tool("roll_out", {"of": "shop"}, "ok")
        if talk is derek:  # else the two would be one way, whose task has no word of its own
            talk.record_tool("smoke_test", {"of": "shop"}, "ok")
        talk.record("assistant", f"The {thing} shop runs on staging.")
        talk.end(outcome=f"It runs {mark('outcome')}" if talk is derek else "It runs", success=True)
        talk.mine()
    (home,) = [f for f in derek.list("fact") if isinstance(f, Fact) and mark("home") in f.content]
    returned(memory, derek, home, 5)
    memory.tend()
    assert a_fact(derek, home.id).promoted_from == mark("channel")
    told = [e for kind in LEARNT for e in derek.list(kind, limit=1000) if word in repr(e).lower()]
    assert {e.kind for e in told} == {*LEARNT}
    assert any(len(others(e)) == 1 for e in told if isinstance(e, Fact))


def forget(place: Place, derek: ScopedMemory) -> None:
    mark, how = place.mark, place.how
    match how:
        case "turn":
            for turn in with_the_word(place):
                derek.forget(turn.id)
        case "everything":
            derek.forget(everything=True)
        case _:
            where: dict[str, Any] = {how: mark(how)}
            derek.forget(**where)


def with_the_word(place: Place) -> list[Turn]:
    turns = place.memory.store.user(place.mark("user")).find(Turn)
    return [turn for turn in turns if place.mark("turn").lower() in turn.content.lower()]


def check(place: Place) -> None:
    derek = fill(place)
    place.memory.flush()
    vectors = [vector for turn in with_the_word(place) for vector in place.vectors(turn.id)]
    assert vectors
    if not place.sealed:
        assert place.left() == {*NAMES} - {"imported"}, "the search finds what is there"
    forget(place, derek)
    place.memory.flush()
    place.memory.tend()
    assert not place.memory.store.needs_scrub()
    assert place.left() - KEPT[place.how] == set()
    rows, files = place.rows(), place.files()
    for vector in vectors:
        assert str(vector) not in rows
        assert not isinstance(vector, bytes) or not any(vector.lower() in file for file in files)
    assert place.memory.store.check() == []
    assert place.memory.scope("ann").recall("tea", threshold=2).hits
