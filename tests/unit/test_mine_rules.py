"""What rules make of what somebody says of themselves."""

from datetime import UTC, datetime

import pytest

from recollect.mine.extracted import USER
from recollect.model.records import Tense
from tests.unit.mine_samples import contents, facts, mined


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("My budget for the Hawaii trip is $10,000", "The user's budget for the Hawaii trip is $10,000."),
        ("I love hiking", "The user loves hiking."),
        ("i dont eat meat", "The user does not eat meat."),
        ("I'm allergic to peanuts.", "The user is allergic to peanuts."),
        ("I've got two cats.", "The user has got two cats."),
        ("I teach maths at a school in Ghent", "The user teaches maths at a school in Ghent."),
        ("By the way, I work for Siemens.", "The user works for Siemens."),
        ("Our dog is called Rex", "Rex is the user's dog."),
        ("I carry my own water everywhere", "The user carries their own water everywhere."),
        ("We have no car", "The user has no car."),
        ("sold the van", "The user sold the van."),
        ("I can't stand loud bars", "The user cannot stand loud bars."),
        ("old maps are my thing", "The user likes old maps."),
        ("give me mountains over beaches any day", "The user prefers mountains over beaches."),
        ("Big fan of Studio Ghibli over here", "The user is big fan of Studio Ghibli over here."),
        ("crowds stress me out", "Crowds stress the user out."),
        ("There's an old piano in my living room", "There's an old piano in the user's living room."),
        ("dad's a retired train driver", "The user's dad is a retired train driver."),
        ("As a nurse I work nights", "The user is a nurse."),
        ("Since we have a balcony facing north, are tomatoes out?", "The user has a balcony facing north."),
        ("Please call me Max", "The user is called Max."),
        ("Ann and I went to Rome", "The user went to Rome with Ann."),
        ("Never been to Japan", "The user has never been to Japan."),
        ("I'm reading this amazing book about bees", "The user is reading an amazing book about bees."),
        ("Please remember that I take my coffee black", "The user takes their coffee black."),
        (
            'I finished "My Brilliant Friend" on Sunday',
            'The user finished "My Brilliant Friend" on Sunday (2026-05-03).',
        ),
    ],
)
def test_what_is_said_of_oneself_stands_by_itself(said: str, known: str) -> None:
    assert known in contents(said)


@pytest.mark.parametrize(
    ("said", "attribute", "value", "single"),
    [
        ("I live in Porto", "home", "porto", True),
        ("I work at Siemens", "employer", "siemens", True),
        ("I'm a nurse", "job", "nurse", True),
        ("I work as a paramedic", "job", "paramedic", True),
        ("I'm 34 years old", "age", "34", True),
        ("My name is Derek", "name", "derek", True),
        ("My birthday is on October 17", "birthday", "on october 17", True),
        ("I'm vegan", "diet", "vegan", False),
        ("I'm allergic to cats", "allergy", "cats", False),
        ("I like sushi", "likes", "sushi", False),
        ("I have a dog", "has", "dog", False),
        ("I speak Dutch", "speaks", "dutch", False),
        ("My favorite colour is teal", "favourite colour", "teal", True),
        ("My budget for the trip is $900", "budget for the trip", "$900", True),
        ("I was born in 1983", "birth year", "1983", True),
    ],
)
def test_a_fact_has_an_attribute_and_a_value(said: str, attribute: str, value: str, single: bool) -> None:
    (claim,) = facts(said)
    assert (claim.attribute, claim.value, claim.single) == (attribute, value, single)
    assert (claim.subject, claim.turns, claim.certainty) == (USER, ("t0",), "explicit")


def test_a_change_of_mind_meets_what_it_is_about() -> None:
    (before,) = facts("I like sushi")
    (after,) = facts("I don't like sushi any more")
    assert (before.attribute, before.value, before.denies) == ("likes", "sushi", False)
    assert (after.attribute, after.value, after.denies) == ("likes", "sushi", True)


def test_of_tea_but_not_coffee_each_stands_for_itself() -> None:
    tea, coffee = facts("I like tea but not coffee")
    assert (tea.content, tea.value, tea.denies) == ("The user likes tea.", "tea", False)
    assert (coffee.content, coffee.value, coffee.denies) == ("The user does not like coffee.", "coffee", True)


def test_a_list_of_likes_is_taken_apart() -> None:
    assert [claim.value for claim in facts("I love ramen, curry and tacos")] == ["ramen", "curry", "tacos"]
    assert all(claim.preference for claim in facts("I love ramen, curry and tacos"))


def test_one_sentence_can_say_several_things() -> None:
    assert contents("I live in Rome and work at Fiat, but my wife prefers Milan") == [
        "The user lives in Rome.",
        "The user works at Fiat.",
        "The user's wife prefers Milan.",
    ]


@pytest.mark.parametrize(
    ("said", "attribute", "value"),
    [
        ("I no longer live in Lyon", "home", "lyon"),
        ("I don't eat meat", "eats", "meat"),
        ("I no longer work at the library", "employer", "library"),
        ("I quit smoking", "smokes", "smoking"),
        ("I don't have a car", "has", "car"),
    ],
)
def test_what_is_not_so_is_denied(said: str, attribute: str, value: str) -> None:
    (claim,) = facts(said)
    assert (claim.denies, claim.attribute, claim.value) == (True, attribute, value)


