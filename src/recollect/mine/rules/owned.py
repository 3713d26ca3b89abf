"""What a speaker says of what is theirs: things, and people by what they are to them."""

import re
from dataclasses import replace

from recollect.mine.extracted import Claim
from recollect.mine.rules import lexicon as lx
from recollect.mine.rules import people as p
from recollect.mine.rules.being import of_noun
from recollect.mine.rules.clauses import trimmed
from recollect.mine.rules.grammar import retold
from recollect.mine.rules.oneself import own
from recollect.mine.rules.others import of_third
from recollect.mine.rules.statements import Clause, Sentence
from recollect.mine.rules.telling import Teller
from recollect.mine.rules.values import NONE
from recollect.mine.rules.verbs import is_finite, is_past
from recollect.mine.rules.when import When, when
from recollect.model.records import Tense

_ENOUGH = ("hurts", "aches", "itches", "died", "retired", "snores", "stutters", "expired", "broke")
"""Verbs that say enough alone."""
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\d", re.IGNORECASE)
_OUR_ALL = re.compile(
    r"(?:generation|society|world|planet|species|culture|country|economy|brains?|bodies|ancestors|"
    r"language|solar)\b"
)
_IDLE_NOUN = re.compile(
    r"(?:\w+ )?(?:understanding|guess|question|questions|point|bad|apologies|thanks|hope|idea|thing|opinion|"
    r"goodness|god|mind|pleasure|thought|thoughts|issue with|concern|take|assumption|bet|"
    r"impression|suggestion|request|code|text|prompt|character|query|regex|function|component|script|"
    r"program|class|array|string|loop|problem|story|plan here|next "
    r"question)\b",
    re.IGNORECASE,
)
_BECAME = re.compile(
    r"(?:(?:just |recently )?(?:went|rose|increased|dropped|fell|changed|jumped|climbed)|(?:has|have|"
    r"was|got) "
    r"(?:just |been )?(?:gone|risen|increased|dropped|fallen|changed|raised|lowered|bumped|cut|moved))"
    r"(?: up| down)?(?: from \S+)? to (?P<new>[^,;]*\d[^;]{0,30}?)(?: (?:in|on|since|last|this) .*)?$",
    re.IGNORECASE,
)
"""My rent went up to 1,200."""


def possessed(teller: Teller, text: str, clause: Clause, sentence: Sentence) -> None:
    """My budget is…, my sister lives…, my wife and I went…"""
    if joint := re.match(r"(?:[Mm]y|[Oo]ur) [a-z -]{2,40}?(?: [A-Z][\w-]+)? and I (.+)", text):
        own(teller, f"We {joint[1]}", clause, sentence)
        return
    text = re.sub(r"^(.{2,30}name)'s (?=[A-Z])", r"\1 is ", text)
    text = re.sub(
        r"^([\w-]+ (?:[\w-]+ ){0,4}?[\w-]+)'s (?=(?:on|in|a|an|the|called|named|at|my|not|\d))",
        r"\1 is ",
        text,
    )
    if (named := p.KIN.match(text)) and "name" in (named["link"] or ""):
        return
    if (
        named
        and p.is_name(named["name"])
        and (met := teller.circle.known.get(named["name"].replace("\ue0ff", ".")))
    ):
        of_third(teller, met, text[named.end() :].strip(" ,"), clause, sentence)
        return
    words = text.split(" ")
    at = next((i for i, word in enumerate(words[2:12], start=2) if is_finite(word.lower().rstrip(","))), 0)
    if not at and len(words) > 2 and words[1].lower() in lx.PEOPLE:
        at = 2
    noun = " ".join(words[1:at])
    if (
        not at
        or (at + 1 > len(words) - 1 and words[at] not in _ENOUGH)
        or _IDLE_NOUN.match(noun)
        or noun.endswith(" one")
        or _OUR_ALL.match(noun)
    ):
        return
    kin = p.BARE_KIN.match(text)
    met = teller.circle.known.get(kin["kin"].lower()) if kin else None
    if kin and met and kin.end() <= len(" ".join(words[:at])) and "'s" not in noun and " and " not in noun:
        of_third(teller, met, " ".join(words[at:]), clause, sentence)
        return
    _noun(teller, noun, words[at], " ".join(words[at + 1 :]), clause, sentence)


def _noun(teller: Teller, noun: str, verb: str, rest: str, clause: Clause, sentence: Sentence) -> None:
    rest = trimmed(rest)
    if (
        (not rest and verb not in _ENOUGH)
        or rest.endswith((" that", " it", " this"))
        or lx.EMPTY_TALK.search(rest)
        or rest.split(" ")[0].lower() in ("that", "what", "how", "it")
    ):
        return
    past = is_past(verb.lower())
    yearly = re.search(r"\b(?:birthday|anniversary)\b", noun) is not None and _MONTH.search(rest) is not None
    plain = f"{verb} {retold(rest)}".strip()
    dated = when(plain, teller.at, teller.zone, forward=not past)
    if yearly:
        dated = When(None, None, plain)
    future = dated.since is not None and dated.since > teller.at and not past
    tense = Tense.PAST if past else Tense.FUTURE if future else Tense.CURRENT
    facet = of_noun(noun, verb.lower(), rest) if not past else NONE
    if facet.attribute and not facet.value and dated.since:
        facet = facet._replace(value=dated.since.astimezone(teller.zone).date().isoformat())
    claim = teller.dated(f"{teller.who.subject}'s {retold(noun)} {dated.text}", tense, dated)
    claim = replace(claim, certainty="uncertain" if clause.doubtful else "explicit")
    teller.finish(claim, facet, clause, sentence)
    if (new := _BECAME.match(f"{verb} {rest}")) and (now := of_noun(noun, "is", new["new"])).single:
        content = f"{teller.who.subject}'s {retold(noun)} is {retold(new['new'])}"
        state = Claim(content=content, turns=(teller.turn,), subject=teller.subject, since=dated.since)
        teller.finish(state, now, clause, sentence)
