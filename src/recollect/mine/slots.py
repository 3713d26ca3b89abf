"""What a memory answers, so that two that answer the same can be told."""

import hashlib
import re

from recollect.mine.extracted import Claim
from recollect.model.records import MemoryRecord, Tense, mined
from recollect.text.analyse import terms
from recollect.text.names import folded

LONGEST = 200
"""The most characters of a slot that is kept as it is; a longer one is hashed."""
SHARED = 0.6
"""The share of all their words that two contents have in common when they say the same in other words."""
_REVIEW = "|review"
_NUMBER = re.compile(r"\d[\d.,:/-]*")
_NAME = re.compile(r"(?<=[\w,] )[^\W\d_a-z]\w+")
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|nor|cannot)\b|n['’]t\b", re.IGNORECASE)


def slot_of(claim: Claim) -> str:
    """Where the claim belongs. What was or will be answers nothing about today, so it stands for itself."""
    if not claim.attribute or claim.tense is not Tense.CURRENT:
        return own_slot(claim.content)
    return _kept("|".join((*_question(claim), *(() if claim.single else (folded(claim.value),)))))


def value_slot(claim: Claim) -> str:
    """The slot of this one value, beside those of others."""
    return _kept("|".join((*_question(claim), folded(claim.value), "denied" if claim.denies else "")))


def review_slot(claim: Claim) -> str:
    """The slot of what contradicts the memory in force and waits for somebody to look at it."""
    question = (*_question(claim), *(() if claim.single else (folded(claim.value),)))
    return _kept("|".join(question)) + _REVIEW


def is_for_review(slot: str | None) -> bool:
    """Whether a slot may be one of those; what is in it says so for certain."""
    return slot is not None and slot.endswith(_REVIEW)


def own_slot(content: str) -> str:
    """The slot of a content that nothing contradicts but itself."""
    return "=" + hashlib.sha256(folded(content).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _question(claim: Claim) -> tuple[str, str]:
    return folded(claim.subject), folded(claim.attribute)


def _kept(slot: str) -> str:
    return slot if len(slot) <= LONGEST else own_slot(slot)


def says_the_same(memory: MemoryRecord, claim: Claim) -> bool:
    """Whether a memory of the claim's slot says what the claim says."""
    value: object = mined(memory).get("value")
    if claim.attribute and isinstance(value, str):
        same_side = bool(mined(memory).get("denies")) == claim.denies
        return same_side and folded(value) == folded(claim.value)
    return folded(memory.content) == folded(claim.content)


def same_value(memory: MemoryRecord, claim: Claim) -> bool:
    """Whether the memory is about the claim's value; one that names none may be about any."""
    value: object = mined(memory).get("value")
    return not claim.value or not isinstance(value, str) or folded(value) == folded(claim.value)


def rewords(one: str, other: str) -> bool:
    """Whether two contents that resemble each other differ in words alone: not in a number, a name or a
    negation, by which the most similar sentences say the opposite."""
    for telling in (_NUMBER, _NAME):
        if {*telling.findall(one)} != {*telling.findall(other)}:
            return False
    if bool(_NEGATION.search(one)) != bool(_NEGATION.search(other)):
        return False
    first, second = {*terms(one)}, {*terms(other)}
    return len(first & second) >= SHARED * len(first | second)
