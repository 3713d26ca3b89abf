"""Requests for responses as requests for chat completions."""

from typing import Any

import pytest

from recollect.server.gateway.refusals import Turned
from recollect.server.gateway.to_chat import to_chat

IMAGE = "data:image/png;base64,AAAA"


def messages(given: Any, **more: Any) -> list[Any]:
    return to_chat({"model": "m", "input": given, **more})["messages"]


def test_a_text_with_instructions() -> None:
    chat = to_chat({"model": "m", "input": "Hi", "instructions": "Be brief.", "top_k": 3, "temperature": 0})
    assert chat == {
        "model": "m",
        "top_k": 3,
        "temperature": 0,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
    }


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"role": "developer", "content": "x"}, {"role": "system", "content": "x"}),
        (
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "a", "annotations": []}],
            },
            {"role": "assistant", "content": "a"},
        ),
        (
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            {"role": "assistant", "content": "No."},
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "a"},
                    {"type": "input_image", "image_url": IMAGE, "detail": "low"},
                    {"type": "input_file", "filename": "f.pdf", "file_data": "data:x"},
                    {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image_url", "image_url": {"url": IMAGE, "detail": "low"}},
                    {"type": "file", "file": {"filename": "f.pdf", "file_data": "data:x"}},
                    {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}},
                ],
            },
        ),
        (
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": [{"type": "input_text", "text": "sun"}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "sun"},
        ),
    ],
)
def test_messages(item: Any, message: Any) -> None:
    assert messages([item]) == [message]


def test_calls_made_together_are_one_message_with_what_was_said_before() -> None:
    def call(n: int) -> Any:
        return {"type": "function_call", "id": f"fc_{n}", "call_id": f"c{n}", "name": "f", "arguments": "{}"}

    def made(n: int) -> Any:
        return {"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}}

    outputs = [{"type": "function_call_output", "call_id": f"c{n}", "output": str(n)} for n in (1, 2)]
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    custom = {"type": "custom_tool_call", "call_id": "c3", "name": "g", "input": "x"}
    told = [{"role": "user", "content": "Go"}, thought, call(1), call(2), *outputs]
    assert messages([*told, {"role": "assistant", "content": "Then"}, custom]) == [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": None, "tool_calls": [made(1), made(2)]},
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
        {
            "role": "assistant",
            "content": "Then",
            "tool_calls": [{"id": "c3", "type": "custom", "custom": {"name": "g", "input": "x"}}],
        },
    ]


@pytest.mark.parametrize(
    ("asked", "chat"),
    [
        ({"max_output_tokens": 5}, {"max_tokens": 5}),
        ({"reasoning": {"effort": "low", "summary": "auto"}}, {"reasoning_effort": "low"}),
        ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
        ({"store": True, "include": [], "metadata": {"a": "b"}, "truncation": "auto"}, {}),
        ({"previous_response_id": None, "background": False, "tools": [], "tool_choice": "auto"}, {}),
        ({"parallel_tool_calls": True}, {}),
        ({"text": {"format": {"type": "text"}, "verbosity": "low"}}, {"verbosity": "low"}),
        ({"text": {"format": {"type": "json_object"}}}, {"response_format": {"type": "json_object"}}),
        (
            {"text": {"format": {"type": "json_schema", "name": "n", "schema": {}, "strict": True}}},
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "n", "schema": {}, "strict": True},
                }
            },
        ),
        (
            {
                "tools": [{"type": "function", "name": "f", "parameters": {}, "strict": None}],
                "tool_choice": {"type": "function", "name": "f"},
                "parallel_tool_calls": False,
            },
            {
                "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
                "tool_choice": {"type": "function", "function": {"name": "f"}},
                "parallel_tool_calls": False,
            },
        ),
    ],
)
def test_fields(asked: dict[str, Any], chat: dict[str, Any]) -> None:
    told = to_chat({"model": "m", "input": "Hi", **asked})
    assert told == {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **chat}


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"background": True}, "background"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input"),
        ({"input": [{"type": "web_search_call", "id": "ws_1"}]}, "input"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]}, "input"),
        (
            {"input": [{"role": "assistant", "content": [{"type": "input_image", "image_url": IMAGE}]}]},
            "input",
        ),
        ({"tools": [{"type": "function", "name": "f"}], "tool_choice": {"type": "mcp"}}, "tool_choice"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, Any], param: str) -> None:
    with pytest.raises(Turned) as turned:
        to_chat({"model": "m", "input": "Hi", **asked})
    assert turned.value.status == 400
    assert param in bytes(turned.value.answer().body).decode()


@pytest.mark.parametrize(
    "given", [None, 3, [], [None, 3, "x"], [{"role": ["user"], "content": 3}], [{"role": "user"}]]
)
def test_odd_input_is_the_upstreams_to_refuse(given: Any) -> None:
    assert isinstance(messages(given, tools="x", text=3, reasoning=[], tool_choice=4), list)
