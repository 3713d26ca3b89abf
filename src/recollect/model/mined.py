"""What mining tells of itself."""

from dataclasses import dataclass

from recollect.model.records import MemoryRecord

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two memories that contradict each other, and wait for somebody to say which one holds."""

    new: MemoryRecord
    old: MemoryRecord

    @property
    def id(self) -> str:
        """It goes by the newer one."""
        return self.new.id
