"""What a clause says in terms of attribute and value, so that two clauses can be seen to disagree."""

import re
from typing import NamedTuple

from recollect.mine.extracted import MentionType
from recollect.mine.rules import lexicon as lx
from recollect.mine.rules.grammar import Said, retold

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
_TAIL = re.compile(
    r"\s*(?:[,;:(]|\s(?:since|because|which|who|that|when|where|while|after|before|until|but|although|so|if|as|with my|"
    r"with our|for the (?:last|past)|for (?:about |over |almost |nearly )?(?:\d+|a|two|three|four|five|six|seven|eight|"
    r"nine|ten|eleven|twelve|many|several) (?:years?|months?|weeks?|days?)|right now|at the moment|these days|nowadays|"
    r"any ?more|any longer|very much|a lot|so much|again|now|lately|recently|too|either|anyway|currently|today|yesterday|"
    r"tomorrow|last|next|this|in (?:january|february|march|april|may|june|july|august|september|october|november|"
    r"december|spring|summer|autumn|fall|winter|(?:19|20)\d\d)|ago|already|lol|haha|basically|more than|over|every)\b).*$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:(?:a|an|the|some|any|my|our|their|his|her|no|this|that|to|one|another|new|brand new)\s+)+",
                      re.IGNORECASE)  # fmt: skip
_NAME = re.compile(r"(?:the )?((?:[A-Z][\w'&.-]*|[A-Z]+)(?:(?: (?:of|de|di|la|le|the|and|for|y|du|van)){0,2} "
                   r"(?:[A-Z][\w'&.-]*|\d+))*)")  # fmt: skip


def value(text: str) -> str:
    """Lower case, without articles and without what follows: "a dog since March" is dog."""
    cut = _TAIL.sub("", " " + text).strip(" .,!'\"")
    return retold(_ARTICLE.sub("", cut)).lower()[:VALUE_LIMIT].strip()


def name_at_start(text: str) -> str:
    """The name that a text starts with, if it starts with one."""
    found = _NAME.match(text)
    if found is None or found[1].lower() in lx.NOT_NAMES:
        return ""
    return found[1].removesuffix("'s").rstrip(".,'")[:VALUE_LIMIT]


_IN = re.compile(
    r"(?:(?:back|over|up|down|out|alone|together)\s+)?(?:in|at|near|outside|on)\s+(?=\S)", re.IGNORECASE
)
_MOVE = re.compile(r"(?:(?:back|over|out|away)\s+)?(?:from (?P<old>.+?) )?(?:to|into) (?P<new>(?!a\b|an\b|my\b|the\b|be\b)"
                   r".+?)(?: from (?P<older>.+))?$", re.IGNORECASE)  # fmt: skip
_AT = re.compile(
    r"(?:full[- ]time |part[- ]time |remotely |currently )?(?:at|for|with) (?P<where>.+)", re.IGNORECASE
)
_AS = re.compile(r"(?:full[- ]time |part[- ]time )?as (?:an? |the )?(?P<job>.+)", re.IGNORECASE)
_AGE = re.compile(r"(\d{1,3}|[a-z]+teen|twenty|thirty|forty|fifty|sixty|two|three|four|five|six|seven|eight|nine|ten|eleven|"
                  r"twelve)(?:[- ]years?[- ]old)?(?: now)?$", re.IGNORECASE)  # fmt: skip
_BORN = re.compile(r"born (?:and raised )?(?P<how>in|on) (?P<what>.+)", re.IGNORECASE)
_JOB = re.compile(
    r"(?:an? |the )(?P<job>(?:[\w-]+ ){0,3}?(?:%s))\b(?P<after>.*)" % "|".join(sorted(lx.JOBS)), re.IGNORECASE
)
_WHERE_AFTER = re.compile(r".{0,30}?\b(?:at|for) (?P<where>[A-Z].+)")
_CALLED = re.compile(r"\b(?:called|named) (?P<name>[A-Z][\w'-]+)")
_PET = re.compile(r"\b(?P<pet>%s)s?\b" % "|".join(sorted(lx.PETS)), re.IGNORECASE)
_LIKING = re.compile(r"(?:very |so |really |quite |pretty |super |totally |completely |a )*(?:(?:big |huge |massive |great )?fan of|"
                     r"into|fond of|keen on|big on|obsessed with|passionate about|crazy about|hooked on|addicted to|"
                     r"a lover of) (?P<what>.+)", re.IGNORECASE)  # fmt: skip
