"""Times, percentiles, and what the process weighs."""

import gc
import os
import platform
import sqlite3
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

MiB = 1024 * 1024
BUSY_LOAD = 0.7
"""The load of a core from which on it is not ours to measure."""


@dataclass(slots=True)
class Times:
    """Seconds that one thing took, again and again."""

    seconds: list[float] = field(default_factory=list[float])

    def take(self, work: Callable[[], T]) -> T:
        """Do the work once and note how long it took."""
        begun = perf_counter()
        result = work()
        self.seconds.append(perf_counter() - begun)
        return result

    def ms(self, percent: float) -> float:
        return float(np.percentile(self.seconds, percent)) * 1000

    @property
    def p50(self) -> float:
        return self.ms(50)

    @property
    def p95(self) -> float:
        return self.ms(95)

    @property
    def total(self) -> float:
        return sum(self.seconds)


def ratio(value: float, base: float) -> float:
    """How many times the base; 0 when there is no base."""
    return round(value / base, 3) if base else 0.0


def alternate(round_number: int, *works: Callable[[], object]) -> None:
    """Run the works, each round in another order: a noisy moment, or a warm cache, favours none of them."""
    first = round_number % len(works)
    for work in (*works[first:], *works[:first]):
        work()


@contextmanager
def settled() -> Generator[None]:
    """Measure with the collector on, as users have it, but without the benchmark's own objects in it."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def rss_mb() -> float:
    """What the process holds in memory now; where the system does not say, the most it ever held."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return round(int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MiB, 1)
    return peak_rss_mb()


def peak_rss_mb() -> float:
    """The most the process ever held; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (MiB if sys.platform == "darwin" else 1024), 1)


def machine() -> dict[str, Any]:
    """What it was run on; the load tells whether to trust the milliseconds."""
    load = [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else []
    cores = os.cpu_count() or 1
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": cores,
        "load_before": load,
        "busy": is_busy(load, cores),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "numpy": np.__version__,
    }


def is_busy(load: Sequence[float], cores: int) -> bool:
    """Whether others took so much of the machine in the last minute that no figure is to be trusted."""
    return bool(load) and load[0] > BUSY_LOAD * cores


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines: Sequence[str] = info.read_text().splitlines() if info.exists() else ()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
