"""The quality benchmarks on data of our own making: metrics by example, and what an earlier run saves."""

import gzip
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console
from typer.testing import CliRunner

from recollect import ScopedMemory
from recollect.bench import command
from recollect.bench.quality import ablation, datasets, report, run
from recollect.bench.quality.cache import CachingEmbedder
from recollect.bench.quality.retrieve import retrieve
from recollect.bench.quality.score import interval, ranking
from recollect.errors import Invalid
from recollect.models.hashing import HashingEmbedder
from recollect.recall.techniques import TECHNIQUES

SUBJECTS = ("kiln", "harbour", "violin", "orchard", "glacier", "lantern", "beehive", "compass")


def lme_item(number: int, **changed: Any) -> dict[str, Any]:
    """A question with the one session that answers it."""
    subject = SUBJECTS[number % len(SUBJECTS)]
    turns = [
        {"role": "user", "content": f"My {subject} has the number {number}.", "has_answer": True},
        {"role": "assistant", "content": "I will keep that in mind."},
        {"role": "user", "content": " "},
    ]
    return {
        "question_id": f"q{number}",
        "question_type": "odd" if number % 2 else "even",
        "question": f"What is the number of my {subject}?",
        "answer": number,
        "question_date": "2024/05/30 (Thu) 10:00",
        "haystack_dates": ["2024/05/20 (Mon) 02:21"],
        "haystack_session_ids": [f"s{number}"],
        "haystack_sessions": [turns],
        "answer_session_ids": [f"s{number}"],
        **changed,
    }


def locomo_item() -> dict[str, Any]:
    talk = {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I planted a quince."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Look at this.", "blip_caption": "a red kite"},
        ],
        "session_2_date_time": "12:05 am on 9 May, 2023",
        "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "My quince died in the frost."}],
    }
    questions = [
        {"question": "What did Ada plant?", "answer": "", "evidence": ["D1:1; D2:1"], "category": 1},
        {"question": "What did Ben show?", "answer": "", "evidence": ["D1:2"], "category": 4},
        {"question": "Is there none?", "answer": "", "evidence": ["D9:9"], "category": 2},
        {"question": "What did Ben plant?", "answer": "", "evidence": ["D1:1"], "category": 5},
    ]
    return {"sample_id": "conv-1", "conversation": talk, "qa": questions}


@pytest.fixture
def lme(tmp_path: Path) -> Path:
    path = tmp_path / "lme.json"
    items = [*(lme_item(n) for n in range(8)), lme_item(8, question_id="q8_abs")]
    path.write_text(json.dumps(items))
    return path


@pytest.fixture
def plan(tmp_path: Path) -> run.Plan:
    return run.Plan(cache=tmp_path / "cache", db=str(tmp_path / "stores"), embedder="hashing", top_k=10)


def silent(name: str, total: int) -> Any:
    return lambda count: None


# Metrics


def test_any_and_all_by_example() -> None:
    figures = ranking(["x", "a", "y", "b"], {"a", "b"})
    assert [figures[f"any@{k}"] for k in (1, 3, 5)] == [0, 1, 1]
    assert [figures[f"all@{k}"] for k in (1, 3, 5)] == [0, 0, 1]
    assert figures["mrr"] == 1 / 2
    gain, ideal = 1 / np.log2(3) + 1 / np.log2(5), 1 + 1 / np.log2(3)
    assert figures["ndcg@10"] == pytest.approx(gain / ideal)


def test_what_is_not_found_counts_as_nothing() -> None:
    assert set(ranking(["x"], {"a"}).values()) == {0.0}
    assert ranking(["a"], {"a", "b"})["all@10"] == 0
    assert set(ranking(["a"], {"a"}).values()) == {1.0}


def test_the_interval_holds_the_mean_and_is_always_the_same() -> None:
    low, high = interval([1.0] * 80 + [0.0] * 20) or (0, 0)
    assert 0.7 < low < 0.8 < high < 0.9
    assert interval([1.0] * 80 + [0.0] * 20) == (low, high)
    assert interval([]) is None


# Data


def test_plain_and_gzipped_are_the_same(lme: Path) -> None:
    packed = lme.with_suffix(".json.gz")
    packed.write_bytes(gzip.compress(lme.read_bytes()))
    assert datasets.longmemeval(packed, "pool") == datasets.longmemeval(lme, "pool")


