"""What claims make of what is known: planning alone, without a store."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.mine.extracted import Claim
from recollect.mine.resolve import REVIEW, Known, Making, Resolved, resolve, slots_of
from recollect.mine.slots import LONGEST, is_for_review, review_slot, rewords, slot_of
from recollect.mine.versions import SAID, said_at
from recollect.model.records import MINED, Fact, MemoryRecord, Tense, mined

NOW = datetime(2026, 6, 1, tzinfo=UTC)
START = datetime(2026, 1, 1, tzinfo=UTC)


def day(turn: str) -> datetime:
    """Turns are named after the day on which they were said."""
    return START + timedelta(days=int(turn))


def home(place: str, on: int, **fields: object) -> Claim:
    return replace(
        Claim(
            content=f"The user lives in {place}.",
            turns=(str(on),),
            attribute="home",
            value=place,
            single=True,
        ),
        **fields,
    )


def likes(what: str, on: int, denies: bool = False) -> Claim:
    verb = "does not like" if denies else "likes"
    content = f"The user {verb} {what}."
    return Claim(content=content, turns=(str(on),), attribute="likes", value=what, denies=denies)


def settled(
    claims: Sequence[Claim], stored: Sequence[MemoryRecord] = (), policy: str = "prefer_new", **known: object
) -> Resolved:
    numbers = count(len(stored))

    def new(claim: Claim, slot: str) -> MemoryRecord:
        said = max(map(day, claim.turns))
        about = {SAID: said.isoformat(), "value": claim.value, "denies": claim.denies}
        return Fact(
            id=f"f{next(numbers)}",
            content=claim.content,
            recorded_at=NOW,
            valid_from=said,
            slot=slot,
            sources=claim.turns,
            tense=claim.tense,
            origin="rules",
            metadata={MINED: about},
        )

    wanted = {slot for claim in claims for slot in slots_of(claim)}
    versions = {slot: [m for m in stored if (m.kind, m.slot) == slot] for slot in wanted}
    making = Making(
        said=lambda c: max(map(day, c.turns)),
        confidence=lambda _: 0.9,
        new=new,
        new_id=lambda: f"f{next(numbers)}",
        times={str(n): day(str(n)) for n in range(100)},
        now=NOW,
        policy=policy,
    )
    found = Known(**{"versions": versions, "alike": {}, "named": {}, **known})
    return resolve(claims, found, making)


def after(stored: Sequence[MemoryRecord], done: Resolved) -> list[MemoryRecord]:
    return list(({m.id: m for m in stored} | done.memories).values())


def in_force(memories: Sequence[MemoryRecord]) -> list[str]:
    return sorted(m.content for m in memories if m.superseded_by is None)


def test_what_is_new_is_added() -> None:
    done = settled([home("Lyon", 1), likes("tea", 1)])
    assert in_force(after((), done)) == ["The user likes tea.", "The user lives in Lyon."]
    assert (done.added, done.reinforced, done.superseded) == (2, 0, 0)


def test_ten_copies_are_one_memory_with_ten_sources() -> None:
    done = settled([likes("tea", n) for n in range(10)])
    (memory,) = done.memories.values()
    assert memory.sources == tuple(map(str, range(10)))
    assert (done.added, done.reinforced) == (1, 9)
    assert memory.salience > 0.5


def test_the_same_claim_of_the_same_turn_changes_nothing() -> None:
    stored = after((), settled([home("Lyon", 1), likes("tea", 1)]))
    assert settled([home("Lyon", 1), likes("tea", 1)], stored).memories == {}


def test_a_change_ends_what_held() -> None:
    done = settled([home("Lyon", 1), home("Porto", 20)])
    lyon, porto = sorted(done.memories.values(), key=said_at)
    assert (lyon.valid_to, lyon.superseded_by, lyon.retired_at) == (day("20"), porto.id, NOW)
    assert (porto.supersedes, porto.valid_to) == (lyon.id, None)
    assert done.superseded == 1


def test_back_again_is_a_version_of_its_own() -> None:
    done = settled([home("Lyon", 1), home("Porto", 20), home("Lyon", 40)])
    assert [m.content[18:-1] for m in sorted(done.memories.values(), key=said_at)] == [
        "Lyon",
        "Porto",
        "Lyon",
    ]
    assert in_force(after((), done)) == ["The user lives in Lyon."]


def test_what_was_said_before_becomes_what_held_before() -> None:
    stored = after((), settled([home("Porto", 20)]))
    both = after(stored, settled([home("Lyon", 1)], stored))
    assert in_force(both) == ["The user lives in Porto."]
    lyon = next(m for m in both if "Lyon" in m.content)
    assert (lyon.valid_from, lyon.valid_to) == (day("1"), day("20"))


def test_a_denial_ends_what_it_is_about_and_nothing_else() -> None:
    no_longer = home("Lyon", 30, content="The user no longer lives in Lyon.", denies=True)
    ended = settled([home("Lyon", 1), no_longer])
    assert in_force(after((), ended)) == ["The user no longer lives in Lyon."]
    beside = settled([home("Porto", 20), no_longer])
    assert "The user lives in Porto." in in_force(after((), beside))
    assert beside.superseded == 0


def test_liking_ends_when_it_is_denied() -> None:
    done = settled([likes("sushi", 1), likes("tea", 1), likes("sushi", 9, denies=True)])
    assert in_force(after((), done)) == ["The user does not like sushi.", "The user likes tea."]


def test_what_was_and_what_will_be_ends_nothing() -> None:
    past = home("Rome", 5, content="The user lived in Rome.", tense=Tense.PAST)
    plan = home("Oslo", 6, content="The user will move to Oslo.", tense=Tense.FUTURE)
    done = settled([home("Lyon", 1), past, plan])
    assert "The user lives in Lyon." in in_force(after((), done))
    assert done.superseded == 0


def test_what_was_is_no_second_memory_of_what_held() -> None:
    past = home("Lyon", 25, content="The user lived in Lyon.", tense=Tense.PAST)
    done = settled([home("Lyon", 1), home("Porto", 20), past])
    lyon = next(m for m in done.memories.values() if "Lyon" in m.content)
    assert lyon.sources == ("1", "25")
    assert len(done.memories) == 2


@pytest.mark.parametrize(
    ("policy", "held", "refused"),
    [
        ("prefer_new", ["The user lives in Porto."], 0),
        ("prefer_old", ["The user lives in Lyon."], 1),
        ("flag_review", ["The user lives in Lyon.", "The user lives in Porto."], 0),
    ],
)
def test_the_policy_says_what_holds(policy: str, held: list[str], refused: int) -> None:
    stored = after((), settled([home("Lyon", 1)]))
    done = settled([home("Porto", 20)], stored, policy)
    assert (in_force(after(stored, done)), done.refused) == (held, refused)


def test_what_is_to_be_reviewed_says_what_it_contradicts_and_comes_once() -> None:
    stored = after((), settled([home("Lyon", 1)]))
    both = after(stored, settled([home("Porto", 20)], stored, "flag_review"))
    porto = next(m for m in both if "Porto" in m.content)
    assert mined(porto)[REVIEW] == stored[0].id
    again = settled([home("Porto", 30)], both, "flag_review")
    assert [m.sources for m in again.memories.values()] == [("20", "30")]


@pytest.mark.parametrize("subject", ["Anna", "Anna " * 100])
def test_what_is_to_be_reviewed_is_known_by_its_slot(subject: str) -> None:
    claim = Claim(content="x", turns=("1",), subject=subject, attribute="lives in", value="Lyon", single=True)
    assert is_for_review(review_slot(claim))
    assert not is_for_review(slot_of(claim))
    assert len(review_slot(claim)) < 2 * LONGEST


@pytest.mark.parametrize("policy", ["prefer_new", "prefer_old", "flag_review"])
def test_a_correction_holds_under_any_policy(policy: str) -> None:
    stored = after((), settled([home("Lyon", 1)]))
    done = settled([home("Porto", 20, corrects=True)], stored, policy)
    assert in_force(after(stored, done)) == ["The user lives in Porto."]


def test_a_memory_without_a_slot_can_be_replaced_by_its_id() -> None:
    given_one = Fact(id="g", content="The budget is $10,000.", recorded_at=NOW, valid_from=day("1"))
    claim = Claim(content="The budget is $12,000.", turns=("9",), replaces=("g",))
    done = settled([claim], [given_one], named={"g": given_one})
    assert in_force(after([given_one], done)) == ["The budget is $12,000."]


def test_other_words_for_the_same_reinforce_it() -> None:
    stored = after((), settled([likes("tea", 1)]))
    other = Claim(content="The user enjoys tea.", turns=("9",), attribute="enjoys", value="tea")
    done = settled([other], stored, alike={0: stored[0]})
    assert [m.sources for m in done.memories.values()] == [("1", "9")]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The user likes green tea.", "The user likes green tea!", True),
        ("The user's budget is $10,000.", "The user's budget is $12,000.", False),
        ("The user lives in Lyon.", "The user lives in Porto.", False),
        ("The user eats meat.", "The user does not eat meat.", False),
        ("The user likes tea.", "The user plays chess on Mondays with friends.", False),
    ],
)
def test_what_rewords_differs_in_no_number_name_or_negation(one: str, other: str, same: bool) -> None:
    assert rewords(one, other) is same


claims = st.lists(
    st.one_of(
        st.builds(home, st.sampled_from(["Lyon", "Porto", "Rome"]), st.integers(0, 30)),
        st.builds(likes, st.sampled_from(["tea", "sushi"]), st.integers(0, 30), st.booleans()),
    ),
    max_size=12,
)


@given(claims)
def test_at_most_one_memory_of_a_slot_is_in_force(said: list[Claim]) -> None:
    memories = after((), settled(said))
    held = [m.slot for m in memories if m.superseded_by is None]
    assert len(held) == len(set(held))
    by_id = {m.id: m for m in memories}
    for m in memories:
        if m.superseded_by:
            assert by_id[m.superseded_by].supersedes == m.id
            assert m.valid_to is not None
            assert m.valid_to >= m.valid_from


@given(claims, st.integers(0, 12))
def test_windows_may_be_cut_anywhere(said: list[Claim], cut: int) -> None:
    together = after((), settled(said))
    first = after((), settled(said[:cut]))
    apart = after(first, settled(said[cut:], first))
    assert in_force(together) == in_force(apart)


@given(claims)
def test_mining_again_changes_nothing(said: list[Claim]) -> None:
    once = after((), settled(said))
    again = settled(said, once)
    assert {m.content for m in after(once, again)} == {m.content for m in once}
    assert len(after(once, again)) == len(once)


@given(
    st.permutations(range(8)), st.lists(st.sampled_from(["Lyon", "Porto", "Rome"]), min_size=8, max_size=8)
)
def test_the_order_of_mining_does_not_matter(order: list[int], places: list[str]) -> None:
    memories: list[MemoryRecord] = []
    for on in order:
        memories = after(memories, settled([home(places[on], on)], memories))
    told = sorted(memories, key=said_at)
    expected = [next(run) for _, run in groupby(places)]
    assert [mined(m)["value"] for m in told] == expected
    assert [m.superseded_by is None for m in told] == [False] * (len(expected) - 1) + [True]
    for one, other in pairwise(told):
        assert (one.superseded_by, other.supersedes) == (other.id, one.id)
        assert one.valid_to == other.valid_from


def test_a_correction_ends_what_was_to_be_reviewed() -> None:
    stored = after((), settled([home("Lyon", 1)]))
    both = after(stored, settled([home("Porto", 20)], stored, "flag_review"))
    done = settled([home("Faro", 30, corrects=True)], both, "flag_review")
    assert in_force(after(both, done)) == ["The user lives in Faro."]
