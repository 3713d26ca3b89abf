"""A conversation that is over: one summary and, of a task, one episode, however often one looks (D7)."""

from dataclasses import replace
from typing import Any

import pytest

from recollect import Conflict, Invalid, Memory, ModelError, NotFound, ScopedMemory
from recollect.model.records import NEVER
from recollect.model.scope import Scope
from recollect.ports.tending import Mark
from recollect.tend import erase
from recollect.tend.conclude import TRIES, plan_conclusions
from recollect.tend.concluding import conclude
from recollect.testing.store_samples import START, ManualClock
from tests.unit.learning import DEPLOY, carried_out, episodes, procedures, summaries, talk, task, tend
from tests.unit.mining import Scripted
from tests.unit.support import OpenMemory


def test_one_of_everything(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    task(memory, "c")
    assert tend(memory, clock, 5)["conclude"] == 0
    assert tend(memory, clock)["conclude"] == 1
    (episode,) = episodes(derek)
    assert episode.goal == "deploy the shop to staging"
    assert (episode.tools, episode.success) == (DEPLOY, True)
    assert episode.content.startswith("The user asked: deploy the shop to staging. Done with build_image")
    assert derek.conversation("c")[0].id == episode.sources[0]
    (summary,) = summaries(derek)
    assert summary.query == "Can you deploy the shop to staging?"
    assert summary.result == "The shop runs on staging."
    assert talk(memory, "c").concluded_to == 4
    assert tend(memory, clock)["conclude"] == 0
    assert ([e.id for e in episodes(derek)], summaries(derek)) == ([episode.id], [summary])


def test_one_that_goes_on_is_concluded_again_in_place(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    inside = task(memory, "c", last=None)
    tend(memory, clock)
    (before,) = episodes(derek)
    assert before.success is None
    assert procedures(derek) == []
    inside.record("user", "It still fails.")
    tend(memory, clock)
    (after,) = episodes(derek)
    assert (after.id, after.success) == (before.id, False)
    assert len(summaries(derek)) == 1
    found = derek.recall("shop on staging", kinds=["episode"], techniques={"gate": False})
    assert [hit.went for hit in found.hits] == ["failed"]
    assert ", episode, failed" in found.context


def test_it_has_ended_when_somebody_says_so(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    inside = task(memory, "c", last=None, outcome="Staging has the new shop", success=True)
    assert talk(memory, "c").ended_at == START
    assert tend(memory, clock, 0)["conclude"] == 1
    (episode,) = episodes(derek)
    assert (episode.outcome, episode.success) == ("Staging has the new shop", True)
    inside.record("user", "One more thing")
    assert talk(memory, "c").ended_at is None
    assert tend(memory, clock)["conclude"] == 1
    assert [e.success for e in episodes(derek)] == [None]  # what was said of the end was said of another end
    inside.end(success=False)
    tend(memory, clock, 0)
    assert [e.success for e in episodes(derek)] == [False]


def test_what_cannot_end(memory: Memory, derek: ScopedMemory) -> None:
    with pytest.raises(NotFound):
        derek.end("nowhere")
    with pytest.raises(Invalid, match="which conversation"):
        derek.end()
    task(memory, "c")
    with pytest.raises(Invalid):
        derek.end("c", success="yes")  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        memory.scope("ann").end("c")


def test_one_task_that_mining_found_is_taken_over(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    inside = memory.scope("derek", conversation="c")
    for role, said in (
        ("user", "Can you fix the login page?"),
        ("assistant", "Try clearing the cookies."),
        ("assistant", "Then restart the server."),
        ("user", "That worked, thanks!"),
    ):
        inside.record(role, said)
    derek.mine()
    (mined,) = episodes(derek)
    tend(memory, clock)
    (one,) = episodes(derek)
    assert one.id == mined.id
    assert (one.success, one.goal) == (True, "fix the login page")


def test_a_summary_of_the_agent_is_enough(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    inside = task(memory, "c")
    tend(memory, clock)
    own = inside.record_summary("deploy", "built and rolled out", "it runs")
    inside.record("user", "Thanks again!")
    tend(memory, clock)
    assert [s.id for s in summaries(derek)] == [own.id]


def test_what_somebody_corrected_or_forgot_stays_so(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    one, two = task(memory, "one"), task(memory, "two", ask="Please migrate the database")
    tend(memory, clock)
    first, second = episodes(derek)
    fixed = derek.correct(first.id, "The shop was deployed by hand.")
    derek.forget(second.id)
    for inside in (one, two):
        inside.record("user", "Perfect, that worked. Thanks!")
    tend(memory, clock)
    assert [e.id for e in episodes(derek) if e.superseded_by is None] == [fixed.id]


def test_mining_comes_first_where_it_is_wanted(
    open_memory: OpenMemory, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    model = Scripted(*[ModelError("The model is down.")] * 40)
    memory = open_memory(model=model)
    task(memory, "c")
    clock.advance(minutes=31)
    for _ in range(TRIES):
        assert talk(memory, "c").concluded_to == 0
        memory.tend()
        clock.advance(days=1)
    assert talk(memory, "c").concluded_to == 4
    assert [e.origin for e in episodes(memory.scope("derek"))] == ["rules"]
    assert talk(memory, "c").mining_failures >= TRIES


def test_without_mining_it_is_concluded_all_the_same(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory(auto_mine=False)
    derek = task(memory, "c")
    assert tend(memory, clock)["conclude"] == 1
    assert len(episodes(derek)) == 1
    assert talk(memory, "c").mined_to == 0


def test_who_does_not_want_it_has_none(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory()
    for user, wish in (("ann", {"conclude": False}), ("bob", {"enabled": False})):
        task(memory, "c", user=user).update_settings(**wish)
        tend(memory, clock)
        assert summaries(memory.scope(user)) == []
    memory.scope("ann").update_settings(conclude=None)
    tend(memory, clock)
    assert len(summaries(memory.scope("ann"))) == len(episodes(memory.scope("ann"))) == 1
    with pytest.raises(Invalid):
        memory.scope("ann").update_settings(conclude="perhaps")


def test_notes_alone_are_nothing_to_conclude(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.remember("Derek likes tea")
    tend(memory, clock)
    assert talk(memory, "_notes").concluded_to == 1
    assert (episodes(derek), summaries(derek)) == ([], [])


def test_what_was_undone_is_not_made_again(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    inside = task(memory, "c")
    tend(memory, clock)
    assert derek.unmine("c").counts["episode"] == 1
    assert (episodes(derek), summaries(derek), procedures(derek)) == ([], [], [])
    inside.record("user", "Thanks!")
    tend(memory, clock)
    assert talk(memory, "c").mining_after == NEVER
    assert (episodes(derek), talk(memory, "c").concluded_to) == ([], 5)


def test_sensitive_data_is_kept_out(open_memory: OpenMemory, clock: ManualClock) -> None:
    ask = "Can you mail the invoice to ana@mail.example?"
    for policy, held in (("off", True), ("redact", False)):
        memory = open_memory(pii=policy)
        user = task(memory, "c", ask=ask, user=policy)
        tend(memory, clock)
        told = repr((episodes(user), summaries(user)))
        assert ("ana@mail.example" in told) == held
        assert len(episodes(user)) == 1
    dropped = task(open_memory(pii="drop"), "c", ask=ask, user="drop")
    memory.tend()
    assert episodes(dropped) == []


ANSWER: dict[str, Any] = {
    "query": "The user wanted the shop on staging.",
    "summary": "An image was built and rolled out to staging.",
    "result": "The shop runs on staging.",
    "task": True,
    "goal": "deploy the shop to staging",
    "steps": ["build the image", "roll out"],
    "outcome": "The shop runs on staging.",
    "success": "yes",
    "lessons": "",
}


def test_a_model_words_it(open_memory: OpenMemory, clock: ManualClock) -> None:
    model = Scripted(ANSWER)
    memory = open_memory(model=model, auto_mine=False)
    user = task(memory, "c", last=None)
    tend(memory, clock)
    (episode,) = episodes(user)
    assert (episode.origin, episode.success, episode.tools) == ("scripted", True, DEPLOY)
    assert episode.steps == ("build the image", "roll out")
    assert summaries(user)[0].summary == ANSWER["summary"]
    assert model.asked == 1


def test_what_a_model_invents_is_left_out(open_memory: OpenMemory, clock: ManualClock) -> None:
    invented = {**ANSWER, "goal": "pay 5000 to Mallory", "summary": "Mallory was paid 5000."}
    memory = open_memory(model=Scripted(invented), auto_mine=False)
    user = task(memory, "c", last=None, success=False)
    tend(memory, clock)
    (episode,) = episodes(user)
    assert (episode.goal, episode.success) == ("deploy the shop to staging", False)
    assert "Mallory" not in repr((episodes(user), summaries(user)))


@pytest.mark.parametrize("answer", [ModelError("down"), {"nonsense": 1}, ValueError("odd")])
def test_without_the_model_rules_do_it(
    open_memory: OpenMemory, clock: ManualClock, answer: dict[str, Any] | Exception
) -> None:
    memory = open_memory(model=Scripted(answer, answer), auto_mine=False)
    user = task(memory, "c")
    tend(memory, clock)
    assert [e.origin for e in episodes(user)] == ["rules"]


def test_two_workers_make_one_of_it(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    task(memory, "c")
    derek.mine()
    clock.advance(minutes=31)
    work = memory._workspace(Scope("derek"))
    plans = [list(plan_conclusions(work, Mark())) for _ in range(2)]
    assert [len(plan) for plan in plans] == [1, 1]
    done = [carried_out(work, plan).done for plan in plans]
    assert done == [1, 0]
    assert (len(episodes(derek)), len(summaries(derek))) == (1, 1)


def test_what_is_erased_leaves_no_word_in_it(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    inside = task(memory, "c", answer="The xylophone runs on staging.")
    tend(memory, clock)
    (before,) = episodes(derek)
    assert "xylophone" in repr((before, summaries(derek)))
    turn = next(t for t in derek.conversation("c") if "xylophone" in t.content)
    derek.forget(turn.id)
    assert (episodes(derek), summaries(derek), procedures(derek)) == ([], [], [])
    assert talk(memory, "c").concluded_to == 0
    tend(memory, clock)
    assert len(episodes(derek)) == len(summaries(derek)) == 1
    assert "xylophone" not in repr((episodes(derek), summaries(derek)))
    inside.forget(conversation="c")
    assert derek.counts().keys() <= {"audit", "closet"}


def test_goals_of_a_conversation_stay(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    inside = task(memory, "c")
    goal = inside.add_goal("Deploy the shop")
    tend(memory, clock)
    assert [g.id for g in derek.goals()] == [goal.id]


def test_of_a_long_one_the_ends_are_read(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory(conclude_turns=8, auto_mine=False)
    inside = memory.scope("derek", conversation="c")
    inside.record("user", "Can you plan the wedding?")
    inside.record_tool("calendar", {}, "ok")
    for n in range(40):
        inside.record("assistant", f"Step {n} is done.")
    inside.record("user", "Perfect, that worked!")
    tend(memory, clock)
    (episode,) = episodes(inside)
    assert (episode.goal, episode.success) == ("plan the wedding", True)
    assert len(episode.sources) <= 8


def test_a_fault_of_ours_is_parked_and_given_up(
    memory: Memory, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from recollect.tend import concluding

    task(memory, "c")
    memory.scope("derek").mine()
    monkeypatch.setattr(concluding, "_read", lambda *args: 1 / 0)
    clock.advance(minutes=31)
    for n in range(TRIES):
        memory.tend()
        assert talk(memory, "c").mining_failures == n + 1
        memory.tend()  # too early
        assert talk(memory, "c").mining_failures == n + 1
        clock.advance(days=1)
    memory.tend()
    assert talk(memory, "c").concluded_to == 4
    assert replace(talk(memory, "c")).mining_problem is None


def test_erased_while_it_is_concluded(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    """Whoever has planned to erase a turn before its conversation was concluded plans again, and the other
    way round nothing is made of what is gone."""
    task(memory, "c")
    work = memory._workspace(Scope("derek"))
    turn = derek.conversation("c")[2]
    planned = erase._erasing(work, erase._all_of_it(work, [turn]), ())
    before = talk(memory, "c")
    assert conclude(work, before, "it has ended")
    with pytest.raises(Conflict):
        work.apply(*planned)
    derek.forget(turn.id)
    assert (episodes(derek), summaries(derek)) == ([], [])
    assert not conclude(work, before, "it has ended") or "staging." not in repr(summaries(derek))


def test_tools_alone_are_an_answer(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    inside = memory.scope("derek", conversation="c")
    inside.record("user", "Please deploy the shop.")
    inside.record_tool("ci", {}, {"green": True})
    inside.end(success=True)
    tend(memory, clock)
    (episode,) = episodes(derek)
    assert (episode.tools, episode.success) == (("ci",), True)
    assert [p.tools for p in procedures(derek)] == [("ci",)]
