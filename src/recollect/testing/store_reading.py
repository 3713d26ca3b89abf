"""The store's contract: records are read back in order, in pages, by their fields."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.errors import Invalid, NotFound
from recollect.model.changes import Put, Remove
from recollect.model.records import (
    RECORD_TYPES,
    Closet,
    Conversation,
    Entity,
    Fact,
    Goal,
    GoalStatus,
    MemoryRecord,
    Procedure,
    Record,
    Relation,
    Role,
    Turn,
)
from recollect.model.search import AtLeast, AtMost
from recollect.ports.store import UserStore
from recollect.testing.store_samples import START, append, draft, fact, ids, memory, said, sample
from recollect.testing.store_suite import StoreSuite

HOUR = timedelta(hours=1)
MANY = 1203
"""More than any store reads at a time."""


class ReadingContract(StoreSuite):
    """Get, find, count."""

    def test_get_keeps_the_order_asked_for_and_leaves_out_what_is_missing(self, alice: UserStore) -> None:
        alice.apply([said(4)])
        wanted = ["turn-002", "nobody", "turn-000", "turn-003", "turn-002"]
        assert ids(alice.get(Turn, wanted)) == ["turn-002", "turn-000", "turn-003", "turn-002"]
        assert alice.get(Turn, []) == []

    def test_get_of_another_kind_finds_nothing(self, alice: UserStore) -> None:
        alice.apply([Put(fact("f"))])
        assert alice.get(Procedure, ["f"]) == []
        assert alice.get(Turn, ["f"]) == []

    def test_memories_of_every_kind_are_read_together(self, alice: UserStore) -> None:
        steps = memory(Procedure, "b", "how to", context="by night", tools=("lamp",), sources=("t",))
        alice.apply([Put(fact("a", sources=("t", "u"))), Put(steps), Put(fact("c", pinned=True))])
        known = [*alice.get(Fact, ["c"]), steps, *alice.get(Fact, ["a"])]
        assert alice.get(MemoryRecord, ["c", "b", "nobody", "a"]) == known
        assert [*alice.find(MemoryRecord, {"pinned": False}, order="id", descending=True)] == known[1:]
        assert alice.count(MemoryRecord) == len(known)

    @pytest.mark.parametrize("kind", [Fact, Entity, Relation, Goal, Conversation])
    def test_bare_records_have_no_links(self, alice: UserStore, kind: type[Record]) -> None:
        known = sample(kind)
        alice.apply([Put(known)])
        links = ("sources", "about", "blocked_by", "keys")
        bare = replace(known, **{name: () for name in links if hasattr(known, name)})
        assert alice.get(kind, ["sample"], bare=True) == [*alice.find(kind, bare=True)] == [bare]
        assert alice.get(kind, ["sample"]) == [known]

    def test_some_fields_of_many(self, alice: UserStore, bob: UserStore) -> None:
        names = [f"f-{i:04}" for i in range(2 * MANY)]
        alice.apply([Put(fact(name, pinned=name < "f-0003", content=f"\x00{name}")) for name in names])
        bob.apply([Put(fact("f-0000"))])
        wanted = ("content", "id", "recorded_at", "valid_to", "pinned")
        records = alice.find(MemoryRecord)
        assert [*alice.fields(MemoryRecord, wanted)] == [
            (m.content, m.id, m.recorded_at, m.valid_to, m.pinned) for m in records
        ]
        assert [*alice.fields(Fact, ("id",), {"pinned": True})] == [(name,) for name in names[:3]]
        assert [*alice.fields(Fact, ("id",), {"id": ["f-0001", "none"]})] == [("f-0001",)]
        assert [*alice.fields(Entity, ("id",))] == []

    def test_get_and_remove_of_very_many(self, alice: UserStore) -> None:
        names = [f"f-{i:04}" for i in range(MANY)]
        alice.apply([Put(fact(name, sources=(f"t-{name}",))) for name in names])
        backwards = names[::-1]
        assert ids(alice.get(Fact, backwards)) == backwards
        assert len(alice.linking("sources", [f"t-{name}" for name in names])) == MANY
        alice.apply([Remove("fact", tuple(names[1:]))])
        assert ids(list(alice.find(Fact))) == names[:1]

    def test_rooms_of_turns(self, alice: UserStore, bob: UserStore) -> None:
        at: dict[str, Any] = {"number": 1, "at": START}
        alice.apply(
            [
                Put(Closet(id="1", wing=1, room=2, conversation="c", first=0, last=4, **at)),
                Put(Closet(id="2", wing=3, room=4, conversation="c", first=500, last=509, **at)),
                Put(Closet(id="3", wing=5, room=6, conversation="d", first=500, last=500, **at)),
                Put(Closet(id="4", wing=7, room=8, **at)),
            ]
        )
        bob.apply([Put(Closet(id="1", wing=9, room=9, conversation="c", first=0, last=9, **at))])
        assert alice.rooms([("c", 0), ("c", 4), ("c", 5), ("e", 0)]) == {("c", 0): (1, 2), ("c", 4): (1, 2)}
        far = [("c", 509), ("d", 500), ("d", 501), ("c", 1)]
        assert alice.rooms(far) == {("c", 509): (3, 4), ("d", 500): (5, 6), ("c", 1): (1, 2)}
        assert alice.rooms([("d", 500)]) == {("d", 500): (5, 6)}
        many = [("c", index) for index in range(5000)]
        assert len(alice.rooms(many)) == 15
        assert alice.rooms([]) == {}

    @pytest.mark.parametrize("descending", [False, True])
    @pytest.mark.parametrize("order", ["id", "at", "content", "role"])
    def test_find_in_order(self, alice: UserStore, order: str, descending: bool) -> None:
        turns = self._mixed(alice)
        expected = sorted(turns, key=lambda turn: (getattr(turn, order), turn.id), reverse=descending)
        assert list(alice.find(Turn, order=order, descending=descending)) == expected

    @pytest.mark.parametrize("descending", [False, True])
    @pytest.mark.parametrize("order", ["id", "at", "role", "agent"])
    def test_pages_join_without_a_gap_or_a_repeat(
        self, alice: UserStore, order: str, descending: bool
    ) -> None:
        self._mixed(alice)
        whole = ids(list(alice.find(Turn, order=order, descending=descending)))
        pages: list[str] = []
        last: str | None = None
        while page := ids(list(alice.find(Turn, order=order, descending=descending, after=last, limit=3))):
            pages += page
            last = page[-1]
        assert pages == whole
        assert sorted(whole) == sorted(ids(list(alice.find(Turn))))

    @pytest.mark.parametrize("descending", [False, True])
    def test_what_has_no_value_comes_first_and_goes_last(self, alice: UserStore, descending: bool) -> None:
        alice.apply(
            [
                Put(fact("a", expires_at=START)),
                Put(fact("b")),
                Put(fact("c", expires_at=START - timedelta(1))),
                Put(fact("d")),
            ]
        )
        ordered = ids(list(alice.find(Fact, order="expires_at", descending=descending)))
        assert ordered == (["a", "c", "d", "b"] if descending else ["b", "d", "c", "a"])

    def test_find_reads_past_the_stores_own_page(self, alice: UserStore) -> None:
        alice.apply([append(*(draft("x", id=f"t-{i:04}", chunked=False) for i in range(MANY)))])
        for order in ("id", "at", "index", "agent"):  # `at` and `agent` are the same for all
            assert [turn.index for turn in alice.find(Turn, order=order)] == list(range(MANY))
        assert len(list(alice.find(Turn, limit=MANY - 1, order="agent", descending=True))) == MANY - 1

    def test_find_with_a_limit(self, alice: UserStore) -> None:
        alice.apply([said(5)])
        assert ids(list(alice.find(Turn, limit=2))) == ["turn-000", "turn-001"]
        assert list(alice.find(Turn, limit=0)) == []
        assert len(list(alice.find(Turn, limit=50))) == 5

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({"conversation": "x"}, {"t-0", "t-2", "t-4", "t-6"}),
            ({"role": Role.USER}, {"t-0", "t-3", "t-6"}),
            ({"role": "user"}, {"t-0", "t-3", "t-6"}),
            ({"role": (Role.USER, Role.TOOL)}, {"t-0", "t-2", "t-3", "t-5", "t-6"}),
            ({"role": ["user"], "conversation": "x"}, {"t-0", "t-6"}),
            ({"agent": None}, {"t-0", "t-1", "t-2", "t-3"}),
            ({"agent": "helper"}, {"t-4", "t-5", "t-6"}),
            ({"agent": [None, "helper"]}, {f"t-{i}" for i in range(7)}),
            ({"agent": [None]}, {"t-0", "t-1", "t-2", "t-3"}),
            ({"agent": ["nobody"]}, set[str]()),
            ({"agent": []}, set[str]()),
            ({"at": START}, {f"t-{i}" for i in (0, 3, 6)}),
            ({"index": [0, 1]}, {"t-0", "t-1", "t-2", "t-3"}),
            ({"id": "t-5"}, {"t-5"}),
            ({}, {f"t-{i}" for i in range(7)}),
            (None, {f"t-{i}" for i in range(7)}),
        ],
    )
    def test_find_and_count_by_fields(
        self, alice: UserStore, where: Mapping[str, Any] | None, expected: set[str]
    ) -> None:
        self._mixed(alice)
        assert set(ids(list(alice.find(Turn, where)))) == expected
        assert alice.count(Turn, where) == len(expected)

    def test_find_by_time_truth_number_and_absence(self, alice: UserStore) -> None:
        alice.apply(
            [
                Put(fact("a", pinned=True, confidence=0.5, expires_at=START)),
                Put(fact("b", salience=0.75)),
                Put(Goal(id="g", description="rest", created_at=START, status=GoalStatus.BLOCKED)),
            ]
        )
        for where, expected in (
            ({"pinned": True}, ["a"]),
            ({"pinned": False}, ["b"]),
            ({"confidence": 0.5}, ["a"]),
            ({"salience": [0.75, 0.1]}, ["b"]),
            ({"expires_at": START}, ["a"]),
            ({"expires_at": None}, ["b"]),
        ):
            assert ids(list(alice.find(Fact, where))) == expected
        assert alice.count(Goal, {"status": [GoalStatus.ACTIVE, GoalStatus.BLOCKED]}) == 1

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({"expires_at": AtLeast(START)}, [3, 4, 5, 6, 7]),
            ({"expires_at": AtMost(START)}, [1, 2, 3]),
            ({"expires_at": AtLeast(START + 5 * HOUR)}, []),
            ({"confidence": AtLeast(0.5)}, [4, 5, 6, 7, 8]),
            ({"confidence": AtMost(0.5)}, [0, 1, 2, 3, 4]),
            ({"confidence": AtLeast(0.5), "expires_at": AtMost(START + 2 * HOUR)}, [4, 5]),
            ({"confidence": AtLeast(0.25), "pinned": True}, [2, 4, 6, 8]),
            ({"confidence": AtLeast(0), "expires_at": None}, [0, 8]),
            ({"confidence": AtLeast(2)}, []),
        ],
    )
    def test_find_between_bounds(
        self, alice: UserStore, where: Mapping[str, Any], expected: list[int]
    ) -> None:
        """What has just reached a bound is within it; what has no value is not."""
        for n in range(9):
            end = START + (n - 3) * HOUR if 0 < n < 8 else None
            alice.apply([Put(fact(f"f-{n}", confidence=n / 8, expires_at=end, pinned=n % 2 == 0))])
        assert ids(list(alice.find(Fact, where))) == [f"f-{n}" for n in expected]
        assert alice.count(Fact, where) == len(expected)
        last = list(alice.find(Fact, where, order="confidence", descending=True, limit=2))
        assert ids(last) == [f"f-{n}" for n in expected[::-1][:2]]

    def test_bounds_are_kept_from_page_to_page(self, alice: UserStore) -> None:
        alice.apply([Put(fact(f"f-{n:04}", confidence=n / MANY)) for n in range(MANY)])
        found = list(alice.find(Fact, {"confidence": AtLeast(0.1)}))
        assert ids(found) == [f"f-{n:04}" for n in range(MANY) if n / MANY >= 0.1]

    def test_memories_of_one_kind_do_not_show_among_another(self, alice: UserStore) -> None:
        alice.apply([Put(fact("a")), Put(memory(Procedure, "b", "how to")), Put(fact("c"))])
        assert ids(list(alice.find(Fact))) == ["a", "c"]
        assert ids(list(alice.find(Procedure))) == ["b"]
        assert (alice.count(Fact), alice.count(Procedure)) == (2, 1)

    def test_find_carries_links(self, alice: UserStore) -> None:
        alice.apply([Put(fact("a", sources=("t-2", "t-1"), about=("e",))), Put(fact("b"))])
        assert list(alice.find(Fact)) == [fact("a", sources=("t-2", "t-1"), about=("e",)), fact("b")]

    def test_a_find_under_way_survives_writes(self, alice: UserStore) -> None:
        alice.apply([append(*(draft("x", id=f"t-{i:04}", chunked=False) for i in range(MANY)))])
        walk = alice.find(Turn)
        seen = [next(walk).id]
        alice.apply([Remove("turn", ("t-1202", "t-0000")), append(draft("late", id="t-9999"))])
        seen += [turn.id for turn in walk]
        assert seen == sorted(set(seen))
        assert {"t-0600", "t-1201", "t-9999"} <= set(seen)

    def test_what_find_refuses(self, alice: UserStore) -> None:
        alice.apply([said(1)])
        with pytest.raises(Invalid):
            list(alice.find(Turn, {"colour": "red"}))
        with pytest.raises(Invalid):
            list(alice.find(Turn, order="colour"))
        with pytest.raises(Invalid):
            alice.count(Turn, {"colour": "red"})
        with pytest.raises(NotFound):
            list(alice.find(Turn, after="nobody"))

    @pytest.mark.parametrize("kind", RECORD_TYPES, ids=lambda kind: kind.kind)
    def test_a_user_without_anything(self, alice: UserStore, kind: type[Record]) -> None:
        assert alice.get(kind, ["x"]) == []
        assert list(alice.find(kind)) == []
        assert alice.count(kind) == 0

    def test_reading_stores_nothing(self, alice: UserStore) -> None:
        list(alice.find(Conversation))
        alice.get(Turn, ["x"])
        alice.usage(["x"])
        assert alice.erase() == {}

    def _mixed(self, alice: UserStore) -> list[Turn]:
        """Seven turns that differ in every way that is asked about."""
        roles = (Role.USER, Role.ASSISTANT, Role.TOOL)
        return list(
            alice.apply(
                [
                    append(
                        *(
                            draft(
                                f"said {-i}",
                                id=f"t-{i}",
                                conversation="xy"[i % 2],
                                role=roles[i % 3],
                                agent="helper" if i > 3 else None,
                                at=START + timedelta(seconds=i % 3),
                            )
                            for i in range(7)
                        )
                    )
                ]
            ).turns
        )
