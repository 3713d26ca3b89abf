"""What a speaker says of themselves."""

import re
from dataclasses import replace
from typing import NamedTuple

from recollect.mine.extracted import Bond, Certainty, Claim
from recollect.mine.rules.changes import Change, change_of
from recollect.mine.rules.clauses import trimmed
from recollect.mine.rules.facets import facet_of
from recollect.mine.rules.grammar import Said, parsed
from recollect.mine.rules.liking import liked, tastes
from recollect.mine.rules.statements import Clause, Sentence
from recollect.mine.rules.telling import Teller
from recollect.mine.rules.tense import begins, certainty_of, looks_ahead, tense_of
from recollect.mine.rules.values import NONE, Facet, employer, value
from recollect.mine.rules.when import When, when
from recollect.mine.rules.worth import is_vague, is_worth
from recollect.model.records import Tense

_GROUP = re.compile(r"an? (?:\w+ )?(?:family|couple|group|team|band|household)\b")
_LOOSE_THIS = re.compile(
    r"\b(?P<verb>have|got|had|developed|found|met|made|bought|finished|playing|reading|watched|watching|"
    r"tried|started|"
    r"discovered|joined) this (?=(?P<next>[a-z]+) [a-zA-Z])(?!(?:week|month|year|morning|afternoon|"
    r"evening|time|"
    r"weekend|past|coming|summer|one|on|from|in|at|to|for|with|by|and)\b)"
)
"""In "I'm reading this new book" it points at nothing."""
_EATS_AGAIN = re.compile(
    r"(?:now |also )?(?:is |has )?(?:started )?eat(?:s|ing)? (?:(?P<meat>meat|chicken|beef|pork|steak|fish)|"
    r"dairy|cheese|eggs|butter)\b.{0,30}\b(?:again|now|these days)\b",
    re.IGNORECASE,
)
_SHORT_OF = frozenset(("almost", "nearly"))


def own(teller: Teller, text: str, clause: Clause, sentence: Sentence) -> None:
    """I live in…, we went to…"""
    text = _LOOSE_THIS.sub(_article, text)
    said = parsed(trimmed(_resolved(teller, text)))
    if said is None:
        return
    dated = when(said.predicate, teller.at, teller.zone, forward=looks_ahead(said))
    if not is_worth(said, dated.sure) or is_vague(said.rest, being=said.verb == "be"):
        return
    if text[:2] in ("We", "we") and _GROUP.match(said.rest):
        dated = dated._replace(text=dated.text.replace("is a", "is part of a", 1))
    facet = facet_of(said) if _SHORT_OF.isdisjoint(said.adverbs) else NONE
    tense = tense_of(said, dated.since, teller.at, dated.until)
    if facet.attribute == "former home":
        tense = Tense.PAST
    elif change := change_of(said, teller.circle.known):
        _changed(teller, Event(said, dated, facet, change), clause, sentence)
        return
    claim = teller.dated(
        f"{teller.who.subject} {dated.text}",
        tense,
        dated,
        keep=begins(said) or facet.attribute in ("home", "employer"),
    )
    claim = replace(claim, certainty=certainty_of(said, clause.doubtful), denies=said.negated)
    if facet.attribute == "likes" and (several := tastes(said)):
        for one in several:
            content = f"{teller.who.subject} {one.predicate}"
            teller.finish(
                replace(claim, content=content, denies=one.denies),
                facet._replace(value=value(one.what), denies=one.denies),
                clause,
                sentence,
            )
        return
    if facet.attribute == "job" and facet.bond and tense is Tense.CURRENT and not said.negated:
        _employed(teller, claim, facet, clause, sentence)
        return
    teller.finish(claim, facet, clause, sentence)
    if tense is Tense.CURRENT and not said.negated and (ate := _EATS_AGAIN.match(said.predicate)):
        for diet in ("vegetarian", "vegan") if ate["meat"] else ("vegan",):
            no_more = replace(claim, content=f"{teller.who.subject} is not {diet}", certainty="implied")
            teller.finish(no_more, Facet("diet", diet, denies=True), clause, sentence)


