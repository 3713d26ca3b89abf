"""From settings to adapters. The only module that knows which adapters there are."""

from collections.abc import Callable
from pathlib import Path

from recollect.errors import SettingsError
from recollect.ports.clock import Clock, SystemClock
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
            f"There is no store for {scheme}://…; give the path of a SQLite file, or postgresql://…"
        )
    return Path(settings.db.removeprefix("sqlite:///").removeprefix("sqlite://")).expanduser()


def is_server(settings: Settings) -> bool:
    """Whether `settings.db` names a PostgreSQL database, rather than a file."""
    return settings.db.startswith(("postgresql://", "postgres://"))


def open_store(settings: Settings, clock: Clock | None = None) -> Store:
    """The store that `settings.db` names."""
    if is_server(settings):
        return _open_postgres(settings, clock or SystemClock())
    from recollect.stores.sqlite.backend import open_store

    return open_store(database_file(settings), cache_bytes=settings.cache_mb * MiB)


def _open_postgres(settings: Settings, clock: Clock) -> Store:
    try:
        from recollect.stores.postgres.backend import open_store
    except ImportError as error:
        raise SettingsError(
            f"PostgreSQL needs its driver: pip install 'recollect[postgres]' ({error})."
        ) from None

    return open_store(
        settings.db,
        pool=settings.db_pool,
        timeout=settings.db_timeout,
        index_over=settings.index_over,
        clock=clock,
    )


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
