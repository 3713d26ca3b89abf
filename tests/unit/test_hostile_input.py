"""Whatever a verb is given, it works or raises a `RecollectError`: nothing else comes out."""

import inspect
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Memory, RecollectError, ScopedMemory
from recollect.model.records import BY_KIND
from recollect.models.hashing import HashingEmbedder

VERBS = sorted(
    name for name, member in inspect.getmembers(ScopedMemory, inspect.isfunction) if not name.startswith("_")
)


class BrokenZone(tzinfo):
    """Somebody's time zone, with a bug."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        raise KeyError("no such zone")


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


HOSTILE: list[Any] = [
    None,
    True,
    0,
    -1,
    5,
    2**31,
    10**400,
    -(10**5000),
    2.5,
    float("nan"),
    float("inf"),
    "",
    "fact",
    "user",
    "active",
    "\ud800 \x00",
    "x" * 20_000,
    b"bytes",
    [],
    [None],
    [5],
    ["turn"],
    [[]],
    [10**400],
    [0.1] * 384,
    [1e300] * 384,
    (),
    {},
    {1: 2},
    {"a": {1: 2}},
    {"role": "user", "content": "x"},
    {"role": [], "content": None, 5: 6},
    [{"role": "user", "content": "x", "metadata": _deep(200)}],
    [{"content": "x", "about": 5}],
    ["{}", 5],
    ['{"recollect": 1}', '{"kind": "turn", "index": 1e999}'],
    {"a", "b"},
    range(3),
    object(),
    np.zeros(3),
    np.float32(1),
    _deep(200),
    datetime(2026, 1, 1),  # noqa: DTZ001 - without a zone, on purpose
    datetime(2026, 1, 1, tzinfo=UTC),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
    datetime(2026, 1, 1, tzinfo=BrokenZone()),
    timedelta(days=1),
    print,
]
FIELDS = sorted({name for kind in BY_KIND.values() for name in kind.__dataclass_fields__})


@pytest.fixture(scope="module")
def hostage(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Iterator[ScopedMemory]:
    path = Path(shutil.copy(empty_database, tmp_path_factory.mktemp("hostile") / "memory.db"))
    with Memory.open(path, embedder=HashingEmbedder(), background=True, tend_seconds=86_400) as memory:
        scoped = memory.scope("derek", conversation="c")
        scoped.record("user", "tea")
        scoped.remember("likes tea", about=["Ana"])
        yield scoped


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, list[Any], dict[str, Any]]:
    """A verb with an argument or two that it cannot have meant."""
    verb = draw(st.sampled_from(VERBS))
    hostile = st.integers(0, len(HOSTILE) - 1).map(HOSTILE.__getitem__)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in list(inspect.signature(getattr(ScopedMemory, verb)).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            named |= draw(st.dictionaries(st.sampled_from(FIELDS), hostile, max_size=2))
        elif parameter.default is parameter.empty:
            positional.append(draw(st.just("x") | hostile))
        elif draw(st.integers(0, 3)) == 0:
            named[parameter.name] = draw(hostile)
    taken = list(inspect.signature(getattr(ScopedMemory, verb)).parameters)[1 : 1 + len(positional)]
    return verb, positional, {name: value for name, value in named.items() if name not in taken}


@given(calls())
@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_only_our_own_errors_come_out(
    hostage: ScopedMemory, call: tuple[str, list[Any], dict[str, Any]]
) -> None:
    verb, positional, named = call
    try:
        done = getattr(hostage, verb)(*positional, **named)
        if verb == "export":
            list(done)
    except RecollectError:
        pass


def test_all_is_still_readable_after_each_hostile_value(hostage: ScopedMemory) -> None:
    for verb in VERBS:
        parameters = list(inspect.signature(getattr(ScopedMemory, verb)).parameters.values())[1:]
        needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        for parameter in parameters:
            for value in HOSTILE:
                if parameter.kind is not parameter.VAR_KEYWORD:
                    given = dict.fromkeys(needed, "x") | {parameter.name: value}
                    with suppress(RecollectError):
                        getattr(hostage, verb)(**given)
    assert hostage.recall("tea").problems == ()
    assert all(hostage.list(kind, limit=1000) is not None for kind in hostage.counts())
    assert list(hostage.export())
