"""The key that encrypts what is stored: how it is read and becomes 32 bytes. Any store may use it."""

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from recollect.errors import SettingsError

API_KEY = "rk_"
"""How keys to a server begin, which encrypt nothing."""
LARGEST = 4096
"""Bytes of the longest key file; a larger one was named by mistake."""

_RANDOM = re.compile(rb"[0-9A-Fa-f]{64}")
_SCRYPT = {"n": 2**15, "r": 8, "p": 3, "maxmem": 2**26}
"""32 MiB and some tenths of a second for each guess."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key or passphrase; its text shows in no message."""

    secret: bytes = field(repr=False)

    def derive(self, salt: bytes) -> bytes:
        """The 32 bytes that encrypt, for this salt."""
        return _derive(self.secret, salt)


@lru_cache(maxsize=4)  # once a process, not once a connection
def _derive(secret: bytes, salt: bytes) -> bytes:
    if _RANDOM.fullmatch(secret):  # 256 random bits cannot be guessed, so guessing need not be made slow
        return hmac.digest(bytes.fromhex(secret.decode()), salt, "sha256")
    return hashlib.scrypt(secret, salt=salt, dklen=32, **_SCRYPT)


def from_text(text: str) -> Key:
    return Key(text.encode("utf-8", "surrogateescape"))


def from_file(path: Path) -> Key:
    """The key in a file, without its last line end."""
    try:
        with path.open("rb") as file:
            secret = file.read(LARGEST + 1)
    except OSError as error:
        raise SettingsError(f"The key file {path} cannot be read: {error.strerror}.") from None
    if len(secret) > LARGEST:
        raise SettingsError(f"{path} is no key file: it has more than {LARGEST:,} bytes.")
    secret = secret.rstrip(b"\r\n")
    if not secret:
        raise SettingsError(f"The key file {path} is empty: `openssl rand -hex 32` makes a key.")
    return Key(secret)
