"""Names, numbers and dates in a claim come from what was said, or the claim is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.mine.grounding import Ground
from recollect.testing.store_samples import HARD_TEXTS
from tests.unit.mine_answers import claim, fact, known, turn, window


@pytest.mark.parametrize(
    "content",
    [
        "The user lives in Madrid",
        "Boris lives in Lisbon",
        "Lucas lives in Lisbon",
        "The user's sister Anna is vegetarian",
        "The user earns 95,000",
        "The user moved to Lisbon on 2025-11-03",
        "The user moved to Lisbon on 3 November",
        "The user moved to Lisbon in November 2024",
        "The user moved in August",
        "The user has 14 cats",
    ],
)
def test_names_numbers_and_dates_that_nobody_said_are_left_out(content: str) -> None:
    assert claim(fact(content, turns=[1, 4])) is None


@pytest.mark.parametrize(
    "content",
    [
        "The user lives in Lisbon",
        "Marta is the user's sister and eats no meat",
        "Prefers living in Lisbon",
        "The user earns 65,000",
        "The user earns 65k",
        "The user moved to Lisbon in February 2026",
        "The user moved in February",
        "Marta visits the user on Friday, 2026-03-20",
        "Marta visits the user on Friday 20 March 2026",
        "As of 2026 the user works for Acme",
        "On Monday the user told of the move. Acme is the employer",
        "The user lives in LISBON, ACME's town",
    ],
)
def test_what_was_said_in_other_words_is_kept(content: str) -> None:
    found = claim(fact(content, turns=[1, 4]))
    assert found is not None
    assert found.content == content


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("The user is 35 years old", "I am thirty-five years old"),
        ("The rent is 1200", "The rent is 1,200.00 euros"),
        ("The fund has 2500000 euros", "The fund has 2.5 million euros"),
        ("The user lives with 12 others", "There are twelve others"),
        ("Zoë plays", "Zoe plays"),
        ("Der Nutzer wohnt in Berlin", "Ich wohne in Berlin"),
        ("L'utilisateur habite à Lyon", "J'habite à Lyon"),
        ("El usuario vive en Bogotá", "Vivo en Bogotá"),
        ("Пользователь живёт в Москве", "Я живу в Москве"),
        ("用户住在上海", "我住在上海"),
    ],
)
def test_the_same_may_be_said_otherwise(content: str, said: str) -> None:
    assert claim(fact(content), window(("user", said))) is not None


def test_a_name_may_come_from_before_or_from_what_is_known() -> None:
    given = window(("user", "I live there now"), before=[turn(9, "assistant", "Is it nice in Lisbon?")])
    assert claim(fact(), given) is not None
    of_known = fact("The user moved away from Lyon")
    assert claim(of_known, window(("user", "I moved away"))) is None
    assert claim(of_known, window(("user", "I moved away")), known("The user lives in Lyon")) is not None


@pytest.mark.parametrize("content", ["The user lives in Lyon", "The user likes jazz"])
def test_a_known_memory_is_not_repeated_unless_the_turns_do(content: str) -> None:
    memories = known("The user lives in Lyon", "The user likes jazz very much")
    assert claim(fact(content), None, memories) is None
    given = window(("user", content.replace("The user", "I")))
    assert claim(fact(content), given, memories) is not None


texts = st.one_of(
    st.text(max_size=80),
    st.sampled_from([*HARD_TEXTS.values(), "9" * 5000, "1,5k 2.5m 9bn", "30 February 2026", "9999-12-31"]),
    st.text(alphabet="AZaz09 .,-'’k", max_size=60),
)


@given(texts)
def test_whatever_was_said_is_its_own_ground(said: str) -> None:
    assert Ground([(turn(0, "user", said), said)]).holds(said)


@given(texts, texts)
def test_any_text_can_be_held_against_any_other(said: str, told: str) -> None:
    ground = Ground([(turn(0, "user", said), said)], [said])
    assert ground.holds(told) in (True, False)
    assert ground.names(told) in (True, False)
