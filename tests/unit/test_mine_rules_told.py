"""Changes, steps and feedback, as people tell of them."""

from datetime import UTC, datetime

import pytest

from recollect.mine.extracted import Claim
from recollect.model.records import Tense
from tests.unit.mine_samples import contents, facts, mined


def of_kind(kind: str, *said: str | tuple[str, str]) -> list[Claim]:
    return [claim for claim in mined(*said).claims if claim.kind == kind]


@pytest.mark.parametrize(
    ("said", "event", "state", "attribute", "value", "denies"),
    [
        ("I moved to Porto", "The user moved to Porto.", "The user lives in Porto.", "home", "porto", False),
        ("we relocated to Oslo", "relocated to Oslo.", "The user lives in Oslo.", "home", "oslo", False),
        (
            "I left Siemens",
            "left Siemens.",
            "The user no longer works at Siemens.",
            "employer",
            "siemens",
            True,
        ),
        ("I got a new job at Aldi", "got a new job", "The user works at Aldi.", "employer", "aldi", False),
        ("I joined Bosch", "The user joined Bosch.", "The user works at Bosch.", "employer", "bosch", False),
        (
            "I sold my car",
            "The user sold their car.",
            "The user no longer has their car.",
            "has",
            "car",
            True,
        ),
        ("I broke up with Karin", "broke up", "The user is no longer with Karin.", "partner", "karin", True),
        ("I went vegan", "The user went vegan.", "The user is vegan.", "diet", "vegan", False),
        ("I became a nurse", "The user became a nurse.", "The user is a nurse.", "job", "nurse", False),
        ("I got married", "got married", "The user is married.", "marital status", "married", False),
        (
            "My sister moved to Oslo",
            "moved to Oslo.",
            "sister lives in Oslo.",
            "sister's home",
            "oslo",
            False,
        ),
    ],
)
def test_a_change_is_an_event_and_a_state(
    said: str, event: str, state: str, attribute: str, value: str, denies: bool
) -> None:
    happened, now = facts(said)
    assert event in happened.content
    assert (happened.tense, happened.attribute) == (Tense.PAST, "")
    assert state in now.content
    assert (now.tense, now.certainty) == (Tense.CURRENT, "implied")
    assert (now.attribute, now.value, now.denies) == (attribute, value, denies)


def test_a_state_holds_since_the_change() -> None:
    _, now = facts("I moved to Porto last month")
    assert now.since == datetime(2026, 4, 1, tzinfo=UTC)


def test_two_changes_in_a_sentence() -> None:
    told = contents("I quit my job at Siemens and started at Bosch")
    assert told[1::2] == ["The user no longer works at Siemens.", "The user works at Bosch."]


@pytest.mark.parametrize("said", ["I almost moved to Berlin", "I got an offer from Maersk", "I left Paris"])
def test_what_did_not_come_about_changes_nothing(said: str) -> None:
    assert not any(claim.attribute in ("home", "employer") for claim in facts(said))


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("Whenever I deploy I run the tests, tag and push", "To deploy: run the tests; tag; push."),
        (
            "To reset it you need to unplug it, wait and plug it in",
            "To reset it: unplug it; wait; plug it in.",
        ),
        ("The way I make tea is I boil water, then steep it", "To make tea: boil water; steep it."),
        ("My routine for bad days: close the blinds, sleep", "For bad days: close the blinds; sleep."),
        ("Here's how we do it: export the list, then send it", "To do it: export the list; send it."),
        (
            "Remember: always back up before you migrate",
            "Before you migrate: always back up before you migrate.",
        ),
        ("If it fails: clear the cache, then rerun it", "If it fails: clear the cache; rerun it."),
        ("My recipe for dal:\n- soak lentils\n- fry onions", "For dal: soak lentils; fry onions."),
        ("How we release:\nStep 1: bump\nStep 2: tag", "To release: bump; tag."),
        (
            "First preheat the oven, then proof the dough, after that score it, and finally bake it.",
            "To bake it: preheat the oven; proof the dough; score it; bake it.",
        ),
    ],
)
def test_steps_as_people_tell_them(said: str, content: str) -> None:
    (claim,) = of_kind("procedure", said)
    assert claim.content == content
    assert claim.fields["context"]


@pytest.mark.parametrize(
    "said",
    [
        "For dinner, I made pasta, then we watched a film",
        "To be honest, I like tea and cake",
        "If I win, I will buy a car, then a house",
        "For my trip, suggest hotels and book a restaurant",
        "First, I want to thank you, then ask about my visa",
        "After work I went home, cooked and slept",
    ],
)
def test_what_happens_once_is_no_procedure(said: str) -> None:
    assert of_kind("procedure", said) == []


@pytest.mark.parametrize(
    ("said", "lesson"),
    [
        ("that's a bit long-winded", "The user found the answer a bit long-winded."),
        ("You're being too cautious", "The user found the answer too cautious."),
        ("no need to repeat my question", "The user does not want the assistant to repeat their question."),
        ("Spare me the pep talk", "The user does not want pep talk in the answers."),
        ("I asked you not to use tables", "The user had asked the assistant not to use tables."),
        (
            "That's exactly the kind of answer I like",
            "The user said that this is the kind of answer they like",
        ),
        ("The step-by-step was super helpful", "The user liked about the answer: the step-by-step"),
        ("less theory, more examples please", "less theory, more examples"),
        ("You forgot the vegetarian option again", "it forgot the vegetarian option again"),
        ("one example is enough", "one example is enough"),
        ("why do you always apologise?", "always apologise"),
        ("Nice, but I'd have liked a table", "a table"),
    ],
)
def test_feedback_on_an_answer(said: str, lesson: str) -> None:
    (claim,) = of_kind("reflection", ("assistant", "Here you are."), said)
    assert lesson in claim.content
    assert of_kind("reflection", said) == []


@pytest.mark.parametrize(
    ("said", "lesson"),
    [
        (
            "Next time just give me the command",
            "wants the assistant to just give them the command from now on.",
        ),
        ("Could you put the code first next time?", "wants the assistant to put the code first from now on."),
        ("I'd rather you asked me", "The user would rather the assistant asked them."),
        ("I'd prefer if you didn't sugarcoat it", "The user would rather the assistant didn't sugarcoat it."),
        (
            "When you recommend books, mention the price",
            "recommends books, the user wants it to mention the price",
        ),
        ("Could you please always show the formula?", "wants the assistant to always show the formula."),
    ],
)
def test_a_wish_for_answers_to_come_needs_no_answer_before(said: str, lesson: str) -> None:
    (claim,) = of_kind("reflection", said)
    assert lesson in claim.content


@pytest.mark.parametrize(
    "said",
    [
        *(
            "make it shorter",
            "can you make this email less formal",
            "the film was too long",
            "is this too long?",
        ),
        *("my commute is too long", "it was so simple to install", "don't tell my wife", "stop by the shop"),
        *("I love the table in my kitchen", "I'd rather go by train", "Next time I'll take the bus"),
    ],
)
def test_what_is_not_said_of_answers_is_no_feedback(said: str) -> None:
    assert of_kind("reflection", ("assistant", "Here you are."), said) == []


def test_a_pet_is_no_person() -> None:
    kinds = {one.name: one.type for one in mined("My dog Rex is old. My sister Ines is a nurse.").mentions}
    assert kinds == {"Rex": "item", "Ines": "person"}
