"""What rules make of a conversation as a whole: by example and by property (D7)."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Turn
from recollect.mine.conclusion import Conclusion, Talk, Told, concluded, plain_goal, safe
from recollect.mine.tools import sequence
from recollect.model.records import Role, ToolInvocation
from recollect.testing.store_samples import START


def turns(*said: tuple[str, str]) -> tuple[Turn, ...]:
    return tuple(
        Turn(
            id=f"t{place}",
            conversation="c",
            index=place,
            role=Role(role),
            content=content,
            at=START + timedelta(minutes=place),
            recorded_at=START,
            digest="",
        )
        for place, (role, content) in enumerate(said)
    )


def calls(*tools: str, failed: tuple[str, ...] = ()) -> tuple[ToolInvocation, ...]:
    return tuple(
        ToolInvocation(id=f"i{n}", tool=tool, input={}, success=tool not in failed, at=START)
        for n, tool in enumerate(tools)
    )


ASKED = ("user", "Hi! Can you deploy the shop?")
DONE = ("assistant", "It is deployed. Have fun.")


@pytest.mark.parametrize(
    ("said", "tools", "told", "success"),
    [
        ((ASKED, DONE, ("user", "That worked, thanks!")), ("ci",), Told(), True),
        ((ASKED, DONE, ("user", "It still fails.")), ("ci",), Told(), False),
        ((ASKED, DONE, ("user", "It still fails.")), ("ci",), Told(success=True), True),
        ((ASKED, DONE), ("ci",), Told(), None),
        ((ASKED, DONE, ("user", "Thanks. Is it fast?")), ("ci",), Told(), None),
        ((ASKED, DONE, ("user", "Perfect")), ("ci",), Told(success=False), False),
    ],
)
def test_how_it_ended(said: Any, tools: tuple[str, ...], told: Told, success: bool | None) -> None:
    made = concluded(Talk(turns(*said), calls(*tools), told))
    assert (made.goal, made.tools, made.success) == ("deploy the shop", ("ci",), success)


def test_a_tool_that_failed_last_and_was_not_answered_for() -> None:
    said = turns(ASKED, DONE, ("tool", "timeout"))
    assert concluded(Talk(said, calls("ci", failed=("ci",)))).success is False
    answered = turns(ASKED, ("tool", "timeout"), DONE)
    made = concluded(Talk(answered, calls("ci", failed=("ci",))))
    assert (made.success, made.steps) == (None, ("ci (failed)",))


def test_what_is_no_task() -> None:
    for said in (
        (("user", "I like tea."), ("assistant", "Me too.")),
        (ASKED, DONE),
        (ASKED, ("assistant", "Which one?"), ("user", "The small one")),
    ):
        made = concluded(Talk(turns(*said)))
        assert (made.goal, made.content) == ("", "")
        assert made.summary
    assert concluded(Talk(turns(("user", "Hello?")))) == Conclusion()
    assert concluded(Talk(())) == Conclusion()


def test_steps_and_a_sign_make_a_task_without_tools() -> None:
    said = (ASKED, ("assistant", "First the image."), ("user", "ok"), DONE, ("user", "That worked, thanks!"))
    made = concluded(Talk(turns(*said)))
    assert made.content == "The user asked: deploy the shop. It worked."
    assert made.steps == ("First the image.", "It is deployed.")
    assert made.outcome == "It is deployed."


def test_tools_and_the_lesson_are_told() -> None:
    last = ("user", "That worked. Turns out the tag was missing.")
    made = concluded(Talk(turns(ASKED, DONE, last), calls("ci", "ci", "tag", "ci")))
    assert made.tools == ("ci", "tag", "ci")
    assert made.content == (
        "The user asked: deploy the shop. Done with ci, tag, ci. It worked. Turns out the tag was missing."
    )


def test_a_goal_without_the_words_it_was_asked_with() -> None:
    assert plain_goal("Hey, could you please fix the door?") == "fix the door"
    assert plain_goal("Fix the door.") == "Fix the door"
    assert plain_goal("please") == "please"


WORDS = st.text(max_size=60)


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), WORDS), max_size=8), st.lists(WORDS)
)
def test_whatever_was_said_is_concluded(said: list[tuple[str, str]], tools: list[str]) -> None:
    made = concluded(Talk(turns(*said), calls(*tools)))
    assert bool(made.goal) == bool(made.content)
    assert len(made.content) < 5000
    for policy in ("off", "tag", "redact", "drop"):
        clean = safe(made, policy)
        assert clean.tools == made.tools
    assert safe(made, "off") == made


@given(st.lists(st.sampled_from("abc")))
def test_no_tool_follows_itself(tools: list[str]) -> None:
    kept = sequence(tools)
    assert all(one != other for one, other in pairwise(kept))
    assert sequence(kept) == kept
    assert set(kept) <= set(tools)
