"""Whatever tools, models and memory do: nothing hangs, nothing is lost, and the trace says what happened."""

import asyncio
import json
import threading
from dataclasses import replace
from typing import Any

import pytest

from recollect import Agent, ScopedMemory, tool
from recollect.agent.calling import MOST_LEFT
from recollect.agent.events import Action, Observation, Problem
from recollect.agent.loop import MOST_ASKED, MOST_CALLS
from recollect.models.chat import ChatModel
from recollect.settings import Settings
from recollect.testing.openai_answers import Body, calls
from recollect.testing.openai_server import Feed, OpenAIServer
from tests.interface.agent.agents import add, observed, prompts

SETTINGS = Settings()


def always(answer: Any) -> Any:
    """A chat model that says one thing as long as it has tools, and gives up without."""
    return lambda body: answer(body) if "tools" in body else "I give up."


# Tools


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ValueError("no such city"), "broken failed: ValueError: no such city"),
        (SystemExit(3), "broken failed: SystemExit: 3"),
        (Unspeakable(), "broken failed: Unspeakable"),
        (RecursionError(), "broken failed: RecursionError"),
    ],
)
def test_a_tool_that_raises(
    server: OpenAIServer, model: ChatModel, ann: ScopedMemory, error: BaseException, shown: str
) -> None:
    def broken() -> None:
        """Break."""
        raise error

    server.say(calls(("broken", {})), "It is broken.")
    answer = Agent(ann, model, [broken]).ask("Try it", conversation="c")
    assert (answer.text, observed(answer)) == ("It is broken.", [shown])
    (stats,) = ann.tools()
    assert (stats.calls, stats.successes, stats.last_error) == (1, 0, type(error).__name__)
    (episode,) = ann.list("episode")
    assert episode.success is None  # type: ignore[attr-defined]
    assert ann.summaries("c")[0].summary == "Used broken. 1 of 1 calls failed."


def test_a_tool_that_hangs_is_left_behind(server: OpenAIServer, model: ChatModel) -> None:
    for_ever = threading.Event()
    hang = tool(name="hang", seconds=0.05)(lambda: for_ever.wait(60))
    server.say(calls(("hang", {}), ("add", {"a": 1})), "It hangs.")
    answer = Agent(None, model, [hang, add]).ask("Try it")
    assert observed(answer) == [
        "hang did not answer within 0.05 s and is not waited for any longer.",
        "2",
    ]
    assert answer.text == "It hangs."
    for_ever.set()


def test_a_tool_that_hangs_again_and_again_is_not_called_any_more(
    server: OpenAIServer, model: ChatModel
) -> None:
    for_ever = threading.Event()
    hang = tool(name="hang", seconds=0.01)(lambda place: for_ever.wait(60))
    asked = [calls(*[("hang", {"place": n}) for n in range(MOST_LEFT)]), calls(("hang", {"place": "x"}))]
    agent = Agent(None, model, [hang])
    server.say(*asked, "It hangs.")
    *_, last = observed(agent.ask("Try it"))
    assert last == f"hang is not called: {MOST_LEFT} earlier calls of it have not come to an end yet."
    for_ever.set()
    for thread in [one for one in threading.enumerate() if one.name == "recollect-tool-hang"]:
        thread.join(30)
    server.say(asked[1], "It is back.")
    assert observed(Agent(None, model, [replace(hang, seconds=30)]).ask("Try it")) == ["true"]


