"""How something is done: steps that a user lays down or tells of, or that an assistant gave."""

import re

from recollect.mine.extracted import Certainty, Claim
from recollect.mine.rules.found import CONTENT_LIMIT
from recollect.mine.rules.grammar import retold
from recollect.mine.rules.sequences import IMPERATIVES, all_acts, first_word, inline_steps, listed_steps
from recollect.mine.rules.statements import TEXT_LIMIT

_I = re.IGNORECASE
_STEPS_LIMIT = 12
_HOW = re.compile(
    r"\b(?:how (?:do|can|should|would|did) (?:i|we|you)|how to|steps? (?:to|for)|walk me through|what's "
    r"the (?:best|right|"
    r"proper|correct) way (?:to|of)|what is the (?:best|right|proper|correct) way (?:to|of)|the process "
    r"(?:of|for)|"
    r"guide (?:me )?(?:to|through)|show me how to|teach me (?:how )?to|instructions (?:for|to))(?: best| "
    r"properly)? "
    r"(?P<what>[^?.!\n]{3,80})",
    _I,
)
WORKED = re.compile(
    r"\b(?:that|it|this)(?: really| just| finally)? (?:worked|works|did the trick|did it|fixed it|solved "
    r"it|helped)\b|\bdid the "
    r"trick\b|\b(?:works|worked|fixed|solved) (?:now|perfectly|great|like a charm)\b|\bproblem solved\b|"
    r"\ball good now\b|"
    r"\bfrom now on\b|\bthat was it\b",
    _I,
)
_FORBIDS = re.compile(r"\b(?:never|not|avoid|without)\b|n't\b", _I)
"""Cut at commas, such an answer may say the opposite."""
FAILED = re.compile(
    r"\b(?:still|again) (?:fails?|failing|broken|doesn't work|not working|the same error|getting)\b|"
    r"\b(?:didn't|doesn't|does not|"
    r"did not) (?:work|help|fix)\b|\bno luck\b|\bgave up\b",
    _I,
)


def own_steps(text: str, turn: str, owner: str) -> Claim | None:
    """Steps that the user lays down: "For the release: bump the version first, then tag"."""
    text = text[:TEXT_LIMIT].replace("’", "'")
    found = listed_steps(text) or inline_steps(text)
    return _procedure(found.context, list(found.steps), turn, "explicit", owner) if found else None


def answered_steps(
    question: str, answer: str, turns: tuple[str, str], owner: str, worked: bool
) -> Claim | None:
    """Steps that an assistant gave when asked how; without numbers only if the user says that it worked."""
    asked = _HOW.search(question, 0, TEXT_LIMIT)
    if asked is None:
        return None
    what = re.sub(r"\s+(?:again|properly|please)$", "", asked["what"].strip(" ,."))
    found = listed_steps(f"to {what}:\n{answer[:TEXT_LIMIT]}", plain=True)
    steps = list(found.steps) if found else []
    if not all_acts(steps):
        steps = []
    certainty: Certainty = "implied" if worked else "inferred"
    if len(steps) < 3:
        if not worked or len(answer) > CONTENT_LIMIT or "?" in answer or _FORBIDS.search(answer):
            return None
        steps = [
            part.strip(" ,.") for part in re.split(r", (?:and )?|(?<=\w) and (?=[a-z]+ )|\. ", answer.strip())
        ]
        if first_word(steps[0]) not in IMPERATIVES:
            return None
    return _procedure(f"to {what}", steps, turns[1], certainty, owner)


def _procedure(context: str, steps: list[str], turn: str, certainty: Certainty, owner: str) -> Claim | None:
    context = re.sub(r"^(?:when(?:ever)? (?:you|we|i) |how (?:i|we|to) )", "to ", context.strip(), flags=_I)
    context = _owned(context, owner)
    steps = [_owned(step, owner) for step in steps if step][:_STEPS_LIMIT]
    content = f"{context[0].upper()}{context[1:]}: {'; '.join(steps)}."
    if len(content) > CONTENT_LIMIT or not steps:
        return None
    return Claim(
        content=content,
        turns=(turn,),
        kind="procedure",
        certainty=certainty,
        subject="",
        fields={"context": context, "steps": tuple(steps)},
    )


def _owned(text: str, owner: str) -> str:
    return retold(re.sub(r"\b(?:my|our|your)\b", f"{owner}'s", text, count=1))