def test_who_moved_lives_in_the_new_place_and_lived_in_the_old() -> None:
    found = mined("I moved from Lyon to Porto last month")
    moved, home, before = found.claims
    assert moved.content == "The user moved from Lyon to Porto last month (2026-04)."
    assert (moved.tense, moved.attribute) == (Tense.PAST, "")
    assert (home.content, home.certainty) == ("The user lives in Porto.", "implied")
    assert (home.attribute, home.value, home.single) == ("home", "porto", True)
    assert home.since == datetime(2026, 4, 1, tzinfo=UTC)
    assert (before.content, before.tense) == ("The user lived in Lyon.", Tense.PAST)
    bonds = {bond.target: bond for bond in found.bonds}
    assert (bonds["Porto"].type, bonds["Porto"].single, bonds["Porto"].ended) == ("LOCATED_IN", True, False)
    assert bonds["Lyon"].ended


@pytest.mark.parametrize(
    ("said", "content", "tense", "day"),
    [
        ("I'm going to the dentist next Friday", "next Friday (2026-05-15)", Tense.FUTURE, 15),
        ("I went to the zoo yesterday", "yesterday (2026-05-03)", Tense.PAST, 3),
        ("My exam is tomorrow", "tomorrow (2026-05-05)", Tense.FUTURE, 5),
        ("The plumber is coming on Thursday", "on Thursday (2026-05-07)", Tense.FUTURE, 7),
        ("Yesterday I met an old friend", "yesterday (2026-05-03)", Tense.PAST, 3),
    ],
)
def test_a_time_becomes_a_date(said: str, content: str, tense: Tense, day: int) -> None:
    (claim,) = facts(said)
    assert content in claim.content
    assert (claim.tense, claim.since) == (tense, datetime(2026, 5, day, tzinfo=UTC))
    assert (claim.until is not None) == (tense is Tense.FUTURE)


def test_what_is_so_since_a_time_holds_from_then() -> None:
    (claim,) = facts("I've been working at Siemens since March")
    assert (claim.tense, claim.since) == (Tense.CURRENT, datetime(2026, 3, 1, tzinfo=UTC))
    assert claim.content == "The user has been working at Siemens since March (2026-03-01)."


def test_what_comes_again_gets_no_date() -> None:
    assert contents("I swim every Sunday") == ["The user swims every Sunday."]
    assert contents("My birthday is on October 17") == ["The user's birthday is on October 17."]


def test_when_i_lived_is_past() -> None:
    (claim,) = facts("When I lived in Lyon, I had a dog")
    assert claim.content == "The user had a dog when they lived in Lyon."
    assert claim.tense is Tense.PAST


def test_doubt_is_told() -> None:
    assert [claim.certainty for claim in facts("I think I have a vitamin deficiency")] == ["uncertain"]
    assert [claim.certainty for claim in facts("I might move to Rome")] == ["uncertain"]
    assert [claim.certainty for claim in facts("I'm thinking of moving to Rome")] == ["implied"]


def test_a_relative_with_a_name_is_somebody() -> None:
    found = mined("My sister Anna lives in Berlin.")
    assert [claim.content for claim in found.claims] == [
        "Anna is the user's sister.",
        "The user's sister Anna lives in Berlin.",
    ]
    home = found.claims[1]
    assert (home.subject, home.attribute, home.value, home.single) == ("Anna", "home", "berlin", True)
    mentions = {mention.name: mention for mention in found.mentions}
    assert mentions["Anna"].type == "person"
    assert mentions["Anna"].properties == {"relation to the user": "sister"}
    assert mentions["Anna"].description == "The user's sister."
    assert mentions["Berlin"].type == "place"
    assert {(bond.source, bond.type, bond.target) for bond in found.bonds} == {
        (USER, "SISTER", "Anna"),
        ("Anna", "LOCATED_IN", "Berlin"),
    }


def test_she_is_the_one_last_spoken_of() -> None:
    assert contents("It's for my sister Ines. She loves pottery and her name is spelled with one n.")[:2] == [
        "Ines is the user's sister.",
        "The user's sister Ines loves pottery.",
    ]


def test_an_unnamed_relative_is_told_of_as_the_users() -> None:
    (claim,) = facts("my brother hates flying")
    assert (claim.subject, claim.attribute, claim.denies) == (USER, "brother's likes", True)


def test_a_pet_with_a_name_is_mentioned() -> None:
    found = mined("We have a cat called Mabel")
    assert [(mention.name, mention.description) for mention in found.mentions] == [("Mabel", "")]
    assert [(bond.type, bond.target) for bond in found.bonds] == [("CAT", "Mabel")]


@pytest.mark.parametrize(
    ("said", "corrected"),
    [
        (
            ("My budget for the trip is $10,000", "Actually, it's $12,000"),
            "The user's budget for the trip is $12,000.",
        ),
        (("My flight is on Monday", "no, I meant Tuesday"), "The user's flight is on Tuesday (2026-05-05)."),
        (("I live in Lyon", "sorry, I meant Porto"), "The user lives in Porto."),
    ],
)
def test_a_correction_is_put_into_what_it_corrects(said: tuple[str, str], corrected: str) -> None:
    (claim,) = facts(*said)
    assert (claim.content, claim.corrects, claim.turns) == (corrected, True, ("t1",))


def test_a_correction_of_what_was_said_before_the_window() -> None:
    (claim,) = facts("Actually, it's $12,000", before=("My budget is $10,000",))
    assert (claim.content, claim.corrects) == ("The user's budget is $12,000.", True)


def test_a_correction_of_nothing_known_is_no_claim() -> None:
    assert facts("Actually, it's $12,000") == []
    assert facts("I like tea", "no, I meant Tuesday") == facts("I like tea")
