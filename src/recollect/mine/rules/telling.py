"""From clauses to claims: what a speaker says of themselves and of those around them."""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo

from recollect.mine.extracted import USER, Bond, Certainty, Claim, Mention, MentionType
from recollect.mine.rules import facets as f
from recollect.mine.rules import lexicon as lx
from recollect.mine.rules import people as p
from recollect.mine.rules.grammar import Person, Said, parsed, retold
from recollect.mine.rules.statements import Clause, Sentence
from recollect.mine.rules.verbs import S_FORM, is_finite, is_past
from recollect.mine.rules.when import when
from recollect.mine.rules.worth import is_vague, is_worth
from recollect.model.records import Tense

CLAIMS_LIMIT = 200
CONTENT_LIMIT = 500


@dataclass(slots=True)
class Found:
    """What has been found in a window so far."""

    claims: list[Claim] = field(default_factory=list[Claim])
    bonds: list[Bond] = field(default_factory=list[Bond])
    mentions: dict[str, Mention] = field(default_factory=dict[str, Mention])

    def mention(self, name: str, kind: MentionType, turn: str, description: str = "", relation: str = "") -> None:
        key = name.lower()
        known = self.mentions.get(key)
        properties = {"relation to the user": relation} if relation else {}
        if known is None:
            self.mentions[key] = Mention(name=name, type=kind, turns=(turn,), description=description, properties=properties)
            return
        self.mentions[key] = replace(
            known,
            turns=known.turns if turn in known.turns else (*known.turns, turn),
            description=known.description or description,
            properties={**known.properties, **properties},
        )


