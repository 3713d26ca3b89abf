"""The background: finds what is missing, holds a lease while it works, and loses nothing when it cannot."""

import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from recollect import Memory, ScopedMemory
from recollect.model.changes import Remove
from recollect.model.records import Fact
from recollect.ports.embedder import Vectors
from recollect.ports.tending import JobState, Mark
from recollect.stores.sql import schema
from recollect.tend import work
from recollect.tend.steps import Chore, Step
from recollect.tend.work import NAMES
from recollect.testing.store_samples import START, ManualClock, fact, put
from recollect.workspace import Workspace
from tests.unit.support import OpenMemory, SwitchedEmbedder, contents


def outcome(memory: Memory, job: str) -> tuple[int, str | None]:
    (found,) = (o for o in memory.tend() if o.job == job)
    return found.done, found.problem


def waiting(memory: Memory) -> int:
    return memory.store.stats()["rows"]["chunks_waiting_for_a_vector"]


def test_missing_vectors_of_every_user_are_filled_in(
    open_memory: OpenMemory, embedder: SwitchedEmbedder
) -> None:
    memory = open_memory(embed_on_write=False)
    for user in ("ann", "bob"):
        memory.scope(user).record_many({"role": "user", "content": f"{user} {i}"} for i in range(70))
        memory.scope(user).remember(f"{user} knows")
    assert waiting(memory) == 142
    told: list[int] = []
    memory.tend(lambda job, done: told.append(done) if job == "embed" else None)
    assert waiting(memory) == 0
    assert told[-1] == 142
    assert told == sorted(told)
    assert sorted(embedder.seen)[:2] == ["ann 0", "ann 1"]


def test_one_user_can_be_looked_after_alone(memory: Memory) -> None:
    for user in ("ann", "bob"):
        mine = memory.scope(user, conversation="trip")
        mine.record("user", "I live in Oslo.")
        mine.record("assistant", "Noted.")
        mine.end()
    assert {outcome.job for outcome in memory.tend(user="ann")} < {*NAMES}
    assert [len(memory.scope(user).summaries("trip")) for user in ("ann", "bob")] == [1, 0]
    memory.tend()
    assert len(memory.scope("bob").summaries("trip")) == 1


def test_a_failure_half_way_keeps_what_was_done(open_memory: OpenMemory) -> None:
    class Tiring(SwitchedEmbedder):
        """Fails after the first batch."""

        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            self.down = len(self.seen) >= 64
            return super().embed_passages(texts)

    embedder = Tiring()
    memory = open_memory(embedder=embedder, embed_on_write=False)
    memory.scope("derek").record_many({"role": "user", "content": f"tea {i}"} for i in range(100))
    assert outcome(memory, "embed")[1] == "The model server does not answer."
    assert waiting(memory) == 36
    embedder.seen.clear()
    assert outcome(memory, "embed") == (36, None)


def test_nothing_to_do_is_done_quickly_and_changes_nothing(derek: ScopedMemory, memory: Memory) -> None:
    derek.record("user", "tea")
    feed = list(memory.store.user("derek").feed())
    assert [(o.done, o.problem) for o in memory.tend()] == [(0, None)] * len(NAMES)
    assert list(memory.store.user("derek").feed()) == feed


