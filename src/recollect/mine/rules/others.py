"""What a speaker says of others: kin by what they are, people by name, and what is going to happen."""

import re
from dataclasses import replace

from recollect.mine.extracted import Claim
from recollect.mine.rules import lexicon as lx
from recollect.mine.rules import people as p
from recollect.mine.rules.changes import change_of
from recollect.mine.rules.clauses import trimmed
from recollect.mine.rules.facets import facet_of
from recollect.mine.rules.grammar import is_adverb, parsed, retold
from recollect.mine.rules.markers import COMMANDS
from recollect.mine.rules.statements import Clause, Sentence
from recollect.mine.rules.telling import Teller, relate
from recollect.mine.rules.tense import looks_ahead, tense_of
from recollect.mine.rules.values import NONE, Facet, value
from recollect.mine.rules.verbs import BASE, ING, S_FORM, is_past, is_verb
from recollect.mine.rules.when import when
from recollect.mine.rules.worth import is_vague
from recollect.model.records import Tense

_PRONOUN = re.compile(r"(?P<who>[Ss]he|[Hh]e)(?P<is>'s)? (?P<rest>.+)")
_MINE = re.compile(rf"(?:is )?(?:my|our) (?P<which>(?:\w+ )?)(?P<kin>{lx.RELATION})\b")
_NAME_IS = re.compile(r"(?P<who>[Hh]er|[Hh]is) name(?:'s| is) (?:spelled |spelt )?(?P<name>[A-Z][\w-]+)")
_THEIRS = re.compile(r"(?P<who>[Hh]is|[Hh]er) (?P<what>[\w -]{2,40}?) (?P<rest>(?:is|are|was|were) .+)")
_HAS = re.compile(r"(?:been|had|got|gone|become|started|always) ")
_NAMED = re.compile(
    r"(?P<name>[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?P<from> from [a-z]+)? (?P<rest>(?:is|isn't|was|has|can't|"
    r"cannot|"
    r"doesn't|lives|works|loves|likes|hates|wants|plays|studies|moved|got|bought|turns|turned|eats|prefers|"
    r"enjoys|can|never|used|owns|teaches|speaks|just)\b.+)"
)
_PERSONAL = re.compile(
    r"(?:is (?:vegan|vegetarian|allergic|pregnant|married|engaged|the one who|coming over|my|our|a "
    r"(?:vegan|vegetarian|nurse|teacher|doctor))|can't (?:have|eat|drink|stand|come)|doesn't (?:eat|drink|"
    r"like)|(?:lives|works|hates|loves|likes|prefers) |turns \d|turned \d)"
)
_HAPPENING = re.compile(
    r"(?:[Tt]he|[Aa]n?) [\w' -]{2,60}? (?:is|are|ha(?:s|ve)|starts?|begins?|takes place|comes?|arrives?|"
    r"opens?|ends?|"
    r"leaves?|will)\b"
)
_TO_ME = re.compile(
    r"(?:[Tt]he |[Aa] |[Mm]y )?(?P<who>[Dd]octor|GP|[Dd]entist|[Vv]et|[Tt]herapist|[Bb]oss|[Ll]andlord|"
    r"[Mm]um|[Mm]om|"
    r"[Dd]ad|[Ss]urgeon|[Pp]hysio) (?P<rest>(?:just )?(?:put|prescribed|diagnosed|gave|sent|referred|"
    r"offered|promoted|fired|hired) me\b.+)"
)
_OF_ME = re.compile(r"\b(?:me|my|us|our)\b")
_CONCLUDES = re.compile(
    r"\b(?:shows?|predicts?|says?|suggests?|means?|implies|indicates?|thinks?) (?:that|my|i)\b", re.IGNORECASE
)
_MODAL = re.compile(r"\b(?:can|could|would|might|should|may|will|of us)\b", re.IGNORECASE)
_HERS = re.compile(r"\b(?:her|his|him|he|she|they)\b")
_PUT_OFF = re.compile(r"\b(?:moved|postponed|rescheduled|pushed back|brought forward) to\b")
_THERE = re.compile(r"[Tt]here(?:'s| is| are| was| were|'ll be| will be) ")
_POINTS = re.compile(
    r"(?:neither|nor|none|either|both|the (?:survey|model|study|article|book|song|movie|film|character|"
    r"narrator|paper|text|chart|"
    r"data)\b|never|always|spare|next time|from now|going forward|in future|way|much|too|less|it|up|out|"
    r"off|on|over|that|this|these|those|which|what|who|whoever|you|"
    r"thanks|they|if|any|not|"
    r"sounds|looks|seems|feels|for|to|as|same|"
    r"one(?! of)|let|more|maybe|especially|like|just|all|hope|wish|so|or|with|from|at|most|people|someone|"
    r"everyone|everything|something|nothing|nobody|here)\b(?!\w)|there (?:is|are)n't|(?:the|a) (?:only |"
    r"main |first |next |"
    r"last |biggest )?(?:thing|problem|question|issue|point|reason|idea|way|same|fact|best|more|other)\b",
    re.IGNORECASE,
)
_HOME = re.compile(
    r"(?P<place>[A-Z][\w-]+) is (?:now )?(?:my )?home(?: now)?$|[Hh]ome is (?:now "
    r")?(?P<also>[A-Z][\w-]+)(?: now)?$"
)
_OCCASION = re.compile(r"[Ii]t(?:'s| is) (?P<rest>(?:my|our) .+)")
_CALL_ME = re.compile(
    r"(?:(?:[Pp]lease|[Jj]ust|[Yy]ou can|[Ee]veryone|[Ee]verybody|[Pp]eople|(?:[Mm]y )?[Ff]riends) "
    r")*[Cc]alls? me ([A-Z]\w+)$"
)
_HAS_NO = re.compile(
    r"(?:also )?no (pets|kids|children|siblings|car|allergies|partner|job)\b(?! for| to| in )", re.IGNORECASE
)
_SAYS = re.compile(
    r"(?:would|could|might|should|may|said|says|told|thinks|asked|wants me|suggested|recommended|claims)\b"
)
_ONLY_NAMES = re.compile(r"is (?:my|our) |(?:is )?(?:called|named) |is [A-Z][\w-]+$")
_FIRST_PERSON = {
    "is": "am",
    "are": "am",
    "has": "have",
    "doesn't": "don't",
    "hasn't": "haven't",
    "isn't": "aren't",
    "does": "do",
}


