"""Whatever is said, mined, undone, corrected, joined and forgotten, in any order: the memory stays whole."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recollect import Memory, ScopedMemory
from recollect.errors import Invalid, NotFound
from recollect.model.records import (
    MEMORY_TYPES,
    Closet,
    Conversation,
    Entity,
    MemoryRecord,
    Record,
    Relation,
    Turn,
)
from recollect.model.scope import GLOBAL
from recollect.testing.store_samples import START, ManualClock

SAYINGS = (
    "I live in Lyon.",
    "I live in Porto.",
    "I moved from Lyon to Porto.",
    "I moved to Rome.",
    "I no longer live in Lyon.",
    "I work at Acme.",
    "I work for Globex now.",
    "I left Acme last month.",
    "My sister Anna lives in Berlin.",
    "My sister Anna Keller loves tea.",
    "Anna Keller works at Acme.",
    "Anna is vegetarian.",
    "I love green tea.",
    "I don't like green tea.",
    "My budget for the trip is $10,000.",
    "My budget for the trip is $12,000.",
    "My dog is called Rex. My e-mail is anna@example.com.",
    "We should always run the tests before a release.",
    "Nice weather.",
    "My friend Bob Qzx{}qzx lives in Lyon.",
    "My friend Bob loves tea.",
    "I moved to Qzx{}qzx.",
    "My sister Anna Qzx{}qzx works at Acme.",
    "I work at Qzx{}qzx.",
)
TALKS = ("a", "b", "c")
CHANNELS = (GLOBAL, "work", "home")
PEOPLE = ("Anna", "Anna Keller", "Berlin", "Acme", "Lyon", "user")
_EMPTY: list[Path] = []


def empty() -> Path:
    if not _EMPTY:
        _EMPTY.append(Path(tempfile.mkdtemp(prefix="recollect-empty-")) / "memory.db")
        Memory.open(_EMPTY[0], embedder="none").close()
    return _EMPTY[0]


class Mining(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="recollect-mining-")
        self.path = Path(shutil.copy(empty(), Path(self.folder.name) / "memory.db"))
        self.clock = ManualClock()
        self.memory = Memory.open(self.path, embedder="hashing", clock=self.clock)
        self.marks = 0
        self.erased: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self._nothing_erased_is_left()
            self._copies_are_equal()
            self.memory.close()
            self.folder.cleanup()

    def scope(self, channel: str = GLOBAL) -> ScopedMemory:
        return self.memory.scope("derek", channel=channel)

    def all(self, *kinds: type[Record]) -> list[Any]:
        store = self.memory.store.user("derek")
        return [record for kind in kinds for record in store.find(kind)]

    # What is done

    @rule(
        texts=st.lists(st.sampled_from(SAYINGS), min_size=1, max_size=3),
        talk=st.sampled_from(TALKS),
        channel=st.sampled_from(CHANNELS),
        days=st.integers(-400, 400),
    )
    def record(self, texts: Sequence[str], talk: str, channel: str, days: int) -> None:
        self.marks += 1
        at = datetime.fromtimestamp(START.timestamp() + days * 86400, UTC)
        text = " ".join((*texts, "Qzx{}qzx.")).format(*[self.marks] * 4)
        self.scope(channel).record("user", text, conversation=talk, at=at)

    @rule(talk=st.sampled_from(TALKS), index=st.integers(0, 12), said=st.sampled_from(SAYINGS))
    def fill_in(self, talk: str, index: int, said: str) -> None:
        taken = {(turn.conversation, turn.index) for turn in self.all(Turn)}
        if (talk, index) not in taken:
            self.marks += 1
            text = f"{said} Qzx{{}}qzx.".format(*[self.marks] * 2)
            self.scope().record("user", text, conversation=talk, index=index)

    @rule(hours=st.integers(-48, 48))
    def pass_time(self, hours: int) -> None:
        self.clock.advance(hours=hours)

    @rule()
    def mine(self) -> None:
        assert all(done.problem is None for done in self.scope().mine())

    @rule(talk=st.sampled_from(TALKS))
    def mine_one(self, talk: str) -> None:
        if self.all(Conversation) and any(c.id == talk for c in self.all(Conversation)):
            (done,) = self.scope().mine(talk)
            assert done.problem is None
            (again,) = self.scope().mine(talk)
            assert again.turns == 0

    @rule()
    def tend(self) -> None:
        assert all(outcome.problem is None for outcome in self.memory.tend())

    @rule(talk=st.sampled_from(TALKS))
    def unmine(self, talk: str) -> None:
        if any(c.id == talk for c in self.all(Conversation)):
            self.scope().unmine(talk)

    @rule(pick=st.integers(0, 1000), kind=st.sampled_from((Turn, Entity, Closet, Relation, *MEMORY_TYPES)))
    def forget(self, pick: int, kind: type[Record]) -> None:
        found = [r for r in self.all(kind) if not (isinstance(r, Closet) and r.conversation is None)]
        if found:
            before = self._marks()
            self.scope().forget(found[pick % len(found)].id)
            self.erased |= before - self._marks()

    @rule(pick=st.integers(0, 1000))
    def forget_with_sources(self, pick: int) -> None:
        if found := self.all(*MEMORY_TYPES):
            before = self._marks()
            self.scope().forget(found[pick % len(found)].id, with_sources=True)
            self.erased |= before - self._marks()

    @rule(talk=st.sampled_from(TALKS))
    def forget_talk(self, talk: str) -> None:
        before = self._marks()
        self.scope().forget(conversation=talk)
        self.erased |= before - self._marks()

    @rule(channel=st.sampled_from(CHANNELS[1:]))
    def forget_channel(self, channel: str) -> None:
        before = self._marks()
        self.scope().forget(channel=channel)
        self.erased |= before - self._marks()
        assert not [r for r in self.all(Turn, Entity, *MEMORY_TYPES, Relation) if r.channel == channel]

    @rule(pick=st.integers(0, 1000), ahead=st.integers(-2, 2))
    def correct(self, pick: int, ahead: int) -> None:
        found = [m for m in self.all(*MEMORY_TYPES) if m.superseded_by is None]
        if found:
            self.marks += 1
            since = datetime.fromtimestamp(self.clock.now().timestamp() + ahead * 86400, UTC)
            self.scope().correct(
                found[pick % len(found)].id, f"The truth is Qzx{self.marks}qzx.", since=since
            )

    @rule(one=st.sampled_from(PEOPLE), other=st.sampled_from(PEOPLE), channel=st.sampled_from(CHANNELS))
    def merge(self, one: str, other: str, channel: str) -> None:
        with suppress(NotFound, Invalid):
            self.scope(channel).merge(one, other)

    @rule(pick=st.integers(0, 1000))
    def split(self, pick: int) -> None:
        if found := [(e, alias) for e in self.all(Entity) for alias in e.aliases]:
            entity, alias = found[pick % len(found)]
            self.scope(entity.channel).split(entity.id, alias)

    # What holds

    def _marks(self) -> set[str]:
        """The marks of all that is stored, by the turns they stand in."""
        return {*re.findall("Qzx[0-9]+qzx", " ".join(turn.content for turn in self.all(Turn)))}

    @invariant()
    @precondition(lambda self: hasattr(self, "memory"))
    def all_that_is_cited_exists(self) -> None:
        turns = {turn.id for turn in self.all(Turn)}
        entities = {entity.id for entity in self.all(Entity)}
        for record in self.all(Entity, Relation, *MEMORY_TYPES):
            assert {*record.sources} <= turns, record
            if isinstance(record, MemoryRecord):
                assert record.sources, record
                assert {*record.about} <= entities, record
            if isinstance(record, Relation):
                assert record.sources, record
                assert {record.source, record.target} <= entities, record

    @invariant()
    @precondition(lambda self: hasattr(self, "memory"))
    def versions_follow_each_other(self) -> None:
        memories = {m.id: m for m in self.all(*MEMORY_TYPES)}
        for m in memories.values():
            assert m.supersedes is None or memories[m.supersedes].superseded_by == m.id, m
            assert m.superseded_by is None or memories[m.superseded_by].supersedes == m.id, m
            assert m.valid_to is None or m.valid_to >= m.valid_from
        slots = [(m.channel, m.kind, m.slot) for m in memories.values() if m.slot and not m.superseded_by]
        assert len(slots) == len(set(slots)), sorted(slots)

    @invariant()
    @precondition(lambda self: hasattr(self, "memory"))
    def turns_have_one_place(self) -> None:
        closets = [c for c in self.all(Closet) if c.conversation is not None]
        places = [(c.conversation, n) for c in closets for n in range(c.first, c.last + 1)]
        assert len(places) == len(set(places)), sorted(places)
        talks = {conversation.id for conversation in self.all(Conversation)}
        assert {c.conversation for c in closets} <= talks
        channels = {(t.conversation, t.index): t.channel for t in self.all(Turn)}
        for c in closets:
            for n in range(c.first, c.last + 1):
                assert channels.get((c.conversation, n), c.channel) == c.channel

    @invariant()
    @precondition(lambda self: hasattr(self, "memory"))
    def nothing_leaves_its_channel(self) -> None:
        turns = {turn.id: turn for turn in self.all(Turn)}
        entities = {entity.id: entity for entity in self.all(Entity)}
        for m in self.all(Relation, *MEMORY_TYPES):
            assert {turns[id].channel for id in m.sources} <= {m.channel, GLOBAL}, m
        for m in self.all(*MEMORY_TYPES):
            assert {entities[id].channel for id in m.about} <= {m.channel, GLOBAL}, m

    @invariant()
    @precondition(lambda self: hasattr(self, "memory"))
    def one_home_at_a_time(self) -> None:
        homes = [
            (r.source, r.channel) for r in self.all(Relation) if r.type == "LOCATED_IN" and not r.valid_to
        ]
        assert len(homes) == len(set(homes)), homes

    def _nothing_erased_is_left(self) -> None:
        self.memory.tend()
        assert self.memory.store.check() == []
        about = {id for m in self.all(*MEMORY_TYPES) for id in m.about}
        names = [e.name for e in self.all(Entity) if e.id in about]  # what is known of them has to name them
        left = self.erased - self._marks() - {*re.findall("Qzx[0-9]+qzx", " ".join(names))}
        raw = [file.read_bytes().lower() for file in self.path.parent.iterdir()]
        assert [mark for mark in left if any(mark.lower().encode() in data for data in raw)] == []

    def _copies_are_equal(self) -> None:
        lines = [*self.scope().export()]
        copy = self.memory.scope("copy")
        copy.import_(lines)
        assert [*copy.export()][1:] == lines[1:]


Mining.TestCase.settings = settings(max_examples=15, stateful_step_count=25)
TestMining = pytest.mark.slow(Mining.TestCase)