def test_work_that_another_worker_holds_is_left_to_it(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory(embed_on_write=False)
    memory.scope("derek").record("user", "tea")
    assert memory.store.acquire("embed", "another", START, START + timedelta(minutes=2))
    assert outcome(memory, "embed") == (0, None)
    assert waiting(memory) == 1
    clock.advance(minutes=3)  # it died and its lease ran out
    assert outcome(memory, "embed") == (1, None)
    assert memory.store.acquire("embed", "third", clock.now(), clock.now())  # it was given back


def test_an_index_made_by_another_analyser_is_built_anew(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "green tea")
    derek.remember("likes tea")
    backend = memory.store._backend  # type: ignore[attr-defined]
    old = schema.meta.update().where(schema.meta.c.key == "analyser").values(value=0)
    backend.write(lambda connection: connection.execute(old).rowcount)
    assert not memory.store.text_is_current()
    assert outcome(memory, "text") == (2, None)
    assert memory.store.text_is_current()
    assert set(contents(derek.recall("tea", threshold=2))) == {"green tea", "likes tea"}
    assert outcome(memory, "text") == (0, None)


def test_the_background_thread_does_it_and_ends_with_the_memory(open_memory: OpenMemory) -> None:
    filled = threading.Event()

    class Telling(SwitchedEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            filled.set()
            return super().embed_passages(texts)

    memory = open_memory(embedder=Telling(), background=True, tend_seconds=0.01, embed_on_write=False)
    memory.scope("derek").record("user", "tea")
    assert filled.wait(timeout=30)
    memory.close()
    assert "recollect-tend" not in [thread.name for thread in threading.enumerate()]
    assert waiting(open_memory()) == 0


def test_counts_are_written_before_the_background_is_waited_for(open_memory: OpenMemory) -> None:
    working, let = threading.Event(), threading.Event()

    class Slow(SwitchedEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            working.set()
            let.wait(60)
            return super().embed_passages(texts)

    memory = open_memory(embedder=Slow(), background=True, tend_seconds=0.01, embed_on_write=False)
    turn = memory.scope("derek").record("user", "tea")
    assert working.wait(60)
    memory.scope("derek").recall("tea")
    closing = threading.Thread(target=memory.close)
    closing.start()
    with Memory.open(memory.store.stats()["path"], embedder="none") as other:
        while not (counted := other.store.user("derek").usage([turn.id])) and closing.is_alive():
            assert not let.wait(0.01)
    let.set()
    closing.join()
    assert counted


def test_the_background_survives_what_it_did_not_expect(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, recovered = threading.Event(), threading.Event()
    memory = open_memory(background=True, tend_seconds=0.01)

    def note(states: Sequence[JobState]) -> None:
        if not failed.is_set():
            failed.set()
            raise ZeroDivisionError
        recovered.set()

    monkeypatch.setattr(memory.store, "note_jobs", note)
    assert recovered.wait(timeout=30)
    memory.close()
    assert "The background failed and goes on" in caplog.text


def test_what_was_erased_is_scrubbed_while_a_round_goes_on(
    memory: Memory, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending: list[bool] = []

    def lasting(ours: Workspace, mark: Mark) -> Iterator[Step]:
        pending.append(memory.store.needs_scrub())
        forget(ours.scope.user)
        clock.advance(seconds=memory.settings.tend_seconds)
        yield from ()

    def forget(user: str) -> None:
        memory.store.user(user).apply([Remove("fact", (f"f-{user}",))])

    for user in ("ann", "bob", "zoe"):
        memory.store.user(user).apply([put(fact(f"f-{user}", "tea"))])
    memory.store.user("zoe").apply([put(fact("f-more", "milk"))])
    memory.store.user("zoe").apply([Remove("fact", ("f-more",))])
    monkeypatch.setattr(work, "CHORES", (Chore("last", lasting, lambda settings: timedelta(hours=1)),))
    (scrubbed,) = (outcome for outcome in memory.tend() if outcome.job == "scrub")
    assert (pending, scrubbed.done) == ([False] * 3, 4)
    assert not memory.store.needs_scrub()


@pytest.mark.parametrize("minutes", [0, 1, 60])
def test_what_has_run_out_goes_as_often_as_is_looked(
    open_memory: OpenMemory, clock: ManualClock, minutes: float
) -> None:
    memory = open_memory(expire_minutes=minutes)
    derek = memory.scope("derek")
    derek.remember("The gate code is 4711.", expires_at=START + timedelta(hours=6))
    left = dict[int, int]()
    for hour in range(7):
        memory.tend()
        left[hour] = len(derek.list("fact"))
        clock.advance(hours=1)
    assert left == {**dict.fromkeys(range(6), 1), 6: 0}


def test_a_plan_that_fails_hides_no_other(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(ours: Workspace, mark: Mark) -> Iterator[Step]:
        if ours.scope.user == "ann":
            raise ZeroDivisionError
        yield from telling(ours, mark)

    def telling(ours: Workspace, mark: Mark) -> Iterator[Step]:
        yield Step(action="tell", record=ours.store.get(Fact, ["f"])[0], why="it is there")

    for user in ("ann", "bob"):
        memory.store.user(user).apply([put(fact("f", "tea"))])
    monkeypatch.setattr(work, "CHORES", (Chore("one", failing), Chore("other", telling)))
    told = [(step.user, step.chore) for step in memory.tending()]
    assert told == [("ann", "other"), ("bob", "one"), ("bob", "other")]
    assert "What one would do for a user cannot be told: ZeroDivisionError" in caplog.text


def test_a_job_that_fails_holds_up_no_other(
    memory: Memory, derek: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    derek.record("user", "tea")
    monkeypatch.setattr(memory.store, "drop_retired", lambda: iter([1 // 0]))
    outcomes = memory.tend()
    assert [(o.job, o.problem) for o in outcomes if o.problem] == [("drop", "ZeroDivisionError")]
    assert [o.job for o in outcomes] == [*NAMES]


def test_a_conversation_with_nothing_in_it_is_nothing_to_tend(
    derek: ScopedMemory, memory: Memory, embedder: SwitchedEmbedder
) -> None:
    """A8: no turns, or turns without words, give nothing to work on."""
    assert derek.record_many([]) == []
    assert derek.counts() == {}
    derek.record("assistant", "", conversation="silent")
    derek.record("user", " \n\t", conversation="silent")
    assert [outcome.done for outcome in memory.tend()] == [0] * len(NAMES)
    assert derek.counts() == {"conversation": 1, "turn": 2}
    assert embedder.seen == []
