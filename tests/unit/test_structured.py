"""Answers of a language model in a given shape."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import ModelError
from recollect.ports.language_model import ChatMessage, Reply, Tokens, as_data, prompt
from recollect.ports.structured import closed, mismatch, structured

SCHEMA = closed(name={"type": "string"}, age={"type": "integer", "minimum": 0})


class Scripted:
    """A language model that says what it is told to."""

    name = "scripted"

    def __init__(self, *replies: str | Reply) -> None:
        self.replies = [*replies]
        self.asked: list[list[ChatMessage]] = []

    def ask(self, messages: Sequence[ChatMessage], **_: Any) -> Reply:
        self.asked.append([*messages])
        reply = self.replies.pop(0)
        return reply if isinstance(reply, Reply) else Reply(reply, Tokens(10, 1))

    def close(self) -> None: ...


def told(model: Scripted) -> tuple[Any, Tokens]:
    messages = prompt("Read.", "Ada is 36.")
    return structured(model, messages, SCHEMA, lambda found: found, source="memory_extract", max_tokens=9)


GOOD = '{"name": "Ada", "age": 36}'


@pytest.mark.parametrize("text", [GOOD, f" \n{GOOD}\n", f"```json\n{GOOD}\n```", f"```\n{GOOD}```"])
def test_a_good_answer_is_read(text: str) -> None:
    model = Scripted(text)
    assert told(model) == ({"name": "Ada", "age": 36}, Tokens(10, 1))
    assert json.dumps(SCHEMA) in model.asked[0][-1].content


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ('{"name": "Ada", "ag', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"name": "Ada"}', 'must have ["name", "age"]'),
        ('{"name": "Ada", "age": -1}', "the answer.age must be at least 0"),
        ('{"name": "Ada", "age": 1, "town": "x"}', 'must not have "town"'),
        (Reply('{"name": "Ada', Tokens(10, 1), cut=True), "cut off"),
    ],
)
def test_a_bad_answer_is_sent_back_with_what_is_wrong(bad: str | Reply, why: str) -> None:
    model = Scripted(bad, GOOD)
    assert told(model) == ({"name": "Ada", "age": 36}, Tokens(20, 2))
    *_, answer, objection = model.asked[1]
    assert answer.role == "assistant"
    assert why in objection.content


def test_two_bad_answers_are_an_error_that_quotes_neither() -> None:
    with pytest.raises(ModelError) as raised:
        told(Scripted("Ada, I think", '{"name": 5, "age": "Ada"}'))
    assert "Ada" not in str(raised.value)
    assert "scripted" in str(raised.value)


def test_what_the_reader_finds_wrong_is_sent_back_as_well() -> None:
    def read(found: Any) -> str:
        if found["name"] == "Ada":
            raise ValueError("Not her.")
        return found["name"]

    model = Scripted(GOOD, '{"name": "Ben", "age": 1}')
    messages = prompt("Read.", "Somebody else.")
    found, _ = structured(model, messages, SCHEMA, read, source="memory_extract", max_tokens=9)
    assert found == "Ben"
    assert "Not her." in model.asked[1][-1].content


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        (1, {"type": "integer"}, True),
        (True, {"type": "integer"}, False),
        (1.5, {"type": "number"}, True),
        (float("nan"), {"type": "number"}, False),
        (None, {"type": ["string", "null"]}, True),
        ("", {"type": "string", "minLength": 1}, False),
        ("abc", {"type": "string", "maxLength": 2}, False),
        (None, {"type": ["string", "null"], "maxLength": 2}, True),
        ([], {"type": "array", "minItems": 1}, False),
        ([1, 2], {"type": "array", "maxItems": 1}, False),
        ([1, "a"], {"type": "array", "items": {"type": "integer"}}, False),
        ({"a": {"b": []}}, closed(a=closed(b={"type": "array"})), True),
        ({"a": {"b": 1}}, closed(a=closed(b={"type": "array"})), False),
        ("red", {"enum": ["red", "blue"]}, True),
        ("green", {"enum": ["red", "blue"]}, False),
        (11, {"type": "integer", "maximum": 10}, False),
        ({"more": 1}, {"type": "object"}, True),
    ],
)
def test_values_are_held_against_a_schema(value: Any, schema: Any, fits: bool) -> None:
    assert (mismatch(value, schema) is None) is fits


def test_a_rule_that_would_not_be_checked_is_refused() -> None:
    with pytest.raises(TypeError, match="pattern"):
        mismatch("x", {"type": "string", "pattern": "y"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_no_answer_breaks_it(value: Any) -> None:
    text = json.dumps(value)
    try:
        found, _ = told(Scripted(text, text))
    except ModelError:
        return
    assert mismatch(found, SCHEMA) is None


@given(st.text())
def test_data_stays_on_its_line_and_is_all_there(text: str) -> None:
    line = as_data(text)
    assert len(line.split("\n")) == 1
    assert "<" not in line
    assert json.loads(line) == text
