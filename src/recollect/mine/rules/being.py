"""What somebody is: their age, diet, job, where they are from; and what something of theirs is."""

import re

from recollect.mine.rules import lexicon as lx
from recollect.mine.rules.grammar import Said, retold
from recollect.mine.rules.people import is_name
from recollect.mine.rules.values import NONE, VALUE_LIMIT, Facet, name_at_start, place, value

_AGE = re.compile(
    r"(\d{1,3}|[a-z]+teen|twenty|thirty|forty|fifty|sixty|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|"
    r"twelve)(?:[- ]years?[- ]old)?(?: now)?$",
    re.IGNORECASE,
)
_BORN = re.compile(r"born (?:and raised )?(?P<how>in|on) (?P<what>.+)", re.IGNORECASE)
_JOB = re.compile(
    rf"(?:an? |the )(?P<job>(?:[\w-]+ ){{0,3}}?(?:{'|'.join(sorted(lx.JOBS))}))\b(?P<after>.*)", re.IGNORECASE
)
_WHERE_AFTER = re.compile(r".{0,30}?\b(?:at|for) (?P<where>[A-Z].+)")
_LIKING = re.compile(
    r"(?:very |so |really |quite |pretty |super |totally |completely |a )*(?:(?:big |huge |massive |great "
    r")?fan of|"
    r"into|fond of|keen on|big on|obsessed with|passionate about|crazy about|hooked on|addicted to|"
    r"a lover of) (?P<what>.+)",
    re.IGNORECASE,
)
_DISLIKING = re.compile(
    r"(?:sick of|tired of|scared of|afraid of|terrified of|bored of) (?P<what>.+)", re.IGNORECASE
)
_ALLERGIC = re.compile(
    r"(?:severely |very |slightly )?(?:allergic|intolerant) to (?P<what>.+)|(?P<which>\w+)[- ]intolerant",
    re.IGNORECASE,
)
_WEIGHT = re.compile(
    r"(?:down to |up to |about )?(\d[\d.,]* ?(?:kilos?|kg|lbs|pounds|stone))\b", re.IGNORECASE
)
_HEIGHT = re.compile(r"(\d[\d.,]* ?(?:m|cm|metres|meters|feet|ft)\b.{0,12}) tall", re.IGNORECASE)
_FROM = re.compile(r"(?:originally )?from (?P<where>.+)", re.IGNORECASE)
_CALLED = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?")
_FAVOURITE = re.compile(r"(?:all-time )?favou?rite ")
_MARITAL = ("married", "single", "divorced", "engaged")


AS_A = re.compile(
    rf"(?:[Ss]peaking )?(?:[Aa]s|[Bb]eing) (?:(?P<what>an? (?:[\w-]+ "
    rf")?(?:{'|'.join(sorted(lx.JOBS | lx.DIETS))}|mum|mom|dad|mother|"
    rf"father|parent|diabetic|widower?|foreigner|expat|immigrant|veteran)(?: of \w+)?)|someone with "
    rf"(?P<having>[\w -]{{2,40}}?))"
    rf"(?:,| (?=I\b|my\b|we\b))(?! I want to)"
)
"""What somebody says they are on the way to something else."""


def as_a(what: str) -> Facet:
    return (
        _being_now(what, False)
        if what.rsplit(" ", maxsplit=1)[-1] not in lx.DIETS
        else Facet("diet", what.rsplit(" ", maxsplit=1)[-1])
    )


def being(said: Said) -> Facet:
    """Of "I am…"."""
    rest, no = said.rest, said.negated
    if found := _ALLERGIC.match(rest):
        return Facet("allergy", value(found["what"] or found["which"]), denies=no)
    if found := _LIKING.match(rest):
        return Facet("likes", value(found["what"]), denies=no, preference=True)
    if found := _DISLIKING.match(rest):
        return Facet("likes", value(found["what"]), denies=not no, preference=True)
    if found := _BORN.match(rest):
        if found["how"] == "in" and not found["what"][:1].isdigit():
            return place("birthplace", found["what"])
        when = "birth year" if found["how"] == "in" else "birthday"
        return Facet(when, found["what"].lower()[:VALUE_LIMIT], True)
    past = said.aux in ("was", "used", "had", "did") or said.form == "past"
    return NONE if past else _being_now(rest, no)


def _being_now(rest: str, no: bool) -> Facet:
    first = rest.lower().split(" ")[0].strip(".,")
    if first in lx.DIETS or first.removesuffix("s") in lx.DIETS:
        return Facet("diet", first.removesuffix("s"), denies=no)
    if first in lx.STATUSES:
        return Facet("marital status" if first in _MARITAL else first, first, True, no)
    if first == "living" and (where := re.match(r"living (?:in|near) (.+)", rest)):
        return place("home", where[1], denies=no)
    if found := _WEIGHT.match(rest):
        return Facet("weight", found[1].lower(), True, no)
    if found := _HEIGHT.match(rest):
        return Facet("height", found[1].lower(), True, no)
    if _AGE.match(rest):
        return Facet("age", value(rest.split(" ", maxsplit=1)[0]), True, no)
    if found := _FROM.match(rest):
        return place("origin", found["where"], denies=no)
    if found := _JOB.match(rest):
        after = _WHERE_AFTER.match(found["after"])
        named = name_at_start(after["where"]) if after and not no else ""
        bond = "WORKS_FOR" if named else ""
        return Facet("job", found["job"].lower(), True, no, bond=bond, named=named, named_type="organization")
    if _CALLED.fullmatch(rest) and is_name(rest) and not no:
        return Facet("name", rest.lower(), True)
    return NONE


def of_noun(noun: str, verb: str, rest: str) -> Facet:
    """Of what is said of something the speaker has: my budget is, my favourite colour is."""
    low = noun.lower()
    if verb == "weighs":
        return Facet(f"{retold(low)}'s weight", value(rest), True)
    if verb not in ("is", "are", "isn't", "aren't"):
        return NONE
    head = re.split(r" (?:for|of|in|at|with|on|to) ", low)[0].split(" ")[-1]
    favourite = _FAVOURITE.match(low) is not None
    denies = verb.endswith("n't") or rest.lower().startswith("not ")
    return Facet(
        retold(low).replace("favorite", "favourite"),
        value(rest),
        head in lx.SINGLE or favourite,
        denies,
        favourite,
    )
