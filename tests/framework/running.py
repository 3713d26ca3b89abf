"""Runs an example as its reader would: as a program of its own, which leaves their memory alone."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_example(name: str, home: Path, **more: str) -> list[str]:
    """The lines that an example prints; it fails with its errors when it fails."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "RECOLLECT_DB": str(home / "real.db"),
        **more,
    }
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (home / "real.db").exists()  # nobody's own memory is written to
    return done.stdout.splitlines()
