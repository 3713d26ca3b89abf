"""What the tests of mining share."""

import json
from collections.abc import Sequence
from typing import Any

from recollect import ScopedMemory
from recollect.model.records import MemoryRecord
from recollect.ports.language_model import ChatMessage, Reply, Schema, Source, Tokens


class Scripted:
    """A `LanguageModel` that answers what it is told to, or raises it, and counts."""

    name = "scripted"

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self.answers = list(answers)
        self.asked = 0

    def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        source: Source,
        max_tokens: int,
        schema: Schema | None = None,
        within: float | None = None,
    ) -> Reply:
        self.asked += 1
        answer = self.answers.pop(0) if self.answers else NOTHING
        if isinstance(answer, Exception):
            raise answer
        return Reply(json.dumps(answer), Tokens(10, 5))

    def close(self) -> None: ...


NOTHING: dict[str, Any] = {"entities": [], "facts": [], "relations": [], "topics": []}


def say(user: ScopedMemory, *texts: str, conversation: str = "a") -> None:
    for text in texts:
        user.record("user", text, conversation=conversation)


def facts(user: ScopedMemory) -> list[str]:
    return sorted(fact.content for fact in in_force(user))


def in_force(user: ScopedMemory) -> list[MemoryRecord]:
    found = user.list("fact", limit=1000, superseded_by=None)
    return [fact for fact in found if isinstance(fact, MemoryRecord)]


def rows(user: ScopedMemory) -> dict[str, int]:
    return user.counts()
