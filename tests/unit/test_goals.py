"""The life of a goal: parts, blockers, both ways; closed, opened again, forgotten (D9)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Goal, Invalid, Memory, NotFound, ScopedMemory
from recollect.model.goals import OPEN, is_overdue, pressing, settled
from recollect.model.records import GoalStatus
from recollect.testing.store_samples import START, ManualClock

ACTIVE, COMPLETED, ABANDONED, BLOCKED = (
    GoalStatus.ACTIVE,
    GoalStatus.COMPLETED,
    GoalStatus.ABANDONED,
    GoalStatus.BLOCKED,
)


def status(user: ScopedMemory, *goals: Goal) -> list[GoalStatus]:
    return [user.goal(goal.id).goal.status for goal in goals]


def goal(status: GoalStatus = ACTIVE, **given: object) -> Goal:
    return replace(Goal(id="g", description="x", created_at=START, status=status), **given)


@given(st.sampled_from(GoalStatus), st.lists(st.sampled_from(GoalStatus)))
def test_blocked_as_long_as_a_blocker_is_open(own: GoalStatus, theirs: list[GoalStatus]) -> None:
    blockers = [goal(other, id=str(n)) for n, other in enumerate(theirs)]
    one = goal(own, blocked_by=tuple(b.id for b in blockers))
    after = settled(one, blockers)
    if own not in OPEN or not theirs:
        assert after == one
    else:
        waits = any(other in OPEN for other in theirs)
        assert after.status is (BLOCKED if waits else ACTIVE)
    assert settled(after, blockers) == after


def test_links_are_seen_from_both_ends(derek: ScopedMemory) -> None:
    trip = derek.add_goal("Trip")
    visa = derek.add_goal("Visa", parent=trip.id)
    flight = derek.add_goal("Flight", parent=trip.id, priority=1, blocked_by=[visa.id])
    whole = derek.goal(trip.id)
    assert ([g.id for g in whole.subgoals], whole.parent) == ([flight.id, visa.id], None)
    assert [g.id for g in derek.goal(visa.id).blocks] == [flight.id]
    state = derek.goal(flight.id)
    assert ([g.id for g in state.blockers], state.parent) == ([visa.id], trip)


def test_closing_frees_what_waits_and_opening_blocks_it_again(derek: ScopedMemory) -> None:
    one, two = derek.add_goal("one"), derek.add_goal("two")
    last = derek.add_goal("last", blocked_by=[one.id, two.id])
    derek.complete_goal(one.id)
    assert status(derek, last) == [BLOCKED]
    derek.complete_goal(two.id, "abandoned")  # nothing waits for what will not happen
    assert status(derek, last) == [ACTIVE]
    derek.complete_goal(one.id, "active")
    assert status(derek, one, last) == [ACTIVE, BLOCKED]
    derek.complete_goal(last.id, "abandoned")
    derek.complete_goal(one.id)
    assert status(derek, last) == [ABANDONED]
    derek.complete_goal(last.id, "active")
    assert status(derek, last) == [ACTIVE]


def test_parts_go_and_come_back_with_the_whole(derek: ScopedMemory, clock: ManualClock) -> None:
    trip = derek.add_goal("Trip")
    flight = derek.add_goal("Flight", parent=trip.id)
    seat = derek.add_goal("Seat", parent=flight.id)
    hotel = derek.add_goal("Hotel", parent=trip.id)
    waiting = derek.add_goal("Pack", blocked_by=[seat.id])
    derek.complete_goal(hotel.id, result="booked")
    done = clock.advance(days=1)
    derek.complete_goal(trip.id, result="went")
    assert status(derek, trip, flight, seat, hotel) == [COMPLETED, ABANDONED, ABANDONED, COMPLETED]
    assert derek.goal(seat.id).goal.closed_at == done
    assert status(derek, waiting) == [ACTIVE]
    derek.complete_goal(trip.id, "active")
    assert status(derek, trip, flight, seat, hotel, waiting) == [ACTIVE, ACTIVE, ACTIVE, COMPLETED, BLOCKED]
    assert derek.goal(seat.id).goal.metadata == {}


def test_a_part_that_was_given_up_before_stays_so(derek: ScopedMemory) -> None:
    trip = derek.add_goal("Trip")
    flight = derek.add_goal("Flight", parent=trip.id)
    derek.complete_goal(flight.id, "abandoned")
    derek.complete_goal(trip.id)
    derek.complete_goal(trip.id, "active")
    assert status(derek, flight) == [ABANDONED]


def test_nothing_depends_on_itself(derek: ScopedMemory) -> None:
    one = derek.add_goal("one")
    two = derek.add_goal("two", parent=one.id, blocked_by=[one.id])
    three = derek.add_goal("three", parent=two.id, blocked_by=[two.id])
    for id, changes in (
        (one.id, {"parent": one.id}),
        (one.id, {"parent": three.id}),
        (one.id, {"blocked_by": [one.id]}),
        (one.id, {"blocked_by": [three.id]}),
    ):
        with pytest.raises(Invalid, match="depend on itself"):
            derek.update_goal(id, **changes)
    assert derek.goal(one.id).goal == one


def test_a_circle_is_not_made_by_two_at_once(derek: ScopedMemory) -> None:
    goals = [derek.add_goal(f"goal {n}").id for n in range(4)]
    refused = 0

    def chain(n: int) -> int:
        try:
            derek.update_goal(goals[n], blocked_by=[goals[(n + 1) % 4]])
        except Invalid:
            return 1
        return 0

    with ThreadPoolExecutor(4) as threads:
        refused = sum(threads.map(chain, range(4)))
    assert refused == 1


def test_it_can_be_changed(derek: ScopedMemory, memory: Memory, clock: ManualClock) -> None:
    one, other = derek.add_goal("one"), derek.add_goal("other")
    changed = derek.update_goal(
        one.id,
        description="First",
        priority=3,
        deadline=START + timedelta(days=1),
        parent=other.id,
        blocked_by=[other.id],
    )
    assert derek.get(one.id) == changed
    assert (changed.description, changed.priority, changed.status) == ("First", 3, BLOCKED)
    assert not derek.goal(one.id).overdue
    clock.advance(days=2)
    assert derek.goal(one.id).overdue
    free = derek.update_goal(one.id, deadline=None, parent=None, blocked_by=())
    assert (free.deadline, free.parent, free.blocked_by, free.status) == (None, None, (), ACTIVE)
    for wrong in ({"description": " "}, {"status": "completed"}, {"priority": "high"}, {"priority": None}):
        with pytest.raises(Invalid):
            derek.update_goal(one.id, **wrong)
    theirs = memory.scope("ann").add_goal("Hers")
    for missing in ({"parent": theirs.id}, {"blocked_by": [theirs.id]}):
        with pytest.raises(NotFound):
            derek.update_goal(one.id, **missing)
    for call in (derek.goal, derek.update_goal, derek.complete_goal):
        with pytest.raises(NotFound):
            call(theirs.id)


def test_blocked_by_something_that_is_no_goal(derek: ScopedMemory) -> None:
    one = derek.add_goal("one")
    assert derek.complete_goal(one.id, "blocked").status is BLOCKED
    other = derek.add_goal("other")
    derek.complete_goal(other.id)
    assert status(derek, one) == [BLOCKED]
    assert derek.complete_goal(one.id, "active").status is ACTIVE


def test_forgetting_frees_and_leaves_no_loose_end(derek: ScopedMemory) -> None:
    trip, visa, open_ = derek.add_goal("Trip"), derek.add_goal("Visa"), derek.add_goal("Open")
    part = derek.add_goal("Flight", parent=trip.id, blocked_by=[visa.id, open_.id])
    derek.complete_goal(open_.id)
    derek.forget(visa.id)
    assert status(derek, part) == [ACTIVE]
    derek.forget(trip.id)
    state = derek.goal(part.id)
    assert (state.goal.parent, state.parent) == (None, None)


def test_the_most_pressing_first_and_what_is_late() -> None:
    late = goal(id="late", deadline=START - timedelta(days=1))
    soon = goal(id="soon", deadline=START + timedelta(days=1))
    urgent = goal(id="urgent", priority=1)
    some_day = goal(id="some day")
    assert [g.id for g in sorted((some_day, soon, urgent, late), key=pressing)] == [
        "urgent",
        "late",
        "soon",
        "some day",
    ]
    assert is_overdue(late, START)
    assert not is_overdue(soon, START)
    assert not is_overdue(replace(late, status=COMPLETED), START)
