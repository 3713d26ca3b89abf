"""What users set for their own memory: what is refused, and that the rest is followed (H4)."""

from collections.abc import Sequence
from typing import Any

import pytest

from recollect import Fact, Invalid, Memory, Recollection, ScopedMemory, StoreError, UserSettings
from recollect.model.changes import Put
from recollect.policies import KEPT, Policies
from recollect.testing.store_samples import START, ManualClock
from recollect.wishes import KNOWN, OFF, OFF_FOR_AGENT, Wishes
from tests.unit.mining import say
from tests.unit.support import OpenMemory


class Judge:
    """The `Reranker` port with several models; the longest text comes first."""

    def __init__(self, model: str = "small", asked: list[str] | None = None) -> None:
        self.model = model
        self.asked: list[str] = [] if asked is None else asked

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append(self.model)
        return [float(len(text)) for text in texts]

    def choosing(self, model: str) -> "Judge":
        return Judge(model, self.asked)

    def close(self) -> None:
        pass


def tell(scope: ScopedMemory) -> None:
    for text in ("Tea.", "I like green tea in the morning.", "My tea pot is blue.", "Tea is hot."):
        scope.record("user", text, conversation=text)


# What can be set


@pytest.mark.parametrize(
    "values",
    [
        {"enabled": "no"},
        {"auto_mine": 1},
        {"conclude": "perhaps"},
        {"pii": "some"},
        {"pii": ["off"]},
        {"top_k": 0},
        {"top_k": True},
        {"threshold": 2},
        {"threshold": float("nan")},
        {"context_tokens": -1},
        {"rerank": 0},
        {"rerank_model": 3},
        {"embedding_model": ["x"]},
        {"agents": ["planner"]},
        {"agents": {"planner": False}},
        {"agents": {"planner": {"recall": "no"}}},
        {"agents": {"planner": {"remember": True}}},
        {"agents": {"": {"recall": False}}},
        {"custom": "mine"},
        {"retention": {"": {"ttl_days": -1}}},
    ],
)
def test_what_cannot_be_is_refused(derek: ScopedMemory, values: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        derek.update_settings(top_k=3, **values) if "top_k" not in values else derek.update_settings(**values)
    assert derek.settings().values == {}


def test_an_unknown_setting_is_refused_with_those_there_are(derek: ScopedMemory) -> None:
    with pytest.raises(Invalid, match=r"no setting 'topk'; there are enabled, .*top_k.* custom"):
        derek.update_settings(topk=3)
    assert derek.update_settings(topk=None).values == {}


def test_only_what_is_given_changes(derek: ScopedMemory) -> None:
    derek.update_settings(agents={"planner": {"recall": False}}, custom={"theme": {"dark": True}}, top_k=3)
    derek.update_settings(agents={"planner": {"mining": False}, "writer": {"recall": False}})
    derek.update_settings(custom={"theme": {"size": 2}}, top_k=None)
    assert derek.settings().values == {
        "agents": {"planner": {"recall": False, "mining": False}, "writer": {"recall": False}},
        "custom": {"theme": {"dark": True, "size": 2}},
    }
    derek.update_settings(agents={"planner": {"recall": None}, "writer": None}, custom={"theme": None})
    assert derek.settings().values == {"agents": {"planner": {"mining": False}}}
    assert derek.update_settings(agents=None).values == {}


def test_one_embedding_model_for_all(derek: ScopedMemory, open_memory: OpenMemory) -> None:
    for name in ("hashing", "hashing-1-384"):
        assert derek.update_settings(embedding_model=name).values == {"embedding_model": name}
    with pytest.raises(Invalid, match=r"must be hashing: .*rebuild vectors"):
        derek.update_settings(embedding_model="text-embedding-3-large")
    with pytest.raises(Invalid, match="RECOLLECT_EMBEDDER"):
        open_memory(embedder="none").scope("derek").update_settings(embedding_model="hashing")


# What is stored


def test_what_is_offered(derek: ScopedMemory, open_memory: OpenMemory) -> None:
    before = derek.offered()
    assert (before["top_k"].value, before["top_k"].deployed, before["top_k"].own) == (5, 5, False)
    assert (before["top_k"].least, before["top_k"].most) == (1, 1000)
    assert before["pii"].allowed == ("off", "tag", "redact", "drop")
    assert (before["rerank"].value, before["rerank"].allowed, before["rerank_model"].allowed) == (
        *(False, (False,), ()),
    )
    derek.update_settings(top_k=3, enabled=False, auto_mine=True)
    after = derek.offered()
    assert {name for name, one in after.items() if one.own} == {"top_k", "enabled", "auto_mine"}
    assert (after["top_k"].value, after["top_k"].deployed, after["enabled"].value) == (3, 5, False)
    without = open_memory(embedder="none", auto_mine=False).scope("anna").offered()
    assert (without["embedding_model"].value, without["embedding_model"].allowed) == (None, ())
    assert without["auto_mine"].value is False


def test_what_cannot_be_followed_is_left_out_of_account(
    memory: Memory, derek: ScopedMemory, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    odd = dict.fromkeys(KNOWN, "odd") | {"top_k": 1, "later": True}
    memory.store.user("derek").apply([Put(UserSettings(id="settings", values=odd, updated_at=clock.now()))])
    tell(derek)
    assert len(derek.recall("What about my tea?").hits) == 1
    assert "left out of account" in caplog.text
    assert "odd" not in caplog.text
    assert derek.update_settings(agents={"planner": {"recall": False}}, later=None).values["agents"]


def test_another_process_follows_within_a_moment(open_memory: OpenMemory, clock: ManualClock) -> None:
    one, other = open_memory().scope("derek"), open_memory().scope("derek")
    assert other.is_on()
    one.update_settings(enabled=False)
    assert not one.is_on()
    clock.advance(seconds=KEPT.total_seconds())
    assert not other.is_on()


def test_what_is_forgotten_or_imported_holds_at_once(memory: Memory, derek: ScopedMemory) -> None:
    derek.update_settings(enabled=False)
    lines = list(derek.export())
    assert not derek.is_on()
    derek.forget(everything=True)
    assert derek.is_on()
    derek.import_(lines)
    assert not derek.is_on()


def test_what_was_read_before_a_change_is_not_kept() -> None:
    policies = Policies()

    def read() -> Wishes:
        policies.forget("derek")  # somebody sets it meanwhile
        return Wishes(top_k=1)

    policies.of("derek", START, read)
    assert policies.of("derek", START, lambda: Wishes(top_k=2)).wishes.top_k == 2


def test_recalling_reads_no_settings_each_time(
    memory: Memory, derek: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(derek)
    derek.recall("What about my tea?")
    kinds: list[type] = []
    store = type(memory.store.user("derek"))
    get = store.get
    monkeypatch.setattr(store, "get", lambda self, kind, ids: kinds.append(kind) or get(self, kind, ids))
    derek.recall("What about my tea?")
    assert UserSettings not in kinds


# What is followed


def test_memory_that_is_off(memory: Memory, derek: ScopedMemory) -> None:
    tell(derek)
    derek.update_settings(enabled=False)
    found = derek.recall("What about my tea?", include=["profile"])
    assert (found.hits, found.context, found.skipped) == ((), "", OFF)
    assert "Not searched: memory is off." in found.explain()
    assert not derek.is_on()
    with pytest.raises(Invalid):
        derek.recall("tea", top_k=0)
    # What one asks for by its name is done.
    assert derek.remember("The budget is $10.") == derek.list("fact")[0]
    assert derek.record("user", "I live in Lyon.", conversation="c").index == 0
    assert memory.scope("anna").recall("tea?").skipped is None
    derek.update_settings(enabled=None)
    assert derek.recall("What about my tea?").hits


def test_an_agent_without_recall_is_still_mined(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory()
    derek, planner = memory.scope("derek"), memory.scope("derek", agent="planner")
    derek.update_settings(agents={"planner": {"recall": False}})
    say(planner, "I live in Lyon.")
    assert planner.recall("Where do I live?").skipped == OFF_FOR_AGENT
    assert memory.scope("derek", agent="writer").recall("Where do I live?").hits
    clock.advance(hours=1)
    memory.tend()
    assert derek.list("fact")


def test_an_agent_without_mining_still_recalls(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory()
    derek, planner = memory.scope("derek"), memory.scope("derek", agent="planner")
    derek.update_settings(agents={"planner": {"mining": False}})
    say(planner, "I live in Lyon.")
    clock.advance(hours=1)
    memory.tend()
    assert derek.list("fact") == []
    assert planner.recall("Where do I live?").hits
    assert derek.conversations()[0].concluded_to == 1  # it waits for nothing
    derek.update_settings(agents=None)
    clock.advance(hours=1)
    memory.tend()
    assert derek.list("fact")


def test_defaults_of_recall(derek: ScopedMemory) -> None:
    tell(derek)

    def count(found: Recollection) -> int:
        return len(found.hits)

    derek.update_settings(top_k=1)
    assert count(derek.recall("What about my tea?")) == 1
    assert count(derek.recall("What about my tea?", top_k=2)) == 2
    derek.update_settings(top_k=None, context_tokens=0)
    assert derek.recall("What about my tea?").context == ""
    assert derek.recall("What about my tea?", context_tokens=500).context
    derek.update_settings(threshold=1.0)
    assert count(derek.recall("teas")) <= count(derek.recall("teas", threshold=-1))


def test_reranking(open_memory: OpenMemory) -> None:
    judge = Judge()
    memory = open_memory(reranker=judge, reranker_model="small", reranker_models="large, larger")
    derek = memory.scope("derek")
    tell(derek)
    derek.recall("What about my tea?")
    derek.update_settings(rerank_model="larger")
    derek.recall("What about my tea?")
    derek.update_settings(rerank=False)
    derek.recall("What about my tea?")
    assert judge.asked == ["small", "larger"]
    derek.recall("What about my tea?", techniques={"rerank": True})
    memory.scope("anna").recall("tea?")
    assert judge.asked == ["small", "larger", "larger"]
    with pytest.raises(Invalid, match=r"one of small, large, larger; .*RECOLLECT_RERANKER_MODELS"):
        derek.update_settings(rerank_model="dearest")


def test_a_model_that_is_no_longer_offered_is_not_asked(open_memory: OpenMemory) -> None:
    judge = Judge()
    options: dict[str, Any] = {"reranker": judge, "reranker_model": "small"}
    derek = open_memory(reranker_models="large", **options).scope("derek")
    tell(derek)
    derek.update_settings(rerank_model="large")
    open_memory(**options).scope("derek").recall("What about my tea?")
    assert judge.asked == ["small"]


def test_switched_on_by_one_user(open_memory: OpenMemory) -> None:
    judge = Judge()
    memory = open_memory(reranker=judge, techniques="-rerank")
    derek, anna = memory.scope("derek"), memory.scope("anna")
    derek.update_settings(rerank=True)
    for scope in (derek, anna):
        tell(scope)
        scope.recall("What about my tea?")
    assert len(judge.asked) == 1


def test_what_mining_does_with_sensitive_data(open_memory: OpenMemory) -> None:
    memory = open_memory(pii="redact")
    mined: dict[str, str] = {}
    for user, wish in (("derek", None), ("anna", "off")):
        scope = memory.scope(user)
        scope.update_settings(pii=wish)
        say(scope, "My email is derek.miller@example.com.")
        scope.mine()
        mined[user] = " ".join(fact.content for fact in scope.list("fact") if isinstance(fact, Fact))
    assert "derek.miller@example.com" not in mined["derek"]
    assert "derek.miller@example.com" in mined["anna"]


def test_settings_that_cannot_be_read_leave_nothing_recalled(
    memory: Memory, derek: ScopedMemory, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(derek)
    clock.advance(minutes=1)

    def broken(*_: Any) -> Any:
        raise StoreError("The database is gone.")

    monkeypatch.setattr(type(memory.store.user("derek")), "get", broken)
    found = derek.recall("What about my tea?")
    assert (found.hits, found.problems) == ((), ("Nothing recalled: The database is gone.",))
