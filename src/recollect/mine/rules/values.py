"""Attributes and values: what a clause says in terms that two clauses can disagree in."""

import re
from typing import NamedTuple

from recollect.mine.extracted import MentionType
from recollect.mine.rules import lexicon as lx
from recollect.mine.rules.grammar import retold

VALUE_LIMIT = 80


class Facet(NamedTuple):
    attribute: str = ""
    value: str = ""
    single: bool = False
    denies: bool = False
    preference: bool = False
    bond: str = ""
    """The type of the bond to what `named` names."""
    named: str = ""
    named_type: MentionType = "item"
    ended: bool = False


NONE = Facet()
TAIL = re.compile(
    r"\s*(?:[;(]|[,:](?!\d)|\s(?:since|because|which|who|that|when|where|while|after|before|until|but|"
    r"although|so|"
    r"if|as|with my|"
    r"with our|for the (?:last|past)|for (?:about |over |almost |nearly )?(?:\d+|a|two|three|four|five|"
    r"six|seven|eight|"
    r"nine|ten|eleven|twelve|many|several) (?:years?|months?|weeks?|days?)|right now|at the moment|these "
    r"days|nowadays|"
    r"any ?more|any longer|very much|a lot|so much|again|now|lately|recently|too|either|anyway|currently|"
    r"today|yesterday|"
    r"tomorrow|last|next|this|in (?:january|february|march|april|may|june|july|august|september|october|"
    r"november|"
    r"december|spring|summer|autumn|fall|winter|(?:19|20)\d\d)|ago|already|finally|lol|haha|basically|"
    r"more than|"
    r"over|every)\b).*$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"^(?:(?:a|an|the|some|any|my|our|their|his|her|no|this|that|to|one|another|new|brand new)\s+)+",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?:the )?((?:[A-Z][\w'&.-]*|[A-Z]+)(?:(?: (?:of|de|di|la|le|the|and|for|y|du|van)){0,2} "
    r"(?:[A-Z][\w'&.-]*|\d+))*)"
)


def value(text: str) -> str:
    """Lower case, without articles and without what follows: "a dog since March" is dog."""
    cut = TAIL.sub("", " " + text).strip(" .,!'\"")
    return retold(_ARTICLE.sub("", cut)).lower()[:VALUE_LIMIT].strip()


def name_at_start(text: str) -> str:
    """The name that a text starts with, if it starts with one."""
    found = _NAME.match(text)
    if found is None or found[1].lower() in lx.NOT_NAMES:
        return ""
    return found[1].removesuffix("'s").rstrip(".,'")[:VALUE_LIMIT]


def place(attribute: str, where: str, *, single: bool = True, denies: bool = False) -> Facet:
    """An attribute whose value is a place."""
    return Facet(attribute, value(where), single, denies, named=name_at_start(where), named_type="place")


def employer(where: str, *, left: bool = False) -> Facet:
    named = name_at_start(where)
    return Facet(
        "employer",
        value(re.split(r" (?:as|in|on) ", where)[0]),
        True,
        left,
        bond="WORKS_FOR" if named else "",
        named=named,
        named_type="organization",
        ended=left,
    )
