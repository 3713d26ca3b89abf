"""Whether what somebody wrote about a conversation has its names, numbers and dates from there.

A capitalised word, a number of two or more digits and a date must occur in what was read; a date may also be
what "tomorrow" or "last week" meant on the day it was said. Words in small letters are not looked at: a
paraphrase is no invention.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from recollect.model.records import Turn
from recollect.text.analyse import STOP_WORDS, terms
from recollect.text.days import DAY, Days, month, one, year, zone_named
from recollect.text.time_rules import MONTHS, WEEKDAYS
from recollect.text.times import time_phrases

_MONTH = rf"({'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|sept)"
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_DATES = (  # each with its order of year, month and day
    (re.compile(r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?![\d-])"), "ymd"),
    (re.compile(r"(?<![\d-])(\d{4})-(\d\d)(?![\d-])"), "ym"),
    (re.compile(rf"\b{_NTH}(?:\sof)?\s{_MONTH}\b\.?,?\s(\d{{4}})\b", re.IGNORECASE), "dmy"),
    (re.compile(rf"\b{_MONTH}\.?\s{_NTH},?\s(\d{{4}})\b", re.IGNORECASE), "mdy"),
    (re.compile(rf"\b{_NTH}(?:\sof)?\s{_MONTH}\b", re.IGNORECASE), "dm"),
    (re.compile(rf"\b{_MONTH}\.?,?\s(\d{{4}})\b", re.IGNORECASE), "my"),
    (re.compile(rf"\b{_MONTH}\.?\s{_NTH}\b", re.IGNORECASE), "md"),
    (re.compile(rf"\b({'|'.join(f'{name[:3].title()}(?:{name[3:]})?' for name in MONTHS)}|Sept)\b"), "m"),
    (re.compile(r"(?<![\w.,$€£-])((?:19|20|21)\d\d)(?![\w%]|[.,]\d)"), "y"),
)
_NUMBER = re.compile(r"\d+(?:[.,'’\u00a0\u202f]\d+)*")
_LARGE = re.compile(
    r"(?<![\d.,])(\d{1,12}(?:[.,]\d{1,6})?)\s?(k|thousand|m|mio|million|bn|billion)\b", re.IGNORECASE
)
_FACTORS = {"k": 3, "thousand": 3, "m": 6, "mio": 6, "million": 6, "bn": 9, "billion": 9}
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TEENS = (
    "ten",
    "eleven",
    "twelve",
    *(f"{n}teen" for n in ("thir", "four", "fif", "six", "seven", "eigh", "nine")),
)
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SPELT = {
    **{name: number for number, name in enumerate(_TEENS, start=10)},
    **{name: 10 * number for number, name in enumerate(_TENS, start=2)},
    **{
        f"{ten} {one}": 10 * tens + ones
        for tens, ten in enumerate(_TENS, start=2)
        for ones, one in enumerate(_ONES, start=1)
    },
}
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?:^|[.!?:;\n]\s+|[\"“(«]\s*)$")
_OPENERS = frozenset(
    re.findall(
        r"\w+",
        "after also always although as because before both currently during each every except never no not "
        "now once only recently since soon sometimes today tomorrow until usually when while without "
        "der die das den ein eine le la les il lo el los las un une una um uma os as o de het een "
        "yesterday nothing nobody everybody everyone someone somebody something other others",
    )
)
_ROLES = frozenset(
    re.findall(
        r"\w+",
        "user assistant nutzer nutzerin benutzer benutzerin utilisateur utilisatrice usuario usuaria usuário "
        "usuária utilizador utilizadora utente gebruiker användaren brugeren brukeren käyttäjä użytkownik "
        "uživatel felhasználó kullanıcı χρήστης пользователь користувач",
    )
)
"""Who is spoken of without being named, in the languages that have capitals."""
# "Prefers tea" begins with a verb, "Lucas prefers tea" with a name.
_VERB_FIRST = re.compile(r"\w+(?:s|ed|ing)\s(?!(?:had|will|wants?|can|\w+s|\w+ed)\b)\w")


class Ground:
    """What was read: turns, and other texts such as what was known before."""

    def __init__(self, turns: Iterable[tuple[Turn, str]], texts: Iterable[str] = ()) -> None:
        """Each turn with what was read of it."""
        said = [*turns]
        whole = [text for _, text in said] + [*texts]
        self._terms = {term for text in whole for term in terms(text)}
        self._words = {word.lower() for text in whole for word in _WORD.findall(text)}
        self._numbers = {number for text in whole for number in _numbers(text)}
        self._days = [*dict.fromkeys(days for turn, text in said for days in _named_days(turn, text))]

    def holds(self, text: str, days: Sequence[date] = (), also: str = "") -> bool:
        """Whether nothing in a sentence is invented. `days` are such as were worked out by whoever wrote
        it, and `also` a text that is known to hold."""
        meant = [*self._days, *map(one, days)]
        rest = _without_dates(text, meant)
        more = {*terms(also)}
        weekdays = {WEEKDAYS[first.weekday()] for first, after in meant if after - first == DAY}
        return all(number in self._numbers for number in _numbers(rest, least=2)) and all(
            self._known(word, more) or word.lower() in weekdays for word in _names(rest)
        )

    def names(self, name: str) -> bool:
        """Whether a name was named: every word of it was read."""
        found = terms(name)
        return bool(found) and self._terms.issuperset(found)

    def _known(self, word: str, more: set[str]) -> bool:
        return word.lower() in self._words or all(term in self._terms or term in more for term in terms(word))


def _named_days(turn: Turn, text: str) -> Iterator[Days]:
    """The day it was said, and the days that it names."""
    zone = zone_named(turn.zone)
    yield one(turn.at.astimezone(zone).date())
    for forward in (False, True):
        for phrase in time_phrases(text, turn.at, zone, forward=forward):
            first = None if phrase.since is None else phrase.since.astimezone(zone).date()
            after = None if phrase.until is None else phrase.until.astimezone(zone).date()
            if first is not None and after is not None and first < after:
                yield first, after
            elif first is not None:  # since then, so it is the first day that was named
                yield one(first)
            elif after is not None:
                yield after - DAY, after + DAY  # until and before: the day, or the one before it


def _without_dates(text: str, meant: Sequence[Days]) -> str:
    """The text without the dates that were meant."""
    for pattern, order in _DATES:

        def left(match: re.Match[str], order: str = order) -> str:
            part = dict(zip(order, match.groups(), strict=True))
            return " " if any(_within(part, days) for days in meant) else match.group()

        text = pattern.sub(left, text)
    return text


def _within(part: dict[str, str], days: Days) -> bool:
    """Whether a date, as precise as it is given, lies in a stretch of days that is not much longer."""
    first, after = days
    in_month = None
    if "m" in part:
        in_month = int(part["m"]) if part["m"].isdigit() else _month_number(part["m"])
    years = [int(part["y"])] if "y" in part else [*range(first.year, after.year + 1)]
    for in_year in years:
        try:
            found = date(in_year, in_month or 1, int(part.get("d", 1)))
            span = one(found) if "d" in part else month(found) if in_month else year(found)
        except (ValueError, OverflowError):  # 30 February, month 13, the ends of the calendar
            continue
        loose = 31 if "d" in part else 366 if in_month else 3660
        if span[0] < after and first < span[1] and (after - first).days <= loose:
            return True
    return False


def _month_number(name: str) -> int:
    return next(n for n, full in enumerate(MONTHS, start=1) if full.startswith(name.lower()[:3]))


def _numbers(text: str, least: int = 1) -> Iterator[str]:
    """The numbers in a text as bare digits; with `least` only those of so many, and none that is spelt."""
    for match in _NUMBER.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if len(digits) >= least:
            yield digits.lstrip("0")
            if least == 1 and re.search(r"[.,]00?$", match.group()):
                yield re.sub(r"\D", "", match.group().rstrip("0")).lstrip("0")
    if least == 1:
        for match in _LARGE.finditer(text):
            yield str(round(float(match[1].replace(",", ".")) * 10 ** _FACTORS[match[2].lower()]))
        plain = f" {' '.join(re.findall(r'[a-z]+', text.lower()))} "
        yield from (str(number) for name, number in _SPELT.items() if f" {name} " in plain)


def _names(text: str) -> Iterator[str]:
    """Words that are written as names are; where a sentence begins any word may be."""
    for match in _WORD.finditer(text):
        word, plain = match.group(), match.group().lower()
        if not word[0].isupper() or len(word) < 2 or plain in _ROLES:
            continue
        if _SENTENCE_END.search(text[: match.start()]) and (
            plain in STOP_WORDS or plain in _OPENERS or _VERB_FIRST.match(text, match.start())
        ):
            continue
        yield word
