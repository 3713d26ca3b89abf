"""From the first person to the third: what somebody said of themselves, as somebody else would say it."""

import re
from typing import NamedTuple

from recollect.mine.rules import verbs as v
from recollect.mine.rules.wordlist import listed


class Person(NamedTuple):
    """Who speaks; no name means the user."""

    name: str = ""

    @property
    def subject(self) -> str:
        return self.name or "The user"

    @property
    def inside(self) -> str:
        return self.name or "the user"


class Said(NamedTuple):
    """A clause that starts with "I" or "we", taken apart. What "we" do, the speaker does."""

    aux: str
    """The first helping verb, uncontracted: am, was, have, had, will, do, did, can, might…; or nothing."""
    negated: bool
    adverbs: tuple[str, ...]
    verb: str
    """The main verb's dictionary form."""
    form: str
    """base, ing, past or participle."""
    rest: str
    """What follows the main verb, in the first person."""
    predicate: str
    """Verb and rest in the third person."""


_HEAD = re.compile(r"(I|[Ww]e)(?:'(m|ve|d|ll|re|s))?\s+(?=\S)")
_CONTRACTED = {"m": "am", "ve": "have", "ll": "will", "re": "are", "s": "is"}
_AUX = listed(
    "am are was were have had will do did can could might may should must would been be going used need"
)
_NEGATIVE = {
    "don't": ("do", "does not"),
    "didn't": ("did", "did not"),
    "haven't": ("have", "has not"),
    "hadn't": ("had", "had not"),
    "wasn't": ("was", "was not"),
    "weren't": ("was", "was not"),
    "aren't": ("am", "is not"),
    "won't": ("will", "will not"),
    "can't": ("can", "cannot"),
    "couldn't": ("could", "could not"),
    "wouldn't": ("would", "would not"),
    "shouldn't": ("should", "should not"),
}
_ADVERBS = listed(
    "really just also always never still already recently currently actually usually often sometimes "
    "now finally absolutely definitely probably mostly mainly only even ever once soon basically "
    "totally truly rarely hardly barely generally typically originally previously initially regularly "
    "occasionally lately both all simply quite kinda pretty very so too frequently normally quickly "
    "later then almost nearly kind-of particularly especially not no longer thoroughly greatly much "
    "personally temporarily seriously literally officially rather"
)

_PRONOUN = re.compile(
    r"(?<![\w'])(?:(?<!War )(?<!Type )(?<!Phase )(?<!Part )(?<!Act )(?<!Level )(I|[Ww]e)(?:'(m|ve|d|ll|"
    r"re)| (am|was|were|"
    r"have|had|will))?|([Mm]y|[Oo]ur)|(me|us)|(mine|ours)|(myself|ourselves))(?![\w'-])"
)
_INNER = {
    "m": "they are",
    "re": "they are",
    "ve": "they have",
    "ll": "they will",
    "d": "they would",
    "am": "they are",
    "was": "they were",
    "were": "they were",
    "have": "they have",
    "had": "they had",
    "will": "they will",
}


_STATES = listed(
    "married engaged divorced separated widowed retired obsessed addicted hooked tired bored scared "
    "terrified "
    "worried concerned confused convinced impressed excited interested surprised stuck lost intrigued "
    "tempted "
    "used supposed pleased sold drawn given inclined"
)
"""Participles that say what somebody is, not what was done to them."""
_NO_VERBS = listed("the a an is and or of in on at to for from by with before after except until per versus")
"""After these "I" is a letter or a number: "I before E"."""
_NOT_ADVERBS = listed("family reply apply rely supply july italy fly jelly belly bully ally")


def is_adverb(word: str) -> bool:
    return word in _ADVERBS or (word.endswith("ly") and len(word) > 4 and word not in _NOT_ADVERBS)


def retold(text: str) -> str:
    """With the speaker as "they", for all but the subject."""
    return _PRONOUN.sub(_inner, text)


def _inner(match: re.Match[str]) -> str:
    if match[1]:
        return _INNER.get(match[2] or match[3] or "", "they")
    if match[4]:
        return "Their" if match[4][0].isupper() else "their"
    return "them" if match[5] else "theirs" if match[6] else "themselves"


def parsed(text: str) -> Said | None:
    """The parts of a clause that starts with "I" or "we"; None when it does not, or has no verb."""
    head = _HEAD.match(text)
    if head is None:
        return None
    return _Reader(head[2], text[head.end() :].split(" ")).read()


