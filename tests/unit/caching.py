"""A cache in this process, to see what is kept and found."""

from recollect.ports.cache import Shelf


class HeldCache:
    """The `Cache` port. Nothing expires by itself: whoever reads must know what no longer holds."""

    def __init__(self) -> None:
        self.kept: dict[tuple[Shelf, bytes], bytes] = {}
        self.found = 0

    def get(self, shelf: Shelf, name: bytes) -> bytes | None:
        value = self.kept.get((shelf, name))
        self.found += value is not None and shelf.what == "answers"
        return value

    def put(self, shelf: Shelf, name: bytes, value: bytes, seconds: float) -> None:
        self.kept[shelf, name] = value

    def erase(self, user: str) -> None:
        self.kept = {place: value for place, value in self.kept.items() if place[0].user != user}

    def close(self) -> None:
        pass

    def of(self, what: str) -> int:
        """How much is kept of a kind."""
        return sum(shelf.what == what for shelf, _ in self.kept)