@dataclass(slots=True)
class Teller:
    """One speaker, turn after turn."""

    who: Person
    found: Found
    circle: p.Circle
    turn: str = ""
    at: datetime = datetime.min.replace(tzinfo=UTC)
    zone: tzinfo = UTC
    place: str = ""
    told: list[tuple[str, Claim]] = field(default_factory=list[tuple[str, Claim]])
    """Each clause with what was made of it, for a correction that names neither."""

    @property
    def subject(self) -> str:
        return self.who.name or USER

    def hear(self, clause: Clause, sentence: Sentence) -> None:
        """Everything in a clause that is worth keeping."""
        self._introduce(clause.text)
        if clause.asked:
            return
        text = self._placed(clause.text)
        if text.startswith(("I ", "I'", "We ", "We'", "we ", "we'")):
            self._own(text, clause, sentence)
        elif text.startswith(("My ", "my ", "Our ", "our ")):
            self._possessed(text, clause, sentence)
        else:
            self._of_another(text, clause, sentence)

    # --- whom the clause is about

    def _introduce(self, text: str) -> None:
        """My sister Ines: somebody with a name."""
        if "y " not in text and "ur " not in text:
            return
        for match in p.KIN.finditer(text):
            name = match["name"].replace("\ue0ff", ".")
            if p.is_name(name) and not (match["link"] == " is" and match["which"].startswith("late")):
                self._relate(match["kin"], match["which"], name)
        for match in p.BARE_KIN.finditer(text):
            self.circle.meet(match["kin"], match["which"], "")

    def _relate(self, kin: str, which: str, name: str) -> None:
        known = self.circle.known.get(name)
        self.circle.meet(kin, which, name)
        if known is not None and known.kin == kin:
            self.found.mention(name, "person", self.turn)
            return
        title = f"{which}{kin}".strip()
        self.found.mention(name, "person", self.turn, f"{self.who.subject}'s {title}.", title if not self.who.name else "")
        self.found.bonds.append(Bond(source=self.subject, type=_upper(kin), target=name, turns=(self.turn,),
                                     single=kin in lx.ONE_AT_A_TIME))  # fmt: skip
        self._add(Claim(content=f"{name} is {self.who.inside}'s {title}.", turns=(self.turn,), subject=self.subject,
                        attribute=title, value=name.lower(), single=kin in lx.ONE_AT_A_TIME, about=(name,)), "")  # fmt: skip

    def _placed(self, text: str) -> str:
        """With the place that "there" means."""
        named = re.search(r"\b(?:to|in) ([A-Z][\w-]+(?: [A-Z][\w-]+)?)", text)
        if named and named[1].lower() not in lx.NOT_NAMES:
            self.place = named[1]
        elif self.place and (there := re.search(r"\b(?:lives?|lived|works?|stay\w*|moved) there\b", text)):
            text = f"{text[: there.end() - 5]}in {self.place}{text[there.end() :]}"
        return text

    # --- what is said of oneself

    def _own(self, text: str, clause: Clause, sentence: Sentence) -> None:
        text = re.sub(r"^(I have|I've got|I got|I've) this (?!week|month|year|morning)", r"\1 a ", text)
        said = parsed(_trimmed(self._resolved(text)))
        if said is None:
            return
        forward = _looks_ahead(said)
        dated = when(said.predicate, self.at, self.zone, forward=forward)
        if not is_worth(said, dated.sure) or (is_vague(said.rest) and said.verb != "be"):
            return
        tense = _tense(said, dated.since, self.at)
        subject = self.who.subject if said.head == "I" else self.who.subject
        predicate = dated.text
        if said.head == "we":
            predicate = _alone(predicate)
        facet = f.facet(said)
        if (facet.attribute == "former home"):
            tense = Tense.PAST
        base = Claim(
            content="", turns=(self.turn,), certainty=_certainty(said, clause), tense=tense,
            since=dated.since if tense is not Tense.CURRENT or _from(said) else None,
            until=dated.until if tense is Tense.FUTURE else None, subject=self.subject,
        )  # fmt: skip
        self._state(base, f"{subject} {predicate}", facet, said, clause, sentence)

    def _state(self, base: Claim, content: str, facet: f.Facet, said: Said, clause: Clause, sentence: Sentence) -> None:
        if facet.attribute == "likes" and (items := _items(said)):
            for liked, denies, words in items:
                verb = _negated_verb(content, said, words) if denies != facet.denies else content.replace(said_object(said), words)
                self._finish(replace(base, content=verb), facet._replace(value=f.value(liked), denies=denies), clause, sentence)
            return
        self._finish(replace(base, content=content), facet, clause, sentence)
        if said.verb in ("move", "relocate") and facet.attribute == "home":
            self._moved(base, said, sentence)

    def _moved(self, base: Claim, said: Said, sentence: Sentence) -> None:
        """Whoever moved from somewhere lived there before."""
        if found := re.search(r"\bfrom ([A-Z][\w-]+(?: [A-Z][\w-]+)?)", said.rest):
            old = found[1]
            self.found.mention(old, "place", self.turn)
            self._add(replace(base, content=f"{self.who.subject} lived in {old}.", tense=Tense.PAST, since=None,
                              until=base.since, attribute="former home", value=old.lower(), about=(old,)), "")  # fmt: skip

    def _finish(self, claim: Claim, facet: f.Facet, clause: Clause, sentence: Sentence) -> None:
        about: tuple[str, ...] = ()
        if facet.named and "\ue000" > facet.named[0]:
            about = (facet.named,)
            self.found.mention(facet.named, facet.named_type, self.turn)
            if facet.bond and not claim.certainty == "uncertain" and claim.tense is not Tense.FUTURE:
                self.found.bonds.append(Bond(
                    source=claim.subject, type=_upper(facet.bond), target=facet.named, turns=(self.turn,), since=claim.since,
                    single=facet.single, ended=facet.ended, certainty=claim.certainty))  # fmt: skip
        content = sentence.unmasked(claim.content).strip(" ,")
        for name in self.found.mentions.values():
            if name.name in content and name.name not in about and name.name != claim.subject:
                about = (*about, name.name)
        self._add(replace(
            claim, content=_ended(content), attribute=facet.attribute, value=sentence.unmasked(facet.value), single=facet.single,
            denies=facet.denies or claim.denies, preference=facet.preference, about=about[:8],
            corrects=clause.corrects and bool(facet.attribute)), clause.text)  # fmt: skip

    # --- what is said of what is one's own, and of others

    def _possessed(self, text: str, clause: Clause, sentence: Sentence) -> None:
        """My budget is…, my sister lives…, my wife and I went…"""
        joint = re.match(r"([Mm]y|[Oo]ur) ([a-z -]{2,40}?)(?: ([A-Z][\w-]+))? and I\b(?! both\b)?\s*(.+)", text)
        if joint:
            self._own(f"We {joint[4]}", clause, sentence)
            return
        words = text.split(" ")
        at = next((i for i, word in enumerate(words[2:12], start=2) if is_finite(word.lower().rstrip(","))), 0)
        if contracted := re.match(r"[\w-]+ (?:[\w-]+ ){0,4}?[\w-]+('s) (?=(?:on|in|a|an|the|called|named|at|my|not|\d))", text):
            at = len(text[: contracted.start(1)].split(" "))
            text = f"{text[: contracted.start(1)]} is{text[contracted.end(1) :]}"
            words = text.split(" ")
        if not at and words[1].lower() in lx.PEOPLE and len(words) > 2:
            at = 2
        if not at or at + 1 > len(words) - 1 or _IDLE_NOUN.match(" ".join(words[1:at])):
            return
        kin = p.BARE_KIN.match(text)
        if kin and kin.end() <= len(" ".join(words[:at])) and "'s" not in " ".join(words[1:at]):
            met = self.circle.known.get(kin["kin"].lower())
            if met:
                self._third(met, " ".join(words[at:]), clause, sentence)
                return
        self._noun(" ".join(words[1:at]), words[at], " ".join(words[at + 1 :]), clause, sentence)

    def _noun(self, noun: str, verb: str, rest: str, clause: Clause, sentence: Sentence) -> None:
        rest = _trimmed(rest)
        if not rest or lx.EMPTY_TALK.search(rest) or rest.split(" ")[0].lower() in ("that", "what", "how", "to"):
            return
        past = is_past(verb.lower())
        birthday = re.search(r"\b(?:birthday|anniversary)\b", noun)
        dated = when(f"{verb} {retold(rest)}", self.at, self.zone, forward=not past)
        text = f"{verb} {retold(rest)}" if birthday else dated.text
        future = dated.since is not None and dated.since > self.at and not past and not birthday
        tense = Tense.PAST if past else Tense.FUTURE if future else Tense.CURRENT
        facet = f.NONE
        if verb.lower() in ("is", "are", "isn't", "aren't") and not past:
            head = re.split(r" (?:for|of|in|at|with|on|to) ", noun.lower())[0].split(" ")[-1]
            favourite = re.match(r"(?:all-time )?favou?rite ", noun.lower()) is not None
            single = head in lx.SINGLE or favourite
            denies = verb.lower().endswith("n't") or rest.lower().startswith("not ")
            facet = f.Facet(retold(noun).lower().replace("favorite", "favourite"), f.value(rest), single, denies, favourite)
        elif verb.lower() == "weighs":
            facet = f.Facet(f"{noun.lower()} weight", f.value(rest), True)
        claim = Claim(
            content=f"{self.who.subject}'s {retold(noun)} {text}", turns=(self.turn,), tense=tense, subject=self.subject,
            certainty="uncertain" if clause.doubtful else "explicit",
            since=dated.since if tense is not Tense.CURRENT else None,
            until=dated.until if tense is Tense.FUTURE else None)  # fmt: skip
        self._finish(claim, facet, clause, sentence)

    def _of_another(self, text: str, clause: Clause, sentence: Sentence) -> None:
        if found := p.IS_KIN.match(text):
            name = found["name"].replace("\ue0ff", ".")
            if found["verb"] in ("is", "was") and p.is_name(name):
                self._relate(found["kin"], found["which"], name)
            elif p.is_name(name):
                self.circle.meet("", "", name)
                self._add(Claim(content=f"{name} is not {self.who.inside}'s {found['which']}{found['kin']}.",
                                turns=(self.turn,), subject=self.subject, attribute=found["kin"], value=name.lower(),
                                denies=True, about=(name,)), clause.text)  # fmt: skip
            return
        if found := re.match(r"(?P<who>[Ss]he|[Hh]e)(?P<is>'s)? (?P<rest>.+)", text):
            met = self.circle.meant(found["who"])
            if met and (mine := re.match(rf"(?:is )?(?:my|our) (?P<which>(?:\w+ )?)(?P<kin>{lx.RELATION})\b", found["rest"])):
                if met.name:
                    self._relate(mine["kin"], mine["which"], met.name)
                return
            if met:
                self._third(met, f"is {found['rest']}" if found["is"] else found["rest"], clause, sentence)
            return
        if found := re.match(r"(?P<who>[Hh]er|[Hh]is) name(?:'s| is) (?:spelled |spelt )?(?P<name>[A-Z][\w-]+)", text):
            met = self.circle.meant(found["who"])
            if met and met.kin and not met.name:
                self._relate(met.kin, "", found["name"])
            return
        if found := re.match(r"(?P<who>[Hh]is|[Hh]er) (?P<what>[\w -]{2,40}?) (?P<rest>(?:is|are|was|were) .+)", text):
            met = self.circle.meant(found["who"])
            if met and not is_vague(found["rest"]):
                claim = Claim(content=f"{met.phrase}'s {found['what']} {retold(found['rest'])}", turns=(self.turn,),
                              subject=met.name or self.subject)  # fmt: skip
                head = found["what"].lower()
                facet = f.Facet(head, f.value(found["rest"].split(" ", 1)[1]), head in lx.SINGLE) if met.name else f.NONE
                self._finish(claim, facet, clause, sentence)
            return
        self._named_or_dated(text, clause, sentence)

    def _named_or_dated(self, text: str, clause: Clause, sentence: Sentence) -> None:
        if found := _NAMED.match(text):
            name = found["name"]
            if p.is_name(name) and (name in self.circle.known or _PERSONAL.match(found["rest"])):
                met = self.circle.known.get(name) or self.circle.meet("", "", name)
                self.found.mention(name, "person", self.turn)
                self._third(met._replace(phrase=f"{name}{found['from'] or ''}") if found["from"] else met,
                            found["rest"], clause, sentence)  # fmt: skip
                return
        if _HAPPENING.match(text):
            dated = when(retold(_trimmed(text)), self.at, self.zone, forward=True)
            if dated.since is not None and dated.since > self.at and not lx.EMPTY_TALK.search(text):
                claim = Claim(content=dated.text[0].upper() + dated.text[1:], turns=(self.turn,), tense=Tense.FUTURE,
                              since=dated.since, until=dated.until, subject=self.subject)  # fmt: skip
                self._finish(claim, f.Facet("plans", f.value(text)), clause, sentence)

    def _third(self, met: p.Acquaintance, predicate: str, clause: Clause, sentence: Sentence) -> None:
        predicate = _trimmed(predicate)
        words = predicate.split(" ")
        if len(words) < 2 or lx.EMPTY_TALK.search(predicate) or words[1].lower() in ("that", "it", "so"):
            return
        if re.match(r"(?:would|could|might|should|may|said|says|told|thinks|asked|wants me|suggested|recommended)\b", predicate):
            return
        if re.match(r"is (?:my|our) |(?:is |'s )?(?:called|named) ", predicate) or predicate in (f"is {met.name}",):
            return
        first = words[0].lower()
        base = {"is": "am", "are": "am", "has": "have", "doesn't": "don't", "hasn't": "haven't", "isn't": "aren't",
                "does": "do"}.get(first) or S_FORM.get(first, first)  # fmt: skip
        said = parsed(" ".join(("we", base, *words[1:])))
        if said is None:
            return
        dated = when(retold(predicate), self.at, self.zone, forward=_looks_ahead(said))
        tense = _tense(said, dated.since, self.at)
        facet = f.facet(said)
        subject = met.name or self.subject
        if not met.name:
            facet = facet._replace(attribute=f"{met.kin}'s {facet.attribute}" if facet.attribute else "", bond="",
                                   preference=False, single=facet.single and met.kin in lx.ONE_AT_A_TIME)  # fmt: skip
        claim = Claim(
            content=f"{met.phrase} {dated.text}", turns=(self.turn,), subject=subject, tense=tense,
            certainty="uncertain" if clause.doubtful else "explicit", since=dated.since if tense is not Tense.CURRENT else None,
            until=dated.until if tense is Tense.FUTURE else None, denies=said.negated)  # fmt: skip
        self._finish(claim, facet._replace(preference=False), clause, sentence)

    def _resolved(self, text: str) -> str:
        """With him and her as whom they are."""
        found = re.search(r"\b(him|her)\b(?! own)", text)
        met = self.circle.meant(found[1]) if found else None
        if found is None or met is None or met.kin and re.search(rf"\b{met.kin}\b", text[: found.start()]):
            return text
        possessive = found[1] == "her" and re.match(r" [a-z]+(?:\s|$)(?!a |an )", text[found.end() :]) is not None
        whom = met.name or f"my {met.kin}"
        follow = text[found.end() :]
        if possessive and not re.match(r" (?:an?|the|to|for|in|on|at|and|with|last|next|this|some)\b", follow):
            whom = f"{whom}'s"
        return f"{text[: found.start()]}{whom}{follow}"

    def _add(self, claim: Claim, source: str) -> None:
        if len(self.found.claims) >= CLAIMS_LIMIT or not 8 < len(claim.content) <= CONTENT_LIMIT:
            return
        if any(known.content == claim.content for known in self.found.claims[-40:]):
            return
        self.found.claims.append(claim)
        if source:
            self.told.append((source, claim))


