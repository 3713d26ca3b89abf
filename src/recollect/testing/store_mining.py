"""The store's contract: what waits to be mined, and who is linked to what."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect.model.changes import Change, Put, Remove, Revise
from recollect.model.places import closet_place
from recollect.model.records import PARKED, Closet, Conversation, Entity
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import START, append, draft, entity, fact, ids
from recollect.testing.store_suite import Opener, StoreSuite

HOUR = timedelta(hours=1)


def say(user: UserStore, conversation: str, hours: int = 0) -> None:
    id = f"{conversation}-{hours}"
    user.apply([append(draft("tea", id=id, conversation=conversation, at=START + hours * HOUR))])


def due(now: datetime, *users: UserStore) -> list[str]:
    """Those of the users with something that may be mined by now."""
    return [user.user for user in users if user.unmined(now=now)]


def closet(wing: int, room: int, number: int, first: int, last: int, **more: Any) -> Closet:
    given: dict[str, Any] = {
        "id": closet_place(wing, room, number),
        "at": START + timedelta(days=room, minutes=first),
        "subject": f"s{wing}",
        "slug": f"s{wing}",
        "title": "t",
        "conversation": f"c{room}",
    }
    return Closet(wing=wing, room=room, number=number, first=first, last=last, **{**given, **more})


def counted(user: UserStore, channels: Sequence[str], wing: int | None) -> list[tuple[Any, ...]]:
    """What `places` is to tell, from the closets themselves."""
    groups: dict[int, list[Closet]] = {}
    for one in user.find(Closet, {"channel": list(channels)}):
        if one.conversation is not None and wing in (None, one.wing):
            groups.setdefault(one.wing if wing is None else one.room, []).append(one)
    return [
        (
            number,
            0 if wing else sum(len({c.room for c in found if c.channel == name}) for name in channels),
            len(found),
            sum(c.last - c.first + 1 for c in found),
            min(c.at for c in found),
            max(c.at for c in found),
        )
        for number, found in sorted(groups.items())
    ]


def told(user: UserStore, channels: Sequence[str], wing: int | None) -> list[tuple[Any, ...]]:
    found = user.places(channels, wing, 0, 50)
    assert all(user.get(Closet, [one.closet])[0].conversation for one in found)
    return [(one.number, one.rooms, one.closets, one.drawers, one.first, one.last) for one in found]


GROWING: tuple[list[Change], ...] = (
    [Put(closet(1, 1, 1, 0, 3)), Put(closet(2, 1, 1, 4, 9, channel="work"))],
    [Put(closet(1, 1, 1, 0, 7)), Put(closet(1, 2, 1, 0, 0, type="person")), Put(closet(1, 1, 2, 8, 9))],
    [Put(closet(1, 1, 3, 12, 20, channel="work"))],
    [Revise("closet", "W-001/R-01/C-2", {"channel": "work"})],
    [Put(closet(1, 2, 1, 0, 0, subject="", slug="", title="", conversation=None, channel="_global"))],
    [Put(closet(1, 1, 1, 2, 7, at=START)), Remove("closet", ("W-002/R-01/C-1",))],
    [Remove("closet", ("W-001/R-01/C-1",)), Put(closet(3, 1, 1, 0, 5))],
    [Remove("closet", ("W-001/R-01/C-2", "W-001/R-01/C-3", "W-001/R-02/C-1", "W-003/R-01/C-1"))],
    [Put(closet(1, 1, 1, 0, 3))],
)
"""The palace as it grows, is moved and is erased."""


class MiningContract(StoreSuite):
    """`linking` and `unmined`."""

    def test_those_that_wait_longest_come_first(self, alice: UserStore, reopen: Opener) -> None:
        for conversation, hours in (("b", 2), ("d", 1), ("c", 1), ("a", 3)):
            say(alice, conversation, hours)
        assert ids(alice.unmined()) == ["c", "d", "b", "a"]
        assert ids(alice.unmined(2)) == ["c", "d"]
        say(alice, "c", 4)
        assert ids(reopen().user("alice").unmined()) == ["d", "b", "a", "c"]

    def test_what_is_mined_to_its_end_does_not_wait(self, store: Store, alice: UserStore) -> None:
        say(alice, "a")
        say(alice, "b", 1)
        alice.apply([Revise("conversation", "a", {"mined_to": 1})])
        assert ids(alice.unmined()) == ["b"]
        alice.apply([Revise("conversation", "b", {"mined_to": 1})])
        assert (alice.unmined(), due(START, alice)) == ([], [])
        say(alice, "a", 2)
        (waiting,) = alice.unmined()
        assert (waiting.id, waiting.mined_to, waiting.next_index) == ("a", 1, 2)
        assert due(START, alice) == ["alice"]

    def test_a_turn_behind_what_was_mined_waits(self, alice: UserStore) -> None:
        alice.apply([append(draft(id="late", conversation="a", index=5))])
        alice.apply([Revise("conversation", "a", {"mined_to": 6})])
        alice.apply([append(draft(id="early", conversation="a", index=2))])
        (waiting,) = alice.unmined()
        assert (waiting.mined_to, waiting.next_index) == (2, 6)

    def test_how_mining_stands_is_kept(self, alice: UserStore, reopen: Opener) -> None:
        say(alice, "a")
        state = {"mining_failures": 2, "mining_problem": "no answer", "mining_after": START + HOUR}
        alice.apply([Revise("conversation", "a", state)])
        (waiting,) = reopen().user("alice").unmined()
        assert waiting == replace(alice.get(Conversation, ["a"])[0], **state)

    def test_a_user_is_due_when_one_of_their_conversations_is(self, alice: UserStore, bob: UserStore) -> None:
        say(alice, "a")
        say(bob, "b")
        alice.apply([Revise("conversation", "a", {"mining_after": START + HOUR})])
        assert due(START, alice, bob) == ["bob"]
        assert due(START + HOUR, alice, bob) == ["alice", "bob"]
        assert ids(alice.unmined()) == ["a"]
        say(alice, "other")
        assert due(START, alice, bob) == ["alice", "bob"]

    def test_what_is_parked_waits_until_somebody_speaks_there(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        parked = {"mining_failures": 5, "mining_problem": "poison", "mining_after": PARKED}
        for user in (alice, bob):
            say(user, "a")
            user.apply([Revise("conversation", "a", parked)])
        assert due(START + 100_000 * HOUR, alice, bob) == []
        say(alice, "other")
        assert ids(alice.unmined(now=START)) == ["other"]
        say(alice, "a", 1)
        assert {c.id: c.mining_failures for c in alice.unmined(now=START)} == {"a": 0, "other": 0}
        assert due(START, alice, bob) == ["alice"]
        assert store.unpark() == 1
        assert [(c.mining_problem, c.mining_after) for c in bob.unmined(now=START)] == [(None, None)]

    def test_what_waits_stays_with_its_user(self, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            say(user, "same")
        alice.apply([Revise("conversation", "same", {"mined_to": 1})])
        assert (alice.unmined(), ids(bob.unmined())) == ([], ["same"])
        bob.erase()
        assert (bob.unmined(), due(START, alice, bob)) == ([], [])

    @pytest.mark.parametrize("link", ["about", "keys"])
    def test_who_links_to_what(self, alice: UserStore, bob: UserStore, link: str) -> None:
        def linked(id: str, *targets: str) -> Put:
            if link == "keys":
                return Put(entity(id, "Tea", keys=targets))
            return Put(fact(id, about=targets, sources=("z",)))

        alice.apply([linked("one", "x", "y"), linked("two", "y", "z"), linked("none")])
        bob.apply([linked("his", "x")])
        assert alice.linking(link, ["x"]) == {"one": ("x", "y")}
        assert alice.linking(link, ["x", "y", "x"]) == {"one": ("x", "y"), "two": ("y", "z")}
        assert alice.linking(link, ["z"]) == {"two": ("y", "z")}
        assert alice.linking(link, []) == alice.linking(link, ["nobody"]) == {}
        alice.apply([linked("one", "z"), Remove("entity" if link == "keys" else "fact", ("two",))])
        assert alice.linking(link, ["x", "y", "z"]) == {"one": ("z",)}

    def test_what_a_record_links_to_follows_it(self, alice: UserStore, bob: UserStore) -> None:
        def cited(sources: str, *, keys: str = "k") -> Entity:
            return entity("one", "Tea", sources=tuple(sources), keys=tuple(keys))

        bob.apply([Put(cited("abc"))])
        for stored in (
            cited("abc"),
            cited("abcd"),  # one more
            cited("abcd", keys=""),
            cited("bcd", keys="kl"),  # one less
            cited("dcb", keys="lk"),  # another order
            cited(""),
            cited("abcd"),
        ):
            alice.apply([Put(stored), Put(entity("two", "Cup", sources=("a", "x")))])
            assert alice.get(Entity, ["one"]) == [stored]
            assert alice.linking("sources", ["x"]) == {"two": ("a", "x")}
        alice.apply([append(draft(id="b"))])
        alice.apply([Remove("turn", ("b",))])  # leaves its place empty
        assert alice.get(Entity, ["one"]) == [cited("acd")]
        alice.apply([Put(cited("acdeb"))])
        assert alice.get(Entity, ["one"]) == [cited("acdeb")]
        assert bob.get(Entity, ["one"]) == [cited("abc")]

    def test_how_much_is_in_the_palace_is_kept(self, store: Store, alice: UserStore, bob: UserStore) -> None:
        for changes in GROWING:
            alice.apply(changes)
            for channels in (["_global"], ["work"], ["_global", "work"], ["elsewhere"]):
                for wing in (None, 1, 2, 3):
                    assert told(alice, channels, wing) == counted(alice, channels, wing)
            assert store.check() == []
        assert not bob.places(["_global"], None, 0, 50)

    def test_places_come_a_page_at_a_time_and_stay_with_their_user(
        self, alice: UserStore, bob: UserStore
    ) -> None:
        alice.apply([Put(closet(wing, 1, 1, 0, 1)) for wing in range(1, 6)])
        bob.apply([Put(closet(9, 1, 1, 0, 1))])
        assert [one.number for one in alice.places(["_global"], None, 0, 2)] == [1, 2]
        assert [one.number for one in alice.places(["_global"], None, 2, 9)] == [3, 4, 5]
        assert [one.closet for one in alice.places(["_global"], 4, 0, 9)] == ["W-004/R-01/C-1"]
        alice.erase()
        assert not alice.places(["_global"], None, 0, 9)
        assert [one.number for one in bob.places(["_global"], None, 0, 9)] == [9]
