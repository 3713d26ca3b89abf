"""The agent: asks its model, calls its tools, and remembers."""

import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from recollect import settings as settings_module
from recollect import wiring
from recollect.agent.asynchronous import threaded
from recollect.agent.context import Scene, read_history
from recollect.agent.events import Answer, Event, Final, Recalled, Text, answered
from recollect.agent.later import Later, mine_due
from recollect.agent.loop import Run
from recollect.agent.memory_tools import DEFAULT, GOALS, checked, memory_tools
from recollect.agent.prompts import REASONS, Prompts
from recollect.agent.remembering import Remembered, Remembering
from recollect.agent.tools import Tool, beside, in_groups, offered
from recollect.agent.trace import Trace
from recollect.agent.turning import Speaking
from recollect.agent.waiting import Cancelled, Workers
from recollect.errors import Invalid, SettingsError
from recollect.limits import check_given, check_number, check_text, check_texts, check_whole, shown
from recollect.model.scope import check_name
from recollect.ports.acting import ActingModel
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.language_model import ChatMessage, LanguageModel, as_data
from recollect.ports.spending import metered_model
from recollect.scoped import ScopedMemory, workspace_of
from recollect.scoped.seeing import place_of
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect import RemoteScopedMemory

Given = Sequence[str | Mapping[str, Any] | ChatMessage]
MOST = 1_000_000_000
NO_MEMORY = "The agent has no memory."
LEFT_OUT = "Memory is left out of this question."
OFF = "The user has switched memory off."
UNKNOWN = "Whether memory is on is not known, so it is left out"


