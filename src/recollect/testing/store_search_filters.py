"""The store's contract: filters are applied before ranking, and mean what the model says."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from recollect.model.changes import Append, Change, Put, Revise
from recollect.model.records import SEARCHABLE, Episode, Fact, MemoryRecord, Procedure, Reflection, Role
from recollect.model.search import Filter
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import (
    SPACE,
    START,
    ManualClock,
    Vector,
    draft,
    entity,
    fact,
    memory,
    put,
    question,
    vectors,
)
from recollect.testing.store_suite import StoreSuite, found

DAY = timedelta(days=1)

FILTERS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "one kind": {"kinds": ("fact",)},
    "kinds": {"kinds": ("turn", "episode", "entity")},
    "no kind": {"kinds": ()},
    "channel": {"channels": ("work",)},
    "channels": {"channels": ("work", "_global")},
    "unknown channel": {"channels": ("nowhere",)},
    "agent": {"agent": "helper"},
    "conversation": {"conversation": "c-1"},
    "roles": {"roles": (Role.USER, Role.TOOL)},
    "since": {"since": START + 3 * DAY},
    "until": {"until": START + 3 * DAY},
    "between": {"since": START + DAY, "until": START + 5 * DAY},
    "confidence": {"min_confidence": 0.5},
    "later": {"now": START + 6 * DAY},
    "earlier": {"now": START - 6 * DAY},
    "as of": {"as_of": START + 4 * DAY, "now": START + 9 * DAY},
    "known at": {"known_at": START + 4 * DAY, "now": START + 9 * DAY},
    "as of, known at": {"as_of": START + 2 * DAY, "known_at": START + 6 * DAY, "now": START + 9 * DAY},
    "known before it held": {"as_of": START + 6 * DAY, "known_at": START + 2 * DAY, "now": START + 9 * DAY},
    "several": {
        "kinds": ("fact", "procedure", "turn"),
        "channels": ("work", "_global"),
        "agent": "helper",
        "since": START + DAY,
        "min_confidence": 0.25,
    },
}


@dataclass(frozen=True)
class Stored:
    """One thing that can be found, as the filter sees it."""

    kind: str
    id: str
    vector: Vector
    at: datetime
    recorded_at: datetime
    channel: str
    agent: str | None = None
    conversation: str | None = None
    role: str | None = None
    confidence: float = 1.0
    valid_to: datetime | None = None
    retired_at: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False

    def passes(self, filter: Filter) -> bool:
        """The model's words, one after the other."""
        return (
            self.kind in filter.kinds
            and (filter.channels is None or self.channel in filter.channels)
            and (filter.agent is None or self.agent == filter.agent)
            and (filter.conversation is None or self.conversation == filter.conversation)
            and (filter.roles is None or self.role in filter.roles)
            and (filter.since is None or self.at >= filter.since)
            and (filter.until is None or self.at < filter.until)
            and self.confidence >= filter.min_confidence
            and (self.pinned or self.expires_at is None or self.expires_at > filter.now)
            and self._held(filter)
        )

    def _held(self, filter: Filter) -> bool:
        if filter.as_of is None and filter.known_at is None:
            return self.retired_at is None and (self.valid_to is None or self.valid_to > filter.now)
        known_at = filter.known_at or datetime.max.replace(tzinfo=UTC)
        as_of = filter.as_of or known_at
        ended = self.valid_to is not None and self.valid_to <= as_of
        end_unknown_yet = self.retired_at is not None and self.retired_at > known_at
        return self.recorded_at <= known_at and self.at <= as_of and (not ended or end_unknown_yet)


