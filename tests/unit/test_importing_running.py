"""Importing: once however often it is done, whatever is in the file, and told what was left out."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Entity, Fact, Invalid, Memory, NotFound, QuotaExceeded, ScopedMemory
from recollect.importing import SOURCES, Report, import_from
from recollect.importing.items import TOO_LONG
from recollect.importing.running import ELSEWHERE, TAKEN
from recollect.importing.shelf import ANOTHERS, BACKWARDS, EXPIRED, FORGOTTEN, NOT_ASKED_FOR, TWICE
from recollect.testing.store_samples import ManualClock
from tests.unit.importing import chatgpt, graph, node, palace, written
from tests.unit.support import OpenMemory


def facts_of(memory: ScopedMemory) -> list[Fact]:
    return [fact for fact in memory.list("fact") if isinstance(fact, Fact)]


def entities_of(memory: ScopedMemory) -> list[Entity]:
    return [entity for entity in memory.list("entity") if isinstance(entity, Entity)]


def counted(report: Report) -> tuple[dict[str, int], int, int, dict[str, int]]:
    skipped = {one.reason: one.count for one in report.skipped}
    return dict(report.imported), report.corrected, report.unchanged, skipped


def memory_of(id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "memory": text, "created_at": "2024-05-01T10:00:00Z", **more}


def talk(id: str, *words: str) -> dict[str, Any]:
    nodes = [
        node(str(n), str(n - 1) if n else "root", ("user", "assistant")[n % 2], text, at=1_700_000_000 + n)
        for n, text in enumerate(words)
    ]
    return chatgpt(id, *nodes, title=f"About {id}")


def test_conversations_with_their_times_and_titles(derek: ScopedMemory, tmp_path: Path) -> None:
    file = written(tmp_path / "a.json", [talk("c1", "Where to?", "Lisbon"), talk("c2", "Hi")])
    done: list[int] = []
    report = import_from(derek, "auto", file, progress=done.append)
    assert counted(report) == ({"turn": 3}, 0, 0, {})
    assert (report.source, report.total, done) == ("chatgpt", 3, [3])
    turns = derek.conversation("chatgpt:c1")
    assert [(turn.role, turn.content) for turn in turns] == [("user", "Where to?"), ("assistant", "Lisbon")]
    assert turns[0].at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert [one.title for one in derek.conversations()] == ["About c1", "About c2"]
    assert counted(import_from(derek, "chatgpt", file)) == ({}, 0, 3, {})
    written(file, [talk("c1", "Where to?", "Lisbon", "Thanks"), talk("c2", "Hi")])
    assert counted(import_from(derek, "chatgpt", file)) == ({"turn": 1}, 0, 3, {})


def test_another_branch_than_was_imported_is_told_and_changes_nothing(
    derek: ScopedMemory, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.json", [talk("c1", "Where to?", "Lisbon")])
    import_from(derek, "chatgpt", file)
    written(file, [talk("c1", "Where to?", "Rome", "Thanks")])
    assert counted(import_from(derek, "chatgpt", file)) == ({"turn": 1}, 0, 1, {TAKEN: 1})
    assert [turn.content for turn in derek.conversation("chatgpt:c1")] == ["Where to?", "Lisbon", "Thanks"]


def test_memories_are_known_again_by_their_id(
    derek: ScopedMemory, tmp_path: Path, clock: ManualClock
) -> None:
    first = [memory_of("1", "Likes tea", updated_at=None), memory_of("2", "Lives in Rome")]
    file = written(tmp_path / "a.json", first)
    assert counted(import_from(derek, "mem0", file)) == ({"fact": 2}, 0, 0, {})
    stored = facts_of(derek)
    assert {fact.valid_from for fact in stored} == {datetime(2024, 5, 1, 10, tzinfo=UTC)}
    assert derek.recall("tea").hits[0].content == "Likes tea"
    assert counted(import_from(derek, "mem0", file)) == ({}, 0, 2, {})
    clock.advance(days=1)
    changed = memory_of("2", "Lives in Lisbon", updated_at="2024-06-01T00:00:00Z")
    written(file, [memory_of("1", "Likes tea"), changed, memory_of("3", "Has a dog")])
    assert counted(import_from(derek, "mem0", file)) == ({"fact": 1}, 1, 1, {})
    assert counted(import_from(derek, "mem0", file)) == ({}, 0, 3, {})
    was = derek.recall("Where do I live", as_of=datetime(2024, 5, 15, tzinfo=UTC), kinds=["fact"])
    assert "Lives in Rome" in [hit.content for hit in was.hits]
    now = [hit.content for hit in derek.recall("Lives in", kinds=["fact"]).hits]
    assert "Lives in Lisbon" in now
    assert "Lives in Rome" not in now
    written(file, first)  # an old export undoes nothing
    assert counted(import_from(derek, "mem0", file)) == ({}, 0, 2, {})


def test_what_was_corrected_or_forgotten_here_stays_so(derek: ScopedMemory, tmp_path: Path) -> None:
    file = written(tmp_path / "a.json", [memory_of("1", "Likes tea"), memory_of("2", "Lives in Rome")])
    import_from(derek, "mem0", file)
    facts = {fact.content: fact.id for fact in facts_of(derek)}
    derek.correct(facts["Likes tea"], "Likes coffee")
    derek.forget(facts["Lives in Rome"])
    assert counted(import_from(derek, "mem0", file)) == ({}, 0, 1, {FORGOTTEN: 1})
    derek.forget(conversation="import:mem0")  # which undoes the import
    assert [fact.content for fact in facts_of(derek)] == ["Likes coffee"]


def test_a_memory_that_went_to_another_channel_is_not_brought_twice(memory: Memory, tmp_path: Path) -> None:
    file = written(tmp_path / "a.json", [memory_of("1", "Likes tea")])
    assert import_from(memory.scope("derek", "work"), "mem0", file).total == 1
    (fact,) = facts_of(memory.scope("derek", "work"))
    memory.scope("derek", "work").promote(fact.id)
    assert import_from(memory.scope("derek", "home"), "mem0", file).unchanged == 1
    written(file, [memory_of("1", "Likes milk")])
    report = import_from(memory.scope("derek", "home"), "mem0", file)
    assert report.corrected + sum(one.count for one in report.skipped) == 1
    assert import_from(memory.scope("derek", "work"), "mem0", file).total == 0


def test_each_channel_may_import_the_same_memories(memory: Memory, tmp_path: Path) -> None:
    file = written(tmp_path / "a.json", [memory_of("1", "Likes tea")])
    work, home = memory.scope("derek", "work"), memory.scope("derek", "home")
    assert [import_from(one, "mem0", file).total for one in (work, home, work, home)] == [1, 1, 0, 0]
    written(file, [memory_of("1", "Likes milk")])
    assert import_from(home, "mem0", file).corrected == 1
    assert [fact.content for fact in facts_of(work) if fact.channel == "work"] == ["Likes tea"]
    assert import_from(work, "mem0", file).corrected == 1


def test_a_conversation_is_in_one_channel(memory: Memory, tmp_path: Path) -> None:
    file = written(tmp_path / "b.json", [talk("c", "Hi", "Ho")])
    import_from(memory.scope("derek", "work"), "chatgpt", file)
    told = ({}, 0, 0, {ELSEWHERE: 2})
    assert counted(import_from(memory.scope("derek", "home"), "chatgpt", file)) == told


def test_only_one_users_memories_are_taken(derek: ScopedMemory, tmp_path: Path) -> None:
    mixed = [memory_of("1", "a", user_id="ann"), memory_of("2", "b", user_id="ben"), memory_of("3", "c")]
    file = written(tmp_path / "a.json", mixed)
    assert counted(import_from(derek, "mem0", file, dry_run=True)) == ({"fact": 2}, 0, 0, {ANOTHERS: 1})
    assert counted(import_from(derek, "mem0", file, of="ben")) == ({"fact": 2}, 0, 0, {NOT_ASKED_FOR: 1})
    assert sorted(fact.content for fact in facts_of(derek)) == ["b", "c"]


def test_a_dry_run_tells_the_same_and_writes_nothing(derek: ScopedMemory, tmp_path: Path) -> None:
    memories = written(tmp_path / "a.json", [memory_of("1", "Likes tea"), memory_of("1", "Likes coffee")])
    talks = written(tmp_path / "b.json", [talk("c1", "Hi", "Ho")])
    for source, file in (("mem0", memories), ("chatgpt", talks)):
        dry = import_from(derek, source, file, dry_run=True)
        assert derek.counts().get("fact", 0) == 0 if source == "mem0" else "conversation" in derek.counts()
        real = import_from(derek, source, file)
        assert counted(dry) == counted(real)
        assert (dry.dry_run, real.dry_run) == (True, False)


def test_what_does_not_fit_is_left_out_alone(
    open_memory: OpenMemory, tmp_path: Path, clock: ManualClock
) -> None:
    mine = open_memory(content_limit=2000, metadata_limit=300).scope("derek")
    soon = (clock.now() - timedelta(days=1)).isoformat()
    given = [
        memory_of("1", "x" * 2001),
        memory_of("2", "fits"),
        memory_of("3", "expired", expiration_date=soon),
        memory_of("4", "much metadata", metadata={"a": "x" * 500}),
        memory_of("5", "nan", metadata={"a": float("nan")}),
        memory_of("2", "again"),
        memory_of("6" * 400, "a long id"),
    ]
    report = import_from(mine, "mem0", written(tmp_path / "a.json", given))
    assert counted(report) == (
        {"fact": 3},
        0,
        0,
        {TOO_LONG: 1, EXPIRED: 1, TWICE: 1, "it cannot be stored as it is": 1},
    )
    assert report.skipped[0].first == ("a.json, item 1",)
    stored = {fact.content: fact.metadata for fact in facts_of(mine)}
    assert stored["nan"] == {**stored["much metadata"], "imported": {"from": "mem0", "id": "5"}}
    long = [talk("c1", "y" * 2001, "fine"), {**talk("c2", "hi"), "title": "t" * 20_000}]
    report = import_from(mine, "chatgpt", written(tmp_path / "b.json", long))
    assert counted(report) == ({"turn": 2}, 0, 0, {TOO_LONG: 1})


def test_facts_of_a_graph_hold_from_and_until(derek: ScopedMemory, tmp_path: Path) -> None:
    folder = palace(tmp_path / "palace", d1={"document": "Max loves chess", "filed_at": "nonsense"})
    graph(
        folder,
        ("Max", "child_of", "Alice", "2015-04-01", None, 0.9),
        ("Max", "does", "swimming", "2025-01-01", "2025-06-30", 1.0),
        ("Max", "does", "judo", "2025-01-01", "2024-06-30", 1.0),
    )
    assert counted(import_from(derek, "mempalace", folder)) == ({"fact": 3}, 0, 0, {BACKWARDS: 1})
    names = {entity.id: entity.name for entity in entities_of(derek)}
    (swims,) = [fact for fact in facts_of(derek) if fact.content == "Max does swimming"]
    assert [names[id] for id in swims.about] == ["Max", "swimming"]
    assert counted(import_from(derek, "mempalace", folder)) == ({}, 0, 3, {BACKWARDS: 1})


def test_notes_that_were_edited_are_corrected(derek: ScopedMemory, tmp_path: Path) -> None:
    note = tmp_path / "garden.md"
    note.write_text("# Roses\nRed.\n# Tulips\nNone.\n")
    assert counted(import_from(derek, "auto", tmp_path / "garden.md")) == ({"fact": 2}, 0, 0, {})
    note.write_text("# Roses\nBlue.\n# Tulips\nNone.\n# Oaks\nOne.\n")
    assert counted(import_from(derek, "markdown", note)) == ({"fact": 1}, 1, 1, {})
    assert counted(import_from(derek, "markdown", note)) == ({}, 0, 3, {})


def test_many_batches_and_going_on_after_a_failure(open_memory: OpenMemory, tmp_path: Path) -> None:
    mine = open_memory(batch_limit=7).scope("derek")
    file = written(tmp_path / "a.json", [memory_of(str(n), f"fact {n}") for n in range(50)])
    talks = written(
        tmp_path / "b.json", [talk(f"c{n}", *(f"word {n} {i}" for i in range(9))) for n in range(6)]
    )

    class Stopped(Exception):
        pass

    def stop(done: int) -> None:
        if done >= 20:
            raise Stopped

    for source, path, kind, total in (("mem0", file, "fact", 50), ("chatgpt", talks, "turn", 54)):
        with pytest.raises(Stopped):
            import_from(mine, source, path, progress=stop)
        report = import_from(mine, source, path)
        assert report.imported == {kind: total - 21}
        assert report.unchanged == 21
    assert mine.counts()["fact"] == 50
    assert mine.counts()["turn"] == 54 + 50  # the notes of the memories


def test_two_imports_of_the_same_at_once_bring_nothing_twice(open_memory: OpenMemory, tmp_path: Path) -> None:
    shared: Memory = open_memory(batch_limit=5)
    file = written(tmp_path / "a.json", [memory_of(str(n), f"fact {n}") for n in range(60)])
    reports: list[Report] = []
    together = threading.Barrier(2)

    def run() -> None:
        together.wait()
        reports.append(import_from(shared.scope("derek"), "mem0", file))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.scope("derek").counts()["fact"] == 60
    assert sum(report.total for report in reports) == 60
    assert sum(report.unchanged for report in reports) == 60


def test_two_imports_of_the_same_words_at_once_count_them_once(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    shared: Memory = open_memory(batch_limit=5)
    file = written(tmp_path / "b.json", [talk("c", *(f"word {n}" for n in range(60)))])
    reports: list[Report] = []
    together = threading.Barrier(4)

    def run() -> None:
        together.wait()
        reports.append(import_from(shared.scope("derek"), "chatgpt", file))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.scope("derek").counts()["turn"] == 60
    assert sum(report.total for report in reports) == 60
    assert sum(report.unchanged for report in reports) == 180


def test_a_quota_stops_it_and_more_room_lets_it_go_on(
    open_memory: OpenMemory, tmp_path: Path, path: Path
) -> None:
    file = written(tmp_path / "b.json", [talk("c", *(f"word {i}" for i in range(30)))])
    small = open_memory(batch_limit=10, retention="turn_quota=15")
    with pytest.raises(QuotaExceeded):
        import_from(small.scope("derek"), "chatgpt", file)
    small.close()
    assert import_from(open_memory().scope("derek"), "chatgpt", file).imported == {"turn": 20}


def test_a_conversation_may_be_named_for_messages(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(
        '{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Ho"}'
    )
    mine = memory.scope("derek", conversation="work")
    assert import_from(mine, "auto", tmp_path / "log.jsonl").total == 2
    assert len(mine.conversation("messages:work")) == 2


def test_what_cannot_be_imported_says_why(derek: ScopedMemory, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "own.jsonl").write_text('{"recollect": 1, "user": "a"}\n')
    (tmp_path / "empty.json").write_text("[]")
    with pytest.raises(Invalid, match="could be anything"):
        import_from(derek, "auto", tmp_path / "a.txt")
    with pytest.raises(Invalid, match="Recollect's own"):
        import_from(derek, "auto", tmp_path / "own.jsonl")
    with pytest.raises(Invalid, match="no source 'letta'"):
        import_from(derek, "letta", tmp_path / "a.txt")
    for source in set(SOURCES) - {"markdown", "mempalace"}:
        with pytest.raises(Invalid, match="nothing of"):
            import_from(derek, source, tmp_path / "empty.json")
    for source in (*SOURCES, "auto"):
        with pytest.raises(NotFound):
            import_from(derek, source, tmp_path / "nowhere")
    with pytest.raises(Invalid):
        import_from(derek, "mem0", tmp_path / "empty.json", progress=3)  # pyright: ignore[reportArgumentType]


ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.text(max_size=3) | st.integers(0, 3),
            "memory": st.text(max_size=20),
            "role": st.sampled_from(["user", "assistant", "x"]),
            "content": st.text(max_size=20),
            "created_at": st.sampled_from(["2024-01-01", 1.7e9, 1e18, "x", None, []]),
            "user_id": st.sampled_from(["a", "b"]) | st.none(),
            "metadata": st.dictionaries(st.text(max_size=3), st.text(max_size=3) | st.floats(), max_size=2),
        },
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_whatever_is_in_a_file_a_second_import_adds_nothing(
    memory: Memory, tmp_path: Path, names: Iterator[str], rows: list[dict[str, Any]]
) -> None:
    file = written(tmp_path / "a.json", rows)
    mine = memory.scope(next(names))
    for source in ("mem0", "messages"):
        try:
            first = import_from(mine, source, file)
        except Invalid:  # nothing could be taken of a file that is of the other
            continue
        before = mine.counts()
        again = import_from(mine, source, file)
        assert (again.total, again.corrected, mine.counts()) == (0, 0, before)
        assert again.unchanged == first.total + first.unchanged


@pytest.fixture
def names() -> Iterator[str]:
    return (f"somebody {n}" for n in range(10_000))