class Agent:
    """A ReAct agent: its model thinks, calls tools and observes until it can answer.

    With a `memory` (one user's, here or behind a server) it remembers: facts, episodes and procedures that
    bear on the question come first, and what was asked, done and answered is kept. Without, it is the same
    agent. `model` is one with tool calling (`ActingModel`) or one that only answers (`LanguageModel`); if
    none is given, the memory's own, or that of the settings. `tools` are typed functions or `Tool`s. What
    is not given of the rest is as in the settings (RECOLLECT_AGENT_…). Safe in any thread.
    """

    def __init__(
        self,
        memory: "ScopedMemory | RemoteScopedMemory | None" = None,
        model: ActingModel | LanguageModel | None = None,
        tools: Sequence[Tool | Callable[..., Any]] = (),
        *,
        instructions: str = "",
        memory_tools: Sequence[str] = DEFAULT,
        max_iterations: int | None = None,
        max_seconds: float | None = None,
        max_tokens: int | None = None,
        tool_seconds: float | None = None,
        prompts: Prompts | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
    ) -> None:
        if memory is not None and not hasattr(memory, "_at"):
            raise Invalid(f"The memory must be one user's, memory.scope(user=…), not {shown(memory)}.")
        self._memory = memory
        work = workspace_of(memory) if isinstance(memory, ScopedMemory) else None
        base = settings or (work.settings if work else settings_module.load())
        limits = {
            "agent_max_iterations": _whole("max_iterations", max_iterations),
            "agent_max_seconds": _seconds("max_seconds", max_seconds),
            "agent_max_tokens": _whole("max_tokens", max_tokens),
            "agent_tool_seconds": _seconds("tool_seconds", tool_seconds),
        }
        self._settings = replace(base, **{name: one for name, one in limits.items() if one is not None})
        self._later = Later()
        self._memory_tools = checked(memory_tools)
        taken = {*self._memory_tools, GOALS} if memory is not None and self._memory_tools else set[str]()
        self._tools = offered(beside(taken, tools))
        self._instructions = check_text("instructions", instructions, base.content_limit) or ""
        self._prompts = prompts or Prompts()
        self._clock = clock or (work.clock if work else SystemClock())
        self._opened = wiring.open_model(base) if model is None and not (work and work.model) else None
        found: Any = model or (work.model if work else None) or self._opened
        if found is None:
            raise SettingsError(
                "An agent needs a language model: give it one, or set RECOLLECT_MODEL and "
                "RECOLLECT_MODEL_NAME."
            )
        spends = work is not None and found is not work.model
        self._model: Any = metered_model(found, work.spend) if work and spends else found

    def ask(
        self,
        question: str,
        *,
        conversation: str | None = None,
        history: Given = (),
        state: str | Mapping[str, Any] | None = None,
        group: str | Sequence[str] | None = None,
        enable_memory: bool | None = None,
    ) -> Answer:
        """The answer, when it is there, with all that happened on the way.

        `conversation` is the one to go on with; without it, the memory's, or a new one. `history` are its
        earlier messages, where somebody else keeps them. `state` is where the task stands: told to the model,
        and looked for in episodes. `group` leaves only tools of these groups, and those of none.
        `enable_memory=False` leaves memory out of this question.
        """
        return _collected(
            self.stream(
                question,
                conversation=conversation,
                history=history,
                state=state,
                group=group,
                enable_memory=enable_memory,
            )
        )

    def stream(
        self,
        question: str,
        *,
        conversation: str | None = None,
        history: Given = (),
        state: str | Mapping[str, Any] | None = None,
        group: str | Sequence[str] | None = None,
        enable_memory: bool | None = None,
    ) -> Iterator[Event]:
        """What happens, as it happens; the last is `Final`. Closing it stops the agent."""
        start = self._started(question, conversation, history, state, group, enable_memory)
        return start(Workers())

    async def aask(
        self,
        question: str,
        *,
        conversation: str | None = None,
        history: Given = (),
        state: str | Mapping[str, Any] | None = None,
        group: str | Sequence[str] | None = None,
        enable_memory: bool | None = None,
    ) -> Answer:
        """`ask` for asyncio. Cancelling it stops the agent."""
        start = self._started(question, conversation, history, state, group, enable_memory)
        return _collected([event async for event in threaded(start, self._settings.agent_memory_seconds)])

    def astream(
        self,
        question: str,
        *,
        conversation: str | None = None,
        history: Given = (),
        state: str | Mapping[str, Any] | None = None,
        group: str | Sequence[str] | None = None,
        enable_memory: bool | None = None,
    ) -> AsyncIterator[Event]:
        """`stream` for asyncio. Cancelling or closing it stops the agent."""
        start = self._started(question, conversation, history, state, group, enable_memory)
        return threaded(start, self._settings.agent_memory_seconds)

    def close(self) -> None:
        """Wait for conversations that are being mined, no longer than for an answer, and let go of a model
        that was opened from the settings; one that was given is its giver's."""
        self._later.close(self._settings.agent_max_seconds)
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _started(
        self,
        question: str,
        conversation: str | None,
        history: Given,
        state: str | Mapping[str, Any] | None,
        group: str | Sequence[str] | None,
        enable_memory: bool | None,
    ) -> Callable[[Workers], Iterator[Event]]:
        """What to do, once all that was given is checked."""
        if not check_given("question", question, self._settings.content_limit).strip():
            raise Invalid("The question is empty.")
        if conversation is not None:
            check_name("conversation", conversation)
        if enable_memory and self._memory is None:
            raise Invalid("There is no memory to enable: give the agent one, Agent(memory, …).")
        said = read_history(history)
        where = state or ""
        check_given("state", _text(where), self._settings.content_limit)
        groups = None if group is None else check_texts("group", group)
        tools = offered(in_groups(self._tools.values(), groups))
        remembers = self._memory is not None and enable_memory is not False
        own = place_of(self._memory).conversation if self._memory is not None else None
        talk = conversation or own or uuid.uuid4().hex
        return lambda workers: self._events(question, talk, said, where, tools, remembers, workers)

    def _events(
        self,
        question: str,
        conversation: str,
        history: Sequence[ChatMessage],
        state: str | Mapping[str, Any],
        tools: dict[str, Tool],
        remembers: bool,
        workers: Workers,
    ) -> Iterator[Event]:
        began = monotonic()
        memory: Remembering | None = None
        run: Run | None = None
        finished = False
        try:
            memory, skipped, problems = self._remembering(conversation, remembers, workers, began)
            if memory:
                memory.asked(question)
            said = [message._asdict() for message in history]
            known = memory.begin(question, _text(state), said) if memory else Remembered()
            yield Recalled(known.hits, known.context, tuple(problems), skipped)
            run = self._run(question, history, state, tools, known, memory, workers, began)
            yield from run.steps()
            if memory:
                stopped = run.stopped or "model"
                if memory.finish(question, run.said, run.done, stopped, self._model.name):
                    self._mine(memory)
            finished = True
            yield self._final(run, conversation, problems)
        except Cancelled:
            pass
        finally:
            workers.cancel()
            if memory and not finished:
                memory.give_up(question, run.done if run else ())

    def _remembering(
        self, conversation: str, remembers: bool, workers: Workers, began: float
    ) -> tuple[Remembering | None, str | None, list[str]]:
        """The memory to use; or why none is; and its problems. Where it is not known whether the user has
        memory on, nothing of them is kept."""
        if not remembers:
            return None, NO_MEMORY if self._memory is None else LEFT_OUT, []
        until = began + self._settings.agent_max_seconds
        memory = Remembering(self._memory, conversation, self._settings, workers, until)
        match memory.attempt(UNKNOWN, memory.memory.is_on):
            case True:
                return memory, None, memory.problems
            case False:
                return None, OFF, []
            case _:
                return None, UNKNOWN, memory.problems

    def _mine(self, memory: Remembering) -> None:
        """Mine the conversation. By rules it takes no time; a model mines when the answer is given. Behind a
        server that is its background's work."""
        work = workspace_of(self._memory) if isinstance(self._memory, ScopedMemory) else None
        if work is None:
            return
        due = partial(mine_due, work, memory.conversation)
        if work.model is None or work.settings.miner == "rules":
            memory.attempt("The conversation was not mined", due)
        else:
            self._later.add(memory.conversation, due)

    def _run(
        self,
        question: str,
        history: Sequence[ChatMessage],
        state: str | Mapping[str, Any],
        tools: dict[str, Tool],
        known: Remembered,
        memory: Remembering | None,
        workers: Workers,
        began: float,
    ) -> Run:
        settings, prompts = self._settings, self._prompts
        names = (*self._memory_tools, *((GOALS,) if known.goals and self._memory_tools else ()))
        own = memory_tools(memory.memory, settings, dict.fromkeys(names), memory.shown) if memory else []
        scene = Scene(
            question=question,
            instructions=self._instructions,
            additional=settings.agent_additional_context,
            state=as_data(state) if state else "",
            history=history,
            remembered=known,
            remembers=bool(own),
            now=self._clock.now(),
        )
        return Run(
            scene=scene,
            tools={**{tool.name: tool for tool in own}, **tools},
            speaking=Speaking(
                self._model,
                prompts.react,
                settings.agent_tools == "text",
                settings.agent_tools == "native",
                settings.agent_answer_tokens,
            ),
            settings=settings,
            prompts=prompts,
            workers=workers,
            trace=Trace(settings, self._clock.now, memory),
            began=began,
            remembering=memory,
            own=frozenset(tool.name for tool in own) - tools.keys(),
        )

    def _final(self, run: Run, conversation: str, problems: Sequence[str]) -> Final:
        stopped = run.stopped or "model"
        text = run.said or self._prompts.no_answer.format(reason=REASONS.get(stopped, stopped))
        told = (*run.problems, *problems)
        return Final(text, stopped, conversation, run.iterations, run.tokens, told)


def _collected(events: Iterator[Event] | Sequence[Event]) -> Answer:
    told = [event for event in events if not isinstance(event, Text)]
    final = told[-1]
    assert isinstance(final, Final)
    return answered(final, tuple(told))


def _text(state: str | Mapping[str, Any]) -> str:
    return state if isinstance(state, str) else as_data(state)


def _whole(name: str, value: int | None) -> int | None:
    return None if value is None else check_whole(name, value, MOST, 1)


def _seconds(name: str, value: float | None) -> float | None:
    return None if value is None else check_number(name, value, 0.001, MOST)
