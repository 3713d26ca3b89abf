"""`recollect end`, `procedures`, `episodes`, `tools` and what can be done with goals."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Memory
from tests.interface.test_cli_frame import ask, failure, run


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "memory.db"
    monkeypatch.setenv("RECOLLECT_DB", str(path))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    with Memory.open(path, embedder="none") as memory:
        inside = memory.scope("local", conversation="c")
        inside.record("user", "Can you deploy the shop?")
        inside.record_tool("ci", {}, "ok", latency_ms=12.3)
        inside.record_tool("ship", {}, success=False, error="TimeoutError: secret.example")
        inside.record_tool("ship", {}, "ok", latency_ms=20)
        inside.record("assistant", "It runs.")
    return path


def test_from_the_end_to_what_was_learnt(db: Path) -> None:
    assert "Nothing like it" in run("procedures", "deploy the shop").stderr
    assert "Nothing like it" in run("episodes", "deploy the shop").stderr
    ended = ask("end", "--conversation", "c", "--outcome", "It runs", "--success")
    assert ended["ended_at"]
    assert "c" in run("end", "--conversation", "c", "--outcome", "It runs", "--success").stdout
    run("tend")
    (episode,) = ask("episodes", "deploy the shop")["episodes"]
    assert (episode["success"], episode["tools"]) == (True, ["ci", "ship"])
    (procedure,) = ask("procedures", "deploy the shop")["procedures"]
    assert (procedure["successes"], procedure["failures"]) == (1, 0)
    assert "went well 1 of 1 times" in run("procedures", "deploy the shop").stdout
    assert "went well" in run("episodes", "deploy the shop").stdout


def test_how_tools_do(db: Path) -> None:
    ship, ci = ask("tools")["tools"]
    assert (ship["tool"], ship["calls"], ship["failures"], ship["last_error"]) == (
        "ship",
        2,
        1,
        "TimeoutError",
    )
    assert (ci["average_ms"], ci["last_error"]) == (12.3, None)
    assert "secret.example" not in run("tools").stdout
    assert ask("tools", "nothing") == {"tools": []}
    assert "No tool" in run("tools", "nothing").stderr


def test_what_cannot_end(db: Path) -> None:
    assert "--conversation" in failure("end", code=1)["message"]
    assert "There is no conversation" in failure("end", "--conversation", "d", code=3)["message"]


def test_goals_are_shown_and_changed(db: Path) -> None:
    trip = ask("goals", "add", "Trip")["id"]
    visa = ask("goals", "add", "Visa", "--parent", trip, "--deadline", "2020-01-01")["id"]
    shown = ask("goals", "show", visa)
    assert shown["overdue"] is True
    assert [goal["id"] for goal in shown["around"]["part_of"]] == [trip]
    assert "overdue since" in run("goals", "list").stdout
    soon = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    changed = ask("goals", "update", visa, "--priority", "4", "--deadline", soon, "--no-parent")
    assert (changed["priority"], changed["parent"]) == (4, None)
    flight = ask("goals", "add", "Flight", "--blocked-by", visa)["id"]
    assert flight in run("goals", "show", visa).stdout
    assert ask("goals", "update", flight, "--not-blocked")["status"] == "active"
    failure("goals", "update", visa, "--deadline", soon, "--no-deadline", code=2)
    failure("goals", "update", visa, code=2)
    assert "depend on itself" in failure("goals", "update", trip, "--parent", trip, code=1)["message"]
