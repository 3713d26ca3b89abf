"""A server that speaks Bolt, of the tests' own, to be killed and started again.

It is ArcadeDB, which comes as a wheel with its own Java and stands in for Neo4j. RECOLLECT_TEST_NEO4J names a
real one, such as bolt://neo4j:password@localhost:7687, in which our graph is then dropped.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from recollect.testing.engines import BoltServer, running


@dataclass(frozen=True)
class Place:
    """Where a server is, as settings say it."""

    neo4j: str
    neo4j_user: str
    neo4j_password: str = field(repr=False)
    neo4j_database: str = ""

    def settings(self, **given: Any) -> dict[str, Any]:
        """A busy machine may take long to answer, and tests are not about that unless they say so."""
        return {**vars(self), "neo4j_timeout": 30.0, **given}


class Server(BoltServer):
    @property
    def place(self) -> Place:
        return Place(self.url, self.user, self.password, self.database)


@contextmanager
def _session(place: Place) -> Iterator[Any]:
    from neo4j import GraphDatabase

    auth = (place.neo4j_user, place.neo4j_password) if place.neo4j_password else None
    with (
        GraphDatabase.driver(place.neo4j, auth=auth, connection_timeout=30.0) as driver,
        driver.session(database=place.neo4j_database or None) as session,
    ):
        yield session


def asked(place: Place, statement: str, **given: Any) -> list[list[Any]]:
    """What the server answers, past our own code."""
    with _session(place) as session:
        return session.run(statement, given).values()


def everything(place: Place) -> str:
    """All that there is to read in the graph."""
    nodes = asked(place, "MATCH (n) RETURN labels(n), properties(n)")
    edges = asked(place, "MATCH (a)-[e]->(b) RETURN type(e), properties(e), a.id, b.id")
    return repr(sorted(map(repr, [*nodes, *edges])))


def held(place: Place, user: str) -> list[str]:
    """What there is of a user, or of the users of a memory."""
    whose = "WHERE n.user = $user OR n.user STARTS WITH $user + '.' RETURN"
    nodes = asked(place, f"MATCH (n) {whose} labels(n), properties(n)", user=user)
    edges = asked(place, f"MATCH (n)-[e]->(b) {whose} type(e), n.id, b.user, b.id", user=user)
    return sorted(map(repr, [*((labels, sorted(row.items())) for labels, row in nodes), *edges]))


@contextmanager
def own_server() -> Iterator[Server]:
    pytest.importorskip("arcadedb_embedded", reason="there is no wheel of ArcadeDB here")
    with running(Server) as server:
        yield server


@contextmanager
def started() -> Iterator[Place]:
    if given := os.environ.get("RECOLLECT_TEST_NEO4J"):
        parts = urlsplit(given)
        url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        yield Place(url, unquote(parts.username or "neo4j"), unquote(parts.password or ""))
        return
    with own_server() as server:
        yield server.place
