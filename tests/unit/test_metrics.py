"""Figures for operators: what is done is counted, of everybody together, as Prometheus reads it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from recollect import Invalid, Memory
from recollect.cli import doctor_contents
from recollect.metrics import Figures, exposition, figures
from recollect.ports.embedder import Vectors
from recollect.ports.tending import PARKED_AFTER, JobState, Mark, Measure, Visit
from recollect.stores.sql import schema
from recollect.tend.work import TOLD_EVERY
from recollect.testing.store_samples import START, ManualClock
from tests.unit.support import OpenMemory, SwitchedEmbedder


def samples(text: str) -> dict[str, float]:
    """Each sample of an exposition by its name and the values of its labels."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        assert family.type in ("counter", "gauge", "histogram")
        for sample in family.samples:
            assert sample.name.startswith("recollect_")
            found[" ".join([sample.name.removeprefix("recollect_"), *sample.labels.values()])] = sample.value
    return found


def fail(memory: Memory, user: str, chore: str, problem: str) -> None:
    """Have it noted that a chore failed for a user, and that nobody need look again for a while."""
    store, now = memory.store.user(user), memory.clock.now()
    later = now + timedelta(days=1)
    assert store.claim("me", now, later)
    store.settle("me", {chore: Mark(0, now, later, 2, problem)}, Visit(store.seq(), later, later))


def park_vectors(memory: Memory) -> None:
    change = schema.vectors.update().where(schema.empty).values(failures=PARKED_AFTER)
    memory.store._backend.write(lambda connection: connection.execute(change).rowcount)  # type: ignore[attr-defined]


def test_everything_that_is_done_is_counted(memory: Memory) -> None:
    ann, bob = memory.scope("ann"), memory.scope("bob")
    ann.record("user", "I live in Lyon.", conversation="c")
    bob.record_many([{"role": "user", "content": "I like tea"}, {"role": "assistant", "content": "Noted"}])
    ann.remember("Ann likes tea")
    assert ann.recall("Where do I live?")
    ann.recall("tea", threshold=0.5)
    assert bob.recall("Hello!").skipped
    with pytest.raises(Invalid):
        bob.recall("tea", top_k=0)
    with pytest.raises(Invalid):
        bob.record("nobody", "tea")
    ann.mine()
    found = samples(memory.metrics())
    assert found["recall_seconds_count"] == found["recall_seconds_bucket +Inf"] == 3
    assert 0 < found["recall_seconds_sum"] < 60
    assert (found["record_seconds_count"], found["turns_recorded_total"]) == (2, 3)
    assert (found["recalls_skipped_total"], found["recalls_failed_total"]) == (1, 1)
    assert (found["records_failed_total"], found["recalls_impaired_total"]) == (1, 0)
    assert found["hits_total"] >= 2
    assert found["memories_added_total"] >= 2
    assert found["mined_turns_total"] == 2  # with the note of what was remembered
    assert found["model_calls_total memory_embed"] >= 3
    assert found["cache_misses_total"] == 1
    assert found["cache_hits_total"] >= 1
    assert (found["rows users"], found["rows turns"]) == (2, 4)
    assert found["bytes database"] > 0


NOTHING: dict[str, Any] = {
    "rows": {"chunks_waiting_for_a_vector": 0, "spaces_to_drop": 0},
    "bytes": 1,
    "waiting": {},
    "unconsolidated": {"memories": 0, "since": None},
    "projections": {},
    "parked": {"chunks": 0, "mining": {}, "chores": {}},
}


def test_a_copy_that_was_never_begun_lacks_everything(memory: Memory) -> None:
    memory.scope("ann").record("user", "tea")
    configured = replace(memory.settings, milvus="http://127.0.0.1:9")
    found = samples(exposition(figures(memory.store, configured, START)))
    assert (found["projection_behind_users milvus"], found["projection_behind_changes milvus"]) == (1, 1)
    assert "projection_behind_users neo4j" not in found


def copied(memory: Memory, user: str) -> None:
    store, now = memory.store.user(user), memory.clock.now()
    reach = store.reach("milvus", "one", now, timedelta(0))
    assert reach is not None
    assert store.project("milvus", "one", reach.number, 0, reach.seq, now, timedelta(0))


def test_doctor_tells_of_a_copy_that_nobody_makes(memory: Memory, clock: ManualClock) -> None:
    configured = replace(memory.settings, milvus="http://127.0.0.1:9")

    def told() -> str:
        (check,) = doctor_contents._projections(figures(memory.store, configured, clock.now()))
        return check.state

    assert told() == "ok", "there is nothing to copy"
    memory.scope("ann").record("user", "tea")
    assert told() == "warn", "nobody was ever copied"
    copied(memory, "ann")
    memory.scope("bob").record("user", "tea")
    assert told() == "warn", "nobody copies any more"
    memory.store.note_jobs([JobState("project", clock.now(), 1.0, 1, None)])
    assert told() == "ok", "somebody who is new has just not had their turn"
    clock.advance(hours=3)
    assert told() == "warn"


