"""What a conversation was as a whole, once it is over: what was asked, done and reached, by rules; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from recollect.mine.extracted import USER, Claim, Extraction
from recollect.mine.pii import Policy, guarded
from recollect.mine.rules.episodes import GOAL_LENGTH, LESSON, READ, REQUEST, STEPS_LIMIT, THANKS, step_of
from recollect.mine.rules.howto import FAILED, WORKED
from recollect.mine.tools import sequence
from recollect.model.records import Role, Tense, ToolInvocation, Turn
from recollect.text.sentences import sentences

MOST_TEXT = 500
"""The most characters of each text of an episode."""
LATEST = 2
"""In how many of the user's last turns it is looked for how it ended."""
_POLITE = re.compile(
    r"(?:(?:hi|hello|hey|ok|so|please|now)\b[,!]? )*(?:(?:can|could|would|will) you (?:please )?|please )?",
    re.IGNORECASE,
)
_ENDED = {True: " It worked.", False: " It did not work.", None: ""}


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody said of how a conversation ended."""

    outcome: str = ""
    success: bool | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation that is over: what was said in it, and which tools were called."""

    turns: tuple[Turn, ...]
    calls: tuple[ToolInvocation, ...] = ()
    told: Told = Told()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What it was. One that was no task has no goal."""

    query: str = ""
    summary: str = ""
    result: str = ""
    content: str = ""
    goal: str = ""
    steps: tuple[str, ...] = ()
    outcome: str = ""
    lessons: str = ""
    success: bool | None = None
    tools: tuple[str, ...] = ()
    way: str = "rules"
    tags: tuple[str, ...] = ()


def concluded(talk: Talk) -> Conclusion:
    """What rules make of a conversation. It was a task when tools were called, or when something was asked
    for, worked on in several steps, and there is a sign of how it ended."""
    asked = [turn for turn in talk.turns if turn.role is Role.USER]
    done = [turn for turn in talk.turns if turn.role in (Role.ASSISTANT, Role.TOOL)]
    if not asked or not (done or talk.calls):
        return Conclusion()
    request = _request(asked)
    success = ending(asked, talk)
    worked = [call for call in talk.calls if call.success]
    tools = sequence(call.tool for call in (talk.calls if success is False else worked or talk.calls))
    told = talk.told.outcome or next((step for turn in reversed(done) if (step := step_of(turn.content))), "")
    outcome = told[:MOST_TEXT]
    first = next(iter(sentences(asked[0].content[:READ])), "")[:MOST_TEXT]
    summary = "; ".join(dict.fromkeys(filter(None, (step_of(turn.content) for turn in asked[:STEPS_LIMIT]))))
    made = Conclusion(query=request or first, summary=summary, result=outcome)
    several = len(done) > 1 and (success is not None or bool(talk.told.outcome))
    if not (tools or (request and several)):
        return made
    goal = plain_goal(request or first)
    return worded(
        replace(
            made,
            goal=goal,
            steps=_steps(talk.calls, done),
            outcome=outcome,
            lessons=_lesson(talk.turns),
            success=success,
            tools=tools,
        )
    )


def worded(made: Conclusion) -> Conclusion:
    """With a content that can be understood by itself, if it was a task."""
    if not made.goal:
        return made
    by = f" Done with {', '.join(made.tools)}." if made.tools else ""
    lesson = f" {made.lessons[0].upper()}{made.lessons[1:].rstrip('.')}." if made.lessons else ""
    return replace(made, content=f"The user asked: {made.goal}.{by}{_ENDED[made.success]}{lesson}")


def plain_goal(request: str) -> str:
    """What is to be done, without the words by which it was asked for."""
    return (_POLITE.sub("", request, count=1) or request).rstrip(" .?!")[:GOAL_LENGTH]


def ending(asked: Sequence[Turn], talk: Talk) -> bool | None:
    """Whether it went well, as far as anybody says so: who ended it, the user in the end, or a tool that
    failed last and was not answered for. None when nobody knows."""
    if talk.told.success is not None:
        return talk.told.success
    for turn in list(reversed(asked))[:LATEST] if len(asked) > 1 else ():
        text = turn.content[:READ]
        if FAILED.search(text):
            return False
        if WORKED.search(text) or (THANKS.search(text) and "?" not in text):
            return True
    failed_last = bool(talk.calls) and not talk.calls[-1].success
    answered = bool(talk.turns) and talk.turns[-1].role is Role.ASSISTANT
    return False if failed_last and not answered else None


def _request(asked: Sequence[Turn]) -> str:
    """The first sentence by which something was asked for."""
    said = (sentence for turn in asked for sentence in sentences(turn.content[:READ]))
    return next(
        (sentence for sentence in said if REQUEST.match(sentence) and len(sentence) <= GOAL_LENGTH), ""
    )


def _steps(calls: Sequence[ToolInvocation], done: Sequence[Turn]) -> tuple[str, ...]:
    if calls:
        return sequence(call.tool if call.success else f"{call.tool} (failed)" for call in calls)
    return tuple(step for turn in done[:STEPS_LIMIT] if (step := step_of(turn.content)))


def _lesson(turns: Sequence[Turn]) -> str:
    spoken = (turn for turn in reversed(turns) if turn.role in (Role.USER, Role.ASSISTANT))
    found = (LESSON.search(turn.content[:READ]) for turn in spoken)
    return next((lesson.group().strip() for lesson in found if lesson), "")


def safe(made: Conclusion, policy: str) -> Conclusion:
    """The conclusion as the policy about sensitive data wants it, like anything that is mined."""
    texts = {name: getattr(made, name) for name in ("query", "summary", "result")}
    task = {name: getattr(made, name) for name in ("goal", "steps", "outcome", "lessons")}
    claims = (
        Claim(content="The conversation.", turns=("",), subject=USER, fields=texts),
        Claim(content=made.content, turns=("",), kind="episode", tense=Tense.PAST, fields=task),
    )
    kept = guarded(Extraction(claims=claims), cast(Policy, policy)).claims
    clean = Conclusion(success=made.success, tools=made.tools, way=made.way)
    for claim in kept:
        more = {"content": claim.content} if claim.kind == "episode" else {}
        clean = replace(clean, **claim.fields, **more, tags=(*clean.tags, *claim.tags))
    return clean
