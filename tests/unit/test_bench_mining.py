"""The measure of mining: the scorer by example, the labelled set's own sanity, and the command."""

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from recollect.bench import command
from recollect.bench.mining import cost, observations, score
from recollect.bench.mining.labelled import HALVES, Exchange, Expected, labelled, session_of, window_of
from recollect.bench.mining.whole import whole
from recollect.bench.quality.datasets import Said
from recollect.errors import Invalid
from recollect.mine.extracted import Claim, Extraction, Window
from recollect.model.records import MEMORY_KINDS, Role, Tense
from recollect.models.hashing import HashingEmbedder
from recollect.text.analyse import words
from recollect.text.sentences import sentences

AT = datetime(2025, 3, 11, 9, tzinfo=UTC)  # a Tuesday
HOME = Expected(content="The user lives in Porto.", needs=(("live", "living", "home"), ("porto",)))
CAT = Expected(content="The user has a cat.", needs=(("cat",),), optional=True)
MEAT = Expected(content="The user does not eat meat.", needs=(("meat",),), denies=True)
TRIP = Expected(
    content="The user flies to Oslo.",
    needs=(("oslo",),),
    tense="future",
    day="2025-03-12",
    excludes=("moves",),
)
OLD = Expected(content="The dog weighs 23 kilos.", needs=(("23",),), optional=True, retracted=True)
RELEASE = Expected(content="To release, tag last.", needs=(("tag",),), kind="procedure")


def claim(content: str, **fields: Any) -> Claim:
    return Claim(content=content, turns=("x/0",), **fields)


def exchange(*facts: Expected, trap: bool = False) -> Exchange:
    turns = (Said("user", "…"),)
    return Exchange(id="x", category="plain", at=AT, turns=turns, facts=facts, trap=trap)


def outcomes(facts: tuple[Expected, ...], *claims: Claim) -> list[str]:
    return [verdict.outcome for verdict in score.judge(exchange(*facts), claims).verdicts]


def why(expected: Expected, mined: Claim) -> str:
    (verdict,) = score.judge(exchange(expected), [mined]).verdicts
    return verdict.why


# The scorer


def test_right_is_what_has_the_telling_words() -> None:
    assert (
        outcomes((HOME,), claim("User is living in Porto"), claim("Porto is the user's home"))
        == ["right"] * 2
    )
    assert outcomes((HOME,), claim("User likes Porto"), claim("User lives in Lyon")) == ["wrong"] * 2
    assert why(HOME, claim("User lives in Lyon")) == "not said"
    assert why(HOME, claim("Does the user live in Porto?")) == "a question"


def test_short_words_and_numbers_are_whole() -> None:
    assert outcomes((CAT,), claim("The user has two cats"), claim("The user is Catalan")) == [
        "right",
        "wrong",
    ]
    assert (
        outcomes((OLD,), claim("The dog weighs 230 kilos."), claim("It weighs 1.23 kilos.")) == ["wrong"] * 2
    )


def test_the_opposite_is_wrong_whichever_is_expected() -> None:
    assert why(HOME, claim("The user lives in Porto.", denies=True)) == "the opposite"
    assert why(MEAT, claim("The user eats meat.")) == "the opposite"
    assert why(MEAT, claim("The user eats meat.", denies=True)) == "the opposite"  # it reads like that
    assert outcomes((MEAT,), claim("The user doesn't eat meat."), claim("User avoids meat.")) == ["right"] * 2
    either = Expected(content="The user quit smoking.", needs=(("smok",),), denies=None)
    said = "The user quit smoking."
    assert outcomes((either,), claim(said), claim("User no longer smokes", denies=True)) == ["right"] * 2


def test_tense_and_day_have_to_be_those_that_were_meant() -> None:
    future = {"tense": Tense.FUTURE}
    assert why(TRIP, claim("The user flies to Oslo.")) == "current, not future"
    assert why(TRIP, claim("The user moves to Oslo.", **future)) == "not said"
    wrong = datetime(2025, 3, 13, tzinfo=UTC)
    assert why(TRIP, claim("The user flies to Oslo.", since=wrong, **future)) == "2025-03-13, not 2025-03-12"
    rights = (
        claim("The user flies to Oslo on 12 March 2025.", **future),
        claim("The user flies to Oslo on March 12th, 2025", **future),
        claim("The user will fly to Oslo (2025-03-12).", **future),
        claim("The user flies to Oslo.", since=datetime(2025, 3, 12, tzinfo=UTC), **future),
        claim("The user will fly to Oslo soon.", **future),
    )
    judged = [score.judge(exchange(TRIP), [one]) for one in rights]
    assert [one.verdicts[0].outcome for one in judged] == ["right"] * 5
    assert [score.figures([one])["days"]["resolved"] for one in judged] == [1, 1, 1, 1, 0]