def test_the_buckets_of_a_histogram_add_up() -> None:
    measures = [Measure(START.date(), "recall", number, 1) for number in range(73)]
    text = exposition(Figures(START, NOTHING, [], measures))
    (family,) = (f for f in text_string_to_metric_families(text) if f.name == "recollect_recall_seconds")
    within = [s.value for s in family.samples if s.name.endswith("_bucket")]
    bounds = [float(s.labels["le"]) for s in family.samples if s.name.endswith("_bucket")]
    assert within == sorted(within)
    assert (within[0], within[-1]) == (15, 73)
    assert bounds == sorted(bounds)
    assert (bounds[0], bounds[-2], bounds[-1]) == (0.000128, 2**26 / 1e6, float("inf"))


def test_no_name_can_break_a_line() -> None:
    odd = 'a"b\\c\nd'
    job = JobState(odd, START, 1.0, 1, "broken")
    measure = Measure(START.date(), f"tend_{odd}", 0, 3)
    found = samples(exposition(Figures(START, NOTHING, [job], [measure])))
    assert (found[f"tended_total {odd}"], found[f"job_failing {odd}"]) == (3, 1)


def test_nothing_of_anybody_is_told(memory: Memory) -> None:
    ann = memory.scope("ann-the-user", channel="secret-channel", agent="some-agent")
    ann.record("user", "My diagnosis is secret.", conversation="hidden")
    ann.recall("diagnosis")
    fail(memory, "ann-the-user", "decay", "a reason of ann-the-user")
    memory.tend()
    text = memory.metrics()
    for word in ("ann-the-user", "secret", "some-agent", "hidden", "diagnosis", "reason"):
        assert word not in text


def test_what_cannot_be_written_is_dropped_and_nothing_fails(memory: Memory) -> None:
    memory.scope("ann").record("user", "tea")
    drop = "ALTER TABLE measures RENAME TO gone"
    memory.store._backend.write(lambda connection: connection.exec_driver_sql(drop).rowcount)  # type: ignore[attr-defined]
    memory.flush()
    back = "ALTER TABLE gone RENAME TO measures"
    memory.store._backend.write(lambda connection: connection.exec_driver_sql(back).rowcount)  # type: ignore[attr-defined]
    assert samples(memory.metrics())["turns_recorded_total"] == 0


