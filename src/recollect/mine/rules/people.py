"""Who is spoken of: the speaker's kin and friends, by what they are to the speaker and by name."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from recollect.mine.rules import lexicon as lx
from recollect.mine.rules.grammar import Person

_WHICH = (
    r"(?:(?:older|younger|best|late|little|big|twin|eldest|oldest|youngest|dear|good|close|old|new|former|"
    r"business|"
    r"ex|great|wonderful|lovely|beautiful|first|second|middle) )*"
)
_NAME = r"(?:(?:Dr|Mrs|Mr|Ms|Prof)\ue0ff? )?[A-Z][\w-]+(?: [A-Z][\w-]+)?"
KIN = re.compile(
    rf"\b(?P<whose>[Mm]y|[Oo]ur) (?P<which>{_WHICH})(?P<kin>{lx.RELATION})(?P<link>'s name is|'s name's|"
    rf",? (?:is )?(?:called|"
    rf"named)| is|,)?(?:(?<=,)| )(?P<name>{_NAME})(?![\w])"
)
BARE_KIN = re.compile(rf"\b(?:[Mm]y|[Oo]ur) (?P<which>{_WHICH})(?P<kin>{lx.RELATION})\b(?!-)")
IS_KIN = re.compile(
    rf"(?P<name>{_NAME})(?:,)? (?P<verb>is|isn't|was|is not) (?:my|our) "
    rf"(?P<which>{_WHICH})(?P<kin>{lx.RELATION})\b"
)
SAYS_WHAT = re.compile(r"(?:[Ss]he|[Hh]e|[A-Z]\w+)(?:'s| is| isn't| was) (?:my|our)\b")
THEN_PRONOUN = re.compile(
    r"\b([A-Z][a-z]+), (?=(?:she|he)\b)|\b(?:for|with|around|met?|meet|about|by) ((?:Auntie |Aunt |Uncle "
    r")?[A-Z][a-z]+),?$"
)
_ADJECTIVE = re.compile(r"(?:[a-z]+(?:ese|ish|ian|ean|can|ic))$", re.IGNORECASE)


class Acquaintance(NamedTuple):
    """Somebody the speaker spoke of."""

    phrase: str
    """As a sentence can begin with it: The user's sister Ines."""
    name: str
    kin: str
    gender: str
    """she, he, or nothing where it is not known."""


@dataclass(slots=True)
class Circle:
    """The people that a speaker has spoken of, the last one last."""

    who: Person
    known: dict[str, Acquaintance] = field(default_factory=dict[str, Acquaintance])

    def meet(self, kin: str, which: str, name: str) -> Acquaintance:
        """By what they are to the speaker, by name, or both; they are now the last one spoken of."""
        kin = kin.lower()
        title = f"{which}{kin}".strip()
        before = self.known.get(kin)
        if not name and before is not None:
            name = before.name
        owner = f"{self.who.subject}'s "
        phrase = f"{owner}{title} {name}".strip() if kin else name
        gender = "she" if kin in lx.SHE or name.startswith(("Mrs", "Ms")) else "he" if kin in lx.HE else ""
        met = Acquaintance(phrase, name, kin, gender)
        for key in (kin, name):
            if key:
                self.known.pop(key, None)
                self.known[key] = met
        return met

    def meant(self, pronoun: str) -> Acquaintance | None:
        """Whom she or he is."""
        wanted = {"her": "she", "his": "he", "him": "he"}.get(pronoun.lower(), pronoun.lower())
        for met in reversed(self.known.values()):
            if met.gender in ("", wanted):
                return met
        return None


def is_name(text: str) -> bool:
    return (
        text.lower() not in lx.NOT_NAMES and text.lower() not in lx.PLACES and _ADJECTIVE.match(text) is None
    )