def of_another(teller: Teller, text: str, clause: Clause, sentence: Sentence) -> None:
    """A clause whose subject is neither the speaker nor something of theirs."""
    if found := p.IS_KIN.match(text):
        _is_kin(teller, found)
    elif found := _PRONOUN.match(text):
        _pronoun(teller, found, clause, sentence)
    elif found := _NAME_IS.match(text):
        met = teller.circle.meant(found["who"])
        if met and met.kin and not met.name:
            relate(teller, met.kin, "", found["name"])
    elif found := _THEIRS.match(text):
        _theirs(teller, found, clause, sentence)
    elif found := _TO_ME.match(text):
        whom = p.Acquaintance(f"{teller.who.subject}'s {found['who'].lower()}", "", found["who"].lower(), "")
        of_third(teller, whom, found["rest"], clause, sentence)
    elif found := _OCCASION.match(text):
        _happening(teller, f"the day is {found['rest']}", clause, sentence, f"It is {found['rest']}")
    elif found := _CALL_ME.match(text):
        claim = Claim(
            content=f"{teller.who.subject} is called {found[1]}", turns=(teller.turn,), subject=teller.subject
        )
        teller.finish(claim, Facet("name", found[1].lower(), True), clause, sentence)
    elif found := _HAS_NO.match(text):
        claim = Claim(
            content=f"{teller.who.subject} has no {found[1].lower()}",
            turns=(teller.turn,),
            subject=teller.subject,
        )
        teller.finish(claim, Facet("has", found[1].lower(), denies=True), clause, sentence)
    elif found := _HOME.match(text):
        place = found["place"] or found["also"]
        facet = Facet("home", place.lower(), True, bond="LOCATED_IN", named=place, named_type="place")
        claim = Claim(
            content=f"{teller.who.subject} lives in {place}", turns=(teller.turn,), subject=teller.subject
        )
        teller.finish(claim, facet, clause, sentence)
    elif not _named(teller, text, clause, sentence) and not _happening(teller, text, clause, sentence):
        _around(teller, text, clause, sentence)


