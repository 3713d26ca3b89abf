"""What is told later of what an agent did: a summary of each invocation, an episode of a task; pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.agent.calling import Outcome
from recollect.agent.events import Stopped
from recollect.agent.prompts import REASONS
from recollect.mine.conclusion import MOST_TEXT, Conclusion, plain_goal, safe, worded
from recollect.mine.tools import sequence
from recollect.text.sentences import sentences

STEP_TEXT = 160
"""The most characters of the input, and of the output, that a step tells."""
MOST_STEPS = 20


def summary_of(done: Sequence[Outcome], stopped: Stopped) -> str:
    """What was done, in a sentence."""
    counts = Counter(one.asked.call.tool for one in done)
    failed = sum(not one.success for one in done)
    used = ", ".join(tool if times == 1 else f"{tool} ({times} times)" for tool, times in counts.items())
    did = (
        f"Used {used}." if used else "Answered without tools." if stopped == "answered" else "Used no tools."
    )
    went = f" {failed} of {len(done)} calls failed." if failed else ""
    return did + went + ("" if stopped == "answered" else f" It ended early: {REASONS[stopped]}.")


def succeeded(done: Sequence[Outcome], stopped: Stopped) -> bool | None:
    """Whether it went well: it was answered, and what was done last worked. None where that is not known."""
    if stopped != "answered":
        return False
    return True if done and done[-1].success else None


def episode_of(
    question: str, answer: str, done: Sequence[Outcome], stopped: Stopped, pii: str
) -> dict[str, Any] | None:
    """The episode of a task as it is remembered; None where the policy about sensitive data leaves none.

    What worked comes first and in short, so that it is what recall shows and what procedures are learnt from;
    of what did not, the names are enough to leave it alone."""
    goal = plain_goal(next(iter(sentences(question)), question).strip())
    went = succeeded(done, stopped)
    worked = [one for one in done if one.success]
    known = [one for one in (worked if went else done) if one.asked.tool is not None]
    made = Conclusion(
        query=question[:MOST_TEXT],
        goal=goal,
        steps=tuple(_step(one) for one in (worked or done)[-MOST_STEPS:]),
        outcome=answer[:MOST_TEXT],
        success=went,
        tools=sequence(one.asked.call.tool for one in known),
    )
    # What was done is what worked; what only failed is told among the steps.
    did = worded(replace(made, tools=sequence(one.asked.call.tool for one in worked)))
    kept = safe(replace(did, tools=made.tools), pii)
    if not kept.content or not kept.goal:
        return None
    useful = {one.asked.call.tool for one in worked}
    vain = dict.fromkeys(one.asked.call.tool for one in done if one.asked.call.tool not in useful)
    parts = (
        kept.content,
        f"{'What worked' if worked else 'Steps'}: {'; '.join(kept.steps).rstrip('.')}." if kept.steps else "",
        f"In vain: {', '.join(vain)}." if vain else "",
        f"Outcome: {kept.outcome}" if kept.outcome else "",
    )
    return {
        "content": " ".join(filter(None, parts)),
        "kind": "episode",
        "goal": kept.goal,
        "steps": kept.steps,
        "outcome": kept.outcome,
        "success": kept.success,
        "tools": kept.tools,
    }


def _step(outcome: Outcome) -> str:
    call = outcome.asked.call
    given = " ".join(call.arguments.split())[:STEP_TEXT]
    came = " ".join((outcome.error or outcome.output).split())[:STEP_TEXT]
    return f"{call.tool} {given}: {came}" if outcome.success else f"{call.tool} {given} failed: {came}"
