"""What a chat shows: to somebody who reads it, or as lines of JSON."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from recollect.agent.events import Action, Event, Final, Observation, Problem, Recalled, Text, Thought
from recollect.cli import output
from recollect.wire import to_wire

SHOWN = 400
"""The most characters of one step that are shown."""


class View(Protocol):
    """Where a chat tells what happens."""

    prompt: str

    def begun(self, conversation: str, user: str) -> None: ...

    def event(self, event: Event) -> None: ...

    def told(self, type: str, text: str, **data: Any) -> None:
        """What a command of the chat did."""
        ...

    def failed(self, error: Exception) -> None: ...

    def stopped(self) -> None:
        """The answer was stopped by whoever asked."""
        ...


class Lines:
    """Every event as one line of JSON, for programs."""

    prompt = ""

    def begun(self, conversation: str, user: str) -> None:
        self._line({"type": "chat", "conversation": conversation, "user": user})

    def event(self, event: Event) -> None:
        self._line({"type": event.type, **to_wire(event)})

    def told(self, type: str, text: str, **data: Any) -> None:
        self._line({"type": type, **(data or {"text": text})})

    def failed(self, error: Exception) -> None:
        self._line({"type": "error", "error": type(error).__name__, "message": str(error)})

    def stopped(self) -> None:
        self._line({"type": "stopped"})

    def _line(self, data: Mapping[str, Any]) -> None:
        sys.stdout.write(json.dumps(data, default=str).replace("\x7f", "\\u007f") + "\n")
        sys.stdout.flush()


class Human:
    """The answer and, if wanted, the way to it. On a terminal it is shown as it comes. Elsewhere only what is
    the answer may be on standard output, and what a model says is not known to be until it calls no tool."""

    prompt = "> "

    def __init__(self, verbose: bool, note: Callable[[str], None]) -> None:
        self._verbose = verbose
        self._note = note
        self._live = sys.stdout.isatty()
        self._open = ""
        """What stands in the line that is being written."""
        self._said = ""
        """What the model has said since its last step."""

    def begun(self, conversation: str, user: str) -> None:
        if sys.stdin.isatty() or self._verbose:
            self._note(f"Conversation {conversation} of {user}. /help lists what there is; Ctrl-D ends it.")

    def event(self, event: Event) -> None:
        match event:
            case Text():
                self._said += event.text
                if self._live:
                    self._write(event.text)
            case Recalled():
                self._said = ""
                self._recalled(event.hits, event.problems)
            case Thought():
                self._step("thought", "" if self._shown(event.text) else event.text)
            case Action():
                self._said = ""
                self._step(
                    "action", f"{event.tool} {json.dumps(event.input, ensure_ascii=False, default=str)}"
                )
            case Observation():
                self._step("observation" if event.success else "failed", event.output)
            case Problem():
                self._end()
                self._note(f"! {event.text}")
            case Final():
                if not self._shown(event.text):
                    self._end()
                    self._write(event.text)
                self._end()
                self._said = ""
        sys.stdout.flush()

    def told(self, type: str, text: str, **data: Any) -> None:
        output.line(text)
        sys.stdout.flush()

    def failed(self, error: Exception) -> None:
        self._end()
        output.error_line(f"Error: {error}")

    def stopped(self) -> None:
        if not self._live:
            self._write(self._said)
        self._end()
        self._said = ""
        self._note("Stopped.")

    def _shown(self, text: str) -> bool:
        return self._live and text.strip() in self._said

    def _write(self, text: str) -> None:
        sys.stdout.write(output.safe(text))
        self._open = (self._open + text).rpartition("\n")[2]
        sys.stdout.flush()

    def _end(self) -> None:
        if self._open:
            sys.stdout.write("\n")
        self._open = ""
        sys.stdout.flush()

    def _recalled(self, hits: Sequence[Any], problems: Sequence[str]) -> None:
        if not self._verbose:
            return
        self._note(f"  recalled {output.counted(len(hits), 'memory')}")
        for hit in hits:
            self._note(f"    {hit.score:.3f} {hit.kind} {hit.id}  {_short(hit.content)}")
        for problem in problems:
            self._note(f"    ! {problem}")

    def _step(self, name: str, text: str) -> None:
        self._end()
        if self._verbose and text.strip():
            self._note(f"  {name}  {_short(text)}")


def _short(text: str) -> str:
    line = output.one_line(text)
    return line if len(line) <= SHOWN else f"{line[:SHOWN]} …"
