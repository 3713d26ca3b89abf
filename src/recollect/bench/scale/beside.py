"""What stands beside the database, each with a server of its own: Redis, Milvus, a graph over Bolt."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from recollect.bench.corpus import Corpus
from recollect.bench.scale.options import Options, Unavailable, at_least, at_most
from recollect.bench.sqlite import SqlitePlace
from recollect.bench.subject import open_memory
from recollect.testing.engines import BoltServer, MilvusServer, RedisServer, Server, running

FASTER = 5.0
SAME_TEN = 0.97
CACHED_AMONG = 10_000
"""Rows of the user whose answers are cached."""

S = TypeVar("S", bound=Server)


@contextmanager
def own(make: Callable[[Path], S], extra: str) -> Generator[S]:
    """A server for as long as it takes."""
    try:
        with running(make) as server:
            yield server
    except ImportError as error:
        message = f"{make.__name__}: pip install 'recollect[{extra},engines]' ({error})."
        raise Unavailable(message) from None


def redis(options: Options) -> dict[str, Any]:
    """A recall that was asked a moment ago, beside the same one asked first."""
    from recollect.bench.scale.redis import redis_cache

    size = 1000 if options.quick else CACHED_AMONG
    advance = options.stage("answers out of Redis", size)
    with own(RedisServer, "redis") as server:
        found = redis_cache(
            SqlitePlace(options.folder), Corpus(options.seed), server.url, size, advance=advance
        )
    if "skipped" in found:
        raise Unavailable(f"{found['skipped']}: run `recollect models install`.")
    checks = {
        "a recall out of the cache, times as fast": at_least(found["ratio_p50"], FASTER),
        "answers out of the cache that no longer held": at_most(found["stale"], 0),
    }
    return {**found, "checks": checks}


def milvus(options: Options) -> dict[str, Any]:
    """The first ten of recall by meaning, by Milvus and by the database."""
    from recollect.bench.scale.milvus import milvus_agreement

    users, documents = (4, 200) if options.quick else (20, 2000)
    options.stage("the same ten by Milvus", 0)
    with own(MilvusServer, "milvus") as server:
        address = SqlitePlace(options.folder).database("milvus")
        found = milvus_agreement(address, server.url, users=users, documents=documents)
    return {**found, "checks": {"the same first ten": at_least(found["agreement"], SAME_TEN)}}


def graph(options: Options) -> dict[str, Any]:
    """The neighbourhood of every entity, by the graph and by the database."""
    from recollect.bench.scale.graph import graph_agreement

    entities, relations = (50, 200) if options.quick else (1000, 5000)
    options.stage("the same neighbourhoods by the graph", 0)
    with own(BoltServer, "neo4j") as server:
        address = SqlitePlace(options.folder).database("graph")
        with open_memory(address, **graph_settings(server)) as memory:
            found = graph_agreement(memory, "somebody", entities=entities, relations=relations)
    return {**found, "checks": {"the same neighbourhood": at_least(found["agreement"], 1.0)}}


def graph_settings(server: BoltServer) -> dict[str, Any]:
    return {
        "neo4j": server.url,
        "neo4j_user": server.user,
        "neo4j_password": server.password,
        "neo4j_database": server.database,
        "neo4j_timeout": 30.0,
    }
