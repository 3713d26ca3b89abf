"""What a clause says somebody does, has or likes, in terms of attribute and value."""

import re
from collections.abc import Callable

from recollect.mine.rules.being import being
from recollect.mine.rules.grammar import Said
from recollect.mine.rules.lexicon import PETS
from recollect.mine.rules.values import NONE, TAIL, Facet, employer, name_at_start, place, value
from recollect.mine.rules.wordlist import listed

_IN = re.compile(
    r"(?:(?:back|over|up|down|out|alone|together)\s+)?(?:in|at|near|outside|on)\s+(?=\S)", re.IGNORECASE
)
_MOVE = re.compile(
    r"(?:(?:back|over|out|away)\s+)?(?:from (?P<old>.+?) )?(?:to|into) (?P<new>(?!a\b|an\b|my\b|the\b|be\b)"
    r".+?)(?: from (?P<older>.+))?$",
    re.IGNORECASE,
)
_AT = re.compile(
    r"(?:full[- ]time |part[- ]time |remotely |currently )?(?:at|for|with) (?P<where>.+)", re.IGNORECASE
)
_AS = re.compile(r"(?:full[- ]time |part[- ]time )?as (?:an? |the )?(?P<job>.+)", re.IGNORECASE)
_CALLED = re.compile(r"\b(?:called|named) (?P<name>[A-Z][\w'-]+)")
_PET = re.compile(rf"\b(?P<pet>{'|'.join(sorted(PETS))})s?\b", re.IGNORECASE)
_JOB_AT = re.compile(
    r"(?:working |my (?:new )?(?:job|position|role) |a (?:new )?job |as an? [\w -]{1,40}? )?(?:at|for|with) "
    r"(?P<where>[A-Z].*)"
)
_ALLERGY = re.compile(r"(?:an? )?(?:\w+ )?allergy to (.+)|an? ([\w-]+) allergy")
_A_THING = re.compile(r"(?:an? |some |the |my |two |three |four |five |\d)")
_NOTHING_HAD = listed("to been it into used back married up out fun trouble")
_HABITS = {
    "eat": "eats",
    "drink": "drinks",
    "smoke": "smokes",
    "speak": "speaks",
    "play": "plays",
    "study": "studies",
    "teach": "teaches",
    "use": "uses",
    "take": "takes",
}
_GIVEN_UP = {"smoking": "smokes", "drinking": "drinks"}

DISLIKES = listed("hate dislike detest loathe despise")


def facet_of(said: Said) -> Facet:
    """The attribute that a clause is about, or none."""
    find = _BY_VERB.get(said.verb)
    return find(said) if find else NONE


def _liking(said: Said) -> Facet:
    if said.form == "past" or said.aux in ("did", "would", "will", "had"):
        return NONE
    denies = said.negated != (said.verb in DISLIKES)
    what = re.split(r" (?:to|over|rather than) ", said.rest)[0] if said.verb == "prefer" else said.rest
    return Facet("likes", value(what), denies=denies, preference=True)


def _bearing(said: Said) -> Facet:
    if said.aux != "can" or not said.negated:
        return NONE
    return Facet("likes", value(said.rest.removeprefix("with ")), denies=True, preference=True)


def _living(said: Said) -> Facet:
    where = _IN.match(said.rest)
    return _home(said.rest[where.end() :], said) if where else NONE


def _basing(said: Said) -> Facet:
    return _living(said) if said.form == "participle" else NONE


def _moving(said: Said) -> Facet:
    move = _MOVE.match(TAIL.sub("", said.rest))
    return _home(move["new"], said) if move and not said.negated else NONE


def _home(where: str, said: Said) -> Facet:
    if said.aux == "used" or (said.form == "past" and said.verb not in ("move", "relocate", "settle")):
        return place("former home", where, single=False)
    return place("home", where, denies=said.negated)._replace(bond="LOCATED_IN", ended=said.negated)


def _working(said: Said) -> Facet:
    if (role := _AS.match(said.rest)) and not said.negated:
        job, *where = re.split(r" (?:at|for|in) ", role["job"])
        named = name_at_start(where[0]) if where and f" in {where[0]}" not in role["job"] else ""
        bond = "WORKS_FOR" if named and said.form != "past" and said.aux not in ("used", "was") else ""
        return Facet("job", value(job), True, bond=bond, named=named, named_type="organization")
    found = _AT.match(said.rest)
    if found is None or value(found["where"]) in ("home", "night", "nights"):
        return NONE
    if said.form == "past" or said.aux in ("used", "was"):
        return employer(found["where"])._replace(attribute="former employer", single=False, bond="")
    return employer(found["where"], left=said.negated)


def _joining(said: Said) -> Facet:
    named = name_at_start(said.rest)
    return employer(named) if named and not said.negated else NONE


def _starting(said: Said) -> Facet:
    found = _JOB_AT.match(said.rest)
    return employer(found["where"]) if found and not said.negated else NONE


