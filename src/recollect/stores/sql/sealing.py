"""Content that the server cannot read: sealed before it leaves this process, opened when it comes back.

A value is sealed together with its user and its column (AES-SIV), so that it opens in no other place.
The same value in the same place is sealed the same way every time: what is equal can be found, and seen
to be equal; nothing else can be seen but its length. Words are kept as keyed hashes.
"""

import base64
import hmac
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Table

from recollect.errors import SettingsError, StoreCorrupt
from recollect.stores.sql.codec import StoredVector

_ALWAYS = ("metadata",)
SEALED: dict[str, tuple[str, ...]] = {
    "users": ("secret",),
    "conversations": ("title", *_ALWAYS),
    "turns": ("content", "digest", *_ALWAYS),
    "memories": ("content", "slot", "details", *_ALWAYS),
    "entities": ("name", "aliases", "description", *_ALWAYS),
    "relations": _ALWAYS,
    "closets": ("subject", "slug", "title", *_ALWAYS),
    "goals": ("description", "result", *_ALWAYS),
    "tool_invocations": ("input", "output", "error", *_ALWAYS),
    "summaries": ("query", "summary", "result", *_ALWAYS),
    "responses": ("input", "body", *_ALWAYS),
    "profiles": ("preferences", "expertise", "style", *_ALWAYS),
    "user_settings": ("values", *_ALWAYS),
    "audit": ("payload", *_ALWAYS),
    "vectors": ("vector",),
}
"""What is sealed. Names by which things are looked up and kept apart stay readable: users, channels,
agents, conversations, tools, types; and so do times and numbers."""

_WORD_BYTES = 12


class Seal:
    """Seals and opens with one key."""

    def __init__(self, secret: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESSIV
        except ImportError as error:
            raise SettingsError(
                f"Encryption needs its library: pip install 'recollect[encryption]' ({error})."
            ) from None
        self._cipher = AESSIV(hmac.digest(secret, b"content", "sha512"))
        self._words = hmac.digest(secret, b"words", "sha256")
        self.check = int.from_bytes(hmac.digest(secret, b"check", "sha256")[:7], "big")
        """A number that tells another key from this one, and nothing of the key."""

    def close(self, user: str, place: str, value: str | bytes) -> str | bytes:
        bound = [user.encode(), place.encode()]
        if isinstance(value, bytes):
            return self._cipher.encrypt(value, bound)
        return base64.b85encode(self._cipher.encrypt(b"+" + value.encode(), bound)).decode()

    def open(self, user: str, place: str, value: str | bytes) -> str | bytes:
        from cryptography.exceptions import InvalidTag

        bound = [user.encode(), place.encode()]
        try:
            if isinstance(value, bytes):
                return StoredVector(self._cipher.decrypt(value, bound))
            return self._cipher.decrypt(base64.b85decode(value), bound)[1:].decode()
        except (InvalidTag, ValueError):
            raise StoreCorrupt("Something stored was changed by others, and cannot be opened.") from None

    def word(self, user: str, word: str) -> str:
        """What stands for the word in the text index."""
        return hmac.digest(self._words, f"{user}\0{word}".encode("utf-8", "surrogatepass"), "sha256")[
            :_WORD_BYTES
        ].hex()

    def closed(self, user: str, table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values of the table's columns, each one or a list of them, with what is content sealed."""
        closed = dict(values)
        for name in SEALED.get(table.name, ()):
            if name in closed:
                closed[name] = self._closed(user, f"{table.name}.{name}", closed[name])
        return closed

    def _closed(self, user: str, place: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._closed(user, place, part) for part in value]  # pyright: ignore[reportUnknownVariableType]
        return None if value is None else self.close(user, place, value)

    def opened(self, user: str, places: Mapping[str, str], row: Mapping[str, Any]) -> dict[str, Any]:
        """A row with what is content opened; `places` are those of its columns that are sealed."""
        opened = dict(row)
        for name, place in places.items():
            if opened[name] is not None:
                opened[name] = self.open(user, place, opened[name])
        return opened


def sealed_places(statement: Any) -> dict[str, str]:
    """The columns of a statement that are sealed, with the place each is sealed for."""
    columns: list[Any] = [column for column in statement.exported_columns if isinstance(column, Column)]
    tables = {column.name: str(getattr(column.table, "name", "")) for column in columns}
    return {name: f"{table}.{name}" for name, table in tables.items() if name in SEALED.get(table, ())}
