"""What a request says, as far as memory goes. Whatever is not understood is left to the upstream."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, cast

from recollect.record.threads import Call, Said, joined

Body = dict[str, Any]

TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Parts of a message that are text, and where they have it."""
ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}
"""Whose messages are remembered; what a program tells the model as `system` or `developer` is not said by
anybody."""
UNSAID = ("reasoning", "item_reference")
"""Items of a response that are no part of what was said."""
INSTRUCTIONS = ("system", "developer")


def parsed(raw: bytes) -> Body | None:
    """The body, if it is a JSON object."""
    try:
        body: object = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return cast(Body, body) if isinstance(body, dict) else None


def of_messages(messages: object) -> list[Said]:
    """The messages of a chat completion."""
    return joined(one for message in dicts(messages) if (one := of_message(message)) is not None)


def of_message(message: Body) -> Said | None:
    role = ROLES.get(str(message.get("role")))
    if role is None:
        return None
    text, attached = _content(message.get("content"))
    if not text and isinstance(message.get("refusal"), str):
        text = message["refusal"]
    given = message.get("audio") if role == "assistant" else None
    audio = cast(Body, given) if isinstance(given, dict) else {}
    if spoken := _text(audio.get("id")):
        attached += (_digest("audio", {"id": spoken}),)
    call = message.get("tool_call_id") if role == "tool" else None
    return Said(
        role=role,
        text=text or _text(audio.get("transcript")),
        calls=tuple(_calls(message)) if role == "assistant" else (),
        call=call if isinstance(call, str) else None,
        attached=attached,
        spoken=bool(spoken),
    )


def of_items(items: object) -> list[Said]:
    """The input or the output of a response."""
    if isinstance(items, str):
        return joined([Said(role="user", text=items)])
    return joined(one for item in dicts(items) if (one := _of_item(item)) is not None)


def _of_item(item: Body) -> Said | None:
    kind = item.get("type", "message")
    if kind == "message":
        return of_message(item)
    if kind in ("function_call", "custom_tool_call"):
        given = item.get("arguments") if kind == "function_call" else item.get("input")
        call = Call(_text(item.get("call_id")), _text(item.get("name")), _text(given))
        return Said(role="assistant", text="", calls=(call,))
    if kind in ("function_call_output", "custom_tool_call_output"):
        text, attached = _content(item.get("output"))
        return Said(role="tool", text=text, call=_text(item.get("call_id")), attached=attached)
    if kind in UNSAID or not isinstance(kind, str):
        return None
    role = "tool" if kind.endswith(("_output", "_response")) else "assistant"
    return Said(role=role, text="", attached=(_digest(kind, item),))


def asked(said: list[Said]) -> tuple[str, list[Body]]:
    """What the user said last, and the other messages."""
    last = max((place for place, one in enumerate(said) if one.role == "user"), default=None)
    if last is None:
        return "", []
    others = [{"role": one.role, "content": one.text} for place, one in enumerate(said) if place != last]
    return said[last].text.strip(), others


def dicts(values: object) -> Iterator[Body]:
    if isinstance(values, list):
        yield from (cast(Body, value) for value in cast(list[object], values) if isinstance(value, dict))


def _content(content: object) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text of it, and what is none."""
    if isinstance(content, str):
        return content, ()
    texts: list[str] = []
    attached: list[tuple[str, str]] = []
    for part in dicts(content):
        kind = _text(part.get("type"))
        if kind in TEXTS:
            texts.append(_text(part.get(TEXTS[kind])))
        else:
            attached.append(_digest(kind, part))
    return "\n".join(texts), tuple(attached)


def _digest(kind: str, part: Body) -> tuple[str, str]:
    return kind, hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()


def _calls(message: Body) -> Iterator[Call]:
    for call in dicts(message.get("tool_calls")):
        made = call.get("function") or call.get("custom")
        if isinstance(made, dict):
            named = cast(Body, made)
            given = named.get("arguments", named.get("input"))
            yield Call(_text(call.get("id")), _text(named.get("name")), _text(given))
    if isinstance(old := message.get("function_call"), dict):
        named = cast(Body, old)
        yield Call("", _text(named.get("name")), _text(named.get("arguments")))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