_DISLIKING = re.compile(
    r"(?:sick of|tired of|scared of|afraid of|terrified of|bored of) (?P<what>.+)", re.IGNORECASE
)
_ALLERGIC = re.compile(r"(?:severely |very |slightly )?(?:allergic|intolerant) to (?P<what>.+)|(?P<which>\w+)[- ]intolerant",
                       re.IGNORECASE)  # fmt: skip

LIKES = frozenset(["like", "love", "enjoy", "adore", "prefer", "favour", "favor"])
DISLIKES = frozenset(["hate", "dislike", "detest", "loathe", "despise"])
GETS = frozenset(["buy", "purchase", "adopt", "inherit", "receive", "acquire"])


def facet(said: Said) -> Facet:
    """The attribute that a clause is about, or none."""
    no, rest, verb = said.negated, said.rest, said.verb
    negative = no or rest.lower().startswith("no ")
    match verb:
        case _ if verb in LIKES and (said.form == "past" or said.aux in ("did", "would", "will", "had")):
            return NONE
        case _ if verb in LIKES:
            return Facet("likes", value(rest), denies=no, preference=True)
        case _ if verb in DISLIKES:
            return Facet("likes", value(rest), denies=not no, preference=True)
        case "stand" | "bear" if said.aux == "can" and no:
            return Facet("likes", value(rest), denies=True, preference=True)
        case "live" | "reside" | "settle" if where := _IN.match(rest):
            return _home(rest[where.end() :], no, said)
        case "base" if said.form == "participle" and (where := _IN.match(rest)):
            return _home(rest[where.end() :], no, said)
        case "move" | "relocate" if (move := _MOVE.match(_TAIL.sub("", rest))) and not no:
            return _home(move["new"], False, said)
        case "work":
            return _work(rest, no)
        case "join" | "leave" | "quit" | "start":
            return _employment(said)
        case "have" | "own" | "keep" | "possess" | "get" | "drive":
            return _having(said, negative)
        case _ if verb in GETS and not no:
            return _owned(rest, "has", False)
        case "sell" if not no:
            return Facet("has", value(rest), denies=True)
        case "eat" | "drink" | "smoke" | "speak" | "play" | "study" | "teach" | "use" | "take":
            return Facet(_HABITS[verb], value(rest), denies=no) if value(rest) else NONE
        case "be":
            return _being(said)
        case _:
            return _other(said)


_HABITS = {"eat": "eats", "drink": "drinks", "smoke": "smokes", "speak": "speaks", "play": "plays", "study": "studies",
           "teach": "teaches", "use": "uses", "take": "takes"}  # fmt: skip


def _home(where: str, denies: bool, said: Said) -> Facet:
    place = value(where)
    if said.aux == "used" or (said.form == "past" and said.verb not in ("move", "relocate", "settle")):
        return Facet("former home", place, named=name_at_start(where), named_type="place")
    named = name_at_start(where)
    return Facet(
        "home", place, True, denies, bond="LOCATED_IN", named=named, named_type="place", ended=denies
    )


def _work(rest: str, denies: bool) -> Facet:
    if (role := _AS.match(rest)) and not denies:
        return Facet("job", value(re.split(r" (?:at|for|in) ", role["job"])[0]), True)
    if where := _AT.match(rest):
        named = name_at_start(where["where"])
        place = value(re.split(r" (?:as|in|on) ", where["where"])[0])
        if place in ("home", "night", "nights"):
            return NONE
        return Facet("employer", place, True, denies, bond="WORKS_FOR" if named else "", named=named,
                     named_type="organization", ended=denies)  # fmt: skip
    return NONE


