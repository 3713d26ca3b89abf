"""When the background mines a conversation."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from recollect.errors import ModelError
from recollect.mine.windows import is_due
from recollect.model.records import Conversation, Turn
from recollect.ports.tending import Mark
from recollect.tend.steps import Step
from recollect.tend.tender import Hold
from recollect.wishes import chosen
from recollect.workspace import Workspace

LOOKED_AT = 500
"""Of how many new turns the user's are counted."""


def is_wanted(work: Workspace) -> bool:
    """Whether the user has what they say mined by itself."""
    wishes = work.wishes()
    return wishes.enabled and chosen(wishes.auto_mine, work.settings.auto_mine)


def is_ready(work: Workspace, conversation: Conversation) -> bool:
    """It has ended, nobody has spoken for a moment, or the user has said enough."""
    now, quiet = work.clock.now(), timedelta(seconds=work.settings.mine_quiet_seconds)
    if is_due(conversation, now, quiet):
        return True
    waiting = conversation.next_index - conversation.mined_to
    if waiting < work.settings.mine_user_turns:
        return False
    new = list(range(conversation.mined_to, conversation.next_index)[:LOOKED_AT])
    where = {"conversation": conversation.id, "role": "user", "index": new}
    return work.store.count(Turn, where) >= work.settings.mine_user_turns


def plan_mining(work: Workspace, mark: Mark) -> Iterator[Step]:
    """The conversations that are ready to be mined."""
    for conversation in work.store.unmined(now=work.clock.now()) if is_wanted(work) else ():
        if work.wishes().agent(conversation.agent).mining and is_ready(work, conversation):
            turns = conversation.next_index - conversation.mined_to
            why = f"{turns} turns are not mined"
            yield Step(action="mine", record=conversation, why=why, do=_mining(work, conversation))


def _mining(work: Workspace, conversation: Conversation) -> Callable[[Hold], int]:
    def do(hold: Hold) -> int:
        from recollect.mine.pipeline import mine_conversation  # not needed to record and recall

        mined = mine_conversation(work, conversation.id, hold)
        if mined.problem:
            raise ModelError(mined.problem)
        return mined.turns

    return do
