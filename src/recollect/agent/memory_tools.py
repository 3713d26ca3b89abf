"""Tools by which a model uses the memory itself, under the names that it may know them by."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from recollect.agent.bearing import KNOWN, bearing, is_news
from recollect.agent.tools import Tool, tool
from recollect.errors import Invalid
from recollect.limits import shown as quoted
from recollect.mine.pii import redacted, sensitive
from recollect.model.recollection import Recollection
from recollect.settings import Settings

NOTHING = "Nothing is remembered about that."
Shown = frozenset[str]
"""The turns that are in the prompt already."""


def _retrieve_facts(memory: Any, name: str, settings: Settings, shown: Shown) -> Tool:
    def retrieve(query: str) -> str:
        """Find what the user said, and what is known of them and their world, from earlier conversations.

        Args:
            query: what you want to know, in a few words
        """
        found = memory.recall(query, kinds=KNOWN, techniques={"gate": False})
        return _told(bearing(found, len(found.hits), lambda hit: is_news(hit, query, shown)))

    return tool(name=name)(retrieve)


def _recall(memory: Any, name: str, settings: Settings, shown: Shown) -> Tool:
    def recall(query: str) -> str:
        """Search everything that is remembered: what was said, facts, how things were done.

        Args:
            query: what you want to know, in a few words
        """
        return _told(memory.recall(query, techniques={"gate": False}))

    return tool(name=name)(recall)


def _recall_episodes(memory: Any, name: str, settings: Settings, shown: Shown) -> Tool:
    def episodes(task: str) -> str:
        """Find tasks like this one that were worked on before: what was done, and how it ended.

        Args:
            task: what is to be done, in a few words
        """
        kinds = ("episode", "procedure")
        return _told(memory.recall(task, kinds=kinds, techniques={"gate": False}))

    return tool(name=name)(episodes)


def _store_fact(memory: Any, name: str, settings: Settings, shown: Shown) -> Tool:
    def store(fact: str, about: list[str] | None = None) -> str:
        """Remember a fact for later conversations: a preference, a decision, something that holds. Not what
        everybody knows, and no secrets.

        Args:
            fact: one sentence that can be understood by itself
            about: names of the people, places or things it is about
        """
        return _saved(memory, settings, fact, about or (), "Remembered")

    return tool(name=name)(store)


def _save_note(memory: Any, name: str, settings: Settings, shown: Shown) -> Tool:
    def note(text: str) -> str:
        """Write something down word for word, to be found again later.

        Args:
            text: the note
        """
        return _saved(memory, settings, text, (), "Noted")

    return tool(name=name)(note)


def _update_goal(memory: Any, name: str, settings: Settings, shown: Shown) -> Tool:
    def update(goal: str, status: str = "completed", result: str = "") -> str:
        """Say that an open goal was reached, given up or is blocked.

        Args:
            goal: the id of the goal
            status: completed, abandoned, blocked or active
            result: what came of it, in a sentence
        """
        closed = memory.complete_goal(goal, status, result or None)
        return f"The goal is {closed.status.value} now."

    return tool(name=name)(update)


MEMORY_TOOLS: dict[str, Callable[[Any, str, Settings, Shown], Tool]] = {
    "RetrieveFacts": _retrieve_facts,
    "RecallEpisodes": _recall_episodes,
    "StoreFact": _store_fact,
    "UpdateGoal": _update_goal,
    "load_memory": _recall,
    "save_memory": _store_fact,
    "recall_memory": _recall,
    "save_note": _save_note,
}
"""Every name under which a model can be offered its memory."""
DEFAULT = ("RetrieveFacts", "RecallEpisodes", "StoreFact")
GOALS = "UpdateGoal"
"""Offered beside the others while there are goals."""


def checked(names: Iterable[str]) -> tuple[str, ...]:
    names = tuple(names)
    if unknown := [name for name in names if name not in MEMORY_TOOLS]:
        raise Invalid(
            f"There is no memory tool {quoted(unknown[0])}; the names are {', '.join(MEMORY_TOOLS)}."
        )
    return names


def memory_tools(
    memory: Any, settings: Settings, names: Iterable[str] = DEFAULT, shown: Shown = frozenset()
) -> list[Tool]:
    """The tools of these names for one memory."""
    return [MEMORY_TOOLS[name](memory, name, settings, shown) for name in checked(names)]


def _saved(memory: Any, settings: Settings, text: str, about: Sequence[str], done: str) -> str:
    """Remember what a model says, as the policy about sensitive data wants it."""
    policy = memory.settings().values.get("pii") or settings.pii
    kinds = sorted({kind for one in (text, *about) for _, _, kind in sensitive(one)})
    more: dict[str, Any] = {}
    if kinds and policy == "drop":
        return f"Not remembered: it holds sensitive data ({', '.join(kinds)})."
    if kinds and policy == "tag":
        more["metadata"] = {"sensitive": kinds}
    if kinds and policy == "redact":
        text, about = redacted(text), [name for name in about if not sensitive(name)]
    # What a model wants remembered may be what a tool told it: it is no word of the user's.
    saved = memory.remember(text, about=about, confidence=settings.inferred_confidence, **more)
    return f"{done} ({saved.id})."


def _told(found: Recollection) -> str:
    return found.context or NOTHING
