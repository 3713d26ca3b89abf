"""Processes of the tests' own, on any store's address; what one leaves that was killed while writing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from recollect.model.records import Fact, Turn
from recollect.ports.store import Store
from recollect.testing.store_samples import SPACE, append, axis, draft, question
from recollect.testing.store_suite import found

CHILD = Path(__file__).with_name("child.py")
SRC = Path(__file__).parents[2] / "src"


def child(role: str, address: object, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), role, str(address), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SRC)},
    )


def output(role: str, address: object, *more: str) -> list[str]:
    """What a child says that ends by itself, and well."""
    process = child(role, address, *more)
    out, error = process.communicate(timeout=150)
    assert process.returncode == 0, error
    return out.splitlines()


def killed_writer(address: object, acknowledged: int) -> list[str]:
    """What a writer said, who was killed once it had said so many lines."""
    process = child("write", address)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(acknowledged)]
    process.send_signal(signal.SIGKILL)
    lines += process.stdout.read().splitlines()  # also what was read ahead, unlike `communicate`
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    return lines


def assert_nothing_lost(store: Store, lines: list[str]) -> None:
    """All that the writer said is as it said; what it did not come to say is there whole, or not at all."""
    assert store.check() == []
    user = store.user("alice")
    user.apply([])  # waits for what a server still does for the one that was killed
    added = {int(line[1:]) for line in lines if line.startswith("+")}
    removed = {int(line[1:]) for line in lines if line.startswith("-")}
    assert len(added) + len(removed) == len(lines)
    turns = {int(turn.id[2:]) for turn in user.find(Turn)}
    assert added - removed <= turns | {max(added) - 2}  # a removal may be done and not yet said
    assert not turns & removed
    assert turns - added <= {max(added) + 1}  # so may be the last turn
    assert turns == {int(record.id[2:]) for record in user.find(Fact)}
    assert found(user, question("turn fact")) == {f"{kind}-{i}" for kind in "tf" for i in turns}
    assert found(user, question(vector=axis(0))) == {f"t-{i}" for i in turns}
    assert len(user.unembedded(SPACE, 10_000)) == len(turns)
    applied = user.apply([append(draft(id="after"))], SPACE)
    assert applied.turns[0].index == max(turns | removed) + 1
    assert store.check() == []
