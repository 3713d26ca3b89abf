"""What erasures leave in the audit, and what they take out of it (I3, I5)."""

import pytest

from tests.unit.support import OpenMemory
from tests.unit.test_audit import WORD, told


def test_what_makes_room_or_way_leaves_a_receipt_too(open_memory: OpenMemory) -> None:
    derek = open_memory(audit="off").scope("derek")
    derek.record("user", f"My sister {WORD} lives in Lyon.", conversation="a")
    derek.mine()
    derek.set_retention(memory_quota=len(derek.list("fact")))
    derek.remember(f"{WORD} likes tea.", slot="drink")
    assert told(derek) == [("evict", "memories", 1)]
    derek.set_retention(memory_quota=None)
    derek.remember(f"{WORD} likes coffee.", slot="drink")
    assert told(derek)[1:] == [("replace", "records", 2)]
    assert derek.audit("replace")[0].details == {"kinds": {"fact": 1, "turn": 1}}
    assert WORD not in repr(derek.audit())


@pytest.mark.parametrize("field", ["conversation", "channel", "agent"])
def test_a_bare_name_goes_out_of_what_waits_elsewhere(open_memory: OpenMemory, field: str) -> None:
    here, there = open_memory(audit="verbose"), open_memory(audit="verbose")
    here.scope("derek").record("user", "tea")
    reader = there.scope("derek", **{field: WORD})
    reader.list("fact", channel=WORD)
    reader.conversation(WORD)
    gone = here.scope("derek").forget(**{field: WORD})  # type: ignore[arg-type]
    there.flush()
    entries = here.scope("derek").audit()
    assert WORD not in repr(entries)
    assert {"list", "conversation"} <= {entry.operation for entry in entries}
    assert [entry.id for entry in entries if entry.operation == "forget"] == [gone.receipt]


def test_traces_outlive_what_is_merged(open_memory: OpenMemory) -> None:
    memory = open_memory(audit="verbose")
    derek = memory.scope("derek")
    derek.record("user", "My sister Anna lives in Lyon. My friend Ben lives in Rome.", conversation="a")
    derek.mine()
    derek.recall(WORD)
    memory.flush()
    derek.merge("Ben", into="Anna")
    assert WORD in repr(derek.audit("recall"))
