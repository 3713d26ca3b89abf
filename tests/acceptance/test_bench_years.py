"""`recollect bench years`: what must hold does, over two months of two people."""

import json
from collections import Counter
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recollect.bench import command
from recollect.bench.measure import Times
from recollect.bench.sqlite import SqlitePlace
from recollect.bench.years.figures import FAULTS, Aged, Lived, Month, Owned, figures
from recollect.bench.years.live import Span
from recollect.bench.years.people import WORK, Person
from recollect.bench.years.policies import policies
from recollect.bench.years.report import plot, show
from recollect.bench.years.run import Plan, run
from recollect.tend.work import NAMES

pytestmark = pytest.mark.slow

DAYS = 1000


def silent(name: str, total: int) -> Any:
    return lambda count: None


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    plan = Plan(users=2, days=60, questions=5)
    return run(SqlitePlace(tmp_path_factory.mktemp("years")), plan, silent)


def test_what_must_hold_does(lived: dict[str, Any]) -> None:
    counted = [check for check in lived["checks"] if check["limit"] == 0]
    assert {check["name"] for check in counted} == {*FAULTS, "chores that failed"}
    assert [check for check in counted if not check["ok"]] == []
    assert len(lived["checks"]) == len(counted) + 1


def test_everything_was_used(lived: dict[str, Any]) -> None:
    assert set(lived["done"]) == set(NAMES)
    assert lived["done"]["mine"] > 60 * 2 * 5
    assert lived["recalls"] == 2 * 60 / 5 * 3
    assert lived["pinned"] > 0
    for month in lived["months"]:
        for owned in month["by_policy"].values():
            assert 0 < owned["in_force"] <= owned["memories"] <= owned["memory_quota"]


def test_it_is_shown_and_drawn(lived: dict[str, Any], tmp_path: Path) -> None:
    out = StringIO()
    show(Console(file=out, width=200), lived)
    assert "pinned and lost" in out.getvalue()
    pytest.importorskip("matplotlib")
    assert plot(lived, tmp_path / "years.png")
    assert (tmp_path / "years.png").stat().st_size > 0


def test_processes_share_the_people(tmp_path: Path) -> None:
    options = ["--users", "3", "--years", "0.02", "--processes", "2", "--db", str(tmp_path), "--json"]
    ran = CliRunner().invoke(command.app, ["years", *options])
    result = json.loads(ran.stdout)
    assert result["settings"]["days"] == 7
    assert len(result["months"][0]["by_policy"]) == 3
    assert result["done"]["mine"] > 0
    assert ran.exit_code == (0 if all(check["ok"] for check in result["checks"]) else 1)


def test_the_same_person_has_the_same_days() -> None:
    one, again, other = Person(7, 3), Person(7, 3), Person(7, 4)
    assert [asdict(one.day(n, 10)) for n in range(20)] == [asdict(again.day(n, 10)) for n in range(20)]
    assert one.day(5, 10) != other.day(5, 10)


@pytest.mark.parametrize("turns", [4, 10, 17])
def test_a_day_has_its_turns(turns: int) -> None:
    person = Person(7, 0)
    for number in range(28):
        day = person.day(number, turns)
        assert sum(len(talk.turns) for talk in day.talks) == turns
        assert all(content.strip() for talk in day.talks for _, content in talk.turns)


def test_a_life_has_everything_and_changes() -> None:
    days = [Person(7, 1).day(number, 10) for number in range(DAYS)]
    talks = [talk for day in days for talk in day.talks]
    assert {talk.channel for talk in talks} == {None, WORK}
    assert {call.success for talk in talks for call in talk.calls} == {True, False}
    notes = [note for day in days for note in day.notes]
    assert {note.pinned for note in notes} == {True, False}
    assert any(note.lasts for note in notes)
    assert sum(day.goal is not None for day in days) >= sum(day.reached for day in days) > 10
    homes = {content for t in talks for _, content in t.turns if content.startswith("I live in")}
    assert len(homes) == 3


def test_policies_differ_and_are_followed_where_they_are_set() -> None:
    known = {policy.name: policy for policy in policies(10)}
    assert known["expire"].retention.expire
    assert not known["channel"].retention.expire
    assert known["channel"].work.isolated
    assert all(policy.retention.memory_quota < 1000 for policy in known.values())


def _lived(faults: Counter[str], problems: int = 0, slower: float = 1.0) -> Lived:
    span = Span(Times([0.01, 0.02]), Counter(mine=3), {"mine": 0.5}, Counter(mine=problems))
    owned = {"full": Owned(60, 580, Counter(users=2, turns=10, memories=6, in_force=4))}
    aged = Aged(Times([slower]), Times([1.0]))
    counts = Counter(recalls=2, refused=1, pinned=1)
    return Lived(
        [Month(span, 1.0, 2.0, owned)], aged, faults, counts, {"tend": 0.5}, {"full": {"turns": 0.5}}, 9
    )


def test_what_several_processes_did_is_taken_together() -> None:
    result = figures([_lived(Counter()), _lived(Counter())])
    (month,) = result["months"]
    assert month["by_policy"]["full"]["memories"] == 3
    assert (month["done"], month["file_mb"], result["recalls"]) == ({"mine": 6}, 4.0, 4)
    assert all(check["ok"] for check in result["checks"])


@pytest.mark.parametrize("fault", FAULTS)
def test_what_must_not_happen_is_told(fault: str) -> None:
    result = figures([_lived(Counter()), _lived(Counter({fault: 1}))])
    assert [check["name"] for check in result["checks"] if not check["ok"]] == [fault]


def test_failed_chores_and_slower_recall_are_told() -> None:
    (failed,) = [c for c in figures([_lived(Counter(), problems=1)])["checks"] if not c["ok"]]
    (slow,) = [c for c in figures([_lived(Counter(), slower=1.4)])["checks"] if not c["ok"]]
    assert (failed["name"], failed["value"], slow["value"]) == ("chores that failed", 1, 1.4)
