"""Where turns go in the palace: nothing placed ever moves, and no number is used twice (B7)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.mine.extracted import Mention, Topic, Window
from recollect.mine.palace import OWN, UNTITLED, plan_closets, read_palace, slug
from recollect.model.changes import Change, Expect, Put
from recollect.model.places import LONGEST_CLOSET
from recollect.model.records import Closet, Conversation, Role, Turn
from recollect.ports.store import UserView
from recollect.testing.store_samples import START, entity


class Shelf:
    """Closets, found by their fields as a store finds them."""

    def __init__(self) -> None:
        self.closets: dict[str, Closet] = {}

    def find(
        self,
        kind: type[Closet],
        where: Mapping[str, Any] | None = None,
        *,
        order: str = "id",
        descending: bool = False,
        limit: int | None = None,
    ) -> Iterator[Closet]:
        found = [
            closet
            for closet in self.closets.values()
            if all(
                getattr(closet, name) in (value if isinstance(value, list) else [value])
                for name, value in (where or {}).items()
            )
        ]
        found.sort(key=lambda c: (getattr(c, order), c.id), reverse=descending)
        return iter(found[:limit])

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if isinstance(change, Expect):
                assert self.closets.get(change.id) == change.record
        for change in changes:
            if isinstance(change, Put):
                assert isinstance(change.record, Closet)
                assert Expect("closet", change.record.id, self.closets.get(change.record.id)) in changes
                self.closets[change.record.id] = change.record

    def mine(self, window: Window, *topics: Topic, mentions: Sequence[Mention] = ()) -> list[Change]:
        view = cast(UserView, self)
        changes = plan_closets(window, topics, mentions, read_palace(view, window, topics, mentions))
        self.apply(changes)
        return changes

    def told(self) -> list[tuple[str, str, str, tuple[int, int]]]:
        return [(c.id, c.subject, c.title, (c.first, c.last)) for c in self.closets.values()]


def turn(index: int, conversation: str = "c", channel: str = "_global") -> Turn:
    return Turn(
        id=f"{conversation}-{index}",
        conversation=conversation,
        index=index,
        role=Role.USER,
        content=f"said {index}",
        at=START + timedelta(minutes=index),
        recorded_at=START,
        digest="",
        channel=channel,
    )


def window(indexes: Sequence[int], conversation: str = "c", channel: str = "_global") -> Window:
    talk = Conversation(id=conversation, started_at=START, last_at=START)
    return Window(talk, tuple(turn(index, conversation, channel) for index in indexes))


def topic(title: str, first: int, last: int, subject: str = "") -> Topic:
    return Topic(title=title, first=first, last=last, subject=subject)


def person(name: str, *aliases: str) -> Mention:
    return Mention(name=name, type="person", turns=(), aliases=aliases)


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("The Efoil-Rebuild!", "efoil-rebuild"),
        ("  an  Órgão ", "orgao"),
        ("The", "the"),
        ("Straße", "strasse"),
        ("ＡＢＣ", "abc"),
        ("नमस्ते", "नमस्ते"),
        ("🙂", "🙂"),
        ("", ""),
        ("...", "..."),
    ],
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_a_closet_for_each_topic_in_the_wing_of_its_subject(shelf: Shelf) -> None:
    efoil = Mention(name="Efoil rebuild", type="project", turns=())
    topics = (topic("Battery wiring", 0, 3, "the Efoil rebuild"), topic("Tax research", 4, 6))
    shelf.mine(window(range(8)), *topics, mentions=[efoil])
    assert shelf.told() == [
        ("W-001/R-01/C-1", "Efoil rebuild", "Battery wiring", (0, 3)),
        ("W-002/R-01/C-1", "Tax research", "Tax research", (4, 7)),
    ]
    assert [c.type for c in shelf.closets.values()] == ["project", "topic"]


def test_without_topics_it_is_the_users_own_and_goes_on(shelf: Shelf) -> None:
    shelf.mine(window([0, 1]))
    shelf.mine(window([2, 3]))
    shelf.mine(window([4, 5]), topic("Boats", 5, 5))
    assert shelf.told() == [
        ("W-001/R-01/C-1", OWN, UNTITLED, (0, 4)),
        ("W-002/R-01/C-1", "Boats", "Boats", (5, 5)),
    ]


def test_what_comes_before_the_first_topic_belongs_to_it(shelf: Shelf) -> None:
    shelf.mine(window(range(6)), topic("Boats", 2, 3))
    assert shelf.told() == [("W-001/R-01/C-1", "Boats", "Boats", (0, 5))]


def test_a_topic_that_goes_on_stays_in_its_closet(shelf: Shelf) -> None:
    shelf.mine(window([0, 1]), topic("Wiring", 0, 1, "Boat"))
    shelf.mine(window([2, 3]), topic("Wiring", 2, 3, "the boat"))
    shelf.mine(window([4]), topic("Paint", 4, 4, "Boat"))
    shelf.mine(window([5]), topic("Wiring", 5, 5, "Boat"))  # taken up again
    shelf.mine(window([7]), topic("Wiring", 7, 7, "Boat"))  # with something in between
    assert [(id, span) for id, _, _, span in shelf.told()] == [
        ("W-001/R-01/C-1", (0, 3)),
        ("W-001/R-01/C-2", (4, 4)),
        ("W-001/R-01/C-3", (5, 5)),
        ("W-001/R-01/C-4", (7, 7)),
    ]


def test_wings_are_one_by_alias_and_rooms_are_conversations(shelf: Shelf) -> None:
    anna = person("Anna", "Annie", "Ms Kowalska")
    shelf.mine(window([0], "a"), topic("Visit", 0, 0, "annie"), mentions=[anna])
    shelf.mine(window([0], "b"), topic("Birthday", 0, 0, "Anna"))
    shelf.mine(
        window([0], "d"),
        topic("Work", 0, 0, "Ms. Kowalska"),
        mentions=[person("Kowalska", "ANNA", "Ms Kowalska")],
    )
    shelf.mine(window([1], "a"), topic("Gift", 1, 1, "Anna"))
    assert [(id, subject) for id, subject, _, _ in shelf.told()] == [
        ("W-001/R-01/C-1", "Anna"),
        ("W-001/R-02/C-1", "Anna"),
        ("W-001/R-03/C-1", "Anna"),
        ("W-001/R-01/C-2", "Anna"),
    ]
    assert {(c.type, c.slug) for c in shelf.closets.values()} == {("person", "anna")}


def test_what_kind_of_subject_it_is_may_be_learnt_later(shelf: Shelf) -> None:
    shelf.mine(window([0], "a"), topic("Visit", 0, 0, "Anna"))
    shelf.mine(window([0], "b"), topic("Visit", 0, 0, "Anna"), mentions=[person("Anna")])
    shelf.mine(window([0], "d"), topic("Visit", 0, 0, "Anna"))
    assert [(c.wing, c.type) for c in shelf.closets.values()] == [(1, "topic"), (1, "person"), (1, "topic")]


def test_entities_are_subjects_as_mentions_are() -> None:
    known = entity("e", "Anna", type="person", aliases=("Annie",))
    said, talk = [topic("Visit", 0, 0, "Annie")], window([0])
    (_, put) = plan_closets(talk, said, [known], read_palace(cast(UserView, Shelf()), talk, said, [known]))
    assert isinstance(put, Put)
    assert isinstance(put.record, Closet)
    assert (put.record.subject, put.record.slug) == ("Anna", "anna")


@pytest.mark.parametrize("name", ["user", "The User", "Derek"])
def test_what_is_the_users_is_in_their_own_wing(shelf: Shelf, name: str) -> None:
    shelf.mine(window([0]), topic("Diet", 0, 0, name), mentions=[person("user", "Derek")])
    assert shelf.told() == [("W-001/R-01/C-1", OWN, "Diet", (0, 0))]


def test_the_narrowest_topic_counts_and_a_channel_is_not_mixed(shelf: Shelf) -> None:
    shelf.mine(window(range(4)), topic("Trip", 0, 3), topic("Flight", 1, 1))
    assert [(t, span) for _, _, t, span in shelf.told()] == [
        ("Trip", (0, 0)),
        ("Flight", (1, 1)),
        ("Trip", (2, 3)),
    ]
    shelf.mine(window([4], channel="work"), topic("Trip", 4, 4))
    assert shelf.told()[-1][2:] == ("Trip", (4, 4))


def test_a_closet_does_not_grow_without_end(shelf: Shelf) -> None:
    shelf.mine(window(range(50)), topic("Boats", 0, 49))
    shelf.mine(window(range(50, 80)))
    shelf.mine(window(range(80, 300)), topic("Boats", 80, 299))
    assert [(id, title, span) for id, _, title, span in shelf.told()] == [
        ("W-001/R-01/C-1", "Boats", (0, 49)),
        ("W-001/R-01/C-2", "Boats", (50, 79)),
        ("W-001/R-01/C-3", "Boats", (80, 143)),
        ("W-001/R-01/C-4", "Boats", (144, 207)),
        ("W-001/R-01/C-5", "Boats", (208, 271)),
        ("W-001/R-01/C-6", "Boats", (272, 299)),
    ]
    assert max(c.last - c.first for c in shelf.closets.values()) < LONGEST_CLOSET


def test_an_erased_number_is_not_used_again(shelf: Shelf) -> None:
    shelf.mine(window([0, 1, 2]), topic("Wiring", 0, 1, "Boat"), topic("Paint", 2, 2, "Boat"))
    husk = Closet(id="W-001/R-01/C-2", wing=1, room=1, number=2, at=START)
    shelf.closets[husk.id] = husk
    shelf.mine(window([3]), topic("Sale", 3, 3, "Boat"))
    assert shelf.told()[-1][0] == "W-001/R-01/C-3"
    shelf.closets = {
        id: Closet(id=id, wing=1, room=1, number=c.number, at=START) for id, c in shelf.closets.items()
    }
    shelf.mine(window([0]), topic("Sale", 0, 0, "Boat"))
    assert shelf.told()[-1][:2] == ("W-002/R-01/C-1", "Boat")


def test_two_that_plan_at_once_want_the_same_place() -> None:
    view = cast(UserView, Shelf())
    plans = [
        plan_closets(talk, (about,), (), read_palace(view, talk, (about,), ()))
        for talk, about in ((window([0], "a"), topic("Boats", 0, 0)), (window([0], "b"), topic("Cars", 0, 0)))
    ]
    assert [changes[0] for changes in plans] == [Expect("closet", "W-001/R-01/C-1", None)] * 2


NAMES = st.sampled_from(["", "Anna", "annie", "the Boat", "boat", "user", "Tax"])
TOPICS = st.builds(
    lambda title, first, length, subject: topic(title, first, first + length, subject),
    st.sampled_from(["Wiring", "Paint", "Visit", " "]),
    st.integers(0, 29),
    st.integers(0, 12),
    NAMES,
)
WINDOWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.integers(0, 29),
        st.integers(1, 10),
        st.lists(TOPICS, max_size=4),
        st.sampled_from(["_global", "work"]),
    ),
    max_size=8,
)


@given(WINDOWS)
def test_whatever_is_mined_in_whatever_order(
    windows: list[tuple[str, int, int, list[Topic], str]],
) -> None:
    shelf, people = Shelf(), [person("Anna", "Annie")]
    placed: dict[tuple[str, int], str] = {}
    numbers: set[str] = set()
    for conversation, start, length, topics, channel in windows:
        before = dict(shelf.closets)
        talk = window(range(start, start + length), conversation, channel)
        shelf.mine(talk, *topics, mentions=people)
        assert shelf.mine(talk, *topics, mentions=people) == []
        for id, old in before.items():
            new = shelf.closets[id]
            assert (new.wing, new.room, new.number, new.first, new.slug, new.title) == (
                old.wing,
                old.room,
                old.number,
                old.first,
                old.slug,
                old.title,
            )
        numbers |= shelf.closets.keys()
        for said in talk.turns:
            around = [
                c
                for c in shelf.closets.values()
                if c.conversation == conversation and c.first <= said.index <= c.last
            ]
            assert len(around) == 1
            place = (conversation, said.index)
            assert placed.setdefault(place, around[0].id) == around[0].id
    closets = list(shelf.closets.values())
    assert len({c.slug for c in closets}) == len({c.wing for c in closets})
    rooms = {(c.wing, c.room): c.conversation for c in closets}
    assert len(rooms) == len({(c.wing, c.conversation) for c in closets})
    assert sorted({c.wing for c in closets}) == list(range(1, len({c.wing for c in closets}) + 1))
