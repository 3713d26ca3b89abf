"""What can be done with a memory, as functions of one: told what came of it, library and server compare."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from recollect import (
    GLOBAL,
    Client,
    Conflict,
    Invalid,
    Memory,
    Message,
    NotFound,
    QuotaExceeded,
    RecollectError,
    RemoteScopedMemory,
    ScopedMemory,
    TooLarge,
)
from recollect.testing.store_samples import START

Place = Memory | Client
Mine = ScopedMemory | RemoteScopedMemory
Scenario = Callable[[Place], Any]

USER = "local"
SCENARIOS: list[Scenario] = []


def scenario(told: Scenario) -> Scenario:
    SCENARIOS.append(told)
    return told


def raised(kind: type[RecollectError], does: Callable[[], Any]) -> tuple[str, str]:
    """The error, by its kind and what it says."""
    try:
        done = does()
    except kind as error:
        return type(error).__name__, str(error)
    raise AssertionError(f"{kind.__name__} was expected, not {done!r}")


def day(number: float) -> datetime:
    return START + timedelta(days=number)


@scenario
def recording(place: Place) -> Any:
    mine = place.scope(USER, "work", "scout", "monday")
    yield mine.scope
    yield mine.record("user", "Green tea, please 🍵 \ud83c", title="Tea", metadata={"a": {"b": [1, None]}})
    yield mine.record("assistant", "Here", model="m", tokens=7, zone="Europe/Lisbon", at=day(-1))
    yield mine.record("user", "In another", conversation="tuesday", index=3)
    yield mine.record("user", "In another", conversation="tuesday", index=3)
    yield mine.record("user", "With a vector", vector=np.ones(384, np.float32))
    yield raised(Conflict, lambda: mine.record("user", "Else", conversation="tuesday", index=3))
    yield raised(Invalid, lambda: mine.record("king", "Hello"))[0]
    yield raised(Invalid, lambda: mine.record("user", "Hello", at=datetime(2026, 1, 1)))[0]  # noqa: DTZ001
    yield raised(TooLarge, lambda: mine.record("user", "x" * (2**20 + 1)))
    yield raised(Invalid, lambda: mine.record("user", "Hello", vector=[1.0, 2.0]))
    yield mine.conversation("monday")
    yield mine.conversation("nothing")
    yield mine.conversations()
    yield mine.conversations(limit=1)
    yield mine.conversations(limit=1, after="monday")
    yield mine.counts()


@scenario
def recording_many(place: Place) -> Any:
    mine = place.scope(USER)
    told: list[int] = []
    messages: list[Any] = [Message(role="user", content=f"turn {i}") for i in range(450)]
    messages[5] = {"role": "assistant", "content": "elsewhere", "conversation": "a/b"}
    stored = mine.record_many(iter(messages), progress=told.append)
    yield len(stored), len({turn.conversation for turn in stored}), told[-1], [turn.index for turn in stored]
    yield mine.record_many([{"role": "user", "content": "named"}], conversation="%2F")
    yield mine.record_many([])
    yield raised(Invalid, lambda: mine.record_many([{"role": "user"}]))
    yield raised(Invalid, lambda: mine.record_many([{"role": "user", "content": "a", "colour": "b"}]))
    yield raised(Invalid, lambda: mine.record_many("turns"))  # type: ignore[arg-type]
    for name in ("a/b", "%2F"):
        yield mine.conversation(name)
    yield len(mine.list("turn", limit=1000)), len(mine.list("turn", limit=0))
    yield mine.list("turn", limit=2, oldest_first=True)


@scenario
def knowing(place: Place) -> Any:
    mine = place.scope(USER, "work")
    tea = mine.remember(
        "Likes green tea",
        about=["Derek", "tea"],
        pinned=True,
        confidence=0.75,
        metadata={"by": "hand"},
        valid_from=day(-3),
        expires_at=day(30),
    )
    yield tea
    yield mine.remember("Brews: warm the pot", kind="procedure", tools=["kettle"])
    yield mine.remember(
        "Made tea", kind="episode", goal="tea", steps=["boil", "pour"], outcome="good", success=True
    )
    yield mine.remember("Be brief", kind="reflection")
    yield mine.remember_many(["Lives in Porto", {"content": "Has a cat", "about": ["Derek"]}])
    yield raised(Invalid, lambda: mine.remember_many([5]))  # type: ignore[list-item]
    yield raised(Invalid, lambda: mine.remember("x", kind="galaxy"))[0]
    yield raised(Invalid, lambda: mine.remember("x", colour="blue"))[0]
    new = mine.correct(tea.id, "Loves green tea", since=day(-1))
    yield new
    yield mine.get(tea.id), mine.get(new.id)
    yield mine.pin(new.id), mine.pin(new.id, False)
    yield mine.promote(new.id), mine.promote(new.id, promoted=False)
    yield raised(NotFound, lambda: mine.get("nothing"))
    yield raised(NotFound, lambda: mine.correct("nothing", "x"))
    yield raised(NotFound, lambda: mine.pin("nothing"))
    yield raised(NotFound, lambda: mine.promote("nothing"))


@scenario
def contradicting(place: Place) -> Any:
    mine = place.scope(USER, "work")
    for town in ("Lyon", "Porto", "Faro", "Rome"):
        mine.record("user", f"I live in {town}.", conversation=town)
        mine.mine()
    found = mine.contradictions()
    yield found, mine.contradictions(limit=1), mine.contradictions(after=found[0].id)
    yield [mine.settle(pair.id, keep) for pair, keep in zip(found, ("old", "both", "new"), strict=True)]
    yield mine.contradictions(), mine.list("fact")
    yield raised(NotFound, lambda: mine.settle(found[0].id, "new"))
    yield raised(Invalid, lambda: mine.settle(found[0].id, "neither"))[0]


@scenario
def taking_back(place: Place) -> Any:
    mine = place.scope(USER)
    fact = mine.remember("Likes green tea", about=["Derek"])
    gone = mine.forget(fact.id, undo=True)
    yield gone.counts, gone.undo is None
    yield mine.undo(gone.undo or "")
    yield mine.get(fact.id), mine.recall("green tea").hits
    yield raised(Conflict, lambda: mine.undo(gone.undo or ""))
    yield raised(Invalid, lambda: mine.undo("nothing"))
    yield mine.forget(fact.id, undo=True, dry_run=True)
    yield mine.forget(fact.id).undo


@scenario
def listing(place: Place) -> Any:
    mine = place.scope(USER)
    facts = [mine.remember(f"fact {i}", pinned=i % 2 == 0, about=["Ann"]) for i in range(5)]
    mine.correct(facts[0].id, "fact zero")
    place.scope(USER, "work").remember("at work")
    mine.add_goal("Rest")
    mine.update_profile(expertise=["tea"])
    yield mine.list()
    yield mine.list(limit=2)
    yield mine.list(limit=2, after=facts[3].id, oldest_first=True)
    yield mine.list("fact", superseded_by=None, channel=GLOBAL)
    yield mine.list("fact", pinned=True)
    yield mine.list("fact", channel=["work", "home"])
    yield mine.list("fact", valid_from=START)
    for kind in (
        "turn",
        "entity",
        "conversation",
        "goal",
        "profile",
        "settings",
        "closet",
        "audit",
        "response",
    ):
        yield kind, mine.list(kind)
    yield raised(Invalid, lambda: mine.list("galaxy"))
    yield raised(Invalid, lambda: mine.list(limit=-1))
    yield raised(Invalid, lambda: mine.list("fact", colour="blue"))[0]


@scenario
def recalling(place: Place) -> Any:
    mine = place.scope(USER, agent="scout", conversation="now")
    mine.record("user", "I moved to Porto last week", conversation="then", at=day(-2))
    mine.record("assistant", "Porto is lovely", conversation="then", at=day(-2))
    mine.record("user", "Porto again", conversation="now")
    old = mine.remember("Derek lives in Lisbon", about=["Derek"], valid_from=day(-100))
    mine.correct(old.id, "Derek lives in Porto", since=day(-2))
    mine.add_goal("See Porto")
    mine.update_profile(preferences={"tea": "green"})
    yield mine.recall("Where does Derek live?")
    yield mine.recall("Where does Derek live?", top_k=1, explain=True)
    yield mine.recall("Porto", kinds=["turn"], roles=["assistant"], count=False)
    yield mine.recall("Porto", exclude_conversation="now", threshold=0.2, min_confidence=0.5)
    yield mine.recall("Porto", conversation="then", agent="scout", since=day(-3), until=day(-1))
    yield mine.recall("Where does Derek live?", as_of=day(-50), known_at=day(1))
    yield mine.recall("Porto", include=["goals", "profile", "related"], context_tokens=50)
    yield mine.recall("And there?", history=["Porto", {"role": "user", "content": "is nice"}])
    yield mine.recall("And there?", history=None)
    yield mine.recall("Porto", techniques={"gate": False, "recency": True})
    yield mine.recall("Porto", vector=np.ones(384, np.float32), kinds=("fact",))
    yield mine.recall("Hello!"), bool(mine.recall("Hello!"))
    yield mine.recall("Porto").compact()
    yield raised(Invalid, lambda: mine.recall("Porto", kinds=["galaxy"]))[0]
    yield raised(Invalid, lambda: mine.recall("Porto", techniques={"magic": True}))
    yield raised(TooLarge, lambda: mine.recall("x" * 100_001))


@scenario
def mining(place: Place) -> Any:
    mine = place.scope(USER, conversation="c")
    for i, text in enumerate(
        ("My sister Anna lives in Porto.", "Anna works at Acme.", "I prefer green tea.", "I moved to Lisbon.")
    ):
        mine.record("user", text, at=day(i / 10))
    told: list[int] = []
    yield mine.mine("c", told.append), told
    yield mine.mine()
    people: list[Any] = mine.list("entity")
    bonds: list[Any] = mine.list("relation")
    yield mine.list("fact"), sorted(one.name for one in people)
    yield sorted((one.type, one.valid_from) for one in bonds)
    yield (
        mine.timeline("Anna"),
        mine.timeline(since=day(0), until=day(9), limit=3),
        mine.timeline(as_of=day(5)),
        mine.timeline(limit=2, latest=True),
    )
    yield mine.neighbours("Anna"), mine.neighbours("Anna", hops=2, limit=2, as_of=day(1))
    yield mine.palace(), mine.palace(1), mine.palace("W-001", 1), mine.palace("W-001/R-01", closet=1)
    yield mine.palace(limit=1, after=1)
    (drawer, *_) = mine.palace("W-001/R-01", closet=1)
    inside = mine.drawer(drawer.place)
    yield drawer, replace(inside, derived=()), sorted(type(one).__name__ for one in inside.derived)
    yield mine.merge("Acme", into="Anna"), mine.split("Anna", alias="Acme")
    yield mine.unmine("c"), mine.counts()
    yield raised(NotFound, lambda: mine.timeline("Nobody"))
    yield raised(NotFound, lambda: mine.neighbours("Nobody"))
    yield raised(Invalid, lambda: mine.drawer("nowhere"))
    yield raised(Invalid, lambda: mine.palace(room=1))
    yield raised(NotFound, lambda: mine.mine("nothing"))


@scenario
def learning(place: Place) -> Any:
    mine = place.scope(USER, conversation="c")
    turn = mine.record("user", "Deploy the site")
    yield mine.record_tool("deploy", {"to": "site"}, ["done"], latency_ms=12.5, turn=turn.id)
    yield (
        mine.record_tool("deploy", None, error="TimeoutError: too slow"),
        mine.record_tool("x", 1, success=False),
    )
    yield mine.tools(), mine.tools("deploy"), mine.tools("none")
    yield mine.record_summary("Deploy", "Pushed", "Is up")
    yield mine.summaries("c"), mine.summaries("nothing")
    yield mine.end(), mine.end("c", "It is up", success=True)
    mine.remember("Deploy: push, wait", kind="procedure")
    mine.remember("Deployed the site", kind="episode", success=True)
    yield mine.procedures("How to deploy the site?"), mine.procedures("deploy", 1)
    yield mine.episodes("Deploy the site"), mine.episodes("deploy", top_k=2)
    yield raised(NotFound, lambda: mine.end("nothing"))
    yield raised(Invalid, lambda: place.scope(USER).end())
    yield raised(Invalid, lambda: place.scope(USER).record_summary("a", "b", "c"))


@scenario
def goals(place: Place) -> Any:
    mine = place.scope(USER, agent="scout")
    big = mine.add_goal("Move", priority=2, deadline=day(3))
    small = mine.add_goal("Pack", parent=big.id)
    last = mine.add_goal("Unpack", blocked_by=[small.id])
    yield big, small, last
    yield mine.goals(), mine.goals("blocked"), mine.goals(None)
    yield mine.goal(big.id), mine.goal(small.id)
    yield (
        mine.update_goal(big.id, priority=5, deadline=None),
        mine.update_goal(big.id, description="Move out"),
    )
    yield mine.complete_goal(small.id, result="All in boxes"), mine.goal(last.id)
    yield mine.complete_goal(big.id, "abandoned"), mine.goals(status=None)
    yield raised(Invalid, lambda: mine.goals("lost"))[0]
    yield raised(Invalid, lambda: mine.update_goal(big.id, colour="blue"))[0]
    yield raised(Invalid, lambda: mine.update_goal(small.id, blocked_by=[last.id]))
    yield raised(NotFound, lambda: mine.goal("nothing"))
    yield raised(NotFound, lambda: mine.complete_goal("nothing"))


@scenario
def person(place: Place) -> Any:
    mine = place.scope(USER, "work")
    yield mine.profile()
    yield mine.update_profile(
        preferences={"tea": "green", "milk": True}, expertise=["tea"], style={"tone": "dry"}
    )
    yield mine.update_profile(preferences={"milk": None}), mine.profile()
    yield mine.settings()
    yield mine.update_settings(top_k=3), mine.settings(), mine.update_settings(top_k=None)
    yield mine.offered(), mine.update_settings(top_k=3, pii="drop"), mine.offered()
    yield mine.retention(), mine.retention_origins()
    yield mine.set_retention(expire=True, ttl_days=9.0), mine.set_retention("work", ttl_days=3.0)
    yield mine.retention(), mine.retention_origins(), place.scope(USER).retention()
    yield mine.set_retention("work", ttl_days=None), mine.retention_origins()
    yield raised(Invalid, lambda: mine.set_retention(colour="blue"))
    yield raised(Invalid, lambda: mine.set_retention("work", memory_quota=1))
    mine.remember("Works")
    yield mine.sizes(), mine.counts()
    yield mine.growth(), mine.growth(points=2)
    yield raised(Invalid, lambda: mine.growth(1))[0]
    mine.set_retention(memory_quota=1)
    yield raised(QuotaExceeded, lambda: mine.remember("Works more"))


@scenario
def working(place: Place) -> Any:
    mine = place.scope(USER, "work", "scout", "a/b")
    desk = mine.working
    yield desk.add("turn", "Hello", role="user", at=day(0)), desk.add("thought", "Tea, then", tokens=3)
    yield desk.add("action", "Boil", tool="kettle", decision=True)
    yield desk.items(), desk.tokens()
    yield desk.set("kettle/1", {"on": True}), desk.get("kettle/1"), desk.get("none"), desk.get("none", 5)
    yield desk.set("none", None), desk.values(), desk.set("kettle/1", None), desk.values()
    yield desk.goal
    desk.goal = "Make tea"
    yield desk.goal, desk.context(), desk.context(5, context_window=100)
    yield desk.compress(), desk.compress(context_window=2), desk.items()
    yield desk.end_invocation(), desk.items(), desk.goal
    yield desk.set_goal(None), desk.goal
    yield desk.clear(), desk.items()
    yield raised(Invalid, lambda: desk.add("dream", "x"))[0]
    yield raised(Invalid, lambda: desk.set("a", object()))[0]
    yield raised(Invalid, lambda: place.scope(USER).working)


@scenario
def forgetting(place: Place) -> Any:
    mine = place.scope(USER, "work", "scout")
    for name in ("a/mined", "a", "..", "c"):
        mine.record("user", f"In {name}", conversation=name)
    fact = mine.remember("A fact", about=["Ann"])
    yield mine.forget(fact.id, dry_run=True), mine.forget(fact.id, with_sources=True)
    yield raised(NotFound, lambda: mine.forget(fact.id))
    yield mine.forget(conversation="a/mined"), mine.forget(conversation=".."), mine.counts()
    yield mine.forget(conversation="c", dry_run=True), mine.forget(conversation="nothing")
    yield mine.forget(agent="scout", dry_run=True), mine.forget(channel="work", dry_run=True)
    yield mine.forget(agent="scout"), mine.forget(channel="work")
    mine.record("user", "Once more")
    yield mine.forget(everything=True, dry_run=True), mine.forget(everything=True), mine.counts()
    yield raised(Invalid, mine.forget)
    yield raised(Invalid, lambda: mine.forget("a", conversation="b"))


@scenario
def moving(place: Place) -> Any:
    mine = place.scope(USER)
    mine.record_many([{"role": "user", "content": f"ü {i}\u2028", "conversation": "c"} for i in range(600)])
    gone = mine.remember("Forgotten")
    mine.forget(gone.id)
    lines = list(mine.export())
    yield len(lines), lines[0][:20], lines[5]
    told: list[int] = []
    again = mine.import_((line + "\n" for line in lines), told.append)
    yield again, told[-1]
    first = next(mine.export())
    mine.forget(everything=True)
    yield mine.import_([first, *lines[1:3], "", lines[3]]), mine.counts()
    yield raised(Invalid, lambda: mine.import_([]))
    yield raised(Invalid, lambda: mine.import_(["{}"]))
    yield raised(Invalid, lambda: mine.import_([first, "no JSON"]))
    yield raised(Invalid, lambda: mine.import_([first, '{"kind": "galaxy"}']))


@scenario
def watching(place: Place) -> Any:
    mine = place.scope(USER, "work", "scout", "c")
    turn = mine.record("user", "Green tea")
    mine.remember("Likes tea")
    mine.recall("tea")
    mine.get(turn.id)
    yield mine.audit(), mine.audit("record"), mine.audit(kind="fact"), mine.audit(limit=1)
    yield mine.audit(conversation="c"), mine.audit(conversation="other")
    yield mine.audit(since=day(1)), mine.audit(until=day(1), limit=2, after=mine.audit(limit=1)[0].id)
    yield mine.readers(turn.id), mine.readers(turn.id, limit=1), mine.readers("nothing")
    yield mine.spending(), mine.spending(since=date(2026, 1, 1)), mine.spending(date.max)
    yield raised(Invalid, lambda: mine.spending(datetime(2026, 1, 1, 5, tzinfo=UTC)))[0]
    yield raised(Invalid, lambda: mine.audit(since=datetime(2026, 1, 1)))[0]  # noqa: DTZ001
