"""Google ADK: a memory service, the tools of its agents, and what saves sessions.

    service = RecollectMemoryService(memory)
    agent = LlmAgent(name="helper", model=…, instruction="…", tools=service.tools())
    app = App(name="desk", root_agent=agent, plugins=[AutoSavePlugin(service)])
    runner = Runner(app=app, session_service=…, memory_service=service)

ADK's user is the user. An app is a channel: what one app was told is not read in another, and what is in the
channel that all read (`_global`) is. It is the agent's name, too. A session is the conversation
`app/session`.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.sessions.session import Session
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from recollect import GLOBAL, Conflict, Hit, Invalid, Message, NotFound, RecollectError, Turn
from recollect.integrations._asking import PATIENCE, asked, loaded, log, pieces, recalled, saved

if TYPE_CHECKING:
    from recollect import AsyncClient, AsyncMemory, Client, Memory
    from recollect.integrations._asking import Scoped

    Opened = Memory | AsyncMemory | Client | AsyncClient

USER_TURNS = 5
"""After how many messages of the user a session is saved."""
ATTEMPTS = 5
"""How often a session is added anew when others add to it at the same time."""
DIMENSIONS = 768
"""Of kagent's embeddings."""
SAVE_LINE = "Use save_memory to keep findings and learnings that will be useful in later conversations."
LOAD_LINE = "Use load_memory when you need more context than this conversation gives you."
_PREFETCHED = "temp:recollect_prefetched"
_ADDRESSES = {
    "openai": "https://api.openai.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "ollama": "http://localhost:11434/v1",
}


def conversation_of(app_name: str, session_id: str) -> str:
    """What the conversation of a session is called: ids of sessions are unique in their app only."""
    return f"{app_name}/{session_id}"


