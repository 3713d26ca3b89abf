"""A request for an answer of a model: memory before it, the upstream, memory after it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex
from typing import Any

from starlette.requests import Request

from recollect import RecollectError
from recollect.errors import Invalid
from recollect.measuring import INJECTED, UNAIDED
from recollect.memory import measures_of
from recollect.server.gateway.afterwards import Afterwards, Going
from recollect.server.gateway.chains import as_items, chain_of
from recollect.server.gateway.from_chat import Answer
from recollect.server.gateway.hearing import Heard, as_json, heard_chat, heard_response, is_stream, unpacked
from recollect.server.gateway.helping import Exchange, Helped, helped, log, reason, record
from recollect.server.gateway.injecting import into_chat, into_response, stripped
from recollect.server.gateway.keeping import kept_of
from recollect.server.gateway.passing import Kept, Outgoing
from recollect.server.gateway.reading import Body, of_items, of_messages, parsed
from recollect.server.gateway.refusals import Turned, no_response
from recollect.server.gateway.shared import check_shared
from recollect.server.gateway.to_chat import to_chat
from recollect.server.gateway.translating import Spoken, translated
from recollect.server.gateway.upstream import encoded, headers_up, listed, printable, url
from recollect.server.gateway.wanted import NOTHING, Wanted, unknown, wanted
from recollect.server.identity.caller import Caller
from recollect.server.serving import Serving
from recollect.settings import MiB

PREVIOUS = "previous_response_id"
ID_BYTES = 24
TOLD = 300
"""The most characters of a problem in a header."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One of the two ways to ask a model: what is said in it, where memories go, what is answered."""

    path: str
    field: str
    said: Callable[[object], Any]
    into: Callable[[Body, str], Body]
    heard: Callable[[bytes, bool, bool], Heard]


CHAT = Dialect("chat/completions", "messages", of_messages, into_chat, heard_chat)
RESPONSES = Dialect("responses", "input", of_items, into_response, heard_response)


