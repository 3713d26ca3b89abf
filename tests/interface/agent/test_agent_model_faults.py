"""A model or a memory that fails, hangs or talks nonsense: there is an answer all the same."""

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recollect import Agent, Memory, ModelError, ScopedMemory, StoreUnavailable
from recollect.models.chat import ChatModel
from recollect.settings import Settings
from recollect.testing.openai_answers import calls
from recollect.testing.openai_server import Break, Drop, Feed, Hang, OpenAIServer, Status, Step, Truncate
from tests.interface.agent.agents import add, observed, prompts

SETTINGS = Settings()


# The model


@pytest.mark.parametrize(
    "steps",
    [
        [Status(500), Status(503)],
        [Drop(), Drop()],
        [Status(401)],
        [Truncate()],
        [Break()],
        [Feed([b"data: {nonsense}\n\n"])],
        [Feed([b'data: {"choices": [{"delta": {"content": "I thi'], end="broken")] * 2,
        [Feed([b'data: {"error": {"message": "overloaded"}}\n\n'])],
        [Feed([b""])] * 2,
    ],
)
def test_a_model_that_fails(
    server: OpenAIServer, model: ChatModel, memory: Memory, ann: ScopedMemory, steps: list[Step]
) -> None:
    server.script(*steps)
    answer = Agent(ann, model, [add]).ask("1 + 1?", conversation="c")
    assert answer.stopped == "model"
    assert answer.text == "I could not find an answer: the model did not answer."
    assert len(answer.problems) == 1
    assert not answer.problems[0].startswith("The model failed")  # it is told what failed, and where
    assert [t.content for t in ann.conversation("c")] == ["1 + 1?"]  # what was asked is not lost
    assert "did not answer" in ann.summaries("c")[0].summary
    server.say("Two.")
    assert Agent(ann, model, [add]).ask("And now?", conversation="c").text == "Two."


def test_a_model_that_fails_after_a_step(server: OpenAIServer, model: ChatModel, ann: ScopedMemory) -> None:
    def chat_down() -> str:
        """Take the model down."""
        server.script(Status(401))
        return "down"

    server.say(calls(("chat_down", {})))
    answer = Agent(ann, model, [chat_down]).ask("Break it")
    assert (answer.stopped, observed(answer)) == ("model", ["down"])
    assert ann.tools()[0].tool == "chat_down"
    assert ann.list("episode")[0].success is False  # type: ignore[attr-defined]


def test_a_model_that_is_refused_for_a_moment_is_asked_again(
    server: OpenAIServer, model: ChatModel, waits: list[float]
) -> None:
    server.script(Status(429, retry_after="3"))
    server.say("Here.")
    assert Agent(None, model).ask("There?").text == "Here."
    assert waits == [3.0]


def test_a_model_that_never_answers(server: OpenAIServer, model: ChatModel) -> None:
    server.script(Hang())
    began = time.monotonic()
    answer = Agent(None, model, max_seconds=0.3).ask("There?")
    assert (answer.stopped, time.monotonic() - began < 20) == ("time", True)


def test_a_model_that_never_ends(server: OpenAIServer, model: ChatModel) -> None:
    step = Feed([b": still here\n"] * 3, end="open")
    server.script(step)
    answer = Agent(None, model, max_seconds=0.3).ask("There?")
    assert answer.stopped == "time"


def test_a_model_of_somebodys_own_that_breaks_or_hangs() -> None:
    class Own:
        name = "own"

        def __init__(self, act: Any) -> None:
            self.act = act

    def hanging(*_: Any, **__: Any) -> Any:
        threading.Event().wait(60)
        yield ""

    broken = Agent(None, Own(lambda *_, **__: 1 / 0)).ask("There?")
    assert (broken.stopped, broken.problems) == ("model", ("The model failed: ZeroDivisionError.",))
    assert Agent(None, Own(hanging), max_seconds=0.2).ask("There?").stopped == "time"


def test_a_model_that_says_nothing(server: OpenAIServer, model: ChatModel) -> None:
    server.say("", "Here I am.", "", " ")
    agent = Agent(None, model)
    answer = agent.ask("There?")
    assert (answer.text, len(answer.problems)) == ("Here I am.", 1)
    assert prompts(server)[1][-1]["content"].startswith("You said nothing.")
    assert agent.ask("There?").stopped == "model"


def test_a_model_that_thinks_aloud(server: OpenAIServer, model: ChatModel) -> None:
    server.say("<think>Hm, 1 and 1.</think>\n\nTwo, I think.")
    events = list(Agent(None, model).stream("1 + 1?"))
    assert "".join(e.text for e in events if e.type == "text") == "Two, I think."  # type: ignore[union-attr]
    assert events[-1].text == "Two, I think."  # type: ignore[union-attr]


def test_a_server_that_does_not_stream(server: OpenAIServer, model: ChatModel) -> None:
    whole = b'{"choices": [{"message": {"content": "Two."}, "finish_reason": "stop"}]}'
    server.script(Feed([whole], headers={"Content-Type": "application/json"}))
    assert Agent(None, model).ask("1 + 1?").text == "Two."


def test_a_refusal_that_is_not_about_tools_is_told(server: OpenAIServer, model: ChatModel) -> None:
    long = {"error": {"message": "maximum context length exceeded", "code": "context_length_exceeded"}}
    server.script(Status(400, body=long), Status(400, body=long))
    answer = Agent(None, model, [add]).ask("1 + 1?")
    assert (answer.stopped, "context_length_exceeded" in answer.problems[0]) == ("model", True)
    server.say(calls(("add", {"a": 1})), "Two.")
    assert Agent(None, model, [add]).ask("1 + 1?").text == "Two."  # tools are known all the same


