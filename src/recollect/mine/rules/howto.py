"""How something is done: steps that somebody lists, or that an assistant gave and that worked."""

import re

from recollect.mine.extracted import Certainty, Claim
from recollect.mine.rules.found import CONTENT_LIMIT
from recollect.mine.rules.grammar import retold
from recollect.mine.rules.statements import TEXT_LIMIT
from recollect.mine.rules.verbs import BASE
from recollect.mine.rules.wordlist import listed

_I = re.IGNORECASE
_STEPS_LIMIT = 12
_STEP_LENGTH = 160
_STEP_LINE = re.compile(r"^\s{0,4}(?:step )?\d{1,2}[.):]\s+(?P<step>.+)$", _I | re.MULTILINE)
_MARKS = re.compile(r"[*_`#]+")
_INLINE = re.compile(
    r"(?:(?:great|ok|okay|so|nice|and|right|note to self|remember)[,:]? )*(?P<when>(?:for|to|"
    r"when(?:ever)?(?: you| we| i)?|if)\b[^,:.?!]{2,80}?"
    r")[:,] (?P<steps>[^?]{8,300})",
    _I,
)
_FIRST_THEN = re.compile(r"\bfirst\b.{3,200}?\b(?:then|next|after that|finally)\b|,? then\b", _I | re.DOTALL)
_HOW = re.compile(
    r"\b(?:how (?:do|can|should|would) (?:i|we|you)|how to|steps to|walk me through|what's the best way "
    r"to|the process of|"
    r"guide (?:me )?(?:to|through))(?: best| properly)? (?P<what>[^?.!\n]{3,80})",
    _I,
)
_IMPERATIVES = BASE | listed(
    "rinse scrub dry oil bump tag stop run open click press select enter install remove insert mix heat "
    "boil stir pour preheat turn set copy paste commit push pull merge restart reload update configure "
    "navigate log sign type save delete make put file name proof tighten loosen unplug plug rub wipe "
    "soak drain chop slice season fold whisk attach detach export import ensure gather measure cut sand "
    "apply download build test deploy start scroll tap choose go"
)
WORKED = re.compile(
    r"\b(?:that|it|this)(?: really| just| finally)? (?:worked|works|did the trick|did it|fixed it|solved "
    r"it|helped)\b|\bdid the "
    r"trick\b|\b(?:works|worked|fixed|solved) (?:now|perfectly|great|like a charm)\b|\bproblem solved\b|"
    r"\ball good now\b|"
    r"\bfrom now on\b|\bthat was it\b",
    _I,
)
FAILED = re.compile(
    r"\b(?:still|again) (?:fails?|failing|broken|doesn't work|not working|the same error|getting)\b|"
    r"\b(?:didn't|doesn't|does not|"
    r"did not) (?:work|help|fix)\b|\bno luck\b|\bgave up\b",
    _I,
)


def own_steps(text: str, turn: str, owner: str) -> Claim | None:
    """Steps that the user lays down: "For the release: bump the version first, then tag"."""
    text = text[:TEXT_LIMIT]
    if len(steps := _numbered(text)) >= 2 and (intro := _intro(text)):
        return _procedure(intro, steps, turn, "explicit", owner)
    for line in text.split("\n")[:8]:
        found = _INLINE.match(line)
        if found is None or re.match(
            r"(?:i|we|you|it|the|my|he|she|they|there|what|how|is|are|can|could|would)\b", found["steps"], _I
        ):
            continue
        first = re.sub(r"\W.*", "", re.sub(r"^(?:always|please|just|never) ", "", found["steps"].lower()))
        several = _FIRST_THEN.search(found["steps"]) or " and " in found["steps"]
        if (
            first in _IMPERATIVES
            and several
            and not re.match(r"(?:for (?:example|instance|context)|if i|to be)\b", found["when"], _I)
        ):
            steps = [
                part.strip(" ,.")
                for part in re.split(
                    r",? (?:and )?then |,? and (?=[a-z]+ )|; ", found["steps"].split(". ")[0]
                )
            ]
            return _procedure(found["when"], steps[:_STEPS_LIMIT], turn, "explicit", owner)
    return None


def answered_steps(
    question: str, answer: str, turns: tuple[str, str], owner: str, worked: bool
) -> Claim | None:
    """Steps that an assistant gave when asked how; without numbers only if the user says that it worked."""
    asked = _HOW.search(question, 0, TEXT_LIMIT)
    if asked is None:
        return None
    what = re.sub(r"\s+(?:again|properly|please)$", "", asked["what"].strip(" ,."))
    steps = _numbered(answer[:TEXT_LIMIT])
    if not all(re.sub(r"\W.*", "", step.lower()) in _IMPERATIVES for step in steps):
        steps = []
    certainty: Certainty = "implied" if worked else "inferred"
    if len(steps) < 3:
        if not worked or len(answer) > CONTENT_LIMIT or "?" in answer:
            return None
        steps = [
            part.strip(" ,.") for part in re.split(r", (?:and )?|(?<=\w) and (?=[a-z]+ )|\. ", answer.strip())
        ]
        if re.sub(r"\W.*", "", steps[0].lower()) not in _IMPERATIVES:
            return None
    return _procedure(f"to {what}", steps, turns[1], certainty, owner)


def _numbered(text: str) -> list[str]:
    steps = [_MARKS.sub("", found["step"]).strip(" .:") for found in _STEP_LINE.finditer(text)][:_STEPS_LIMIT]
    return steps if all(2 < len(step) <= _STEP_LENGTH for step in steps) else []


def _intro(text: str) -> str:
    """What the steps are for, said before them."""
    found = re.search(r"\b(?P<when>(?:to|for|how (?:i|we|to)|when(?:ever)?) [^.:?!\n]{3,80}):\s*\n", text, _I)
    return found["when"] if found else ""


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
