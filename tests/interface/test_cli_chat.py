"""`recollect chat` as a program: in a pipe, in JSON, interrupted, and without what it needs."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from recollect import Fact, Memory
from recollect.testing.openai_answers import Calls
from recollect.testing.openai_server import Hang, OpenAIServer, Status

pytestmark = pytest.mark.slow  # each starts processes

HERE = Path(__file__).parent
WAIT = 60.0
Chat = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(chat=lambda body: "Nothing to add.") as server:
        yield server


@pytest.fixture
def chat(tmp_path: Path, model: OpenAIServer) -> Iterator[Chat]:
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **more: str) -> "subprocess.Popen[str]":
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")},
            "RECOLLECT_DB": str(tmp_path / "memory.db"),
            "RECOLLECT_USER": "ada",
            "RECOLLECT_EMBEDDER": "hashing",
            "RECOLLECT_MODEL": model.base_url,
            "RECOLLECT_MODEL_NAME": "scripted",
            "RECOLLECT_MINER": "rules",
            "PYTHONIOENCODING": "utf-8",
            **more,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "chat", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            encoding="utf-8",
            bufsize=1,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def said(process: "subprocess.Popen[str]", *lines: str) -> tuple[list[dict[str, Any]], str]:
    """All events when these lines are all there is, and what stands on standard error."""
    out, errors = process.communicate("".join(f"{line}\n" for line in lines), timeout=WAIT)
    return [json.loads(line) for line in out.splitlines()], errors


def of_type(events: list[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == type]


def remembered(tmp_path: Path) -> list[str]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        return [fact.content for fact in memory.scope("ada").list("fact") if isinstance(fact, Fact)]


def test_a_chat_in_a_pipe_answers_and_remembers(chat: Chat, model: OpenAIServer, tmp_path: Path) -> None:
    model.say("Noted: peanuts are out.")
    process = chat("--conversation", "food")
    out, errors = process.communicate("I am allergic to peanuts.\n", timeout=WAIT)
    assert out == "Noted: peanuts are out.\n"
    assert errors == ""
    assert process.returncode == 0
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        assert [turn.content for turn in memory.scope("ada").conversation("food")] == [
            "I am allergic to peanuts.",
            "Noted: peanuts are out.",
        ]
    out, errors = chat("--verbose").communicate("What am I allergic to?\n", timeout=WAIT)
    assert "peanuts" in errors
    assert "recalled" in errors
    assert any("peanuts" in json.dumps(request.body) for request in model.requests[1:])


def test_events_are_lines_of_json(chat: Chat, model: OpenAIServer) -> None:
    model.say(Calls((("RetrieveFacts", {"query": "tea"}),)), "Green \x1b[31mtea\x7f.")
    process = chat("--json", "--conversation", "tea")
    events, errors = said(process, "Which tea do I like?")
    assert errors == ""
    types = [event["type"] for event in events if event["type"] != "text"]
    assert types == ["chat", "recalled", "action", "observation", "final"]
    assert events[0]["conversation"] == "tea"
    assert events[-1]["text"] == "Green \x1b[31mtea\x7f."
    assert events[-1]["stopped"] == "answered"
    assert process.returncode == 0


def test_only_the_answer_is_on_standard_output(chat: Chat, model: OpenAIServer) -> None:
    for options, told in (((), False), (("--verbose",), True)):
        model.say(Calls((("RetrieveFacts", {"query": "tea"}),), text="Let me look."), "Green tea.")
        out, errors = chat(*options).communicate("Which tea do I like?\n", timeout=WAIT)
        assert out == "Green tea.\n"
        assert ("Let me look." in errors) is told


def test_a_terminal_is_not_driven_by_what_a_model_says(chat: Chat, model: OpenAIServer) -> None:
    model.say("Red \x1b[31mtea\x07.")
    out, _ = chat().communicate("Tea?\n", timeout=WAIT)
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "tea" in out


def test_remember_why_and_forget(chat: Chat, tmp_path: Path) -> None:
    lines = (
        "/remember The door code is 4711",
        "What is the door code?",
        "/why",
        "/forget last",
        "/quit",
        "x",
    )
    events, _ = said(chat("--json"), *lines)
    (saved,) = of_type(events, "remembered")
    assert saved["memory"]["content"] == "The door code is 4711"
    (why,) = of_type(events, "why")
    assert saved["memory"]["id"] in why["text"]
    (gone,) = of_type(events, "forgotten")
    assert gone["forgotten"]["turn"] == 2  # the question and its answer, which came later
    assert remembered(tmp_path) == ["The door code is 4711"]
    events, _ = said(chat("--json"), f"/forget {saved['memory']['id']}")
    assert of_type(events, "forgotten")[0]["forgotten"]["fact"] == 1
    events, _ = said(chat("--json"), "/remember The code is 1", "/forget last", "/forget last")
    assert [event["type"] for event in events[1:]] == ["remembered", "forgotten", "error"]
    assert remembered(tmp_path) == []


def test_forget_last_goes_back_step_by_step(chat: Chat, tmp_path: Path) -> None:
    events, _ = said(chat("--json"), "/remember The code is 1", "One?", "Two?", *["/forget last"] * 4)
    assert [event["forgotten"].get("turn") for event in of_type(events, "forgotten")[:2]] == [2, 2]
    assert [event["type"] for event in events[-2:]] == ["forgotten", "error"]
    assert remembered(tmp_path) == []


def test_the_exit_code_is_that_of_the_last_question(chat: Chat, model: OpenAIServer) -> None:
    process = chat("--json")
    said(process, "One?", "/bogus")
    assert process.returncode == 0
    model.script(Status(401))
    process = chat("--json")
    said(process, "One?", "/help")
    assert process.returncode == 1


def test_what_cannot_be_done_is_said_and_the_chat_goes_on(chat: Chat, model: OpenAIServer) -> None:
    lines = (
        "/remember",
        "/forget",
        "/forget nothing-like-it",
        "/why",
        "/nonsense x",
        "/help",
        "//etc is a path",
    )
    process = chat("--json")
    events, _ = said(process, *lines)
    assert [event["type"] for event in events[1:7]] == ["error"] * 5 + ["help"]
    assert "/help" in events[5]["message"]
    assert "/remember" in events[6]["text"]
    assert model.requests[-1].body["messages"][-1]["content"] == "/etc is a path"
    assert process.returncode == 0


def test_a_model_that_fails_is_told_and_the_next_question_is_answered(
    chat: Chat, model: OpenAIServer
) -> None:
    model.script(Status(401))
    process = chat()
    out, errors = process.communicate("First?\nSecond?\n", timeout=WAIT)
    assert out.endswith("Nothing to add.\n")
    assert errors
    assert process.returncode == 0
    model.script(Status(401))
    process = chat()
    process.communicate("Only?\n", timeout=WAIT)
    assert process.returncode == 1


def test_an_interrupt_stops_the_answer_and_not_the_chat(chat: Chat, model: OpenAIServer) -> None:
    hang = Hang()
    model.script(hang)
    process = chat("--json")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("Slow?\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["type"] == "chat"
    assert json.loads(process.stdout.readline())["type"] == "recalled"
    pause = threading.Event()
    while not model.requests:
        pause.wait(0.01)
    process.send_signal(signal.SIGINT)
    assert json.loads(process.stdout.readline())["type"] == "stopped"
    hang.until.set()
    events, _ = said(process, "And now?")
    assert events[-1]["text"] == "Nothing to add."
    assert process.returncode == 0


def test_tools_of_an_mcp_server(chat: Chat, model: OpenAIServer) -> None:
    server = f"{sys.executable} {HERE / 'mcp_tools_server.py'} stdio"
    model.say(Calls((("add", {"a": 2, "b": 40}),)), "42.")
    events, errors = said(chat("--json", "--tools", server), "What is 2 and 40?")
    assert errors == ""
    (observed,) = of_type(events, "observation")
    assert (observed["tool"], observed["output"], observed["success"]) == ("add", "42", True)
    process = chat("--tools", "no-such-server-here")
    _, errors = process.communicate("", timeout=WAIT)
    assert process.returncode == 1
    assert "no-such-server-here" in errors


def test_without_a_model_it_says_what_to_set(chat: Chat, tmp_path: Path) -> None:
    for missing in ("RECOLLECT_MODEL", "RECOLLECT_MODEL_NAME"):
        process = chat(**{missing: ""})
        out, errors = process.communicate("", timeout=WAIT)
        assert process.returncode == 1
        assert out == ""
        assert "RECOLLECT_MODEL_NAME" in errors
    process = chat("--json", RECOLLECT_MODEL="")
    assert json.loads(process.communicate("", timeout=WAIT)[1])["error"]["type"] == "SettingsError"
    assert not (tmp_path / "memory.db").exists()


def test_bytes_that_are_no_text_do_not_end_it(chat: Chat) -> None:
    process = chat("--json")
    assert isinstance(process.stdin, TextIOWrapper)
    process.stdin.buffer.write(b"caf\xe9?\n\n   \n")
    process.stdin.flush()
    events, _ = said(process)
    assert [event["type"] for event in events if event["type"] != "text"] == ["chat", "recalled", "final"]
