"""Pydantic AI: tools, and a capability that puts memory into the history and records what is said.

    anna = memory.scope(user="anna")
    agent = Agent(model, toolsets=[memory_toolset(anna)], capabilities=[MemoryHistory(anna)])
    await agent.run("…", conversation_id="support-42")

For an agent that serves many users give a function in place of the scope:
`lambda ctx: memory.scope(user=ctx.deps.user)`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic_ai import AgentRunResult, FunctionToolset, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_core import to_json

from recollect import Message
from recollect.integrations._asking import PATIENCE, check_scope, loaded, pieces, recalled, saved, tried

if TYPE_CHECKING:
    from recollect.integrations._asking import Scoped

    ScopeOf = Scoped | Callable[[RunContext[Any]], Scoped]

INSTRUCTIONS = (
    "Use remember to keep findings and learnings that will be useful in later conversations.\n"
    "Use recall when you need more context than this conversation gives you."
)


def memory_toolset(scope: "ScopeOf", *, patience: float = PATIENCE) -> FunctionToolset[Any]:
    """`recall` and `remember`, of one user or of whomever the run is for."""
    check_scope(scope)

    async def recall(ctx: RunContext[Any], query: str) -> dict[str, Any]:
        """Search what is remembered of earlier conversations with this user.

        Args:
            ctx: The run.
            query: What you want to know, as a question or in a few words.
        """
        return await loaded(_of(scope, ctx), query, patience, ctx.conversation_id)

    async def remember(ctx: RunContext[Any], content: str) -> dict[str, Any]:
        """Save a fact, a finding or a lesson, word for word, for later conversations with this user.

        Args:
            ctx: The run.
            content: What is to be remembered, in a sentence that can be understood by itself.
        """
        return await saved(_of(scope, ctx), content, patience)

    return FunctionToolset[Any]([recall, remember], id="recollect", instructions=INSTRUCTIONS)


@dataclass
class MemoryHistory(AbstractCapability[Any]):
    """Before the model is asked, what is remembered of other conversations stands in front of the user's last
    message; after a run, also one that failed, what was said is recorded. What the model was shown of memory
    becomes no part of the run's messages."""

    scope: "ScopeOf"
    patience: float = PATIENCE
    _shown: dict[str, str] = field(default_factory=dict[str, str], init=False, repr=False)
    """What was recalled for a message; the model may be asked several times in a run."""

    _new: list[ModelMessage] = field(default_factory=list[ModelMessage], init=False, repr=False)
    """What was said in this run before the model was asked last; it is told nobody else when a run fails."""

    def __post_init__(self) -> None:
        check_scope(self.scope)

    async def for_run(self, ctx: RunContext[Any]) -> "MemoryHistory":
        return replace(self)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        messages = list(request_context.messages)
        self._new = messages[messages.index(self._new[0]) if self._new and self._new[0] in messages else -1 :]
        request_context.messages = await self.process(ctx, messages)
        return request_context

    async def process(self, ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        """A history processor: the history with what is remembered now in it, and not what was before."""
        messages = [_without_memory(message) for message in messages]
        for place in reversed(range(len(messages))):
            message = messages[place]
            query = "\n".join(_asked(message)) if isinstance(message, ModelRequest) else ""
            if isinstance(message, ModelRequest) and query.strip():
                if known := await self._known(ctx, query):
                    shown = replace(message, parts=[SystemPromptPart(known), *message.parts])
                    return [*messages[:place], shown, *messages[place + 1 :]]
                break
        return messages

    async def _known(self, ctx: RunContext[Any], query: str) -> str:
        if query not in self._shown:
            scope = _of(self.scope, ctx)
            how = {"exclude_conversation": ctx.conversation_id}
            self._shown[query] = (await recalled(scope, query, self.patience, **how)).context
        return self._shown[query]

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        messages = result.new_messages()
        turns = [turn for message in messages for turn in _turns(message, ctx.run_id)]
        if messages and isinstance(messages[-1], ModelRequest):  # the answer was given by calling a tool
            turns = [turn for message in messages[:-1] for turn in _turns(message, ctx.run_id)]
            turns += _answer(to_json(result.output, fallback=repr).decode(), messages[-2], ctx.run_id)
        await self._record(ctx, turns)
        return result

    async def on_run_error(self, ctx: RunContext[Any], *, error: BaseException) -> AgentRunResult[Any]:
        if isinstance(error, Exception):  # and not a cancellation, which is not to be held up
            await self._record(ctx, [turn for message in self._new for turn in _turns(message, ctx.run_id)])
        raise error

    async def _record(self, ctx: RunContext[Any], turns: Sequence[Message]) -> None:
        """Record turns, if the user is known to have memory switched on."""
        if turns and (await tried(_of(self.scope, ctx), "is_on", self.patience))[0]:
            where = {"conversation": ctx.conversation_id}
            await tried(_of(self.scope, ctx), "record_many", self.patience, turns, **where)


def _of(scope: "ScopeOf", ctx: RunContext[Any]) -> "Callable[[], Scoped]":
    return lambda: scope(ctx) if callable(scope) else scope


def _without_memory(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    parts = [part for part in message.parts if not _is_memory(part)]
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def _is_memory(part: ModelRequestPart) -> bool:
    return isinstance(part, SystemPromptPart) and part.content.startswith("<memory_context")


def _asked(request: ModelRequest) -> Iterator[str]:
    """What the user says in a request."""
    for part in request.parts:
        if isinstance(part, UserPromptPart):
            yield from _texts(part)


def _texts(prompt: UserPromptPart) -> Iterator[str]:
    for content in [prompt.content] if isinstance(prompt.content, str) else prompt.content:
        if isinstance(content, str):
            yield content
        elif isinstance(content, TextContent):
            yield content.content


def _turns(message: ModelMessage, run: str | None) -> Iterator[Message]:
    """What is said in a message: by the user, by tools, or by the model. What a tool is asked, and thoughts,
    are not."""
    metadata = {"run": run} if run else {}
    if isinstance(message, ModelResponse):
        yield from _answer(message.text or "", message, run)
        return
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            for text in pieces("\n".join(_texts(part))):
                yield Message(role="user", content=text, at=part.timestamp, metadata=metadata)
        elif isinstance(part, ToolReturnPart) and part.tool_name not in ("recall", "remember"):
            for text in pieces(part.model_response_str()):
                told = {**metadata, "tool": part.tool_name}
                yield Message(role="tool", content=text, at=part.timestamp, metadata=told)


def _answer(text: str, message: ModelMessage, run: str | None) -> Iterator[Message]:
    """What the model says in a message."""
    at, model = (
        (message.timestamp, message.model_name) if isinstance(message, ModelResponse) else (None, None)
    )
    for piece in pieces(text):
        yield Message(
            role="assistant", content=piece, at=at, model=model, metadata={"run": run} if run else {}
        )
