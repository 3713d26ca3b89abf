"""Whether a clause is about what is, was or will be, and how sure its speaker is."""

import re
from datetime import datetime

from recollect.mine.extracted import Certainty
from recollect.mine.rules.grammar import Said
from recollect.mine.rules.verbs import BASE, PAST
from recollect.model.records import Tense

_ARRANGED = frozenset(("book", "schedule", "reserve", "register"))
_APPOINTED = re.compile(
    r"\b(?:appointment|meeting|interview|exam|test|flight|reservation|booking|call|check-?up|date)\b"
)
_INTENDED = frozenset(("think", "consider", "hope", "intend", "plan"))
_ONCE = frozenset(
    ("get", "marry", "fly", "travel", "visit", "move", "start", "leave", "graduate", "go", "see", "host")
)
_LASTING = frozenset(("be", "have", "live", "work", "know", "love", "own", "get", "go"))


def looks_ahead(said: Said) -> bool:
    """Whether a Friday that it names is the next one."""
    if said.verb == "plan" or (said.verb in _ARRANGED and " for " in said.rest):
        return True
    if said.verb in ("have", "get") and _APPOINTED.search(said.rest):
        return True
    if said.verb == "be" and any(word in PAST and word not in BASE for word in said.rest.lower().split()):
        return False  # the time may be that of what happened before
    return not (said.form in ("past", "participle") or said.aux in ("was", "had", "did", "have", "used"))


def tense_of(said: Said, since: datetime | None, now: datetime, until: datetime | None = None) -> Tense:
    if said.aux in ("will", "going", "might", "may") or (
        said.verb in _INTENDED and said.form in ("ing", "base")
    ):
        return Tense.FUTURE
    ahead = since is not None and since > now
    if since is not None and said.verb == "have" and said.form == "base" and said.rest.startswith("to "):
        return Tense.FUTURE
    if said.form == "past" or said.aux in ("was", "had", "did", "used"):
        arranged = said.verb in _ARRANGED or (said.verb == "get" and _APPOINTED.search(said.rest))
        return Tense.FUTURE if ahead and arranged else Tense.PAST
    if said.aux == "have" and said.form == "participle":
        lasting = (
            " for " in f" {said.rest}"
            or said.verb in _LASTING
            or "always" in said.adverbs
            or "since " in said.rest
            or said.negated
        )
        return Tense.FUTURE if ahead else Tense.CURRENT if lasting else Tense.PAST
    coming = until is not None and until > now and said.aux == "am" and said.verb in _ONCE
    return Tense.FUTURE if ahead or coming else Tense.CURRENT


def begins(said: Said) -> bool:
    """Whether the time that it names is when what is so now began."""
    return "since " in said.rest


def certainty_of(said: Said, doubtful: bool) -> Certainty:
    if doubtful or said.aux in ("might", "may") or "probably" in said.adverbs:
        return "uncertain"
    return "implied" if said.verb in ("think", "consider") or said.aux == "would" else "explicit"
