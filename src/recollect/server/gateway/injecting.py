"""Memories put into a request: where the program's own instructions are, behind them."""

from typing import Any, cast

from recollect.server.gateway.reading import INSTRUCTIONS, Body

OURS = ("memory_config", "memory_context")
"""What is meant for us in a body; upstreams refuse what they do not know."""


def stripped(body: Body) -> Body:
    """The body without what is ours; itself if nothing is."""
    return {name: part for name, part in body.items() if name not in OURS} if _has_ours(body) else body


def _has_ours(body: Body) -> bool:
    return any(name in body for name in OURS)


def into_chat(body: Body, context: str) -> Body:
    given: object = body.get("messages")
    if not isinstance(given, list):
        return body
    messages = [*cast(list[Any], given)]
    for place, message in enumerate(messages):
        if isinstance(message, dict) and cast(Body, message).get("role") in INSTRUCTIONS:
            if (content := _appended(cast(Body, message).get("content"), context)) is not None:
                messages[place] = {**message, "content": content}
                return {**body, "messages": messages}
            break
    return {**body, "messages": [{"role": "system", "content": context}, *messages]}


def _appended(content: object, context: str) -> Any:
    """The content and the context, or None if it is of no kind that is known."""
    if isinstance(content, str):
        return f"{content}\n\n{context}"
    if isinstance(content, list):
        return [*cast(list[Any], content), {"type": "text", "text": context}]
    return None


def into_response(body: Body, context: str) -> Body:
    instructions = body.get("instructions")
    if isinstance(instructions, str) and instructions:
        return {**body, "instructions": f"{instructions}\n\n{context}"}
    if not instructions:
        return {**body, "instructions": context}
    return body
