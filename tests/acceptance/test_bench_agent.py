"""`recollect bench agent`: that memory helps by what was recalled and by nothing else, and what it prints."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from recollect.bench import command
from recollect.bench.agent.policy import UNKNOWN, decided
from recollect.bench.agent.world import ALIKE, CHANGED, KINDS, OFFERED, Kind, Task, World
from recollect.ports.acting import Message, Result
from recollect.ports.language_model import ChatMessage

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = str(tmp_path_factory.mktemp("agent"))
    ran = CliRunner().invoke(command.app, ["agent", "--repeats", "1", "--db", folder, "--json"])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def row(ran: dict[str, Any], part: str, **like: Any) -> dict[str, Any]:
    (found,) = [one for one in ran[part] if like.items() <= one.items()]
    return found


def test_a_task_that_was_met_takes_fewer_steps(ran: dict[str, Any]) -> None:
    first = row(ran, "meetings", arm="with memory", meeting=1)
    for meeting in (2, 3):
        without = row(ran, "meetings", arm="without memory", meeting=meeting)
        known = row(ran, "meetings", arm="with memory", meeting=meeting)
        assert known["right"] >= without["right"]
        assert known["steps"] < 0.6 * without["steps"]
        assert known["tokens"] < first["tokens"]
        assert not known["problems"]
    assert all(check["ok"] for check in ran["checks"])


def test_where_steps_are_scarce_more_is_done(ran: dict[str, Any]) -> None:
    without = row(ran, "few", arm="without memory", meeting=3)
    assert row(ran, "few", arm="with memory", meeting=3)["right"] > without["right"]


def test_unrelated_memories_do_not_help(ran: dict[str, Any]) -> None:
    for meeting in (1, 2, 3):
        without = row(ran, "meetings", arm="without memory", meeting=meeting)
        unrelated = row(ran, "meetings", arm="unrelated memory", meeting=meeting)
        assert unrelated["steps"] == pytest.approx(without["steps"], rel=0.05)


def test_where_memory_misleads_is_told_too(ran: dict[str, Any]) -> None:
    assert [one["arm"] for one in ran["alike"]] == ["without memory", "with memory"]
    assert set(ran["alike"][1]["kinds"]) == {kind.name for kind in ALIKE}
    assert {(one["arm"], one["after"]) for one in ran["changed"]} == {
        (arm, after) for arm in ("without memory", "with memory") for after in (1, 2)
    }


def solve(task: Task, context: str, steps: int = 40) -> tuple[str, int]:
    """The policy alone in the world, with what its prompt says."""
    world = World(task)
    tools = {tool.name: tool for tool in world.tools()}
    messages: list[Message] = [ChatMessage("system", context), ChatMessage("user", task.question)]
    for _ in range(steps):
        said = decided(messages, [tool.offered for tool in tools.values()])
        if not said.calls:
            return said.text, world.calls
        (call,) = said.calls
        try:
            came = tools[call.tool].call(json.loads(call.arguments))
        except ValueError as error:
            came = f"{call.tool} failed: {error}"
        messages += [said, Result(call.id, call.tool, came)]
    return UNKNOWN, world.calls


@pytest.mark.parametrize("kind", [*KINDS, *ALIKE], ids=lambda kind: kind.name)
def test_every_task_can_be_done_without_memory(kind: Kind) -> None:
    for number, _ in enumerate(kind.wordings):
        task = Task(kind, number, 7 + number)
        text, calls = solve(task, "You are helpful.")
        assert text == task.answer
        assert calls > len(kind.way)


def test_the_policy_goes_by_what_it_is_told() -> None:
    task = Task(KINDS[0], 0, 3)
    told = '- The user asked: total of invoice IN-9. What worked: auth_token {"service": "billing"}: ok; '
    told += 'ledger_v2_read {"currency": "eur"}: result: 1. In vain: notes_read.'
    assert solve(task, told) == (task.answer, 2)
    assert solve(task, told.replace("invoice", "walk").replace("total", "length")) == solve(task, "")
    other = Task(KINDS[0], 0, 4)
    assert other.answer != task.answer
    assert {step.tool for kind in (*KINDS, *ALIKE) for step in kind.way} <= set(OFFERED)
    assert set(CHANGED) <= {kind.name for kind in KINDS}
