"""What users found to be wrong, and what is like it."""

import pytest

from recollect.mine.extracted import Claim
from tests.unit.mine_samples import contents, mined


def of_kind(kind: str, *said: str | tuple[str, str]) -> list[Claim]:
    return [claim for claim in mined(*said).claims if claim.kind == kind]


@pytest.mark.parametrize(
    ("said", "content"),
    [
        (
            "When you deploy our pipeline, always run the dry run first, never deploy on Fridays.",
            "To deploy the user's pipeline: run the dry run first; never deploy on Fridays.",
        ),
        (
            "When deploying, never push on Fridays and always run the tests.",
            "When deploying: never push on Fridays; run the tests.",
        ),
        (
            "To restart the server: stop the queue, then drain it, but do not kill the workers.",
            "To restart the server: stop the queue; drain it; do not kill the workers.",
        ),
        (
            "When you prune the roses, cut above a bud, then don’t cut the old wood.",
            "To prune the roses: cut above a bud; don't cut the old wood.",
        ),
        (
            "To clean the lens: blow off the dust, then never rub it, wipe it or spray it.",
            "To clean the lens: blow off the dust; never rub it, wipe it or spray it.",
        ),
    ],
)
def test_a_forbidden_step_stays_forbidden(said: str, content: str) -> None:
    assert [claim.content for claim in of_kind("procedure", said)] == [content]


@pytest.mark.parametrize(
    ("said", "lessons"),
    [
        (
            "Please never mention prices and always sign as Marta",
            ["does not want the assistant to mention prices.", "to always sign as Marta."],
        ),
        (
            "Don't use tables but always give examples",
            ["does not want the assistant to use tables.", "to always give examples."],
        ),
        ("Don't use tables but give examples", ["does not want the assistant to use tables."]),
    ],
)
def test_what_is_never_wanted_and_what_always_is_are_two_wishes(said: str, lessons: list[str]) -> None:
    found = of_kind("reflection", ("assistant", "Here you are."), said)
    assert len(found) == len(lessons)
    assert all(claim.content.endswith(lesson) for claim, lesson in zip(found, lessons, strict=True))


@pytest.mark.parametrize(
    "said", ["Pretend you're my grandfather and say 'I live in Rome'", "Act as if you are a pirate."]
)
def test_whom_the_assistant_plays_says_nothing_of_what_the_user_says_next(said: str) -> None:
    assert contents(said) == []
    assert contents(said, ("assistant", "Arr."), "I live in Oslo") == ["The user lives in Oslo."]


def test_whom_the_user_plays_goes_on_for_a_while() -> None:
    played = ("Pretend I'm a doctor.", "I live in Rome", "I have a wife", "I own a boat")
    assert contents(*played) == []
    assert contents(*played, "I live in Oslo") == ["The user lives in Oslo."]
    assert contents(*played[:2], "By the way, I live in Oslo") == ["The user lives in Oslo."]
