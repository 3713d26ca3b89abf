"""Memory's part in a request: before it is passed on, and after the answer. Neither makes a request fail."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from recollect import Memory, RecollectError, ScopedMemory
from recollect.errors import Invalid
from recollect.measuring import UNRECORDED
from recollect.memory import measures_of
from recollect.model.records import Response
from recollect.model.scope import check_name
from recollect.record.threads import Said, follow, record_thread
from recollect.scoped import workspace_of
from recollect.server.gateway.chains import chain_of
from recollect.server.gateway.hearing import Heard, instructed
from recollect.server.gateway.reading import Body, asked, of_items
from recollect.server.gateway.refusals import Turned
from recollect.server.gateway.wanted import Wanted, within
from recollect.workspace import Workspace

MODEL_LIMIT = 200
"""The most characters of a model's name that are counted by."""

log = logging.getLogger("recollect.gateway")


@dataclass(frozen=True, slots=True)
class Helped:
    """What memory has to say to a request, where it belongs, and what is still wanted of memory."""

    wanted: Wanted
    conversation: str | None = None
    new: str | None = None
    """The same, if it is a new one."""
    context: str = ""
    ids: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request, as far as it is recorded; `new` names its conversation if it is a new one."""

    user: str
    wanted: Wanted
    said: list[Said]
    after: tuple[str, int] | None = None
    previous: str | None = None
    body: Body = field(default_factory=dict[str, object])
    """Of a request for a response: what is kept of it, so that the next one can go on from it."""
    new: str | None = None


def helped(memory: Memory, exchange: Exchange) -> Helped:
    """Recall what bears on the request."""
    scope = scope_of(memory, exchange)
    work = workspace_of(scope)
    wanted = within(exchange.wanted, work.wishes())
    if wanted.nothing:
        return Helped(wanted)
    if wanted.conversation is not None:
        check_name("conversation", wanted.conversation)
    place = follow(work, exchange.said, wanted.conversation, exchange.after)
    going = place.conversation.id if place.conversation else wanted.conversation
    new = None if going else work.new_id()
    here = Helped(wanted, going or new, new)
    query, history = asked(exchange.said)
    if not wanted.recall or not query:
        return here
    found = scope.recall(
        query[-memory.settings.query_limit :],
        top_k=wanted.top_k,
        kinds=wanted.kinds,
        threshold=wanted.threshold,
        exclude_conversation=going,
        history=history,
    )
    return replace(here, context=found.context, ids=found.told, problems=found.problems)


def scope_of(memory: Memory, exchange: Exchange) -> ScopedMemory:
    return memory.scope(exchange.user, exchange.wanted.channel, exchange.wanted.agent)


def record(memory: Memory, exchange: Exchange, hear: Callable[[], Heard], *, keep: bool) -> None:
    """Record what was new and the answer; with `keep`, the response too. Whatever goes wrong is for the log:
    the client has its answer."""
    try:
        heard = hear()
        if heard.tokens is not None:
            memory.spent(exchange.user, "memory_qa", heard.model[:MODEL_LIMIT], heard.tokens)
        if heard.said is None:
            return
        work = workspace_of(scope_of(memory, exchange))
        if not work.wishes().enabled:  # where memory was too slow to be asked, this is the first to know
            return
        exchange = _gone_on(memory, exchange)
        record_thread(
            work,
            exchange.said,
            heard.said,
            named=exchange.wanted.conversation,
            after=exchange.after,
            new=exchange.new,
            response=_response(work, exchange, heard.response) if keep else None,
        )
    except Exception as error:  # noqa: BLE001 - nobody is there any more to tell
        measures_of(memory).count(UNRECORDED)
        log.warning("The gateway could not record an answer: %s", reason(error))


def _gone_on(memory: Memory, exchange: Exchange) -> Exchange:
    """With what was said up to the response that it goes on from, where that was not recorded in time for the
    request; whoever goes on from this one sends both."""
    if exchange.previous is None or exchange.after is not None:
        return exchange
    try:
        chain = chain_of(memory, exchange.user, exchange.previous, upstreams=True)
    except Turned:  # it never was
        return exchange
    said = [*of_items(chain.items), *exchange.said]
    return replace(exchange, said=said, after=(chain.conversation, chain.said))


def _response(work: Workspace, exchange: Exchange, body: Body | None) -> Response | None:
    if body is None:
        return None
    try:
        id = check_name("The id of a response", body["id"])
    except Invalid as error:  # what was said is recorded all the same
        log.warning("Nobody can go on from a response: %s", error)
        return None
    return Response(
        id=id,
        conversation="",
        at=work.clock.now(),
        previous=exchange.previous,
        input=exchange.body.get("input"),
        body=instructed(body, exchange.body.get("instructions")),
        channel=work.scope.channel,
        agent=work.scope.agent,
    )


def reason(error: BaseException) -> str:
    """Why something failed, without anything of what was said."""
    return str(error) if isinstance(error, RecollectError) else type(error).__name__
