"""Clients that send all of their messages each time: which conversation they go on with, and what is new.

A run of messages is known by a digest, keyed with the user's secret, of all of them in order. When an answer
is recorded, it is noted where the messages up to it have led to. The next request brings them along, or
the last of them alone, where a client drops old messages: those have a digest of their own.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.measuring import RECORD, TURNS
from recollect.model.changes import Append, Change, Expect, Put, Thread
from recollect.model.records import Conversation, Json, Response, Role, Turn
from recollect.model.scope import Scope
from recollect.model.search import AtLeast
from recollect.ports.store import Led
from recollect.record.retention import quotas
from recollect.record.turns import Message, embedded, plan_turns
from recollect.workspace import Workspace, rereading

FORKED_FROM, FORKED_AT = "forked_from", "forked_at"
"""In the metadata of a conversation: the one that it branches off from, and before which of its turns."""

TAIL = 4
"""By how many messages up to an answer a conversation is known whose beginning is not sent: two exchanges.
With fewer, such as a greeting and its answer, many conversations end."""
ANSWERS = 100
"""The most answers to the same message among which it is looked for."""
MADE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""A name that was made here."""
SHORT = 100
"""The most characters of the name of a tool in the metadata of a turn; and the most of such names."""
ESCAPED = 6
"""As many characters as one may take as JSON."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that an assistant wants called."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as far as memory goes: whoever sends it again in other JSON has said the same."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()
    call: str | None = None
    """Of a tool: the call that it answers."""
    attached: tuple[tuple[str, str], ...] = ()
    """What is no text: its type, and a digest."""
    spoken: bool = False
    """Whether it was spoken: then it is known by what is attached, as nobody sends the text again."""
    model: str | None = None
    metadata: Json = field(default_factory=dict[str, Any])

    def __bool__(self) -> bool:
        return bool(self.text.strip() or self.calls or self.attached or self.role == "tool")


@dataclass(frozen=True, slots=True)
class Place:
    """Where messages go on: with which of them, in which conversation. None is a new one, which may branch
    off from one that has gone another way."""

    start: int
    conversation: Conversation | None = None
    forked: tuple[str, int] | None = None
    again: tuple[str, ...] = ()
    """The turns that the messages before `start` are, of those that are asked once more."""


def joined(said: Iterable[Said]) -> list[Said]:
    """Without empty messages, and with what an assistant said in several pieces as one."""
    whole: list[Said] = []
    for one in said:
        before = whole[-1] if whole else None
        if before is not None and before.role == one.role == "assistant":
            whole[-1] = replace(
                one,
                text=f"{before.text}\n{one.text}".strip("\n"),
                calls=before.calls + one.calls,
                attached=before.attached + one.attached,
                spoken=before.spoken or one.spoken,
                metadata={**before.metadata, **one.metadata},
            )
        elif one:
            whole.append(one)
    return whole


def chain(secret: bytes, scope: Scope, said: Sequence[Said], kind: str = "thread") -> list[str]:
    """A digest for the messages up to each one. In another channel or with another agent it is another."""
    link = hmac.digest(secret, json.dumps([kind, scope.channel, scope.agent]).encode(), "sha256")
    digests: list[str] = []
    for one in said:
        calls = [[call.name, _same_json(call.arguments)] for call in one.calls]
        text = json.dumps([one.role, "" if one.spoken else one.text.strip(), calls, one.attached])
        link = hmac.digest(secret, link + hashlib.sha256(text.encode()).digest(), "sha256")
        digests.append(link.hex())
    return digests


def tail(secret: bytes, scope: Scope, said: Sequence[Said]) -> list[str]:
    """The digest of the last messages, whatever was before them; none where they are too few."""
    return chain(secret, scope, said[-TAIL:], "tail")[-1:] if len(said) >= TAIL else []


def _same_json(text: str) -> str:
    """However it was written."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text.strip()


def follow(
    work: Workspace, said: Sequence[Said], named: str | None = None, after: tuple[str, int] | None = None
) -> Place:
    """Where these messages go on. In a conversation that the client has `named`, whatever is new goes there;
    `after` says in which conversation so many of them are recorded, should nothing be known of them."""
    ends = [place for place, one in enumerate(said) if one.role == "assistant"]
    digests, led = _led(work, said, ends)
    slid = [one for one in led if one.digest not in digests]
    if named is not None:
        led = [one for one in led if one.conversation == named]
    known = {one.digest for one in led}
    last = max((place for place in ends if digests[place] in known), default=None)
    if named is not None:
        conversation = _conversation(work, named)
        if last is None or conversation is None:
            # Of one that is known, only a part of what was said is sent.
            return Place(ends[-1] + 1 if ends and conversation else 0, conversation)
        (lead,) = [one for one in led if one.digest == digests[last]]
        again = _again(work, conversation, lead.index, said[last + 1 :])
        return Place(last + 1 + len(again), conversation, again=again)
    if last is None:
        return Place(after[1], _conversation(work, after[0])) if after else _slid(work, slid, ends)
    leads = [one for one in led if one.digest == digests[last]]
    for lead in leads:
        conversation = _conversation(work, lead.conversation) if lead.at_the_end else None
        if conversation is not None and conversation.next_index == lead.index:
            return Place(last + 1, conversation)
    return Place(last + 1, forked=(leads[0].conversation, leads[0].index))


