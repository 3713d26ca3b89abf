"""Answers by a language model and their judging, on data of our own making, over real HTTP."""

import json
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recollect.bench import command
from recollect.bench.quality import datasets, qa, run
from recollect.errors import ModelError, SettingsError
from recollect.testing.openai_answers import Body
from recollect.testing.openai_server import OpenAIServer, Status
from tests.unit.test_bench_quality import lme_item, locomo_item, silent

pytest.importorskip("openai")


class Examined:
    """A chat model that answers with the numbers it reads, and a judge that looks for the answer's."""

    def __init__(self) -> None:
        self.asked: list[Body] = []
        self.lock = threading.Lock()
        self.before: dict[int, Callable[[], None]] = {}
        """What to do before so many answers."""

    def __call__(self, body: Body) -> str:
        with self.lock:
            self.asked.append(body)
            self.before.pop(len(self.asked), lambda: None)()
        system, user = (message["content"] for message in body["messages"])
        if system != qa.ANSWERING:
            given = json.loads(user)
            if "right answer" in given:
                return "Yes." if f" {given['right answer']}." in given["response"] else "no"
            return "yes" if "do not know" in given["response"] else "no"
        subject = user.rstrip("?").split()[-1]
        remembered = [line for line in user.splitlines() if f"My {subject} has" in line]
        return remembered[0].split("]")[-1] if remembered else "I do not know."

    def about(self, judging: bool) -> list[Body]:
        return [body for body in self.asked if (body["messages"][0]["content"] != qa.ANSWERING) == judging]


@pytest.fixture
def chat() -> Examined:
    return Examined()


@pytest.fixture
def server(chat: Examined, monkeypatch: pytest.MonkeyPatch) -> Generator[OpenAIServer]:
    with OpenAIServer(chat=chat) as running:
        monkeypatch.setenv("RECOLLECT_MODEL", running.base_url)
        monkeypatch.setenv("RECOLLECT_MODEL_NAME", "a-model")
        yield running


@pytest.fixture
def lme(tmp_path: Path) -> Path:
    """Four questions that can be answered, one with a wrong answer, and one about what was never said."""
    path = tmp_path / "lme.json"
    unknown = lme_item(
        5, question_id="q5_abs", answer="No otter was mentioned.", question="How old is my otter?"
    )
    items = [*(lme_item(n) for n in range(4)), lme_item(4, answer=77), unknown]
    path.write_text(json.dumps(items))
    return path


def plan(tmp_path: Path, **options: Any) -> run.Plan:
    given: dict[str, Any] = {"embedder": "hashing", "top_k": 10, "until": "judge", **options}
    return run.Plan(cache=tmp_path / "cache", db=str(tmp_path / "stores"), **given)


@pytest.mark.parametrize("setting", ["s48", "pool"])
def test_answers_are_judged_overall_and_by_type(
    lme: Path, tmp_path: Path, server: OpenAIServer, chat: Examined, setting: datasets.Setting
) -> None:
    result = run.run(datasets.longmemeval(lme, setting), plan(tmp_path), silent)
    assert json.loads(json.dumps(result))["session"]["any@5"] == 1
    assert (result["questions"], result["abstention_left_out"]) == (5, 1)
    found = result["qa"]
    assert (found["model"], found["judge"], found["answered"]) == ("a-model", "a-model", 6)
    assert (found["questions"], found["accuracy"]) == (6, round(5 / 6, 4))
    assert found["abstention"] == {"questions": 1, "accuracy": 1.0}
    assert found["by_type"] == {
        "even": {"questions": 3, "accuracy": round(2 / 3, 4)},
        "odd": {"questions": 3, "accuracy": 1.0},
    }
    assert found["mean_of_types"] == round((1 + 2 / 3) / 2, 4)
    assert found["tokens"]["answer"]["prompt"] > found["tokens"]["answer"]["completion"] > 0
    assert found["tokens"]["judge"]["completion"] == 6
    assert (len(chat.about(judging=False)), len(chat.about(judging=True))) == (6, 6)


def test_every_step_is_in_a_file(lme: Path, tmp_path: Path, server: OpenAIServer) -> None:
    result = run.run(datasets.longmemeval(lme, "pool"), plan(tmp_path), silent)
    paths = result["answers"], result["qa"]["answers"], result["qa"]["verdicts"]
    found, said, judged = (
        {line["question"]: line for line in map(json.loads, Path(path).read_text("utf-8").splitlines())}
        for path in paths
    )
    assert found.keys() == said.keys() == judged.keys() == {"q0", "q1", "q2", "q3", "q4", "q5_abs"}
    assert "My harbour has the number 1." in found["q1"]["context"]
    assert said["q1"]["answer"] == "My harbour has the number 1."
    assert (judged["q1"]["right"], judged["q4"]["right"], judged["q1"]["verdict"]) == (True, False, "Yes.")


