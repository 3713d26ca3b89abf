"""What is searched of a record, and how much a find of it counts."""

from recollect.model.records import Entity, MemoryRecord, Record, Role, Tense, Turn

TENSE_WEIGHT: dict[str | None, float] = {Tense.CURRENT: 1.2, Tense.PAST: 0.7}
ARCHIVED_WEIGHT = 0.7
PROVEN = 0.8
"""The weight of what never once went well, over a long time."""


def weight(
    salience: float | None, tense: str | None, archived: bool | None = None, proof: float | None = None
) -> float:
    """How much a find of a record counts, whatever is asked: more when it matters, holds today and went
    well, less when it is past or its conversation was archived. A turn, which has none of it, counts 1."""
    boost = 1.0 if salience is None else 0.75 + salience / 2
    proven = 1.0 if proof is None else proof
    return boost * TENSE_WEIGHT.get(tense, 1.0) * (ARCHIVED_WEIGHT if archived else 1.0) * proven


def proof(successes: int, failures: int) -> float:
    """What is done counts by how it went: between 0.8 for what always failed and 1.2 for what always
    worked, and 1 as long as nobody knows. Smoothed (Laplace), so that once is not always."""
    return PROVEN + 2 * (1 - PROVEN) * (successes + 1) / (successes + failures + 2)


def searchable_text(record: Record) -> str:
    """The text by which recall finds a record; empty when it cannot be found that way."""
    match record:
        case Turn(role=Role.NOTE):
            return ""  # the memory that cites the note is found instead
        case Turn() | MemoryRecord():
            return record.content
        case Entity() if record.description:  # a bare name tells nobody anything
            return "\n".join((record.name, *record.aliases, record.description))
        case _:
            return ""
