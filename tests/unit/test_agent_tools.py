"""Tools of typed functions: what their signatures and docstrings tell a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Invalid, Tool, tool
from recollect.agent.react import described, said_in_words
from recollect.agent.schema import coerced, converted, misfit, schema_of
from recollect.ports.acting import Offered, Said


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: float = 0.0


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Colour, {"enum": ["red"]}),
        (datetime, {"type": "string", "format": "date-time"}),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
        (list, {"type": "array"}),
        (object, {}),
        (
            Point,
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "number"}},
                "required": ["x"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_the_schema_of_a_type(hint: Any, schema: Any) -> None:
    assert schema_of(hint) == schema


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        ("2026-01-02", date, date(2026, 1, 2)),
        ("2026-01-02T03:04:05+00:00", datetime, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("red", Colour, Colour.RED),
        ({"x": 1}, Point, Point(1)),
        ([{"x": 1}], list[Point], [Point(1)]),
        ([1, 1], set[int], {1}),
        (None, int | None, None),
        ("2026-01-02", date | None, date(2026, 1, 2)),
        (3, float, 3.0),
        (3.0, int, 3),
        ({"a": "red"}, dict[str, Colour], {"a": Colour.RED}),
        ("x", Any, "x"),
    ],
)
def test_json_becomes_what_the_function_wants(value: Any, hint: Any, expected: Any) -> None:
    made = converted(value, hint)
    assert made == expected
    assert type(made) is type(expected)


def test_a_function_as_a_tool() -> None:
    @tool
    def book(hotel: str, nights: int = 1, *, on: date | None = None, **more: Any) -> str:
        """Book a room.

        As many nights as you like.

        Args:
            hotel (str): its name
            nights: how many
        Returns:
            nothing of note
        """
        return f"{hotel} {nights} {on}"

    assert isinstance(book, Tool)
    assert (book.name, book.description) == ("book", "Book a room.\n\nAs many nights as you like.")
    assert book.parameters["properties"]["hotel"] == {"type": "string", "description": "its name"}
    assert book.parameters["properties"]["nights"] == {"type": "integer", "description": "how many"}
    assert set(book.parameters["properties"]) == {"hotel", "nights", "on"}
    assert book.parameters["required"] == ["hotel"]
    assert book.call({"hotel": "Ritz", "on": "2026-01-02"}) == "Ritz 1 2026-01-02"
    assert book(hotel="Ritz") == "Ritz 1 None"


def test_other_docstrings_and_names() -> None:
    def look(place: str) -> str:
        """Look somewhere.

        :param place: where
        :param str other: not there
        """
        return place

    made = tool(name="look-up", description="Look it up.", groups=["day"], seconds=3)(look)
    assert (made.name, made.description, made.groups, made.seconds) == ("look-up", "Look it up.", ("day",), 3)
    assert tool(look).description == "Look somewhere."
    assert made.parameters["properties"]["place"]["description"] == "where"
    odd: Any
    for odd in (lambda: 1, type("C", (), {"__call__": lambda self: 1})()):
        with pytest.raises(Invalid, match="name"):
            tool(odd)
    with pytest.raises(Invalid, match="positional only"):
        tool(name="p")(lambda a, /: a)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(
    JSON, st.sampled_from([str, int, float, bool, list[int], dict[str, int], int | None, Colour, Point, date])
)
def test_whatever_a_model_gives_it_fits_or_is_told_why(value: Any, hint: Any) -> None:
    wrong = misfit(value, schema_of(hint))
    if wrong is None:
        converted(value, hint)
    else:
        assert wrong.startswith("the input")


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": True}},
        {"properties": {"a": {"enum": None}}},
        {"properties": {"a": {"type": 5}}},
        {"properties": {"a": {"type": [5, None]}}},
        {"properties": {"a": {"format": []}}},
        {"properties": {"a": {"anyOf": {"type": "string"}}}},
        {"properties": {"a": {"anyOf": [True]}}},
        {"properties": ["a"]},
        {"properties": {"a": {"items": [{"type": "string"}]}}},
        {"required": [1]},
        {"required": "a"},
        {"required": True, "additionalProperties": 7},
    ],
)
@pytest.mark.parametrize("value", ["x", 1, [1], {"b": 1}])
def test_schemas_of_others_may_have_any_shape(schema: Any, value: Any) -> None:
    assert misfit({"a": value}, schema) is None


@given(JSON, st.dictionaries(st.sampled_from(["type", "enum", "anyOf", "items", "required", "format"]), JSON))
def test_no_schema_breaks_the_reading(value: Any, schema: Any) -> None:
    for one in (schema, {"properties": {"a": schema, "b": {"properties": schema, **schema}}}):
        misfit({"a": value, "b": {"c": value}}, one)
        assert shown_in_words(one)


def shown_in_words(schema: Any) -> str:
    called = said_in_words(Said("Action: f\nAction Input: some words"), [Offered("f", "", schema)], 1)
    return described([Offered("f", "", schema)]) + called.calls[0].arguments


def test_what_must_not_be_there() -> None:
    assert misfit({"a": 1}, {"properties": {"a": False}}) == "the input.a must not be there."


@pytest.mark.parametrize(
    ("hint", "given", "meant"),
    [
        (int, "2", 2),
        (int, " -7 ", -7),
        (float, "1.5", 1.5),
        (bool, "true", True),
        (bool, "False", False),
        (list[int], ["1", 2], [1, 2]),
        (list[int], "[1, 2]", [1, 2]),
        (dict[str, float], {"a": "1"}, {"a": 1}),
        (Point, {"x": "1"}, {"x": 1}),
        (int | None, "3", 3),
        (int | None, "null", None),
        (int | str, "3", "3"),
        (str, "3", "3"),
        (int, "two", "two"),
        (int, "1.5", "1.5"),
        (float, "NaN", "NaN"),
        (list[int], "[" * 100_000, "[" * 100_000),
    ],
)
def test_text_that_stands_for_something_else(hint: Any, given: Any, meant: Any) -> None:
    made = coerced(given, schema_of(hint))
    assert made == meant
    assert type(made) is type(meant)


@given(JSON, st.dictionaries(st.sampled_from(["type", "anyOf", "items", "properties"]), JSON))
def test_what_fits_stays_as_it_is(value: Any, schema: Any) -> None:
    made = coerced(value, schema)
    if misfit(value, schema) is None:
        assert made == value
