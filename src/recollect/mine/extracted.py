"""What extraction gives, whether a model or rules did it: one shape, so that all that follows is one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from recollect.model.mined import USER
from recollect.model.records import Conversation, Tense, Turn

Certainty = Literal["explicit", "implied", "inferred", "uncertain"]
"""How it was said: in so many words, by implication, worked out from what was said, or with doubt."""

MentionType = Literal["person", "place", "organization", "project", "event", "item", "topic", "agent"]


@dataclass(frozen=True, slots=True)
class Window:
    """Turns of one conversation that are mined together, and the few before them that explain them."""

    conversation: Conversation
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something to know, understandable by itself, with the turns that say it.

    `subject`, `attribute` and `value` say what it is about, so that two claims can contradict each other:
    of an attribute that can have one value at a time (`single`, such as somebody's home) the newest value
    holds; of any other (what somebody likes) each value stands for itself. A claim with no attribute
    contradicts nothing.
    """

    content: str
    turns: tuple[str, ...]
    kind: Literal["fact", "procedure", "episode", "reflection"] = "fact"
    certainty: Certainty = "explicit"
    tense: Tense = Tense.CURRENT
    since: datetime | None = None
    """From when it holds, if that was said; otherwise from when the turn was said."""
    until: datetime | None = None
    """From when it no longer holds."""
    subject: str = USER
    attribute: str = ""
    value: str = ""
    single: bool = False
    denies: bool = False
    """It says that it is not so, or no longer: "no longer lives in Lyon", "does not eat meat"."""
    corrects: bool = False
    """It was said to put something right ("actually…"), so it holds whatever the policy."""
    replaces: tuple[str, ...] = ()
    """Ids of memories that it takes the place of."""
    preference: bool = False
    about: tuple[str, ...] = ()
    """Names of whom and what it is about, the subject apart."""
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What only its kind has: the steps of an episode, the context of a procedure."""
    tags: tuple[str, ...] = ()
    """What kind of sensitive data it holds, where the policy is to say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """That something holds between two that are named; with `ended`, that it no longer does."""

    source: str
    type: str
    target: str
    turns: tuple[str, ...]
    since: datetime | None = None
    until: datetime | None = None
    single: bool = False
    """Whether the source can have but one such bond at a time, as with the place somebody lives in."""
    ended: bool = False
    certainty: Certainty = "explicit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Somebody or something that was named."""

    name: str
    type: MentionType
    turns: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    description: str = ""
    properties: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What a run of turns, from index `first` to `last`, is about. `subject` names whom or what it belongs
    to; without one it belongs to the topic itself."""

    title: str
    first: int
    last: int
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """All that was found in a window."""

    claims: tuple[Claim, ...] = ()
    bonds: tuple[Bond, ...] = ()
    mentions: tuple[Mention, ...] = ()
    topics: tuple[Topic, ...] = ()
    way: str = "rules"
    """What found it: `rules`, or the name of a model."""
