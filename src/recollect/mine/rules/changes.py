"""What is so after something happened: who moved to Porto lives there, who left Siemens works there no more.

The event is a claim of its own, in the past. The state has the attribute, so that it is the state, worded
as one, that meets what was known before.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from recollect.mine.rules import lexicon as lx
from recollect.mine.rules.being import being
from recollect.mine.rules.grammar import Said, retold
from recollect.mine.rules.people import Acquaintance
from recollect.mine.rules.values import TAIL, Facet, employer, name_at_start, place, value
from recollect.mine.rules.wordlist import listed


class Change(NamedTuple):
    predicate: str
    """What is so now, in the third person: lives in Porto."""
    facet: Facet
    then: tuple["Change", ...] = ()
    """What is so besides."""


_MOVE = re.compile(
    r"(?:(?:back|over|out|away|up|down|in|here|house|countries|cities)\s+)*(?:with [\w ]{2,30}? )?(?:from "
    r"(?P<old>.+?) )?(?:to|into|in) (?P<new>(?!(?:an?|my|the|be|our|his|her|their|with|together|first|"
    r"second)\b).+?)"
    r"(?: from (?P<older>.+))?$",
    re.IGNORECASE,
)
_NEW_JOB = re.compile(
    r"(?:(?:working|work|hired|my|a|the|an|as|new|job|position|role|offer|contract) )*(?:as an? [\w "
    r"-]{2,40}? )?"
    r"(?:at|for|with|by|from) (?P<where>(?:the )?[A-Z].*)"
)
_OLD_JOB = re.compile(
    r"(?:(?:working|my|a|the|old|previous|job|position|role|post|work) )*(?:as an? [\w -]{2,40}? "
    r")?(?:(?:at|for|with|from) "
    r")?(?P<where>[A-Z].*)"
)
_FOR_ANOTHER = re.compile(r" (?:for|to (?:join|work (?:at|for)|go to|start at)) (?=[A-Z])")
_DRINKS = listed("coffee caffeine tea alcohol beer wine soda cola booze")
_SMOKED = listed("cigarettes tobacco weed cannabis")
_EATEN = listed("sugar meat dairy gluten chocolate sweets bread fish cheese")
_CONSUMED = re.compile(
    rf"(?:(?:drinking|eating|smoking) )?(?P<what>{'|'.join(sorted(_DRINKS | _SMOKED | _EATEN))})$",
    re.IGNORECASE,
)
_A_JOB = (re.compile(r"\b(?:job|position|role|hired)\b"), re.compile(r"\b(?:job|position|role|offer)\b"))
_NO_THINGS = lx.KIN | lx.PEOPLE | listed("mind temper way voice appetite patience balance interest faith")
_OWN_THING = re.compile(r"(?:my|our) (?:old |beloved |trusty )*(?P<what>[A-Za-z][\w -]{1,40}?)$")
_STATUS = re.compile(r"(?P<status>married|divorced|engaged|separated)\b(?: to (?P<whom>[A-Z]\w+))?")
_PARTED = re.compile(
    r"up (?:.{1,60} )?with (?:my (?:girlfriend|boyfriend|partner|fiancée?|ex|wife|husband|"
    r"spouse),? )?(?P<whom>[A-Z]\w+)\b"
)
_TURNED = re.compile(r"(?P<age>\d{1,3}|twenty|thirty|forty|fifty|sixty|seventy|eighty)$")
_DIET = re.compile(rf"(?:back to )?(?:\w+ly )?(?P<diet>{'|'.join(sorted(lx.DIETS))})$")


def change_of(said: Said, known: Mapping[str, Acquaintance]) -> Change | None:
    """What follows from what somebody says they did; `known` are the names of people."""
    if (
        said.negated
        or said.form not in ("past", "participle")
        or not {"almost", "nearly"}.isdisjoint(said.adverbs)
    ):
        return None
    if said.aux not in ("", "have", "am", "was"):
        return None
    find = _BY_VERB.get(said.verb)
    rest = said.rest if said.verb in ("break", "split") else TAIL.sub("", f" {said.rest}")
    return find(said, rest.strip(" .,!"), known) if find else None


def _moved(_said: Said, rest: str, _known: Mapping[str, Acquaintance]) -> Change | None:
    found = _MOVE.match(rest)
    if found is None:
        return None
    where = found["new"].strip(" ,")
    facet = place("home", where)._replace(bond="LOCATED_IN")
    return Change(f"lives in {retold(where)}", facet) if facet.named else None


def _joined(said: Said, rest: str, _known: Mapping[str, Acquaintance]) -> Change | None:
    if said.verb == "join":
        where = name_at_start(rest)
    elif said.verb in ("get", "land", "accept") and not _A_JOB[said.verb == "accept"].search(rest):
        where = ""  # an offer is no job yet
    else:
        found = _NEW_JOB.match(rest)
        where = name_at_start(found["where"]) if found else ""
    if said.verb in ("get", "become") and (found := _STATUS.match(rest)):
        return _wedded(found)
    return Change(f"works at {where}", employer(where)) if where else None


def _wedded(found: re.Match[str]) -> Change:
    whom = f" to {found['whom']}" if found["whom"] else ""
    return Change(f"is {found['status']}{whom}", Facet("marital status", found["status"], True))


def _left(said: Said, rest: str, known: Mapping[str, Acquaintance]) -> Change | None:
    found = _OLD_JOB.match(rest)
    old, new = (
        _FOR_ANOTHER.split(found["where"], maxsplit=1) if found and _FOR_ANOTHER.search(rest) else ("", "")
    )
    where = name_at_start(old or (found["where"] if found else ""))
    then = name_at_start(new)
    if then.split(" ")[0].lower() in lx.PLACES:
        return None
    if not where or where in known or (said.verb == "leave" and where.split(" ")[0].lower() in lx.PLACES):
        return None
    now = (Change(f"works at {then}", employer(then)),) if then else ()
    return Change(f"no longer works at {where}", employer(where, left=True), now)


def _given_up(said: Said, rest: str, known: Mapping[str, Acquaintance]) -> Change | None:
    """Who quit coffee may like it still, and yet that they love it is no longer all that is to be said."""
    if (said.verb == "quit" or rest.startswith("working ")) and (change := _left(said, rest, known)):
        return change
    found = _CONSUMED.match(rest)
    if found is None:
        return None
    what = found["what"].lower()
    verb = "drink" if what in _DRINKS else "smoke" if what in _SMOKED else "eat"
    denied = Facet(f"{verb}s", what, denies=True)
    given_up = Facet("likes", what, denies=True, preference=True)
    return Change(f"no longer {verb}s {what}", denied, (Change(f"has given up {what}", given_up),))


def _sold(_said: Said, rest: str, _known: Mapping[str, Acquaintance]) -> Change | None:
    found = _OWN_THING.match(rest)
    if found is None or found["what"].lower().rsplit(" ", maxsplit=1)[-1] in _NO_THINGS:
        return None
    return Change(f"no longer has their {found['what']}", Facet("has", value(found["what"]), denies=True))


def _parted(_said: Said, rest: str, known: Mapping[str, Acquaintance]) -> Change | None:
    found = _PARTED.match(rest)
    if found is None:
        return None
    whom = found["whom"]
    kin = known[whom].kin if whom in known else ""
    attribute = kin if kin and kin not in lx.PARTNERS else "partner"
    facet = Facet(attribute, whom.lower(), True, True, named=whom, named_type="person")
    facet = facet._replace(bond=kin, ended=True)
    return Change(f"is no longer with {found['whom']}", facet)


def _became(said: Said, rest: str, _known: Mapping[str, Acquaintance]) -> Change | None:
    if found := _TURNED.match(rest):
        return Change(f"is {found['age']} years old", Facet("age", found["age"].lower(), True))
    if found := _DIET.match(rest):
        return Change(f"is {found['diet']}", Facet("diet", found["diet"].lower()))
    if said.verb != "become":
        return None
    facet = being(said._replace(verb="be", form="base", aux="am", rest=rest))
    return Change(f"is {retold(rest)}", facet) if facet.attribute else None


def _retired(_said: Said, _rest: str, _known: Mapping[str, Acquaintance]) -> Change:
    return Change("is retired", Facet("retired", "retired", True))


_VERBS: tuple[tuple[str, Callable[[Said, str, Mapping[str, Acquaintance]], Change | None]], ...] = (
    ("move relocate emigrate settle", _moved),
    ("join start get land accept begin", _joined),
    ("leave resign", _left),
    ("quit stop", _given_up),
    ("sell lose scrap", _sold),
    ("break split", _parted),
    ("become turn go", _became),
    ("retire", _retired),
)
_BY_VERB = {verb: find for some, find in _VERBS for verb in some.split()}