def _is_kin(teller: Teller, found: re.Match[str]) -> None:
    """Marta is my wife, or is not."""
    name = found["name"].replace("\ue0ff", ".")
    if not p.is_name(name):
        return
    if found["verb"] in ("is", "was"):
        relate(teller, found["kin"], found["which"], name)
        return
    teller.circle.meet("", "", name)
    teller.found.mention(name, "person", teller.turn)
    teller.found.claim(
        Claim(
            content=f"{name} is not {teller.who.inside}'s {found['which']}{found['kin']}.",
            turns=(teller.turn,),
            subject=teller.subject,
            attribute=found["kin"],
            value=name.lower(),
            denies=True,
            about=(name,),
        )
    )


def _pronoun(teller: Teller, found: re.Match[str], clause: Clause, sentence: Sentence) -> None:
    met = teller.circle.meant(found["who"])
    if met is None:
        return
    if mine := _MINE.match(found["rest"]):
        if met.name:
            relate(teller, mine["kin"], mine["which"], met.name)
        return
    verb = ("has " if _HAS.match(found["rest"]) else "is ") if found["is"] else ""
    of_third(teller, met, f"{verb}{found['rest']}", clause, sentence)


def _theirs(teller: Teller, found: re.Match[str], clause: Clause, sentence: Sentence) -> None:
    """His extension is 4471."""
    met = teller.circle.meant(found["who"])
    if met is None or is_vague(found["rest"]) or lx.EMPTY_TALK.search(found["rest"]):
        return
    what = found["what"].lower()
    facet = Facet(what, value(found["rest"].split(" ", 1)[1]), what in lx.SINGLE) if met.name else NONE
    content = f"{met.phrase}'s {found['what']} {retold(trimmed(found['rest']))}"
    teller.finish(
        Claim(content=content, turns=(teller.turn,), subject=met.name or teller.subject),
        facet,
        clause,
        sentence,
    )


def _named(teller: Teller, text: str, clause: Clause, sentence: Sentence) -> bool:
    found = _NAMED.match(text)
    if found is None or not p.is_name(name := found["name"]):
        return False
    if name not in teller.circle.known and not _PERSONAL.match(found["rest"]):
        return False
    met = teller.circle.known.get(name) or teller.circle.meet("", "", name)
    teller.found.mention(name, "person", teller.turn)
    if found["from"]:
        met = met._replace(phrase=f"{name}{found['from']}")
    of_third(teller, met, found["rest"], clause, sentence)
    return True


