"""What people like, one thing at a time, so that a later change of mind meets the thing it is about."""

import re
from typing import NamedTuple

from recollect.mine.rules.facets import DISLIKES
from recollect.mine.rules.grammar import Said, retold


class Taste(NamedTuple):
    what: str
    denies: bool
    predicate: str


_BUT_NOT = re.compile(r"(?P<yes>.+?),? but (?:not|never) (?P<no>.+)$")
_AND = re.compile(r", and |, or |, | and | or ")
_NOT_A_LIST = re.compile(
    r"\b(?:always|never|have|do|not|is|are|since|except|to|the|my|at|for|over|than|with|when|who|that|it)\b"
)
_MY_THING = re.compile(
    r"(?P<what>[\w' -]{3,60}?) (?:(?:is|are|was)(?P<no>n't| not)? (?:really |so |much |more |just |"
    r"definitely )*(?:my (?:thing|jam|"
    r"favou?rites?(?: thing)?|cup of tea|passion|weakness)|for me)|makes? me (?P<how>happy|sick|smile|"
    r"anxious|angry))$",
    re.IGNORECASE,
)
_FOR_ME = re.compile(
    r"(?:(?:just |absolutely |and )?no (?P<no>[\w -]{3,40}?)|(?P<only>[\w -]{3,40}?) only|only "
    r"(?P<just>[\w -]{3,40}?)) "
    r"(?:for (?:me|us)|from me)\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"(?:i'll take|give me) (?P<what>[\w' -]{2,40}?) over (?P<other>[\w' -]{2,40}?) any (?:day|time)\b",
    re.IGNORECASE,
)
_UNNAMED = re.compile(r"(?:it|this|that|these|those|which|what|they|he|she|you)\b", re.IGNORECASE)


def tastes(said: Said) -> list[Taste]:
    """The things in a list of likes, or what is liked and what is not: "tea but not coffee"."""
    head, _, _ = said.predicate.partition(f" {retold(said.rest)}")
    denied = said.negated != (said.verb in DISLIKES)
    if found := _BUT_NOT.match(said.rest):
        other = f"{said.verb}s" if said.negated else f"does not {said.verb}"
        return [
            Taste(found["yes"], denied, f"{head} {retold(found['yes'])}"),
            Taste(found["no"], not denied, f"{other} {retold(found['no'])}"),
        ]
    parts = _AND.split(said.rest)
    if (
        1 < len(parts) <= 5
        and all(0 < len(part.split(" ")) <= 3 for part in parts)
        and not _NOT_A_LIST.search(said.rest)
    ):
        return [Taste(part, denied, f"{head} {part}") for part in parts if part.strip()]
    return []


def liked(text: str) -> Taste | None:
    """What somebody likes, with the thing as the subject: "old maps are my thing"."""
    if wanted := _FOR_ME.match(text):
        what = (wanted["no"] or wanted["only"] or wanted["just"]).strip()
        return Taste(
            what, bool(wanted["no"]), f"wants {'no' if wanted['no'] else 'only'} {what[0].lower()}{what[1:]}"
        )
    if given := _OVER.match(text):
        return Taste(given["what"], False, f"prefers {given['what']} over {given['other']}")
    found = _MY_THING.match(text)
    if found is None or _UNNAMED.match(found["what"]):
        return None
    denies = bool(found["no"]) or (found["how"] or "").lower() in ("sick", "anxious", "angry")
    what = found["what"][0].lower() + found["what"][1:] if found["what"][1:2].islower() else found["what"]
    return Taste(what, denies, f"{'does not like' if denies else 'likes'} {what}")
