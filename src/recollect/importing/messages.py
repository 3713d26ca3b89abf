"""Messages as the OpenAI API has them: JSON Lines, or an array, of `{"messages": […]}` or of messages."""

from pathlib import Path
from typing import Any

from recollect.importing.arrays import Bad
from recollect.importing.files import sources, values
from recollect.importing.items import (
    NOT_AN_OBJECT,
    Items,
    Left,
    Said,
    a_time,
    as_list,
    as_object,
    as_text,
    named,
    origin,
    unreadable,
)
from recollect.model.records import Json
from recollect.record.turns import Message

SOURCE = "messages"
FILES = r".+\.(jsonl|ndjson|json)(\.gz)?"
SYSTEM = "it is instructions to the model"
ROLE = "its role is none of user, assistant and tool"
_ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}
_CONVERSATION = ("conversation", "conversation_id", "session_id", "thread_id")
_TIMES = ("at", "timestamp", "created_at", "create_time", "created", "time")


def read(path: Path, name: str | None = None) -> Items:
    """What was said. A conversation that has no id of its own is known by the file, or by `name`, and by its
    place in it; messages on their own are one conversation."""
    for source in sources(path, FILES):
        known = name or Path(source.name).name.split(".")[0]
        ends: dict[str, int] = {}
        for number, (where, value) in enumerate(values(source), 1):
            given = as_object(value)
            if isinstance(value, Bad):
                yield Left(where, str(value))
            elif isinstance(given.get("messages"), list):
                own = _own(given) or as_text(given.get("id"))
                yield from _several(where, named(SOURCE, own or f"{known}:{number}"), given)
            elif "role" in given:
                conversation = named(SOURCE, _own(given) or known)
                index = ends.setdefault(conversation, 0)
                item = _said(where, conversation, index, given, {})
                ends[conversation] += isinstance(item, Said)
                yield item
            else:
                yield Left(where, NOT_AN_OBJECT)


def _own(given: Json) -> str:
    """What the conversation is called."""
    return next((str(given[key]) for key in _CONVERSATION if isinstance(given.get(key), (str, int))), "")


def _several(where: str, conversation: str, given: Json) -> Items:
    index = 0
    for place, message in enumerate(as_list(given.get("messages")), 1):
        item = _said(f"{where}, message {place}", conversation, index, as_object(message), given)
        index += isinstance(item, Said)
        yield item


def _said(where: str, conversation: str, index: int, message: Json, around: Json) -> Said | Left:
    role = as_text(message.get("role"))
    if role in ("system", "developer"):
        return Left(where, SYSTEM)
    if role not in _ROLES:
        return Left(where, ROLE)
    text = _text(message.get("content"))
    if reason := unreadable(text):
        return Left(where, reason)
    times = (a_time(given.get(key)) for given in (message, around) for key in _TIMES)
    return Said(
        where,
        Message(
            role=_ROLES[role],
            content=text,
            conversation=conversation,
            index=index,
            at=next((at for at in times if at is not None), None),
            model=as_text(message.get("model")) or as_text(around.get("model")) or None,
            title=as_text(around.get("title")) or None,
            metadata=origin(SOURCE, id=as_text(message.get("id")), name=as_text(message.get("name"))),
        ),
    )


def _text(content: Any) -> str:
    """The words, be they one text or parts of which some are text."""
    if isinstance(content, str):
        return content
    parts = (as_text(as_object(part).get("text")) for part in as_list(content))
    return "\n\n".join(part for part in parts if part.strip())