def _again(work: Workspace, talk: Conversation, index: int, said: Sequence[Said]) -> tuple[str, ...]:
    """The turns that these messages are, if the conversation went on with them from there and has nothing but
    answers behind them: then another one is asked for. A client that goes on sends the answer that it got."""
    many = len(said)
    if not many or any(one.attached for one in said) or not 0 < talk.next_index - index - many <= ANSWERS:
        return ()
    turns = [*work.store.find(Turn, {"conversation": talk.id, "index": AtLeast(index)}, order="index")]
    told = [(message.role, message.content.strip()) for message in (_message(work, one) for one in said)]
    same = [(turn.role.value, turn.content.strip()) for turn in turns[:many]] == told
    answers = all(turn.role is Role.ASSISTANT for turn in turns[many:])
    return tuple(turn.id for turn in turns[:many]) if same and answers else ()


def _slid(work: Workspace, led: Sequence[Led], ends: Sequence[int]) -> Place:
    """Where messages go on whose beginning is not known: with the one conversation that ends with the last of
    them. Where several do, or it has gone on since, nobody can tell whether it is that one."""
    at_the_end = [one for one in led if one.at_the_end]
    conversation = _conversation(work, at_the_end[0].conversation) if len(at_the_end) == 1 else None
    if conversation is None or conversation.next_index != at_the_end[0].index:
        return Place(0)
    return Place(ends[-1] + 1, conversation)


def _led(work: Workspace, said: Sequence[Said], ends: Sequence[int]) -> tuple[list[str], list[Led]]:
    """The digests, and what is known of those that end with an answer, and of the tail up to the last one."""
    if not ends or not work.store.seq():  # nothing is stored, not even a secret
        return [""] * len(said), []
    secret = work.store.secret()
    digests = chain(secret, work.scope, said)
    last = tail(secret, work.scope, said[: ends[-1] + 1])
    return digests, work.store.threads([*(digests[place] for place in ends), *last])


def _conversation(work: Workspace, id: str) -> Conversation | None:
    return next(iter(work.store.get(Conversation, [id])), None)


def record_thread(
    work: Workspace,
    said: Sequence[Said],
    answer: Said,
    *,
    named: str | None = None,
    after: tuple[str, int] | None = None,
    new: str | None = None,
    response: Response | None = None,
) -> tuple[Turn, ...]:
    """Record those of the messages that are new, and the answer, all at once with where they have led to and
    with the response that can be gone on from. `new` names the conversation if it is one."""
    with work.measures.timed(RECORD):
        stored = _record(work, joined([*said, answer]), named, after, new or work.new_id(), response)
    work.measures.count(TURNS, len(stored))
    return stored


@rereading
def _record(
    work: Workspace,
    said: Sequence[Said],
    named: str | None,
    after: tuple[str, int] | None,
    new: str,
    response: Response | None,
) -> tuple[Turn, ...]:
    place = follow(work, said[:-1], named, after)
    conversation = place.conversation.id if place.conversation else named or new
    drafts = plan_turns(work, [_message(work, one) for one in said[place.start :]], conversation)
    secret = work.store.secret()
    digests = chain(secret, work.scope, said)[-1:] + tail(secret, work.scope, said)
    changes = _opened(work, place, conversation, named)
    changes.append(Append(tuple(embedded(work, drafts))))
    changes += [Thread(digest, conversation) for digest in digests]
    if response is not None:
        sources = (*place.again, *(draft.id for draft in drafts))
        changes.append(Put(replace(response, conversation=conversation, sources=sources)))
    logged = work.log("record", "conversation", kind="turn", conversation=conversation, turns=True)
    return work.apply(*changes, *quotas(work, turns=True), *logged).turns


def _opened(work: Workspace, place: Place, id: str, named: str | None) -> list[Change]:
    """What has to hold, or be there, before the turns."""
    if place.conversation is not None:
        # Two who go on from the same message at once: the second one branches off.
        return [] if named else [Expect("conversation", id, place.conversation)]
    if place.forked is None:
        return []
    now, (source, index) = work.clock.now(), place.forked
    # A name that somebody gave may tell something, and would stay here when that conversation is forgotten.
    told = {FORKED_FROM: source} if MADE.fullmatch(source) else {}
    fork = Conversation(
        id=id,
        channel=work.scope.channel,
        agent=work.scope.agent,
        started_at=now,
        last_at=now,
        metadata={**told, FORKED_AT: index},
    )
    return [Put(fork)]


def _message(work: Workspace, one: Said) -> Message:
    """What is too long is cut, and said so."""
    metadata = dict(one.metadata)
    text, most = one.text, work.settings.content_limit
    if len(text) > most:
        text, metadata["cut"] = text[:most], len(text)
    if one.calls:
        room = work.settings.metadata_limit // (ESCAPED * 2 * len(one.calls[:SHORT]))
        metadata["tool_calls"] = [
            {"id": call.id[:SHORT], "name": call.name[:SHORT], "arguments": call.arguments[:room]}
            for call in one.calls[:SHORT]
        ]
    if one.call is not None:
        metadata["tool_call_id"] = one.call[:SHORT]
    if one.attached:
        metadata["attached"] = [kind[:SHORT] for kind, _ in one.attached[:SHORT]]
    return Message(role=one.role, content=text, model=one.model, metadata=metadata)
