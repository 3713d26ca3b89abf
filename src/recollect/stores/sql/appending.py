"""What new turns make of what is stored: pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect.errors import Conflict
from recollect.model.changes import TurnDraft
from recollect.model.records import FRESH, PARKED, Conversation, Turn


def grown(conversation: Conversation | None, turns: Sequence[Turn], title: str | None) -> Conversation:
    """The conversation with its new turns, opened by them if need be: one that had ended goes on,
    and one that was parked is mined again."""
    first = turns[0]
    conversation = conversation or Conversation(
        id=first.conversation,
        channel=first.channel,
        agent=first.agent,
        started_at=first.at,
        last_at=first.at,
    )
    return replace(
        conversation,
        next_index=max(conversation.next_index, *(turn.index + 1 for turn in turns)),
        mined_to=min(conversation.mined_to, *(turn.index for turn in turns)),  # one may fill a gap
        concluded_to=min(conversation.concluded_to, *(turn.index for turn in turns)),
        ended_at=None,
        started_at=min(conversation.started_at, *(turn.at for turn in turns)),
        last_at=max(conversation.last_at, *(turn.at for turn in turns)),
        title=conversation.title if title is None else title,
        **(FRESH if conversation.mining_after == PARKED else {}),
    )


def archived(conversations: Mapping[str, Conversation], turns: Sequence[Turn]) -> dict[str, list[bool]]:
    """For each of the turns, whether its conversation was archived; nothing when none was."""
    archived = {id for id, conversation in conversations.items() if conversation.archived_at}
    return {"archived": [turn.conversation in archived for turn in turns]} if archived else {}


def placed(draft: TurnDraft, index: int) -> Turn:
    return Turn(
        id=draft.id,
        conversation=draft.conversation,
        index=index,
        role=draft.role,
        content=draft.content,
        at=draft.at,
        recorded_at=draft.recorded_at,
        digest=draft.digest,
        channel=draft.channel,
        agent=draft.agent,
        zone=draft.zone,
        model=draft.model,
        tokens=draft.tokens,
        metadata=draft.metadata,
    )


def unchanged(stored: Turn, draft: TurnDraft) -> Turn:
    """The stored turn, if the draft says the same."""
    if (stored.digest, stored.role) != (draft.digest, draft.role):
        raise Conflict(
            f"Turn {stored.index} of conversation {stored.conversation!r} is already recorded with another "
            "text. Turns are never changed: leave out the index to append."
        )
    return stored
