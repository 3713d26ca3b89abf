"""Responses that a client goes on from by their id: kept here, for each user, and sent along as input, so
that the upstream need not know them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from recollect import Memory
from recollect.model.changes import Remove
from recollect.model.records import Response
from recollect.scoped import workspace_of
from recollect.server.gateway.reading import Body, dicts, of_items
from recollect.server.gateway.refusals import no_response

SAID = ("message", "function_call", "custom_tool_call")
"""Items whose `id` means something to the upstream that made them, and is not needed. Others are nothing
without theirs, such as a search that the upstream made."""
REASONING = "reasoning"
ANSWERS = ("function_call_output", "custom_tool_call_output")


@dataclass(frozen=True, slots=True)
class Chain:
    """What was said up to a response: as items of input; how many messages that is; in which conversation;
    and the response before all of it that the upstream is asked for, if there is one."""

    items: list[Any]
    said: int
    conversation: str
    before: str | None


def chain_of(memory: Memory, user: str, id: str, *, upstreams: bool) -> Chain:
    """The responses up to this one. Where one before it is not here, from the next one on: it is the
    `upstreams`, unless it was kept here once."""
    store = memory.store.user(user)
    last = response_of(memory, user, id, "previous_response_id")
    known = {one.id: one for one in store.find(Response, {"conversation": last.conversation})}
    links, before = [last], None
    while (previous := links[-1].previous) is not None and previous not in {one.id for one in links}:
        found = known.get(previous) or next(iter(store.get(Response, [previous])), None)
        if found is None:
            before = previous if upstreams and not was_kept(memory, user, previous) else None
            break
        links.append(found)
    items: list[Any] = []
    for link in reversed(links):
        items += [*as_items(link.input), *_as_input(link.body)]
    while not before and [one for one in dicts(items[:1]) if one.get("type") in ANSWERS]:
        items.pop(0)  # to a call that is gone
    return Chain(items, len(of_items(items)), last.conversation, before)


def was_kept(memory: Memory, user: str, id: str) -> bool:
    """Whether it was kept here until somebody forgot it, or its time was over: then it is nowhere."""
    store = memory.store.user(user)
    return bool(store.seq() and store.deleted(Response, [id]))  # to ask of nobody would store a secret


def response_of(memory: Memory, user: str, id: str, param: str | None = None) -> Response:
    for found in memory.store.user(user).get(Response, [id]):
        return found
    raise no_response(id, param)


def remove(memory: Memory, user: str, id: str) -> Response:
    """Nobody goes on from it any more. What was said stays, until that is forgotten."""
    found = response_of(memory, user, id)
    work = workspace_of(memory.scope(user))
    logged = work.log("forget", f"response {id}", kind="response", always=True)
    work.apply(Remove("response", (id,)), *logged)
    return found


def as_items(given: Any) -> list[Any]:
    """Input as a list of items."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [*cast(list[Any], given)] if isinstance(given, list) else []


def _as_input(body: Any) -> list[Any]:
    """What was answered, as input. Reasoning that only the upstream has is left out, unless it led to an item
    that needs its id: the upstream takes that one only together with it, and with what else it led to."""
    if not isinstance(body, dict):
        return []
    thoughts: list[list[Body]] = [[]]
    for item in dicts(cast(Body, body).get("output")):
        if item.get("type") == REASONING:
            thoughts.append([])
        thoughts[-1].append(item)
    return [item for thought in thoughts for item in (thought if _is_bound(thought) else _freed(thought))]


def _is_bound(thought: list[Body]) -> bool:
    """Whether reasoning and what it led to belong together."""
    kinds = [item.get("type") for item in thought]
    return kinds[:1] == [REASONING] and any(kind not in SAID for kind in kinds[1:])


def _freed(items: list[Body]) -> Iterator[Body]:
    """Items that mean the same anywhere, as far as they can."""
    for item in items:
        kind = item.get("type")
        if kind != REASONING or item.get("encrypted_content"):
            yield {name: part for name, part in item.items() if name != "id" or kind not in SAID}
