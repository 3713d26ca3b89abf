"""A virtual environment for each system, and what is run in it."""

import hashlib
import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from recollect.bench.latency import Stage
from recollect.bench.peers.pins import Peer
from recollect.bench.peers.runners.harness import PROGRESS
from recollect.errors import RecollectError

RUNNERS = Path(__file__).parent / "runners"
MADE = "made.json"
TOLD = 300
"""Characters of a failure's reason that are passed on."""


class PeerFailed(RecollectError):
    """A system could not be installed, or gave up."""


def prepare(peer: Peer, folder: Path, stage: Stage) -> Path:
    """The Python of the system's environment: made when there is none with these versions."""
    wanted = json.dumps({"python": platform.python_version(), "requirements": peer.requirements})
    # Two ways to use the same packages share them.
    home = folder / f"{peer.package}-{hashlib.sha256(wanted.encode()).hexdigest()[:8]}"
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    made = home / MADE
    if made.exists():
        return python
    advance = stage(f"{peer.name}: install", 2)
    shutil.rmtree(home, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    _call([sys.executable, "-m", "venv", str(home)])
    advance(1)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    _call([*pip, "install", "--quiet", *peer.requirements])
    (home / "installed.txt").write_text(_call([*pip, "freeze"]), "utf-8")
    made.write_text(wanted, "utf-8")
    advance(1)
    return python


def _call(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerFailed(reason(done.stderr or done.stdout, done.returncode))
    return done.stdout


def ask(peer: Peer, python: Path, data: Path, work: Path, top_k: int, questions: int, stage: Stage) -> None:
    """Run the system's script to its end. What it says goes to a file beside its answers."""
    work.mkdir(parents=True, exist_ok=True)
    advance = stage(f"{peer.name}: fill and ask", questions)
    # -E: our own PYTHONPATH is not for it.
    command = [str(python), "-E", str(RUNNERS / "start.py"), peer.runner, str(data), str(work), str(top_k)]
    log = work / "log.txt"
    with (
        log.open("w", encoding="utf-8") as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True) as process,
    ):
        try:
            for line in process.stdout or ():
                if line.startswith(PROGRESS):
                    advance(int(line.removeprefix(PROGRESS)))
            status = process.wait()
        except BaseException:
            process.kill()
            raise
    if status:
        raise PeerFailed(reason(log.read_text("utf-8", errors="replace"), status))


def reason(text: str, status: int) -> str:
    """The last line of what a process said before it failed: pip and Python put the reason there."""
    said = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in said if line.startswith("ERROR:")]
    return (errors or said or [f"exit status {status}"])[-1][:TOLD]
