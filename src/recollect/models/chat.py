"""A language model behind an OpenAI-compatible address, by the official SDK.

The SDK's own retries are off: ours tell what happened, and tests need not wait for them.
"""

import copy
import importlib.util
import re
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.addresses import (
    PASSING_STATUS,
    Deadline,
    Passing,
    Patience,
    checked,
    failing,
    insist,
    refusal,
    shown,
)
from recollect.errors import ModelError, SettingsError
from recollect.models._acting import Hearing, body_of, chunks, is_about_tools, lines
from recollect.models._vectors import well_formed
from recollect.ports.acting import Message, Offered, Said, ToolsUnknown
from recollect.ports.ending import ENDING, Ending
from recollect.ports.language_model import ChatMessage, Reply, Schema, Source, Tokens

if TYPE_CHECKING:
    from openai import OpenAI

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
"""What some local models write before their answer."""

Body = dict[str, Any]
T = TypeVar("T")


class ChatModel:
    """The `LanguageModel` and `ActingModel` ports over POST {base_url}/chat/completions. Safe in any thread.

    `concurrency` is how many requests are under way at once; further ones wait. What a server does not know
    (a schema, a temperature, the older name of the token limit) is left out of later requests.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout: float = 60.0,
        attempts: int = 5,
        concurrency: int = 8,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base_url = checked("language model", base_url, api_key)
        if importlib.util.find_spec("openai") is None:
            raise SettingsError("A language model needs the openai package: pip install 'recollect[llm]'.")
        self._where = shown(f"{self._base_url}/chat/completions")
        self._model = model
        self._api_key = api_key
        self._patience = Patience(timeout=timeout, attempts=attempts, sleep=sleep)
        self._slots = threading.BoundedSemaphore(concurrency)
        self._lock = threading.Lock()
        self._client: OpenAI | None = None
        self._streaming: OpenAI | None = None
        self._unknown: frozenset[str] = frozenset()
        self._others: dict[str, ChatModel] = {}

    def __repr__(self) -> str:
        key = "None" if self._api_key is None else "'***'"
        return f"ChatModel({self._where!r}, {self._model!r}, api_key={key})"

    @property
    def name(self) -> str:
        return self._model

    def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        source: Source,
        max_tokens: int,
        schema: Schema | None = None,
        within: float | None = None,
    ) -> Reply:
        deadline = Deadline(within)
        body: Body = {
            "model": self._model,
            "messages": [{"role": role, "content": well_formed(content)} for role, content in messages],
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        if schema is not None:
            shape = {"name": "answer", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        answer = insist(
            lambda: self._adapted(body, lambda known: self._request(known, deadline)),
            self._patience,
            deadline,
            failing(self._where, ModelError),
        )
        return self._reply(answer)

    def act(
        self,
        messages: Sequence[Message],
        tools: Sequence[Offered] = (),
        *,
        source: Source,
        max_tokens: int,
        within: float | None = None,
    ) -> Iterator[str | Said]:
        deadline = Deadline(within)
        body = body_of(self._model, messages, tools, max_tokens)
        heard = Hearing()
        told = insist(
            lambda: self._adapted(body, lambda known: self._begun(known, deadline)),
            self._patience,
            deadline,
            failing(self._where, ModelError),
        )
        try:
            for chunk in told:
                if piece := heard.hear(chunk):
                    yield piece
        except Passing as broken:  # some of it was passed on: it cannot be asked for again
            raise ModelError(f"{self._where} broke off ({broken.reason}).", heard.tokens) from None
        finally:
            told.close()
        yield heard.said()

    def choosing(self, model: str) -> "ChatModel":
        """The same, by another model of the same service; requests of both are counted together. It is kept,
        since what the server does not know of is found out for each."""
        with self._lock:
            if model not in self._others:
                other = copy.copy(self)
                other._model, other._lock = model, threading.Lock()
                other._client = other._streaming = None
                other._unknown, other._others = frozenset(), {}
                self._others[model] = other
            return self._others[model]

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        with self._lock:
            clients = [one for one in (self._client, self._streaming) if one is not None]
            self._client = self._streaming = None
            others, self._others = self._others, {}
        for other in others.values():
            other.close()
        for client in clients:
            client.close()

    def _adapted(self, body: Body, send: Callable[[Body], T]) -> T:
        """The answer to a request of which the server knows every part."""
        unknown = self._unknown
        while True:
            if "tools" in body and "tools" in unknown:
                raise ToolsUnknown(f"{self._where} takes no tools.")
            try:
                answer = send(_without(body, unknown))
            except _BadRequest as refused:
                part = _blamed(refused.body, _without(body, unknown))
                if part is None and "tools" in body:
                    if is_about_tools(refused.body):
                        self._unknown |= {"tools"}
                    raise ToolsUnknown(refusal(self._where, refused.status, refused.body)) from None
                if part is None:
                    raise ModelError(refusal(self._where, refused.status, refused.body)) from None
                unknown |= {part}
            else:
                self._unknown |= unknown
                return answer

    def _request(self, body: Body, deadline: Deadline) -> Body:
        """The parsed answer to one request."""
        with self._slot(deadline), self._translated():
            return _object(self._sent(body, deadline, self._open()).json())

    def _begun(self, body: Body, deadline: Deadline) -> Generator[Body]:
        """The parts of an answer as they come; the first of them is there, so that what fails before it can
        be asked for again."""
        told = self._parts(body, deadline)
        try:
            first = next(told)
        except StopIteration:
            raise Passing("an empty answer") from None
        return _again(first, told)

    def _parts(self, body: Body, deadline: Deadline) -> Generator[Body]:
        with self._slot(deadline, ENDING.get()), self._translated():
            response = self._sent(body, deadline, self._acting())
            try:
                yield from chunks(lines(_in_time(response.iter_bytes(), deadline)))
            finally:
                response.close()

    def _sent(self, body: Body, deadline: Deadline, client: "OpenAI") -> Any:
        """The SDK's response as it came: its own classes take any answer, and would hide what is missing."""
        seconds = max(0.001, min(self._patience.timeout, deadline.left()))
        asking: Any = client.chat.completions.with_raw_response
        raw = asking.create(**body, timeout=seconds, extra_headers=self._headers())
        return raw.http_response

    @contextmanager
    def _slot(self, deadline: Deadline, ending: Ending | None = None) -> Generator[None]:
        """One of the requests that may be under way; one that nobody wants any more is none of them."""
        left = deadline.left()
        if not self._slots.acquire(timeout=None if left == float("inf") else max(0.0, left)):
            raise ModelError(f"{self._where} is busy with other requests of this process.")
        taken = [self._slots.release]

        def release() -> None:
            with suppress(IndexError):  # it was, already
                taken.pop()()

        try:
            if ending is not None:
                ending.then(release)
                if ending.over:
                    raise ModelError(f"The request to {self._where} was given up.")
            yield
        finally:
            release()

    @contextmanager
    def _translated(self) -> Generator[None]:
        """What the SDK and HTTP raise, in our words."""
        import openai

        try:
            yield
        except openai.APIConnectionError as error:
            # Its own name says less than that of its cause, which is httpx's.
            raise Passing(type(error.__cause__ or error).__name__) from None
        except openai.APIStatusError as error:
            status = error.status_code
            if status in (500, 501) and is_about_tools({"error": error.body}):  # llama.cpp answers so
                raise _BadRequest(status, {"error": error.body}) from None
            if status in PASSING_STATUS:
                raise Passing(f"status {status}", error.response.headers.get("Retry-After")) from None
            if status in (400, 422):
                raise _BadRequest(status, {"error": error.body}) from None
            raise ModelError(refusal(self._where, status, {"error": error.body})) from None
        except (openai.OpenAIError, ValueError, TypeError, RecursionError):
            raise ModelError(f"{self._where} answered with something that is not JSON.") from None

    def _headers(self) -> dict[str, Any]:
        """Ours alone: the SDK would take a key and names of its own from the environment."""
        from openai import Omit

        key = f"Bearer {self._api_key}" if self._api_key else Omit()
        return {"Authorization": key, "OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}

    def _open(self) -> "OpenAI":
        with self._lock:
            if self._client is None:
                from openai import OpenAI  # here: importing it takes longer than importing recollect

                self._client = OpenAI(base_url=self._base_url, api_key=self._api_key or "none", max_retries=0)
            return self._client

    def _acting(self) -> "OpenAI":
        """A client whose requests can be ended while the server says nothing: each has a connection of its
        own, since only of a new one it is known which it is."""
        client = self._open()
        with self._lock:
            if self._streaming is None:
                from openai import DefaultHttpxClient

                hooks: Any = {"request": [_ended_with_its_job]}
                http = DefaultHttpxClient(headers={"Connection": "close"}, event_hooks=hooks)
                self._streaming = client.with_options(http_client=http)
            return self._streaming

    def _reply(self, answer: Body) -> Reply:
        try:
            choice = answer["choices"][0]
            text, reason = choice["message"].get("content"), choice.get("finish_reason")
            usage: Body = answer.get("usage") or {}
            tokens = Tokens(int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0)))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"{self._where} gave a malformed answer ({type(error).__name__}).") from None
        if isinstance(text, str) and (text := _THOUGHT.sub("", text)).strip():
            return Reply(text, tokens, reason == "length")
        if reason == "length":
            raise ModelError(f"{self._model} reached the token limit before it said anything.", tokens)
        raise ModelError(
            f"{self._model} said nothing" + (": filtered." if reason == "content_filter" else "."), tokens
        )


