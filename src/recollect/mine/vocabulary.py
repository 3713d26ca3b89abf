"""The words that models use for what we have words for."""

from typing import Literal

from recollect.mine.extracted import MentionType

Kind = Literal["fact", "procedure", "episode", "reflection"]


FACT_KINDS: dict[str, Kind] = {
    "procedural": "procedure",
    "procedure": "procedure",
    "strategy": "procedure",
    "workflow": "procedure",
    "episodic": "episode",
    "episode": "episode",
    "task": "episode",
    "reflective": "reflection",
    "reflection": "reflection",
    "lesson": "reflection",
}
"""Whatever else a model says is a fact."""

_KNOWN_AS: dict[MentionType, str] = {
    "person": "human man woman friend family relative colleague people contact pet animal",
    "place": "location city country town address region restaurant hotel building street",
    "organization": "organisation company employer school university team institution brand business",
    "project": "product repository codebase software",
    "event": "meeting trip appointment holiday birthday conference date",
    "topic": "concept subject hobby skill language",
    "agent": "assistant bot ai",
    "item": "thing object device food vehicle",
}
MENTION_TYPES: dict[str, MentionType] = {
    word: type for type, words in _KNOWN_AS.items() for word in (type, *words.split())
}
"""Whatever else a model says is an item."""
