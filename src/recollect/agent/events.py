"""What an agent tells while it works, in order: values that can be shown, logged or sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from recollect.model.recollection import Hit
from recollect.ports.language_model import Tokens

Stopped = Literal["answered", "iterations", "time", "tokens", "loop", "model", "cancelled"]
"""Why an agent came to its end; only the first is what was wanted. At a limit there may be an answer all the
same: the model's last word, without tools."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was remembered before the first step."""

    type: ClassVar[str] = "recalled"
    hits: Sequence[Hit] = ()
    context: str = ""
    problems: Sequence[str] = ()
    skipped: str | None = None
    """Why memory was left out, if it was: with nothing here, nothing was found."""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of what the model is writing, as it comes."""

    type: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    type: ClassVar[str] = "thought"
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    type: ClassVar[str] = "action"
    id: str
    tool: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool answered, or why it did not."""

    type: ClassVar[str] = "observation"
    id: str
    tool: str
    output: str
    success: bool = True
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong on the way and was gone on from: a limit, a model that says nothing, memory
    that fails."""

    type: ClassVar[str] = "problem"
    text: str


@dataclass(frozen=True, slots=True)
class Final:
    """The answer, and how it was come by. What was remembered of it is stored when this is told."""

    type: ClassVar[str] = "final"
    text: str
    stopped: Stopped
    conversation: str
    iterations: int
    tokens: Tokens = field(default_factory=Tokens)
    problems: Sequence[str] = field(default=())


Event = Recalled | Text | Thought | Action | Observation | Problem | Final


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question: the answer and all that was told on the way to it, but for pieces of text."""

    text: str
    stopped: Stopped
    conversation: str
    iterations: int
    tokens: Tokens = field(default_factory=Tokens)
    problems: Sequence[str] = ()
    events: Sequence[Event] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def recalled(self) -> Recalled:
        """What was remembered before the first step."""
        return next((event for event in self.events if isinstance(event, Recalled)), Recalled())


def answered(final: Final, events: Sequence[Event] = ()) -> Answer:
    return Answer(
        final.text, final.stopped, final.conversation, final.iterations, final.tokens, final.problems, events
    )
