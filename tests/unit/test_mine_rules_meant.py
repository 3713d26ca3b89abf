"""What is said with "I" and is not said of oneself, or not meant."""

import pytest

from tests.unit.mine_samples import contents
from tests.unit.trap_samples import GENERAL, IRONY, PASTED


@pytest.mark.parametrize("said", PASTED)
def test_what_was_pasted_is_not_said(said: str) -> None:
    assert contents(said) == []


@pytest.mark.parametrize("said", IRONY)
def test_irony_and_figures_of_speech_are_not_meant(said: str) -> None:
    assert contents(said) == []


@pytest.mark.parametrize("said", GENERAL)
def test_what_holds_of_everybody_or_nobody_is_not_said_of_oneself(said: str) -> None:
    assert contents(said) == []


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I love jazz", "The user loves jazz."),
        ("Great, I live in Rome", "The user lives in Rome."),
        ("Yeah, I'm a nurse", "The user is a nurse."),
        ("About me:\nI live in Rome", "The user lives in Rome."),
        ("Some context: I live in Rome", "The user lives in Rome."),
        ("Can you recommend a gym? I live in Rome.", "The user lives in Rome."),
        ("I hate waiting in line", "The user hates waiting in line."),
        ("I'm allergic to peanuts", "The user is allergic to peanuts."),
        ("We live in Oslo", "The user lives in Oslo."),
        ("I have 12 hens", "The user has 12 hens."),
        ("Our office is in Porto", "The user's office is in Porto."),
        (
            "For the party: I'd rather have a small cake",
            "The user would rather have a small cake for the party.",
        ),
        ("I run a bakery and I'm drowning in paperwork", "The user runs a bakery."),
        ("Let's say I had a million, I'd still work. I teach physics.", "The user teaches physics."),
    ],
)
def test_what_is_meant_is_kept(said: str, fact: str) -> None:
    assert fact in contents(said)