class _BadRequest(Exception):
    """The request was refused as it is; without some part of it it may be taken."""

    def __init__(self, status: int, body: Body) -> None:
        super().__init__()
        self.status = status
        self.body = body


def _again(first: Body, rest: Generator[Body]) -> Generator[Body]:
    """What was begun, from its beginning; closing it closes the rest."""
    try:
        yield first
        yield from rest
    finally:
        rest.close()


def _ended_with_its_job(request: Any) -> None:
    """Have the connection that this request opens shut down when nobody wants its answer any more: closing
    it would not wake who reads from it."""
    ending = ENDING.get()
    if ending is None:
        return

    def traced(event: str, about: Any) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            opened = about["return_value"].get_extra_info("socket")
            ending.then(lambda: opened.shutdown(socket.SHUT_RDWR))

    request.extensions["trace"] = traced


def _in_time(pieces: Iterable[bytes], deadline: Deadline) -> Iterator[bytes]:
    """The pieces, as long as there is time: a server that keeps sending something never times out."""
    try:
        for piece in pieces:
            if deadline.left() <= 0:
                raise Passing("no end in time")
            yield piece
    except Passing:
        raise
    except Exception as error:  # noqa: BLE001 - of the HTTP client, which is the SDK's choice
        raise Passing(type(error).__name__) from None


def _object(answer: object) -> Body:
    if not isinstance(answer, dict):
        raise ValueError
    return answer  # pyright: ignore[reportUnknownVariableType]


def _without(body: Body, unknown: frozenset[str]) -> Body:
    """The request without the parts the server does not know; the token limit has a newer name."""
    known = {name: value for name, value in body.items() if name not in unknown}
    return known | ({"max_completion_tokens": body["max_tokens"]} if "max_tokens" in unknown else {})


def _blamed(error: Any, body: Body) -> str | None:
    """The part of the request to try without: the one the server names, else the schema, which few servers
    refuse in so many words."""
    try:
        param = str(error["error"]["param"] or "")
    except (LookupError, TypeError):
        param = ""
    named = [
        part
        for part in ("max_tokens", "temperature", "stream_options", "response_format")
        if param.startswith(part)
    ]
    return next((part for part in (*named, "response_format") if part in body), None)