def _leaving(said: Said) -> Facet:
    if said.negated:
        return NONE
    works = said.verb != "stop" or said.rest.startswith("working ")
    if works and (found := _JOB_AT.match(said.rest)):
        return employer(found["where"], left=True)
    if said.verb == "leave" or (said.verb == "stop" and said.rest.split(" ")[0] not in _GIVEN_UP):
        return NONE
    given_up = said.rest.split(" ")[0]
    if not given_up.endswith("ing"):
        return NONE
    return Facet(_GIVEN_UP.get(given_up, "does"), value(said.rest), denies=True)


def _having(said: Said) -> Facet:
    rest = said.rest
    if not value(rest) or rest.split(" ")[0].lower() in _NOTHING_HAD or said.form == "ing":
        return NONE
    if said.aux in ("had", "used", "will", "going", "might", "may", "would"):
        return NONE
    denies = said.negated or rest.lower().startswith("no ")
    if found := _ALLERGY.match(rest):
        return Facet("allergy", value(found[1] or found[2]), denies=denies)
    if said.verb == "have" and said.form == "past":
        return NONE
    if said.verb in ("keep", "get", "drive") and not denies and not _A_THING.match(rest):
        return NONE
    return _owned(said, denies)


def _getting(said: Said) -> Facet:
    return (
        NONE if said.negated or said.form == "ing" or said.aux in ("will", "going") else _owned(said, False)
    )


def _owned(said: Said, denies: bool) -> Facet:
    called, pet = _CALLED.search(said.rest), _PET.search(said.rest)
    owned = Facet("has", value(re.sub(r"\s(?:called|named)\s.*", "", said.rest)), denies=denies)
    if called is None or denies:
        return owned
    bond = pet["pet"].upper() if pet else "HAS"
    return owned._replace(named=called["name"], named_type="item", bond=bond)


def _selling(said: Said) -> Facet:
    sold = said.form in ("past", "participle") and not said.negated
    return Facet("has", value(said.rest), denies=True) if sold else NONE


def _habit(said: Said) -> Facet:
    what = value(said.rest)
    past = said.form in ("past", "participle") or said.aux in ("used", "did", "was")
    return Facet(_HABITS[said.verb], what, denies=said.negated) if what and not past else NONE


def _growing(said: Said) -> Facet:
    found = re.match(r"up (?:in|on|near|outside) (.+)", said.rest)
    return place("childhood home", found[1]) if found else NONE


def _coming(said: Said) -> Facet:
    found = re.match(r"from (.+)", said.rest)
    return place("origin", found[1], denies=said.negated) if found and not said.aux else NONE


def _graduating(said: Said) -> Facet:
    found = re.search(r"from (?:the )?([A-Z].+)", said.rest)
    named = name_at_start(found[1]) if found else ""
    return Facet("education", value(said.rest), named=named, named_type="organization")


def _weighing(said: Said) -> Facet:
    return Facet("weight", value(said.rest), True)


def _marrying(said: Said) -> Facet:
    named = name_at_start(said.rest)
    bond = Facet("spouse", named.lower(), True, bond="SPOUSE", named=named, named_type="person")
    return bond if named and not said.negated else NONE


def _travelling(said: Said) -> Facet:
    if said.verb == "go" and not said.rest.startswith("to "):
        return NONE
    found = re.match(r"(?:back |over |out |down |up )?(?:to )?(.+)", said.rest)
    named = name_at_start(found[1]) if found else ""
    if not named or said.negated:
        return NONE
    plans = said.aux in ("will", "going", "am")
    where = value(said.rest) if plans else value(named)
    return Facet("plans" if plans else "visited", where, named=named, named_type="place")


def _wanting(said: Said) -> Facet:
    return Facet("wants", value(said.rest), denies=said.negated) if said.rest.startswith("to ") else NONE


def _planning(said: Said) -> Facet:
    return Facet("plans", value(said.rest), denies=said.negated)


_VERBS: tuple[tuple[str, Callable[[Said], Facet]], ...] = (
    ("be", being),
    ("like love enjoy adore prefer favour favor hate dislike detest loathe despise", _liking),
    ("stand bear deal", _bearing),
    ("live reside settle", _living),
    ("base", _basing),
    ("move relocate", _moving),
    ("work", _working),
    ("join", _joining),
    ("start", _starting),
    ("leave quit stop", _leaving),
    ("have own keep possess get drive", _having),
    ("buy purchase adopt inherit receive acquire", _getting),
    ("sell", _selling),
    ("eat drink smoke speak play study teach use take", _habit),
    ("grow", _growing),
    ("come", _coming),
    ("graduate", _graduating),
    ("weigh", _weighing),
    ("marry", _marrying),
    ("visit travel fly tour go", _travelling),
    ("want", _wanting),
    ("plan intend hope", _planning),
)
_BY_VERB = {verb: find for some, find in _VERBS for verb in some.split()}