@dataclass(frozen=True, slots=True)
class Asking:
    """One request on its way."""

    serving: Serving
    afterwards: Afterwards
    caller: Caller
    request: Request
    dialect: Dialect
    raw: bytes
    spoken: Spoken

    async def prepared(self) -> Outgoing:
        """The request as the upstream gets it. What goes wrong with memory is told, and changes nothing."""
        body = parsed(self.raw)
        if self.caller.role != "local" and self.dialect is RESPONSES:
            check_shared(body)
        if body is None:
            return self._outgoing(self.dialect.path, self.raw, {})
        problems: list[str] = []
        wishes = self._wishes(body, problems)
        user = self._user(wishes)
        if user is None and not wishes.nothing:
            problems.append("The key names no user: memory was left out.")
            wishes = NOTHING
        asked = stripped(body)
        exchange = Exchange(user or "", wishes, [])
        if self.dialect is RESPONSES:
            exchange, asked = await self._chained(exchange, asked)
        if wishes.nothing or user is None:
            self._note(problems)
            return self._sent(exchange, body, asked, self._told(Helped(wishes), body, problems))
        exchange = replace(exchange, said=self.dialect.said(asked.get(self.dialect.field)))
        going = self.afterwards.begin(user, exchange.said, wishes.conversation)
        try:
            return await self._with_memory(exchange, going, body, asked, problems)
        except BaseException:
            self.afterwards.drop(going)
            raise

    async def _with_memory(
        self, exchange: Exchange, going: Going, body: Body, asked: Body, problems: list[str]
    ) -> Outgoing:
        found = await self._helped(exchange, problems)
        if found.context:
            before, asked = asked, self.dialect.into(asked, found.context)
            if asked is before:
                found = replace(found, context="")
                problems.append("The instructions are no text: memories have no place in them.")
                self._note(problems[-1:])
            else:
                measures_of(self.serving.memory).count(INJECTED)
        exchange = replace(exchange, wanted=found.wanted, new=found.new)
        keeps = self.dialect is RESPONSES and body.get("store") is not False
        stores = found.wanted.store
        if stores is None:
            stores = self.dialect is CHAT or keeps
        headers = self._told(found, body, problems)
        if not stores:
            self.afterwards.drop(going)
            headers.pop("X-Recollect-Conversation", None)
            return self._sent(exchange, body, asked, headers)
        kept = Kept(self.serving.settings.body_mb * MiB)
        sent = self._sent(exchange, body, asked, headers, kept)
        return replace(sent, ended=lambda: self._ended(going, exchange, kept, keeps=keeps))

    def _ended(self, going: Going, exchange: Exchange, kept: Kept, *, keeps: bool) -> None:
        """Record it in the background, if there was an answer."""
        if not 200 <= kept.status < 300 or not kept.chunks:
            self.afterwards.drop(going)
            return

        def heard() -> Heard:
            content = unpacked(b"".join(kept.chunks), kept.encoding, kept.most)
            return self.dialect.heard(content, is_stream(kept.kind), kept.whole)

        async def recorded() -> None:
            await self.serving.run(lambda: record(self.serving.memory, exchange, heard, keep=keeps))

        self.afterwards.record(going, recorded)

    async def _helped(self, exchange: Exchange, problems: list[str]) -> Helped:
        """What memory has to say, if it says it in time."""
        serving = self.serving

        async def help() -> Helped:
            await self.afterwards.before(exchange.user, exchange.said, exchange.wanted.conversation)
            return await serving.ask(lambda: helped(serving.memory, exchange))

        try:
            found = await asyncio.wait_for(help(), serving.settings.inject_seconds)
            problems += found.problems
        except TimeoutError:
            found = Helped(exchange.wanted)
            problems.append("Memory took too long (RECOLLECT_INJECT_SECONDS).")
        except Invalid as error:
            found = Helped(replace(exchange.wanted, recall=False, store=False))
            problems.append(str(error))
        except Exception as error:  # noqa: BLE001 - memory never fails a request
            found = Helped(exchange.wanted)
            problems.append(f"Memory failed: {reason(error)}")
        self._note(problems)
        return found

    def _note(self, problems: list[str]) -> None:
        if problems:
            measures_of(self.serving.memory).count(UNAIDED)
            log.warning("The gateway goes on with what memory there is: %s", "; ".join(problems))

    def _wishes(self, body: Body, problems: list[str]) -> Wanted:
        try:
            return wanted(self.request.headers, body)
        except Invalid as error:
            problems.append(str(error))
            return NOTHING

    def _user(self, wishes: Wanted) -> str | None:
        """Whose memory it is: the caller's, or, of a service that has not said so in a header, the one that
        the body names. Any other name in it is refused, so that nobody takes their memory for another's."""
        named, own = wishes.user, self.caller.user
        if named is None or named == own or wishes.nothing:
            return own
        if own is None and self.caller.role == "service":
            return named
        raise Turned(
            404,
            "memory_context.user_id is not the user of this key: leave it out, or use a service's key.",
            "user_not_found",
            "memory_context.user_id",
        )

    async def _chained(self, exchange: Exchange, asked: Body) -> tuple[Exchange, Body]:
        """The request with the responses before it in its input, in place of their id."""
        own = as_items(asked.get("input"))
        exchange = replace(exchange, body={"input": own, "instructions": asked.get("instructions")})
        previous, user = asked.get(PREVIOUS), exchange.user
        if exchange.wanted.nothing and self.caller.role == "local":  # what the upstream keeps is their own
            return exchange, asked
        if asked.get("background"):
            raise Turned(
                400, "The gateway waits for answers: leave out background.", "background", "background"
            )
        if not isinstance(previous, str):
            return exchange, asked
        if not user:
            raise no_response(previous, PREVIOUS)
        memory, upstreams = self.serving.memory, self.caller.role == "local" and self.spoken.keeps
        try:
            chain = await kept_of(
                self.serving,
                self.afterwards,
                user,
                previous,
                lambda: chain_of(memory, user, previous, upstreams=upstreams),
                upstreams=upstreams,
            )
        except RecollectError as error:
            message = f"What was said before cannot be read now: {reason(error)}"
            raise Turned(503, message, "memory_unavailable", PREVIOUS, "server_error") from None
        exchange = replace(exchange, previous=previous)
        if chain is None:
            return exchange, asked
        asked = {name: part for name, part in asked.items() if name != PREVIOUS}
        if chain.before:
            asked[PREVIOUS] = chain.before
        after = (chain.conversation, chain.said)
        return replace(exchange, after=after), {**asked, "input": [*chain.items, *own]}

    def _told(self, found: Helped, body: Body, problems: list[str]) -> dict[str, str]:
        told = {
            "X-Recollect-Injected": listed(found.ids) if found.context else "",
            "X-Recollect-Conversation": encoded(found.conversation or ""),
            "X-Recollect-Problem": printable("; ".join([*problems, *unknown(body)]), TOLD),
        }
        return {name: value for name, value in told.items() if value}

    def _written(self, body: Body, asked: Body) -> bytes:
        """The very bytes that came, unless something is changed, or was looked for and not found: of a name
        that comes twice the upstream may read the other."""
        looked = self.dialect is RESPONSES and self.caller.role != "local"
        return self.raw if asked is body and not looked else as_json(asked)

    def _sent(
        self, exchange: Exchange, body: Body, asked: Body, headers: dict[str, str], kept: Kept | None = None
    ) -> Outgoing:
        """The request in the dialect that the upstream has."""

        def as_chat() -> Outgoing:
            id, at = f"resp_{token_hex(ID_BYTES)}", int(self.serving.memory.clock.now().timestamp())
            answer = Answer({**asked, "instructions": body.get("instructions")}, id, at, exchange.previous)
            sent = self._outgoing(CHAT.path, as_json(to_chat(asked)), headers, kept, read=True)
            works = partial(self.spoken.turned_out, "chat")
            return replace(sent, works=works, translated=partial(translated, answer))

        translates = self.dialect is RESPONSES and self.spoken.responses != "native"
        if translates and self.spoken.responses == "chat":
            return as_chat()
        sent = self._outgoing(self.dialect.path, self._written(body, asked), headers, kept, read=translates)
        if not translates:
            return sent
        return replace(sent, works=partial(self.spoken.turned_out, "native"), otherwise=as_chat)

    def _outgoing(
        self,
        path: str,
        content: bytes,
        headers: dict[str, str],
        kept: Kept | None = None,
        *,
        read: bool = False,
    ) -> Outgoing:
        read = read or kept is not None
        request = self.serving.upstream.build_request(
            "POST",
            url(self.serving, path, self.request.scope["query_string"]),
            headers=headers_up(self.request, self.caller, self.serving, read),
            content=content,
        )
        return Outgoing(request, headers, kept)
