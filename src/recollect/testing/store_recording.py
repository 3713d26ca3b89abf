"""The store's contract: what is written, all of it or none."""

from dataclasses import fields, replace
from datetime import timedelta, timezone
from typing import Any

import numpy as np
import pytest

from recollect.errors import Conflict, Invalid, NotFound
from recollect.model.changes import Chunk, Expect, Put, Remove, Revise
from recollect.model.records import (
    BY_KIND,
    RECORD_TYPES,
    Conversation,
    Entity,
    Fact,
    Goal,
    GoalStatus,
    Procedure,
    Record,
    Role,
    ToolInvocation,
    Turn,
)
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import (
    SPACE,
    START,
    append,
    draft,
    entity,
    fact,
    ids,
    memory,
    put,
    question,
    said,
    sample,
)
from recollect.testing.store_suite import Opener, StoreSuite, found

every_kind = pytest.mark.parametrize("kind", RECORD_TYPES, ids=lambda kind: kind.kind)


def _hello(other: dict[str, Any]) -> dict[str, Any]:
    return {"content": "hello", "id": "c", "index": 0, **other}


class RecordingContract(StoreSuite):
    """Append, put, revise, remove."""

    def test_a_turn_is_stored_as_it_was_said(self, alice: UserStore, reopen: Opener) -> None:
        written = draft(
            id="t-1",
            role=Role.ASSISTANT,
            channel="work",
            agent="helper",
            zone="Europe/Berlin",
            model="some-model",
            tokens=7,
            metadata={"mood": "calm"},
            recorded_at=START + timedelta(seconds=1),
        )
        applied = alice.apply([append(written)])
        (stored,) = reopen().user("alice").get(Turn, ["t-1"])
        assert applied.turns == (stored,)
        assert applied.created == 1
        assert stored.index == 0
        for name in ("content", "role", "at", "recorded_at", "digest", "channel", "agent", "zone", "model"):
            assert getattr(stored, name) == getattr(written, name)
        assert (stored.tokens, stored.metadata) == (7, {"mood": "calm"})

    def test_appending_opens_the_conversation_and_keeps_it_current(self, alice: UserStore) -> None:
        late, early = START + timedelta(hours=1), START - timedelta(hours=1)
        alice.apply([append(draft(id="a", channel="work", agent="helper", title="Trip"))])
        alice.apply([append(draft(id="b", at=late), draft(id="c", at=early))])
        (conversation,) = alice.get(Conversation, ["march-15"])
        assert conversation == Conversation(
            id="march-15",
            channel="work",
            agent="helper",
            title="Trip",
            started_at=early,
            last_at=late,
            next_index=3,
        )

    def test_without_an_index_the_same_words_are_a_new_turn(self, alice: UserStore) -> None:
        applied = alice.apply([append(draft("yes", id="a"), draft("yes", id="b"))])
        applied_later = alice.apply([append(draft("yes", id="c"))])
        assert [turn.index for turn in (*applied.turns, *applied_later.turns)] == [0, 1, 2]
        assert (applied.created, applied_later.created) == (2, 1)

    def test_recording_again_under_the_same_index_changes_nothing(self, alice: UserStore) -> None:
        first = alice.apply([append(draft("hello", id="a", index=0))])
        again = alice.apply([append(draft("hello", id="b", index=0, at=START + timedelta(days=1)))])
        assert again.turns == first.turns
        assert again.created == 0
        assert ids(list(alice.find(Turn))) == ["a"]
        assert [entry.id for entry in alice.feed(first.seq)] == []

    def test_the_same_index_twice_in_one_append(self, alice: UserStore) -> None:
        applied = alice.apply([append(draft("hello", id="a", index=4), draft("hello", id="b", index=4))])
        assert [turn.id for turn in applied.turns] == ["a", "a"]
        assert applied.created == 1

    def test_two_appends_in_the_first_change_of_all(self, alice: UserStore) -> None:
        appends = [append(draft("hello", id="a", index=0)), append(draft("hello", id="b", index=0))]
        applied = alice.apply([*appends, append(draft("and", id="c"))])
        assert [(turn.id, turn.index) for turn in applied.turns] == [("a", 0), ("a", 0), ("c", 1)]

    @pytest.mark.parametrize("other", [{"content": "bye"}, {"role": Role.ASSISTANT}])
    def test_something_else_under_the_same_index_is_a_conflict(
        self, alice: UserStore, other: dict[str, Any]
    ) -> None:
        alice.apply([append(draft("hello", id="a", index=0))])
        with pytest.raises(Conflict):
            alice.apply(
                [
                    append(
                        draft("new", id="b", index=1),
                        draft(**_hello(other)),
                    )
                ]
            )
        assert ids(list(alice.find(Turn))) == ["a"]

    def test_appending_goes_behind_the_highest_index(self, alice: UserStore) -> None:
        alice.apply([append(draft("far", id="a", index=41))])
        applied = alice.apply([append(draft("next", id="b"), draft("between", id="c", index=7))])
        assert [turn.index for turn in applied.turns] == [42, 7]
        assert alice.apply([append(draft("last", id="d"))]).turns[0].index == 43

    def test_a_removed_turns_index_is_not_given_again(self, alice: UserStore) -> None:
        alice.apply([said(3)])
        alice.apply([Remove("turn", ("turn-002",))])
        assert alice.apply([append(draft(id="new"))]).turns[0].index == 3

    def test_each_conversation_counts_for_itself(self, alice: UserStore) -> None:
        applied = alice.apply(
            [append(*(draft(id=f"{c}{i}", conversation=c) for i in range(2) for c in ("x", "y")))]
        )
        assert [(turn.conversation, turn.index) for turn in applied.turns] == [
            ("x", 0),
            ("y", 0),
            ("x", 1),
            ("y", 1),
        ]

    def test_a_turns_id_is_taken_once(self, alice: UserStore) -> None:
        alice.apply([append(draft("hello", id="a"))])
        with pytest.raises(Conflict):
            alice.apply([append(draft("other", id="a", conversation="elsewhere"))])
        assert [turn.content for turn in alice.find(Turn)] == ["hello"]
        assert alice.count(Conversation) == 1

    def test_a_turn_cannot_be_put_where_another_is(self, alice: UserStore) -> None:
        (turn,) = alice.apply([append(draft("hello", id="a"))]).turns
        with pytest.raises(Conflict):
            alice.apply([Put(replace(turn, id="b"))])
        assert ids(list(alice.find(Turn))) == ["a"]

    @every_kind
    def test_every_kind_round_trips(self, alice: UserStore, reopen: Opener, kind: type[Record]) -> None:
        record = sample(kind)
        alice.apply([Put(record)])
        assert reopen().user("alice").get(kind, ["sample"]) == [record]

    @every_kind
    def test_every_kind_is_replaced(self, alice: UserStore, kind: type[Record]) -> None:
        alice.apply([Put(sample(kind, "one")), Put(sample(kind, "two", 2))])
        alice.apply([Put(sample(kind, "one", 1))])
        assert list(alice.find(kind)) == [sample(kind, "one", 1), sample(kind, "two", 2)]

    @every_kind
    def test_every_kind_is_removed(self, alice: UserStore, kind: type[Record]) -> None:
        alice.apply([Put(sample(kind, "one")), Put(sample(kind, "two", 1))])
        alice.apply([Remove(kind.kind, ("one", "never was"))])
        assert alice.get(kind, ["one", "two"]) == [sample(kind, "two", 1)]

    @every_kind
    def test_what_is_optional_may_be_missing(self, alice: UserStore, kind: type[Record]) -> None:
        optional = {field.name: None for field in fields(kind) if field.default is None}
        record = replace(sample(kind), **optional)
        alice.apply([Put(record)])
        assert alice.get(kind, ["sample"]) == [record]

    def test_times_come_back_in_utc(self, alice: UserStore) -> None:
        east = START.astimezone(timezone(timedelta(hours=9)))
        alice.apply([Put(fact("f", valid_from=east))])
        (stored,) = alice.get(Fact, ["f"])
        assert stored.valid_from == east
        assert stored.valid_from.utcoffset() == timedelta(0)

    def test_a_put_of_the_same_record_twice_at_once_is_refused(self, alice: UserStore) -> None:
        with pytest.raises(Invalid):
            alice.apply([Put(fact("f", "one")), Put(fact("f", "two"))])
        assert alice.count(Fact) == 0

    def test_an_id_belongs_to_one_kind_of_memory(self, alice: UserStore) -> None:
        alice.apply([put(fact("m", "likes tea"))])
        with pytest.raises(Conflict):
            alice.apply([put(memory(Procedure, "m", "brews tea"))])
        with pytest.raises(NotFound):
            alice.apply([Revise("procedure", "m", {"pinned": True})])
        alice.apply([Remove("procedure", ("m",))])
        assert alice.get(Fact, ["m"]) == [fact("m", "likes tea")]
        assert alice.get(Procedure, ["m"]) == []
        assert found(alice, question("tea")) == {"m"}

    def test_a_conversation_named_like_a_memory_does_not_take_it_along(self, alice: UserStore) -> None:
        alice.apply([append(draft(id="t", conversation="m")), put(fact("m", "likes tea", sources=("t",)))])
        alice.apply([Remove("conversation", ("m",))])
        assert alice.get(Fact, ["m"]) == [fact("m", "likes tea", sources=("t",))]
        assert found(alice, question("tea")) == {"m"}

    def test_revise_sets_fields_and_leaves_the_rest(self, alice: UserStore) -> None:
        alice.apply([put(sample(Fact))])
        changed = {
            "retired_at": START,
            "pinned": False,
            "confidence": 0.25,
            "agent": None,
            "metadata": {"a": [1]},
        }
        alice.apply([Revise("fact", "sample", changed)])
        assert alice.get(Fact, ["sample"]) == [replace(sample(Fact), **changed)]

    def test_revise_of_enums_tuples_and_json(self, alice: UserStore) -> None:
        alice.apply([Put(sample(kind)) for kind in (Goal, Entity, ToolInvocation)])
        alice.apply(
            [
                Revise("goal", "sample", {"status": GoalStatus.BLOCKED}),
                Revise("entity", "sample", {"aliases": ("x", "y")}),
                Revise("tool_invocation", "sample", {"output": None}),
            ]
        )
        assert alice.get(Goal, ["sample"])[0].status is GoalStatus.BLOCKED
        assert alice.get(Entity, ["sample"])[0].aliases == ("x", "y")
        assert alice.get(ToolInvocation, ["sample"])[0].output is None

    def test_revise_of_what_is_not_there(self, alice: UserStore) -> None:
        with pytest.raises(NotFound):
            alice.apply([Revise("fact", "nobody", {"pinned": True})])

    @pytest.mark.parametrize(
        "refused", [{"content": "changed"}, {"id": "other"}, {"colour": "red"}, {"confidence": None}]
    )
    def test_what_revise_refuses(self, alice: UserStore, refused: dict[str, object]) -> None:
        alice.apply([Put(fact("f"))])
        with pytest.raises(Invalid):
            alice.apply([Revise("fact", "f", refused)])
        assert alice.get(Fact, ["f"]) == [fact("f")]

    def test_removing_nothing_is_no_error(self, alice: UserStore) -> None:
        alice.apply([Remove("fact", ()), Remove("turn", ("nobody",))])
        assert list(alice.feed()) == []

    def test_links_keep_their_order_and_go_with_their_ends(self, alice: UserStore) -> None:
        alice.apply([said(3), Put(entity("e-2", "Hawaii")), Put(entity("e-1", "Derek"))])
        linked = fact("f", sources=("turn-002", "turn-000", "turn-001"), about=("e-2", "e-1"))
        alice.apply([Put(linked), Put(sample(Goal, "g"))])
        assert alice.get(Fact, ["f"]) == [linked]
        assert alice.get(Goal, ["g"])[0].blocked_by == sample(Goal).blocked_by
        alice.apply([Remove("turn", ("turn-000",)), Remove("entity", ("e-2",))])
        assert alice.get(Fact, ["f"]) == [replace(linked, sources=("turn-002", "turn-001"), about=("e-1",))]
        alice.apply([Put(replace(linked, sources=("turn-001",), about=()))])
        assert alice.get(Fact, ["f"])[0].sources == ("turn-001",)

    def test_derived_from_gives_all_sources_of_what_cites_a_turn(self, alice: UserStore) -> None:
        alice.apply(
            [
                Put(fact("one", sources=("a", "b"))),
                Put(fact("two", sources=("c",))),
                Put(entity("who", "Derek", sources=("b",))),
                Put(fact("none", about=("a", "b"))),
            ]
        )
        assert alice.linking("sources", ["b", "missing"]) == {"one": ("a", "b"), "who": ("b",)}
        alice.apply([Remove("fact", ("one",))])
        assert alice.linking("sources", ["a", "b"]) == {"who": ("b",)}
        assert alice.linking("sources", []) == {}

    def test_what_is_expected_has_to_be_so(self, alice: UserStore) -> None:
        stored = fact("f", "tea", sources=("t",), metadata={"a": [1]})
        alice.apply([Expect("fact", "f", None), Put(stored)])
        alice.apply([Expect("fact", "f", stored), Revise("fact", "f", {"pinned": True})])
        before = list(alice.feed())
        for expected in (
            Expect("fact", "f", stored),
            Expect("fact", "f", None),
            Expect("fact", "nobody", fact("nobody")),
            Expect("procedure", "f", memory(Procedure, "f", "tea")),
        ):
            with pytest.raises(Conflict):
                alice.apply([Put(fact("other")), expected])
        assert list(alice.feed()) == before
        alice.apply([Expect("fact", "f", replace(stored, pinned=True)), Expect("turn", "\ud800", None)])

    @every_kind
    def test_every_kind_can_be_expected(self, alice: UserStore, kind: type[Record]) -> None:
        alice.apply([Put(sample(kind)), Expect(kind.kind, "sample", sample(kind))])
        with pytest.raises(Conflict):
            alice.apply([Expect(kind.kind, "sample", sample(kind, variant=1))])

    def test_a_failing_change_leaves_nothing_of_the_others(self, store: Store) -> None:
        carol = store.user("carol")
        changes = [said(2), put(fact("f", "likes tea")), Revise("fact", "nobody", {"pinned": True})]
        with pytest.raises(NotFound):
            carol.apply(changes)
        assert [carol.count(kind) for kind in BY_KIND.values()] == [0] * len(BY_KIND)
        assert list(carol.feed()) == []
        assert carol.search(question("tea number1")) == []
        assert store.check() == []
        carol.apply(changes[:2])
        assert found(carol, question("tea number1")) == {"f", "turn-001"}

    def test_a_failing_change_leaves_what_was_there(self, alice: UserStore) -> None:
        before = alice.apply([said(2), put(fact("f", "likes tea"))]).seq
        with pytest.raises(Invalid):
            alice.apply(
                [
                    Remove("turn", ("turn-000",)),
                    put(fact("f", "likes coffee")),
                    Put(fact("g"), (Chunk(0, 3, np.full(SPACE.dimensions, np.nan, np.float32)),)),
                ],
                SPACE,
            )
        assert ids(list(alice.find(Turn))) == ["turn-000", "turn-001"]
        assert found(alice, question("tea coffee number0")) == {"f", "turn-000"}
        assert list(alice.feed(before)) == []
