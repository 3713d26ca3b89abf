"""The gateway's routes as the OpenAPI document tells them: what is ours. The rest is as OpenAI has it."""

from typing import Any

from recollect.server.gateway.wanted import RETRIEVED

TAG = "gateway"


def _object(what: str, **fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "description": what, "properties": fields}


def _header(name: str, what: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": what,
        "schema": {"type": "string"},
    }


HEADERS = [
    _header("X-Recollect-Memory", "`off`: nothing is recalled, and nothing is kept."),
    _header("X-Recollect-Channel", "The channel that is written to and read, percent-encoded."),
    _header("X-Recollect-Agent", "The agent that is at work, percent-encoded."),
    _header("X-Recollect-Conversation", "The conversation that goes on, percent-encoded."),
]
MEMORY = {
    "memory_config": _object(
        "What memory is to do for this request; it is not passed on.",
        enabled={"type": "boolean", "description": "`false`: nothing is recalled, and nothing is kept."},
        auto_store={"type": "boolean", "description": "`false`: nothing is recorded."},
        retrieval_limit={
            "type": "integer",
            "minimum": 0,
            "maximum": RETRIEVED,
            "description": "How many memories; 0: none.",
        },
        similarity_threshold={"type": "number", "description": "The least similarity of a memory."},
        memory_types={"type": "array", "items": {"type": "string"}, "description": "Of which kinds."},
    ),
    "memory_context": _object(
        "Whose memory it is; it is not passed on.",
        user_id={"type": "string", "description": "The user of the key, or whom a service's key acts for."},
        project_id={"type": "string", "description": "The channel."},
    ),
}
TOLD = {
    "X-Recollect-Injected": "The ids of the memories that were put in.",
    "X-Recollect-Conversation": "The conversation that the request is recorded in.",
    "X-Recollect-Problem": "Why there was no memory, or less than usual.",
}
ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("message", "type", "param", "code")},
        }
    },
}


def _operation(id: str, summary: str, description: str, **more: Any) -> dict[str, Any]:
    answered: dict[str, Any] = {
        "200": {"description": "What the upstream answers", "content": {"application/json": {"schema": {}}}},
        "4XX": {
            "description": "An error, in OpenAI's shape",
            "content": {"application/json": {"schema": ERROR}},
        },
    }
    told = {"tags": [TAG], "operationId": id, "summary": summary, "description": description}
    return {**told, "responses": answered, **more}


def _asking(id: str, summary: str, description: str, example: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "required": [*example],
        "properties": {**{name: {} for name in example}, "stream": {"type": "boolean"}, **MEMORY},
    }
    content = {"application/json": {"schema": schema, "example": example}}
    told = _operation(
        id, summary, description, parameters=HEADERS, requestBody={"required": True, "content": content}
    )
    told["responses"]["200"]["headers"] = {
        name: {"description": what, "schema": {"type": "string"}} for name, what in TOLD.items()
    }
    return told


_ID = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
_CHAT = {"model": "gpt-5-mini", "messages": [{"role": "user", "content": "Which tea do I like?"}]}

PATHS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "post": _asking(
            "chat_completions",
            "Chat, with memory",
            "OpenAI's Chat Completions: passed on with what is remembered, and recorded with its answer.",
            _CHAT,
        )
    },
    "/v1/responses": {
        "post": _asking(
            "create_response",
            "Respond, with memory",
            "OpenAI's Responses: passed on with what is remembered, and recorded with its answer. What "
            "`previous_response_id` names is kept here.",
            {"model": "gpt-5-mini", "input": "Which tea do I like?"},
        )
    },
    "/v1/responses/{id}": {
        "get": _operation("get_response", "Read a response", "As it was answered.", parameters=_ID),
        "delete": _operation(
            "delete_response", "Delete a response", "What was said stays recorded.", parameters=_ID
        ),
    },
    "/v1/models": {
        "get": _operation("models", "List models", "Passed on as it is: the models of the upstream.")
    },
    "/v1/embeddings": {
        "post": _operation(
            "embeddings",
            "Embed",
            "Passed on as it is, like all else below `/v1` that leaves nothing at the upstream.",
            requestBody={"required": True, "content": {"application/json": {"schema": {"type": "object"}}}},
        )
    },
}
