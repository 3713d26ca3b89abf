"""From settings to adapters. The only module that knows which adapters there are."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recollect import keys
from recollect.errors import RecollectError, SettingsError, StoreMissing
from recollect.keys import Key
from recollect.ports.buckets import Buckets
from recollect.ports.cache import Cache
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.embedder import Embedder
from recollect.ports.graph_index import GraphIndex
from recollect.ports.language_model import LanguageModel
from recollect.ports.reranker import Reranker
from recollect.ports.search_index import SearchIndex
from recollect.ports.store import Store
from recollect.ports.working import WorkingStore
from recollect.settings import MiB, Settings

Progress = Callable[[int, int, str], None]

IMPATIENT = 0.25
"""The most seconds to wait for what is only to save time."""


def database_file(settings: Settings) -> Path:
    """The file that `settings.db` names."""
    if is_server(settings):
        raise SettingsError("This is for a SQLite file, not for a server: give the path of one.")
    if settings.db == ":memory:" or not settings.db.strip():
        raise SettingsError("Memory is kept in a file: give the path of one, for instance memory.db.")
    scheme, separator, _ = settings.db.partition("://")
    if separator and scheme in ("http", "https"):
        raise SettingsError(
            "This is a server's address, and memory is opened from a file or postgresql://…: use "
            "recollect.Client(url, key) in Python to call a server."
        )
    if separator and scheme != "sqlite":
        raise SettingsError(
            f"There is no store for {scheme}://…; give the path of a SQLite file, or postgresql://…"
        )
    return Path(settings.db.removeprefix("sqlite:///").removeprefix("sqlite://")).expanduser()


def is_server(settings: Settings) -> bool:
    """Whether `settings.db` names a PostgreSQL database, rather than a file."""
    return settings.db.startswith(("postgresql://", "postgres://"))


def address(settings: Settings) -> str:
    """Where memory is kept, as it may be shown: without a password."""
    return _admin().address(settings.db) if is_server(settings) else str(database_file(settings))


def database_key(settings: Settings) -> Key | None:
    """The key that the settings give, or name the file of."""
    if settings.key_file:
        return keys.from_file(Path(settings.key_file).expanduser())
    if settings.key.startswith(keys.API_KEY):
        raise SettingsError(
            f"RECOLLECT_KEY begins with {keys.API_KEY}, as keys to a server do, but it is the key or "
            "passphrase that encrypts the database. Give the "
            "other to recollect.Client, or send it as a bearer token."
        )
    return keys.from_text(settings.key) if settings.key else None


def open_store(settings: Settings, clock: Clock | None = None) -> Store:
    """The store that `settings.db` names."""
    if is_server(settings):
        return _admin().open_store(settings.db, _options(settings, clock or SystemClock()))
    from recollect.stores.sqlite.backend import open_store

    path, key = database_file(settings), database_key(settings)
    return open_store(path, cache_bytes=settings.cache_mb * MiB, key=key)


def create_database(settings: Settings) -> bool:
    """Make the database and its schema; False when there was one already."""
    if not is_server(settings):
        new = not database_file(settings).exists()
        open_store(settings).close()
        return new
    new = _admin().create_database(settings.db) or _admin().version(settings.db) is None
    upgrade_database(settings)
    return new


def make_missing(settings: Settings) -> None:
    """Make a server's database that does not exist yet; a file is made when it is opened."""
    if is_server(settings):
        try:
            server_version(settings)
        except StoreMissing:
            create_database(settings)


def upgrade_database(settings: Settings) -> None:
    """Bring the schema to this release's; a file does so whenever it is opened."""
    if is_server(settings):
        _admin().upgrade(settings.db, _options(settings, SystemClock()))
    else:
        open_store(settings).close()


def server_version(settings: Settings) -> str | None:
    """The version of the schema in the server's database; None when there is none yet."""
    return _admin().version(settings.db)


def most_connections(settings: Settings) -> int:
    """How many connections the server has room for, of everybody's."""
    return _admin().most_connections(settings.db)


def database_driver(settings: Settings) -> Any:
    """What opens the database's file, which must not be empty, to look at it from outside."""
    from recollect.stores.sqlite.cipher import driver_for
    from recollect.stores.sqlite.failures import translated

    path = database_file(settings)
    with translated(path):
        return driver_for(path, database_key(settings))


def database_problem(settings: Settings, error: Exception) -> str:
    """What an error of that driver means."""
    from recollect.stores.sqlite.failures import translated

    try:
        with translated(database_file(settings)):
            raise error
    except RecollectError as meant:
        return str(meant)


def convert_database(settings: Settings, old: Key | None, new: Key | None) -> bool:
    """Encrypt, rekey or decrypt the database's file; False when there is nothing to do."""
    from recollect.stores.sqlite.convert import convert

    return convert(database_file(settings), old, new)


def _admin() -> Any:
    try:
        from recollect.stores.postgres import admin
    except ImportError as error:
        raise SettingsError(
            f"PostgreSQL needs its driver: pip install 'recollect[postgres]' ({error})."
        ) from None
    return admin


