"""What the tests of PostgreSQL's faults run in processes of their own: python postgres_child.py ROLE URL"""

import sys
from datetime import UTC, datetime

from recollect.model.changes import Remove
from recollect.ports.store import Store
from recollect.stores.postgres.backend import Options, open_store
from recollect.testing.store_samples import SPACE, append, draft, fact, put, vectors


class _Now:
    def now(self) -> datetime:
        return datetime(2025, 3, 15, 12, tzinfo=UTC)


OPTIONS = Options(pool=2, timeout=60.0, index_over=100_000, cache_bytes=1 << 26, clock=_Now())


def opened(url: str) -> Store:
    return open_store(url, OPTIONS)


def write(url: str) -> None:
    """Writes until killed, and says what is acknowledged, line by line."""
    user, rows = opened(url).user("alice"), vectors(50)
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


def make(url: str) -> None:
    """Opens an empty database, and writes something into it."""
    print("begun", flush=True)
    store = opened(url)
    store.user(f"process {sys.argv[3] if len(sys.argv) > 3 else ''}").apply([append(draft(id="t"))])
    print("made", flush=True)
    store.close()


if __name__ == "__main__":
    {"write": write, "make": make}[sys.argv[1]](sys.argv[2])