def _employed(teller: Teller, claim: Claim, facet: Facet, clause: Clause, sentence: Sentence) -> None:
    """Who leaves Otto is an engineer all the same: the job by itself, and where it is."""
    teller.finish(claim, employer(facet.named), clause, sentence)
    article = "an" if facet.value[:1] in "aeio" else "a"
    content = f"{teller.who.subject} is {article} {facet.value}"
    job = replace(claim, content=content, since=None, certainty=_implied(claim.certainty))
    teller.finish(job, Facet("job", facet.value, True), clause, sentence)


def _implied(certainty: Certainty) -> Certainty:
    return "uncertain" if certainty == "uncertain" else "implied"


class Event(NamedTuple):
    said: Said
    dated: When
    facet: Facet
    change: Change


def _changed(teller: Teller, event: Event, clause: Clause, sentence: Sentence) -> None:
    """What happened, as past, and what has been so since, as it is."""
    said, dated, change = event.said, event.dated, event.change
    certainty = certainty_of(said, clause.doubtful)
    happened = teller.dated(f"{teller.who.subject} {dated.text}", Tense.PAST, dated)
    named = change.facet.named or event.facet.named
    kind = change.facet.named_type if change.facet.named else event.facet.named_type
    only_named = Facet(named=named, named_type=kind)
    teller.finish(replace(happened, certainty=certainty), only_named, clause, sentence)
    state = Claim(
        content="",
        turns=(teller.turn,),
        subject=teller.subject,
        since=dated.since,
        certainty=_implied(certainty),
    )
    for one in (change, *change.then):
        told = replace(state, content=f"{teller.who.subject} {one.predicate}")
        teller.finish(told, one.facet, clause, sentence)
    if change.facet.attribute == "home":
        _left(teller, state, said)


def _left(teller: Teller, claim: Claim, said: Said) -> None:
    """Whoever moved from somewhere lived there before."""
    if found := re.search(r"\bfrom ([A-Z][\w-]+(?: [A-Z][\w-]+)?)", said.rest):
        old = found[1]
        teller.found.mention(old, "place", teller.turn)
        teller.found.claim(
            replace(
                claim,
                content=f"{teller.who.subject} lived in {old}.",
                tense=Tense.PAST,
                since=None,
                until=claim.since or teller.at,
                attribute="former home",
                value=old.lower(),
                about=(old,),
                denies=False,
            )
        )
        teller.found.bond(
            Bond(
                source=teller.subject,
                type="LOCATED_IN",
                target=old,
                turns=(teller.turn,),
                until=claim.since,
                ended=True,
                single=True,
                certainty=claim.certainty,
            )
        )


def liking(teller: Teller, text: str, clause: Clause, sentence: Sentence) -> bool:
    """Spicy food makes me happy; small hotels are my thing."""
    found = liked(text)
    if found is None:
        return False
    claim = Claim(
        content=f"{teller.who.subject} {found.predicate}",
        turns=(teller.turn,),
        subject=teller.subject,
        certainty="uncertain" if clause.doubtful else "implied",
        denies=found.denies,
    )
    facet = Facet("likes", value(found.what), denies=found.denies, preference=True)
    teller.finish(claim, facet, clause, sentence)
    return True


def _resolved(teller: Teller, text: str) -> str:
    """With him and her as whom they are."""
    found = re.search(r"\b(him|her)\b(?! own)", text)
    met = teller.circle.meant(found[1]) if found else None
    if found is None or met is None or (met.kin and re.search(rf"\b{met.kin}\b", text[: found.start()])):
        return text
    whom, follow = met.name or f"my {met.kin}", text[found.end() :]
    if found[1] == "her" and re.match(
        r" (?!(?:an?|the|to|for|in|on|at|and|with|last|next|this|some)\b)[a-z]", follow
    ):
        whom = f"{whom}'s"
    return f"{text[: found.start()]}{whom}{follow}"


def _article(found: re.Match[str]) -> str:
    return f"{found['verb']} {'an' if found['next'][0] in 'aeiou' else 'a'} "
