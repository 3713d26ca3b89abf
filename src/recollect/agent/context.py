"""What a model is shown before its steps: system, facts, episodes, the conversation, working memory, the
question; in this order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.agent.bearing import SPOKEN
from recollect.agent.prompts import Prompts
from recollect.agent.remembering import Remembered
from recollect.errors import Invalid
from recollect.limits import check_many, shown
from recollect.model.records import Goal, Summary
from recollect.ports.acting import Message
from recollect.ports.language_model import ChatMessage
from recollect.text.quoting import fitting, plain

LINE_TOKENS = 200
"""The most tokens of one line about a goal or an earlier invocation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """All that is known when the first step is taken."""

    question: str
    instructions: str
    additional: str
    state: str
    """As data."""
    history: Sequence[ChatMessage]
    remembered: Remembered
    remembers: bool
    now: datetime


def messages(scene: Scene, prompts: Prompts, working: str, steps: Sequence[Message]) -> list[Message]:
    """The prompt of a turn. The steps that are shown as they were come after the question they belong to."""
    asked = prompts.question.format(question=scene.question)
    block = prompts.working.format(block=_block("working_memory", working)) if working else ""
    said: list[Message] = [ChatMessage("system", system(scene, prompts)), *conversation(scene)]
    return [*said, ChatMessage("user", "\n\n".join(filter(None, (block, asked)))), *steps]


def system(scene: Scene, prompts: Prompts) -> str:
    known = scene.remembered
    parts = (
        scene.instructions or prompts.system,
        prompts.now.format(now=f"{scene.now:%A, %Y-%m-%d %H:%M} UTC") if prompts.now else "",
        prompts.context.format(context=scene.additional) if scene.additional else "",
        prompts.memory if scene.remembers else "",
        _told(prompts.facts, known.facts.context),
        _told(prompts.procedures, known.procedures.context),
        _told(prompts.episodes, known.episodes.context),
        _told(prompts.goals, _block("goals", "\n".join(map(_goal, known.goals)))),
        _told(prompts.summaries, _block("earlier", "\n".join(map(_summary, known.summaries)))),
        prompts.state.format(state=scene.state) if scene.state else "",
    )
    return "\n\n".join(filter(None, parts))


def conversation(scene: Scene) -> list[ChatMessage]:
    """What was said before: as the request tells it, or as it is remembered."""
    if scene.history:
        return [*scene.history]
    return [
        ChatMessage("assistant" if turn.role.value == "assistant" else "user", turn.content)
        for turn in scene.remembered.turns
    ]


def read_history(history: Sequence[str | Mapping[str, Any] | ChatMessage]) -> list[ChatMessage]:
    """The messages of a request: texts, which are the user's, or role and content; `Invalid` for others."""
    check_many("history", history)
    return [_message(one) for one in history]


def _message(given: str | Mapping[str, Any] | ChatMessage) -> ChatMessage:
    if isinstance(given, str):
        return ChatMessage("user", given)
    if isinstance(given, ChatMessage):
        role, content = given.role, given.content
    elif isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        role, content = given.get("role"), given.get("content")
    else:
        raise Invalid(
            f"history has messages, each a text or a dict with role and content, not {shown(given)}."
        )
    if role not in SPOKEN or not isinstance(content, str):
        raise Invalid(f"A message of history has a role of {' or '.join(SPOKEN)} and text as its content.")
    return ChatMessage(role, content)


def _told(words: str, block: str) -> str:
    return words.format(block=block) if block else ""


def _block(tag: str, lines: str) -> str:
    return f"<{tag}>\n{lines}\n</{tag}>" if lines else ""


def _goal(goal: Goal) -> str:
    until = f", until {goal.deadline:%Y-%m-%d}" if goal.deadline else ""
    return fitting(f"- [{goal.id}{until}] {plain(goal.description)}", LINE_TOKENS)


def _summary(summary: Summary) -> str:
    told = " | ".join(filter(None, (summary.query, summary.summary, summary.result)))
    return fitting(f"- [{summary.at:%Y-%m-%d %H:%M}] {plain(told)}", LINE_TOKENS)
