"""What mined claims are worth. Pure: from what was to be known and what was mined to verdicts and figures.

A claim is right when it has the telling words of something expected of its kind, says it the same way
round, of the same time, with no other day, and asks nothing. One that repeats another word for word is
not counted, nor is one that is right but of another kind: it is reported as misfiled. Anything else is
wrong.
"""

import re
import unicodedata
from calendar import month_name
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal

from recollect.bench.mining.labelled import Exchange, Expected
from recollect.bench.quality.score import interval
from recollect.mine.extracted import Claim
from recollect.model.records import MEMORY_KINDS
from recollect.text.analyse import terms, words

SHORT = 3
"""So short, letters have to be a whole word: "son" is not in "person", nor at the beginning of "song"."""

Outcome = Literal["right", "wrong", "misfiled", "repeated"]

_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|neither|nobody|nothing|without|cannot|cant|stopped|quit|gave up|ended|left"
    r"|hates?|dislikes?|avoids?|refuses?|isnt|arent|wasnt|werent|doesnt|dont|didnt|hasnt|havent|wont)\b|n't\b"
)
_MONTHS = [name.casefold() for name in month_name[1:]]
_ISO = re.compile(r"\b(\d{4}-\d\d(?:-\d\d)?)\b")
_WRITTEN = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?({'|'.join(_MONTHS)})(?: (\d{{1,2}})(?:st|nd|rd|th)?\b)?"
    r"(?:,? (\d{4}))?\b"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim and what it is worth: which of the expected it says, or why it is wrong."""

    claim: Claim
    outcome: Outcome
    says: tuple[int, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    exchange: Exchange
    verdicts: tuple[Verdict, ...]

    @property
    def found(self) -> set[int]:
        return {place for one in self.verdicts if one.outcome == "right" for place in one.says}


def judge(exchange: Exchange, claims: Sequence[Claim]) -> Judged:
    """Each claim's verdict."""
    said: set[tuple[str, ...]] = set()
    verdicts: list[Verdict] = []
    for claim in claims:
        key = (claim.kind, *words(claim.content))
        corrected = any(other.corrects for other in claims if other is not claim)
        one = Verdict(claim, "repeated") if key in said else _verdict(exchange, claim, corrected)
        said.add(key)
        verdicts.append(one)
    return Judged(exchange, tuple(verdicts))


def _verdict(exchange: Exchange, claim: Claim, corrected: bool) -> Verdict:
    meant = {
        place: expected for place, expected in enumerate(exchange.facts) if says(expected, claim.content)
    }
    if why := _falsehood(exchange, meant.values(), claim, corrected):
        return Verdict(claim, "wrong", why=why)
    reasons = {place: _objection(exchange, expected, claim) for place, expected in meant.items()}
    right = [place for place, reason in reasons.items() if not reason]
    of_kind = tuple(place for place in right if exchange.facts[place].kind == claim.kind)
    if of_kind:
        return Verdict(claim, "right", of_kind)
    if right:
        return Verdict(claim, "misfiled", tuple(right))
    return Verdict(claim, "wrong", why=next(iter(reasons.values()), "not said"))


def _falsehood(exchange: Exchange, meant: Iterable[Expected], claim: Claim, corrected: bool) -> str:
    """What makes a claim wrong whatever else it says; empty if nothing does."""
    if "?" in claim.content:
        return "a question"
    days = days_of(claim, exchange.at)
    for expected in meant:
        if expected.retracted and not corrected:
            return "taken back"
        if expected.day and days and not _meets(expected.day, days):
            return f"{', '.join(sorted(days))}, not {expected.day}"
    return ""


def _objection(exchange: Exchange, expected: Expected, claim: Claim) -> str:
    """Why a claim that has the words does not say it; empty if it does."""
    if _is_opposite(expected, claim):
        return "the opposite"
    if expected.day and days_of(claim, exchange.at):  # which says as well whether it is past or to come
        return ""
    if expected.tense and claim.kind == "fact" and claim.tense != expected.tense:
        return f"{claim.tense}, not {expected.tense}"
    return ""


def says(expected: Expected, content: str) -> bool:
    """Whether the telling words are there, and none that make it false."""
    text = _folded(content)
    stems = frozenset(terms(content))
    return all(any(_occurs(word, text, stems) for word in group) for group in expected.needs) and not any(
        _occurs(word, text, stems) for word in expected.excludes
    )


def _occurs(word: str, text: str, stems: frozenset[str]) -> bool:
    """At the beginning of a word, or as its stem. Numbers and short words have to be whole."""
    return bool(_pattern(word).search(text)) or (" " not in word and stems.issuperset(terms(word)))


@cache
def _pattern(word: str) -> re.Pattern[str]:
    folded = _folded(word)
    if folded[-1].isdigit():
        return re.compile(rf"(?<![\w.,]){re.escape(folded)}(?![.,]?\d)")
    return re.compile(rf"\b{re.escape(folded)}" + (r"\b" if len(folded) <= SHORT else ""))


