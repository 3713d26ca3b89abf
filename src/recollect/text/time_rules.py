"""The words for days, weeks, months and years in English, and which days each means on a given day."""

import re
from collections.abc import Callable
from datetime import date
from typing import Literal, NamedTuple

from recollect.text import days as d
from recollect.text.days import DAY, Days


class Found(NamedTuple):
    """The days that some words mean."""

    days: Days
    repeats: Literal["year", "week"] | None = None
    """A March or a Tuesday comes again; a date with its year does not."""
    needs_preposition: bool = False
    """Whether the words alone may be something else: a year's number, the verb to march."""


Resolve = Callable[[re.Match[str], date, bool], Found | None]
"""From a match, today and whether the future is meant rather than the past."""


class Rule(NamedTuple):
    pattern: re.Pattern[str]
    resolve: Resolve


_S = r"\s{1,3}"
_MONTH_NAMES = "january|february|march|april|may|june|july|august|september|october|november|december"
_WEEKDAY_NAMES = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
MONTHS = _MONTH_NAMES.split("|")
WEEKDAYS = _WEEKDAY_NAMES.split("|")
_NUMBER_NAMES = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBERS = {
    **{name: number for number, name in enumerate(_NUMBER_NAMES.split("|"), start=1)},
    "a": 1,
    "an": 1,
    "couple": 2,
    "few": 3,
    "several": 4,
}
_NUMBER = rf"(\d{{1,4}}|{_NUMBER_NAMES}|several|an?(?:\s(?:couple(?:\sof)?|few))?|couple(?:\sof)?|few)"
_UNIT = r"(day|week|fortnight|month|quarter|year)s?"
_MONTH = rf"({_MONTH_NAMES}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
_WEEKDAY = rf"({_WEEKDAY_NAMES}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b"
_YEAR = r"((?:19|20|21)\d\d)(?![\w%])"
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)"
_PLAIN_MONTHS = {"january", "february", "july", "september", "october", "november", "december"}
_WORDS_TOO = {"mon", "wed", "sat", "sun"}  # mon ami, they wed, we sat, the sun: without a capital no days
_VERBS = {"march", "may", "mar"}


def _rule(pattern: str) -> Callable[[Resolve], Rule]:
    return lambda resolve: Rule(re.compile(pattern, re.IGNORECASE), resolve)


def _count(text: str) -> int:
    """Three, 12, a, a few, couple of."""
    if text.isdigit():
        return int(text)
    words = text.lower().removesuffix("of").split()
    return _NUMBERS[words[-1]]


def _month_number(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, start=1) if month.startswith(name.lower()[:3]))


def _weekday_number(name: str) -> int:
    return next(i for i, day in enumerate(WEEKDAYS) if day.startswith(name.lower()[:3]))


def _dated(month: int, day: int, year: str | None, today: date, forward: bool) -> Found | None:
    """A day of a month; without a year the nearest one on this side of today."""
    if year is not None:
        return Found(d.one(date(_full(year), month, day)))
    step = 1 if forward else -1
    for number in range(9):  # 29 February may be eight years away
        try:
            found = date(today.year + step * number, month, day)
        except ValueError:
            continue
        if (found >= today) if forward else (found <= today):
            return Found(d.one(found), "year")
    return None


def _full(year: str) -> int:
    number = int(year)
    return number if len(year) == 4 else number + (2000 if number < 70 else 1900)


@_rule(r"(?<![\w/-])((?:19|20|21)\d\d)-(\d\d)-(\d\d)(?![\w-])")
def iso_date(m: re.Match[str], today: date, forward: bool) -> Found | None:
    return Found(d.one(date(int(m[1]), int(m[2]), int(m[3]))))


@_rule(r"(?<![\w/.-])(\d{1,2})([/.])(\d{1,2})\2((?:19|20|21)\d\d|\d\d)(?![\w/]|\.\d)")
def written_date(m: re.Match[str], today: date, forward: bool) -> Found | None:
    """With slashes the month comes first, as in the United States, unless it cannot; with dots the day."""
    first, second = int(m[1]), int(m[3])
    month, day = (second, first) if m[2] == "." or first > 12 else (first, second)
    return _dated(month, day, m[4], today, forward)


@_rule(rf"\b{_MONTH}{_S}(?:the{_S})?(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d)(?:,?{_S}{_YEAR})?")
def month_day(m: re.Match[str], today: date, forward: bool) -> Found | None:
    found = _dated(_month_number(m[1]), int(m[2]), m[3], today, forward)
    verb = m[1].lower() in _VERBS and m[1].islower()  # to march 5 miles
    return found._replace(needs_preposition=verb) if found else None


