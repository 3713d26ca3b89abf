"""A filter as an expression of Milvus. Nothing of a caller's is in it but numbers: names are hashes."""

from recollect.model.search import Filter
from recollect.stores.milvus.rows import ALWAYS, NEVER, code
from recollect.stores.sql.codec import encode_time


def expression(number: int, filter: Filter) -> str:
    """What a document of this user has to meet. The user comes first: by it Milvus finds the partition."""
    found = [f"user_id == {number}"]
    for name, wanted in filter.wanted.items():
        found.append(f"{name} in [{', '.join(str(code(number, value)) for value in wanted)}]")
    if filter.exclude_conversation is not None:
        found.append(f"conversation != {code(number, filter.exclude_conversation)}")
    if filter.since is not None:
        found.append(f"at >= {encode_time(filter.since)}")
    if filter.until is not None:
        found.append(f"at < {encode_time(filter.until)}")
    if filter.min_confidence > 0:
        found.append(f"confidence >= {float(filter.min_confidence)!r}")
    return " and ".join(found + (_holding(filter) if filter.in_force else []))


def _holding(filter: Filter) -> list[str]:
    """Valid at `as_of`, as far as was known at `known_at`; by default, now."""
    now = encode_time(filter.now)
    current = f"expires_at > {now}"
    if filter.as_of is None and filter.known_at is None:
        return [current, f"retired_at == {ALWAYS}", f"valid_to > {now}", f"begins <= {now}"]
    known_at = NEVER - 1 if filter.known_at is None else encode_time(filter.known_at)
    as_of = known_at if filter.as_of is None else encode_time(filter.as_of)
    corrected = f"(retired_at > {known_at} and stated_to > {as_of})"
    left = f"(retired_at <= {known_at} and valid_to > {as_of})"
    return [current, f"recorded_at <= {known_at}", f"valid_from <= {as_of}", f"({corrected} or {left})"]
