"""Corrections that say only what is new: "Actually, it's $12,000" is put into what was said before."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from recollect.mine.rules.lexicon import NOT_NAMES
from recollect.mine.rules.markers import COMMANDS
from recollect.mine.rules.verbs import is_verb

_AMOUNT = (
    r"(?:[$€£]\s?\d[\d,.]*\d|[$€£]\s?\d)(?:k\b| ?(?:million|thousand)\b)?|\b\d[\d,.]* ?(?:euros?|dollars?|"
    r"pounds?|kilos?|kg|km|miles|"
    r"people|percent|%|years?|hours?|minutes?)(?!\w)"
)
_TIME = r"\b\d{1,2}:\d\d(?: ?[ap]m\b)?|\b\d{1,2} ?[ap]m\b"
_DAY = (
    r"\b(?:(?:next|this|last) )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|"
    r"\b(?:january|february|march|april|"
    r"may|june|july|august|september|october|november|december)(?: \d{1,2}(?:st|nd|rd|th)?)?\b|\b(?:today|"
    r"tomorrow|tonight)\b"
)
_NUMBER = r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
_NAME = r"(?<![.!?] )(?<!^)\b[A-Z][\w-]+(?: [A-Z][\w-]+)*"
_DIET = r"\b(?:vegan|vegetarian|pescatarian)s?\b"
_KINDS = tuple(
    re.compile(kind, 0 if kind == _NAME else re.IGNORECASE)
    for kind in (_AMOUNT, _TIME, _DAY, _NUMBER, _DIET, _NAME)
)
_NEW = re.compile(
    r"(?:(?:it|that) (?:was|has been|got|is) (?:moved|changed|postponed|pushed|rescheduled) to|"
    r"(?:it|that)(?:'s| is| was| should be| will be)|(?:i )?mean(?:t)?|i should have said|make (?:that|"
    r"it)|should be|on|in|at)?\s*"
    r"(?P<new>(?:[^,]|(?<=\d),(?=\d)){1,40}?)(?:(?:,| and)? not (?:on |in |at )?(?P<old>(?:[^,]|"
    r"(?<=\d),(?=\d)){1,40})| instead(?: of "
    r"(?P<older>[^,]{1,40}))?)?$",
    re.IGNORECASE,
)


def _counted(new: str) -> re.Pattern[str] | None:
    """Of "four kids": any number of kids."""
    found = re.fullmatch(rf"(?:{_NUMBER}) (?P<noun>[a-z]+)", new, re.IGNORECASE)
    return re.compile(rf"(?:{_NUMBER}) {found['noun']}\b", re.IGNORECASE) if found else None


_IS_SO = re.compile(
    r"(?P<what>(?:my|our) favou?rite [\w' -]{2,40}? (?:is|are) )[\w' -]{1,40}$", re.IGNORECASE
)
_OF_A_THING = re.compile(
    r"(?:the|my|our) (?:[\w-]+ ){0,3}?(?P<head>[\w-]+) (?:is|are|was) (?=.+\bnot )", re.IGNORECASE
)
_NO_VALUES = frozenset(
    ("typo", "mistake", "wrong", "nevermind", "never mind", "autocorrect", "nothing", "really")
)
_BARE = re.compile(r"(?:the )?[\w'-]{2,30}(?: [\w'-]{2,30})?")


class Corrected(NamedTuple):
    clause: str
    """What was said before."""
    corrected: str


def _named_anew(new: str, told: Iterable[str]) -> Corrected | None:
    """Of "My favourite colour is green. No, blue.": what was said last is of another kind of thing."""
    last = next(reversed(list(told)), "")
    is_so = _IS_SO.match(last)
    if (
        is_so is None
        or not _BARE.fullmatch(new)
        or new.lower() in NOT_NAMES | COMMANDS | _NO_VALUES
        or is_verb(new)
    ):
        return None
    return Corrected(last, f"{is_so['what']}{new}")


def corrected(text: str, told: Iterable[str]) -> Corrected | None:
    """The last clause in which the new value has its place, with it; None without such a place."""
    whole = _OF_A_THING.match(text)
    if whole and any(whole["head"].lower() in clause.lower() for clause in told):
        text = text[whole.end() :]
    found = _NEW.match(text.strip(" .!"))
    if found is None:
        return None
    new = re.sub(r"^(?:on|in|at|for) ", "", found["new"].strip())
    old = found["old"] or found["older"]
    kind = next((kind for kind in _KINDS if kind.fullmatch(f"x {new}", 2)), None) or _counted(new)
    if kind is None and not old:
        return _named_anew(new, told)
    if kind is None or (kind.pattern == _NAME and new.lower() in NOT_NAMES):
        return None
    for clause in reversed(list(told)):
        if old and old in clause and new not in clause:
            return Corrected(clause, clause.replace(old, new, 1))
        places = list(kind.finditer(clause))
        if len(places) == 1 and not old:
            return Corrected(clause, clause[: places[0].start()] + new + clause[places[0].end() :])
    return None
