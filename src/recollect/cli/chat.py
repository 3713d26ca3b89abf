"""recollect chat: talk with an agent that remembers."""

import importlib
import signal
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer

from recollect import wiring
from recollect.cli import output
from recollect.cli.failing import FAILED
from recollect.cli.frame import Here, command
from recollect.errors import Invalid, NotFound, RecollectError, SettingsError
from recollect.memory import Memory
from recollect.model.recollection import Recollection
from recollect.model.scope import GLOBAL
from recollect.model.shapes import to_json
from recollect.scoped import ScopedMemory

if TYPE_CHECKING:
    from recollect.agent.agent import Agent
    from recollect.agent.events import Recalled
    from recollect.cli.chat_view import View

app = typer.Typer()

NEEDED = (
    "Chatting needs a language model. Set RECOLLECT_MODEL to the base URL of an OpenAI-compatible API, "
    "RECOLLECT_MODEL_NAME to the model to ask for and, where one is needed, RECOLLECT_MODEL_KEY to its key; "
    "for Ollama on this machine: RECOLLECT_MODEL=http://localhost:11434/v1 RECOLLECT_MODEL_NAME=llama3.2."
)
HELP = """\
/remember TEXT   save a memory as it is given
/forget ID       erase one record, and what was derived from it alone
/forget last     erase what was last remembered or, if that is later, said; again, what was before it
/why             what was recalled for the last question, and why
/help            this
/quit            end the chat; so does Ctrl-D. Ctrl-C stops an answer.
//TEXT           say /TEXT"""
EXCHANGE = 2
"""The turns of a question and its answer."""


@command(
    app,
    "recollect chat",
    "recollect chat --verbose --conversation trip",
    "recollect chat --tools 'uvx mcp-server-time' --tools https://example.com/mcp --tools mcp.json",
    "echo 'What is my budget?' | recollect chat --json",
)
def chat(
    here: Here,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show what was recalled, and every step.")
    ] = False,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVER",
            help="An MCP server with tools: a command, a URL, or a file with mcpServers. Repeatable.",
        ),
    ] = None,
    instructions: Annotated[
        str, typer.Option(metavar="TEXT", help="What the agent is to be, in place of a helpful assistant.")
    ] = "",
) -> None:
    """Chat with an agent that remembers what you tell it, here and in every later chat.

    Lines of standard input are messages, so it works in a pipe; with --json each event is a line of JSON.
    Inside, /help lists what else there is: /remember, /forget, /why, /quit.
    """
    if not here.settings.model or not here.settings.model_name:
        raise SettingsError(NEEDED)
    from recollect.agent.agent import Agent
    from recollect.cli.chat_view import Human, Lines

    view: View = Lines() if here.options.json else Human(verbose, here.note)
    with _opened(here) as memory, _tools(here, tools or []) as found:
        name = here.options.conversation or _new_name(memory)
        scope = memory.scope(here.user, here.options.channel or GLOBAL, here.options.agent, name)
        with closing(Agent(scope, None, found, instructions=instructions)) as agent:
            here.stop_progress()
            view.begun(name, here.user)
            talk = Talk(agent, scope, name, view)
            # Whoever starts it from a script in the background would have it ignored otherwise.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            talk.go_on()
    if talk.failed and not sys.stdin.isatty():
        raise typer.Exit(FAILED)


@contextmanager
def _opened(here: Here) -> Generator[Memory]:
    """The memory, tended while the chat goes on."""
    embedder = wiring.open_embedder(here.settings, here.fetching)
    with Memory.open(here.settings.db, embedder=embedder or "none", background=True) as memory:
        yield memory


def _tools(here: Here, servers: list[str]) -> Any:
    if not servers:
        return nullcontext([])
    from recollect.agent.remote import Limits, mcp_tools

    return mcp_tools(servers, Limits.of(here.settings))


def _new_name(memory: Memory) -> str:
    return f"chat-{memory.clock.now():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"