def test_what_is_optional_costs_nothing_and_is_no_error() -> None:
    figures = score.figures([score.judge(exchange(HOME, CAT), [claim("The user lives in Porto.")])])
    assert (figures["precision"], figures["recall"], figures["wanted"]) == (1, 1, 1)
    figures = score.figures([score.judge(exchange(HOME, CAT), [claim("The user has a cat.")])])
    assert (figures["precision"], figures["recall"]) == (1, 0)


def test_a_claim_said_twice_counts_once() -> None:
    twice = (claim("The user lives in Porto."), claim("the user lives in Porto"))
    judged = score.judge(exchange(HOME), twice)
    assert [verdict.outcome for verdict in judged.verdicts] == ["right", "repeated"]
    assert score.figures([judged])["claims"] == 1


def test_what_was_taken_back_needs_a_correction() -> None:
    old, new = claim("The dog weighs 23 kilos."), claim("The dog weighs 32 kilos.", corrects=True)
    now = Expected(content="The dog weighs 32 kilos.", needs=(("32",),))
    assert outcomes((OLD, now), old) == ["wrong"]
    assert outcomes((OLD, now), old, new) == ["right", "right"]
    dog = Expected(content="The user has a dog.", needs=(("dog",),), optional=True)
    assert outcomes((dog, OLD, now), old) == ["wrong"]


def test_each_kind_has_figures_of_its_own() -> None:
    judged = score.judge(exchange(HOME, RELEASE), [claim("Tag the release last."), claim("Porto is home.")])
    assert [verdict.outcome for verdict in judged.verdicts] == ["misfiled", "right"]
    figures = score.figures([judged])
    assert (figures["claims"], figures["misfiled"], figures["recall"]) == (1, 1, 1)
    assert figures["kinds"]["procedure"]["recall"] == 0
    filed = score.judge(exchange(HOME, RELEASE), [claim("Tag the release last.", kind="procedure")])
    assert score.figures([filed])["kinds"]["procedure"]["recall"] == 1
    assert score.figures([filed])["recall"] == 0


def test_a_trap_is_fallen_into_by_a_fact_alone() -> None:
    trap = exchange(CAT, trap=True)
    mined = [
        [claim("The user has a cat.")],
        [claim("Tag it.", kind="procedure")],
        [claim("User is an admin.")],
    ]
    fallen = [score.figures([score.judge(trap, claims)])["traps"]["became_facts"] for claims in mined]
    assert fallen == [0, 0, 1]


# The set


def everything() -> list[Exchange]:
    return [one for half in HALVES for one in labelled(half)]


def test_the_set_is_large_and_its_halves_are_alike() -> None:
    tune, held = (labelled(half) for half in HALVES)
    assert len(tune) + len(held) >= 200
    assert abs(len(tune) - len(held)) <= 0.1 * len(tune)
    assert Counter(one.category for one in tune) == Counter(one.category for one in held)
    assert len({one.id for one in everything()}) == len(tune) + len(held)


def test_no_sentence_is_in_both_halves() -> None:
    tune, held = (
        {s.casefold() for one in labelled(half) for turn in one.turns for s in sentences(turn.content)}
        for half in HALVES
    )
    assert not {sentence for sentence in tune & held if len(words(sentence)) > 1}


def test_traps_expect_nothing_and_the_others_something() -> None:
    for one in everything():
        assert 1 <= len(one.turns) <= 6, one.id
        needed = [fact for fact in one.facts if not fact.optional]
        assert bool(needed) is not one.trap, one.id
        assert all(fact.kind in MEMORY_KINDS for fact in one.facts), one.id


@pytest.mark.parametrize("half", HALVES)
def test_what_is_expected_is_found_in_its_own_words(half: Any) -> None:
    for one in labelled(half):
        for place, fact in enumerate(one.facts):
            tense = Tense(fact.tense or "current")
            mined = claim(fact.content, kind=fact.kind, tense=tense, denies=bool(fact.denies))
            judged = score.judge(one, [mined, claim("Something put right.", corrects=True)])
            assert place in judged.found, (one.id, fact.content, judged.verdicts[0].why)


