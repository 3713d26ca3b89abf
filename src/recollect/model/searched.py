"""What is searched of a record, and how much a find of it counts."""

from recollect.model.records import Entity, MemoryRecord, Record, Role, Tense, Turn

TENSE_WEIGHT: dict[str | None, float] = {Tense.CURRENT: 1.2, Tense.PAST: 0.7}
ARCHIVED_WEIGHT = 0.7


def weight(salience: float | None, tense: str | None, archived: bool | None = None) -> float:
    """How much a find of a record counts, whatever is asked: more when it matters and holds today, less
    when it is past or its conversation was archived. A turn, which has neither, counts 1."""
    boost = 1.0 if salience is None else 0.75 + salience / 2
    return boost * TENSE_WEIGHT.get(tense, 1.0) * (ARCHIVED_WEIGHT if archived else 1.0)


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
