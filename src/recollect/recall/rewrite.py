"""A question made easier to search for by a language model.

Each raises `ModelError` when there is no usable answer; the question as it was asked is always good enough
to go on with. `within` is how many seconds all of it may take.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple, TypeVar

from recollect.ports.language_model import LanguageModel, Schema, as_data, prompt
from recollect.ports.structured import structured
from recollect.recall.prompts import (
    HYPOTHETICAL,
    HYPOTHETICAL_SCHEMA,
    MOST_TEXT,
    REWRITE,
    REWRITE_SCHEMA,
    SELF_QUERY,
    SELF_QUERY_SCHEMA,
)
from recollect.recall.query import TimeHint
from recollect.text.days import midnight, read_day

T = TypeVar("T")

HISTORY = 6
"""How many messages before the question the model gets to read."""
MAX_TOKENS = 1000


class Narrowed(NamedTuple):
    """What is asked, and about which time; `hint` is None when the question names none."""

    text: str
    hint: TimeHint | None


def rewrite(model: LanguageModel, query: str, history: Sequence[str], *, within: float | None = None) -> str:
    """The question as it would be asked by somebody who had not said anything before. `history` is what
    was said before in this conversation, oldest first; without any, and for a prompt too long to lean on
    it, the model is not asked."""
    if not history or len(query) > MOST_TEXT:
        return query
    said = "\n".join(as_data(message[:MOST_TEXT]) for message in history[-HISTORY:])
    asked = f"Said before:\n{said}\n\nQuestion: {as_data(query[:MOST_TEXT])}"
    return _answered(model, REWRITE, asked, REWRITE_SCHEMA, lambda a: _not_blank(a["question"]), within)


def hypothetical(model: LanguageModel, query: str, *, within: float | None = None) -> str:
    """A passage that would answer the question, to search by: answers look more like one another than like
    their question."""
    asked = f"Question: {as_data(query[:MOST_TEXT])}"
    return _answered(
        model, HYPOTHETICAL, asked, HYPOTHETICAL_SCHEMA, lambda a: _not_blank(a["passage"]), within
    )


def self_query(
    model: LanguageModel,
    query: str,
    now: datetime,
    *,
    zone: tzinfo = UTC,
    within: float | None = None,
) -> Narrowed:
    """The question without the time it names, and that time, from the user's day `now` in their `zone`."""
    today = now.astimezone(zone)
    asked = f"Asked on {today:%A, %Y-%m-%d}.\nQuestion: {as_data(query[:MOST_TEXT])}"
    return _answered(model, SELF_QUERY, asked, SELF_QUERY_SCHEMA, lambda a: _narrowed(a, query, zone), within)


def _answered(
    model: LanguageModel,
    instructions: str,
    asked: str,
    schema: Schema,
    read: Callable[[dict[str, Any]], T],
    within: float | None,
) -> T:
    messages = prompt(instructions, asked)
    found, _ = structured(
        model, messages, schema, read, source="memory_query", max_tokens=MAX_TOKENS, within=within
    )
    return found


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("It is blank.")
    return text.strip()


def _narrowed(answer: dict[str, Any], query: str, zone: tzinfo) -> Narrowed:
    """The answer, if it is about the question that was asked and its days can be a time."""
    phrase, first, last = answer["phrase"], read_day(answer["first"]), read_day(answer["last"])
    if not phrase or (first is None and last is None):
        return Narrowed(query, None)
    if phrase.casefold() not in query.casefold():
        raise ValueError("The phrase does not stand in the question; copy it exactly.")
    if first is not None and last is not None and last < first:
        raise ValueError("The last day is before the first.")
    since = None if first is None else midnight(first, zone)
    until = None if last is None else midnight(last + timedelta(days=1), zone)
    hint = TimeHint(since, until, phrase, answer["kind"])
    rest = answer["rest"].strip()
    return Narrowed(rest if rest and len(query) <= MOST_TEXT else query, hint)