def test_a_second_run_asks_nobody(lme: Path, tmp_path: Path, server: OpenAIServer) -> None:
    data = datasets.longmemeval(lme, "s48")
    answered = run.run(data, plan(tmp_path, until="answer"), silent)
    assert answered["qa"]["answered"] == len(server.requests) == 6
    assert "accuracy" not in answered["qa"]
    first = run.run(data, plan(tmp_path), silent)
    assert len(server.requests) == 12
    assert run.run(data, plan(tmp_path), silent)["qa"] == first["qa"]
    assert len(server.requests) == 12
    other = run.run(data, plan(tmp_path, judge="another"), silent)
    assert len(server.requests) == 18
    assert {request.body["model"] for request in server.requests[12:]} == {"another"}
    assert (other["qa"]["model"], other["qa"]["judge"]) == ("a-model", "another")
    run.run(data, plan(tmp_path, model="third", until="answer"), silent)
    assert len(server.requests) == 24


def test_what_was_answered_before_a_failure_is_kept(
    lme: Path, tmp_path: Path, server: OpenAIServer, chat: Examined, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qa, "AT_ONCE", 1)
    data = datasets.longmemeval(lme, "pool")
    run.run(data, plan(tmp_path, until="score"), silent)
    chat.before[4] = lambda: server.script(Status(401))  # for the next one
    with pytest.raises(ModelError, match="status 401"):
        run.run(data, plan(tmp_path), silent)
    (said,) = (tmp_path / "cache" / "answers").glob("*.said.jsonl")
    kept = len(said.read_text("utf-8").splitlines())
    assert kept == len(chat.asked) >= 4
    with said.open("a") as file:
        file.write('{"user": "every')  # half a line, as a killed process leaves it
    assert run.run(data, plan(tmp_path), silent)["qa"]["accuracy"] == round(5 / 6, 4)
    assert len(chat.about(judging=False)) == 6


def test_without_a_model_it_says_so_before_anything_is_done(
    lme: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECOLLECT_MODEL", raising=False)
    with pytest.raises(SettingsError, match="RECOLLECT_MODEL"):
        run.run(datasets.longmemeval(lme, "pool"), plan(tmp_path), silent)
    assert not (tmp_path / "stores").exists()


def test_questions_without_an_answer_change_no_figure_of_retrieval(
    lme: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    data = datasets.longmemeval(lme, "s48")
    plain = run.run(data, plan(tmp_path / "a", until="score"), silent)
    judged = run.run(data, plan(tmp_path / "b"), silent)
    for name in ("questions", "session", "turn", "by_type", "interval"):
        assert plain[name] == judged[name]


def test_locomo_asks_the_fifth_category_as_well(tmp_path: Path) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([locomo_item()]))
    data = datasets.locomo(path)
    (person,) = data.with_abstaining().people
    *_, last = person.questions
    assert (len(person.questions), len(data.people[0].questions)) == (3, 2)
    assert (last.text, last.type, last.abstention) == ("What did Ben plant?", "adversarial", True)


@pytest.mark.parametrize("setting", ["s48", "pool"])
def test_a_smoke_run_has_some_without_an_answer(
    tmp_path: Path, server: OpenAIServer, setting: datasets.Setting
) -> None:
    path = tmp_path / "long.json"
    unknown = [lme_item(n, question_id=f"q{n}_abs", question="How old is my otter?") for n in range(25, 30)]
    path.write_text(json.dumps([*(lme_item(n) for n in range(25)), *unknown]))
    data = datasets.longmemeval(path, setting, smoke=True)
    result = run.run(data, plan(tmp_path, smoke=True), silent)["qa"]
    assert (result["questions"], result["abstention"]) == (12, {"questions": 2, "accuracy": 1.0})


@pytest.mark.parametrize(
    ("type", "abstention", "words"),
    [
        ("single-session-user", False, "equivalent"),
        ("temporal-reasoning", False, "off by one"),
        ("knowledge-update", False, "what was true before"),
        ("single-session-preference", False, "need not meet every point"),
        ("temporal-reasoning", True, "cannot be answered"),
    ],
)
def test_the_judge_is_told_what_counts(
    tmp_path: Path, server: OpenAIServer, chat: Examined, type: str, abstention: bool, words: str
) -> None:
    path = tmp_path / "one.json"
    item = lme_item(1, question_type=type, **({"question_id": "q1_abs"} if abstention else {}))
    path.write_text(json.dumps([lme_item(0), item]))
    run.run(datasets.longmemeval(path, "pool"), plan(tmp_path), silent)
    told = [body["messages"][0]["content"] for body in chat.about(judging=True)]
    assert any(words in system for system in told)


@pytest.mark.parametrize(
    ("verdict", "right"),
    [("yes", True), ("Yes.", True), ("**Yes**", True), ("no", False), ("No, not yes", False), ("Hm", False)],
)
def test_verdicts(verdict: str, right: bool) -> None:
    assert qa.says_yes(verdict) is right


def test_the_command_shows_it(lme: Path, tmp_path: Path, server: OpenAIServer) -> None:
    shared = ("longmemeval", lme, "--cache", tmp_path / "cache", "--embedder", "hashing")

    def invoke(*options: str) -> str:
        done = CliRunner().invoke(command.app, [str(given) for given in (*shared, *options)])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "a-model answered 6 questions" in invoke("--until", "answer")
    shown = invoke("--until", "judge", "--judge", "a-judge")
    assert "Answers of a-model, judged by a-judge" in shown
    assert "what is not known" in shown
    assert "Tokens to judge" in shown
    assert json.loads(invoke("--until", "judge", "--json"))["qa"]["questions"] == 6
