"""Who is behind is found on every engine however many users there are: slice by slice, as if at once."""

from datetime import timedelta
from random import Random

import pytest

from recollect import Memory
from recollect.stores.sql import slicing
from recollect.testing.store_samples import START, append, draft

USERS = [f"user-{number}" for number in range(11)]


@pytest.mark.parametrize("together", [1, 2, 4, 11, 100])
def test_all_who_are_behind_are_found(memory: Memory, monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    monkeypatch.setattr(slicing, "USERS", together)
    store, dice, name = memory.store, Random(together), f"copy-{together}"
    behind: list[str] = []
    for user in USERS:
        own = store.user(user)
        own.apply([append(draft(id=f"{user}-{together}"))])
        reach = own.reach(name, "one", START, timedelta(0))
        assert reach is not None
        if dice.random() < 0.5:
            own.project(name, "one", reach.number, 0, reach.seq, START, timedelta(0))
        else:
            behind.append(user)
    for last in ("", "user-10", "user-3", "user-5x", "user-9"):
        wanted = sorted(user for user in behind if user > last)
        for limit in (1, 2, 3, 20):
            found = [user for user, _ in store.users_behind(name, "one", last, limit)]
            assert found == wanted[:limit]
    assert [user for user, _ in store.users_behind(name, "another", "", 20)] == sorted(USERS)