class SearchFilterContract(StoreSuite):
    """Against brute force over the same rows, under every filter."""

    @pytest.mark.parametrize("name", FILTERS)
    def test_every_filter_is_exact(self, embedded: Store, alice: UserStore, name: str) -> None:
        stored = self._fill(alice)
        query = vectors(1, seed=99)[0]
        filters: dict[str, Any] = {"now": START, **FILTERS[name]}
        asked = Filter(**filters)
        allowed = [s for s in stored if s.passes(asked)]
        best = sorted(allowed, key=lambda s: float(s.vector @ query), reverse=True)
        for limit in (5, 1000):
            hits = alice.search(question(vector=query, limit=limit, **filters))
            assert {(c.kind, c.owner) for c in hits} == {(s.kind, s.id) for s in best[:limit]}
        hits = alice.search(question("shared", **filters))
        assert {(c.kind, c.owner) for c in hits} == {(s.kind, s.id) for s in allowed}
        assert 0 < len(allowed) < len(stored) or name in ("no kind", "unknown channel", "nothing")

    def test_filters_do_not_move_text_scores(self, embedded: Store, alice: UserStore) -> None:
        self._fill(alice)
        everywhere = {c.owner: c.text for c in alice.search(question("shared m7"))}
        at_work = {c.owner: c.text for c in alice.search(question("shared m7", channels=("work",)))}
        assert at_work
        assert all(everywhere[owner] == score for owner, score in at_work.items())

    def test_what_a_correction_replaced_is_found_as_of_then(
        self, alice: UserStore, clock: ManualClock
    ) -> None:
        """In March the budget is 10,000; in May it turns out to be 15,000 since April."""
        march, april, may = clock.now(), clock.now() + 31 * DAY, clock.now() + 61 * DAY
        alice.apply([put(fact("old", "budget 10,000", valid_from=march, recorded_at=march))])
        alice.apply(
            [
                put(fact("new", "budget 15,000", valid_from=april, recorded_at=may, supersedes="old")),
                Revise("fact", "old", {"valid_to": april, "retired_at": may, "superseded_by": "new"}),
            ]
        )
        now = may + DAY

        def asked(**times: Any) -> set[str]:
            return found(alice, question("budget", now=now, **times))

        assert asked() == {"new"}
        assert asked(as_of=march + DAY) == {"old"}
        assert asked(as_of=april + DAY) == {"new"}
        assert asked(known_at=may - DAY) == {"old"}  # nobody knew better yet
        assert asked(as_of=april + DAY, known_at=may - DAY) == {"old"}
        assert asked(as_of=march + DAY, known_at=may - DAY) == {"old"}
        assert asked(as_of=march - DAY) == set()
        assert asked(known_at=march - DAY) == set()

    def test_a_clock_that_went_backwards_hides_nothing_valid(
        self, alice: UserStore, clock: ManualClock
    ) -> None:
        alice.apply([put(fact("f", "tea", recorded_at=clock.now(), valid_from=clock.now()))])
        assert found(alice, question("tea", now=clock.advance(days=-400))) == {"f"}

    def test_an_expired_memory_is_gone_at_its_moment(self, alice: UserStore, clock: ManualClock) -> None:
        alice.apply([put(fact("f", "tea", expires_at=clock.now() + DAY))])
        assert found(alice, question("tea", now=clock.advance(hours=23, minutes=59))) == {"f"}
        assert found(alice, question("tea", now=clock.advance(minutes=1))) == set()

    def test_what_is_pinned_does_not_expire(self, alice: UserStore, clock: ManualClock) -> None:
        pinned = fact("f", "tea", expires_at=clock.now(), pinned=True)
        alice.apply([put(pinned), put(fact("g", "tea", expires_at=clock.now()))])
        assert found(alice, question("tea")) == {"f"}
        alice.apply([Revise("fact", "f", {"pinned": False}), Revise("fact", "g", {"pinned": True})])
        assert found(alice, question("tea")) == {"g"}
        alice.apply([Put(pinned), Revise("fact", "g", {"expires_at": clock.now() - DAY})])
        assert found(alice, question("tea")) == {"f", "g"}
        alice.apply([Revise("fact", "g", {"pinned": False, "expires_at": clock.now() + DAY})])
        assert found(alice, question("tea", now=clock.advance(hours=1))) == {"f", "g"}
        assert found(alice, question("tea", now=clock.advance(days=1))) == {"f"}

    def _fill(self, alice: UserStore) -> list[Stored]:
        """Some 200 things that differ in everything a filter can ask."""
        chance = np.random.default_rng(5)
        rows = vectors(210)
        stored: list[Stored] = []
        changes: list[Change] = []
        for i, row in enumerate(rows):
            at = START + int(chance.integers(0, 8)) * DAY
            common: dict[str, Any] = {"channel": str(chance.choice(["_global", "work", "home"]))}
            if i % 3 == 0:
                one, change = self._turn(i, row, at, chance, common)
            elif i % 7 == 0:
                one = Stored("entity", f"m{i}", row, at, at, **common)
                change = put(entity(f"m{i}", f"shared m{i}", first_seen=at, **common), row)
            else:
                one, change = self._memory(i, row, at, chance, common)
            stored.append(one)
            changes.append(change)
        alice.apply(changes, SPACE)
        assert {s.kind for s in stored} == set(SEARCHABLE)
        return stored

    def _turn(
        self, i: int, row: Vector, at: datetime, chance: np.random.Generator, common: dict[str, Any]
    ) -> tuple[Stored, Change]:
        fields: dict[str, Any] = {
            **common,
            "agent": [None, "helper", "other"][int(chance.integers(3))],
            "conversation": f"c-{chance.integers(3)}",
            "role": list(Role)[int(chance.integers(4))],
            "recorded_at": at + int(chance.integers(0, 3)) * DAY,
        }
        change = Append((draft(f"shared m{i}", id=f"m{i}", at=at, vector=row, **fields),))
        return Stored("turn", f"m{i}", row, at, **fields), change

    def _memory(
        self, i: int, row: Vector, at: datetime, chance: np.random.Generator, common: dict[str, Any]
    ) -> tuple[Stored, Change]:
        kinds: tuple[type[MemoryRecord], ...] = (Fact, Procedure, Episode, Reflection)
        kind = kinds[int(chance.integers(len(kinds)))]
        later = [None if chance.random() < 0.6 else at + int(chance.integers(0, 6)) * DAY for _ in range(3)]
        fields: dict[str, Any] = {
            **common,
            "agent": [None, "helper", "other"][int(chance.integers(3))],
            "confidence": float(chance.integers(0, 5)) / 4,
            "recorded_at": at + int(chance.integers(0, 3)) * DAY,
            "valid_to": later[0],
            "retired_at": later[1],
            "expires_at": later[2],
            "pinned": bool(chance.random() < 0.2),
        }
        change = put(memory(kind, f"m{i}", f"shared m{i}", valid_from=at, **fields), row)
        return Stored(kind.kind, f"m{i}", row, at, **fields), change
