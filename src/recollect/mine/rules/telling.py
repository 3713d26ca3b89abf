"""From clauses to claims: what a speaker says of themselves and of what is theirs."""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo

from recollect.mine.extracted import USER, Bond, Claim
from recollect.mine.rules import lexicon as lx
from recollect.mine.rules import people as p
from recollect.mine.rules.being import AS_A, as_a, of_noun
from recollect.mine.rules.clauses import trimmed
from recollect.mine.rules.corrections import corrected
from recollect.mine.rules.facets import facet_of
from recollect.mine.rules.found import ClaimKey, Found
from recollect.mine.rules.grammar import Person, Said, parsed, retold
from recollect.mine.rules.liking import liked, tastes
from recollect.mine.rules.statements import Clause, Sentence
from recollect.mine.rules.tense import begins, certainty_of, looks_ahead, tense_of
from recollect.mine.rules.values import NONE, Facet, value
from recollect.mine.rules.verbs import is_finite, is_past
from recollect.mine.rules.when import When, when
from recollect.mine.rules.worth import is_vague, is_worth
from recollect.model.records import Tense

_TOLD_LIMIT = 20
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

    def hear(self, clause: Clause, sentence: Sentence) -> None:
        """Everything in a clause that is worth keeping."""
        from recollect.mine.rules.others import of_another

        self.correcting = self.correcting or clause.corrects
        introduce(self, clause.text)
        corrects = clause.corrects or self.correcting
        if not corrects and (thing := _THING.search(clause.text)):
            self.thing = thing[1]
        self._introduced_as(clause, sentence)
        if clause.asked:
            if thing := _THING.search(clause.text):
                self.thing = thing[1]
            return
        text = self._pointed(clause.text, clause.corrects or self.correcting)
        if text.startswith(("I ", "I'", "We ", "We'", "we ", "we'")):
            self._own(text, clause, sentence)
        elif text.startswith(("My ", "my ", "Our ", "our ")):
            self._possessed(text, clause, sentence)
        elif not self._liking(text, clause, sentence):
            of_another(self, text, clause, sentence)

    def _introduced_as(self, clause: Clause, sentence: Sentence) -> None:
        """As a nurse I…; as a vegetarian, what can I…"""
        found = AS_A.match(clause.text)
        if found is None:
            return
        what = found["what"]
        with_it = found["having"]
        content = f"{self.who.subject} has {with_it}" if with_it else f"{self.who.subject} is {what}"
        facet = Facet("has", value(with_it)) if with_it else as_a(what)
        claim = Claim(content=content, turns=(self.turn,), subject=self.subject, certainty="implied")
        self.finish(claim, facet, clause._replace(text=content), sentence)

    def _pointed(self, text: str, corrects: bool) -> str:
        """With what "there" and "it" point at, and a bare correction put into what it corrects."""
        if corrects and (taken_back := corrected(text, self.told)):
            for key in self.told.pop(taken_back.clause):
                self.found.claims.pop(key, None)
            return taken_back.corrected
        if (
            corrects
            and self.thing
            and (it := re.match(r"[Ii]t(?:'s| (?=is|was|leaves|starts|begins|ends|opens))", text))
        ):
            return f"my {self.thing} {'is' if it[0].endswith('s') else ''}{text[it.end() :]}".replace(
                "  ", " "
            )
        named = re.search(r"\b(?:to|in|at|from) ([A-Z][\w-]+(?: [A-Z][\w-]+)?)", text)
        if named and named[1].lower() not in lx.NOT_NAMES:
            self.place = named[1]
        elif self.place and (
            there := re.search(r"\b(live[sd]?|moved|grew up)? ?\bthere\b(?! (?:is|are|was|were))", text)
        ):
            where = f"{there[1]} in" if there[1] else " at"
            text = f"{text[: there.start()]}{where} {self.place}{text[there.end() :]}"
        return text

    # --- what is said of oneself

    def _own(self, text: str, clause: Clause, sentence: Sentence) -> None:
        text = _LOOSE_THIS.sub(_article, text)
        said = parsed(trimmed(self._resolved(text)))
        if said is None:
            return
        dated = when(said.predicate, self.at, self.zone, forward=looks_ahead(said))
        if not is_worth(said, dated.sure) or (is_vague(said.rest) and said.verb != "be"):
            return
        facet = facet_of(said)
        tense = tense_of(said, dated.since, self.at, dated.until)
        if facet.attribute == "former home":
            tense = Tense.PAST
        elif tense is Tense.PAST and facet.attribute in ("home", "employer") and not facet.denies:
            tense = Tense.CURRENT  # who moved to a place lives there
        claim = self.dated(
            f"{self.who.subject} {dated.text}",
            tense,
            dated,
            keep=begins(said) or facet.attribute in ("home", "employer"),
        )
        claim = replace(claim, certainty=certainty_of(said, clause.doubtful), denies=said.negated)
        if facet.attribute == "likes" and (several := tastes(said)):
            for one in several:
                content = f"{self.who.subject} {one.predicate}"
                self.finish(
                    replace(claim, content=content, denies=one.denies),
                    facet._replace(value=value(one.what), denies=one.denies),
                    clause,
                    sentence,
                )
            return
        self.finish(claim, facet, clause, sentence)
        if facet.attribute == "home" and said.verb in ("move", "relocate"):
            self._left(claim, said)

    def _left(self, claim: Claim, said: Said) -> None:
        """Whoever moved from somewhere lived there before."""
        if found := re.search(r"\bfrom ([A-Z][\w-]+(?: [A-Z][\w-]+)?)", said.rest):
            old = found[1]
            self.found.mention(old, "place", self.turn)
            self.found.claim(
                replace(
                    claim,
                    content=f"{self.who.subject} lived in {old}.",
                    tense=Tense.PAST,
                    since=None,
                    until=claim.since or self.at,
                    attribute="former home",
                    value=old.lower(),
                    about=(old,),
                    denies=False,
                )
            )
            self.found.bond(
                Bond(
                    source=self.subject,
                    type="LOCATED_IN",
                    target=old,
                    turns=(self.turn,),
                    until=claim.since,
                    ended=True,
                    single=True,
                    certainty=claim.certainty,
                )
            )

    def _liking(self, text: str, clause: Clause, sentence: Sentence) -> bool:
        """Spicy food makes me happy; small hotels are my thing."""
        found = liked(text)
        if found is None:
            return False
        claim = Claim(
            content=f"{self.who.subject} {found.predicate}",
            turns=(self.turn,),
            subject=self.subject,
            certainty="uncertain" if clause.doubtful else "implied",
            denies=found.denies,
        )
        facet = Facet("likes", value(found.what), denies=found.denies, preference=True)
        self.finish(claim, facet, clause, sentence)
        return True

    # --- what is said of what is one's own

    def _possessed(self, text: str, clause: Clause, sentence: Sentence) -> None:
        """My budget is…, my sister lives…, my wife and I went…"""
        from recollect.mine.rules.others import of_third

        if joint := re.match(r"(?:[Mm]y|[Oo]ur) [a-z -]{2,40}?(?: [A-Z][\w-]+)? and I (.+)", text):
            self._own(f"We {joint[1]}", clause, sentence)
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
            and (met := self.circle.known.get(named["name"].replace("\ue0ff", ".")))
        ):
            of_third(self, met, text[named.end() :].strip(" ,"), clause, sentence)
            return
        words = text.split(" ")
        at = next(
            (i for i, word in enumerate(words[2:12], start=2) if is_finite(word.lower().rstrip(","))), 0
        )
        if not at and len(words) > 2 and words[1].lower() in lx.PEOPLE:
            at = 2
        noun = " ".join(words[1:at])
        if (
            not at
            or at + 1 > len(words) - 1
            or _IDLE_NOUN.match(noun)
            or noun.endswith(" one")
            or _OUR_ALL.match(noun)
        ):
            return
        kin = p.BARE_KIN.match(text)
        met = self.circle.known.get(kin["kin"].lower()) if kin else None
        if kin and met and kin.end() <= len(" ".join(words[:at])) and "'s" not in noun:
            of_third(self, met, " ".join(words[at:]), clause, sentence)
            return
        self._noun(noun, words[at], " ".join(words[at + 1 :]), clause, sentence)

    def _noun(self, noun: str, verb: str, rest: str, clause: Clause, sentence: Sentence) -> None:
        rest = trimmed(rest)
        if (
            not rest
            or lx.EMPTY_TALK.search(rest)
            or rest.split(" ")[0].lower() in ("that", "what", "how", "to", "it")
        ):
            return
        past = is_past(verb.lower())
        yearly = (
            re.search(r"\b(?:birthday|anniversary)\b", noun) is not None and _MONTH.search(rest) is not None
        )
        plain = f"{verb} {retold(rest)}"
        dated = when(plain, self.at, self.zone, forward=not past)
        if yearly:
            dated = When(None, None, plain)
        future = dated.since is not None and dated.since > self.at and not past
        tense = Tense.PAST if past else Tense.FUTURE if future else Tense.CURRENT
        facet = of_noun(noun, verb.lower(), rest) if not past else NONE
        if facet.attribute and not facet.value and dated.since:
            facet = facet._replace(value=dated.since.astimezone(self.zone).date().isoformat())
        claim = self.dated(f"{self.who.subject}'s {retold(noun)} {dated.text}", tense, dated)
        self.finish(
            replace(claim, certainty="uncertain" if clause.doubtful else "explicit"), facet, clause, sentence
        )

    # --- from what was found to a claim

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
        others = [one.name for one in self.found.mentions.values() if one.name in content]
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

    def _resolved(self, text: str) -> str:
        """With him and her as whom they are."""
        found = re.search(r"\b(him|her)\b(?! own)", text)
        met = self.circle.meant(found[1]) if found else None
        if found is None or met is None or (met.kin and re.search(rf"\b{met.kin}\b", text[: found.start()])):
            return text
        whom, follow = met.name or f"my {met.kin}", text[found.end() :]
        if found[1] == "her" and re.match(
            r" (?!(?:an?|the|to|for|in|on|at|and|with|last|next|this|some)\b)[a-z]", follow
        ):
            whom = f"{whom}'s"
        return f"{text[: found.start()]}{whom}{follow}"


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
        if p.is_name(name) and name not in teller.circle.known:
            teller.circle.meet("", "", name)


