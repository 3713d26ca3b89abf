"""A server that speaks Bolt, of the tests' own, to be killed and started again.

It is ArcadeDB, which comes as a wheel with its own Java and stands in for Neo4j. RECOLLECT_TEST_NEO4J names a
real one, such as bolt://neo4j:password@localhost:7687, in which our graph is then dropped.
"""

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

START_SECONDS = 120.0
PASSWORD = "playwithdata"
DATABASE = "graph"


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


class Server:
    def __init__(self, folder: Path) -> None:
        package = pytest.importorskip("arcadedb_embedded", reason="there is no wheel of ArcadeDB here")
        self._package = Path(package.__file__).parent
        self._folder = folder
        self._ports = [_free_port(), _free_port()]
        self._process: subprocess.Popen[bytes] | None = None
        url = f"bolt://127.0.0.1:{self._ports[0]}"
        self.place = Place(url, "root", PASSWORD, DATABASE)
        self.start()

    def start(self) -> None:
        bolt, http = self._ports
        given = {
            "server.rootPath": self._folder,
            "server.databaseDirectory": self._folder / "databases",
            "server.rootPassword": PASSWORD,
            "server.httpIncomingHost": "127.0.0.1",
            "server.httpIncomingPort": http,
            "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "server.defaultDatabases": f"{DATABASE}[]",
            "bolt.host": "127.0.0.1",
            "bolt.port": bolt,
        }
        self._process = subprocess.Popen(
            [
                str(self._package / "jre" / "bin" / "java"),
                *("--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Xmx400m"),
                *("-cp", f"{self._package / 'jars'}/*"),
                *(f"-Darcadedb.{name}={value}" for name, value in given.items()),
                "com.arcadedb.server.ArcadeDBServer",
            ],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ends = monotonic() + START_SECONDS
        while monotonic() < ends and self._process.poll() is None:
            with suppress(*_errors()), _session(self.place) as session:
                session.run("RETURN 1").consume()
                return
        raise TimeoutError("ArcadeDB did not start.")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @contextmanager
    def silent(self) -> Iterator[None]:
        """It takes connections, and answers nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _errors() -> tuple[type[Exception], ...]:
    from neo4j.exceptions import DriverError, Neo4jError

    return (OSError, DriverError, Neo4jError)


@contextmanager
def _session(place: Place) -> Iterator[Any]:
    from neo4j import GraphDatabase

    auth = (place.neo4j_user, place.neo4j_password) if place.neo4j_password else None
    with (
        GraphDatabase.driver(place.neo4j, auth=auth, connection_timeout=2.0) as driver,
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
    with tempfile.TemporaryDirectory(prefix="recollect-bolt-") as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            server.kill()


@contextmanager
def started() -> Iterator[Place]:
    if given := os.environ.get("RECOLLECT_TEST_NEO4J"):
        parts = urlsplit(given)
        url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        yield Place(url, unquote(parts.username or "neo4j"), unquote(parts.password or ""))
        return
    with own_server() as server:
        yield server.place