class RecollectMemoryService(BaseMemoryService):
    """ADK's memory, kept by Recollect, here or behind a server. It does not close what it is given."""

    def __init__(self, memory: "Opened", *, patience: float = PATIENCE) -> None:
        self._memory = memory
        self.patience = patience

    def scope(self, app_name: str, user_id: str) -> "Scoped":
        """The memory of an app's user."""
        if app_name == GLOBAL:
            raise Invalid(f"An app cannot be called {GLOBAL}: all others would read what it is told.")
        return self._memory.scope(user=user_id, channel=app_name, agent=app_name)

    def tools(self) -> list[Callable[..., Any] | BaseTool | BaseToolset]:
        """What an agent is given: `save_memory`, `load_memory`, and what looks up before its first word."""
        return [SaveMemoryTool(self), LoadMemoryTool(self), PrefetchMemoryTool(self)]

    async def add_session_to_memory(self, session: Session) -> None:
        """What was said since the session was last added. What was forgotten of it does not come back."""
        conversation = conversation_of(session.app_name, session.id)
        scope = self.scope(session.app_name, session.user_id)
        await _add(scope, conversation, [*_said(session.events)], _not_added)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """What was said in these events, of which those that are known change nothing."""
        conversation = conversation_of(app_name, session_id or "events")
        said = [*_said(events, custom_metadata or {})]
        await _add(self.scope(app_name, user_id), conversation, said, _not_known)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Save memories as they are given, all or none."""
        shared = dict(custom_metadata or {})
        given = [
            {"content": text, "metadata": {**shared, **entry.custom_metadata}}
            for entry in memories
            if (text := _text(entry.content)).strip()
        ]
        if given:
            await asked(self.scope(app_name, user_id).remember_many, given)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What bears on the query; nothing when memory cannot be asked, so that the agent goes on."""
        found = await recalled(partial(self.scope, app_name, user_id), query, self.patience)
        return SearchMemoryResponse(memories=[_entry(hit) for hit in found.hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a memory that a search found; one that is gone already stays so."""
        if memory_id:
            with suppress(NotFound):
                await asked(self.scope(app_name, user_id).forget, memory_id)


class SaveMemoryTool(FunctionTool):
    """`save_memory`, and the line of the agent's instruction that speaks of it."""

    def __init__(self, service: RecollectMemoryService) -> None:
        async def save_memory(content: str, tool_context: ToolContext) -> dict[str, Any]:
            """Saves a fact, a finding or a lesson, word for word, for later conversations with this user.

            Args:
              content: What is to be remembered, in a sentence that can be understood by itself.
            """
            metadata = {"author": tool_context.agent_name}
            return await saved(_scope_of(service, tool_context), content, service.patience, metadata=metadata)

        super().__init__(save_memory)

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.append_instructions([SAVE_LINE])


class LoadMemoryTool(FunctionTool):
    """`load_memory`, and the line of the agent's instruction that speaks of it."""

    def __init__(self, service: RecollectMemoryService) -> None:
        async def load_memory(query: str, tool_context: ToolContext) -> dict[str, Any]:
            """Searches what is remembered of earlier conversations with this user.

            Args:
              query: What you want to know, as a question or in a few words.
            """
            current = conversation_of(tool_context.session.app_name, tool_context.session.id)
            return await loaded(_scope_of(service, tool_context), query, service.patience, current)

        super().__init__(load_memory)

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.append_instructions([LOAD_LINE])


class PrefetchMemoryTool(BaseTool):
    """Puts what is remembered in front of the first message of a session. The model cannot call it."""

    def __init__(self, service: RecollectMemoryService) -> None:
        super().__init__(name="prefetch_memory", description="prefetch_memory")
        self._service = service

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        message = tool_context.user_content
        if not message or not (query := _text(message)).strip():
            return
        if user_turns(tool_context.session) > 1:
            return
        known = tool_context.state.get(_PREFETCHED)  # the model may be asked several times in one turn
        if known is None:
            session = tool_context.session
            current = conversation_of(session.app_name, session.id)
            scope = _scope_of(self._service, tool_context)
            found = await recalled(scope, query, self._service.patience, exclude_conversation=current)
            known = tool_context.state[_PREFETCHED] = found.context
        if known:
            contents = llm_request.contents
            place = next((i for i, content in enumerate(contents) if content.parts == message.parts), 0)
            contents.insert(place, types.Content(role="user", parts=[types.Part(text=known)]))


class AutoSavePlugin(BasePlugin):
    """Saves a session whenever its user has spoken `every` times more. What is left is saved by
    `add_session_to_memory` when a session is over."""

    def __init__(self, service: RecollectMemoryService, every: int = USER_TURNS) -> None:
        if every < 1:
            raise Invalid("every must be at least 1.")
        super().__init__(name="recollect_auto_save")
        self._service = service
        self._every = every

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        await self._save(invocation_context.session)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        await self._save(invocation_context.session)

    async def _save(self, session: Session) -> None:
        turns = user_turns(session)
        if not turns or turns % self._every:
            return
        try:
            await asyncio.wait_for(self._add(session), self._service.patience)
        except (RecollectError, TimeoutError) as error:  # the next time saves it all
            log.warning("A session was not saved to memory: %s", type(error).__name__)

    async def _add(self, session: Session) -> None:
        """Save it, unless its user has memory switched off."""
        if await asked(self._service.scope(session.app_name, session.user_id).is_on):
            await self._service.add_session_to_memory(session)


def user_turns(session: Session) -> int:
    """How often the user has spoken."""
    return sum(1 for event in session.events if event.author == "user" and _text(event.content).strip())


def embedding_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """kagent's embedding configuration (`provider` or `type`, `model`, `base_url`) for `Memory.open`: it is
    apart from the chat model's. Any provider that speaks OpenAI's embeddings will do."""
    provider = str(config.get("provider") or config.get("type") or "openai").lower()
    address = config.get("base_url") or _ADDRESSES.get(provider)
    if not address:
        raise Invalid(
            f"The embedding provider {provider!r} needs a base_url that speaks OpenAI's embeddings; "
            f"without one there are {', '.join(sorted(_ADDRESSES))}."
        )
    if not config.get("model"):
        raise Invalid("The embedding configuration needs a model.")
    settings = {
        "embedder": str(address),
        "embedder_model": str(config["model"]),
        "embedder_dimensions": int(config.get("dimensions") or DIMENSIONS),
    }
    return settings | ({"embedder_key": str(config["api_key"])} if config.get("api_key") else {})


class _Said(NamedTuple):
    """A piece of an event that can be a turn."""

    key: str
    message: Message


_Choice = Callable[[Sequence[_Said], Sequence[Turn], int], Sequence[_Said]]


def _said(events: Sequence[Event], metadata: Mapping[str, object] | None = None) -> Iterator[_Said]:
    for event in events:
        if event.partial:
            continue
        role = "user" if event.author == "user" else "assistant"
        for number, text in enumerate(pieces(_text(event.content))):
            key = f"{event.id}#{number}" if number else event.id
            told = {**(metadata or {}), "adk_event": key, "author": event.author}
            at = datetime.fromtimestamp(event.timestamp, UTC)
            yield _Said(key, Message(role=role, content=text, at=at, metadata=told))


async def _add(scope: "Scoped", conversation: str, said: Sequence[_Said], choice: _Choice) -> None:
    """Append what is new. Each turn has its place, so whoever adds the same at the same time changes nothing,
    and whoever adds something else looks again."""
    for _ in range(ATTEMPTS):
        found = await asked(scope.list, "conversation", id=conversation)
        start: int = found[0].next_index if found else 0  # before the turns: a place that is taken is noticed
        known: list[Turn] = await asked(scope.conversation, conversation)
        new = choice(said, known, start)
        turns = [replace(one.message, index=start + number) for number, one in enumerate(new)]
        try:
            if turns:
                await asked(scope.record_many, turns, conversation=conversation)
        except Conflict:
            continue
        return
    raise Conflict("Others kept adding to this session. Try again.")


def _not_known(said: Sequence[_Said], turns: Sequence[Turn], start: int) -> Sequence[_Said]:
    known = {turn.metadata.get("adk_event") for turn in turns}
    return [one for one in said if one.key not in known]


def _not_added(said: Sequence[_Said], turns: Sequence[Turn], start: int) -> Sequence[_Said]:
    """What of a session was not added before. Where turns are missing they were forgotten, and what is not
    known may be what they said: then only what comes after the last that was added is new. Of a long session
    only the end may have been loaded, with nothing in it that is known."""
    if len(turns) >= start:
        return _not_known(said, turns, start)
    known = {turn.metadata.get("adk_event"): turn.index for turn in turns}
    for place in reversed(range(len(said))):
        if (index := known.get(said[place].key)) is not None:
            return said[place + start - index :]
    return said if turns else said[start:]


def _text(content: types.Content | None) -> str:
    """What is said in a content; thoughts are not."""
    parts = (content.parts if content else None) or []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(hit: Hit) -> MemoryEntry:
    return MemoryEntry(
        id=hit.id,
        content=types.Content(
            role="model" if hit.role == "assistant" else "user", parts=[types.Part(text=hit.content)]
        ),
        author=hit.role,
        timestamp=hit.at.isoformat(timespec="seconds"),
        custom_metadata={"kind": hit.kind, "score": hit.score, "conversation": hit.conversation},
    )


def _scope_of(service: RecollectMemoryService, context: ToolContext) -> "Callable[[], Scoped]":
    return partial(service.scope, context.session.app_name, context.session.user_id)
