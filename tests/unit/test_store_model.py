"""The SQLite store against a model of it that fits on a page, over arbitrary histories.

`tests/contract/test_postgres_model.py` has PostgreSQL go through the same.
"""

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from recollect.errors import Conflict, NotFound
from recollect.model.changes import Remove, Revise
from recollect.model.records import Conversation, Fact, Turn
from recollect.ports.store import Store, Unembedded, UserStore
from recollect.stores.sqlite.backend import open_store
from recollect.testing.store_counting import counted
from recollect.testing.store_samples import SPACE, append, draft, fact, ids, put, question, vectors
from recollect.text.analyse import terms

USERS = st.sampled_from(["ann", "bob", "cyd"])
WORDS = ("tea", "milk", "rain", "snow")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
FACT_IDS = st.sampled_from([f"f-{i}" for i in range(5)])
CONVERSATIONS = st.sampled_from(["x", "y"])
CHANNELS = st.sampled_from(["_global", "work"])
VECTORS = vectors(8)


@cache
def empty_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        open_store(path, cache_bytes=1 << 20).close()
        return path.read_bytes()


@dataclass
class Person:
    """What one user's memory should be."""

    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])
    vectors: dict[str, int] = field(default_factory=dict[str, int])
    next_index: dict[str, int] = field(default_factory=dict[str, int])
    deleted: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    seen: int = 0
    known: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def contents(self) -> dict[str, str]:
        return {record.id: record.content for record in (*self.turns.values(), *self.facts.values())}


