"""Corrections that say only what is new: "Actually, it's $12,000" is put into what was said before."""

import re

_AMOUNT = r"(?:[$€£]\s?\d[\d,.]*\d|[$€£]\s?\d)(?:k\b| ?(?:million|thousand)\b)?|\b\d[\d,.]* ?(?:euros?|dollars?|pounds?|kilos?|kg|km|miles|" \
          r"people|percent|%|years?|hours?|minutes?)(?!\w)"  # fmt: skip
_TIME = r"\b\d{1,2}:\d\d(?: ?[ap]m\b)?|\b\d{1,2} ?[ap]m\b"
_DAY = (
    r"\b(?:(?:next|this|last) )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|\b(?:january|february|march|april|"
    r"may|june|july|august|september|october|november|december)(?: \d{1,2}(?:st|nd|rd|th)?)?\b|\b(?:today|tomorrow|tonight)\b"
)
_NUMBER = r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
_NAME = r"(?<![.!?] )(?<!^)\b[A-Z][\w-]+(?: [A-Z][\w-]+)*"
_KINDS = tuple(
    re.compile(kind, 0 if kind == _NAME else re.IGNORECASE) for kind in (_AMOUNT, _TIME, _DAY, _NUMBER, _NAME)
)
_NEW = re.compile(
    r"(?:(?:it|that)(?:'s| is| was| should be| will be)|(?:i )?mean(?:t)?|i should have said|make (?:that|it)|should be|on|in|at)?\s*"
    r"(?P<new>[^,]{1,40}?)(?:(?:,| and)? not (?:on |in |at )?(?P<old>[^,]{1,40})| instead(?: of (?P<older>[^,]{1,40}))?)?$",
    re.IGNORECASE,
)


def corrected(text: str, told: list[str]) -> str | None:
    """The last clause in which the new value has its place, with it; None where there is no such clause, or two places."""
    found = _NEW.match(text.strip(" .!"))
    if found is None:
        return None
    new, old = found["new"].strip(), found["old"] or found["older"]
    new = re.sub(r"^(?:on|in|at|for) ", "", new)
    for kind in _KINDS:
        if not kind.fullmatch(f"x {new}", 2):
            continue
        for clause in reversed(told):
            if old and old in clause and new not in clause:
                return clause.replace(old, new, 1)
            places = list(kind.finditer(clause))
            if len(places) == 1 and not old:
                return clause[: places[0].start()] + new + clause[places[0].end() :]
        return None
    return None