_NAMED = re.compile(r"(?P<name>[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?P<from> from [a-z]+)? (?P<rest>(?:is|isn't|was|has|can't|cannot|"
                    r"doesn't|lives|works|loves|likes|hates|wants|plays|studies|moved|got|bought|turns|turned|eats|prefers|"
                    r"enjoys|can|never|used|owns|teaches|speaks|just)\b.+)")  # fmt: skip
_PERSONAL = re.compile(r"(?:is (?:vegan|vegetarian|allergic|pregnant|married|engaged|the one who|coming over|my|our|a "
                       r"(?:vegan|vegetarian|nurse|teacher|doctor))|can't (?:have|eat|drink|stand|come)|doesn't (?:eat|drink|"
                       r"like)|(?:lives|works|hates|loves|likes|prefers) |turns \d|turned \d)")  # fmt: skip
_HAPPENING = re.compile(r"(?:[Tt]he|[Aa]n?) [\w' -]{2,60}? (?:is|are|starts?|begins?|takes place|comes?|arrives?|opens?|ends?|"
                        r"leaves?|will)\b")  # fmt: skip
_IDLE_NOUN = re.compile(r"(?:\w+ )?(?:understanding|guess|question|questions|point|bad|apologies|thanks|hope|idea|thing|opinion|"
                        r"goodness|god|mind|pleasure|thought|thoughts|issue with|concern is|take|assumption|bet|only "
                        r"concern|main concern|impression|suggestion|request|code|text|prompt|character|problem|story)\b",
                        re.IGNORECASE)  # fmt: skip