class _Reader:
    """Reads the helping verbs, then the verb."""

    def __init__(self, contracted: str | None, words: list[str]) -> None:
        self.words = words
        self.at = 0
        self.out: list[str] = []
        self.aux = ""
        self.negated = False
        self.adverbs: list[str] = []
        if contracted == "d":
            after = next((w for w in words if not is_adverb(w.lower())), "").lower()
            self._helped(
                "had" if after == "been" or (v.is_participle(after) and after not in v.BASE) else "would"
            )
        elif contracted:
            self._helped(_CONTRACTED[contracted])

    def read(self) -> Said | None:
        while self.at < len(self.words):
            word = self.words[self.at].lower().rstrip(",")
            if word in _NEGATIVE and not self.aux:
                self.aux, told = _NEGATIVE[word]
                self.out.append(told)
                self.negated = True
            elif is_adverb(word):
                self._adverb(word)
            elif word in _AUX and self._helps(word):
                self._helped(word)
            else:
                return self._main(word)
            self.at += 1
        return None

    def _adverb(self, word: str) -> None:
        self.negated = self.negated or word in ("not", "never") or (word == "longer" and "no" in self.adverbs)
        self.adverbs.append(word)
        self.out.append(self.words[self.at])

    def _next(self) -> str:
        for word in self.words[self.at + 1 :]:
            if not is_adverb(word.lower()):
                return word.lower().rstrip(",.")
        return ""

    def _helps(self, word: str) -> bool:
        """Whether it is a helping verb here: "have been", not "have a dog"."""
        after = self._next()
        match word:
            case "have" | "had":
                return v.is_participle(after) and after != "set"
            case "do" | "did":
                return after in v.BASE and not self.aux
            case "going" | "used":
                return after == "to" and (word == "going" or not self.aux) and self._after_to() in v.BASE
            case "need":
                return False
            case "am" | "are" | "was" | "were" | "been" | "be":
                return v.is_ing(after) or (v.is_participle(after) and after != "left")
            case _:
                return True

    def _after_to(self) -> str:
        rest = [word.lower().rstrip(",.") for word in self.words[self.at + 1 :]]
        at = rest.index("to") if "to" in rest else len(rest)
        return rest[at + 1] if at + 1 < len(rest) else ""

    def _helped(self, word: str) -> None:
        if self.aux:
            if word in ("going", "used"):
                self.aux = "going"
            self.out.append(word)
        else:
            self.aux = word if word not in ("are", "is") else "am"
            if word == "were":
                self.aux = "was"
            single = {"am": "is", "are": "is", "have": "has", "do": "does", "were": "was"}
            self.out.append(single.get(word, word))
        if word in ("going", "used"):  # with the "to" after it
            self.out.append("to")
            self.at += 1

    def _main(self, word: str) -> Said | None:
        written = self.words[self.at]
        rest = " ".join(self.words[self.at + 1 :])
        base, form = v.lemma(word), "base"
        if self.aux in ("am", "was") and (
            word in _STATES or "-" in word or not (v.is_ing(word) or v.is_participle(word))
        ):
            # "I'm a nurse": what was read as helping is the verb itself
            base, form, rest = "be", "base", " ".join(self.words[self.at :])
            predicate = " ".join(self.out)
            return self._said(base, form, rest, predicate)
        if v.is_ing(word) and self.aux in ("am", "was", "have", "had", "will", "going"):
            form = "ing"
        elif self.aux in ("have", "had", "am", "was") and v.is_participle(word):
            form, base = "participle", v.PARTICIPLE.get(word, base)
        elif (
            not self.aux
            and v.is_past(word)
            and word != "read"
            and not (word in v.BASE and word not in v.ALIKE)
        ):
            form = "past"
        elif not self.aux:
            if not word.replace("-", "").isalpha() or word in _NO_VERBS:
                return None
            written = written.rstrip(",")
            base = "be" if word in ("am", "are") else word
            written = v.third(written.lower())
        if base == "be" and rest.startswith(("not ", "never ", "no longer ")):
            self.negated = True
        if word == "were" and not self.aux:
            written = "was"
        return self._said(base, form, rest, " ".join((*self.out, written)))

    def _said(self, base: str, form: str, rest: str, predicate: str) -> Said:
        told = f"{predicate} {retold(rest)}".strip()
        return Said(self.aux, self.negated, tuple(self.adverbs), base, form, rest, told)