_JOB_AT = re.compile(r"(?:working |my (?:new )?(?:job|position|role) |a (?:new )?job |as an? [\w -]{1,40}? )?(?:at|for|with) "
                     r"(?P<where>[A-Z].*)")  # fmt: skip


def _employment(said: Said) -> Facet:
    if said.verb == "join" and (named := name_at_start(said.rest)) and not said.negated:
        return Facet("employer", value(named), True, bond="WORKS_FOR", named=named, named_type="organization")
    if (found := _JOB_AT.match(said.rest)) and said.verb != "join" and not said.negated:
        named, left = name_at_start(found["where"]), said.verb in ("leave", "quit")
        return Facet("employer", value(named or found["where"]), True, left, bond="WORKS_FOR" if named else "", named=named,
                     named_type="organization", ended=left)  # fmt: skip
    if said.verb == "quit" and not said.negated:
        return Facet(_HABITS.get({"smoking": "smoke", "drinking": "drink"}.get(said.rest.split(" ")[0], ""), "does"),
                     value(said.rest), denies=True)  # fmt: skip
    return NONE


def _having(said: Said, denies: bool) -> Facet:
    rest, what = said.rest, value(said.rest)
    if said.verb == "get" and (said.form == "ing" or said.aux not in ("have", "")):
        return NONE
    if not what or rest.split(" ")[0].lower() in (
        "to",
        "been",
        "it",
        "into",
        "used",
        "back",
        "married",
        "up",
        "out",
    ):
        return NONE
    if found := re.match(r"(?:an? )?(?:\w+ )?allergy to (.+)|an? ([\w-]+) allergy", rest):
        return Facet("allergy", value(found[1] or found[2]), denies=denies)
    if said.verb == "keep" and not re.match(r"(?:\d|an? |two |three |four |five |some )", rest):
        return NONE
    if said.verb == "get" and not re.match(r"(?:an? |some |the |my |two |three |four |\d)", rest):
        return NONE
    if said.verb == "have" and (
        said.form == "ing" or said.aux in ("had", "used", "will", "going") or said.form == "past"
    ):
        return NONE
    return _owned(rest, "drives" if said.verb == "drive" else "has", denies)


def _owned(rest: str, attribute: str, denies: bool) -> Facet:
    called, pet = _CALLED.search(rest), _PET.search(rest)
    what = value(re.sub(r"\s(?:called|named)\s.*", "", rest))
    if called and not denies:
        return Facet(attribute, what, named=called["name"], named_type="person" if pet else "item",
                     bond=pet["pet"].upper() if pet else "HAS")  # fmt: skip
    return Facet(attribute, what, denies=denies)


def _being(said: Said) -> Facet:  # noqa: C901 - a list of cases
    rest, no = said.rest, said.negated
    low = rest.lower()
    past = said.aux == "was" or said.form == "past"
    if found := _ALLERGIC.match(rest):
        return Facet("allergy", value(found["what"] or found["which"]), denies=no)
    if found := _LIKING.match(rest):
        return Facet("likes", value(found["what"]), denies=no, preference=True)
    if found := _DISLIKING.match(rest):
        return Facet("likes", value(found["what"]), denies=not no, preference=True)
    if found := _BORN.match(rest):
        if found["how"] == "in" and not found["what"][:1].isdigit():
            return Facet(
                "birthplace",
                value(found["what"]),
                True,
                named=name_at_start(found["what"]),
                named_type="place",
            )
        return Facet(
            "birth year" if found["how"] == "in" else "birthday", found["what"].lower()[:VALUE_LIMIT], True
        )
    if past:
        return NONE
    first = low.split(" ")[0].strip(".,")
    if first in lx.DIETS:
        return Facet("diet", first, denies=no)
    if first in lx.STATUSES:
        return Facet(
            "marital status" if first in ("married", "single", "divorced", "engaged") else first,
            first,
            True,
            no,
        )
    if found := re.match(r"(?:down to |up to |about )?(\d[\d.,]* ?(?:kilos?|kg|lbs|pounds|stone))\b", low):
        return Facet("weight", found[1], True, no)
    if found := re.match(r"(\d[\d.,]* ?(?:m|cm|metres|meters|feet|ft)\b.{0,12}) tall", low):
        return Facet("height", found[1], True, no)
    if _AGE.match(rest):
        return Facet("age", value(rest.split(" ")[0]), True, no)
    if found := re.match(r"(?:originally )?from (?P<where>.+)", rest):
        return Facet(
            "origin", value(found["where"]), True, no, named=name_at_start(found["where"]), named_type="place"
        )
    if found := _JOB.match(rest):
        after = _WHERE_AFTER.match(found["after"])
        named = name_at_start(after["where"]) if after else ""
        return Facet("job", found["job"].lower(), True, no, bond="WORKS_FOR" if named and not no else "", named=named,
                     named_type="organization")  # fmt: skip
    if (
        (found := re.match(r"(?:living|staying) ", rest)) is None
        and (where := _IN.match(rest))
        and first == "living"
    ):
        return _home(rest[where.end() :], no, said)
    return NONE


