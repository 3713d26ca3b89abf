"""What mining tells of itself."""

from dataclasses import dataclass

USER = "user"
"""The name that stands for the user wherever mining names somebody or something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """What became of a conversation: how many turns were mined, and what landed of them."""

    conversation: str
    turns: int = 0
    added: int = 0
    reinforced: int = 0
    superseded: int = 0
    refused: int = 0
    entities: int = 0
    relations: int = 0
    way: str = ""
    """What mined it: `rules`, or the name of a model."""
    problem: str | None = None
    """Why it could not be mined to its end."""
