"""What is pinned survives the retention policy, whatever it rests on; and nothing that an import left in the
way keeps anybody from forgetting."""

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Fact, Invalid, Memory, ScopedMemory
from recollect.testing.store_samples import ManualClock
from tests.unit.learning import DEPLOY, episodes, procedures, task, tend
from tests.unit.test_erase_bytes import left_in


def test_a_pinned_episode_outlives_the_turns_that_it_does_not_cite(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    inside = memory.scope("derek", conversation="long")
    inside.record("user", "Can you deploy the shop to staging?")
    for tool in DEPLOY:
        inside.record_tool(tool, {}, "ok")
    inside.record_many({"role": "assistant", "content": f"I do step {i}."} for i in range(30))
    inside.record("user", "Perfect, that worked. Thanks!")
    inside.end(success=True)
    tend(memory, clock)
    (episode,) = episodes(derek)
    derek.pin(episode.id)
    derek.set_retention(turn_days=10)
    clock.advance(days=11)
    tend(memory, clock)
    tend(memory, clock)
    (kept,) = episodes(derek)
    assert (kept.id, kept.content, kept.pinned) == (episode.id, episode.content, True)
    assert len(derek.conversation("long")) == len(episode.sources)
    inside.forget(inside.conversation("long")[-1].id)
    assert episodes(derek) == []


def test_a_pinned_procedure_outlives_the_note_that_it_was_learnt_from(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.set_retention(expire=True, ttl_days=5.0)
    given: dict[str, Any] = {"goal": "deploy the shop", "tools": DEPLOY, "success": True}
    derek.remember("The shop was deployed.", kind="episode", **given)
    tend(memory, clock)
    (learnt,) = procedures(derek)
    derek.pin(learnt.id)
    clock.advance(days=6)
    tend(memory, clock)
    assert episodes(derek) == []
    (kept,) = procedures(derek)
    assert kept.content == learnt.content


def test_a_conversation_that_goes_on_leaves_a_pinned_episode_as_it_is(
    memory: Memory, clock: ManualClock
) -> None:
    inside = task(memory, "deployment", success=True)
    tend(memory, clock)
    pinned = inside.pin(episodes(inside)[0].id)
    inside.record_tool("read_logs", {}, "ok")
    inside.end(success=False)
    tend(memory, clock)
    (kept,) = episodes(inside)
    assert kept.content == pinned.content


@pytest.mark.parametrize("found", [5, "apart", ["apart"], {"apart": 5}, None])
def test_a_channel_is_forgotten_whatever_was_set_for_it(
    memory: Memory, derek: ScopedMemory, found: object
) -> None:
    memory.scope("derek", "apart").remember("The safe is behind the mirror.")
    derek.update_settings(custom={"style": "brief"})
    lines = [json.loads(line) for line in derek.export()]
    for line in lines:
        if line.get("kind") == "settings":
            line["values"]["retention"] = found
    ann = memory.scope("ann")
    ann.import_(map(json.dumps, lines))
    assert ann.forget(channel="apart").counts["fact"] == 1


@pytest.mark.parametrize("learnt", [{"worded": 5}, {"worded": "abc"}, {"lesson": 5}, {"worded": [1, None]}])
def test_a_turn_is_forgotten_whatever_a_procedure_says_it_was_learnt_from(
    memory: Memory, clock: ManualClock, learnt: dict[str, Any]
) -> None:
    for name in ("one", "two"):
        derek = task(memory, name, success=True)
    tend(memory, clock)
    lines = [json.loads(line) for line in derek.export()]
    for line in lines:
        if line.get("kind") == "procedure":
            line["metadata"]["learnt"] |= learnt
    ann = memory.scope("ann")
    ann.import_(map(json.dumps, lines))
    task(memory, "three", success=True, user="ann")
    tend(memory, clock)
    for turn in ann.conversation("one"):
        ann.forget(turn.id)
    assert ann.conversation("one") == []


def test_a_name_is_forgotten_of_which_nothing_else_is_left(memory: Memory, derek: ScopedMemory) -> None:
    memory.scope("derek", "secret", "confidant").record("user", "The safe is behind the mirror.")
    derek.forget(channel="secret")
    assert [entry.agent for entry in derek.audit() if entry.operation == "record"] == ["confidant"]
    assert derek.forget(agent="confidant").total == 0
    derek.set_retention(channel="empty", ttl_days=3)
    assert derek.forget(channel="empty").total == 0
    assert "empty" not in str(derek.settings().values)
    assert all("confidant" not in str(entry) for entry in derek.audit())
    assert memory.scope("nobody").forget(agent="confidant").total == 0
    assert "nobody" not in memory.store.users()


def test_a_promoted_fact_that_stays_no_longer_names_a_forgotten_channel(
    memory: Memory, derek: ScopedMemory, clock: ManualClock, path: Path
) -> None:
    for channel, talk in (("zorkmids", "one"), ("zorkmids", "two"), ("_global", "three")):
        memory.scope("derek", channel, conversation=talk).record("user", "My favourite colour is green.")
        tend(memory, clock)
        if talk == "two":
            (fact,) = derek.list("fact")
            derek.promote(fact.id)
    derek.forget(channel="zorkmids")
    (kept,) = derek.list("fact")
    assert isinstance(kept, Fact)
    assert (kept.id, kept.channel, kept.promoted_from) == (fact.id, "_global", None)
    with pytest.raises(Invalid, match="not promoted"):
        derek.promote(fact.id, False)
    assert left_in(path, "zorkmids") == []


@pytest.mark.parametrize("said", ["2020-01-01", "2020-01-01T10:00:00", "not a date", 5])
def test_what_metadata_tells_of_times_does_no_harm(
    memory: Memory, derek: ScopedMemory, clock: ManualClock, said: object
) -> None:
    given: dict[str, Any] = {"goal": "deploy the shop", "tools": DEPLOY, "success": True}
    metadata = {"mined": {"said": said}}
    derek.remember("The shop was deployed.", kind="episode", metadata=metadata, **given)
    tend(memory, clock)
    (learnt,) = procedures(derek)
    assert learnt.last_used == episodes(derek)[0].recorded_at
    assert memory.store.check() == []