_TRIM = re.compile(
    r"(?:,? (?:so|and so) (?:no|the|still|please|now|train|any|there|gardening|it|explain|not|far so)\b.*|, so .*|"
    r",? (?:and|but) (?:it|that|they|there|the people|honestly|only now|maybe|their|this|these|those|you|please|now|"
    r"then)(?:'s|'ve)?\b .*|, (?:it|that|they|there|these|you|please|maybe|best|first time|by the way|though|ugh|right|"
    r"actually|honestly|thanks|which|just me|if)\b.*| by the way| lol| haha| though| anyway| ugh| pls| please| basically|"
    r" too| either| as well| :\)| :D| ;\))+$",
    re.IGNORECASE,
)


def _trimmed(text: str) -> str:
    """Without what was only added: ", best decision ever", lol."""
    for _ in range(3):
        shorter = _TRIM.sub("", text).rstrip(" ,.!")
        if shorter == text:
            break
        text = shorter
    return text


def _alone(predicate: str) -> str:
    """What "we" do, said of one: "we have" is "has"."""
    first, _, rest = predicate.partition(" ")
    from recollect.mine.rules.verbs import BASE, third

    plural = {"are": "is", "were": "was", "have": "has", "do": "does"}
    word = plural.get(first) or (third(first) if first in BASE and not is_past(first) else first)
    return f"{word} {rest}"


