"""The data export of ChatGPT: conversations.json, or conversations-000.json and so on, alone, in its zip or
in its folder. A conversation is a tree of messages, of which the branch to `current_node` was shown."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.importing.arrays import Bad
from recollect.importing.branches import OTHER_BRANCH, branch
from recollect.importing.files import sources, values
from recollect.importing.items import (
    NO_TEXT,
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

SOURCE = "chatgpt"
FILES = r"conversations(-\d+)?\.json"

SYSTEM = "it is a message of the system"
TOOL = "it is what a tool was told or said"
HIDDEN = "it was not shown in the conversation"
REASONING = "it is a model's reasoning"
INSTRUCTIONS = "it is the custom instructions, which every conversation repeats"
NOT_TEXT = "it is only pictures, sound or files"
_ROLES = ("user", "assistant")
_REASONING = ("thoughts", "reasoning_recap")
_INSTRUCTIONS = ("user_editable_context", "model_editable_context")


def read(path: Path) -> Items:
    """What was said in every conversation."""
    for source in sources(path, FILES):
        for where, value in values(source):
            if isinstance(value, Bad):
                yield Left(where, str(value))
            else:
                yield from _conversation(where, as_object(value))


def _conversation(where: str, given: Json) -> Items:
    nodes = {name: as_object(node) for name, node in as_object(given.get("mapping")).items()}
    id = as_text(given.get("conversation_id")) or as_text(given.get("id"))
    if not nodes or not id:
        yield Left(where, NOT_AN_OBJECT)
        return
    parents = {name: as_text(node.get("parent")) or None for name, node in nodes.items()}
    shown = branch(parents, _leaf(given, nodes))
    at = a_time(given.get("create_time"))
    index = 0
    for place, message in _messages(nodes, shown):
        at = a_time(message.get("create_time")) or at
        inside = f"{where}, message {place}"
        text, reason = _text(message)
        if reason is None:
            yield Said(inside, _message(named(SOURCE, id), index, message, text, at, given))
            index += 1
        else:
            yield Left(inside, reason)
    left = nodes.keys() - {*shown}
    others = [
        name for name in nodes if name in left and _text(as_object(nodes[name].get("message")))[1] is None
    ]
    yield from (Left(f"{where}, other message {place}", OTHER_BRANCH) for place, _ in enumerate(others, 1))


def _leaf(given: Json, nodes: dict[str, Json]) -> str:
    """Where the conversation ends: where it says so, else with the last message that nobody answered."""
    if (current := as_text(given.get("current_node"))) in nodes:
        return current
    leaves = [name for name, node in nodes.items() if not as_list(node.get("children"))]
    return leaves[-1] if leaves else next(reversed(nodes))


def _messages(nodes: dict[str, Json], shown: list[str]) -> Iterator[tuple[int, Json]]:
    found = (as_object(nodes[name].get("message")) for name in shown)
    return enumerate((message for message in found if message), 1)


def _text(message: Json) -> tuple[str, str | None]:
    """What a message says; or why it is left out."""
    content, metadata = as_object(message.get("content")), as_object(message.get("metadata"))
    role, kind = as_object(message.get("author")).get("role"), as_text(content.get("content_type"))
    said = [as_text(content.get("text")), *(_part(part) for part in as_list(content.get("parts")))]
    text = "\n\n".join(part for part in said if part.strip())
    reason = None
    if role == "system":
        reason = SYSTEM
    elif role == "tool" or (role == "assistant" and message.get("recipient") not in (None, "all")):
        reason = TOOL
    elif role not in _ROLES:
        reason = NOT_AN_OBJECT
    elif kind in _INSTRUCTIONS or metadata.get("is_user_system_message") is True:
        reason = INSTRUCTIONS
    elif kind in _REASONING:
        reason = REASONING
    elif metadata.get("is_visually_hidden_from_conversation") is True:
        reason = HIDDEN
    elif reason := unreadable(text):
        reason = (
            NOT_TEXT if reason == NO_TEXT and any(map(as_object, as_list(content.get("parts")))) else reason
        )
    return text, reason


def _part(part: object) -> str:
    """The words of a part: what was typed, or what was heard."""
    return part if isinstance(part, str) else as_text(as_object(part).get("text"))


def _message(
    conversation: str, index: int, message: Json, text: str, at: datetime | None, given: Json
) -> Message:
    metadata = as_object(message.get("metadata"))
    files = [as_text(as_object(one).get("name")) for one in as_list(metadata.get("attachments"))]
    more: dict[str, Any] = {"attachments": [name for name in files if name]}
    return Message(
        role=as_object(message.get("author"))["role"],
        content=text,
        conversation=conversation,
        index=index,
        at=at,
        model=as_text(metadata.get("model_slug")) or None,
        title=as_text(given.get("title")) or None,
        metadata=origin(SOURCE, id=as_text(message.get("id")), **more),
    )
