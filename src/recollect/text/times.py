"""Words for a time, such as "last week", "since March" or "next Friday", and when that is.

The day on which they were said decides, in the speaker's time zone. Weeks start on Monday. What comes
again, a month, a weekday, a date without a year, is the nearest one in the past, or in the future where
the caller knows that a plan is spoken of. "Two weeks ago" is loosely meant and gives a week around the
day; its middle is the day itself.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, tzinfo
from typing import NamedTuple

from recollect.text import days as d
from recollect.text.days import Days
from recollect.text.time_rules import RULES, Found

LIMIT = 32
"""The most phrases found in one text."""

_BEFORE = 48  # how far back a preposition is looked for


class TimePhrase(NamedTuple):
    """A time that was named: from `since` up to `until`, which is not part of it. None is open."""

    since: datetime | None
    until: datetime | None
    phrase: str
    start: int
    soft: bool = False
    """Too vague to have bounds, such as "recently"."""

    @property
    def stop(self) -> int:
        return self.start + len(self.phrase)


class _Named(NamedTuple):
    start: int
    stop: int
    found: Found
    relation: str


_PREFIX = re.compile(
    r"(?:(?<=\s)|(?<=^)|(?<=[(\"'“,;:]))"
    r"(?:(?P<relation>since|after|before|until|till|by|from|between|prior to|up to|through|as of|starting|"
    r"in|on|"
    r"during|over|at|of|around|about|within|throughout|for|to)\s{1,3})?"
    r"(?:(?:the\s)?(?:very\s)?(?P<part>beginning|start|middle|end)\s(?:of\s|in\s)?|(?P<near>early|mid|"
    r"late)[\s-](?:in\s)?)?"
    r"(?:the\s)?$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s{1,3}(?:and|to|until|till|through)\s{1,3}(?:the\s)?|\s?[-–—]\s?", re.IGNORECASE)
_ONWARDS = re.compile(r"\s(?:on\b(?!\s\w)|onwards?\b)", re.IGNORECASE)
_SOFT = re.compile(
    r"\b(?:recently|lately|of late|these days|nowadays|the other day|not long ago|a while (?:ago|back)|"
    r"some time ago|in recent (?:days|weeks|months|years)|soon)\b",
    re.IGNORECASE,
)


def time_phrases(text: str, now: datetime, zone: tzinfo, *, forward: bool = False) -> list[TimePhrase]:
    """The times that a text names, in its order; `now` is when it was said."""
    today = now.astimezone(zone).date()
    named = list(_prefixed(text, today, forward))
    phrases = [*_joined(text, named, zone)]
    taken = [(phrase.start, phrase.stop) for phrase in phrases]
    for match in _SOFT.finditer(text):
        if len(phrases) >= LIMIT:
            break
        if not any(start < match.end() and match.start() < stop for start, stop in taken):
            phrases.append(TimePhrase(None, None, match.group(), match.start(), soft=True))
    return sorted(phrases, key=lambda phrase: phrase.start)


def _matches(text: str, today: date, forward: bool) -> Iterator[tuple[int, int, Found]]:
    """What the rules find, from left to right; where two overlap, the earlier and longer one."""
    spans = [(m.start(), -m.end(), rule.resolve, m) for rule in RULES for m in rule.pattern.finditer(text)]
    spans.sort(key=lambda span: span[:2])
    end = 0
    for start, minus_stop, resolve, match in spans:
        if start < end:
            continue
        try:
            found = resolve(match, today, forward)
        except (ValueError, OverflowError):  # 30 February, 9,000 years from now
            continue
        if found is not None:
            end = -minus_stop
            yield start, end, found


def _prefixed(text: str, today: date, forward: bool) -> Iterator[_Named]:
    """Each with the words in front of it that change what it means."""
    last_stop, count = 0, 0
    for start, stop, found in _matches(text, today, forward):
        prefix = _PREFIX.search(text, max(last_stop, start - _BEFORE), start)
        relation = ((prefix and prefix["relation"]) or "").lower()
        which = ((prefix and (prefix["part"] or prefix["near"])) or "").lower()
        joins = last_stop > 0 and _BETWEEN.fullmatch(text, last_stop, start) is not None
        if found.needs_preposition and not (relation or which or joins):
            continue
        if which:
            found = found._replace(days=d.part(found.days, which))
        yield _Named(prefix.start() if prefix and (relation or which) else start, stop, found, relation)
        last_stop = stop
        count += 1
        if count >= LIMIT:
            return


def _joined(text: str, named: list[_Named], zone: tzinfo) -> Iterator[TimePhrase]:
    """Pairs such as "between March and May" as one."""
    at = 0
    while at < len(named):
        here = named[at]
        after = named[at + 1] if at + 1 < len(named) else None
        if after is not None and _is_pair(text, here, after):
            days = _ordered(here.found, after.found)
            stop, relation = after.stop, ""
            at += 2
        else:
            days, stop, relation = here.found.days, here.stop, here.relation
            at += 1
        if relation == "from" and _ONWARDS.match(text, stop):
            relation = "since"
        try:
            since, until = _bounds(days, relation, zone)
        except (ValueError, OverflowError):  # the ends of the calendar
            continue
        yield TimePhrase(since, until, text[here.start : stop], here.start)


def _is_pair(text: str, first: _Named, second: _Named) -> bool:
    gap = text[first.stop : second.start]
    if second.relation in ("to", "until", "till", "through"):  # taken for a preposition of its own
        return first.relation in ("between", "from") and not gap.strip()
    joined = _BETWEEN.fullmatch(gap)
    return joined is not None and (first.relation in ("between", "from") or "and" not in gap.lower())


def _ordered(first: Found, second: Found) -> Days:
    """From the first to the second; one that comes again is moved to before or after the other."""
    begin, finish = first.days, second.days
    while first.repeats and begin[0] > finish[0]:
        begin = _moved(begin, first.repeats, -1)
    while second.repeats and begin[0] > finish[0]:
        finish = _moved(finish, second.repeats, 1)
    return min(begin[0], finish[0]), max(begin[1], finish[1])


def _moved(days: Days, unit: str, count: int) -> Days:
    return d.step(days[0], unit, count), d.step(days[1], unit, count)


def _bounds(days: Days, relation: str, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    first, after = (d.midnight(day, zone) for day in days)
    match relation:
        case "since" | "as of" | "starting":
            return first, None
        case "after":
            return after, None
        case "before" | "prior to":
            return None, first
        case "until" | "till" | "by" | "up to" | "through":
            return None, after
        case _:
            return first, after
