"""Procedures learnt from what was done, each case counted once; how tools do (D6)."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Conflict, Episode, Memory, Procedure, ScopedMemory, Turn
from recollect.model.changes import Revise
from recollect.model.records import ToolInvocation
from recollect.model.scope import Scope
from recollect.model.searched import proof, weight
from recollect.model.tools import error_kind, tool_stats
from recollect.ports.tending import Mark
from recollect.tend import erase
from recollect.tend.learnt import (
    GAP,
    MOST_COUNTED,
    counted,
    described,
    is_same_way,
    pattern,
    reinforced,
    without,
    worded,
)
from recollect.tend.patterns import learn, plan_patterns
from recollect.testing.store_samples import START, ManualClock
from tests.unit.learning import DEPLOY, carried_out, episodes, procedures, task, tend
from tests.unit.support import OpenMemory


def episode(
    turn: str, success: bool | None = True, goal: str = "deploy the shop", **given: object
) -> Episode:
    fields = {"tools": ("ci", "ship"), "sources": (turn, f"{turn}-end"), **given}
    return Episode(
        id=f"e-{turn}",
        content="",
        recorded_at=START,
        valid_from=START,
        goal=goal,
        success=success,
        **fields,
    )


def procedure(*cases: Episode) -> Procedure:
    made = Procedure(id="p", content="", recorded_at=START, valid_from=START, tools=("ci", "ship"))
    made = worded(reinforced(made, cases[0]), cases[0])
    for case in cases[1:]:
        made = reinforced(made, case)
    return made


@pytest.mark.parametrize(
    ("context", "goal", "common"),
    [
        ("deploy the shop to staging", "deploy the blog to staging", f"deploy the {GAP} to staging"),
        ("deploy the shop", "deploy the shop", "deploy the shop"),
        ("Deploy the shop.", "deploy the shop to staging", "Deploy the shop."),
        ("book a flight to Lima", "book a flight to Oslo", f"book a flight to {GAP}"),
        ("water the plants", "call my sister", "water the plants"),
    ],
)
def test_what_goals_have_in_common(context: str, goal: str, common: str) -> None:
    assert pattern(context, goal) == common


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_pattern_holds_no_word_of_the_second_goal(context: str, goal: str) -> None:
    assert {*pattern(context, goal).split()} <= {*context.split(), GAP}


def test_what_is_the_same_way() -> None:
    known = procedure(episode("a"))
    assert is_same_way(known, episode("b", goal="deploy the blog"), near=False)
    assert not is_same_way(known, episode("b", goal="water plants"), near=False)
    assert is_same_way(known, episode("b", goal="water plants"), near=True)
    assert not is_same_way(known, episode("b", tools=("ci",)), near=True)


OUTCOMES = st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), min_size=1, max_size=20)


@given(OUTCOMES)
def test_each_case_counts_once_by_its_last_outcome(told: list[tuple[str, bool]]) -> None:
    made = procedure(episode("first"), *(episode(turn, went) for turn, went in told))
    last = {"first": True, **dict(told)}
    assert counted(made) == last
    assert made.successes == [*last.values()].count(True)
    assert made.failures == [*last.values()].count(False)
    assert {*last} <= {*made.sources}


@given(OUTCOMES, st.sets(st.sampled_from("abcdef")))
def test_taken_back_it_is_as_if_it_had_never_been(told: list[tuple[str, bool]], gone: set[str]) -> None:
    made = procedure(episode("first"), *(episode(turn, went) for turn, went in told))
    left = without(made, gone)
    assert left is not None
    stayed = procedure(episode("first"), *(episode(turn, went) for turn, went in told if turn not in gone))
    assert (left.successes, left.failures) == (stayed.successes, stayed.failures)
    assert {*left.sources} == {*stayed.sources}
    assert without(made, {"first", *"abcdef"}) is None


def test_a_procedure_names_no_more_than_so_many_cases() -> None:
    made = procedure(*(episode(f"t{n}") for n in range(MOST_COUNTED + 20)))
    assert made.successes == MOST_COUNTED + 20
    assert len(counted(made)) == MOST_COUNTED
    assert "t0" in made.sources  # whose words it has


def test_learnt_and_reinforced(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    task(memory, "one")
    tend(memory, clock)
    (learnt,) = procedures(derek)
    assert learnt.content == described("deploy the shop to staging", DEPLOY, "")
    assert (learnt.tools, learnt.successes, learnt.failures) == (DEPLOY, 1, 0)
    task(memory, "two", ask="Can you deploy the blog to staging?")
    task(memory, "three", last="It still fails.")
    tend(memory, clock)
    (again,) = procedures(derek)
    assert (again.id, again.successes, again.failures) == (learnt.id, 2, 1)
    assert again.context == f"deploy the {GAP} to staging"
    assert (again.last_used or START) > (learnt.last_used or START)
    assert again.salience > learnt.salience
    assert tend(memory, clock)["patterns"] == 0
    assert procedures(derek) == [again]
    talks = {turn.conversation for turn in memory.store.user("derek").get(Turn, again.sources)}
    assert talks == {"one", "two", "three"}  # where it was tried


def test_nothing_is_learnt_from_failures_alone(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    task(memory, "one", last="It still fails.")
    task(memory, "two", last=None)
    tend(memory, clock)
    assert procedures(derek) == []


def test_another_outcome_takes_the_place_of_the_first(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    task(memory, "one")
    two = task(memory, "two")
    tend(memory, clock)
    two.record("user", "It still fails.")
    two.record("user", "No luck at all.")
    tend(memory, clock)
    assert [(p.successes, p.failures) for p in procedures(derek)] == [(1, 1)]


def test_what_an_agent_saves_counts_as_well(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    saved = {"kind": "episode", "goal": "deploy the shop", "tools": ["ci", "ship"], "success": True}
    for n in range(2):
        derek.remember(f"Deployed the shop {n}.", **saved)
    tend(memory, clock)
    (learnt,) = procedures(derek)
    assert (learnt.successes, learnt.tools) == (2, ("ci", "ship"))
    derek.forget(episodes(derek)[0].id)
    assert [p.successes for p in procedures(derek)] == [1]
    derek.forget(episodes(derek)[0].id)
    assert procedures(derek) == []


def test_channels_learn_for_themselves(memory: Memory, clock: ManualClock) -> None:
    for channel in ("work", "home"):
        inside = memory.scope("derek", channel, conversation=channel)
        inside.record("user", "Can you deploy the shop?")
        inside.record_tool("ci", {}, "ok")
        inside.record("assistant", "Done.")
        inside.end(success=True)
    tend(memory, clock)
    assert sorted((p.channel, p.successes) for p in procedures(memory.scope("derek"))) == [
        ("home", 1),
        ("work", 1),
    ]


def test_two_workers_count_once(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    for n in range(3):
        task(memory, f"c{n}")
    clock.advance(minutes=31)
    derek.mine()
    work = memory._workspace(Scope("derek"))
    from recollect.tend.conclude import plan_conclusions

    carried_out(work, plan_conclusions(work, Mark()))
    plans = [list(plan_patterns(work, Mark())) for _ in range(2)]
    assert [len(plan) for plan in plans] == [3, 3]
    tallies = [carried_out(work, plan) for plan in plans]
    assert [(tally.done, tally.problem) for tally in tallies] == [(3, None), (0, None)]
    assert [p.successes for p in procedures(derek)] == [3]
    assert list(plan_patterns(work, Mark())) == []


def test_erased_with_its_words(memory: Memory, derek: ScopedMemory, clock: ManualClock, path: Path) -> None:
    task(memory, "one", ask="Can you deploy the xylophone shop to staging?")
    tend(memory, clock)
    task(memory, "two")
    task(memory, "three", last="It still fails.")
    tend(memory, clock)
    (before,) = procedures(derek)
    assert (before.successes, before.failures) == (2, 1)
    derek.forget(conversation="three")
    assert [(p.successes, p.failures) for p in procedures(derek)] == [(2, 0)]
    derek.forget(conversation="one")  # whose words the procedure has
    (left,) = procedures(derek)
    assert (left.id, left.successes) == (before.id, 1)
    assert left.content == described("deploy the shop to staging", DEPLOY, "")
    assert derek.procedures("deploy the shop")[0].id == left.id
    derek.forget(conversation="two")
    assert procedures(derek) == []
    memory.close()
    for file in path.parent.glob(f"{path.name}*"):
        assert b"xylophone" not in file.read_bytes()


def test_what_went_well_comes_first(memory: Memory, derek: ScopedMemory) -> None:
    given = {"kind": "procedure", "context": "deploy the shop"}
    bad = derek.remember("To deploy the shop, use rsync.", successes=0, failures=5, **given)
    good = derek.remember("To deploy the shop, use docker.", successes=9, failures=1, **given)
    new = derek.remember("To deploy the shop, use podman.", **given)
    assert [p.id for p in derek.procedures("deploy the shop")] == [good.id, new.id, bad.id]
    assert len(derek.procedures("deploy the shop", 1)) == 1
    found = derek.recall("deploy the shop", kinds=["procedure"], techniques={"gate": False})
    assert [hit.went for hit in found.hits] == ["went well 9 of 10 times", "", "went well 0 of 5 times"]
    assert "procedure, went well 9 of 10 times] To deploy" in found.context
    assert found.compact()["memories"][0]["went"] == "went well 9 of 10 times"
    memory.store.user("derek").apply([Revise("procedure", bad.id, {"salience": 0.5})])
    assert [p.id for p in derek.procedures("deploy the shop")] == [good.id, new.id, bad.id]


def test_episodes_by_task(derek: ScopedMemory) -> None:
    given = {"kind": "episode", "goal": "fix the door"}
    bad = derek.remember("Tried to fix the door with tape.", success=False, **given)
    good = derek.remember("Tried to fix the door with glue.", success=True, **given)
    assert [e.id for e in derek.episodes("fix the door")] == [good.id, bad.id]


def test_other_kinds_weigh_as_before(derek: ScopedMemory, memory: Memory) -> None:
    assert weight(0.5, "current") == weight(0.5, "current", None, None) == pytest.approx(1.2)
    assert proof(0, 0) == 1.0
    derek.remember("Derek likes tea")
    derek.remember("Tea: boil water, wait", kind="procedure")
    (fact,) = derek.recall("tea", kinds=["fact"]).hits
    (how,) = derek.recall("tea", kinds=["procedure"]).hits
    assert fact.signals["weight"] == how.signals["weight"] == pytest.approx(1.2)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_success_weighs_within_bounds(well: int, badly: int) -> None:
    assert 0.8 < proof(well, badly) < 1.2
    assert proof(well + 1, badly) > proof(well, badly) > proof(well, badly + 1)


def call(tool: str, *, ms: float | None = 10.0, error: str | None = None, minutes: int = 0) -> ToolInvocation:
    at = START + timedelta(minutes=minutes)
    return ToolInvocation(
        id=f"i{minutes}", tool=tool, input=1, success=error is None, error=error, at=at, latency_ms=ms
    )


def test_how_tools_do() -> None:
    calls = [
        call("a", ms=10),
        call("b", ms=None, error="TimeoutError: host secret.example", minutes=1),
        call("a", ms=30, minutes=2),
        call("a", ms=None, error="my password is wrong", minutes=3),
    ]
    first, second = tool_stats(calls)
    assert (first.tool, first.calls, first.successes, first.failures) == ("a", 3, 2, 1)
    assert (first.average_ms, first.last_used) == (20.0, START + timedelta(minutes=3))
    assert (first.last_error, second.last_error, second.average_ms) == ("error", "TimeoutError", None)
    assert tool_stats([]) == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("ValueError", "ValueError"),
        ("http.client.HTTPException: 500", "http.client.HTTPException"),
        ("Timeout (30 s)", "Timeout"),
        ("could not reach ana@mail.example", "error"),
        ("", "error"),
        (None, "error"),
    ],
)
def test_the_kind_of_an_error_tells_nothing_of_it(error: str | None, kind: str) -> None:
    assert error_kind(error) == kind


def test_tools_of_one_user(memory: Memory, derek: ScopedMemory) -> None:
    derek.record_tool("search", {"q": 1}, [], latency_ms=5)
    derek.record_tool("search", {"q": 2}, success=False, error="TimeoutError: 9")
    memory.scope("ann").record_tool("mail", {})
    assert [(s.tool, s.calls, s.average_ms, s.last_error) for s in derek.tools()] == [
        ("search", 2, 5.0, "TimeoutError")
    ]
    assert derek.tools("mail") == []


def test_without_an_embedder_words_decide(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory(embedder="none")
    task(memory, "one")
    task(memory, "two", ask="Can you deploy the blog to staging?")
    tend(memory, clock)
    assert [p.successes for p in procedures(memory.scope("derek"))] == [2]


def test_an_episode_without_a_goal_or_a_source_teaches_nothing() -> None:
    from recollect.tend.patterns import is_telling

    assert is_telling(episode("a"))
    for wrong in ({"goal": ""}, {"tools": ()}, {"sources": ()}, {"retired_at": START}):
        assert not is_telling(replace(episode("a"), **wrong))


def test_what_somebody_corrected_is_not_learnt_anew(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    task(memory, "one")
    tend(memory, clock)
    fixed = derek.correct(procedures(derek)[0].id, "To deploy the shop, ask Ann.")
    assert "learnt" not in fixed.metadata
    task(memory, "two")
    tend(memory, clock)
    assert [p.content for p in procedures(derek) if p.superseded_by is None] == [fixed.content]


def test_erased_while_it_is_learnt(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    """Whoever has planned to erase an episode before it was counted plans again."""
    saved = derek.remember(
        "Deployed.", kind="episode", goal="deploy the shop", tools=["ci", "ship"], success=True
    )
    work = memory._workspace(Scope("derek"))
    everything = erase._all_of_it(work, [saved, *work.store.get(Turn, saved.sources)])
    planned = erase._erasing(work, everything, ())
    assert learn(work, saved.id) == 1
    with pytest.raises(Conflict):
        work.apply(*planned)
    derek.forget(saved.id)
    assert procedures(derek) == []
