"""Procedures, lessons about answers, tasks, topics; and who speaks."""

import pytest

from recollect.mine.extracted import Claim
from recollect.mine.rules.extract import extract
from recollect.mine.speakers import speakers, spoken
from recollect.model.records import Tense
from tests.unit.mine_samples import contents, mined, turn, window


def of_kind(kind: str, *said: str | tuple[str, str]) -> list[Claim]:
    return [claim for claim in mined(*said).claims if claim.kind == kind]


@pytest.mark.parametrize(
    ("said", "lesson"),
    [
        ("please be more concise", "The user prefers shorter answers."),
        ("Keep your answers short", "The user prefers shorter answers."),
        ("I prefer detailed breakdowns", "The user prefers detailed answers."),
        ("don't use bullet points", "The user prefers answers without bullet points."),
        ("Please reply in German", "The user prefers answers in German."),
    ],
)
def test_a_wish_about_answers_is_a_lesson(said: str, lesson: str) -> None:
    assert [claim.content for claim in of_kind("reflection", said)] == [lesson]


@pytest.mark.parametrize(
    ("said", "lesson"),
    [
        ("That was too long.", "The user found the answer too long."),
        ("Could you stop apologising?", "The user wants the assistant to stop apologising."),
        ("I asked you to fix the bug, not to rewrite it", "fix the bug, not to rewrite it"),
        (
            "Don't touch code I haven't mentioned.",
            "does not want the assistant to touch code they haven't mentioned",
        ),
    ],
)
def test_what_is_said_of_an_answer_is_a_lesson_after_one(said: str, lesson: str) -> None:
    (claim,) = of_kind("reflection", ("assistant", "Here you are."), said)
    assert lesson in claim.content
    assert of_kind("reflection", said) == []


def test_steps_of_the_users_are_a_procedure() -> None:
    (claim,) = of_kind("procedure", "For the release: bump the version first, then run the tests, then tag.")
    assert claim.fields["context"] == "For the release"
    assert claim.fields["steps"] == ("bump the version first", "run the tests", "tag")
    assert claim.certainty == "explicit"


def test_steps_of_an_assistants_are_trusted_less() -> None:
    answer = "Here you go:\n1. Open the settings\n2. Click on Keys\n3. Press Delete"
    (claim,) = of_kind("procedure", "How do I delete my key?", ("assistant", answer))
    assert claim.certainty == "inferred"
    assert claim.content == "To delete the user's key: Open the settings; Click on Keys; Press Delete."


def test_an_assistants_list_of_ideas_is_no_procedure() -> None:
    answer = "1. **Maui:** a beautiful island\n2. **Oahu:** a busy one\n3. **Kauai:** a green one"
    assert of_kind("procedure", "What are good places in Hawaii?", ("assistant", answer)) == []


def test_a_task_with_an_outcome_is_an_episode() -> None:
    (claim,) = of_kind(
        "episode",
        "Can you fix the login test?",
        ("tool", "1 failed"),
        ("assistant", "I changed the mock. Try again."),
        "Thanks, that worked! The problem was the stale token.",
    )
    assert claim.fields["goal"] == "Can you fix the login test"
    assert claim.fields["steps"] == ("1 failed", "I changed the mock.")
    assert claim.fields["outcome"] == "success"
    assert claim.fields["lessons"] == "The problem was the stale token"
    assert (claim.tense, claim.turns) == (Tense.PAST, ("t0", "t1", "t2", "t3"))


def test_without_an_outcome_there_is_no_episode() -> None:
    assert of_kind("episode", "Can you fix the test?", ("assistant", "Done."), "And the other one?") == []


def test_a_short_window_is_one_topic() -> None:
    found = mined("My budget for the Hawaii trip is $10,000", ("assistant", "Hawaii is lovely."))
    (topic,) = found.topics
    assert (topic.first, topic.last) == (0, 1)
    assert "Hawaii" in topic.title


def test_topics_change_where_the_words_do() -> None:
    garden = ("My tomatoes have spots on the leaves", ("assistant", "Spots on tomato leaves are a blight."))
    bread = (
        "The sourdough starter smells of vinegar",
        ("assistant", "Feed the sourdough starter with flour."),
    )
    found = mined(*garden, *garden, *garden, *bread, *bread)
    assert [(topic.first, topic.last) for topic in found.topics] == [(0, 5), (6, 9)]
    assert "omato" in found.topics[0].title
    assert "ourdough" in found.topics[1].title


def test_names_in_front_of_turns_are_those_who_speak() -> None:
    found = mined(
        "Caroline: I went to a support group yesterday.", "Mel: I have two kids.", "Caroline: Great!"
    )
    went, kids = found.claims
    assert (went.content, went.subject) == (
        "Caroline went to a support group yesterday (2026-05-03).",
        "Caroline",
    )
    assert (kids.content, kids.subject) == ("Mel has two kids.", "Mel")


@pytest.mark.parametrize("label", ["Note", "Update", "PS", "Question", "TL;DR", "Budget"])
def test_a_label_is_nobody(label: str) -> None:
    assert speakers([turn(0, f"{label}: I moved"), turn(1, f"{label}: I moved")]) == frozenset()


def test_one_name_alone_may_be_anything() -> None:
    assert speakers([turn(0, "Hawaii: a dream of mine")]) == frozenset()
    assert speakers([turn(0, "Ann: hi"), turn(1, "Bob: hello")]) == {"Ann", "Bob"}


def test_a_name_may_come_with_the_turn() -> None:
    assert spoken(turn(0, "I moved", name="Mel"), frozenset()) == ("Mel", "I moved")
    one = turn(0, "I live in Rome", name="Mel")
    given = window("x")
    (claim,) = extract(type(given)(given.conversation, (one,))).claims
    assert (claim.content, claim.subject) == ("Mel lives in Rome.", "Mel")


def test_an_assistant_is_never_taken_for_a_speaker() -> None:
    assert contents(("assistant", "Ann: I live in Rome"), ("assistant", "Ann: I love it")) == []
