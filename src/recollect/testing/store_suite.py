"""What every part of the store suite starts from."""

from collections.abc import Callable, Iterator

import pytest

from recollect.model.search import Search
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import SPACE, ManualClock

Opener = Callable[[], Store]


class StoreSuite:
    """The fixtures. `open_store` comes from whoever inherits: a picklable factory (a module-level
    function, or a `functools.partial` of one) that opens the same database at every call, as another
    process would."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def reopen(self, open_store: Opener) -> Iterator[Opener]:
        """Opens the database once more; closed after the test."""
        opened: list[Store] = []

        def again() -> Store:
            opened.append(open_store())
            return opened[-1]

        yield again
        for store in opened:
            store.close()

    @pytest.fixture
    def store(self, reopen: Opener) -> Store:
        return reopen()

    @pytest.fixture
    def alice(self, store: Store) -> UserStore:
        return store.user("alice")

    @pytest.fixture
    def bob(self, store: Store) -> UserStore:
        return store.user("bob")

    @pytest.fixture
    def embedded(self, store: Store) -> Store:
        """The store, with vectors of `SPACE`."""
        store.add_space(SPACE)
        return store


def found(user: UserStore, search: Search) -> set[str]:
    """The ids of what a search finds."""
    return {candidate.owner for candidate in user.search(search)}
