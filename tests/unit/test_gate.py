"""Whether a question needs memory: the rules one by one, and how often they are right."""

import json
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from recollect.bench.command import app
from recollect.bench.gate import labelled, measure
from recollect.recall.gate import LONG, Reason, Verdict, decide

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)

SKIP = [
    ("hi", Reason.GREETING),
    ("Thanks!", Reason.GREETING),
    ("bye", Reason.GREETING),
    ("ok", Reason.GREETING),
    ("sure", Reason.GREETING),
    ("Yes.", Reason.GREETING),
    ("no", Reason.GREETING),
    ("👍", Reason.GREETING),
    ("What is the capital of France?", Reason.GENERAL),
    ("what’s the capital of France", Reason.GENERAL),
    ("whats the capital of france", Reason.GENERAL),
    ("Hi! What is the capital of France?", Reason.GENERAL),
    ("Could you please define entropy?", Reason.GENERAL),
    ('Translate "my dog and I" into German', Reason.GENERAL),
    ("What is 3 + 4?", Reason.GENERAL),
    ("Convert 5 miles to km", Reason.GENERAL),
    ("Send an email to my boss", Reason.TOOL),
    ("Please run the tests", Reason.TOOL),
    ("What's the weather in Oslo?", Reason.TOOL),
    ("Remind me to call my mother", Reason.TOOL),
    ("Open the browser. Then search the web for bread recipes.", Reason.TOOL),
]
SEARCH = [
    ("What's my budget?", Reason.DEFAULT),
    ("What is the capital of Spain, where I was born?", Reason.PERSONAL),
    ("What is the meaning of my name?", Reason.PERSONAL),
    ("Explain recursion to me", Reason.PERSONAL),
    ("What did we decide?", Reason.PAST),
    ("Do the same as last time", Reason.PAST),
    ("Remind me what it was", Reason.PAST),
    ("As I said, no nuts", Reason.PAST),
    ("Open the file we talked about", Reason.PAST),
    ("Who is Lena?", Reason.DEFAULT),
    ("What is Lena's job?", Reason.DEFAULT),
    ("What is the deadline?", Reason.DEFAULT),
    ("What is the capital of France? And when do we fly?", Reason.DEFAULT),
    ("Thanks, my sister loved it", Reason.DEFAULT),
    ("ok ok ok ok ok ok ok ok ok", Reason.DEFAULT),  # more than a nicety's 20 characters
    ("Call me Al", Reason.DEFAULT),
    ("?", Reason.DEFAULT),
    ("？", Reason.DEFAULT),
    ("", Reason.DEFAULT),
    ("   ", Reason.DEFAULT),
    ("Merci", Reason.DEFAULT),
    ("Was ist die Hauptstadt von Frankreich?", Reason.DEFAULT),
    ("フランスの首都はどこですか", Reason.DEFAULT),
]


@pytest.mark.parametrize(("query", "reason"), SKIP)
def test_it_is_skipped(query: str, reason: Reason) -> None:
    assert decide(query) == Verdict(False, reason)


@pytest.mark.parametrize(("query", "reason"), SEARCH)
def test_it_is_searched(query: str, reason: Reason) -> None:
    assert decide(query) == Verdict(True, reason)


def test_what_the_user_just_spoke_of_is_not_general() -> None:
    question = "What is the capital of Peru?"
    assert not decide(question, ["Tell a joke"]).search
    assert not decide(question, ["Where is Peru?"]).search
    assert decide(question, ["I'm flying to Peru in May", "ok"]) == Verdict(True, Reason.PERSONAL)
    long_ago = ["I'm flying to Peru in May", "ok", "fine", "thanks"]
    assert not decide(question, long_ago).search


def test_a_tool_is_not_overridden_by_the_first_person() -> None:
    assert decide("Send an email to my boss", ["My boss is Ann"]) == Verdict(False, Reason.TOOL)


def test_a_long_prompt_is_searched() -> None:
    assert decide("What is the capital of France? " * (LONG // 20)) == Verdict(True, Reason.DEFAULT)


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=4))
def test_any_text_is_decided(query: str, history: list[str]) -> None:
    verdict = decide(query, history)
    assert verdict == decide(query, history)
    if verdict.reason is Reason.GREETING:
        assert len(query.strip()) <= 20


@pytest.mark.parametrize(
    "piece", ["a ", "what is ", "1+1", '"', "how do ", "!", "the ", "what ", "i ", "explain a b "]
)
@pytest.mark.parametrize("length", [LONG, 100_000])
def test_no_text_takes_long(piece: str, length: int) -> None:
    query = (piece * length)[:length]
    begun = perf_counter()
    decide(query, [query])
    assert perf_counter() - begun < 1


def test_the_labelled_queries_are_what_they_claim() -> None:
    queries = labelled()
    assert len(queries) >= 300
    assert len({query.query.lower() for query in queries}) == len(queries)
    for split in ("dev", "test"):
        labels = [query.label for query in queries if query.split == split]
        assert 0.4 < labels.count("skip") / len(labels) < 0.6
        assert len(labels) == len(queries) / 2
    foreign = [query for query in queries if query.note == "foreign"]
    assert {query.label for query in foreign} == {"search"}
    assert all(decide(query.query).search for query in foreign)


def test_the_command_prints_the_figures() -> None:
    done = CliRunner().invoke(app, ["gate", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == measure(labelled())
    assert "precision" in CliRunner().invoke(app, ["gate"]).stdout


def test_it_is_right_often_enough() -> None:
    """A personal question that is skipped is the worse mistake, so there the floor is high."""
    figures = measure(labelled())["test"]
    assert figures["search"]["recall"] >= 0.98
    assert figures["skip"]["precision"] >= 0.98
    assert figures["search"]["precision"] >= 0.85
    assert figures["skip"]["recall"] >= 0.8