def of_noun(noun: str, verb: str, rest: str) -> Facet:
    """Of what is said of something the speaker has: my budget is, my favourite colour is."""
    low = noun.lower()
    if verb == "weighs":
        return Facet(f"{retold(low)}'s weight", value(rest), True)
    if verb not in ("is", "are", "isn't", "aren't"):
        return NONE
    head = re.split(r" (?:for|of|in|at|with|on|to) ", low)[0].split(" ")[-1]
    favourite = re.match(r"(?:all-time )?favou?rite ", low) is not None
    denies = verb.endswith("n't") or rest.lower().startswith("not ")
    return Facet(
        retold(low).replace("favorite", "favourite"),
        value(rest),
        head in lx.SINGLE or favourite,
        denies,
        favourite,
    )


def _other(said: Said) -> Facet:
    rest, no = said.rest, said.negated
    if said.verb == "go" and (found := re.match(r"by (?:the name )?([A-Z]\w+)", rest)):
        return Facet("name", found[1].lower(), True)
    if said.verb == "grow" and (found := re.match(r"up (?:in|on|near|outside) (.+)", rest)):
        return Facet(
            "childhood home", value(found[1]), True, named=name_at_start(found[1]), named_type="place"
        )
    if (
        said.verb == "come"
        and (found := re.match(r"from (.+)", rest))
        and said.aux == ""
        and said.form == "base"
    ):
        return Facet("origin", value(found[1]), True, no, named=name_at_start(found[1]), named_type="place")
    if said.verb == "graduate":
        found = re.search(r"from (?:the )?([A-Z].+)", rest)
        named = name_at_start(found[1]) if found else ""
        return Facet("education", value(rest), named=named, named_type="organization")
    if said.verb == "weigh":
        return Facet("weight", value(rest), True)
    if said.verb in ("marry",) and (named := name_at_start(rest)):
        return Facet("spouse", named.lower(), True, bond="SPOUSE", named=named, named_type="person")
    if said.verb in ("visit", "travel", "fly", "tour") or (said.verb == "go" and rest.startswith("to ")):
        return _journey(said)
    if said.verb in ("volunteer", "intern") and (found := _AT.match(rest)):
        return Facet("volunteers at", value(found["where"]), denies=no)
    if said.verb == "want" and rest.startswith("to "):
        return Facet("wants", value(rest))
    if said.verb in ("plan", "intend", "hope"):
        return Facet("plans", value(rest))
    return NONE


def _journey(said: Said) -> Facet:
    found = re.match(r"(?:back |over |out |down |up )?(?:to )?(.+)", said.rest)
    where = found[1] if found else ""
    named = name_at_start(where)
    if not named or said.negated:
        return NONE
    plans = said.aux in ("will", "going", "am")
    return Facet(
        "plans" if plans else "visited",
        value(said.rest) if plans else value(named),
        named=named,
        named_type="place",
    )
