"""What an agent does with its memory: before the first step, along the way, and at the end.

Memory that fails never fails the answer: what could not be done is among the problems.
"""

import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from recollect.agent.bearing import KNOWN, SPARE, SPOKEN, bearing, is_near, is_news
from recollect.agent.calling import Outcome
from recollect.agent.episodes import episode_of, summary_of
from recollect.agent.events import Stopped
from recollect.agent.waiting import Cancelled, Job, Late, Workers, once
from recollect.errors import RecollectError
from recollect.model.recollection import Hit, Recollection
from recollect.model.records import Goal, Summary, Turn
from recollect.model.working import ItemType, WorkingItem
from recollect.scoped.seeing import place_of, seen_from
from recollect.settings import Settings

T = TypeVar("T")

NOTHING = Recollection(query="")


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is known before the first step."""

    facts: Recollection = NOTHING
    procedures: Recollection = NOTHING
    episodes: Recollection = NOTHING
    turns: Sequence[Turn] = ()
    summaries: Sequence[Summary] = ()
    goals: Sequence[Goal] = ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        return (*self.facts.hits, *self.procedures.hits, *self.episodes.hits)

    @property
    def context(self) -> str:
        blocks = (self.facts.context, self.procedures.context, self.episodes.context)
        return "\n".join(filter(None, blocks))


class Remembering:
    """One invocation's dealings with memory. Each has a label of its own in working memory, so that several
    agents in one conversation do not clear what the others think."""

    def __init__(
        self, memory: Any, conversation: str, settings: Settings, workers: Workers, until: float = math.inf
    ) -> None:
        self.problems: list[str] = []
        self.conversation = conversation
        self._settings = settings
        self._workers = workers
        self._until, self._ending = until, False
        self._silent = False
        self._label = f"invocation-{uuid.uuid4().hex[:12]}"
        self.memory: Any = seen_from(memory, place_of(memory).agent, conversation)
        self._mind: Any = seen_from(memory, self._label, conversation)
        self._turn: str | None = None
        self.shown: frozenset[str] = frozenset()
        """The turns that are in the prompt, and notes of what was done between them."""

    def attempt(self, what: str, work: Callable[[], T]) -> T | None:
        """What memory answers; None, and the problem noted, when it fails or does not answer in time."""
        return self._read({"": (what, work)}, self._patience())[""]

    def _patience(self) -> float:
        """Until when memory is waited for: a moment, and no longer than there is an answer to be given."""
        return min(monotonic() + self._settings.agent_memory_seconds, self._until)

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    # Before the first step

    def asked(self, question: str) -> None:
        """Record the question before anything else, so that it is there whatever happens."""
        turn = self.attempt("The question was not recorded", lambda: self.memory.record("user", question))
        self._turn = turn.id if turn else None

    def begin(self, question: str, state: str, history: Sequence[Any]) -> Remembered:
        """What was said last, by which the question is understood; then what is known or was said elsewhere,
        episodes, procedures, summaries and goals, all at once."""
        settings, memory = self._settings, self.memory
        until = self._patience()
        said = {"turns": ("The conversation was not read", self._said)}
        latest = self._read(said, until)["turns"] or ()
        self.shown = frozenset((self._turn or "", *(turn.id for turn in latest)))
        spoken = [turn for turn in latest if turn.id != self._turn and turn.role.value in SPOKEN]
        turns = () if history else spoken[: settings.agent_turns][::-1]
        before = history or [{"role": turn.role.value, "content": turn.content} for turn in turns]
        task = f"{question}\n{state}" if state else question
        told = "were not recalled"
        found = self._read(
            {
                "facts": (
                    f"Facts {told}",
                    self._recalling(question, KNOWN, settings.agent_fact_top_k, before),
                ),
                "procedures": (
                    f"Procedures {told}",
                    self._recalling(task, ("procedure",), settings.agent_procedure_top_k, before),
                ),
                "episodes": (
                    f"Episodes {told}",
                    self._recalling(task, ("episode",), settings.agent_episode_top_k, before),
                ),
                "summaries": ("Summaries were not read", lambda: memory.summaries(self.conversation)),
                "goals": ("Goals were not read", memory.goals),
            },
            until,
        )
        recalled = {name: found[name] or NOTHING for name in ("facts", "procedures", "episodes")}
        for problem in (problem for one in recalled.values() for problem in one.problems):
            self._note(problem)
        summaries = (
            (found["summaries"] or ())[-settings.agent_summaries :] if settings.agent_summaries else ()
        )
        return Remembered(**recalled, turns=turns, summaries=summaries, goals=found["goals"] or ())

    def _said(self) -> Sequence[Turn]:
        """The latest turns of the conversation, the newest first."""
        # Twice as many: notes, and questions that others ask meanwhile, are among them.
        most = 2 * self._settings.agent_turns
        return self.memory.list("turn", conversation=self.conversation, limit=most) if most else ()

    def _recalling(
        self, query: str, kinds: Sequence[str], top_k: int, history: Sequence[Any]
    ) -> Callable[[], Recollection]:
        """Recalls without the gate: what asks for a tool may need a fact to call it with."""
        asked: Any = {"kinds": kinds, "history": history, "techniques": {"gate": False}}
        cut, least = query[: self._settings.query_limit], self._settings.agent_least_score

        def recall() -> Recollection:
            found = self.memory.recall(cut, top_k=SPARE * top_k, **asked)
            return bearing(found, top_k, lambda hit: is_near(hit, least) and is_news(hit, query, self.shown))

        return recall if top_k else lambda: NOTHING

    def _read(self, reads: Mapping[str, tuple[str, Callable[[], Any]]], until: float) -> dict[str, Any]:
        """What several reads give, each in a thread of its own; None of one that fails or takes too long. A
        memory that was silent once is not asked again: each time would cost as much."""
        if self._silent:
            return dict.fromkeys(reads)
        jobs = {name: self._workers.begin(once(read), f"recall-{name}") for name, (_, read) in reads.items()}
        return {name: self._awaited(reads[name][0], job, until) for name, job in jobs.items()}

    def _awaited(self, what: str, job: Job[T], until: float) -> T | None:
        try:
            return self._workers.one(job, until)
        except Cancelled:
            raise
        except Late:
            # Where there is no time for an answer any more, it is not memory that took it.
            self._silent = self._ending or monotonic() < self._until
            self._note(f"{what}: it took too long (RECOLLECT_AGENT_MEMORY_SECONDS).")
        except RecollectError as error:
            self._note(f"{what}: {error}")
        except Exception as error:  # noqa: BLE001 - whatever fails there, the agent goes on
            self._note(f"{what}: {type(error).__name__}.")
        return None

    # Along the way: this is what `trace.Keeping` asks for

    def add(self, type: str, content: str, metadata: dict[str, Any]) -> WorkingItem | None:
        what = "Working memory was not kept"
        return self._working(what, lambda working: working.add(type, content, **metadata))

    def _working(self, what: str, use: Callable[[Any], T]) -> T | None:
        return self.attempt(what, lambda: use(self._mind.working))

    def items(self) -> list[WorkingItem] | None:
        """What this invocation has in its head; what others do at the same time is theirs."""
        held: list[WorkingItem] | None = self._working(
            "Working memory was not read", lambda working: working.items()
        )
        return None if held is None else [item for item in held if self._is_mine(item)]

    def _is_mine(self, item: WorkingItem) -> bool:
        if item.type is ItemType.SUMMARY:
            return self._label in item.metadata.get("agents", ())
        return item.agent == self._label

    def done(self, outcome: Outcome) -> None:
        """Record one call of a tool, so that what works is learnt."""
        asked, what = outcome.asked, f"The call of {outcome.asked.call.tool} was not recorded"
        self.attempt(
            what,
            lambda: self.memory.record_tool(
                asked.call.tool,
                dict(asked.arguments),
                outcome.output if outcome.success else None,
                success=outcome.success,
                latency_ms=outcome.milliseconds,
                error=outcome.error,
                turn=self._turn,
            ),
        )

    # At the end

    def _last_moment(self) -> None:
        """However long it took until now, there is a moment to put it down."""
        self._until, self._ending = monotonic() + self._settings.agent_memory_seconds, True

    def finish(
        self, question: str, answer: str, done: Sequence[Outcome], stopped: Stopped, model: str
    ) -> bool:
        """Record the answer, what was done for it, and what can be learnt of it; and whether the conversation
        is to be mined."""
        memory, settings = self.memory, self._settings
        self._last_moment()
        if answer:
            self.attempt(
                "The answer was not recorded", lambda: memory.record("assistant", answer, model=model)
            )
        told = summary_of(done, stopped)
        result = answer or told
        self.attempt("The summary was not recorded", lambda: memory.record_summary(question, told, result))
        wishes = self.attempt("The user's settings were not read", memory.settings)
        wanted: Mapping[str, Any] = wishes.values if wishes else {}
        if settings.agent_episode_recording and done and wishes is not None:
            made = episode_of(question, answer, done, stopped, wanted.get("pii") or settings.pii)
            if made:
                self.attempt("The episode was not remembered", lambda: memory.remember(**made))
        self._working("Working memory was not cleared", lambda working: working.end_invocation())
        mines = wanted.get("agents", {}).get(place_of(memory).agent or "", {}).get("mining") is not False
        known = wishes is not None and wanted.get("auto_mine") is not False and mines
        return settings.agent_auto_fact_extraction and known

    def give_up(self, question: str, done: Sequence[Outcome]) -> None:
        """Put down what was done of an invocation that was cancelled, and leave no trace of it in mind."""
        told = summary_of(done, "cancelled")
        self._workers = Workers()  # those of the invocation are cancelled
        self._last_moment()
        self.attempt("The summary was not recorded", lambda: self.memory.record_summary(question, told, told))
        self._working("Working memory was not cleared", lambda working: working.end_invocation())
