"""Exchanges of our own, with what is to be known after each and what is not.

Two halves, balanced alike: rules are written with an eye on `tune`; `held` says how good they are, and
whoever writes rules does not look at it.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any, Literal

from recollect.bench.quality.datasets import Said, Session
from recollect.mine.extracted import Window
from recollect.model.records import Conversation, Role, Turn
from recollect.record.turns import digest

Half = Literal["tune", "held"]
HALVES: tuple[Half, ...] = ("tune", "held")

PAUSE = timedelta(seconds=20)
"""Between one turn and the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Something that an exchange tells, and how to know it again in other words."""

    content: str
    needs: tuple[tuple[str, ...], ...]
    """Of each group at least one has to occur."""
    excludes: tuple[str, ...] = ()
    """What would make it false."""
    kind: str = "fact"
    tense: str | None = None
    """Where it matters."""
    denies: bool | None = False
    """Whether it says that something is not so; None where that can be put either way."""
    day: str = ""
    """The day, month or year (2025-03-12, 2025-03, 2025) that is meant by what was said."""
    optional: bool = False
    """To have it is no error, not to have it neither."""
    retracted: bool = False
    """It was taken back: to have it is an error unless something else corrects it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    id: str
    category: str
    at: datetime
    turns: tuple[Said, ...]
    facts: tuple[Expected, ...]
    trap: bool
    """Whatever becomes a fact here, but for what is optional, is an error."""


def labelled(half: Half) -> list[Exchange]:
    path = files("recollect.bench").joinpath("data", "mining", f"{half}.jsonl")
    return [_exchange(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _exchange(at: str, turns: list[dict[str, str]], facts: list[dict[str, Any]], **rest: Any) -> Exchange:
    return Exchange(
        at=datetime.fromisoformat(at),
        turns=tuple(Said(**turn) for turn in turns),
        facts=tuple(_expected(**fact) for fact in facts),
        **rest,
    )


def _expected(needs: list[list[str]], excludes: list[str] | None = None, **rest: Any) -> Expected:
    return Expected(needs=tuple(map(tuple, needs)), excludes=tuple(excludes or ()), **rest)


def session_of(exchange: Exchange) -> Session:
    return Session(exchange.id, exchange.at, exchange.turns)


def window_of(exchange: Exchange) -> Window:
    return window(session_of(exchange))


def window(session: Session) -> Window:
    """A session's turns as they would be read from a store. What is blank is not recorded."""
    turns = tuple(
        Turn(
            id=f"{session.id}/{index}",
            conversation=session.id,
            index=index,
            role=Role(said.role),
            content=said.content,
            at=session.at + index * PAUSE,
            recorded_at=session.at + index * PAUSE,
            digest=digest(said.content),
        )
        for index, said in enumerate(session.turns)
        if said.content.strip()
    )
    conversation = Conversation(
        id=session.id,
        started_at=session.at,
        last_at=turns[-1].at if turns else session.at,
        next_index=len(session.turns),
    )
    return Window(conversation, turns)