def test_an_exchange_is_mined_as_turns_of_a_conversation() -> None:
    one = next(one for one in labelled("tune") if one.category == "trap-tool")
    window = window_of(one)
    assert [turn.role for turn in window.turns] == [Role(said.role) for said in one.turns]
    assert {turn.conversation for turn in window.turns} == {window.conversation.id}
    assert window.turns[0].at == one.at < window.turns[1].at


# Observations


def locomo_file(folder: Path) -> Path:
    talk = {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I planted a quince beside the old wall."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice!"},
            {"speaker": "Ben", "dia_id": "D1:3", "text": "I sold my boat."},
        ],
    }
    noted = {
        "Ada": [["Ada planted a quince beside the old wall.", "D1:1"], ["Ada is happy.", "D9:9"]],
        "Ben": [["Ben thinks that quinces are wonderful trees.", ["D1:2", "D1:1"]], ["Ben sold it.", "D1:3"]],
    }
    path = folder / "locomo.json"
    item = {"sample_id": "c", "conversation": talk, "qa": [], "observation": {"session_1_observation": noted}}
    path.write_text(json.dumps([item]))
    return path


def copying(window: Window) -> Extraction:
    """Takes the first turn of a window for a fact, as it is."""
    first = window.turns[0]
    return Extraction(claims=(Claim(content=first.content, turns=(first.id,)),))


def test_an_observation_is_covered_by_a_claim_of_its_own_turns(tmp_path: Path) -> None:
    talks = observations.read(locomo_file(tmp_path))
    told = observations.coverage(talks, copying, lambda count: None)
    assert (told["observations"], told["turns"], told["claims"]) == (3, 3, 1)
    assert told["covered"] == {"0.3": 0.3333, "0.5": 0.3333, "0.7": 0.3333}
    assert told["cited"] == 0.6667
    assert observations.best_share("Ben likes quinces a lot", ["Ben: a quince"], frozenset({"ben"})) == 1 / 3
    assert observations.best_share("Ben is", ["Ben is"], frozenset({"ben"})) == 0


def test_a_file_without_observations_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('[{"conversation": {}}]')
    with pytest.raises(Invalid, match=r"other\.json"):
        observations.read(path)


# Cost and the command


def test_cost_is_that_of_the_same_turns() -> None:
    windows = [window_of(one) for one in labelled("tune")[:8]]
    told = cost.cost(windows, copying, HashingEmbedder(), lambda count: None)
    assert told["turns"] == sum(len(window.turns) for window in windows)
    assert told["ratio"] > 0
    assert told["within"] is (told["ratio"] <= 1)


def test_windows_are_taken_from_the_first_to_the_last() -> None:
    windows = [window_of(one) for one in labelled("tune")]
    chosen = cost.spread(windows, 40)
    assert chosen[0] is windows[0]
    assert windows.index(chosen[-1]) > 0.9 * len(windows)
    assert 20 <= sum(len(window.turns) for window in chosen) <= 60
    assert cost.spread(windows) == windows


def test_the_whole_of_mining_goes_through_a_store() -> None:
    people = {"somebody": [session_of(one) for one in labelled("tune")[:10]]}
    told = whole(people, HashingEmbedder(), lambda count: None)
    assert told["turns"] == sum(len(session.turns) for session in people["somebody"])
    assert told["memories"] > 0
    assert told["mining_ms_a_turn"] > told["of_which_embedding_ms"] > 0


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("extract")
    module.extract = copying
    monkeypatch.setitem(sys.modules, "recollect.mine.rules", ModuleType("rules"))
    monkeypatch.setitem(sys.modules, "recollect.mine.rules.extract", module)


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(command.app, ["mining", *(str(argument) for argument in arguments)])


@pytest.mark.usefixtures("rules")
@pytest.mark.slow
def test_the_command_answers_with_json_or_a_table(tmp_path: Path) -> None:
    path = locomo_file(tmp_path)
    told = json.loads(invoke(path, "--embedder", "hashing", "--json").stdout)
    assert told["observations"]["claims"] == 1
    assert 0 < told["halves"]["held"]["precision"] < 0.7
    assert told["halves"]["tune"]["wrong"]
    assert "wrong" not in told["halves"]["held"]
    assert json.loads(invoke("--embedder", "none", "--reveal", "--json").stdout)["halves"]["held"]["wrong"]
    shown = invoke(path, "--embedder", "hashing").stdout
    assert "traps became facts" in shown
    assert "whose turn has any claim" in shown
    assert "the limit of" in shown