def _options(settings: Settings, clock: Clock) -> Any:
    return _admin().Options(
        pool=settings.db_pool,
        timeout=settings.db_timeout,
        index_over=settings.index_over,
        cache_bytes=settings.cache_mb * MiB,
        clock=clock,
        key=database_key(settings),
        pooler=settings.db_pooler,
        replicas=replicas(settings),
        replica_seconds=settings.replica_seconds,
    )


def replicas(settings: Settings) -> tuple[str, ...]:
    """The standbys that may answer recall: none where the audit tells of reads, as it must not tell of what
    was forgotten a moment ago and a standby still has."""
    if settings.audit in ("reads", "verbose"):
        return ()
    return tuple(filter(None, (url.strip() for url in settings.db_replica.split(","))))


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


def open_model(settings: Settings) -> LanguageModel | None:
    """The language model that `settings.model` names; no connection is made before it is asked."""
    if not settings.model:
        return None
    if not settings.model_name:
        raise SettingsError("RECOLLECT_MODEL has no model to ask for: set RECOLLECT_MODEL_NAME.")
    from recollect.models.chat import ChatModel

    return ChatModel(
        settings.model,
        settings.model_name,
        api_key=settings.model_key or None,
        timeout=settings.model_timeout,
    )


def open_reranker(settings: Settings, model: LanguageModel | None) -> Reranker | None:
    """The reranker that `settings.reranker` names; `model` is the one it may be."""
    name = settings.reranker
    if name == "none":
        return None
    if name == "model":
        if model is None:
            raise SettingsError("RECOLLECT_RERANKER=model needs a language model: set RECOLLECT_MODEL.")
        from recollect.models.rerank_model import ModelReranker

        return ModelReranker(model, timeout=settings.model_timeout)
    if not name.startswith(("http://", "https://")):
        raise SettingsError(f"RECOLLECT_RERANKER is {name!r}, but must be none, model or a base URL.")
    if not settings.reranker_model:
        raise SettingsError("RECOLLECT_RERANKER has no model to ask for: set RECOLLECT_RERANKER_MODEL.")
    from recollect.models.rerank_http import HttpReranker

    return HttpReranker(
        name,
        settings.reranker_model,
        api_key=settings.reranker_key or None,
        timeout=settings.model_timeout,
    )


def open_index(settings: Settings, store: Store) -> SearchIndex | None:
    """What large users are searched in beside the database; no connection is made before it is used."""
    if not settings.milvus:
        return None
    _refuse_sealed(settings, "RECOLLECT_MILVUS")
    if find_spec("pymilvus") is None:  # to import it takes more than a second
        raise SettingsError("Milvus needs its client: pip install 'recollect[milvus]'.")
    from recollect.stores.milvus.index import MilvusIndex

    token, timeout = settings.milvus_token, settings.milvus_timeout
    return MilvusIndex(store, settings.milvus, token=token, timeout=timeout)


def open_graph(settings: Settings) -> GraphIndex | None:
    """Where the graph is walked beside the database; no connection is made before it is used."""
    if not settings.neo4j:
        return None
    _refuse_sealed(settings, "RECOLLECT_NEO4J")
    try:
        from recollect.stores.neo4j.index import open_graph
    except ImportError as error:
        raise SettingsError(f"Neo4j needs its driver: pip install 'recollect[neo4j]' ({error}).") from None
    return open_graph(
        settings.neo4j,
        settings.neo4j_user,
        settings.neo4j_password,
        settings.neo4j_database,
        settings.neo4j_timeout,
    )


def _refuse_sealed(settings: Settings, name: str) -> None:
    if settings.key or settings.key_file:
        raise SettingsError(
            f"The database is encrypted, and a copy in another engine would not be: unset {name}, or encrypt "
            "the disks of both in place of the database."
        )


def open_working(settings: Settings, clock: Clock) -> WorkingStore:
    """Where working memory is kept; no connection is made before it is used."""
    if not settings.redis:
        from recollect.stores.working.memory import ProcessWorkingStore

        return ProcessWorkingStore(
            clock,
            ttl=settings.working_ttl_seconds,
            conversations=settings.working_conversations,
            most_bytes=settings.working_mb * MiB,
        )
    _check_redis()
    from recollect.stores.redis.working import RedisWorkingStore

    return RedisWorkingStore(settings.redis, ttl=settings.working_ttl_seconds, timeout=settings.redis_timeout)


def open_cache(settings: Settings) -> Cache | None:
    """Where answers are kept for a while, if anywhere; no connection is made before it is used."""
    if not settings.redis or not settings.cache_seconds:
        return None
    _check_redis()
    from recollect.stores.redis.cache import RedisCache

    return RedisCache(settings.redis, timeout=min(settings.redis_timeout, IMPATIENT))


def open_buckets(settings: Settings) -> Buckets | None:
    """Where servers count together how often callers ask, if anywhere."""
    if not settings.redis or not settings.rate_limit:
        return None
    _check_redis()
    from recollect.stores.redis.buckets import RedisBuckets

    return RedisBuckets(settings.redis, timeout=min(settings.redis_timeout, IMPATIENT))


def _check_redis() -> None:
    if find_spec("redis") is None:
        raise SettingsError("Redis needs its client: pip install 'recollect[redis]'.")