def _looks_ahead(said: Said) -> bool:
    if said.verb in ("book", "schedule", "reserve", "plan", "register"):
        return True
    return not (said.form in ("past", "participle") or said.aux in ("was", "had", "did", "have", "used"))


def _tense(said: Said, since: datetime | None, now: datetime) -> Tense:
    if said.aux in ("will", "going", "might", "may") or (said.verb == "plan" and said.form in ("ing", "base")):
        return Tense.FUTURE
    if said.verb in ("think", "consider", "hope", "intend") and said.form in ("ing", "base"):
        return Tense.FUTURE
    ahead = since is not None and since > now
    if said.form == "past" or said.aux in ("was", "had", "did", "used"):
        return Tense.FUTURE if ahead and said.verb in ("book", "schedule", "reserve", "register") else Tense.PAST
    if said.aux == "have" and said.form == "participle":
        lasting = said.verb in ("be", "have", "live", "work", "know", "love", "own", "get") or "always" in said.adverbs
        return Tense.CURRENT if lasting or " since " in f" {said.rest}" or said.negated else Tense.PAST
    return Tense.FUTURE if ahead else Tense.CURRENT


def _from(said: Said) -> bool:
    """Whether a time said of what is so now is when it began."""
    return "since " in said.rest or said.verb in ("move", "start")