def relate(teller: Teller, kin: str, which: str, name: str) -> None:
    """That somebody with a name is the speaker's sister, boss, dog."""
    known = teller.circle.known.get(name)
    teller.circle.meet(kin, which, name)
    if known is not None and known.kin == kin.lower():
        teller.found.mention(name, "person", teller.turn)
        return
    who, single, title = teller.who, kin in lx.ONE_AT_A_TIME and not which, f"{which}{kin}".strip()
    teller.found.mention(name, "person", teller.turn, f"{who.subject}'s {title}.", "" if who.name else title)
    teller.found.bond(
        Bond(source=teller.subject, type=upper(title), target=name, turns=(teller.turn,), single=single)
    )
    teller.found.claim(
        Claim(
            content=f"{name} is {who.inside}'s {title}.",
            turns=(teller.turn,),
            subject=teller.subject,
            attribute=title,
            value=name.lower(),
            single=single,
            about=(name,),
        )
    )


def _article(found: re.Match[str]) -> str:
    return f"{found['verb']} {'an' if found['next'][0] in 'aeiou' else 'a'} "


def upper(words: str) -> str:
    return re.sub(r"\W+", "_", words).upper()


_LOOSE_THIS = re.compile(
    r"\b(?P<verb>have|got|had|developed|found|met|made|bought|finished|playing|reading|watched|watching|"
    r"tried|started|"
    r"discovered|joined) this (?=(?P<next>[a-z]+) [a-zA-Z])(?!(?:week|month|year|morning|afternoon|"
    r"evening|time|"
    r"weekend|past|coming|summer|one)\b)"
)
"""In "I'm reading this new book" it points at nothing."""
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\d", re.IGNORECASE)
_THING = re.compile(
    r"\b(?:my|our) ([a-z]+(?: [a-z]+)?) (?:is|are|leaves|starts|was|begins|ends|takes)\b", re.IGNORECASE
)
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
