"""A request for a response as one for a chat completion, for upstreams that have nothing else."""

from typing import Any, cast

from recollect.server.gateway.reading import INSTRUCTIONS, Body, dicts
from recollect.server.gateway.refusals import Turned

OURS = frozenset(
    (
        *("input", "instructions", "text", "reasoning", "max_output_tokens", "tools", "tool_choice"),
        *("previous_response_id", "conversation", "prompt", "background", "include", "store", "metadata"),
        *("truncation", "max_tool_calls", "top_logprobs", "stream_options", "context_management"),
        *("prompt_cache_key", "prompt_cache_retention", "safety_identifier"),
    )
)
"""What requests for responses have of their own: translated below, kept here, or of no meaning elsewhere. All
other fields are passed on."""
WITHOUT = ("previous_response_id", "conversation", "prompt", "background")
"""What only an upstream with a state of its own can do."""
CALLS = {"function_call": ("function", "arguments"), "custom_tool_call": ("custom", "input")}
OUTPUTS = ("function_call_output", "custom_tool_call_output")


def to_chat(body: Body) -> Body:
    """The request, or `Turned` if it asks for what a chat completion cannot."""
    for name in WITHOUT:
        if body.get(name):
            raise _impossible(name, name)
    chat = {name: part for name, part in body.items() if name not in OURS}
    chat["messages"] = _messages(body.get("instructions"), body.get("input"))
    chat |= _format(_dict(body.get("text")))
    if (most := body.get("max_output_tokens")) is not None:
        chat["max_tokens"] = most  # which those know that know no responses
    if (effort := _dict(body.get("reasoning")).get("effort")) is not None:
        chat["reasoning_effort"] = effort
    if tools := [_tool(tool) for tool in dicts(body.get("tools"))]:
        chat["tools"] = tools
        if (choice := body.get("tool_choice")) is not None:
            chat["tool_choice"] = _choice(choice)
    else:
        chat.pop("parallel_tool_calls", None)  # refused where there are none
    if body.get("stream"):
        chat["stream_options"] = {"include_usage": True}
    return chat


def _messages(instructions: object, given: object) -> list[Body]:
    messages: list[Body] = []
    if isinstance(instructions, str) and instructions:
        messages.append({"role": "system", "content": instructions})
    if isinstance(given, str):
        return [*messages, {"role": "user", "content": given}]
    for item in dicts(given):
        kind = item.get("type") or "message"
        if kind == "message" and "role" in item:
            messages.append(_message(item))
        elif kind in CALLS:
            _add_call(messages, _call(item, *CALLS[kind]))
        elif kind in OUTPUTS:
            output = _content(item.get("output"), plain=True)
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": output})
        elif kind != "reasoning":  # which is for who has thought it
            raise _impossible(f"input of type {str(kind)[:100]}", "input")
    return messages


def _message(item: Body) -> Body:
    role = item["role"]
    plain = role != "user"
    content = _content(item.get("content"), plain=plain)
    return {"role": "system" if role in INSTRUCTIONS else role, "content": content}


def _call(item: Body, kind: str, field: str) -> Body:
    made = {"name": item.get("name"), field: item.get(field)}
    return {"id": item.get("call_id"), "type": kind, kind: made}


def _add_call(messages: list[Body], call: Body) -> None:
    """Calls that were made together are in one message, with what was said before them."""
    last = messages[-1] if messages else {}
    if last.get("role") == "assistant":
        last["tool_calls"] = [*last.get("tool_calls", ()), call]
    else:
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})


def _content(content: object, *, plain: bool) -> Any:
    """Parts as those of a chat; as text where that is all there is, or all that can be."""
    if not isinstance(content, list):
        return content
    parts = [_part(part) for part in dicts(cast(list[Any], content))]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    if plain:
        raise _impossible("images and files in what was not said by the user", "input")
    return parts


def _part(part: Body) -> Body:
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text"):
        return {"type": "text", "text": str(part.get("text") or "")}
    if kind == "refusal":
        return {"type": "text", "text": str(part.get("refusal") or "")}
    if kind == "input_image" and (url := part.get("image_url")) is not None:
        detail = {"detail": part["detail"]} if part.get("detail") else {}
        return {"type": "image_url", "image_url": {"url": url, **detail}}
    if kind == "input_file" and part.get("file_url") is None:
        names = ("file_data", "file_id", "filename")
        return {"type": "file", "file": {name: part[name] for name in names if part.get(name) is not None}}
    if kind == "input_audio":
        return {"type": "input_audio", "input_audio": part.get("input_audio")}
    raise _impossible(f"content of type {str(kind)[:100]}, or given so,", "input")


def _format(text: Body) -> Body:
    """How the answer is to be written."""
    told: Body = {}
    if (verbosity := text.get("verbosity")) is not None:
        told["verbosity"] = verbosity
    given = _dict(text.get("format"))
    if given.get("type") == "json_schema":
        schema = {name: part for name, part in given.items() if name != "type" and part is not None}
        told["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif given and given.get("type") != "text":
        told["response_format"] = given
    return told


def _tool(tool: Body) -> Body:
    kind = tool.get("type")
    if kind not in ("function", "custom"):
        raise _impossible(f"tools of type {str(kind)[:100]}", "tools")
    made = {name: part for name, part in tool.items() if name != "type" and part is not None}
    return {"type": kind, kind: made}


def _choice(choice: object) -> Any:
    if not isinstance(choice, dict):
        return choice
    given = cast(Body, choice)
    kind = given.get("type")
    if kind in ("function", "custom"):
        return {"type": kind, kind: {"name": given.get("name")}}
    if kind == "allowed_tools":
        tools = [_choice(tool) for tool in dicts(given.get("tools"))]
        return {"type": kind, kind: {"mode": given.get("mode"), "tools": tools}}
    raise _impossible(f"a tool_choice of type {str(kind)[:100]}", "tool_choice")


def _dict(value: object) -> Body:
    return cast(Body, value) if isinstance(value, dict) else {}


def _impossible(what: str, param: str) -> Turned:
    message = f"The upstream has chat completions only, which have no {what}: leave it out."
    return Turned(400, message, "unsupported", param)
