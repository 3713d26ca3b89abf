"""When something was, is or will be: dates that a clause names, written into it."""

import re
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recollect.mine.rules.wordlist import listed
from recollect.text.times import TimePhrase, time_phrases

_DIGIT = re.compile(r"\d")
_WORDS = listed(
    "yesterday today tonight tomorrow last next this past coming ago since weekend few couple spring "
    "summer autumn fall winter christmas halloween january february march april may june july august "
    "september october november december jan feb mar apr jun jul aug sept sep oct nov dec monday "
    "tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun in week "
    "month year"
)
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
_ORDINAL = re.compile(
    rf"\b(?:the )?({'|'.join(_ORDINALS)}) of (?=(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_FREQUENCY = re.compile(r"\b(?:every|each|per|most|once|twice|times)\b[^,]{0,12}$", re.IGNORECASE)
_WEEKDAYS = listed("monday tuesday wednesday thursday friday saturday sunday")
_WITHIN = re.compile(r"in [\w ]{1,12} (?:days?|weeks?|months?|years?)", re.IGNORECASE)
_PART = re.compile(r"\b(?:last|first|next) (?:day|week|weekend|month)$", re.IGNORECASE)
_RANGE = re.compile(r"(?:to|through|until) \w+day", re.IGNORECASE)
_ALONE = re.compile(r"\W*$|[,.;]|\s(?:morning|afternoon|evening|night|at|for|with|in)\b")
_SUFFIX = {1: "st", 2: "nd", 3: "rd"}


class When(NamedTuple):
    since: datetime | None
    until: datetime | None
    text: str
    """The clause with each date after the words that mean it."""
    sure: bool = False
    """Whether a day, month or year was named at all."""


def zone_of(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def when(text: str, now: datetime, zone: tzinfo, *, forward: bool) -> When:
    """The first time that a clause names, and the clause with its dates."""
    if _DIGIT.search(text) is None and _WORDS.isdisjoint(
        text.lower().replace(",", " ").replace(".", " ").split()
    ):
        return When(None, None, text)
    text = _ORDINAL.sub(lambda found: f"the {_numbered(found[1])} of ", text)
    phrases = [
        p
        for p in time_phrases(text, now, zone, forward=forward)
        if not p.soft and (p.since or p.until) and not _recurs(text, p)
    ]
    if not forward:  # "finished it in two weeks" says how long it took
        phrases = [p for p in phrases if not (_WITHIN.fullmatch(p.phrase) and p.since and p.since > now)]
    if not phrases:
        return When(None, None, text)
    first = min(phrases, key=_width)
    dated = text
    for phrase in reversed(phrases[:3]):
        if _YEAR.search(phrase.phrase) is None and not phrase.phrase.lower().startswith("before"):
            dated = f"{dated[: phrase.stop]} ({_written(phrase, zone)}){dated[phrase.stop :]}"
    return When(first.since, first.until, dated, True)


def _recurs(text: str, phrase: TimePhrase) -> bool:
    """Every Sunday, Monday to Friday, Sunday dinner: no day in particular."""
    if _FREQUENCY.search(text, 0, phrase.start) or (
        _PART.search(phrase.phrase) and text.startswith(" of ", phrase.stop)
    ):
        return True
    if _RANGE.fullmatch(phrase.phrase) and text[: phrase.start].rstrip().lower().endswith("day"):
        return True
    return phrase.phrase.lower() in _WEEKDAYS and _ALONE.match(text, phrase.stop) is None


def _width(phrase: TimePhrase) -> timedelta:
    """Of "23 May next year" the day counts, not the year."""
    if phrase.since is None or phrase.until is None:
        return timedelta(days=1)
    return phrase.until - phrase.since


def _numbered(word: str) -> str:
    number = _ORDINALS.index(word.lower()) + 1
    return f"{number}{_SUFFIX.get(number, 'th')}"


def _written(phrase: TimePhrase, zone: tzinfo) -> str:
    """A day, a month or a year where it is one, otherwise from when to when."""
    if phrase.since is None or phrase.until is None:
        at = phrase.since or (phrase.until and phrase.until - timedelta(days=1))
        return "" if at is None else at.astimezone(zone).date().isoformat()
    first = phrase.since.astimezone(zone).date()
    last = (phrase.until.astimezone(zone) - timedelta(hours=12)).date()
    if first == last:
        return first.isoformat()
    if first.day == 1 and (first.year, first.month) == (last.year, last.month) and last.day >= 28:
        return first.strftime("%Y-%m")
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
        return str(first.year)
    return f"{first.isoformat()} to {last.isoformat()}"
