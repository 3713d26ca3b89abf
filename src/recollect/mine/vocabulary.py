"""The words that models use for what we have words for."""

import re
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

DENIAL = re.compile(
    r"n['’]t\b|\b(?:not?|never|none|nobody|nothing|neither|nor|without|stop(?:s|ped)?|quit|left|leaves?|"
    r"former(?:ly)?|ex|ended|over|gave up|cancel\w*|away|out|from|used to|until|instead|rather than|dis\w+|"
    r"avoids?|refuses?|nicht|kein\w*|nie|ohne|aufgehört|pas|plus|jamais|sans|non|nunca|ya|sin|dejó|não|sem|"
    r"deixou|mai|più|senza|niet|geen|нет|не|никогда|без)\b|不|没|無|ない",
    re.IGNORECASE,
)
"""Words of which a sentence has at least one that says what is not, or no longer, so."""
