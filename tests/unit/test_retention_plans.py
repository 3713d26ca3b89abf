"""What the retention policy decides, as pure functions: by example, and whatever is given."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Invalid
from recollect.model.records import Conversation, Entity, Fact, Role, Turn
from recollect.model.retention import Retention, assigned, faded, overridden, parsed
from recollect.ports.store import Usage
from recollect.ports.tending import Size
from recollect.record.retention import TTL, expiry, mortal, renewed
from recollect.tend.cleanup import is_faded, is_old, is_past
from recollect.tend.decay import entity_salience, fact_confidence
from recollect.tend.expire import extended
from recollect.tend.idle import idle_days
from recollect.tend.promote import matters
from recollect.tend.quota import Level, levels, worth
from recollect.testing.store_samples import START

DAY = timedelta(days=1)
DEFAULT = Retention()
TTLS = Retention(expire=True)

shares = st.floats(0, 1)
days = st.floats(0, 36_500)
counts = st.integers(0, 10**9)
policies = st.builds(
    Retention,
    decay=st.booleans(),
    decay_rate=st.floats(0.01, 1),
    decay_idle_hours=st.floats(0, 1000),
    access_boost=st.floats(0, 10),
    recency_boost=st.floats(0, 10),
)


def fact(**given: object) -> Fact:
    values = {"id": "f", "content": "The sky is blue.", "recorded_at": START, "valid_from": START, **given}
    return Fact(**values)


def entity(**given: object) -> Entity:
    return Entity(**{"id": "e", "name": "Anna", "first_seen": START, **given})


def used(count: int, at: datetime = START, since: int | None = None) -> Usage:
    return Usage(count, count if since is None else since, at)


# Fading


@pytest.mark.parametrize(
    ("idle", "returned", "left"),
    [
        (0.5, 0, 1.0),  # not idle yet
        (1, 0, 0.95),
        (13.5, 0, 0.5003),
        (30, 0, 0.2146),
        (30, 9, 0.2687),  # returned nine times
        (1, 1, 1.0),  # just returned
    ],
)
def test_what_is_left(idle: float, returned: int, left: float) -> None:
    assert faded(1.0, idle, DEFAULT, returned) == pytest.approx(left, abs=5e-4)


@given(shares, days, policies, counts, st.floats(0.01, 1000))
def test_never_more_than_at_first_and_never_below_nothing(
    initial: float, idle: float, policy: Retention, returned: int, slower: float
) -> None:
    assert 0 <= faded(initial, idle, policy, returned, slower) <= initial


@given(shares, days, days, policies, counts)
def test_the_longer_idle_the_less_is_left(
    initial: float, one: float, other: float, policy: Retention, returned: int
) -> None:
    short, long = sorted((one, other))
    assert faded(initial, long, policy, returned) <= faded(initial, short, policy, returned)


@given(shares, days, policies, counts, counts)
def test_what_is_returned_more_often_fades_less(
    initial: float, idle: float, policy: Retention, one: int, other: int
) -> None:
    seldom, often = sorted((one, other))
    assert faded(initial, idle, policy, seldom) <= faded(initial, idle, policy, often)


@given(shares, days, counts, policies)
def test_working_it_out_again_changes_nothing(
    salience: float, idle: float, count: int, policy: Retention
) -> None:
    now = START + timedelta(days=idle)
    anna = entity(salience=salience)
    once = entity_salience(anna, used(count), policy, now)
    after = replace(anna, salience=once, initial=salience)
    assert entity_salience(after, used(count), policy, now) == once
    sure = fact(confidence=salience, origin="rules")
    less = fact_confidence(sure, START, used(count), policy, now)
    again = replace(sure, confidence=less, initial=salience)
    assert fact_confidence(again, START, used(count), policy, now) == less


def test_confidence_fades_a_seventh_as_fast() -> None:
    now = START + 14 * DAY
    assert fact_confidence(fact(confidence=0.7), START, None, DEFAULT, now) == pytest.approx(0.7 * 0.95**2)


def test_idle_since_the_last_of_several_times() -> None:
    assert idle_days(START + 10 * DAY, START, START + 8 * DAY, None) == 2
    assert idle_days(START, START + DAY) == 0  # a clock that went back


# Expiry


def test_a_new_memory_lives_by_the_policy() -> None:
    assert expiry(DEFAULT, START) is None
    assert mortal(fact(), DEFAULT, START) == fact()
    made = mortal(fact(), TTLS, START)
    assert (made.expires_at, made.metadata[TTL]) == (START + 15 * DAY, 15.0)
    assert mortal(fact(pinned=True), TTLS, START).expires_at is None
    own = fact(expires_at=START + DAY)
    assert mortal(own, TTLS, START) == own
    assert renewed(own, TTLS, START) == own
    assert renewed(made, TTLS, START + 5 * DAY).expires_at == START + 20 * DAY
    assert renewed(made, TTLS, START - 5 * DAY) == made


@pytest.mark.parametrize(
    ("since_renewal", "now", "until"),
    [
        (10, START + 15 * DAY, START + 30 * DAY),
        (10, START + 14 * DAY, START + 30 * DAY),  # before it runs out
        (10, START + 40 * DAY, START + 55 * DAY),  # nobody looked for long
        (9, START + 15 * DAY, None),
    ],
)
def test_a_popular_one_is_renewed(since_renewal: int, now: datetime, until: datetime | None) -> None:
    made = mortal(fact(), TTLS, START)
    assert extended(made, used(100, since=since_renewal), TTLS, now) == until


def test_an_end_that_somebody_has_set_stays() -> None:
    assert extended(fact(expires_at=START), used(100), TTLS, START) is None
    assert extended(mortal(fact(), TTLS, START), None, TTLS, START + 15 * DAY) is None


@pytest.mark.parametrize(("given", "days"), [(3, 3), (0.5, 0.5), ("soon", 15), (-1, 15), (1e9, 15)])
def test_one_that_was_given_a_time_lives_on_by_it_where_new_ones_do_not_expire(
    given: object, days: float
) -> None:
    made = fact(expires_at=START, metadata={TTL: given})
    assert extended(made, used(100), DEFAULT, START) == START + days * DAY
    assert extended(made, used(100), TTLS, START) == START + 15 * DAY, "as new ones do, where they do"
    assert extended(made, used(9), DEFAULT, START) is None


# Cleaning up


def test_when_a_conversation_is_old() -> None:
    talk = Conversation(id="c", started_at=START, last_at=START)
    assert [is_old(talk, DEFAULT, START + days * DAY) for days in (89, 90)] == [False, True]
    assert not is_old(talk, Retention(archive=False), START + 1000 * DAY)


def test_when_an_entity_may_go() -> None:
    now = START + 30 * DAY
    assert is_faded(entity(salience=0.09), None, DEFAULT, now)
    assert not is_faded(entity(salience=0.1), None, Retention(decay=False), now)
    assert is_faded(entity(salience=0.14, initial=0.4), None, DEFAULT, now), "by what it is now"
    assert not is_faded(entity(salience=0.09, initial=1.0), None, DEFAULT, now)
    assert not is_faded(entity(salience=0.09), None, DEFAULT, now - DAY)
    assert not is_faded(entity(salience=0.09), used(1, START + DAY), DEFAULT, now)
    assert not is_faded(entity(salience=0.09, last_seen=START + DAY), None, DEFAULT, now)
    assert not is_faded(entity(salience=0.09), None, Retention(prune_entities=False), now)


def test_when_a_turn_is_past() -> None:
    turn = Turn(
        id="t",
        conversation="c",
        index=0,
        role=Role.USER,
        content="Hello.",
        at=START,
        recorded_at=START,
        digest="",
    )
    now, month = START + 30 * DAY, Retention(turn_days=30)
    assert is_past(turn, month, now)
    assert not is_past(turn, month, now - DAY)
    assert not is_past(turn, DEFAULT, START + 10_000 * DAY)
    assert not is_past(replace(turn, role=Role.NOTE), month, now)  # lives with its memory


# Quotas and promotion


def test_how_far_quotas_are_used() -> None:
    policy = Retention(turn_quota=100, memory_quota=0, channel_memory_quota=10)
    found = levels({"": Size(80, 5), "work": Size(80, 5)}, lambda channel: policy)
    assert found == [Level("", "turns", 80, 100), Level("work", "memories", 5, 10)]
    assert [level.is_high(policy) for level in found] == [True, False]
    assert str(found[1]) == "5 of at most 10 memories in the channel 'work'"


def test_the_least_valuable_first() -> None:
    now = START + 10 * DAY
    inferred = {"origin": "rules"}
    ranked = [
        fact(id="superseded", superseded_by="x", retired_at=START, valid_to=START, salience=1.0, **inferred),
        fact(id="expired", expires_at=START, salience=1.0, confidence=1.0, **inferred),
        fact(id="little", salience=0.1, confidence=0.7, **inferred),
        fact(id="unsure", salience=0.2, confidence=0.5, **inferred),
        fact(id="old", salience=0.2, confidence=0.9, recorded_at=START - 300 * DAY, **inferred),
        fact(id="new", salience=0.2, confidence=0.9, **inferred),
        fact(id="returned", salience=0.2, confidence=0.9, **inferred),
    ]
    usage = {"returned": used(20, now)}
    order = sorted(ranked, key=lambda memory: worth(memory, usage.get(memory.id), DEFAULT, now))
    ids = [memory.id for memory in order]
    assert set(ids[:2]) == {"superseded", "expired"}
    assert ids[2] == "old"
    assert ids[3:5] == ["little", "unsure"]
    assert ids[5:] == ["new", "returned"]


def test_what_matters_everywhere() -> None:
    assert matters(fact(confidence=0.85), used(5), DEFAULT)
    assert not matters(fact(confidence=0.84), used(5), DEFAULT)
    assert not matters(fact(confidence=0.85), used(4), DEFAULT)


# The policy as a text


def test_a_policy_is_read() -> None:
    assert parsed("") == DEFAULT
    assert parsed("expire=on, ttl_days=30") == Retention(expire=True, ttl_days=30.0)
    assert assigned(" popular = 3 ") == ("popular", 3)
    assert overridden(DEFAULT, {"ttl_days": 1}).ttl_days == 1


@pytest.mark.parametrize(
    "text", ["nonsense", "expire=perhaps", "ttl_days=many", "ttl_days=-1", "nope=1", "popular=1.5"]
)
def test_what_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parsed(text)
