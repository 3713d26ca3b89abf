"""A memory with something of each kind that ranking weighs, and the way back to older schemas."""

from recollect.model.changes import Revise
from recollect.model.records import Tense
from recollect.model.search import Candidate
from recollect.ports.store import Store
from recollect.testing.store_samples import SPACE, START, append, axis, draft, entity, fact, put, question

TO_SECOND = (
    "DROP INDEX ix_memories_slot",
    "DROP INDEX ix_conversations_unmined",
    "ALTER TABLE memories DROP COLUMN slot",
    *(f"ALTER TABLE conversations DROP COLUMN mining_{name}" for name in ("failures", "problem", "after")),
    "DROP TABLE closets",
    "DROP TABLE spending",
    "UPDATE alembic_version SET version_num = '0002'",
)
"""From the schema of revision 0003 back to that of 0002, with all that is stored."""

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
