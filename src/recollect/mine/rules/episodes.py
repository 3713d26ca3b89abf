"""A task from the request to its outcome, where a window shows both."""

import re
from collections.abc import Sequence

from recollect.mine.extracted import USER, Claim
from recollect.mine.rules.found import CONTENT_LIMIT
from recollect.mine.rules.howto import FAILED, WORKED
from recollect.model.records import Role, Tense, Turn
from recollect.text.sentences import sentences

STEPS_LIMIT = 10
_STEP_LENGTH = 120
GOAL_LENGTH = 240
READ = 2_000
REQUEST = re.compile(
    r"(?:(?:hi|hello|hey|ok|please|so)[,!]? )*(?:(?:can|could|would|will) you|please|help me|i need "
    r"(?:you to|help|to)|i want (?:you )?to|"
    r"how (?:do|can|should) (?:i|we)|fix|debug|write|build|deploy|install|set up|configure|find|book|"
    r"create|make|update|refactor|"
    r"convert|migrate|implement|add|remove|run|plan|organi[sz]e|why (?:does|is|do|did)|my \w+ (?:keeps|"
    r"won't|doesn't|isn't|fails))\b",
    re.IGNORECASE,
)
THANKS = re.compile(r"\b(?:thanks|thank you|perfect|great|awesome|brilliant|excellent)\b", re.IGNORECASE)
LESSON = re.compile(
    r"\b(?:turns out|turned out|the (?:problem|issue|cause|reason|trick|fix) was|it was because|i (?:had "
    r")?forgot|next "
    r"time)\b[^.!?]{3,200}",
    re.IGNORECASE,
)


def episode(turns: Sequence[Turn]) -> Claim | None:
    """What was asked, what was done and how it ended; None without a clear request and a clear outcome."""
    asked = [turn for turn in turns if turn.role is Role.USER]
    done = [turn for turn in turns if turn.role in (Role.ASSISTANT, Role.TOOL)]
    if len(asked) < 2 or not done or asked[0].index > done[0].index:
        return None
    goal = next((said for said in sentences(asked[0].content[:READ]) if REQUEST.match(said)), "")
    last = asked[-1].content[:READ]
    failed = FAILED.search(last) is not None
    worked = (
        not failed and WORKED.search(last) is not None and (len(done) > 1 or THANKS.search(last) is not None)
    )
    if not goal or len(goal) > GOAL_LENGTH or not (failed or worked) or "?" in last:
        return None
    goal = goal.rstrip(" .?!")
    steps = tuple(step for turn in done[:STEPS_LIMIT] if (step := step_of(turn.content)))
    outcome = "success" if worked else "failure"
    lesson = LESSON.search(last)
    content = f"The user asked: {goal}. It {'worked' if worked else 'did not work'}."
    if lesson:
        content = f"{content} {lesson.group().strip().capitalize()}."
    if len(content) > CONTENT_LIMIT:
        return None
    return Claim(
        content=content,
        turns=tuple(dict.fromkeys((asked[0].id, *(turn.id for turn in done[:STEPS_LIMIT]), asked[-1].id))),
        kind="episode",
        certainty="implied",
        tense=Tense.PAST,
        since=asked[0].at,
        subject=USER,
        fields={
            "goal": goal,
            "steps": steps,
            "outcome": outcome,
            "lessons": lesson.group().strip() if lesson else "",
        },
    )


def step_of(text: str) -> str:
    first = next(iter(sentences(text[:READ])), "")
    return first if len(first) <= _STEP_LENGTH else f"{first[:_STEP_LENGTH].rsplit(' ', 1)[0]}…"
