"""A database whose content is sealed: what the server cannot read it cannot compare either.

Vectors are sealed bytes there, so meaning is compared in this process, over a copy of the user's vectors
that the change feed keeps up to date. Words are still found by the server, as keyed hashes.
"""

import secrets
from collections.abc import Iterator, Sequence

import numpy as np
from sqlalchemy import Connection

from recollect.errors import SettingsError
from recollect.keys import Key
from recollect.stores.postgres.session import driver
from recollect.stores.postgres.text import occurrences, stored_words
from recollect.stores.sql.in_process import UserState
from recollect.stores.sql.rows import UserRows
from recollect.stores.sql.sealing import Seal
from recollect.text.bm25 import Occurring, occurring

_SALT, _CHECK = "key_salt", "key_check"
_READ = f"SELECT key, value FROM meta WHERE key IN ('{_SALT}', '{_CHECK}')"
_WRITE = "INSERT INTO meta (key, value) VALUES (%s, %s)"


def seal_new(connection: Connection, key: Key) -> None:
    """Have a database that is being made hold sealed content only."""
    salt = secrets.randbits(62)
    connection.exec_driver_sql("ALTER TABLE vectors ALTER vector TYPE bytea USING NULL")
    connection.exec_driver_sql(_WRITE, (_SALT, salt))
    connection.exec_driver_sql(_WRITE, (_CHECK, _seal(key, salt).check))


def seal_of(connection: Connection, key: Key | None, where: str) -> Seal | None:
    """What opens the database's content; None when it is not sealed."""
    marks = {row.key: row.value for row in connection.exec_driver_sql(_READ)}
    if not marks and key is None:
        return None
    if not marks:
        raise SettingsError(
            f"{where} is not encrypted, but a key is set: unset it, or copy to it with `recollect copy "
            "--to-plain`. To encrypt what is there, copy it to a new database with --to-key-file."
        )
    if key is None:
        raise SettingsError(f"{where} is encrypted: set RECOLLECT_KEY or RECOLLECT_KEY_FILE.")
    seal = _seal(key, marks[_SALT])
    if seal.check != marks[_CHECK]:
        raise SettingsError(
            f"{where} is encrypted with another key: correct RECOLLECT_KEY or RECOLLECT_KEY_FILE."
        )
    return seal


def _seal(key: Key, salt: int) -> Seal:
    return Seal(key.derive(salt.to_bytes(8, "big")))


def read_terms(rows: UserRows, user: UserState, terms: Sequence[str]) -> Iterator[Occurring]:
    """For each term the user's documents with it."""
    if not terms:
        return
    with driver(rows.connection).cursor() as cursor:
        found = occurrences(cursor, user.number, stored_words(rows, terms))
    for place in range(len(terms)):
        yield occurring(np.sort(found.docs[found.words == place]))