@_rule(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?{_S}(?:of{_S})?{_MONTH}(?:,?{_S}{_YEAR})?")
def day_month(m: re.Match[str], today: date, forward: bool) -> Found | None:
    if m[2].islower() and m[2].lower() in _VERBS and "of" not in m[0].lower() and m[3] is None:
        return None  # all 5 may come
    return _dated(_month_number(m[2]), int(m[1]), m[3], today, forward)


@_rule(rf"\b(?:(last|this|next|past|coming){_S})?{_MONTH}(?:,?{_S}(?:of{_S})?{_YEAR})?")
def month(m: re.Match[str], today: date, forward: bool) -> Found | None:
    number = _month_number(m[2])
    if m[3] is not None:
        return Found(d.month(date(int(m[3]), number, 1)))
    here = d.month(date(today.year, number, 1))
    which = (m[1] or "").lower()
    if which in ("last", "past"):
        return Found(here if here[1] <= today else d.month(d.add_months(here[0], -12)))
    if which in ("next", "coming"):
        return Found(here if here[0] > today else d.month(d.add_months(here[0], 12)))
    if which == "this":
        return Found(here) if m[2].lower() != "may" or m[2][0] == "M" else None
    if forward and here[1] <= today:
        here = d.month(d.add_months(here[0], 12))
    if not forward and here[0] > today:
        here = d.month(d.add_months(here[0], -12))
    return Found(here, "year", needs_preposition=m[2].lower() not in _PLAIN_MONTHS)


_NAMED = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}


@_rule(r"\b(christmas(?:\s(?:eve|day))?|new year's (?:eve|day)|halloween|valentine's day)\b")
def named_day(m: re.Match[str], today: date, forward: bool) -> Found | None:
    name = m[1].lower()
    found = _dated(*_NAMED[name], None, today, forward)
    if found is None or name != "christmas":
        return found
    first, after = found.days
    return found._replace(days=(first - DAY, after + DAY))


@_rule(
    r"\b(?:the day (before yesterday|after tomorrow)|(yesterday|last night)|"
    r"(today|tonight|this (?:morning|afternoon|evening))|(tomorrow))\b"
)
def near_day(m: re.Match[str], today: date, forward: bool) -> Found | None:
    if m[1]:
        return Found(d.one(today + (-2 if m[1].lower().startswith("before") else 2) * DAY))
    return Found(d.one(today + (-1 if m[2] else 1 if m[4] else 0) * DAY))


_DIRECTION = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "following": 1}


@_rule(rf"\b(last|previous|this|current|next|coming){_S}(week|month|quarter|year|weekend)\b")
def calendar_period(m: re.Match[str], today: date, forward: bool) -> Found | None:
    unit = m[2].lower()
    return Found(d.PERIODS[unit](d.step(today, unit, _DIRECTION[m[1].lower()])))


@_rule(r"\bthe (week|month|year|weekend)\b(?! (?:of|after|before|when|that|i|we)\b)")
def the_period(m: re.Match[str], today: date, forward: bool) -> Found | None:
    """Of the year, at the weekend: the one we are in, or the weekend on this side of today."""
    unit = m[1].lower()
    back = unit == "weekend" and not forward and today.weekday() < 5
    found = d.PERIODS[unit](today - d.WEEK if back else today)
    return Found(found, needs_preposition=True)


@_rule(
    rf"\b(?:the{_S})?(last|past|previous|next|coming|following){_S}{_NUMBER}{_S}{_UNIT}\b"
    rf"|\b(?:in|over|during|within|for){_S}the{_S}(last|past|next|coming){_S}{_UNIT}\b"
    rf"|\b(?:the{_S})?(past){_S}{_UNIT}\b"
)
def rolling(m: re.Match[str], today: date, forward: bool) -> Found | None:
    count = _count(m[2]) if m[2] else 1
    unit = (m[3] or m[5] or m[7]).lower()
    if (m[1] or m[4] or m[6]).lower() in ("next", "coming", "following"):
        return Found((today, d.step(today, unit, count) + DAY))
    return Found((d.step(today, unit, -count), today + DAY))


@_rule(
    rf"\b{_NUMBER}{_S}{_UNIT}{_S}(ago|earlier|back|from{_S}now|from{_S}today)\b|"
    rf"\bin{_S}{_NUMBER}{_S}{_UNIT}\b(?!{_S}of\b)"
)
def counted(m: re.Match[str], today: date, forward: bool) -> Found | None:
    unit = (m[2] or m[5]).lower()
    back = m[3] is not None and not m[3].lower().startswith("from")
    return Found(d.around(d.step(today, unit, (-1 if back else 1) * _count(m[1] or m[4])), unit))


