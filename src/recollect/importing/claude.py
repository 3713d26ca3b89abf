"""The data export of Claude: conversations.json, alone, in its zip or in its folder."""

from datetime import datetime
from pathlib import Path

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

SOURCE = "claude"
FILES = r"conversations(-\d+)?\.json"
NOT_SAID = "it is only reasoning, calls of tools or files"
_ROLES = {"human": "user", "assistant": "assistant"}


def read(path: Path) -> Items:
    """What was said in every conversation. What was attached as text follows its message, as a turn of its
    own: long pastes are kept so."""
    for source in sources(path, FILES):
        for where, value in values(source):
            if isinstance(value, Bad):
                yield Left(where, str(value))
            else:
                yield from _conversation(where, as_object(value))


def _conversation(where: str, given: Json) -> Items:
    id, messages = as_text(given.get("uuid")), [as_object(one) for one in as_list(given.get("chat_messages"))]
    if not id or not isinstance(given.get("chat_messages"), list):
        yield Left(where, NOT_AN_OBJECT)
        return
    shown = _shown(given, messages)
    index = 0
    at = a_time(given.get("created_at"))
    for place, message in enumerate(messages, 1):
        inside = f"{where}, message {place}"
        at = a_time(message.get("created_at")) or at
        if place - 1 not in shown:
            yield Left(inside, OTHER_BRANCH)
            continue
        for item in _said(inside, named(SOURCE, id), index, message, at, given):
            index += isinstance(item, Said)
            yield item


def _shown(given: Json, messages: list[Json]) -> set[int]:
    """The places of the messages that are the conversation. Older exports are a list; in newer ones each
    names what it answers."""
    ids = [as_text(message.get("uuid")) for message in messages]
    parents = {
        id: as_text(message.get("parent_message_uuid")) or None
        for id, message in zip(ids, messages, strict=True)
    }
    answers = sum(parent in parents for parent in parents.values())
    if len(parents) != len(messages) or not answers:
        return {*range(len(messages))}
    leaf = as_text(given.get("current_leaf_message_uuid"))
    way = {*branch(parents, leaf if leaf in parents else ids[-1])}
    return {place for place, id in enumerate(ids) if id in way}


def _said(
    where: str, conversation: str, index: int, message: Json, at: datetime | None, given: Json
) -> Items:
    """The message, and each text that was attached to it."""
    if (role := _ROLES.get(as_text(message.get("sender")))) is None:
        yield Left(where, NOT_AN_OBJECT)
        return
    title, id = as_text(given.get("name")) or None, as_text(message.get("uuid"))
    attached = [as_object(one) for one in as_list(message.get("attachments"))]
    files = [as_text(as_object(one).get("file_name")) for one in as_list(message.get("files"))]
    texts = [(_text(message), origin(SOURCE, id=id, attachments=[name for name in files if name]))]
    texts += (
        (text, origin(SOURCE, id=id, attachment=as_text(one.get("file_name")) or "pasted"))
        for one in attached
        if (text := as_text(one.get("extracted_content")))
    )
    for text, metadata in texts:
        reason = unreadable(text)
        if reason == NO_TEXT and len(texts) > 1:
            continue  # what was attached is what was said
        if reason is not None:
            yield Left(where, NOT_SAID if reason == NO_TEXT and message.get("content") else reason)
            continue
        yield Said(
            where,
            Message(
                role=role,
                content=text,
                conversation=conversation,
                index=index,
                at=at,
                title=title,
                metadata=metadata,
            ),
        )
        index += 1


def _text(message: Json) -> str:
    """The words of a message: its blocks of text, or what exports had before there were blocks."""
    blocks = [as_object(block) for block in as_list(message.get("content"))]
    said = [as_text(block.get("text")) for block in blocks if block.get("type") == "text"]
    return "\n\n".join(text for text in said if text.strip()) or (
        "" if said else as_text(message.get("text"))
    )
