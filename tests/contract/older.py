"""A memory with something of each kind that ranking weighs, and the way back to older schemas."""

from datetime import date
from typing import Any

from recollect.model.changes import Put, Revise
from recollect.model.records import RECORD_TYPES, Closet, Fact, Tense
from recollect.model.search import Candidate
from recollect.ports.store import Spent, Store
from recollect.testing.store_samples import (
    SPACE,
    START,
    append,
    axis,
    draft,
    entity,
    fact,
    put,
    question,
    sample,
)

_AUDIT = ("memory_kind", "latency_ms", "success", "error", "details", "payload")

TO_EIGHTH = (
    *(f"DROP TABLE {name}" for name in ("projected", "unprojected")),
    *(f"DROP INDEX ix_{name}_seq" for name in ("entities", "relations", "goals", "tool_invocations")),
    "UPDATE alembic_version SET version_num = '0008'",
)
"""From the schema of revision 0010 back to that of 0008, with all that is stored."""

TO_SIXTH = (
    *TO_EIGHTH,
    "DROP TABLE places",
    "DROP INDEX ix_closets_numbers",
    "DROP INDEX ix_closets_turns",
    "CREATE INDEX ix_closets_place ON closets (user_id, wing, room)",
    "CREATE INDEX ix_closets_conversation ON closets (user_id, conversation)",
    "DROP INDEX ix_api_keys_parent",
    "ALTER TABLE api_keys DROP COLUMN parent",
    "UPDATE alembic_version SET version_num = '0006'",
)
"""And to that of 0006, before the memory page."""

TO_FIFTH = (
    *TO_SIXTH,
    "DROP INDEX ix_closets_wings",
    "DROP INDEX ix_tool_invocations_turn",
    "DROP INDEX ix_audit_conversation",
    "DROP INDEX ix_audit_payload",
    "CREATE INDEX ix_closets_slug ON closets (user_id, slug)",
    "UPDATE alembic_version SET version_num = '0005'",
)
"""And to that of 0005, before lookups."""

TO_FOURTH = (
    *TO_FIFTH,
    *(f"DROP TABLE {name}" for name in ("responses", "threads", "answers", "api_keys")),
    "UPDATE alembic_version SET version_num = '0004'",
)
"""And to that of 0004, before the server."""

TO_THIRD = (
    *TO_FOURTH,
    "DROP INDEX ix_conversations_unconcluded",
    "DROP INDEX ix_memories_expiry",
    "ALTER TABLE conversations DROP COLUMN concluded_to",
    *(f"ALTER TABLE memories DROP COLUMN {name}" for name in ("initial", "promoted_from")),
    *(f"ALTER TABLE entities DROP COLUMN {name}" for name in ("initial", "last_seen")),
    "ALTER TABLE vectors DROP COLUMN failures",
    *(f"ALTER TABLE audit DROP COLUMN {name}" for name in _AUDIT),
    *(f"DROP TABLE {name}" for name in ("sizes", "visits", "marks", "jobs", "measures", "receipts")),
    "UPDATE alembic_version SET version_num = '0003'",
)
"""And to that of 0003, before tending."""

TO_SECOND = (
    *TO_THIRD,
    "DROP INDEX ix_memories_slot",
    "DROP INDEX ix_conversations_unmined",
    "ALTER TABLE memories DROP COLUMN slot",
    *(f"ALTER TABLE conversations DROP COLUMN mining_{name}" for name in ("failures", "problem", "after")),
    "DROP TABLE closets",
    "DROP TABLE spending",
    "UPDATE alembic_version SET version_num = '0002'",
)
"""And to that of 0002, before mining."""

TO_FIRST = (
    *TO_SECOND,
    "ALTER TABLE chunks DROP COLUMN place",
    "ALTER TABLE chunks DROP COLUMN weight",
    "UPDATE alembic_version SET version_num = '0001'",
)
"""And to that of 0001, before ranking."""


def fill(store: Store) -> None:
    store.add_space(SPACE)
    for name in ("alice", "bob"):
        store.user(name).apply(
            [
                append(
                    draft("green tea", id="t-0", conversation="c", vector=axis(0)),
                    draft("black tea", id="t-1", conversation="c", vector=axis(1)),
                    draft("old tea", id="o-0", conversation="old", vector=axis(2)),
                ),
                put(fact("f", "likes tea", salience=0.9, tense=Tense.PAST), axis(3)),
                put(fact("g", "drinks tea", salience=0.1), axis(4)),
                put(entity("e", "Tea", salience=0.3), axis(5)),
                Revise("conversation", "old", {"archived_at": START}),
            ],
            SPACE,
        )


def ranked(store: Store) -> dict[str, list[Candidate]]:
    """What everybody finds, with all that it is ranked by."""
    asked = question("tea", axis(0))
    return {name: sorted(store.user(name).search(asked)) for name in ("alice", "bob")}


def stored(store: Store) -> dict[str, list[Any]]:
    """Everything that is stored of everybody."""
    return {
        name: [one for kind in RECORD_TYPES for one in store.user(name).find(kind)]
        for name in ("alice", "bob")
    }


def check_mining(store: Store) -> None:
    """What revision 0003 is for can be done with each user's memory, and not with another's."""
    assert sorted([user for user in store.users() if store.user(user).unmined(now=START)]) == ["alice", "bob"]
    for calls, name in enumerate(("alice", "bob"), 1):
        user, day = store.user(name), date(2026, 3, 15)
        assert [c.id for c in user.unmined()] == ["c", "old"]
        assert {c.mining_failures for c in user.unmined()} == {0}
        failed = {"mining_failures": 1, "mining_problem": "no answer", "mining_after": START}
        user.apply([Revise("conversation", "c", failed), Revise("conversation", "old", {"mined_to": 1})])
        assert [(c.id, c.mining_failures) for c in user.unmined()] == [("c", 1)]
        closet = sample(Closet, "closet")
        user.apply(
            [
                put(fact("slotted", slot="tea")),
                Put(entity("keyed", "Tea", keys=("k",))),
                Put(closet),
            ]
        )
        assert [one.id for one in user.find(Fact, {"slot": "tea"})] == ["slotted"]
        assert user.linking("keys", ["k"]) == {"keyed": ("k",)}
        assert [*user.find(Closet)] == [closet]
        user.spend([Spent(day, "memory_qa", "m", calls)])
        assert user.spending() == [Spent(day, "memory_qa", "m", calls)]
    store.user("alice").erase()
    assert store.user("alice").spending() == []
    assert store.user("bob").count(Closet) == 1