def test_pool_holds_every_session_and_no_abstention(lme: Path) -> None:
    data = datasets.longmemeval(lme, "pool")
    (person,) = data.people
    assert [session.id for session in person.sessions] == [f"s{n}" for n in range(9)]
    assert (len(person.questions), data.left_out) == (8, 1)
    assert person.questions[3].turns == {("s3", 0)}
    assert person.questions[3].at.isoformat() == "2024-05-30T10:00:00+00:00"


def test_distractors_are_drawn_the_same_each_time(lme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "SESSIONS", 4)
    first, again = (datasets.longmemeval(lme, "s48") for _ in range(2))
    assert first == again
    assert [len(person.sessions) for person in first.people] == [4] * 8
    for person in first.people:
        (question,) = person.questions
        assert question.sessions <= {session.id for session in person.sessions}
    assert len({tuple(s.id for s in person.sessions[1:]) for person in first.people}) > 1
    monkeypatch.setattr(datasets, "SEED", 8)
    assert datasets.longmemeval(lme, "s48") != first


def test_locomo_reads_evidence_however_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([locomo_item()]))
    data = datasets.locomo(path)
    (person,) = data.people
    first, second = person.questions
    assert first.turns == {("session-1", 0), ("session-2", 0)}
    assert second.turns == {("session-1", 1)}
    assert (first.type, second.type, data.left_out) == ("multi-hop", "single-hop", 2)
    assert person.sessions[0].turns[1].content == "Ben: Look at this. [a red kite]"
    assert first.at == person.sessions[1].at


@pytest.mark.parametrize("content", ["", "{}", "[1]", '[{"question_id": "a"}]', "\x1f\x8b broken"])
def test_a_file_of_another_format_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(Invalid, match=r"other\.json"):
        datasets.longmemeval(path, "pool")


def test_a_smoke_run_asks_ten_from_all_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(json.dumps([lme_item(n) for n in range(25)]))
    data = datasets.longmemeval(path, "pool", smoke=True)
    assert [q.id for _, q in data.questions] == [f"q{n}" for n in (0, 2, 5, 7, 10, 12, 15, 17, 20, 22)]
    assert len(data.people[0].sessions) == 10


# Vectors


