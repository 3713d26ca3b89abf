"""When the background mines a conversation."""

from datetime import timedelta

from recollect.mine.windows import is_due
from recollect.model.records import Conversation, Turn
from recollect.record.ledger import user_settings
from recollect.workspace import Workspace

LOOKED_AT = 500
"""Of how many new turns the user's are counted."""


def is_ready(work: Workspace, conversation: Conversation) -> bool:
    """It has ended, nobody has spoken for a moment, or the user has said enough; and the user lets it."""
    wishes = user_settings(work).values
    if wishes.get("enabled") is False or not wishes.get("auto_mine", work.settings.auto_mine):
        return False
    now, quiet = work.clock.now(), timedelta(seconds=work.settings.mine_quiet_seconds)
    if is_due(conversation, now, quiet):
        return True
    waiting = conversation.next_index - conversation.mined_to
    if waiting < work.settings.mine_user_turns:
        return False
    new = list(range(conversation.mined_to, conversation.next_index)[:LOOKED_AT])
    where = {"conversation": conversation.id, "role": "user", "index": new}
    return work.store.count(Turn, where) >= work.settings.mine_user_turns
