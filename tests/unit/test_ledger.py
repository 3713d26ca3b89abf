"""Tools, summaries, profile, settings and goals (A5-A7, D9)."""

from datetime import datetime, timedelta

import pytest

from recollect import Invalid, Memory, NotFound, ScopedMemory, TooLarge
from recollect.model.records import GoalStatus
from recollect.testing.store_samples import START, ManualClock
from tests.unit.support import OpenMemory


def test_a_tool_call_is_kept_with_its_outcome(memory: Memory) -> None:
    scoped = memory.scope("derek", channel="work", agent="coder", conversation="c")
    turn = scoped.record("assistant", "Let me look")
    call = scoped.record_tool(
        "search",
        {"q": ["a", None, 1.5]},
        "\ud800 found",
        success=False,
        latency_ms=12.5,
        error="timed out",
        turn=turn.id,
    )
    assert scoped.get(call.id) == call
    assert (call.tool, call.input, call.output) == ("search", {"q": ["a", None, 1.5]}, "\ud800 found")
    assert (call.success, call.latency_ms, call.error, call.turn) == (False, 12.5, "timed out", turn.id)
    assert (call.conversation, call.channel, call.agent, call.at) == ("c", "work", "coder", START)
    bare = memory.scope("derek").record_tool("ping", None)
    assert memory.scope("derek").get(bare.id) == bare
    assert memory.scope("derek").recall("search found").hits == ()


def test_what_a_tool_call_cannot_be(open_memory: OpenMemory) -> None:
    derek = open_memory(content_limit=100).scope("derek")
    with pytest.raises(Invalid, match="input"):
        derek.record_tool("t", object())
    with pytest.raises(TooLarge, match=r"output.*RECOLLECT_CONTENT_LIMIT"):
        derek.record_tool("t", 1, "x" * 200)
    with pytest.raises(Invalid, match="finite"):
        derek.record_tool("t", 1, latency_ms=float("inf"))
    with pytest.raises(Invalid, match="error must be text"):
        derek.record_tool("t", 1, error=ValueError())  # type: ignore[arg-type]
    assert derek.counts() == {}


def test_summaries_are_read_in_the_order_they_were_made(memory: Memory, clock: ManualClock) -> None:
    scoped = memory.scope("derek", conversation="c")
    first = scoped.record_summary("q1", "s1", "r1")
    clock.advance(hours=-1)  # the order does not hang on the clock
    second = scoped.record_summary("q2", "s2", "r2")
    memory.scope("derek", conversation="d").record_summary("q", "s", "r")
    assert scoped.summaries("c") == [first, second]
    assert (first.query, first.summary, first.result, first.at) == ("q1", "s1", "r1", START)
    assert scoped.recall("q1 s1 r1").hits == ()


def test_a_summary_belongs_to_a_conversation(derek: ScopedMemory) -> None:
    with pytest.raises(Invalid, match="conversation"):
        derek.record_summary("q", "s", "r")


def test_the_profile_is_merged_and_a_none_takes_out(derek: ScopedMemory, clock: ManualClock) -> None:
    assert derek.profile().preferences == {}
    assert derek.counts() == {}  # asking stores nothing
    derek.update_profile(
        preferences={"tea": "green", "units": "metric"}, expertise=["sailing"], style={"tone": "dry"}
    )
    clock.advance(days=1)
    changed = derek.update_profile(preferences={"tea": None, "coffee": True}, expertise=["sailing", "law"])
    assert changed == derek.profile()
    assert changed.preferences == {"units": "metric", "coffee": True}
    assert changed.expertise == ("sailing", "law")
    assert changed.style == {"tone": "dry"}
    assert changed.updated_at == START + timedelta(days=1)
    with pytest.raises(Invalid):
        derek.update_profile(preferences={"x": object()})
    assert derek.profile() == changed


def test_settings_of_a_user_are_their_own(derek: ScopedMemory, memory: Memory) -> None:
    derek.update_settings(top_k=3, enabled=False)
    assert derek.update_settings(top_k=None).values == {"enabled": False}
    assert derek.settings().values == {"enabled": False}
    assert memory.scope("ann").settings().values == {}


