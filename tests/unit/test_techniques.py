"""Techniques are switched by a setting and by each question, and what there is is told (C10)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Invalid, Memory, ScopedMemory, SettingsError
from recollect.model.changes import Revise
from recollect.recall.techniques import DEFAULT, TECHNIQUES, configured, parsed, switched
from recollect.testing.store_samples import START
from tests.unit.support import OpenMemory, contents

switches = st.dictionaries(st.sampled_from(sorted(TECHNIQUES)), st.booleans())


@given(switches, switches)
def test_the_last_switch_counts(first: dict[str, bool], second: dict[str, bool]) -> None:
    on = switched(switched(DEFAULT, first), second)
    assert on == switched(DEFAULT, {**first, **second})
    for name in TECHNIQUES:
        assert (name in on) == {**first, **second}.get(name, name in DEFAULT)


@given(switches, st.sampled_from([",", " ", ", ", " , "]))
def test_a_setting_says_the_same_as_a_dict(wanted: dict[str, bool], between: str) -> None:
    text = between.join(f"{'+' if on else '-'}{name}" for name, on in wanted.items())
    assert parsed(text) == wanted
    assert configured(text) == switched(DEFAULT, wanted)


@pytest.mark.parametrize(
    ("text", "told"),
    [("gate", r"\+gate or -gate"), ("+", r"\+name or -name"), ("-gates", "no technique 'gates'.*hyde")],
)
def test_a_setting_that_cannot_be_read_is_told_at_opening(
    open_memory: OpenMemory, text: str, told: str
) -> None:
    with pytest.raises(SettingsError, match=f"RECOLLECT_TECHNIQUES.*{told}"):
        open_memory(techniques=text)


@pytest.mark.parametrize(
    "wrong", [{"gates": True}, {"gate": "no"}, {"gate": None}, {1: True}, "-gate", ["gate"], {"gate"}, 7]
)
def test_what_cannot_be_switched_is_told(derek: ScopedMemory, wrong: Any) -> None:
    with pytest.raises(Invalid, match=r"technique|Techniques"):
        derek.recall("tea", techniques=wrong)


def test_a_question_switches_what_the_setting_left(open_memory: OpenMemory) -> None:
    derek = open_memory(techniques="-gate,-meaning").scope("derek")
    derek.record("user", "hello there")
    assert contents(derek.recall("hello")) == ["hello there"]
    assert derek.recall("hello", techniques={"gate": True}).skipped == "greeting"
    assert derek.recall("hello").hits[0].paths == ("words",)
    assert derek.recall("hello", techniques={"meaning": True}).hits[0].paths == ("meaning", "words")


@pytest.mark.parametrize("name", TECHNIQUES)
@pytest.mark.parametrize("on", [True, False])
def test_recall_answers_with_any_technique_on_or_off(derek: ScopedMemory, name: str, on: bool) -> None:
    derek.record("user", "My sister Anna moved to Porto in May", conversation="a")
    derek.record("assistant", "Noted: Porto", conversation="a")
    found = derek.recall("Where did Anna move last May?", techniques={name: on}, explain=True)
    assert "My sister Anna moved to Porto in May" in contents(found)
    by_model = on and name in ("rewrite", "hyde", "self_query")
    assert [p for p in found.problems if name in p] == list(found.problems)
    assert len(found.problems) == by_model


def test_without_meaning_and_words_nothing_is_found(derek: ScopedMemory) -> None:
    derek.record("user", "green tea")
    found = derek.recall("tea", techniques={"meaning": False, "words": False})
    assert (found.hits, found.problems) == ((), ())


def test_what_is_past_counts_less_unless_switched_off(derek: ScopedMemory) -> None:
    derek.remember("tea at noon", tense="past")
    derek.remember("tea at five", tense="current")
    with_weights = derek.recall("tea", techniques={"boosts": True}).hits
    assert [hit.content for hit in with_weights] == ["tea at five", "tea at noon"]
    assert with_weights[0].score > 1.5 * with_weights[1].score
    without = derek.recall("tea", techniques={"boosts": False}).hits
    assert {hit.signals["weight"] for hit in without} == {1.0}


def test_what_is_archived_is_recalled_at_a_lower_rank(derek: ScopedMemory, memory: Memory) -> None:
    derek.record("user", "tea in the morning", conversation="old")
    derek.record("user", "tea in the evening", conversation="new")
    memory.store.user("derek").apply([Revise("conversation", "old", {"archived_at": START})])
    best, last = derek.recall("tea in the morning or evening").hits
    assert (best.conversation, last.conversation) == ("new", "old")
    assert last.signals["weight"] < best.signals["weight"] == 1.0
