"""What users found to be wrong, and what is like it."""

import pytest

from recollect.mine.extracted import Claim
from recollect.model.records import Tense
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


@pytest.mark.parametrize(
    "said",
    [
        "Fwd: Hi all, I am moving to Tokyo and my new number is 12345. Cheers, Bob",
        "FW: Hello, I am leaving the company. When you deploy, run the tests, then push. Best, Ann",
        "Hello team, I am on leave until May and my deputy is Lars. Kind regards, Tina Berg",
        "Re: the flat\nI live in Rome and I have two cats.",
        "I'm learning Python... just kidding",
        "I own a yacht. Haha, only joking!",
        "Lol yeah sure, I'm totally a morning person",
        "Yeah right, I definitely love cardio",
        "I hate football, said my brother",
        "I am the best cook in town, my uncle claims.",
        "We broke up",
        "We split up in March",
        "I stopped last year",
        "I'm supposed to be a vegan but I cheat",
        "I'm meant to be on a diet",
        "I got the job",
        "I like the second option better",
        "I live for the weekends",
        "I live for dancing",
        "I have a meeting at 3",
        "I have another call soon",
    ],
)
def test_it_says_nothing_of_the_user(said: str) -> None:
    assert mined(said).claims == ()


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("My favorite color is green. Wait, no, blue.", ["The user's favorite color is blue."]),
        ("My favourite cheese is brie. No, gouda!", ["The user's favourite cheese is gouda."]),
        ("My name isn't Bob, it's Rob", ["The user's name is Rob."]),
        ("My budget is not 900, but 1,200.", ["The user's budget is 1,200."]),
        ("My dog isn't old but barks a lot", ["The user's dog isn't old."]),
        (
            "I left Stripe for Plaid",
            [
                "The user left Stripe for Plaid.",
                "The user no longer works at Stripe.",
                "The user works at Plaid.",
            ],
        ),
        (
            "I left Stripe to join Plaid",
            [..., "The user no longer works at Stripe.", "The user works at Plaid."],
        ),
        ("I own a house in Nice and rent one in Paris", ["The user owns a house in Nice."]),
        ("Neither my wife nor I like cats", ["The user does not like cats."]),
        ("Neither my brother nor I can swim", []),
        ("I run a bakery here", ["The user runs a bakery."]),
        (
            "I used to drink coffee every day but I quit in April",
            ["The user used to drink coffee every day."],
        ),
        ("I live in Rome. Cheers!", ["The user lives in Rome."]),
        ("I have a meeting every Monday at 9", ["The user has a meeting every Monday at 9."]),
    ],
)
def test_it_says_the_right_thing(said: str, facts: list[object]) -> None:
    found = contents(said)
    assert len(found) == len(facts)
    assert all(wanted in (..., one) for one, wanted in zip(found, facts, strict=True))


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (("Ania told me to answer the mail", "I answered"), "Ania, mail"),
        (
            (
                "Can you help me plan a trip to Lisbon?",
                ("assistant", "Sure! Lisbon is great in spring."),
                "We want a hotel near the river, and the hotel should have a pool",
            ),
            "Lisbon, hotel, pool",
        ),
    ],
)
def test_a_topic_is_titled_by_names_and_nouns_and_is_the_users_where_nobody_is_central(
    said: tuple[str | tuple[str, str], ...], title: str
) -> None:
    (topic,) = mined(*said).topics
    assert (topic.title, topic.subject) == (title, "user")


def test_a_topic_belongs_to_whom_it_names_most() -> None:
    (topic,) = mined("My sister Ines moved to Porto", "Ines loves Porto").topics
    assert topic.subject == "Ines"


def state(*said: str) -> list[tuple[str, str, bool]]:
    """What is so now, as attribute, value and whether it is denied."""
    found = [claim for claim in mined(*said).claims if claim.attribute and claim.tense is Tense.CURRENT]
    return [(claim.attribute, claim.value, claim.denies) for claim in found]


@pytest.mark.parametrize(
    ("before", "after", "known", "met"),
    [
        (
            "I work as a data engineer at Otto",
            "I quit my job at Otto",
            ("employer", "otto", False),
            ("employer", "otto", True),
        ),
        (
            "I'm a nurse at Helios",
            "I left Helios for Ameos",
            ("employer", "helios", False),
            ("employer", "ameos", False),
        ),
        (
            "Lukas is my boyfriend",
            "Lukas and I broke up",
            ("partner", "lukas", False),
            ("partner", "lukas", True),
        ),
        (
            "My girlfriend Mia is funny",
            "I broke up with Mia",
            ("partner", "mia", False),
            ("partner", "mia", True),
        ),
        (
            "My manager is Henrik",
            "My new manager is Petra",
            ("manager", "henrik", False),
            ("manager", "petra", False),
        ),
        ("My rent is 1,100", "my rent went up to 1,200", ("rent", "1,100", False), ("rent", "1,200", False)),
        (
            "My salary is 60k",
            "My salary has been raised to 70k",
            ("salary", "60k", False),
            ("salary", "70k", False),
        ),
        ("I drive a Skoda", "I sold my Skoda", ("has", "skoda", False), ("has", "skoda", True)),
        (
            "I'm vegetarian",
            "I eat meat again",
            ("diet", "vegetarian", False),
            ("diet", "vegetarian", True),
        ),
        ("I'm vegan", "I'm eating cheese again", ("diet", "vegan", False), ("diet", "vegan", True)),
        ("I love coffee", "I quit coffee", ("likes", "coffee", False), ("likes", "coffee", True)),
        ("I drink tea", "I stopped drinking tea", ("drinks", "tea", False), ("drinks", "tea", True)),
    ],
)
def test_what_changed_meets_what_was_known(
    before: str, after: str, known: tuple[str, str, bool], met: tuple[str, str, bool]
) -> None:
    assert known in state(before)
    assert met in state(before, after)
    assert met in state(after)


def test_a_correction_names_its_thing_in_other_words() -> None:
    told = ("My budget for the flat is 1,200", "Actually, the flat budget is 1,350 euros, not 1,200")
    assert contents(*told) == ["The user's budget for the flat is 1,350 euros."]


@pytest.mark.parametrize("said", ["I stopped at Aldi", "I lost my Mum in May", "I lost my temper"])
def test_what_ends_nothing_denies_nothing(said: str) -> None:
    assert not any(denied for _, _, denied in state(said))
    assert mined(said).bonds == ()


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I quit my job at Otto, said goodbye and moved to Rome", "The user no longer works at Otto."),
        ("I started last week at Otto", "The user started last week (2026-04-27 to 2026-05-03) at Otto."),
        ("Oh right, I live in Rome", "The user lives in Rome."),
        ("My favourite food is pizza. Sorry, typo", "The user's favourite food is pizza."),
    ],
)
def test_what_only_looks_alike_is_kept(said: str, fact: str) -> None:
    assert fact in contents(said)


@pytest.mark.parametrize("said", ["My son loves role-playing games.", "I like to pretend that I'm fine"])
def test_who_speaks_of_playing_does_not_play(said: str) -> None:
    assert "The user lives in Oslo." in contents(said, "I live in Oslo")
