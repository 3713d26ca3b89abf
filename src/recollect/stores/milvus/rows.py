"""Chunks as Milvus has them: numbers, and words that nobody can read.

A name (channel, agent, conversation, kind, role) is there as a hash of it with the user's number. That is all
that comparing for equality needs, has no length and no quotes, and tells nobody what it was. A word is there
as a hash with the user's secret, which only the store of record has: no dictionary leads back to it, the same
word of two users is not the same, and how common it is, is how common it is with its user.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Any

from recollect.ports.stored import Searched
from recollect.stores.sql.codec import encode_time

NEVER = 1 << 62
"""Stands for an end that is not set, and for the latest time that is asked for."""
ALWAYS = -NEVER
"""Stands for a beginning that is not set: what was never retired, what was not put off."""
NOBODY = 0
"""Stands for a name that is not there."""

_KEY = re.compile(r"([0-9]{1,18}):([0-9]{1,18})", re.ASCII)

WORDS_LENGTH = 65_535
"""The longest text that Milvus takes."""
MOST_WORDS = WORDS_LENGTH // 18
"""Of how many words of a chunk the tokens and the blanks between them fit."""

NAMES = ("kind", "role", "channel", "agent", "conversation")
TIMES = ("at", "valid_from", "valid_to", "stated_to", "recorded_at", "retired_at", "expires_at", "begins")


def key(number: int, doc: int) -> str:
    """What a document of a user is called."""
    return f"{number}:{doc}"


def docs_of(number: int, keys: Iterable[object]) -> list[int]:
    """The documents that are called so. What others wrote there is passed over."""
    found = (_KEY.fullmatch(str(key)) for key in keys)
    return [int(named[2]) for named in found if named and int(named[1]) == number]


def code(number: int, name: str | None) -> int:
    """A user's name for something, as a number that is never `NOBODY`."""
    if name is None:
        return NOBODY
    text = f"{number}\0{name}".encode("utf-8", "surrogatepass")
    return 1 + (int.from_bytes(blake2b(text, digest_size=8).digest()) >> 2)


def tokens(secret: bytes, terms: Iterable[str]) -> str:
    """Terms as the words of a text that only equality tells something of."""
    return " ".join(_token(secret, term) for term in islice(terms, MOST_WORDS))


def _token(secret: bytes, term: str) -> str:
    text = term.encode("utf-8", "surrogatepass")
    return "w" + blake2b(text, key=secret, person=b"words", digest_size=8).hexdigest()


def row(number: int, chunk: Searched) -> dict[str, Any]:
    """A chunk with a vector. `begins` is when a correction made for a later day comes into force."""
    put_off = chunk.corrects and chunk.valid_from > chunk.recorded_at
    return {
        "id": key(number, chunk.doc),
        "user_id": number,
        **{name: code(number, getattr(chunk, name)) for name in NAMES},
        "confidence": chunk.confidence,
        "at": encode_time(chunk.at),
        "valid_from": encode_time(chunk.valid_from),
        "valid_to": _time(chunk.valid_to, NEVER),
        "stated_to": _time(chunk.stated_to, NEVER),
        "recorded_at": encode_time(chunk.recorded_at),
        "retired_at": _time(chunk.retired_at, ALWAYS),
        "expires_at": _time(chunk.expires_at, NEVER),
        "begins": _time(chunk.valid_from if put_off else None, ALWAYS),
        "vector": chunk.vector,
    }


def rows(number: int, chunks: Sequence[Searched], words: Mapping[int, str] | None) -> list[dict[str, Any]]:
    """Of those with a vector; with their words, where the collection has such a field."""
    found = [(chunk, row(number, chunk)) for chunk in chunks if chunk.vector is not None]
    return [made if words is None else {**made, "words": words[chunk.doc]} for chunk, made in found]


def _time(at: datetime | None, unset: int) -> int:
    return unset if at is None else encode_time(at)
