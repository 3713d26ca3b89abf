"""What the tests of SQLite's faults run in processes of their own: python sqlite_child.py ROLE PATH …"""

import os
import resource
import sys
from pathlib import Path

from recollect.errors import RecollectError
from recollect.model.changes import Remove
from recollect.model.records import Turn
from recollect.stores.sqlite.backend import open_store
from recollect.testing.store_samples import SPACE, append, draft, fact, put, question, vectors

NOBODY = 65534


def write(path: Path) -> None:
    """Writes until killed, and says what is acknowledged, line by line."""
    user, rows = open_store(path, cache_bytes=1 << 20).user("alice"), vectors(50)
    for i in range(1_000_000):
        changes = [
            append(draft(f"turn tea{i} " + "word " * (i % 40), id=f"t-{i}", vector=rows[i % 50])),
            put(fact(f"f-{i}", f"fact milk{i}", sources=(f"t-{i}",))),
        ]
        user.apply(changes, SPACE)
        print(f"+{i}", flush=True)
        if i % 5 == 4:
            user.apply([Remove("turn", (f"t-{i - 2}",)), Remove("fact", (f"f-{i - 2}",))])
            print(f"-{i - 2}", flush=True)


def migrate(path: Path) -> None:
    open_store(path, cache_bytes=1 << 20)


def fill_the_disk(path: Path, limit: str) -> None:
    """No file may grow beyond the limit: writes until that fails, then goes on with no limit."""
    store = open_store(path, cache_bytes=1 << 20)
    user, hard = store.user("alice"), resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), hard))
    written = 0
    try:
        while True:
            user.apply([append(draft("tea " * 500, id=f"t-{written}"))])
            written += 1
    except RecollectError as error:
        print(type(error).__name__, written)
    print(user.count(Turn), len(user.search(question("tea"))))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    user.apply([append(draft("tea again", id="after"))])
    print(user.count(Turn), len(store.check()))


def unprivileged(path: Path) -> None:
    """Opens, reads and writes without the right to."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    for step in (_read, _write):
        try:
            print(step.__name__, step(path))
        except RecollectError as error:
            print(step.__name__, type(error).__name__, str(path) in str(error))


def _read(path: Path) -> int:
    return open_store(path, cache_bytes=1 << 20).user("alice").count(Turn)


def _write(path: Path) -> int:
    return open_store(path, cache_bytes=1 << 20).user("alice").apply([append(draft(id="new"))]).created


if __name__ == "__main__":
    role = {"write": write, "migrate": migrate, "fill": fill_the_disk, "unprivileged": unprivileged}[
        sys.argv[1]
    ]
    role(Path(sys.argv[2]), *sys.argv[3:])