class Talk:
    """One chat: what was asked last, and what can be done about it."""

    def __init__(self, agent: "Agent", scope: ScopedMemory, conversation: str, view: "View") -> None:
        self._agent = agent
        self._scope = scope
        self._conversation = conversation
        self._view = view
        self._asked: tuple[str, Recalled] | None = None
        self._done: list[list[str]] = []
        """What was said or remembered here, the latest last: `/forget last` erases it piece by piece."""
        self.failed = False
        """Whether the last question got no answer of the model's."""

    def go_on(self) -> None:
        """Message by message, until there are no more or /quit."""
        commands: Mapping[str, Callable[[str], None]] = {
            "/remember": self._remember,
            "/forget": self._forget,
            "/why": self._why,
            "/help": lambda _: self._view.told("help", HELP),
        }
        for line in _messages(self._view.prompt):
            name, _, rest = line.partition(" ")
            if name in ("/quit", "/exit"):
                return
            try:
                if line.startswith("//") or not line.startswith("/"):
                    self._ask(line.removeprefix("/") if line.startswith("//") else line)
                elif name in commands:
                    commands[name](rest.strip())
                else:
                    raise Invalid(f"There is no {name[:50]}; /help lists what there is.")
            except KeyboardInterrupt:
                self._view.stopped()
            except RecollectError as error:
                self._view.failed(error)

    def _ask(self, question: str) -> None:
        from recollect.agent.events import Final, Recalled

        self.failed = True
        before = self._turns()
        events = self._agent.stream(question, conversation=self._conversation)
        try:
            for event in events:
                if isinstance(event, Recalled):
                    self._asked = (question, event)
                if isinstance(event, Final):
                    self.failed = event.stopped == "model"
                self._view.event(event)
        finally:
            cast("Generator[Any]", events).close()  # so that the agent stops, wherever it was interrupted
            self._done.append([id for id in self._turns() if id not in before])

    def _turns(self) -> list[str]:
        """The latest turns of this conversation."""
        found = self._scope.list("turn", conversation=self._conversation, limit=EXCHANGE)
        return [turn.id for turn in found]

    def _remember(self, text: str) -> None:
        if not text:
            raise Invalid("Say what to remember: /remember TEXT.")
        memory = self._scope.remember(text)
        self._done.append([memory.id])
        self._view.told("remembered", f"Remembered: {memory.id}", memory=to_json(memory))

    def _forget(self, what: str) -> None:
        if not what:
            raise Invalid("Say what to forget: /forget ID, or /forget last.")
        counts = self._forget_last() if what == "last" else self._scope.forget(what).counts
        self._view.told("forgotten", f"Forgotten: {output.summed(counts) or 'nothing'}.", forgotten=counts)

    def _forget_last(self) -> Mapping[str, int]:
        """Erase the latest that is still there."""
        while self._done:
            counts: Counter[str] = Counter()
            for id in self._done.pop():
                with suppress(NotFound):  # forgotten by its id, or with what it was derived from
                    counts.update(self._scope.forget(id).counts)
            if counts:
                return dict(counts)
        raise NotFound("Nothing was remembered or said in this chat that is still there.")

    def _why(self, _: str) -> None:
        if self._asked is None:
            raise NotFound("Nothing was asked yet.")
        question, recalled = self._asked
        found = Recollection(query=question, hits=tuple(recalled.hits), problems=tuple(recalled.problems))
        self._view.told("why", found.explain())


def _messages(prompt: str) -> Iterator[str]:
    """What is typed or piped in, line by line; empty lines are nothing."""
    stream: TextIO = sys.stdin
    if isinstance(stream, TextIOWrapper):
        cast("TextIOWrapper[Any]", stream).reconfigure(errors="replace")
    lines = _typed(prompt) if sys.stdin.isatty() else iter(sys.stdin.readline, "")
    for line in lines:
        if text := line.strip():
            yield text


def _typed(prompt: str) -> Iterator[str]:
    with suppress(ImportError):
        importlib.import_module("readline")  # arrow keys and the lines before
    while True:
        try:
            yield input(prompt)
        except KeyboardInterrupt:
            output.error_line("\nCtrl-D or /quit ends the chat.")
        except EOFError:
            output.line("")
            return
