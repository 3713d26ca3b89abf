"""What the tests of faults run in processes of their own: python child.py ROLE ADDRESS …"""

import os
import sys
import time
from collections.abc import Callable

import recollect.stores.sqlite.backend  # noqa: F401 - one without rights may not read it any more
from recollect import Memory, settings, wiring
from recollect.errors import RecollectError
from recollect.model.changes import Remove
from recollect.model.records import Turn
from recollect.ports.store import Store
from recollect.testing.store_samples import SPACE, append, draft, fact, put, question, vectors

NOBODY = 65534


def opened(address: str) -> Store:
    return wiring.open_store(settings.load({}, db=address, db_pool=2, db_timeout=60.0, cache_mb=64))


def write(address: str) -> None:
    """Writes until killed, and says what is acknowledged, line by line."""
    user, rows = opened(address).user("alice"), vectors(50)
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


def make(address: str, name: str = "") -> None:
    """Opens an empty database, and writes something into it."""
    print("begun", flush=True)
    store = opened(address)
    store.user(f"process {name}").apply([append(draft(id="t"))])
    print("made", flush=True)
    store.close()


def fill_the_disk(address: str, limit: str) -> None:
    """No file may grow beyond the limit: writes until that fails, then goes on with no limit."""
    import resource

    store = opened(address)
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


def unprivileged(address: str) -> None:
    """Opens, reads and writes without the right to."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    for step in (_read, _write):
        try:
            print(step.__name__, step(address))
        except RecollectError as error:
            print(step.__name__, type(error).__name__, address in str(error))


def _read(address: str) -> int:
    return opened(address).user("alice").count(Turn)


def _write(address: str) -> int:
    return opened(address).user("alice").apply([append(draft(id="new"))]).created


def mine(address: str, pauses: str = "0") -> None:
    """Mines what there is, conversation by conversation, and says so, until there is nothing left."""
    with Memory.open(address, embedder="hashing") as memory:
        print("begun", flush=True)
        quiet = int(pauses)
        while done := [m.conversation for m in memory.scope("alice").mine(progress=_say) if m.turns] or quiet:
            quiet -= not isinstance(done, list)
            time.sleep(0.05 if isinstance(done, int) else 0)


def _say(turns: int) -> None:
    print(turns, flush=True)


def tend(address: str) -> None:
    """Does the background's work once, and says what it does."""
    with Memory.open(address, embedder="hashing") as memory:
        print("begun", flush=True)
        memory.tend(lambda job, done: print(job, done, flush=True))


def talk(address: str, count: str) -> None:
    """Records in many conversations, and says what is stored."""
    with Memory.open(address, embedder="hashing") as memory:
        alice = memory.scope("alice")
        print("begun", flush=True)
        for n in range(int(count)):
            alice.record("user", f"I have {n + 2} kites.", conversation=f"talk-{n % 30}")
            print(n, flush=True)


ROLES: dict[str, Callable[..., None]] = {
    "write": write,
    "make": make,
    "fill": fill_the_disk,
    "unprivileged": unprivileged,
    "mine": mine,
    "tend": tend,
    "talk": talk,
}

if __name__ == "__main__":
    ROLES[sys.argv[1]](*sys.argv[2:])
