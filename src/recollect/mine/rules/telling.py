"""Who speaks and of whom they have spoken, and how what they say becomes a claim."""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo

from recollect.mine.extracted import USER, Bond, Claim, MentionType
from recollect.mine.rules import lexicon as lx
from recollect.mine.rules import people as p
from recollect.mine.rules.found import ClaimKey, Found
from recollect.mine.rules.grammar import Person
from recollect.mine.rules.statements import Clause, Sentence
from recollect.mine.rules.values import Facet
from recollect.mine.rules.when import When
from recollect.model.records import Tense

_TOLD_LIMIT = 20
_LEFT_FOR = re.compile(r"\b(?:left|leaving|quit) .{2,60} for $")
"""What follows is where somebody went, not whom they met."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Teller:
    """One speaker, turn after turn."""

    who: Person
    found: Found
    circle: p.Circle
    turn: str = ""
    at: datetime = _NEVER
    zone: tzinfo = UTC
    place: str = ""
    thing: str = ""
    """The last of the speaker's own things that was spoken of, for an "it" that puts something right."""
    correcting: bool = False
    told: dict[str, list[ClaimKey]] = field(default_factory=dict[str, list[ClaimKey]])
    """The last clauses with what was made of them, for a correction that says only what is new."""

    @property
    def subject(self) -> str:
        return self.who.name or USER

    def begin(self, turn: str, at: datetime, zone: tzinfo) -> None:
        self.turn, self.at, self.zone, self.correcting = turn, at, zone, False

    def dated(self, content: str, tense: Tense, dated: When, *, keep: bool = False) -> Claim:
        """When it was or will be; of what is so now only its beginning."""
        return Claim(
            content=content,
            turns=(self.turn,),
            subject=self.subject,
            tense=tense,
            since=dated.since if keep or tense is not Tense.CURRENT else None,
            until=dated.until if tense is Tense.FUTURE else None,
        )

    def finish(self, claim: Claim, facet: Facet, clause: Clause, sentence: Sentence) -> None:
        """With whom and what it names, and kept."""
        about: tuple[str, ...] = ()
        if facet.named and not sentence.is_masked(facet.named):
            about = (facet.named,)
            self.found.mention(facet.named, facet.named_type, self.turn)
            if facet.bond and claim.certainty != "uncertain" and claim.tense is not Tense.FUTURE:
                self.found.bond(
                    Bond(
                        source=claim.subject,
                        type=upper(facet.bond),
                        target=facet.named,
                        turns=(self.turn,),
                        since=claim.since,
                        single=facet.single,
                        ended=facet.ended,
                        certainty=claim.certainty,
                    )
                )
        content = sentence.unmasked(claim.content).strip(" ,")
        others = [one.name for one in self.found.mentions.values() if _has_name(content, one.name)]
        about = (*about, *(name for name in others if name not in about and name != claim.subject))
        done = replace(
            claim,
            content=content if content.endswith((".", "!", "…")) else f"{content}.",
            attribute=facet.attribute,
            value=sentence.unmasked(facet.value),
            single=facet.single,
            preference=facet.preference,
            about=about[:8],
            denies=facet.denies if facet.attribute else claim.denies,
            corrects=(clause.corrects or self.correcting) and bool(facet.attribute),
        )
        key = self.found.claim(done)
        if key and not sentence.is_masked(clause.text):
            self.told.setdefault(clause.text, []).append(key)
            if len(self.told) > _TOLD_LIMIT:
                del self.told[next(iter(self.told))]


def introduce(teller: Teller, text: str) -> None:
    """My sister Ines: somebody with a name."""
    if "y " in text or "ur " in text:
        for match in p.KIN.finditer(text):
            name = match["name"].replace("\ue0ff", ".")
            if p.is_name(name):
                relate(teller, match["kin"], match["which"], name)
        if not p.SAYS_WHAT.match(text):
            for match in p.BARE_KIN.finditer(text):
                teller.circle.meet(match["kin"], match["which"], "")
    for match in p.THEN_PRONOUN.finditer(text):
        name = match[1] or match[2]
        if match[2] and _LEFT_FOR.search(text, 0, match.start(2)):
            continue
        if p.is_name(name) and name not in teller.circle.known:
            teller.circle.meet("", "", name)


def relate(teller: Teller, kin: str, which: str, name: str) -> None:
    """That somebody with a name is the speaker's sister, boss, dog."""
    known = teller.circle.known.get(name)
    teller.circle.meet(kin, which, name)
    kind: MentionType = "item" if kin.lower() in lx.PETS else "person"
    if known is not None and known.kin == kin.lower():
        teller.found.mention(name, kind, teller.turn)
        return
    which = "" if which in ("new ", "current ") else which
    who, single, title = teller.who, kin in lx.ONE_AT_A_TIME and not which, f"{which}{kin}".strip()
    teller.found.mention(name, kind, teller.turn, f"{who.subject}'s {title}.", "" if who.name else title)
    teller.found.bond(
        Bond(source=teller.subject, type=upper(title), target=name, turns=(teller.turn,), single=single)
    )
    teller.found.claim(
        Claim(
            content=f"{name} is {who.inside}'s {title}.",
            turns=(teller.turn,),
            subject=teller.subject,
            attribute="partner" if title in lx.PARTNERS else title,
            value=name.lower(),
            single=single,
            about=(name,),
        )
    )


def upper(words: str) -> str:
    return re.sub(r"\W+", "_", words).upper()


def _has_name(content: str, name: str) -> bool:
    """Sam is not in Samsung."""
    at = content.find(name)
    return at >= 0 and not content[at + len(name) : at + len(name) + 1].isalnum()
