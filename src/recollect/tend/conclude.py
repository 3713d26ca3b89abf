"""When the background concludes a conversation."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from recollect.model.records import NEVER, PARKED, Conversation
from recollect.ports.tending import Mark
from recollect.tend.mining import is_wanted
from recollect.tend.steps import Step
from recollect.tend.tender import Hold
from recollect.wishes import chosen
from recollect.workspace import Workspace

TRIES = 5
"""How often a conversation may fail before it is concluded with nothing, until somebody speaks again."""


def plan_conclusions(work: Workspace, mark: Mark) -> Iterator[Step]:
    """The conversations that are over and not concluded."""
    wishes = work.wishes()
    if not (wishes.enabled and chosen(wishes.conclude, work.settings.conclude)):
        return
    mining = is_wanted(work)
    for conversation in work.store.unconcluded(
        work.clock.now() - timedelta(minutes=work.settings.idle_minutes)
    ):
        if is_ready(work, conversation, mining and wishes.agent(conversation.agent).mining):
            why = "it has ended" if conversation.ended_at else "nobody speaks any more"
            yield Step(
                action="conclude", record=conversation, why=why, do=_concluding(work, conversation, why)
            )


def is_ready(work: Workspace, conversation: Conversation, mining: bool) -> bool:
    """What failed waits; so does what is still to be mined, unless mining keeps failing."""
    if mining and is_unmined(conversation) and conversation.mining_after != NEVER:
        return conversation.mining_failures >= TRIES
    after = conversation.mining_after
    return after in (None, NEVER, PARKED) or after <= work.clock.now()


def is_unmined(conversation: Conversation) -> bool:
    return conversation.mined_to < conversation.next_index


def is_given_up(conversation: Conversation) -> bool:
    """Whether nothing is to be made of it: somebody has undone that, or it failed too often. Failures of
    mining are counted with it."""
    most = 2 * TRIES if is_unmined(conversation) else TRIES
    return conversation.mining_after == NEVER or conversation.mining_failures >= most


def _concluding(work: Workspace, conversation: Conversation, why: str) -> Callable[[Hold], int]:
    def do(hold: Hold) -> int:
        from recollect.tend.concluding import try_to_conclude  # not needed to record and recall

        return try_to_conclude(work, conversation, why)

    return do
