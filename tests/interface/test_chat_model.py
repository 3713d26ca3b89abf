"""The language model over HTTP, against a real server on the loopback."""

import logging
import threading
from collections.abc import Generator
from typing import Any

import pytest

from recollect.errors import ModelError, SettingsError
from recollect.ports.language_model import Reply, Tokens, prompt
from recollect.testing.openai_answers import Body
from recollect.testing.openai_server import Alter, Drop, Hang, OpenAIServer, Status, Step, Truncate

pytest.importorskip("openai")

from recollect.models.chat import ChatModel

KEY = "sk-a-secret-key"
SECRET = "the text that must not leak"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.fixture
def server() -> Generator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def model(server: OpenAIServer, waits: list[float]) -> Generator[ChatModel]:
    made = ChatModel(server.base_url, "a-model", api_key=KEY, attempts=4, sleep=waits.append)
    yield made
    made.close()


def ask(model: ChatModel, text: str = "Where?", **options: Any) -> Reply:
    return model.ask(prompt("Be brief.", text), source="memory_qa", max_tokens=50, **options)


def test_a_question_is_answered_and_its_tokens_are_told(server: OpenAIServer, model: ChatModel) -> None:
    server.say("In Lisbon.")
    assert ask(model) == Reply("In Lisbon.", Tokens(3, 2), cut=False)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "a-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where?"}],
        "max_tokens": 50,
        "temperature": 0,
    }
    assert model.name == "a-model"


def test_an_answer_that_says_nothing_tells_what_it_used(server: OpenAIServer, model: ChatModel) -> None:
    server.say(" ")
    with pytest.raises(ModelError) as caught:
        ask(model)
    assert caught.value.tokens == Tokens(3, 0)
    server.script(Status(401))
    with pytest.raises(ModelError) as caught:
        ask(model)
    assert caught.value.tokens is None


def test_a_schema_is_sent_along(server: OpenAIServer, model: ChatModel) -> None:
    ask(model, schema=SCHEMA)
    shape = {"name": "answer", "schema": SCHEMA, "strict": True}
    assert server.requests[0].body["response_format"] == {"type": "json_schema", "json_schema": shape}


