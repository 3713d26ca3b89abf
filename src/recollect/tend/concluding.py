"""What becomes of a conversation that is over: a summary, and an episode if it was a task.

Mining makes episodes of tasks that it meets in a window; here the conversation is taken as a whole, and there
is one episode for it, in a slot of its own. If mining found just one task in it, that is the one: it is taken
over and completed, not doubled. Facts are promoted by the chore for that.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from recollect.errors import ModelError, RecollectError
from recollect.mine.conclusion import Conclusion, Talk, Told, concluded, safe
from recollect.mine.pipeline import SPOKEN, park, reason_of
from recollect.mine.versions import SAID
from recollect.model.changes import Change, Expect, ExpectOnly, Put, Remove, Revise
from recollect.model.records import (
    ENDED,
    FRESH,
    MINED,
    NEVER,
    Conversation,
    Episode,
    Summary,
    Tense,
    Tombstone,
    ToolInvocation,
    Turn,
    noted,
)
from recollect.record.memories import indexed, tombstone_digest
from recollect.record.retention import mortal
from recollect.record.turns import said_at
from recollect.tend.conclude import is_given_up, is_unmined
from recollect.tend.learnt import CONCLUDED, conversation_slot
from recollect.workspace import Workspace, rereading

log = logging.getLogger("recollect.tend")

HEAD = 0.25
"""Of a conversation that is too long to be read, the part of what is read that is its beginning."""
MOST_CALLS = 200
MOST_CITED = 12


def try_to_conclude(work: Workspace, conversation: Conversation, why: str) -> int:
    """Conclude it, or note why that failed and when to try again."""
    try:
        return int(conclude(work, conversation, why))
    except Exception as error:
        if not isinstance(error, ModelError):
            log.exception("A conversation could not be concluded; it is tried again later")
        reason = reason_of(error)
        park(work, conversation.id, reason)
        raise RecollectError(f"A conversation could not be concluded: {reason}") from None


def conclude(work: Workspace, conversation: Conversation, why: str) -> bool:
    """Make what is to be made of it, and note how far it was read; False when somebody else did."""
    work = replace(work, scope=replace(work.scope, channel=conversation.channel, agent=conversation.agent))
    talk = Talk(()) if is_given_up(conversation) else _read(work, conversation)
    pii = work.wishes().pii or work.settings.pii
    made = safe(_concluded(work, conversation, talk), pii) if talk.turns else Conclusion()
    return _land(work, conversation, talk, made, why)


def _read(work: Workspace, conversation: Conversation) -> Talk:
    """What was said, of a long one the beginning and the end; and the tools that were called."""
    most, stop = work.settings.conclude_turns, conversation.next_index
    head = int(most * HEAD)
    places = [*range(stop)] if stop <= most else [*range(head), *range(stop - most + head, stop)]
    where = {"conversation": conversation.id, "index": places}
    turns = [turn for turn in work.store.find(Turn, where, order="index") if turn.role in SPOKEN]
    ours = {"conversation": conversation.id, "channel": conversation.channel}
    calls = work.store.find(ToolInvocation, ours, descending=True, limit=MOST_CALLS)
    return Talk(
        tuple(turn for turn in turns if turn.channel == conversation.channel),
        tuple(reversed([*calls])),
        told_of(conversation),
    )


def told_of(conversation: Conversation) -> Told:
    """What was said of how it ended, if nobody spoke after that."""
    found: object = conversation.metadata.get(ENDED)
    if not isinstance(found, Mapping):
        return Told()
    told = cast(Mapping[str, Any], found)
    if told.get("to") != conversation.next_index:
        return Told()
    success = told.get("success")
    return Told(str(told.get("outcome") or ""), success if isinstance(success, bool) else None)


def _concluded(work: Workspace, conversation: Conversation, talk: Talk) -> Conclusion:
    ruled = concluded(talk)
    if ruled.summary and work.model is not None and work.settings.miner != "rules":
        from recollect.mine.conclusion_model import concluded_by

        try:
            return concluded_by(work.model, conversation, talk)
        except ModelError as error:
            log.warning("A conversation is concluded by rules: %s", error)
    return ruled


@rereading
def _land(work: Workspace, conversation: Conversation, talk: Talk, made: Conclusion, why: str) -> bool:
    """Store it, in place of what was made of the conversation before, unless it goes on."""
    found = work.store.get(Conversation, [conversation.id])
    if (
        not found
        or found[0].next_index != conversation.next_index
        or found[0].concluded_to != conversation.concluded_to
    ):
        return False
    if len(said_at(work.store, [turn.id for turn in talk.turns])) != len(talk.turns):
        return False  # something was erased meanwhile: what was read is no longer so
    changes: list[Change] = [Expect("conversation", found[0].id, found[0])]
    changes += [Expect("turn", turn.id, turn) for turn in talk.turns]
    changes += _episode(work, found[0], talk, made)
    changes += _summary(work, found[0], talk, made)
    mined = not is_unmined(found[0]) and found[0].mining_after != NEVER
    state = {"concluded_to": found[0].next_index, **(FRESH if mined else {})}
    details = {"why": why, "way": made.way, "task": bool(made.goal), "turns": len(talk.turns)}
    logged = work.log(
        "conclude", "conversation", kind="conversation", conversation=found[0].id, details=details
    )
    work.apply(*changes, Revise("conversation", found[0].id, state), *logged)
    return True


def _episode(work: Workspace, conversation: Conversation, talk: Talk, made: Conclusion) -> list[Change]:
    """The one episode of the conversation: new, or in place of the one that there is. One that somebody has
    corrected, pinned or wants forgotten stays as they left it."""
    secret = work.store.secret()
    slot = conversation_slot(secret, conversation.id)
    known = [*work.store.find(Episode, {"slot": slot})]
    digest = tombstone_digest(secret, made.content)
    if not made.content or any(e.origin == "explicit" or e.superseded_by for e in known):
        return []
    if work.store.count(Tombstone, {"digest": digest}):
        return []
    before = known[0] if known else _only_task(work, talk.turns)
    if before is not None and before.pinned:
        return []
    ended = talk.turns[-1].at
    fields = {
        name: getattr(made, name) for name in ("goal", "steps", "outcome", "lessons", "success", "tools")
    }
    if before is not None and not known and not made.lessons:
        fields["lessons"] = before.lessons
    about = {
        SAID: ended.isoformat(),
        CONCLUDED: conversation.next_index,
        "sensitive": list(made.tags) or None,
    }
    common: dict[str, Any] = {
        "content": made.content,
        "valid_from": talk.turns[0].at,
        "origin": made.way,
        "slot": slot,
        "sources": rests_on(talk.turns),
        **fields,
    }
    if before is None:
        episode = Episode(
            id=work.new_id(),
            recorded_at=work.clock.now(),
            channel=work.scope.channel,
            agent=work.scope.agent,
            confidence=work.settings.implied_confidence,
            salience=work.settings.mined_salience,
            tense=Tense.PAST,
            metadata={MINED: {name: value for name, value in about.items() if value}},
            **common,
        )
        episode = mortal(episode, work.retention(), work.clock.now())
    else:
        episode = replace(before, metadata=noted(before, about), **common)
    same = before is not None and before.content == episode.content
    return [
        ExpectOnly("episode", {"slot": slot}, frozenset(e.id for e in known)),
        Expect("episode", episode.id, before),
        Put(episode, None if same else indexed(work, episode)),
    ]


def rests_on(turns: Sequence[Turn]) -> tuple[str, ...]:
    """The turns that an episode cites: where it began, and the last of what was said."""
    cited = (turns[0], *turns[1:][-MOST_CITED + 1 :])
    return tuple(turn.id for turn in cited)


def _only_task(work: Workspace, turns: Sequence[Turn]) -> Episode | None:
    """The episode that mining made of this conversation, if it made just one."""
    ids = {turn.id for turn in turns}
    citing = work.store.linking("sources", sorted(ids))
    ours = [id for id, sources in citing.items() if ids.issuperset(sources)]
    mined = [
        episode
        for episode in work.store.get(Episode, ours)
        if episode.origin != "explicit" and not (episode.supersedes or episode.superseded_by)
    ]
    return mined[0] if len(mined) == 1 else None


def _summary(work: Workspace, conversation: Conversation, talk: Talk, made: Conclusion) -> list[Change]:
    """A summary of it all, in place of the one that was made before; none where those who did the work have
    told of it themselves."""
    stored = [*work.store.find(Summary, {"conversation": conversation.id})]
    old = [summary for summary in stored if CONCLUDED in summary.metadata]
    changes: list[Change] = [Expect("summary", summary.id, summary) for summary in old]
    if len(old) < len(stored) or not made.summary:
        return (
            [*changes, Remove("summary", tuple(summary.id for summary in old))] if old and talk.turns else []
        )
    summary = Summary(
        id=old[0].id if old else work.new_id(),
        conversation=conversation.id,
        query=made.query,
        summary=made.summary,
        result=made.result,
        at=talk.turns[-1].at,
        channel=conversation.channel,
        agent=conversation.agent,
        metadata={CONCLUDED: conversation.next_index},
    )
    return [*changes, Put(summary)]