def _around(teller: Teller, text: str, clause: Clause, sentence: Sentence) -> None:
    """What happens around the speaker: crowds stress me out, there are two bikes in our garage."""
    text = trimmed(text)
    words = text.split(" ")
    first = words[0].lower()
    if not 3 < len(words) <= 30 or not _OF_ME.search(text) or lx.EMPTY_TALK.search(text):
        return
    if (
        _CONCLUDES.search(text)
        or (_MODAL.search(" ".join(words[:9])) and not _THERE.match(text))
        or first in COMMANDS
        or first in BASE
        or first in ING
        or _POINTS.match(text)
        or is_vague(text)
    ):
        return
    there = _THERE.match(text)
    verb = next((word for word in words[1:9] if is_verb(word.lower())), "")
    if not (there or verb):
        return
    past = is_past(verb.lower()) and verb.lower() not in BASE
    told = _OF_ME.sub(lambda found: _told(found, teller.who.inside), text, count=1)
    dated = when(retold(told), teller.at, teller.zone, forward=not past or _PUT_OFF.search(text) is not None)
    ahead = dated.since is not None and dated.since > teller.at
    claim = teller.dated(
        dated.text[0].upper() + dated.text[1:],
        Tense.FUTURE if ahead else Tense.PAST if past else Tense.CURRENT,
        dated,
    )
    teller.finish(
        replace(claim, certainty="uncertain" if clause.doubtful else "explicit"), NONE, clause, sentence
    )


def _told(found: re.Match[str], who: str) -> str:
    return f"{who}'s" if found.group().lower() in ("my", "our") else who


def _happening(teller: Teller, text: str, clause: Clause, sentence: Sentence, told: str = "") -> bool:
    """The plumber is coming tomorrow; it's my sister's birthday on Friday."""
    if not _HAPPENING.match(text) or lx.EMPTY_TALK.search(text):
        return False
    told = _OF_ME.sub(lambda found: _told(found, teller.who.inside), trimmed(told or text), count=1)
    dated = when(retold(told), teller.at, teller.zone, forward=True)
    if dated.until is None or dated.until <= teller.at:
        return False
    claim = teller.dated(dated.text[0].upper() + dated.text[1:], Tense.FUTURE, dated)
    teller.finish(claim, Facet("plans", value(text)), clause, sentence)
    return True


def of_third(teller: Teller, met: p.Acquaintance, predicate: str, clause: Clause, sentence: Sentence) -> None:
    """What somebody the speaker knows is or does."""
    predicate = trimmed(predicate)
    words = predicate.split(" ")
    if len(words) < 2 or lx.EMPTY_TALK.search(predicate) or words[1].lower() in ("that", "it", "so"):
        return
    if _SAYS.match(predicate) or _ONLY_NAMES.match(predicate):
        return
    at = next((at for at, word in enumerate(words) if not is_adverb(word.lower())), 0)
    first = words[at].lower()
    base = _FIRST_PERSON.get(first) or S_FORM.get(first, first)
    said = parsed(" ".join(("I", *words[:at], base, *words[at + 1 :])))
    if said is None or (said.verb != "be" and is_vague(_HERS.sub("", said.rest))):
        return
    dated = when(retold(predicate), teller.at, teller.zone, forward=looks_ahead(said))
    change = change_of(said, teller.circle.known)
    facet = NONE if change else _of_whom(met, facet_of(said))
    if met.name:
        teller.found.mention(met.name, "item" if met.kin in lx.PETS else "person", teller.turn)
    claim = teller.dated(f"{met.phrase} {dated.text}", tense_of(said, dated.since, teller.at), dated)
    claim = replace(
        claim,
        subject=met.name or teller.subject,
        denies=said.negated,
        certainty="uncertain" if clause.doubtful else "explicit",
    )
    teller.finish(claim, facet, clause, sentence)
    for one in (change, *change.then) if change else ():
        state = replace(
            claim,
            content=f"{met.phrase} {one.predicate}",
            tense=Tense.CURRENT,
            since=dated.since,
            certainty="uncertain" if clause.doubtful else "implied",
        )
        teller.finish(state, _of_whom(met, one.facet), clause, sentence)


def _of_whom(met: p.Acquaintance, facet: Facet) -> Facet:
    """With whose it is in the attribute, where they have no name that says so."""
    facet = facet._replace(preference=False)
    if met.name:
        return facet
    one = met.kin in lx.ONE_AT_A_TIME or met.kin in lx.PETS
    attribute = f"{met.kin}'s {facet.attribute}" if facet.attribute else ""
    return facet._replace(attribute=attribute, bond="", single=facet.single and one)