def test_nothing_is_taken_from_the_environment(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", "of-somebody-else")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model = ChatModel(server.base_url, "m")
    ask(model)
    model.close()
    assert "of-somebody-else" not in str(server.requests[0].headers)
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("step", [Status(429), Status(500), Status(503), Drop()], ids=repr)
def test_passing_failures_are_tried_again_ever_later(
    server: OpenAIServer, model: ChatModel, waits: list[float], step: Step
) -> None:
    server.script(step, step, step)
    server.say("At last.")
    assert ask(model).text == "At last."
    assert len(server.requests) == 4
    assert all(0.5 * 2**i / 2 <= wait <= 0.5 * 2**i for i, wait in enumerate(waits))


def test_retry_after_is_honoured_within_reason(
    server: OpenAIServer, model: ChatModel, waits: list[float]
) -> None:
    server.script(Status(429, retry_after="7"), Status(503, retry_after="86400"))
    ask(model)
    assert waits == [7.0, 30.0]


def test_it_gives_up_after_the_allowed_attempts(
    server: OpenAIServer, model: ChatModel, waits: list[float]
) -> None:
    server.script(*[Status(503)] * 4)
    with pytest.raises(ModelError, match="failed 4 times, at last with status 503"):
        ask(model)
    assert len(waits) == 3


@pytest.mark.parametrize(("status", "hint"), [(400, "scripted"), (401, "API key"), (404, "base URL")])
def test_a_refusal_is_not_tried_again(
    server: OpenAIServer, model: ChatModel, waits: list[float], status: int, hint: str
) -> None:
    server.script(Status(status))
    with pytest.raises(ModelError, match=f"status {status}.*{hint}"):
        ask(model)
    assert waits == []


def test_a_server_that_says_nothing_runs_into_the_time_out(server: OpenAIServer, waits: list[float]) -> None:
    release = threading.Event()
    model = ChatModel(server.base_url, "m", timeout=0.05, attempts=2, sleep=waits.append)
    server.script(Hang(release), Hang(release))
    with pytest.raises(ModelError, match="failed 2 times, at last with ReadTimeout"):
        ask(model)
    release.set()
    model.close()


def test_a_call_ends_within_the_time_it_is_given(
    server: OpenAIServer, model: ChatModel, waits: list[float]
) -> None:
    release = threading.Event()
    server.script(Hang(release), Status(429, retry_after="20"))
    with pytest.raises(ModelError, match="failed once, with ReadTimeout"):
        ask(model, within=0.05)
    release.set()
    with pytest.raises(ModelError, match="failed once, with status 429"):
        ask(model, within=10)  # it would have to wait longer than that
    assert waits == []


def test_no_server_at_all_is_a_model_error(waits: list[float]) -> None:
    with OpenAIServer() as gone:
        address = gone.base_url
    model = ChatModel(address, "m", attempts=3, sleep=waits.append)
    with pytest.raises(ModelError, match="ConnectError"):
        ask(model)
    assert len(waits) == 2
    model.close()


def constant(body: Any) -> Alter:
    return Alter(lambda _: body)


def choice(**changed: Any) -> Alter:
    def altered(body: Body) -> Body:
        return body | {"choices": [body["choices"][0] | changed]}

    return Alter(altered)


@pytest.mark.parametrize(
    "step",
    [
        Truncate(),
        constant([]),
        constant({}),
        constant({"choices": []}),
        constant({"choices": "text"}),
        constant({"choices": [{"message": None}]}),
        constant({"choices": [{"message": {"content": ["part"]}}]}),
        choice(message={"content": None}),
        choice(message={"content": " "}),
        choice(message={"content": None, "refusal": SECRET}, finish_reason="content_filter"),
        choice(message={"content": ""}, finish_reason="length"),
        Alter(lambda body: body | {"usage": {"prompt_tokens": "many"}}),
    ],
)
def test_an_answer_without_text_is_a_model_error(
    server: OpenAIServer, model: ChatModel, step: Truncate | Alter
) -> None:
    server.script(step)
    with pytest.raises(ModelError) as raised:
        ask(model)
    assert SECRET not in str(raised.value)


def test_an_answer_may_lack_its_usage_be_cut_or_think_aloud(server: OpenAIServer, model: ChatModel) -> None:
    server.script(Alter(lambda body: {"choices": body["choices"]}), choice(finish_reason="length"))
    server.say("Here.", "Half an ans", "<think>\nHm, <b>.\n</think>\n\nYes.")
    assert ask(model) == Reply("Here.", Tokens(0, 0))
    assert ask(model).cut
    assert ask(model).text == "Yes."


def refused(param: str | None) -> Status:
    return Status(400, body={"error": {"message": SECRET, "code": "unsupported", "param": param}})


def test_what_a_server_does_not_know_is_left_out_from_then_on(server: OpenAIServer, model: ChatModel) -> None:
    server.script(refused("max_tokens"), refused("temperature"), refused(None))
    server.say("Yes.")
    assert ask(model, schema=SCHEMA).text == "Yes."
    ask(model, schema=SCHEMA)
    *_, adapted, later = (request.body for request in server.requests)
    assert adapted == later
    assert adapted.keys() == {"model", "messages", "max_completion_tokens"}
    assert len(server.requests) == 5


def test_a_request_that_is_refused_for_itself_leaves_nothing_out(
    server: OpenAIServer, model: ChatModel
) -> None:
    server.script(refused("messages"), refused("messages"))
    with pytest.raises(ModelError, match=r"status 400 \(unsupported\)"):
        ask(model, schema=SCHEMA)
    ask(model, schema=SCHEMA)
    assert "response_format" in server.requests[-1].body


def test_neither_text_nor_key_is_shown_or_logged(
    server: OpenAIServer, model: ChatModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    quoting = {"error": {"message": f"bad input {SECRET} for {KEY}", "code": f"bad {SECRET}"}}
    shown = [repr(model)]
    for status in (400, 401, 500, 500, 500, 500):
        server.script(Status(status, body=quoting))
    for _ in range(3):
        with pytest.raises(ModelError) as raised:
            ask(model, SECRET)
        assert raised.value.__suppress_context__ or raised.value.__context__ is None
        shown.append(str(raised.value))
    server.say(SECRET)
    ask(model, SECRET)
    shown.append(caplog.text)
    assert SECRET not in "".join(shown)
    assert KEY not in "".join(shown)


def test_a_password_in_the_address_is_not_shown() -> None:
    model = ChatModel("http://me:hunter2@127.0.0.1:9/v1?key=hunter2", "m", attempts=1)
    with pytest.raises(ModelError) as raised:
        ask(model)
    model.close()
    assert "hunter2" not in str(raised.value) + repr(model)


@pytest.mark.parametrize("text", ["\x00", "\ud800 alone", "\ud83d\ude00", "\U0010ffff", "a" * (1 << 20)])
def test_strange_texts_are_taken(server: OpenAIServer, model: ChatModel, text: str) -> None:
    assert ask(model, text).text


@pytest.mark.parametrize(
    ("base_url", "key"),
    [("localhost:8080", None), ("http://x\n", None), ("http://x", "key\n"), ("http://x", "ключ")],
)
def test_settings_that_cannot_work_are_refused(base_url: str, key: str | None) -> None:
    with pytest.raises(SettingsError):
        ChatModel(base_url, "m", api_key=key)


def test_no_more_requests_at_once_than_allowed() -> None:
    """Two at a time: each waits in the server until a second one is there, and none sees a third."""
    pair, lock = threading.Barrier(2, timeout=30), threading.Lock()
    inside, most = 0, 0

    def chat(_: Body) -> str:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        pair.wait()
        with lock:
            inside -= 1
        return "Here."

    with OpenAIServer(chat=chat) as server:
        model = ChatModel(server.base_url, "m", concurrency=2)
        threads = [threading.Thread(target=ask, args=(model,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        model.close()
    assert most == 2
    assert len(server.requests) == 6


def test_who_cannot_wait_for_others_is_told_so() -> None:
    asked, release = threading.Event(), threading.Event()

    def chat(_: Body) -> str:
        asked.set()
        release.wait(30)
        return "Here."

    with OpenAIServer(chat=chat) as server:
        model = ChatModel(server.base_url, "m", concurrency=1)
        first = threading.Thread(target=ask, args=(model,))
        first.start()
        assert asked.wait(30)
        with pytest.raises(ModelError, match="busy"):
            ask(model, within=0.01)
        release.set()
        first.join()
        model.close()


def test_the_scripted_server_streams_as_the_sdk_expects(server: OpenAIServer) -> None:
    import openai

    server.say("One word after another.")
    with openai.OpenAI(base_url=server.base_url, api_key=KEY) as client:
        chunks = [
            *client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": "Go on"}],
                stream=True,
                stream_options={"include_usage": True},
            )
        ]
    said = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(said) == "One word after another."
    assert len(said) == 5
    assert chunks[-1].usage is not None
    assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.completion_tokens) == (2, 4)
