"""What projections, and whoever searches by one, ask of the store of record."""

from datetime import datetime, timedelta
from typing import Protocol

from recollect.model.space import Space
from recollect.ports.stored import Reach, SearchedFeed


class FollowedView(Protocol):
    """The part of what can be read of one user's memory that projections follow."""

    def reach(self, name: str, epoch: str | None, now: datetime, settles: timedelta) -> Reach | None:
        """How far a projection of this making has come, or of whichever it was last written to; what it was
        told less than `settles` ago is not counted. None when nothing is stored of the user."""
        ...

    def searched_since(self, since: int, most: int, *, terms: bool = False) -> SearchedFeed:
        """Chunks that changed after this place of the feed, about so many, whole steps of it; with their
        terms for whoever wants them, since these are read from their texts."""
        ...

    def active_space(self) -> Space | None:
        """The space that is searched. Whoever reads one state of the store asks this, not the store: that
        takes a second connection, and there may be none."""
        ...

    def lacking(self, since: int, most: int) -> int:
        """How many chunks changed after this place of the feed; counted no further than `most`."""
        ...


class FollowedStore(Protocol):
    """The part of a store of record that projections follow."""

    def identity(self) -> str:
        """What tells this database from others: never changes, and says nothing of what is in it."""
        ...

    def users_behind(self, name: str, epoch: str, last: str, limit: int) -> list[tuple[str, int]]:
        """Users of whom a projection of this making has not everything, with their numbers; by name, behind
        the `last`."""
        ...

    def unprojected(self, name: str) -> list[int]:
        """Numbers of erased users of whom the projection may still have something."""
        ...

    def unproject(self, name: str, number: int) -> None:
        """Note that it has nothing of them any more."""
        ...