@cache
def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.replace("\u2019", "'"))
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def _is_opposite(expected: Expected, claim: Claim) -> bool:
    """What denies has to read like it, flag or no flag; what does not deny must not be flagged."""
    if expected.denies is None:
        return False
    return not _NEGATION.search(_folded(claim.content)) if expected.denies else claim.denies


def days_of(claim: Claim, said: datetime) -> set[str]:
    """The days and months that a claim names, in ISO; the day on which it was said is none."""
    text = _folded(claim.content)
    found = set[str](_ISO.findall(text))
    for before, month, after, year in _WRITTEN.findall(text):
        number, day = _MONTHS.index(month) + 1, before or after
        if year:
            found.add(f"{year}-{number:02}" + (f"-{int(day):02}" if day else ""))
    limits = (claim.since, claim.until)
    found |= {f"{limit:%Y-%m-%d}" for limit in limits if limit and limit.date() != said.date()}
    return found


def _meets(day: str, days: Iterable[str]) -> bool:
    return any(found.startswith(day) or day.startswith(found) for found in days)


# Figures


def figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """Precision and recall of facts, of the other kinds beside them, and of each category."""
    categories = sorted({one.exchange.category for one in judged})
    return {
        "exchanges": len(judged),
        "turns": sum(len(one.exchange.turns) for one in judged),
        **of_kind("fact", judged),
        "interval": _intervals(judged),
        "days": _days(judged),
        "traps": _traps(judged),
        "kinds": {kind: of_kind(kind, judged) for kind in MEMORY_KINDS if kind != "fact"},
        "by_category": {
            name: {"exchanges": len(some), **of_kind("fact", some)}
            for name in categories
            for some in ([one for one in judged if one.exchange.category == name],)
        },
    }


def of_kind(kind: str, judged: Iterable[Judged]) -> dict[str, Any]:
    """Of claims of a kind how many are right; of what is expected and not optional how much is found."""
    claims = right = misfiled = wanted = found = 0
    for one in judged:
        outcomes = [verdict.outcome for verdict in one.verdicts if verdict.claim.kind == kind]
        right += outcomes.count("right")
        misfiled += outcomes.count("misfiled")
        claims += outcomes.count("right") + outcomes.count("wrong")
        places = {p for p, fact in enumerate(one.exchange.facts) if fact.kind == kind and not fact.optional}
        wanted += len(places)
        found += len(places & one.found)
    return {
        "claims": claims,
        "right": right,
        "precision": round(right / claims, 4) if claims else None,
        "wanted": wanted,
        "found": found,
        "recall": round(found / wanted, 4) if wanted else None,
        "misfiled": misfiled,
    }


def _intervals(judged: Sequence[Judged]) -> dict[str, tuple[float, float] | None]:
    """Between which values 95 of 100 such sets would lie."""
    facts = [one for each in judged for one in each.verdicts if one.claim.kind == "fact"]
    right = [float(one.outcome == "right") for one in facts if one.outcome in ("right", "wrong")]
    found = [
        float(place in one.found)
        for one in judged
        for place, fact in enumerate(one.exchange.facts)
        if fact.kind == "fact" and not fact.optional
    ]
    return {"precision": interval(right), "recall": interval(found)}


def _days(judged: Iterable[Judged]) -> dict[str, int]:
    """Of the facts found whose day can be worked out, how many have it."""
    found = resolved = 0
    for one in judged:
        for place in one.found:
            if day := one.exchange.facts[place].day:
                claims = [verdict.claim for verdict in one.verdicts if place in verdict.says]
                found += 1
                resolved += any(_has_day(day, claim, one.exchange.at) for claim in claims)
    return {"found": found, "resolved": resolved}


def _has_day(day: str, claim: Claim, said: datetime) -> bool:
    named = any(found.startswith(day) for found in days_of(claim, said))
    return named or (said.date().isoformat() == day and claim.since is not None)


def _traps(judged: Iterable[Judged]) -> dict[str, Any]:
    traps = [one for one in judged if one.exchange.trap]
    fallen = [one.exchange for one in traps if any(_is_false(verdict) for verdict in one.verdicts)]
    named = [f"{exchange.id} {exchange.category}" for exchange in fallen]
    return {"exchanges": len(traps), "became_facts": len(fallen), "which": named}


def _is_false(verdict: Verdict) -> bool:
    return verdict.claim.kind == "fact" and verdict.outcome == "wrong"


def details(judged: Iterable[Judged]) -> dict[str, Any]:
    """What was mined wrongly and what was not found, with what was said."""
    wrong: list[dict[str, str]] = []
    missed: list[dict[str, str]] = []
    for one in judged:
        exchange = one.exchange
        where = {"id": exchange.id, "category": exchange.category}
        wrong += [
            where | {"kind": verdict.claim.kind, "claim": verdict.claim.content, "why": verdict.why}
            for verdict in one.verdicts
            if verdict.outcome == "wrong"
        ]
        said = " / ".join(turn.content for turn in exchange.turns if turn.role == "user")
        missed += [
            where | {"kind": fact.kind, "missed": fact.content, "said": said}
            for place, fact in enumerate(exchange.facts)
            if not fact.optional and place not in one.found
        ]
    return {"wrong": wrong, "missed": missed}