class Counting(HashingEmbedder):
    """Notes what it had to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return super().embed_passages(texts)


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    inner = Counting()
    with CachingEmbedder(inner, tmp_path) as cache:
        first = cache.embed_passages(["a kiln", "a violin", "a kiln"])
        assert inner.texts == ["a kiln", "a violin"]
    with CachingEmbedder(inner, tmp_path) as cache:
        again = cache.embed_passages(["a kiln", "a harbour"])
        assert (inner.texts[2:], cache.computed) == (["a harbour"], 1)
        assert (again[0] == first[0]).all()
        cache.embed_query("a kiln")  # a query is not a passage
        cache.embed_query("a kiln")
        assert (inner.texts[3:], cache.computed) == (["a kiln"], 2)
        assert cache.embed_passages([]).shape == (0, 384)


# Steps


@pytest.mark.parametrize("setting", ["s48", "pool"])
def test_the_whole_run(lme: Path, plan: run.Plan, setting: datasets.Setting) -> None:
    result = run.run(datasets.longmemeval(lme, setting), plan, silent)
    assert json.loads(json.dumps(result))["session"]["any@1"] == 1
    assert (result["questions"], result["abstention_left_out"]) == (8, 1)
    assert result["turn"]["any@1"] == 1
    assert {name: row["session"]["questions"] for name, row in result["by_type"].items()} == {
        "even": 4,
        "odd": 4,
    }
    assert result["interval"]["session any@5"] == (1, 1)
    assert result["latency_ms"]["p50"] > 0


def test_a_second_run_records_and_embeds_nothing(
    lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = datasets.longmemeval(lme, "pool")
    first = run.run(data, plan, silent)
    monkeypatch.setattr(ScopedMemory, "record_many", None)
    monkeypatch.setattr(HashingEmbedder, "embed_passages", None)
    again = run.run(data, plan, silent)
    assert (first["settings"]["embedded"], again["settings"]["embedded"]) == (9 + 1 + 8, 0)
    assert {**again, "settings": {}} == {**first, "settings": {}}


def test_a_run_killed_while_it_records_goes_on(
    lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = datasets.longmemeval(lme, "s48")
    users: list[str] = []
    record = ScopedMemory.record_many

    def dying(self: ScopedMemory, messages: Any, **options: Any) -> Any:
        users.append(self.scope.user)
        if len(users) == 4:
            record(self, messages[:5], **options)
            raise KeyboardInterrupt
        return record(self, messages, **options)

    monkeypatch.setattr(ScopedMemory, "record_many", dying)
    with pytest.raises(KeyboardInterrupt):
        run.run(data, plan, silent)
    assert run.run(data, plan, silent)["session"]["any@1"] == 1
    assert len(users) == 4 + 5
    assert users[3] == users[4]


def test_a_run_killed_while_it_asks_goes_on(
    lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = datasets.longmemeval(lme, "pool")
    asked: list[str] = []
    recall = ScopedMemory.recall

    def dying(self: ScopedMemory, query: str, **options: Any) -> Any:
        asked.append(query)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return recall(self, query, **options)

    monkeypatch.setattr(ScopedMemory, "recall", dying)
    with pytest.raises(KeyboardInterrupt):
        run.run(data, plan, silent)
    (answers,) = (plan.cache / "answers").iterdir()
    with answers.open("a") as file:
        file.write('{"user": "every')  # half a line, as a killed process leaves it
    assert run.run(data, plan, silent)["session"]["any@1"] == 1
    assert len(asked) == 4 + 5


def test_other_settings_take_another_store(lme: Path, plan: run.Plan, tmp_path: Path) -> None:
    for smoke in (False, True):
        data = datasets.longmemeval(lme, "pool", smoke)
        made = run.run(data, replace(plan, smoke=smoke, until="ingest"), silent)
        assert made["recorded"] == (16 if smoke else 18)
    assert len([*(tmp_path / "stores").glob("*.db")]) == 2


def test_another_store_is_asked_itself(lme: Path, plan: run.Plan, tmp_path: Path) -> None:
    data = datasets.longmemeval(lme, "pool")
    for folder in ("stores", "others"):
        run.run(data, replace(plan, db=str(tmp_path / folder)), silent)
    assert len([*(plan.cache / "answers").iterdir()]) == 2


def test_other_code_asks_again(lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def noting(*given: Any, **asking: Any) -> Any:
        asked.append(given[4])
        return retrieve(*given, **asking)

    monkeypatch.setattr(run, "retrieve", noting)
    data = datasets.longmemeval(lme, "pool")
    run.run(data, plan, silent)
    monkeypatch.setattr(run, "PACKAGE", lme.parent)
    run.run(data, plan, silent)
    assert len(set(asked)) == 2


# The commands


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(command.app, [str(argument) for argument in arguments])


def test_the_commands_answer_with_json_or_a_table(tmp_path: Path, lme: Path) -> None:
    talk = tmp_path / "locomo.json"
    talk.write_text(json.dumps([locomo_item()]))
    shared = ("--cache", tmp_path / "cache", "--embedder", "hashing")
    for told in (("longmemeval", lme, "--setting", "pool"), ("locomo", talk)):
        done = invoke(*told, *shared, "--json")
        assert done.exit_code == 0
        assert json.loads(done.stdout)["session"]["any@5"] == 1
        shown = invoke(*told, *shared)
        assert "any@5" in shown.stdout
        assert "95 % between" in shown.stdout
    assert (tmp_path / "cache" / "stores").is_dir()


def test_a_step_can_be_the_last(tmp_path: Path, lme: Path) -> None:
    shared = ("longmemeval", lme, "--cache", tmp_path / "cache", "--embedder", "hashing")
    assert json.loads(invoke(*shared, "--until", "ingest").stdout)["recorded"] == 8 * 18
    answers = Path(json.loads(invoke(*shared, "--until", "retrieve").stdout)["answers"])
    assert len(answers.read_text().splitlines()) == 8


def test_without_matplotlib_there_is_no_picture(
    lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    result = run.run(datasets.longmemeval(lme, "pool"), plan, silent)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not report.plot(result, tmp_path / "picture.png")


def test_with_matplotlib_there_is_one(lme: Path, plan: run.Plan, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = run.run(datasets.longmemeval(lme, "pool"), plan, silent)
    assert report.plot(result, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_each_technique_is_switched_the_other_way(lme: Path, plan: run.Plan) -> None:
    result = ablation.ablated(datasets.longmemeval(lme, "pool"), plan, silent)
    first, *rows = result["rows"]
    assert {row["technique"] for row in rows} | {*result["unmeasured"]} == {*TECHNIQUES}
    assert {row["switched"] for row in rows} == {"on", "off"}
    assert first.keys() == rows[0].keys() > {"session any@5", "session all@5", "p50_ms"}
    without_words = next(row for row in rows if row["technique"] == "words")
    assert without_words["session any@5"] <= first["session any@5"]
    told = Console(record=True, width=120)
    ablation.show(told, result)
    assert "recency" in told.export_text()