@_rule(rf"\b{_NUMBER}{_S}({_WEEKDAY_NAMES}|weekend)s?{_S}(ago|from{_S}now)\b")
def weekdays_ago(m: re.Match[str], today: date, forward: bool) -> Found | None:
    count, back = _count(m[1]), m[3].lower() == "ago"
    if m[2].lower() == "weekend":
        return Found(d.weekend(d.step(today, "week", -count if back else count)))
    number = _weekday_number(m[2])
    return Found(d.one((d.weekday_before if back else d.weekday_after)(today, number, count)))


@_rule(
    rf"(?<!every )(?<!each )(?<!black )(?<!good )\b(?:(?:this{_S})?(last|past|this|next|coming|"
    rf"on){_S})?{_WEEKDAY}"
    rf"(?:,?{_S}(?:of{_S})?(last|this|next){_S}week\b)?"
)
def weekday(m: re.Match[str], today: date, forward: bool) -> Found | None:
    name, which = m[2], (m[1] or "").lower()
    if name.lower() not in WEEKDAYS and (not which or (name.lower() in _WORDS_TOO and name.islower())):
        return None
    number = _weekday_number(name)
    if m[3]:
        return Found(d.one(d.on_weekday(today + _DIRECTION[m[3].lower()] * d.WEEK, number)))
    match which:
        case "this":
            return Found(d.one(d.on_weekday(today, number)))
        case "next":
            return Found(d.one(d.on_weekday(today + d.WEEK, number)))
        case "coming":
            return Found(d.one(d.weekday_after(today, number)))
        case "last" | "past":
            return Found(d.one(d.weekday_before(today, number)))
        case _:
            nearest = d.weekday_after if forward else d.weekday_before
            return Found(d.one(nearest(today, number)), "week")


@_rule(
    rf"\b(?:(last|this|next|past|coming|in{_S}the|in|during{_S}the|over{_S}the|since|the){_S})?"
    rf"(spring|summer|autumn|fall|winter)\b(?:{_S}(?:of{_S})?{_YEAR})?"
)
def season(m: re.Match[str], today: date, forward: bool) -> Found | None:
    which, name = " ".join((m[1] or "").lower().split()), m[2].lower()
    if m[3]:
        return Found(d.season(name, int(m[3])))
    if not which or which == "the":
        return None
    near = [d.season(name, today.year + offset) for offset in (-2, -1, 0, 1)]
    if which in ("last", "past"):
        return Found(max(days for days in near if days[1] <= today))
    if which == "this":
        return Found(next(days for days in near[1:] if days[1] > today or days[0].year == today.year))
    if which in ("next", "coming"):
        return Found(min(days for days in near if days[0] > today))
    if forward:
        return Found(min(days for days in near if days[1] > today), "year")
    return Found(max(days for days in near if days[0] <= today), "year")


_NOT_A_DAY = (
    "floor|century|street|avenue|birthday|anniversary|attempt|try|page|day|row|place|time|edition|grade|hole"
)


@_rule(
    rf"\bthe{_S}{_ORDINAL}\b(?!{_S}(?:{_NOT_A_DAY})\b)(?!{_S}(?:of{_S})?{_MONTH})(?:{_S}of{_S}(this|last|"
    rf"next|the){_S}month\b)?"
)
def day_of_month(m: re.Match[str], today: date, forward: bool) -> Found | None:
    day, which = int(m[1]), (m[3] or "").lower()
    if which:
        first = d.add_months(today.replace(day=1), _DIRECTION.get(which, 0))
        return Found(d.one(first.replace(day=day)))
    for number in range(3):  # no month is followed by two others that lack the day
        first = d.add_months(today.replace(day=1), number if forward else -number)
        try:
            found = first.replace(day=day)
        except ValueError:
            continue
        if (found >= today) if forward else (found <= today):
            return Found(d.one(found), needs_preposition=True)
    return None


@_rule(rf"(?<![\w.,/$€£-]){_YEAR}(?![-/:.,]?\d)")
def year(m: re.Match[str], today: date, forward: bool) -> Found | None:
    return Found(d.year(date(int(m[1]), 1, 1)), needs_preposition=True)


RULES: tuple[Rule, ...] = (
    iso_date,
    written_date,
    month_day,
    day_month,
    month,
    named_day,
    near_day,
    calendar_period,
    the_period,
    rolling,
    counted,
    weekdays_ago,
    weekday,
    season,
    day_of_month,
    year,
)