def _certainty(said: Said, clause: Clause) -> Certainty:
    if clause.doubtful or said.aux in ("might", "may") or "probably" in said.adverbs:
        return "uncertain"
    return "implied" if said.verb in ("think", "consider") or said.aux == "would" else "explicit"


def _ended(content: str) -> str:
    return content if content.endswith((".", "!", "…")) else f"{content}."


def _upper(word: str) -> str:
    return re.sub(r"\W+", "_", word).upper()


def said_object(said: Said) -> str:
    return retold(said.rest)


_BUT_NOT = re.compile(r"^(?P<yes>.+?),? but (?:not|never) (?P<no>.+)$")


def _items(said: Said) -> list[tuple[str, bool, str]]:
    """The things liked, each with whether it is denied: tea but not coffee; sushi, ramen and curry."""
    rest = said.rest
    denied = said.negated != (said.verb in f.DISLIKES)
    if found := _BUT_NOT.match(rest):
        return [(found["yes"], denied, found["yes"]), (found["no"], not denied, found["no"])]
    parts = re.split(r", and |, or |, | and | or ", rest)
    if 1 < len(parts) <= 5 and all(0 < len(part.split(" ")) <= 3 for part in parts) and not re.search(r"\b(?:to|the|my|at)\b", rest):
        return [(part, denied, part) for part in parts]
    return []


def _negated_verb(content: str, said: Said, words: str) -> str:
    """The other way round: likes tea, does not like coffee."""
    subject = content.split(" ")[:2] if content.startswith("The user") else content.split(" ")[:1]
    if said.negated:
        return f"{' '.join(subject)} {said.verb}s {words}"
    return f"{' '.join(subject)} does not {said.verb} {words}"
