"""From settings to adapters. The only module that knows which adapters there are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from recollect import keys
from recollect.errors import SettingsError
from recollect.keys import Key
from recollect.ports.embedder import Embedder
from recollect.ports.store import Store
from recollect.settings import MiB, Settings

Progress = Callable[[int, int, str], None]


def database_file(settings: Settings) -> Path:
    """The file that `settings.db` names."""
    if settings.db == ":memory:" or not settings.db.strip():
        raise SettingsError("Memory is kept in a file: give the path of one, for instance memory.db.")
    scheme, separator, _ = settings.db.partition("://")
    if separator and scheme != "sqlite":
        raise SettingsError(
            f"There is no store for {scheme}://… in this release; give the path of a SQLite file."
        )
    return Path(settings.db.removeprefix("sqlite:///").removeprefix("sqlite://")).expanduser()


def database_key(settings: Settings) -> Key | None:
    """The key that the settings give, or name the file of."""
    if settings.key_file:
        return keys.from_file(Path(settings.key_file).expanduser())
    return keys.from_text(settings.key) if settings.key else None


def open_store(settings: Settings) -> Store:
    """The store that `settings.db` names."""
    from recollect.stores.sqlite.backend import open_store

    path, key = database_file(settings), database_key(settings)
    return open_store(path, cache_bytes=settings.cache_mb * MiB, key=key)


def database_driver(settings: Settings) -> Any:
    """What opens the database's file, which must not be empty, to look at it from outside."""
    from recollect.stores.sqlite.backend import translated
    from recollect.stores.sqlite.cipher import driver_for

    path = database_file(settings)
    with translated(path):
        return driver_for(path, database_key(settings))


def convert_database(settings: Settings, old: Key | None, new: Key | None) -> bool:
    """Encrypt, rekey or decrypt the database's file; False when there is nothing to do."""
    from recollect.stores.sqlite.convert import convert

    return convert(database_file(settings), old, new)


def open_embedder(settings: Settings, progress: Progress | None = None) -> Embedder | None:
    """The embedder that `settings.embedder` names; no weights are loaded before they are needed."""
    name = settings.embedder
    if name == "none":
        return None
    if name == "hashing":
        from recollect.models.hashing import HashingEmbedder

        return HashingEmbedder()
    if name.startswith(("http://", "https://")):
        from recollect.models.http import HttpEmbedder

        return HttpEmbedder(
            name,
            settings.embedder_model,
            api_key=settings.embedder_key or None,
            dimensions=settings.embedder_dimensions,
            timeout=settings.embedder_timeout,
        )
    if Path(name).expanduser().is_dir():
        from recollect.models.onnx import open_directory

        return open_directory(Path(name).expanduser())
    if name.startswith(("~", ".")) or "/" in name or "\\" in name:
        raise SettingsError(f"There is no directory {name} with a model in it (RECOLLECT_EMBEDDER).")
    from recollect.models.local import LocalEmbedder

    return LocalEmbedder(name, Path(settings.models), fetch=settings.install_models, progress=progress)