# Memory


class Failing:
    """A memory of which every verb but `works` fails; or never comes back."""

    def __init__(
        self, inner: ScopedMemory, wait: threading.Event | None = None, works: tuple[str, ...] = ("is_on",)
    ) -> None:
        self._inner, self._wait, self._works = inner, wait, works
        self._scope = inner.scope

    def _at(self, agent: str | None, conversation: str | None) -> "Failing":
        return self

    def __getattr__(self, name: str) -> Any:
        def verb(*_: Any, **__: Any) -> Any:
            if self._wait is not None:
                self._wait.wait(60)
            raise StoreUnavailable("The database does not answer.")

        return getattr(self._inner, name) if name in self._works else verb


def test_memory_that_fails_never_fails_the_answer(
    server: OpenAIServer, model: ChatModel, ann: ScopedMemory
) -> None:
    server.say(calls(("add", {"a": 1})), "Two.")
    answer = Agent(Failing(ann), model, [add]).ask("1 + 1?", conversation="c")  # type: ignore[arg-type]
    assert (answer.text, answer.stopped, observed(answer)) == ("Two.", "answered", ["2"])
    assert "The question was not recorded: The database does not answer." in answer.problems
    assert "Facts were not recalled: The database does not answer." in answer.problems
    assert any(problem.startswith("The answer was not recorded") for problem in answer.problems)


@pytest.mark.parametrize("works", [(), ("is_on",), ("is_on", "record", "list", "summaries", "goals")])
def test_memory_that_hangs_is_waited_for_once(
    server: OpenAIServer, model: ChatModel, ann: ScopedMemory, works: tuple[str, ...]
) -> None:
    for_ever = threading.Event()
    settings = replace(SETTINGS, agent_memory_seconds=0.3)
    server.say(calls(("add", {"a": 1})), "Two.")
    silent: Any = Failing(ann, for_ever, works)
    began = time.monotonic()
    answer = Agent(silent, model, [add], settings=settings).ask("1 + 1?", conversation="c")
    took = time.monotonic() - began
    for_ever.set()
    assert (answer.text, answer.stopped, took < 30) == ("Two.", "answered", True)
    assert any("it took too long" in problem for problem in answer.problems)


def test_time_that_is_up_leaves_a_moment_to_put_it_down(
    server: OpenAIServer, model: ChatModel, ann: ScopedMemory
) -> None:
    server.script(Hang())
    answer = Agent(ann, model, max_seconds=0.3).ask("There?", conversation="c")
    assert answer.stopped == "time"
    assert [summary.query for summary in ann.summaries("c")] == ["There?"]


def test_where_it_is_not_known_whether_memory_is_on_nothing_is_kept(
    server: OpenAIServer, model: ChatModel, ann: ScopedMemory
) -> None:
    ann.update_settings(enabled=False)
    works = ("record", "list", "recall", "summaries", "goals", "settings", "record_summary", "remember")
    unsure: Any = Failing(ann, works=works)
    server.say("Two.")
    answer = Agent(unsure, model).ask("1 + 1?", conversation="c")
    assert (answer.text, ann.list("turn"), ann.summaries("c")) == ("Two.", [], [])
    assert answer.problems[0].startswith("Whether memory is on is not known")
    assert answer.recalled.skipped is not None


def test_mining_by_a_model_comes_after_the_answer(
    server: OpenAIServer, model: ChatModel, tmp_path: Path
) -> None:
    asked, go_on = threading.Semaphore(0), threading.Event()

    class Miner:
        name = "miner"

        def ask(self, *_: Any, **__: Any) -> Any:
            asked.release()
            go_on.wait(60)
            raise ModelError("It cannot extract.")

    with Memory.open(tmp_path / "mined.db", embedder="hashing", model=Miner()) as memory:  # type: ignore[arg-type]
        ann = memory.scope("ann")
        with Agent(ann, model) as agent:
            server.say("Nice.", "Still nice.")
            assert agent.ask("My cat is called Tom.", conversation="c").text == "Nice."
            assert asked.acquire(timeout=60)  # it is being mined, and the answer is there
            go_on.set()
        (talk,) = ann.list("conversation")
        assert (talk.mining_failures, talk.mining_problem) == (1, "It cannot extract.")  # type: ignore[attr-defined]
        while asked.acquire(blocking=False):
            pass
        with Agent(ann, model) as agent:
            agent.ask("My cat is grey.", conversation="c")
        assert not asked.acquire(blocking=False)  # what failed is not tried again before its time


def test_a_question_that_memory_refuses_is_answered(
    server: OpenAIServer, model: ChatModel, tmp_path: Path
) -> None:
    with Memory.open(tmp_path / "small.db", embedder="hashing", content_limit=30) as memory:
        server.say("A rather long answer that is too long.")
        answer = Agent(memory.scope("ann"), model).ask("What do you say?")
    assert answer.text.startswith("A rather long answer")
    assert any("RECOLLECT_CONTENT_LIMIT" in problem for problem in answer.problems)


def test_memory_that_is_switched_off_stays_off(
    server: OpenAIServer, model: ChatModel, ann: ScopedMemory
) -> None:
    ann.update_settings(enabled=False)
    server.say("Two.")
    answer = Agent(ann, model).ask("1 + 1?", conversation="c")
    assert (answer.text, ann.conversation("c"), ann.summaries("c")) == ("Two.", [], [])
    assert answer.recalled.skipped == "The user has switched memory off."
    assert Agent(None, model).ask("1 + 1?").recalled.skipped == "The agent has no memory."
