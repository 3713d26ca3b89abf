"""How operators see how the memory is doing: stats, doctor, and what tending would do and why."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect import Memory
from recollect.cli import upkeep
from recollect.errors import StoreUnavailable
from recollect.ports.tending import JobState, Measure
from recollect.testing.store_samples import ManualClock
from tests.interface.test_cli import environment, on_a_terminal
from tests.interface.test_cli_frame import ask, failure, run
from tests.unit.test_metrics import fail, park_vectors, samples

LATER: dict[str, Any] = {"RECOLLECT_EMBED_ON_WRITE": "false"}
READY: dict[str, Any] = {"RECOLLECT_MINE_QUIET_SECONDS": "0"}


def opened(**given: Any) -> Memory:
    return Memory.open(os.environ["RECOLLECT_DB"], embedder="hashing", **given)


def checks(name: str) -> list[dict[str, str]]:
    return [check for check in ask("doctor")["checks"] if check["name"] == name]


# stats


def test_stats_of_everybody() -> None:
    run("record", "user", "I live in Lyon", "--user", "ana")
    run("record", "user", "tea", "--user", "ben")
    run("recall", "Lyon", "--user", "ana")
    run("tend", **READY)
    found = ask("stats")
    assert (found["rows"]["users"], found["rows"]["turns"]) == (2, 2)
    assert found["bytes"] > 0
    assert found["daily"]["recalls"] == [*[0] * 13, 1]
    assert found["daily"]["turns recorded"][-1] == 2
    assert found["daily"]["tended: mine"][-1] == 2
    assert {period: row["count"] for period, row in found["recall"].items()} == {
        "today": 1,
        "7 days": 1,
        "30 days": 1,
    }
    assert 0 < found["recall"]["today"]["p50_ms"] <= found["recall"]["today"]["p99_ms"]
    assert found["lag_seconds"]["mine"] == 0
    assert found["parked"] == {"chunks": 0, "mining": {}, "chores": {}}
    assert {"embed", "mine", "scrub"} <= {job["name"] for job in found["jobs"]}
    assert len(ask("stats", "--days", 3)["daily"]["recalls"]) == 3
    assert failure("stats", "--days", 0, code=2)["type"] == "Usage"
    printed = run("stats", "--days", 2).stdout
    assert "last 2 days\trecalls\t0 1\t1\t1\n" in printed
    assert "stored\tturns\t2\n" in printed
    assert "time to recall\ttoday\t1\t" in printed
    assert "parked" not in printed
    assert "\njobs\tembed\t" in printed


def test_stats_of_one_user_are_theirs() -> None:
    policy: dict[str, Any] = {"RECOLLECT_RETENTION": "turn_quota=10, channel_turn_quota=4"}
    run("record", "user", "tea", "--user", "ana")
    run("record", "user", "plan", "--user", "ana", "--channel", "work")
    run("record", "user", "milk", "--user", "ben")
    found = ask("stats", "--user", "ana", **policy)
    assert found == {
        "user": "ana",
        "counts": {"conversation": 2, "turn": 2},
        "sizes": {"turns": 2, "memories": 0, "turn_quota": 10, "memory_quota": 100_000},
        "channels": {
            "_global": {"turns": 1, "memories": 0, "turn_quota": 4, "memory_quota": 0},
            "work": {"turns": 1, "memories": 0, "turn_quota": 4, "memory_quota": 0},
        },
    }
    printed = run("stats", "--user", "ana", **policy).stdout
    assert "channels\tin all\t2\t20.0% of 10\t0\t0.0% of 100,000\n" in printed
    assert "channels\twork\t1\t25.0% of 4\t0\tno limit\n" in printed


def test_stats_tell_of_every_cache() -> None:
    counted = {"cache_hits": 1, "cache_misses": 1, "answer_hits": 3, "answer_misses": 1, "vector_hits": 1}
    today = datetime.now(UTC).date()
    with opened() as memory:
        memory.store.measure([Measure(today, name, 0, count) for name, count in counted.items()])
    found = ask("stats")
    assert found["cache"]["rate"] == 0.5
    assert found["recall_cache"] == {"hits": 3, "misses": 1, "rate": 0.75}
    assert found["embedding_cache"]["rate"] == 1
    printed = run("stats").stdout
    assert "cache\trecalls answered out of Redis\t75.0%\n" in printed
    assert samples(run("stats", "--prometheus").stdout)["recall_cache_hits_total"] == 3


def test_stats_for_prometheus() -> None:
    run("record", "user", "I live in Lyon", "--user", "ana")
    run("recall", "Lyon", "--user", "ana")
    printed = run("stats", "--prometheus").stdout
    found = samples(printed)
    assert (found["recall_seconds_count"], found["turns_recorded_total"]) == (1, 1)
    assert "ana" not in printed
    assert "everybody" in failure("stats", "--prometheus", "--user", "ana", code=2)["message"]


def test_stats_make_no_database_and_chart_on_a_terminal() -> None:
    assert failure("stats", code=3)["type"] == "NotFound"
    assert failure("stats", "--prometheus", code=3)["type"] == "NotFound"
    run("record", "user", "hello")
    code, shown = on_a_terminal("stats", "--days", "3", COLUMNS="120")
    assert code == 0
    assert "█" in shown
    assert "by day" in shown


def test_what_is_put_aside_is_told_with_what_to_do() -> None:
    run("record", "user", "tea", "--user", "ana", **LATER)
    with opened() as memory:
        park_vectors(memory)
        fail(memory, "ana", "decay", "Out of luck.")
    printed = run("stats").stdout
    assert "parked\tembed\t1 chunk\t" in printed
    assert "parked\tdecay\t1 user\tOut of luck.\tput that right, then `recollect tend --retry`" in printed
    told = checks("parked")
    assert [check["state"] for check in told] == ["warn", "warn"]
    assert all("recollect tend --retry" in check["fix"] for check in told)
    assert ask("tend", "--dry-run")["waiting"]["put_aside"] == 2
    done = run("tend", "--retry")
    assert "Tried again: 2." in done.stderr
    assert "embed\t1\t" in done.stdout
    assert "Nothing is put aside." in run("tend", "--retry").stderr


# doctor


def test_doctor_tells_of_jobs() -> None:
    run("record", "user", "tea", **LATER)
    run("tend")
    (job,) = checks("job embed")
    assert job["state"] == "ok"
    assert "s ago, 1 done in" in job["detail"]
    now = datetime.now(UTC)
    with opened() as memory:
        memory.store.note_jobs(
            [
                JobState("embed", now, 0.0, 0, runs=0, progress=1200),
                JobState("text", now - timedelta(hours=3), 0.0, 0, runs=0, progress=7),
                JobState("scrub", now, 1.0, 0, "The disk is full."),
            ]
        )
    assert "goes on, with 1,200 done" in checks("job embed")[0]["detail"]
    (text,) = checks("job text")
    assert (text["state"], "was cut off 3 h ago with 7 done" in text["detail"]) == ("warn", True)
    (scrub,) = checks("job scrub")
    assert (scrub["state"], scrub["detail"].endswith(": The disk is full.")) == ("warn", True)


def test_doctor_misses_a_worker_when_something_waits() -> None:
    past = ManualClock(datetime.now(UTC) - timedelta(hours=5))
    with opened(clock=past) as memory:
        memory.scope("ana").record("user", "tea")
    (worker,) = checks("worker")
    assert (worker["state"], worker["fix"]) == ("warn", "Start `recollect tend --forever`.")
    assert worker["detail"].startswith("none has run yet; the oldest conversation waits for 4 h")
    run("tend", "--embedder", "none")
    (worker,) = checks("worker")
    assert worker["detail"].startswith("last heard of ")


# tend


def test_a_dry_run_says_what_would_be_done_and_why() -> None:
    for user in ("ana", "ben"):
        for number in range(upkeep.DRY_LINES + 2 if user == "ana" else 1):
            run("record", "user", "I live in Lyon", "--user", user, "--conversation", f"c{number:02}")
    found = ask("tend", "--dry-run", **READY)
    assert found["waiting"]["conversations_to_mine"] == upkeep.DRY_LINES + 3
    mine = [step for step in found["planned"] if step["chore"] == "mine"]
    assert len(mine) == upkeep.DRY_LINES + 3
    assert mine[0] == {
        "user": "ana",
        "chore": "mine",
        "action": "mine",
        "kind": "conversation",
        "id": mine[0]["id"],
        "why": "1 turns are not mined",
    }
    done = run("tend", "--dry-run", **READY)
    assert done.stdout.count("mine\tana\tmine\tconversation\t") == upkeep.DRY_LINES
    assert "mine: 3 more; --json shows all of them." in done.stderr
    only = ask("tend", "--dry-run", "--user", "ben", **READY)["planned"]
    assert {step["user"] for step in only} == {"ben"}
    assert "Lyon" not in done.stdout
    assert ask("stats", "--user", "ana")["counts"].get("fact") is None, "nothing was done"


@pytest.mark.parametrize(
    "words", [("--dry-run", "--retry"), ("--once", "--forever"), ("--forever", "--dry-run")]
)
def test_what_does_not_go_together(words: tuple[str, ...]) -> None:
    failure("tend", *words, code=2)


def test_a_worker_survives_a_round_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    run("record", "user", "tea", **LATER)
    rounds: list[int] = []
    tend = Memory.tend

    def failing(memory: Memory, progress: Any = None) -> Any:
        rounds.append(len(rounds))
        if len(rounds) == 1:
            raise StoreUnavailable("The server is away.")
        os.kill(os.getpid(), signal.SIGTERM)  # asked to end in the middle of it
        memory._stopping.clear()
        return tend(memory, progress)

    monkeypatch.setattr(Memory, "tend", failing)
    done = run("tend", "--forever", RECOLLECT_TEND_SECONDS="0.01")
    assert "This round failed, the next one follows: The server is away." in done.stderr
    assert "embed\t1\t" in done.stdout, "what was begun was finished"
    assert rounds == [0, 1]


def test_two_workers_share_the_work() -> None:
    for number in range(6):
        run("record", "user", "I live in Lyon", "--user", f"user-{number}", **LATER)
    program = [sys.executable, "-m", "recollect", "tend", "--json"]
    workers = [
        subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=environment(**READY))
        for _ in range(2)
    ]
    assert [(worker.communicate()[0] != "", worker.returncode) for worker in workers] == [(True, 0)] * 2
    found = ask("stats")
    assert found["daily"]["tended: mine"][-1] == 6, "each was mined once"
    assert found["rows"]["chunks_waiting_for_a_vector"] == 0