def test_an_asynchronous_tool_that_hangs_is_cancelled(server: OpenAIServer, model: ChatModel) -> None:
    ended = threading.Event()

    async def hang() -> None:
        """Never end."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    server.say(calls(("hang", {})), "It hangs.")
    answer = Agent(None, model, [tool(seconds=0.05)(hang)]).ask("Try it")
    assert (answer.text, answer.problems) == ("It hangs.", ())
    assert ended.wait(30)


def test_a_tool_that_hangs_takes_no_longer_than_the_agent_may(
    server: OpenAIServer, model: ChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.agent.loop.LAST_SHARE", 0.95)  # so that words have time on any machine
    for_ever = threading.Event()
    hang = tool(name="hang")(lambda: for_ever.wait(60))
    server.say(calls(("hang", {})), "What I know.")
    answer = Agent(None, model, [hang], max_seconds=40).ask("Try it")
    assert (answer.stopped, answer.text) == ("time", "What I know.")
    for_ever.set()


def test_a_tool_that_returns_ten_megabytes(server: OpenAIServer, model: ChatModel, ann: ScopedMemory) -> None:
    def huge() -> str:
        """Return much."""
        return "begin" + "x" * 10_000_000 + "end"

    server.say(calls(("huge", {})), "Much.")
    answer = Agent(ann, model, [huge]).ask("Try it")
    (output,) = observed(answer)
    assert len(output) <= SETTINGS.agent_output_limit
    assert output.startswith("begin")
    assert output.endswith("end")
    assert "cut: 10,000,008 characters" in output
    assert len(server.requests[1].raw) < 30_000
    assert answer.problems == ()


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (None, "odd answered with nothing."),
        ("", "odd answered with nothing."),
        (b"caf\xc3\xa9\xff", "café\ufffd"),
        ({"a": {1, 2}}, '{"a": "{1, 2}"}'),
        ([1, "é"], '[1, "é"]'),
        ("\ud800", "\ud800"),
    ],
)
def test_whatever_a_tool_returns(server: OpenAIServer, model: ChatModel, output: Any, shown: str) -> None:
    server.say(calls(("odd", {})), "Odd.")
    answer = Agent(None, model, [tool(name="odd")(lambda: output)]).ask("Try it")
    assert (answer.text, observed(answer)) == ("Odd.", [shown])


# The model's calls


@pytest.mark.parametrize(
    ("name", "arguments", "wrong"),
    [
        ("invented", {}, "There is no tool invented. The tools are: add."),
        ("add", "{broken", "it is not JSON"),
        ("add", "[1]", "it must be an object"),
        ("add", "[" * 100_000, "it is not JSON"),
        ("add", {}, "the input must have a."),
        ("add", '{"a": ' + "[" * 65 + "]" * 65 + "}", "nested deeper than the 64 levels"),
        ("add", '{"a": NaN}', "cannot be written as JSON"),
        ("add", {"a": "one"}, "the input.a must be of type integer."),
        ("add", {"a": 1, "c": 2}, "the input must not have c; it has a, b."),
    ],
)
def test_a_call_that_cannot_be_made_is_put_right(
    server: OpenAIServer, model: ChatModel, ann: ScopedMemory, name: str, arguments: Any, wrong: str
) -> None:
    server.say(calls((name, arguments)), calls(("add", {"a": 1})), "Two.")
    answer = Agent(ann, model, [add], memory_tools=()).ask("1 + 1?")
    assert wrong in observed(answer)[0]
    assert (observed(answer)[1], answer.text) == ("2", "Two.")
    first = next(event for event in answer.events if isinstance(event, Observation))
    assert not first.success
    for message in prompts(server)[1]:
        for call in message.get("tool_calls", ()):
            json.loads(call["function"]["arguments"])
    assert {stats.tool for stats in ann.tools()} == {"add"}


@pytest.mark.parametrize(
    ("name", "given", "shown"),
    [
        ("nope", {"x": 1}, {"x": 1}),
        ("add", "{broken", {"unread": "{broken"}),
        ("add", {"a": "2"}, {"a": 2}),
        ("nope", '{"x": "\\ud800"}', {"x": "\ufffd"}),
    ],
)
def test_what_was_asked_for_is_shown(
    server: OpenAIServer, model: ChatModel, ann: ScopedMemory, name: str, given: Any, shown: Any
) -> None:
    server.say(calls((name, given)), "Done.")
    answer = Agent(ann, model, [add], memory_tools=()).ask("Go on")
    assert [event.input for event in answer.events if isinstance(event, Action)] == [shown]
    assert (answer.text, answer.problems) == ("Done.", ())
    (call,) = prompts(server)[1][-2]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == (shown if "unread" in shown else _read(given))


def _read(given: Any) -> Any:
    return json.loads(given) if isinstance(given, str) else given


def test_halves_of_characters_lose_nothing(server: OpenAIServer, model: ChatModel, ann: ScopedMemory) -> None:
    function = {"name": "add\ud800", "arguments": '{"a": "\ud83d"}'}
    message = {"content": "I\udc00", "tool_calls": [{"id": "c\ud800", "function": function}]}
    whole = json.dumps({"choices": [{"message": message}]}).encode()
    server.script(Feed([whole], headers={"Content-Type": "application/json"}))
    server.say("Done.")
    answer = Agent(ann, model, [add]).ask("Go on")
    assert (answer.text, answer.problems) == ("Done.", ())
    assert "\\ud" not in json.dumps([event.input for event in answer.events if isinstance(event, Action)])


def test_many_different_calls_are_no_loop(server: OpenAIServer, model: ChatModel) -> None:
    server.say(calls(*[("add", {"a": number}) for number in range(20)]), "Added.")
    answer = Agent(None, model, [add]).ask("Add them")
    assert (answer.stopped, answer.problems) == ("answered", ())
    assert [one.isdigit() for one in observed(answer)] == [True] * MOST_CALLS + [False] * (20 - MOST_CALLS)


def test_a_thousand_calls_of_a_turn_are_not_heard(server: OpenAIServer, model: ChatModel) -> None:
    server.say(calls(*[("add", {"a": number}) for number in range(1000)]), "Added.")
    answer = Agent(None, model, [add]).ask("Add them")
    assert (answer.text, len(observed(answer))) == ("Added.", MOST_ASKED)
    assert answer.problems == ("The model asked for 1,000 calls at once; most were passed over.",)
    results = [message["tool_call_id"] for message in prompts(server)[1] if message["role"] == "tool"]
    assert len(results) == len(prompts(server)[1][-MOST_ASKED - 1]["tool_calls"])


def test_a_model_that_repeats_itself_is_told_and_then_stopped(ann: ScopedMemory, waits: list[float]) -> None:
    with OpenAIServer(chat=always(lambda _: calls(("add", {"a": 1})))) as server:
        model = ChatModel(server.base_url, "a-model")
        answer = Agent(ann, model, [add], max_iterations=50).ask("1 + 1?", conversation="c")
        model.close()
    assert (answer.stopped, answer.text, answer.iterations) == ("loop", "I give up.", 5)
    assert ["same each time" in one for one in observed(answer)] == [False, False, True, False]
    assert [p.text for p in answer.events if isinstance(p, Problem)] == list(answer.problems)
    assert "over and over" in answer.problems[-1]
    assert [t.content for t in ann.conversation("c")][:2] == ["1 + 1?", "I give up."]
    assert ann.list("episode")[0].success is False  # type: ignore[attr-defined]


def test_a_tool_that_says_something_new_may_be_asked_again(server: OpenAIServer, model: ChatModel) -> None:
    states = iter(("waiting", "running", "running ", "done", "gone"))
    poll = tool(name="poll")(lambda: next(states))
    server.say(*[calls(("poll", {}))] * 5, "Gone.")
    answer = Agent(None, model, [poll]).ask("Poll")
    assert (answer.stopped, answer.problems) == ("answered", ())


def test_the_limit_of_iterations(ann: ScopedMemory) -> None:
    def chat(body: Body) -> Any:
        return calls(("add", {"a": len(body["messages"])}))

    with OpenAIServer(chat=always(chat)) as server:
        model = ChatModel(server.base_url, "a-model")
        answer = Agent(ann, model, [add], max_iterations=3).ask("Go on")
        model.close()
        assert "the limit of steps is reached" in prompts(server)[-1][-1]["content"]
    assert (answer.stopped, answer.text, answer.iterations, len(observed(answer))) == (
        "iterations",
        "I give up.",
        4,
        3,
    )


def test_the_limit_of_tokens() -> None:
    with OpenAIServer(chat=always(lambda body: calls(("add", {"a": len(body["messages"])})))) as server:
        model = ChatModel(server.base_url, "a-model")
        answer = Agent(None, model, [add], max_tokens=30).ask("Go on")
        model.close()
    assert (answer.stopped, answer.text, answer.iterations) == ("tokens", "I give up.", 2)


def test_the_prompt_stays_bounded(ann: ScopedMemory) -> None:
    def chat(body: Body) -> Any:
        return calls(("look", {"place": str(len(sizes))}), text="I decided to go on. ")

    sizes: list[int] = []

    def look(place: str) -> str:
        """Look."""
        sizes.append(1)
        return f"At {place} there is " + "much to see " * 100

    for memory in (ann, None):
        with OpenAIServer(chat=always(chat)) as server:
            model = ChatModel(server.base_url, "a-model")
            settings = replace(
                SETTINGS, agent_max_iterations=40, agent_max_tokens=10_000_000, compressor="rules"
            )
            answer = Agent(memory, model, [look], settings=settings).ask("Look everywhere")
            model.close()
            lengths = [sum(len(m["content"]) for m in messages) for messages in prompts(server)]
            assert answer.iterations == 41
            assert max(lengths[10:]) < 12_000
            last = prompts(server)[-1]
            question = next(m["content"] for m in last if m["role"] == "user")
            assert question.index("<working_memory>") < question.index("Look everywhere")
            assert "[result] look: At" in question  # what tools told survives, in short
            assert sum(m["role"] == "tool" for m in last) >= 1  # the newest is there as it was
        assert answer.problems == ("Stopped: the limit of steps is reached.",)
