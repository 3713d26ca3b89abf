"""recollect demo --load: a year that the memory has lived through itself, loaded once and removed again."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Conflict, Memory
from recollect.demo import Then, load, remove, talks
from tests.interface.serving import WAIT, started
from tests.interface.test_cli_frame import ask, failure, run

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
DAY = timedelta(days=1)
THEN = NOW - 300 * DAY
DEPLOYING = 'For the task "deploy the … site to production": use build_site, then run_checks, then publish.'


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One with the demo in it, of which a first load was killed; nobody changes it."""
    path = tmp_path_factory.mktemp("demo") / "memory.db"
    clock = Then(NOW - DAY)
    with Memory.open(path, embedder="hashing", clock=clock) as memory, pytest.raises(KeyboardInterrupt):
        load(memory, clock, "demo", _kill)
    clock = Then(NOW)
    with Memory.open(path, embedder="hashing", clock=clock) as memory:
        assert load(memory, clock, "demo").before is False
        yield memory


def _kill(done: int, total: int) -> None:
    if done == 2:
        raise KeyboardInterrupt


def found(memory: Memory, kind: str = "fact", **where: Any) -> list[Any]:
    return [*memory.scope("demo").list(kind, limit=1000, **where)]


def contents(memory: Memory, kind: str = "fact", **where: Any) -> set[str]:
    return {one.content for one in found(memory, kind, **where)}


def test_a_year_in_forty_conversations(memory: Memory) -> None:
    mine = memory.scope("demo")
    conversations = mine.conversations(limit=100)
    assert len(conversations) == 40
    assert 350 <= mine.counts()["turn"] <= 500
    assert min(one.started_at for one in conversations).date() == (NOW - 365 * DAY).date()
    assert max(one.last_at for one in conversations).date() == (NOW - DAY).date()
    assert {one.channel for one in conversations} == {"_global", "work", "home"}
    assert {one.agent for one in conversations} == {"juno", "forge", "atlas"}
    assert {one.title for one in conversations} == {talk.title for talk in talks()}
    assert all(one.ended_at and one.mined_to == one.next_index for one in conversations)


def test_what_changed_is_told_as_it_was_and_as_it_is(memory: Memory) -> None:
    mine = memory.scope("demo")

    def answers(question: str, as_of: datetime | None = None) -> list[str]:
        return [hit.content for hit in mine.recall(question, kinds=["fact"], as_of=as_of).hits]

    lives = "Where do I live?"
    assert answers(lives)[0] == "The user lives in Lisbon."
    assert "The user lives in Hamburg." not in answers(lives)
    assert answers(lives, THEN)[0] == "The user lives in Hamburg."
    works, former = "The user works at Vela.", "The user works at Nordlicht as a front-end developer."
    asked = "Which company do I work for, Vela or Nordlicht?"
    assert works in answers(asked)
    assert former in answers(asked, THEN)
    assert not {works, former} & {*answers(asked, THEN)} - {former}
    assert {one.content for one in found(memory) if one.superseded_by} >= {
        "The user lives in Hamburg.",
        former,
        "The user's budget for the Kyoto trip is €4,200.",
        "The user prefers window seats.",
        "The user's daughter Lia is seven years old.",
        "The user's sister Inês is engaged to Duarte.",
        "Henrik is the user's boss.",
    }


def test_it_has_something_of_everything(memory: Memory) -> None:
    mine, work = memory.scope("demo"), memory.scope("demo", "work")
    assert {goal.status for goal in mine.goals(None)} == {"active", "completed", "blocked", "abandoned"}
    assert work.procedures("deploy a site to production")[0].content == DEPLOYING
    assert {one.success for one in found(memory, "episode")} == {True, False}
    failures = {stats.tool: stats.failures for stats in mine.tools()}
    assert (failures["build_site"], failures["publish"], failures["pay_booking"]) == (0, 2, 1)
    assert len(contents(memory, pinned=True)) == 2
    reviewed = [one.content for one in found(memory) if "contradicts" in one.metadata.get("mined", {})]
    assert reviewed == ["The user's budget for the flat is 410,000 euros."]
    turns = contents(memory, "turn")
    assert not any("61,000" in turn for turn in turns)  # forgotten
    assert any("Arroz doce" in turn for turn in turns)
    assert any("こんにちは" in turn for turn in turns)
    names = {one.name for one in mine.neighbours("user", as_of=THEN).entities}
    assert names >= {"Hamburg", "Nordlicht", "Jonas", "Lia"}
    assert "Lisbon" not in names
    assert len(mine.palace()) >= 10
    assert len(mine.timeline("Priya")) >= 4


def test_nothing_in_it_names_a_day_that_would_be_wrong_later() -> None:
    months = ["January", "February", "April", "June", "July", "August", "September", "October", "November"]
    words = " ".join(words for talk in talks() for _, words in talk.said())
    assert [name for name in (*months, "December", "Christmas", "Easter") if name in words] == []
    assert not any(str(year) in words for year in range(2020, 2040))


def test_the_command_loads_once_and_removes_it_all() -> None:
    run("record", "user", "I live in Oslo", "--user", "ana")
    first = ask("demo", "--load")
    assert (first["user"], first["loaded"], first["conversations"]) == ("demo", True, 40)
    assert [one["answer"] for one in first["ask"]] == [
        "The user lives in Lisbon.",
        "The user lives in Hamburg.",
        DEPLOYING,
    ]
    told = run("demo", "--load").stdout
    assert "Nothing was changed" in told
    assert "recollect serve --user demo" in told
    assert ask("stats", "--user", "demo")["counts"] == first["counts"]

    with Memory.open() as memory:  # what was added since is not the demo's to take away
        mine = memory.scope("demo")
        own = mine.add_goal("Something of one's own")
        with pytest.raises(Conflict, match="goals"):
            remove(mine)
        mine.forget(own.id)
        note = mine.remember("A thought of one's own")
    assert "forget --all --user demo" in failure("demo", "--remove", code=1)["message"]
    run("forget", note.id, "--with-sources", "--yes", "--user", "demo")
    assert ask("demo", "--remove")["erased"] > 500
    assert "not in the memory" in failure("demo", "--remove", code=3)["message"]
    assert ask("stats", "--user", "ana")["counts"]["turn"] == 1
    assert ask("db", "stats")["rows"]["users"] == 1


def test_it_is_for_users_without_a_memory() -> None:
    run("record", "user", "I live in Oslo", "--user", "ana")
    assert "did not bring" in failure("demo", "--load", "--user", "ana", code=1)["message"]
    assert "not in the memory" in failure("demo", "--remove", "--user", "ana", code=3)["message"]
    assert "either" in failure("demo", "--load", "--remove", code=2)["message"]
    clock = Then(NOW)
    with Memory.open(clock=clock) as memory:
        memory.scope("cautious").update_settings(enabled=False)
        with pytest.raises(Conflict):
            load(memory, clock, "cautious")


def test_a_server_without_keys_shows_it_to_whoever_is_there(tmp_path: Path) -> None:
    with started(tmp_path / "log", "--user", "demo") as process:
        assert httpx.get(f"{process.url}/api/v1/whoami", timeout=WAIT).json()["user"] == "demo"
