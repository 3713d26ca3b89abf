"""What one server process counts of its requests, as a Prometheus server reads it."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from recollect.metrics import head, metric, sample

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Up to how many seconds each bucket reaches."""


@dataclass(slots=True)
class _Times:
    """How long requests took: how many fell into each bucket, and all of them together."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0


@dataclass(slots=True)
class HttpMeasures:
    """Counted in the event loop, and read there: it needs no lock."""

    process: str = ""
    """Which of several processes this is: each counts for itself."""
    in_flight: int = 0
    _requests: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    _times: dict[tuple[str, str], _Times] = field(default_factory=dict[tuple[str, str], _Times])

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request that was answered; `status` 0 when it was broken off before."""
        self._requests[method, route, f"{status // 100}xx" if status else "none"] += 1
        times = self._times.setdefault((method, route), _Times())
        times.buckets[bisect_left(BOUNDS, seconds)] += 1
        times.seconds += seconds

    def exposition(self, store_up: int) -> str:
        """What was counted, and whether the database answered just now."""
        return "".join(f"{line}\n" for line in self._lines(store_up))

    def _lines(self, store_up: int) -> Iterator[str]:
        yield from metric("gauge", "store_up", "1 when the database answered.", [({}, store_up)])
        own = {"process": self.process} if self.process else {}
        requests = [
            ({"method": method, "route": route, "status": status, **own}, count)
            for (method, route, status), count in sorted(self._requests.items())
        ]
        help = "Requests that were answered, by method, route and class of status."
        yield from metric("counter", "http_requests_total", help, requests)
        yield from self._durations(own)
        help = "Requests that are being worked on."
        yield from metric("gauge", "http_requests_in_flight", help, [(own, self.in_flight)])

    def _durations(self, own: dict[str, str]) -> Iterable[str]:
        name = "http_request_seconds"
        yield from head("histogram", name, "How long requests took, to the last byte of the answer.")
        for (method, route), times in sorted(self._times.items()):
            labels, within = {"method": method, "route": route, **own}, 0
            for bound, count in zip((*map(repr, BOUNDS), "+Inf"), times.buckets, strict=True):
                within += count
                yield sample(f"{name}_bucket", {**labels, "le": bound}, within)
            yield sample(f"{name}_sum", labels, times.seconds)
            yield sample(f"{name}_count", labels, within)
