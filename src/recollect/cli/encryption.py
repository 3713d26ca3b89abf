"""recollect db encrypt, rekey, decrypt."""

from pathlib import Path
from typing import Annotated

import typer

from recollect import keys, wiring
from recollect.cli import output
from recollect.cli.database import app
from recollect.cli.frame import Here, command
from recollect.errors import SettingsError
from recollect.keys import Key


@command(
    app,
    "openssl rand -hex 32 > recollect.key && chmod 600 recollect.key",
    "RECOLLECT_KEY_FILE=recollect.key recollect db encrypt",
)
def encrypt(here: Here) -> None:
    """Encrypt the database in its place with RECOLLECT_KEY or RECOLLECT_KEY_FILE."""
    _refuse_server(here, "--to-key-file FILE")
    _convert(here, None, _key(here), "encrypted")


@command(app, "RECOLLECT_KEY_FILE=old.key recollect db rekey --new-key-file new.key")
def rekey(
    here: Here,
    new_key_file: Annotated[Path, typer.Option(metavar="FILE", help="The file that holds the new key.")],
) -> None:
    """Encrypt the database anew with another key; from then on only that one opens it."""
    _refuse_server(here, "--to-key-file FILE")
    _convert(here, _key(here), keys.from_file(new_key_file.expanduser()), "encrypted with the new key")


@command(app, "RECOLLECT_KEY_FILE=recollect.key recollect db decrypt")
def decrypt(here: Here) -> None:
    """Write the database without encryption in its place; then unset the key."""
    _refuse_server(here, "--to-plain")
    _convert(here, _key(here), None, "not encrypted")


def _refuse_server(here: Here, option: str) -> None:
    if wiring.is_server(here.settings):
        where = wiring.address(here.settings)
        raise SettingsError(
            f"This is for a file, not for a server. What {where} holds is sealed when it is written there, "
            f"so copy it to a new database: `recollect copy {where} postgresql://… {option}`."
        )


def _key(here: Here) -> Key:
    key = wiring.database_key(here.settings)
    if key is None:
        raise SettingsError("There is no key: set RECOLLECT_KEY or RECOLLECT_KEY_FILE.")
    return key


def _convert(here: Here, old: Key | None, new: Key | None, now: str) -> None:
    file = here.existing()
    changed = wiring.convert_database(here.settings, old, new)
    here.answer(
        {"path": file, "encrypted": new is not None, "changed": changed},
        lambda: output.line(f"{file} is {'now' if changed else 'already'} {now}."),
    )
