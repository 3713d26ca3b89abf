"""The store's contract: what the audit takes in, what goes out of it, and when it is let go."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from recollect.model.changes import Log, Put, Remove, Unname
from recollect.model.records import AuditEntry, Fact
from recollect.model.scope import FORGOTTEN
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import HARD_TEXTS, START, append, draft, put, said
from recollect.testing.store_samples import fact as a_fact
from recollect.testing.store_suite import StoreSuite


def entry(id: str, at: datetime = START, **fields: Any) -> AuditEntry:
    return replace(AuditEntry(id=id, operation="recall", subject="memories", at=at), **fields)


def audit(user: UserStore) -> list[AuditEntry]:
    return list(user.find(AuditEntry))


class AuditContract(StoreSuite):
    """`Log`, `Unname`, `moment`, `note`, `drop_audit`."""

    def test_an_entry_of_turns_counts_the_new_ones(self, alice: UserStore) -> None:
        for id in ("1", "2"):
            told = draft("tea", id=f"t{id}", conversation="c", index=0)
            alice.apply([append(told), Log(entry(id), turns=True)])
        assert [(one.id, one.count) for one in audit(alice)] == [("1", 1)]

    def test_what_was_read_is_noted(self, alice: UserStore) -> None:
        assert alice.moment() is None
        alice.apply([said(1)])
        since = alice.moment()
        assert since is not None
        told = entry("1", payload='{"query": "tea"}', agent="scout", details={"channels": {"work": 1}})
        alice.note([told], since)
        assert audit(alice) == [told]
        assert [change.kind for change in alice.feed(since.seq)] == ["audit"], "whoever copies hears of it"

    def test_what_is_erased_meanwhile_is_not_noted(self, alice: UserStore) -> None:
        alice.apply([said(1), put(a_fact("f", "tea"))])
        since = alice.moment()
        assert since is not None
        alice.apply([Remove("fact", ("f",))])
        told = entry("1", payload="tea", conversation="c")
        alice.note([told], since)
        assert audit(alice) == [replace(told, payload=None)]
        alice.apply([Log(entry("2", operation="forget", subject="conversation"))])
        alice.note([replace(told, id="3")], since)
        (late,) = (one for one in audit(alice) if one.id == "3")
        assert (late.payload, late.conversation, late.channel) == (None, None, FORGOTTEN)

    def test_a_conversation_that_goes_meanwhile_is_not_named(self, alice: UserStore) -> None:
        alice.apply([said(1, conversation="c")])
        since = alice.moment()
        assert since is not None
        ended = Log(entry("1", operation="erase", subject="conversation"))
        alice.apply([Remove("conversation", ("c",), scrub=False), Unname("conversation", ("c",)), ended])
        alice.note([entry("2", conversation="c", details={"searched": ["c"]}, payload="c")], since)
        (late,) = (one for one in audit(alice) if one.id == "2")
        assert (late.conversation, late.details, late.payload) == (None, {}, None)

    def test_what_is_searched_anew_meanwhile_was_not_erased(self, alice: UserStore) -> None:
        alice.apply([said(1), put(a_fact("f", "tea"))])
        since = alice.moment()
        assert since is not None
        alice.apply([put(a_fact("f", "green tea"))])
        alice.note([told := entry("1", payload="tea")], since)
        assert audit(alice) == [told]

    def test_nothing_is_noted_of_who_was_erased(self, store: Store, alice: UserStore) -> None:
        alice.apply([said(1)])
        since = alice.moment()
        assert since is not None
        alice.erase()
        alice.note([entry("1", payload="tea")], since)
        assert "alice" not in store.users()
        alice.apply([said(1)])  # another one of that name
        alice.note([entry("1", payload="tea")], since)
        assert audit(alice) == []

    def test_removals_empty_payloads(self, alice: UserStore) -> None:
        alice.apply([put(a_fact("f", "tea")), Log(entry("1", payload="tea")), Log(entry("2"))])
        before = alice.seq()
        alice.apply([Remove("fact", ("f",))])
        assert [one.payload for one in audit(alice)] == [None, None]
        assert [change.id for change in alice.feed(before) if change.kind == "audit"] == ["1"]

    def test_what_lives_on_in_another_record_empties_nothing(self, alice: UserStore) -> None:
        told = [Log(entry("1", payload="tea"))]
        alice.apply([put(a_fact("f", "tea")), put(a_fact("g", "tea")), *told])
        alice.apply([Remove("fact", ("f",), scrub=False, erases=False)])
        assert [one.payload for one in audit(alice)] == ["tea"]

    def test_a_name_that_is_forgotten_empties_payloads(self, alice: UserStore) -> None:
        for field in ("conversation", "channel", "agent"):
            alice.apply([Put(entry("1", payload="march"))])
            alice.apply([Unname(field, ("march",))])
            assert [one.payload for one in audit(alice)] == [None]

    def test_names_are_taken_out(self, alice: UserStore, bob: UserStore) -> None:
        for name in (*filter(None, HARD_TEXTS.values()), "work"):
            places = dict.fromkeys(("conversation", "channel", "agent"), name)
            for user in (alice, bob):
                told = [
                    entry("1", **places, details={"from": name, "n": [1, name]}),
                    entry("2", conversation="other", details={"channels": {name: 2, "other": 1}}),
                ]
                user.apply([Put(one) for one in told])
            for field in ("conversation", "channel", "agent"):
                alice.apply([Unname(field, (name, "unheard of"))])
            first, second = audit(alice)
            assert (first.conversation, first.channel, first.agent) == (None, FORGOTTEN, None)
            assert first.details == {"from": FORGOTTEN, "n": [1, FORGOTTEN]}
            assert (second.conversation, second.details) == (
                "other",
                {"channels": {FORGOTTEN: 2, "other": 1}},
            )
            assert audit(bob) == told

    def test_a_name_is_taken_out_of_a_reason(self, alice: UserStore) -> None:
        for name in ("work", "it's", "Zoë's 工作"):
            told = "there are 3 of at most 1 memories in the channel {!r}: the least valuable goes"
            alice.apply([Put(entry("1", details={"why": told.format(name), "n": "workshop"}))])
            alice.apply([Unname("channel", (name,))])
            assert [one.details for one in audit(alice)] == [{"why": told.format(FORGOTTEN), "n": "workshop"}]

    def test_old_days_are_let_go(self, store: Store, alice: UserStore, bob: UserStore) -> None:
        days = [START - timedelta(days=n) for n in (0, 1, 10, 400)]
        for user in (alice, bob):
            user.apply([Log(entry(str(n), at)) for n, at in enumerate(days)])
            user.apply([put(a_fact("f", "tea"))])
        midnight = START.replace(hour=0, minute=0, second=0, microsecond=0)
        store.drop_audit(midnight - timedelta(days=5))
        for user in (alice, bob):
            assert [one.id for one in audit(user)] == ["0", "1"]
            assert user.count(Fact) == 1
        assert store.drop_audit(midnight - timedelta(days=5)) == 0
        assert store.check() == []