class StoreMachine(RuleBasedStateMachine):
    """Does the same to the store, by either of two handles, and to the model; then compares."""

    @initialize()
    def start(self) -> None:
        self.stores = self.opened()
        self.stores[0].add_space(SPACE)
        self.people: dict[str, Person] = {}
        self.count = 0

    def opened(self) -> list[Store]:
        """Two handles on one empty database."""
        self.folder = Path(tempfile.mkdtemp())
        path = self.folder / "memory.db"
        path.write_bytes(empty_database())
        return [open_store(path, cache_bytes=1 << 20) for _ in range(2)]

    def teardown(self) -> None:
        for store in getattr(self, "stores", []):
            store.close()
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def _of(self, user: str) -> tuple[UserStore, Person]:
        self.count += 1
        return self.stores[self.count % 2].user(user), self.people.setdefault(user, Person())

    @rule(user=USERS, conversation=CONVERSATIONS, text=TEXTS, vector=st.integers(0, 7), channel=CHANNELS)
    def append(self, user: str, conversation: str, text: str, vector: int, channel: str) -> None:
        store, person = self._of(user)
        new = draft(
            text, id=f"t-{self.count:03}", conversation=conversation, vector=VECTORS[vector], channel=channel
        )
        (turn,) = store.apply([append(new)], SPACE).turns
        assert turn.index == person.next_index.get(conversation, 0)
        self._added(person, turn, vector)

    @rule(user=USERS, conversation=CONVERSATIONS, text=TEXTS, index=st.integers(0, 6))
    def append_at(self, user: str, conversation: str, text: str, index: int) -> None:
        store, person = self._of(user)
        there = [t for t in person.turns.values() if (t.conversation, t.index) == (conversation, index)]
        change = append(draft(text, id=f"t-{self.count:03}", conversation=conversation, index=index))
        if there and there[0].content != text:
            with pytest.raises(Conflict):
                store.apply([change], SPACE)
            return
        applied = store.apply([change], SPACE)
        assert applied.created == (0 if there else 1)
        if there:
            assert applied.turns == (there[0],)
        else:
            self._added(person, applied.turns[0], None)

    def _added(self, person: Person, turn: Turn, vector: int | None) -> None:
        person.turns[turn.id] = turn
        person.next_index[turn.conversation] = max(
            person.next_index.get(turn.conversation, 0), turn.index + 1
        )
        person.deleted.discard(("turn", turn.id))
        if vector is not None:
            person.vectors[turn.id] = vector

    @rule(user=USERS, id=FACT_IDS, text=TEXTS, vector=st.none() | st.integers(0, 7), channel=CHANNELS)
    def put(self, user: str, id: str, text: str, vector: int | None, channel: str) -> None:
        store, person = self._of(user)
        record = fact(id, text, channel=channel, sources=tuple(sorted(person.turns)[:2]))
        store.apply([put(record, None if vector is None else VECTORS[vector])], SPACE)
        person.facts[id] = record
        person.deleted.discard(("fact", id))
        person.vectors.pop(id, None)
        if vector is not None:
            person.vectors[id] = vector

    @rule(user=USERS, id=FACT_IDS, channel=CHANNELS, pinned=st.booleans())
    def revise(self, user: str, id: str, channel: str, pinned: bool) -> None:
        store, person = self._of(user)
        values: dict[str, Any] = {"channel": channel, "pinned": pinned}
        if id not in person.facts:
            with pytest.raises(NotFound):
                store.apply([Revise("fact", id, values)])
            return
        store.apply([Revise("fact", id, values)])
        person.facts[id] = replace(person.facts[id], **values)

    @rule(user=USERS, data=st.data())
    def remove(self, user: str, data: st.DataObject) -> None:
        store, person = self._of(user)
        gone = data.draw(st.lists(st.sampled_from([*person.turns, *person.facts, "nobody"]), max_size=3))
        store.apply([Remove("turn", tuple(gone)), Remove("fact", tuple(gone))])
        for id in gone:
            person.vectors.pop(id, None)
            if person.turns.pop(id, None):
                person.deleted.add(("turn", id))
                for fact_id, record in person.facts.items():
                    sources = tuple(source for source in record.sources if source != id)
                    person.facts[fact_id] = replace(record, sources=sources)
            if person.facts.pop(id, None):
                person.deleted.add(("fact", id))

    @rule(user=USERS)
    def erase(self, user: str) -> None:
        store, person = self._of(user)
        counts = store.erase()
        assert counts.get("turn", 0) == len(person.turns)
        assert counts.get("fact", 0) == len(person.facts)
        self.people[user] = Person()

    @rule(user=USERS)
    def embed(self, user: str) -> None:
        store, person = self._of(user)
        waiting = store.unembedded(SPACE, 100)
        texts = [text for id, text in person.contents().items() if id not in person.vectors]
        assert sorted(chunk.text for chunk in waiting) == sorted(texts)
        filled: dict[Unembedded, Any] = dict.fromkeys(waiting, VECTORS[0])
        store.embed(SPACE, filled)
        person.vectors |= dict.fromkeys(set(person.contents()) - set(person.vectors), 0)

    @rule(user=USERS, word=st.sampled_from(WORDS), channels=st.none() | CHANNELS.map(lambda one: (one,)))
    def search_words(self, user: str, word: str, channels: tuple[str, ...] | None) -> None:
        store, person = self._of(user)
        records = {**person.turns, **person.facts}
        expected = {
            id: word in terms(text)
            for id, text in person.contents().items()
            if channels is None or records[id].channel in channels
        }
        found = store.search(question(word, channels=channels))
        assert sorted(c.owner for c in found) == sorted(id for id, has in expected.items() if has)
        assert all(c.stop == len(person.contents()[c.owner]) for c in found)

    @rule(user=USERS, query=st.integers(0, 7), limit=st.integers(1, 4))
    def search_vectors(self, user: str, query: int, limit: int) -> None:
        store, person = self._of(user)
        cosines = VECTORS @ VECTORS[query]
        expected = sorted((float(cosines[v]) for v in person.vectors.values()), reverse=True)[:limit]
        found = store.search(question(vector=VECTORS[query], limit=limit))
        similarities = sorted((c.similarity or 0.0 for c in found), reverse=True)
        assert similarities == pytest.approx([SPACE.similarity(c) for c in expected], abs=1e-3)

    @rule(user=USERS)
    def follow(self, user: str) -> None:
        """A reader that only follows the feed knows what there is."""
        store, person = self._of(user)
        for entry in store.feed(person.seen):
            assert entry.seq > person.seen or entry.seq >= 1
            (person.known.discard if entry.deleted else person.known.add)((entry.kind, entry.id))
            person.seen = max(person.seen, entry.seq)
        there = {("turn", id) for id in person.turns} | {("fact", id) for id in person.facts}
        assert {entry for entry in person.known if entry[0] != "conversation"} == there
        assert {(e.kind, e.id) for e in store.feed() if e.deleted} >= person.deleted

    @rule(user=USERS, limit=st.integers(1, 3), descending=st.booleans())
    def page(self, user: str, limit: int, descending: bool) -> None:
        store, person = self._of(user)
        pages: list[Turn] = []
        after: str | None = None
        while page := list(store.find(Turn, order="index", descending=descending, after=after, limit=limit)):
            pages += page
            after = page[-1].id
        expected = sorted(person.turns.values(), key=lambda t: (t.index, t.id), reverse=descending)
        assert pages == expected

    @invariant()
    def nothing_differs(self) -> None:
        for user, person in getattr(self, "people", {}).items():
            store = self.stores[self.count % 2].user(user)
            assert list(store.find(Turn)) == sorted(person.turns.values(), key=lambda turn: turn.id)
            assert list(store.find(Fact)) == sorted(person.facts.values(), key=lambda record: record.id)
            next_index = {c.id: c.next_index for c in store.find(Conversation)}
            assert next_index == person.next_index
            assert store.sizes().items() >= counted(store).items()
            assert ids(store.get(Fact, ["f-3", "f-1"])) == [id for id in ("f-3", "f-1") if id in person.facts]


TestStore = StoreMachine.TestCase
TestStore.settings = settings(
    max_examples=(settings.default or settings()).max_examples // 4,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