def test_a_goal_from_start_to_end(derek: ScopedMemory, clock: ManualClock) -> None:
    goal = derek.add_goal("Book flights", priority=2, deadline=START + timedelta(days=9))
    assert derek.get(goal.id) == goal
    assert (goal.status, goal.priority, goal.deadline) == (GoalStatus.ACTIVE, 2, START + timedelta(days=9))
    urgent = derek.add_goal("Renew passport", priority=5)
    assert [g.id for g in derek.goals()] == [urgent.id, goal.id]
    done_at = clock.advance(days=1)
    done = derek.complete_goal(goal.id, result="TAP, 14 May")
    assert (done.status, done.result, done.closed_at) == (GoalStatus.COMPLETED, "TAP, 14 May", done_at)
    assert derek.get(goal.id) == done
    assert [g.id for g in derek.goals()] == [urgent.id]
    assert [g.id for g in derek.goals("completed")] == [goal.id]
    assert {g.id for g in derek.goals(None)} == {goal.id, urgent.id}


def test_a_goal_is_blocked_until_the_last_blocker_is_done(derek: ScopedMemory) -> None:
    one, two = derek.add_goal("one"), derek.add_goal("two")
    last = derek.add_goal("last", blocked_by=[one.id, two.id])
    assert derek.get(last.id) == last
    assert last.status is GoalStatus.BLOCKED
    derek.complete_goal(one.id)
    assert [(g.id, g.blocked_by) for g in derek.goals("blocked")] == [(last.id, (one.id, two.id))]
    derek.complete_goal(two.id)
    assert [(g.id, g.blocked_by) for g in derek.goals()] == [(last.id, (one.id, two.id))]


def test_subgoals_and_other_ends(derek: ScopedMemory) -> None:
    goal = derek.add_goal("Trip")
    part = derek.add_goal("Flights", parent=goal.id)
    assert [g.id for g in derek.list("goal", parent=goal.id)] == [part.id]
    assert derek.complete_goal(part.id, "abandoned", "too dear").status is GoalStatus.ABANDONED
    again = derek.complete_goal(part.id, "active")
    assert (again.status, again.closed_at, again.result) == (GoalStatus.ACTIVE, None, None)


def test_what_a_goal_cannot_be(derek: ScopedMemory, memory: Memory) -> None:
    theirs = memory.scope("ann").add_goal("Hers")
    goal = derek.add_goal("Mine")
    for wrong in ({"parent": theirs.id}, {"blocked_by": ["missing"]}, {"blocked_by": [theirs.id]}):
        with pytest.raises(NotFound):
            derek.add_goal("x", **wrong)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        derek.add_goal(" ")
    with pytest.raises(Invalid, match="time zone"):
        derek.add_goal("x", deadline=datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(NotFound):
        derek.complete_goal(theirs.id)
    with pytest.raises(Invalid, match="active, completed, abandoned, blocked"):
        derek.complete_goal(goal.id, "won")
    assert derek.goals(None) == [goal]
    assert memory.scope("ann").goals() == [theirs]


@pytest.mark.parametrize("switch", ["enabled", "auto_mine"])
@pytest.mark.parametrize("value", ["false", "maybe", 0])
def test_a_switch_is_on_or_off(derek: ScopedMemory, switch: str, value: object) -> None:
    with pytest.raises(Invalid, match=switch):
        derek.update_settings(**{switch: value})
    derek.update_settings(**{switch: False})
    assert derek.update_settings(**{switch: None}).values == {}


def test_a_call_with_an_error_failed_unless_it_is_said_to_have_gone_well(derek: ScopedMemory) -> None:
    calls = [derek.record_tool("fetch", {}), derek.record_tool("fetch", {}, error="TimeoutError")]
    calls.append(derek.record_tool("fetch", {}, error="a warning", success=True))
    assert [call.success for call in calls] == [True, False, True]
