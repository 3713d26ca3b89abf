"""What holds for rules whatever is said."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.mine.rules.extract import extract
from recollect.mine.rules.found import CLAIMS_LIMIT, CONTENT_LIMIT
from tests.unit.mine_samples import mined, window

VOCABULARY = (
    "I my we our me I'm I've I'd I'll don't never always love have live work went going to in at and but "
    "because when if not no a the dog sushi Rome Anna sister yesterday tomorrow since March budget is was "
    'are $10 like he she her his said that it " , . ? ! : ; ( ) actually maybe think \n'
)
WORDS = VOCABULARY.split(" ")
said = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join),
)
roles = st.sampled_from(["user", "user", "user", "assistant", "tool"])
windows = st.lists(st.tuples(roles, said), max_size=6).map(lambda turns: window(*turns))

FIRST_PERSON = re.compile(r"(?<!War)(?<!Type)(?<!Part)(?<!Act)(?<!Phase)(?<!Level) (?:I|my) ")
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|'[^']*'|`[^`]*`")


@given(windows)
def test_whatever_is_said_the_result_is_sound(given_window) -> None:
    found = extract(given_window)
    ids = {turn.id for turn in given_window.turns}
    assert found == extract(given_window)
    assert len(found.claims) <= CLAIMS_LIMIT
    for claim in found.claims:
        assert claim.turns
        assert set(claim.turns) <= ids
        assert 0 < len(claim.content) <= CONTENT_LIMIT
        if claim.kind == "fact":
            assert not FIRST_PERSON.search(QUOTED.sub("", claim.content)), claim.content
    for bond in found.bonds:
        assert set(bond.turns) <= ids
    for mention in found.mentions:
        assert mention.name
        assert set(mention.turns) <= ids


@given(windows)
def test_every_turn_is_in_one_topic(given_window) -> None:
    topics = extract(given_window).topics
    covered = [index for topic in topics for index in range(topic.first, topic.last + 1)]
    assert covered == [turn.index for turn in given_window.turns]


@pytest.mark.parametrize(
    "piece", ["a", " ", "I ", ",", "I like ", "my ", "'", '"', "\n", "1. ", "if ", "I'm a, ", "(", "not "]
)
def test_a_turn_of_a_mebibyte_takes_no_time(piece: str) -> None:
    huge = piece * (2**20 // len(piece))
    start = time.process_time()
    mined(huge, ("assistant", huge), huge)
    assert time.process_time() - start < 2.0


def test_a_window_gives_only_so_much() -> None:
    assert (
        len(mined(*(f"I have a dog called Rex{i}. I like tea{i}." for i in range(300))).claims)
        == CLAIMS_LIMIT
    )
