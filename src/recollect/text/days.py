"""Stretches of days: weeks that start on Monday, months, years, seasons, the steps between them, and when in
UTC a day begins."""

from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Days = tuple[date, date]
"""The first day and the day after the last."""

DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)


def one(day: date) -> Days:
    return day, day + DAY


def week(day: date) -> Days:
    monday = day - day.weekday() * DAY
    return monday, monday + WEEK


def weekend(day: date) -> Days:
    """Saturday and Sunday of the week that the day is in."""
    monday, after = week(day)
    return monday + 5 * DAY, after


def month(day: date) -> Days:
    first = day.replace(day=1)
    return first, add_months(first, 1)


def quarter(day: date) -> Days:
    first = date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
    return first, add_months(first, 3)


def year(day: date) -> Days:
    return date(day.year, 1, 1), date(day.year + 1, 1, 1)


PERIODS: dict[str, Callable[[date], Days]] = {
    "day": one,
    "week": week,
    "weekend": weekend,
    "month": month,
    "quarter": quarter,
    "year": year,
}

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which a season begins, in the north."""


def season(name: str, beginning_in: int) -> Days:
    first = date(beginning_in, SEASONS[name], 1)
    return first, add_months(first, 3)


def add_months(day: date, count: int) -> date:
    """The same day that many months later, or the last one of a shorter month."""
    number = day.year * 12 + day.month - 1 + count
    in_year, in_month = number // 12, number % 12 + 1
    if not date.min.year <= in_year <= date.max.year:
        raise OverflowError(f"There is no year {in_year}.")
    return date(in_year, in_month, min(day.day, monthrange(in_year, in_month)[1]))


def step(day: date, unit: str, count: int) -> date:
    """The day that many days, weeks, months or years later; earlier for a negative count."""
    match unit:
        case "day":
            return day + count * DAY
        case "week" | "weekend":
            return day + count * WEEK
        case "fortnight":
            return day + 2 * count * WEEK
        case "month":
            return add_months(day, count)
        case "quarter":
            return add_months(day, 3 * count)
        case _:
            return add_months(day, 12 * count)


_SLACK = {"day": 0, "week": 3, "fortnight": 3, "month": 15, "quarter": 45, "year": 182}


def around(day: date, unit: str) -> Days:
    """The days that may be meant when somebody counts to this one in such units: its middle is the day."""
    slack = _SLACK[unit] * DAY
    return day - slack, day + slack + DAY


def part(days: Days, which: str) -> Days:
    """The first, middle or last third of a stretch."""
    first, after = days
    third = max(DAY, (after - first) // 3)
    match which:
        case "early" | "beginning" | "start":
            return first, first + third
        case "late" | "end":
            return after - third, after
        case _:
            return first + third, max(after - third, first + third + DAY)


def on_weekday(day: date, weekday: int) -> date:
    """That weekday in the week of the day."""
    return day + (weekday - day.weekday()) * DAY


def weekday_before(day: date, weekday: int, count: int = 1) -> date:
    """The count-th such weekday before the day."""
    return day - ((day.weekday() - weekday - 1) % 7 + 1) * DAY - (count - 1) * WEEK


def weekday_after(day: date, weekday: int, count: int = 1) -> date:
    return day + ((weekday - day.weekday() - 1) % 7 + 1) * DAY + (count - 1) * WEEK


def read_day(text: str | None) -> date | None:
    """A day written as YYYY-MM-DD; None for None, `ValueError` for anything else. It is a year apart from
    either end of the calendar, so that a day more or a zone is still a time."""
    try:
        found = None if text is None else date.fromisoformat(text)
        if found is None or date.min.year < found.year < date.max.year:
            return found
    except ValueError:
        pass
    raise ValueError("A day must be written as YYYY-MM-DD.")


def midnight(day: date, zone: tzinfo) -> datetime:
    """When the day begins there, in UTC."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def zone_named(name: str | None) -> tzinfo:
    """The zone something was said in; UTC where none is known."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
