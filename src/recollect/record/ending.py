"""That a conversation has ended, and what came of it."""

from recollect.errors import Invalid, NotFound
from recollect.limits import check_flag, check_given, check_text
from recollect.model.changes import Expect, Revise
from recollect.model.records import ENDED, Conversation
from recollect.workspace import Workspace, rereading


@rereading
def end(work: Workspace, conversation: str | None, outcome: str | None, success: bool | None) -> Conversation:
    """Say that a conversation has ended; said again, the last word holds. Whoever speaks in it after that
    opens it again."""
    id = conversation if conversation is not None else work.scope.conversation
    if id is None:
        raise Invalid("Say which conversation has ended: end(conversation=…).")
    check_text("outcome", outcome, work.settings.metadata_limit)
    if success is not None:
        check_flag("success", success)
    found = work.store.get(Conversation, [check_given("conversation", id)])
    if not found:
        raise NotFound(f"There is no conversation {id!r}.")
    (talk,) = found
    told = {"to": talk.next_index, "outcome": outcome, "success": success}
    kept = {name: value for name, value in talk.metadata.items() if name != ENDED}
    given = outcome is not None or success is not None
    changes = {
        "ended_at": work.clock.now(),
        "metadata": {**kept, ENDED: told} if given else kept,
        # What was said of it may change what was made of it.
        **({"concluded_to": 0} if given else {}),
    }
    work.apply(
        Expect("conversation", id, talk),
        Revise("conversation", id, changes),
        *work.log("end", "conversation", kind="conversation", conversation=id),
    )
    return work.store.get(Conversation, [id])[0]