def test_the_lag_is_that_of_what_is_ready(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory(mine_quiet_seconds=60, idle_minutes=30)
    ann = memory.scope("ann")
    ann.record("user", "said long ago", at=START - timedelta(days=900))  # but told now
    assert samples(memory.metrics())["lag_seconds mine"] == 0
    clock.advance(minutes=31)
    found = samples(memory.metrics())
    assert (found["lag_seconds mine"], found["lag_seconds conclude"]) == (30 * 60, 60)
    assert found["waiting mine"] == 1
    memory.tend()
    found = samples(memory.metrics())
    assert (found["lag_seconds mine"], found["waiting mine"]) == (0, 0)
    assert found["tended_total mine"] == 1


def test_new_memories_wait_until_they_were_compared(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory(consolidate_minutes=15)
    ann = memory.scope("ann")
    first = ann.remember("Ann likes tea.")
    clock.advance(minutes=2)
    found = samples(memory.metrics())
    assert (found["lag_seconds consolidate"], found["waiting consolidate"]) == (120, 1)
    memory.tend()
    found = samples(memory.metrics())
    assert (found["lag_seconds consolidate"], found["waiting consolidate"]) == (0, 0)
    clock.advance(minutes=1)
    ann.remember("Ann likes coffee.")
    ann.pin(first.id)  # was compared, whatever became of it since
    clock.advance(minutes=13)
    found = samples(memory.metrics())
    assert (found["lag_seconds consolidate"], found["waiting consolidate"]) == (0, 1), "it is not due yet"
    clock.advance(minutes=10)
    assert samples(memory.metrics())["lag_seconds consolidate"] == 9 * 60
    memory.tend()
    assert samples(memory.metrics())["waiting consolidate"] == 0


def test_what_a_chore_that_failed_has_not_seen_waits(memory: Memory, clock: ManualClock) -> None:
    memory.scope("ann").remember("Ann likes tea.")
    clock.advance(minutes=5)
    store, now = memory.store.user("ann"), clock.now()
    assert store.claim("me", now, now + timedelta(minutes=1))
    failed = Mark(0, now, now + timedelta(minutes=1), 1, "Out of luck.")
    store.settle("me", {"consolidate": failed}, Visit(0, now, now))
    clock.advance(hours=1)
    found = samples(memory.metrics())
    assert (found["lag_seconds consolidate"], found["waiting consolidate"]) == (65 * 60, 1)


def test_who_does_not_want_it_does_not_wait(memory: Memory, clock: ManualClock) -> None:
    ann = memory.scope("ann")
    ann.update_settings(auto_mine=False)
    ann.record("user", "I live in Lyon.")
    clock.advance(hours=1)
    store, now = memory.store.user("ann"), clock.now()
    assert samples(memory.metrics())["lag_seconds mine"] > 0  # nobody has looked yet
    assert store.claim("me", now, now + timedelta(minutes=1))
    store.settle("me", {"mine": Mark(0, now)}, Visit(0, now, now))
    assert samples(memory.metrics())["lag_seconds mine"] == 0


def test_what_is_put_aside_is_told_and_tried_again(
    open_memory: OpenMemory, clock: ManualClock, embedder: SwitchedEmbedder
) -> None:
    embedder.down = True
    memory = open_memory()
    memory.scope("ann").record("user", "tea")
    park_vectors(memory)
    fail(memory, "ann", "decay", "Out of luck.")
    found = samples(memory.metrics())
    assert (found["parked embed"], found["parked decay"]) == (1, 1)
    assert memory.store.stats()["parked"]["chores"] == {"decay": {"Out of luck.": 1}}
    due = memory.store.users_due(clock.now(), START - timedelta(days=1))
    assert memory.store.unpark() == 2
    assert memory.store.stats()["parked"] == {"chunks": 0, "mining": {}, "chores": {}}
    mark = memory.store.user("ann").marks()["decay"]
    assert (mark.at, mark.after, mark.failures) == (None, None, 0)
    assert memory.store.users_due(clock.now(), START - timedelta(days=1)) == ["ann"]
    assert due == ["ann"]  # to be mined, in any case
    embedder.down = False
    assert {o.job: o.done for o in memory.tend()}["embed"] == 1


def test_how_far_a_long_job_has_come(open_memory: OpenMemory, clock: ManualClock) -> None:
    seen: list[list[JobState]] = []

    class Slow(SwitchedEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            clock.advance(seconds=TOLD_EVERY.total_seconds())
            seen.append(memory.store.jobs())
            return super().embed_passages(texts)

    memory = open_memory(embedder=Slow(), embed_on_write=False)
    memory.tend()
    memory.scope("ann").record_many({"role": "user", "content": f"tea {i}"} for i in range(130))
    memory.tend()
    first, second, third = ({job.name: job for job in jobs}["embed"] for jobs in seen)
    assert (first.progress, second.progress, third.progress) == (0, 64, 128)
    assert (third.runs, third.done, third.total) == (1, 0, 0)  # what came of the last run is still told
    (last,) = (job for job in memory.store.jobs() if job.name == "embed")
    assert (last.progress, last.runs, last.done, last.total) == (0, 2, 130, 130)


def test_work_of_another_worker_is_not_noted_as_ours(memory: Memory, clock: ManualClock) -> None:
    memory.tend()
    clock.advance(hours=1)
    assert memory.store.acquire("embed", "another", clock.now(), clock.now() + timedelta(minutes=2))
    assert [o.job for o in memory.tend() if o.elsewhere] == ["embed"]
    at = {job.name: job.at for job in memory.store.jobs()}
    assert (at["embed"], at["text"]) == (START, clock.now())


def test_asked_to_stop_it_ends_after_the_step(open_memory: OpenMemory) -> None:
    class Stopping(SwitchedEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            memory.stop()
            return super().embed_passages(texts)

    memory = open_memory(embedder=Stopping(), embed_on_write=False)
    memory.scope("ann").record_many({"role": "user", "content": f"tea {i}"} for i in range(130))
    outcomes = {o.job: o for o in memory.tend()}
    assert outcomes["embed"].done == 64
    assert memory.store.acquire("embed", "another", START, START + timedelta(minutes=1))  # it was given back


def test_figures_of_the_last_days(memory: Memory, clock: ManualClock) -> None:
    for day in range(3):
        for _ in range(day + 1):
            memory.scope("ann").record("user", f"tea {day}")
        clock.advance(days=1)
    memory.flush()
    found = figures(memory.store, memory.settings, clock.now(), days=30)
    assert found.daily("turns", 5) == [0, 1, 2, 3, 0]
    assert (found.total("turns"), found.total("turns", 2)) == (6, 3)
    assert sum(found.buckets("record", 3).values()) == 5
