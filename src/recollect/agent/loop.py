"""The loop: a turn of the model, the calls it asks for, and again, until there is an answer or a limit."""

import json
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from recollect.agent.calling import Outcome, outcomes, read
from recollect.agent.context import Scene, messages
from recollect.agent.events import Action, Event, Observation, Problem, Stopped, Text, Thought
from recollect.agent.prompts import REASONS, Prompts
from recollect.agent.remembering import Remembering
from recollect.agent.tools import Tool
from recollect.agent.trace import Trace
from recollect.agent.turning import Speaking, cost
from recollect.agent.waiting import Cancelled, Late, Workers
from recollect.errors import ModelError
from recollect.ports.acting import Message, Offered, Result, Said
from recollect.ports.language_model import ChatMessage, Tokens
from recollect.settings import Settings

MOST_CALLS = 16
"""How many calls of one turn are made."""
MOST_ASKED = 64
"""How many calls of one turn are heard at all."""
LAST_SHARE = 0.2
"""The part of the time that is kept for the last turn."""


@dataclass(slots=True)
class Run:
    """One invocation: what it is given, and how far it has come."""

    scene: Scene
    tools: dict[str, Tool]
    speaking: Speaking
    settings: Settings
    prompts: Prompts
    workers: Workers
    trace: Trace
    began: float
    remembering: Remembering | None = None
    own: frozenset[str] = frozenset()
    """The tools that are its memory: using them is no task, and nothing to learn from."""
    done: list[Outcome] = field(default_factory=list[Outcome])
    iterations: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    spent: int = 0
    problems: list[str] = field(default_factory=list[str])
    repeats: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    told: bool = False
    """Whether the model was told that it repeats itself."""
    looping: bool = False
    """Whether it went on all the same."""
    stopped: Stopped | None = None
    said: str = ""
    last_words: Sequence[Message] = ()
    """What is said to the model after its steps: that it has to answer, or that it said nothing."""

    def steps(self) -> Iterator[Event]:
        """Turn by turn, to the answer or to what it was stopped by."""
        empty = False
        while self.stopped is None:
            limit = self._limit()
            if limit is not None:
                yield from self._last(limit)
                return
            said = yield from self._turn([tool.offered for tool in self.tools.values()], self._working_until)
            if said is None:
                return
            if said.calls:
                empty, self.last_words = False, ()
                yield from self._act(said)
            elif said.text.strip():
                if said.thought:
                    yield Thought(said.thought)
                self.said, self.stopped = said.text.strip(), "answered"
            elif empty:
                yield self._problem("The model said nothing, not even when it was asked again.")
                self.stopped = "model"
            else:
                yield self._problem("The model said nothing; it is asked again.")
                empty, self.last_words = True, [ChatMessage("user", self.prompts.empty)]

    @property
    def _working_until(self) -> float:
        return self.began + self.settings.agent_max_seconds * (1 - LAST_SHARE)

    def _limit(self) -> Stopped | None:
        """The limit that is reached, if one is."""
        if self.looping:
            return "loop"
        if self.iterations >= self.settings.agent_max_iterations:
            return "iterations"
        if self.spent >= self.settings.agent_max_tokens:
            return "tokens"
        return "time" if monotonic() >= self._working_until else None

    def _last(self, reason: Stopped) -> Iterator[Event]:
        """One more turn, in which the model has nothing but its words."""
        self.stopped = reason
        yield self._problem(f"Stopped: {REASONS[reason]}.")
        until = self.began + self.settings.agent_max_seconds
        if monotonic() >= until:
            return
        self.last_words = [ChatMessage("user", self.prompts.last.format(reason=REASONS[reason]))]
        said = yield from self._turn([], until)
        self.said = said.text.strip() if said else ""

    def _turn(self, tools: Sequence[Offered], until: float) -> Generator[Event, None, Said | None]:
        """What the model says, told as it comes; None when it fails, or does not come to an end in time."""
        working, shown = self.trace.shown()
        asked = messages(self.scene, self.prompts, working, [*shown, *self.last_words])
        self.iterations += 1
        within = max(0.001, until - monotonic())
        job = self.workers.begin(lambda: self.speaking.turn(asked, tools, within), "model")
        said = None
        try:
            for told in self.workers.items(job, until):
                if isinstance(told, str):
                    yield Text(told)
                else:
                    said = told
        except Cancelled:  # nobody wants the answer any more; that is no failure of the model
            raise
        except Late:
            self.stopped = self.stopped or "time"
            yield self._problem("The model did not answer in time.")
            return None
        except ModelError as error:
            self._count(Tokens(*(error.tokens or ())), 0)
            self.stopped = self.stopped or "model"
            yield self._problem(str(error) or "The model gave no usable answer.")
            return None
        except Exception as error:  # noqa: BLE001 - a model of somebody's own
            self.stopped = self.stopped or "model"
            yield self._problem(f"The model failed: {type(error).__name__}.")
            return None
        said = said or Said()
        self._count(said.tokens, cost(said, asked))
        if said.cut:
            yield self._problem(
                "The model was cut off at the limit of its answer (RECOLLECT_AGENT_ANSWER_TOKENS)."
            )
        return said

    def _count(self, tokens: Tokens, spent: int) -> None:
        self.tokens = self.tokens.plus(tokens)
        self.spent += spent

    def _act(self, said: Said) -> Iterator[Event]:
        """Make the calls that the model asks for."""
        if thought := "\n".join(filter(None, (said.thought, said.text))).strip():
            yield Thought(thought)
        if len(said.calls) > MOST_ASKED:
            yield self._problem(
                f"The model asked for {len(said.calls):,} calls at once; most were passed over."
            )
            said = said._replace(calls=said.calls[:MOST_ASKED])
        self.trace.said(said)
        asked = [read(call, self.tools, self.settings, self.prompts) for call in said.calls]
        for one in asked:
            yield Action(one.call.id, one.call.tool, one.arguments)
        made = asked[:MOST_CALLS]
        for outcome in outcomes(made, self.workers, self.settings, self.prompts, self._working_until):
            yield from self._observe(outcome)
        too_many = self.prompts.too_many.format(most=MOST_CALLS)
        for one in asked[MOST_CALLS:]:  # no repeats: they were not made
            yield self._observed(Outcome(one._replace(tool=None), too_many, f"Invalid: {too_many}"), too_many)

    def _observe(self, outcome: Outcome) -> Iterator[Event]:
        call, output = outcome.asked.call, outcome.output
        again = self._repeated(outcome)
        if again and not self.told:
            self.told = True
            yield self._problem(f"The model repeats itself: {call.tool} with the same input gave the same.")
            output = f"{output}\n{self.prompts.repeated.format(times=again)}"
        elif again:
            self.looping = True
        yield self._observed(outcome, output)

    def _observed(self, outcome: Outcome, output: str) -> Observation:
        call = outcome.asked.call
        self.trace.observed(Result(call.id, call.tool, output))
        if outcome.asked.tool is not None and call.tool not in self.own:
            self.done.append(outcome)
            if self.remembering:
                self.remembering.done(outcome)
        return Observation(call.id, call.tool, output, outcome.success, outcome.milliseconds)

    def _repeated(self, outcome: Outcome) -> int:
        """How often the same call gave the same, if that is too often."""
        call = outcome.asked.call
        given = json.dumps(outcome.asked.arguments, sort_keys=True, default=str) or call.arguments
        key = (call.tool, given, outcome.output)
        self.repeats[key] += 1
        times = self.repeats[key]
        return times if times >= self.settings.agent_repeats else 0

    def _problem(self, text: str) -> Problem:
        self.problems.append(text)
        return Problem(text)
