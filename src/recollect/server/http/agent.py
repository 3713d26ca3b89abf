"""Asking an agent: the same one as `recollect.Agent`, on the server, with memory where it is asked for."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import Annotated, Any, cast

from fastapi import APIRouter, FastAPI
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect import Agent, RecollectError
from recollect.agent.events import Event, Final, Text
from recollect.errors import ModelError
from recollect.ports.acting import Said, ToolsUnknown
from recollect.ports.language_model import Reply
from recollect.server import problems
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.shapes import MANY, Body, Flag, Name, Texts, gives, like, made
from recollect.server.problems import Refused
from recollect.server.scope import Scoped
from recollect.server.serving import Serving, serving
from recollect.server.toolbox import Toolbox
from recollect.wire import to_wire

SILENCE_SECONDS = 15.0
"""After so long without an event a stream says that it is still there, so that nobody in between ends it."""
NO_MODEL = (
    "This server has no language model for agents. Whoever runs it sets RECOLLECT_MODEL (the base URL of an "
    "OpenAI-compatible API), RECOLLECT_MODEL_NAME and, where one is needed, RECOLLECT_MODEL_KEY."
)
BUSY = "Too many questions are being worked on by agents. Ask again in a moment."


class Discreet:
    """The server's model; what it says of where it is when it fails is told to the log alone."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    def act(self, *given: Any, **named: Any) -> Iterator[str | Said]:
        if not hasattr(self._inner, "act"):
            raise ToolsUnknown(f"{self.name} takes no tools.")
        try:
            yield from self._inner.act(*given, **named)
        except ToolsUnknown:
            raise
        except ModelError as error:
            raise ModelError(problems.told(error), error.tokens) from None

    def ask(self, *given: Any, **named: Any) -> Reply:
        try:
            return self._inner.ask(*given, **named)
        except ModelError as error:
            raise ModelError(problems.told(error), error.tokens) from None

    def close(self) -> None:
        """The model is the memory's, which closes it."""


class Runs:
    """How many questions are worked on, of everybody and of each user."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._of: Counter[str] = Counter()

    @contextmanager
    def one(self, user: str) -> Generator[None]:
        """A place for as long as this is open; refused where there is none, or where others need theirs."""
        if self._of.total() >= self._most:
            raise Refused(503, BUSY, {"Retry-After": "5"})
        if self._of[user] >= (self._most + 1) // 2:
            raise Refused(429, BUSY, {"Retry-After": "5"})
        self._of[user] += 1
        try:
            yield
        finally:
            self._of[user] -= 1
            self._of += Counter()  # leaves out who has none


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncGenerator[None]:
    process: Serving = app.state.serving
    app.state.agent_runs = Runs(process.settings.agent_runs)
    app.state.toolbox = toolbox = Toolbox(process.settings)
    try:
        yield
    finally:
        await asyncio.to_thread(toolbox.close)


living = APIRouter(lifespan=_life)
"""No routes: what they need for as long as the server runs."""
router = ours("agent")


class AgentQuestion(Body):
    """A question to an agent."""

    question: Annotated[str, Field(min_length=1)]
    """What is asked, or what is to be done."""
    conversation: Name | None = None
    """The conversation to go on with; a new one, if none is given."""
    history: Annotated[list[str | dict[str, Any]], Field(max_length=MANY)] | None = None
    """Its earlier messages (texts, or objects with role and content), where the caller keeps them."""
    state: str | dict[str, Any] | None = None
    """Where the task stands: told to the model, and looked for in episodes."""
    group: Name | Texts | None = None
    """Only tools of these groups, and those of none."""
    enable_memory: Flag = False
    """Recall what bears on the question, and remember what was asked, done and answered."""
    stream: Flag = False
    """Answer with server-sent events, one for each thing that happens."""

    model_config = like(
        {"question": "What is my budget for the trip?", "enable_memory": True},
        {
            "question": "And in dollars?",
            "history": [
                {"role": "user", "content": "What is 10 euros in yen?"},
                {"role": "assistant", "content": "About 1,600 yen."},
            ],
            "stream": True,
        },
    )


Told = made(
    answer=str,
    stopped=str,
    conversation=str,
    iterations=int,
    tokens=dict[str, int],
    problems=list[str],
    events=list[dict[str, Any]],
)


@router.post("/agent", operation_id="agent", summary="Ask an agent", **gives(Told, "The answer"))
async def ask(request: Request, body: AgentQuestion, memory: Scoped) -> Response:
    """Have an agent answer: it thinks, uses its tools (its memory and the MCP servers that this server has)
    and observes until it can. With `stream` every step is an event: recalled, text, thought, action,
    observation, problem and final, in this order or again, each with its data as JSON. Whoever hangs up stops
    it."""
    process, toolbox = serving(request), cast(Toolbox, request.app.state.toolbox)
    if process.memory.model is None:
        raise Refused(503, NO_MODEL)
    runs = cast(Runs, request.app.state.agent_runs)
    tools = await process.run_waiting(toolbox.tools) if process.settings.agent_mcp else []
    agent = Agent(memory, Discreet(process.memory.model), tools)
    events = agent.astream(
        body.question,
        conversation=body.conversation,
        history=body.history or (),
        state=body.state,
        group=body.group,
        enable_memory=body.enable_memory,
    )
    with runs.one(memory.scope.user):  # so that a refusal is an answer with its status
        pass
    return Answering(_streamed if body.stream else _whole, events, runs, memory.scope.user)


class Answering(Response):
    """Goes through an agent's events. Stops the agent as soon as the client is gone."""

    def __init__(
        self,
        told: "Callable[[AsyncIterator[Event], Scope, Receive, Send], Awaitable[None]]",
        events: AsyncIterator[Event],
        runs: Runs,
        user: str,
    ) -> None:
        super().__init__()
        self._told = told
        self._events = events
        self._runs = runs
        self._user = user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answering = asyncio.ensure_future(self._answer(scope, receive, send))
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait((answering, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not answering.done():
                answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self._runs.one(self._user):
                async with aclosing(cast("AsyncGenerator[Event]", self._events)) as events:
                    await self._told(events, scope, receive, send)
        except Refused as refused:
            await problems.of(refused, scope["path"])(scope, receive, send)


async def _whole(events: AsyncIterator[Event], scope: Scope, receive: Receive, send: Send) -> None:
    """The answer as one object, when it is there."""
    told: list[Event] = [event async for event in events if not isinstance(event, Text)]
    final = told[-1]
    assert isinstance(final, Final)
    said = to_wire(final)
    whole = {"answer": said.pop("text"), **said, "events": [_wired(event) for event in told[:-1]]}
    await answer(whole)(scope, receive, send)


async def _streamed(events: AsyncIterator[Event], scope: Scope, receive: Receive, send: Send) -> None:
    """Every event as it comes."""
    headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    async for chunk in _chunks(events):
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _chunks(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    coming: asyncio.Task[Event] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(events))
            if not (await asyncio.wait({coming}, timeout=SILENCE_SECONDS))[0]:
                yield b": still at work\n\n"
                continue
            event, coming = coming.result(), None
            yield _event(event.type, _wired(event))
    except StopAsyncIteration:
        return
    except RecollectError as error:
        yield _event(
            "error", {"type": "error", "error": type(error).__name__, "detail": problems.told(error)}
        )
    finally:
        if coming is not None:
            coming.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration, Exception):
                await coming


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def _wired(event: Event) -> dict[str, Any]:
    return {"type": event.type, **to_wire(event)}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
