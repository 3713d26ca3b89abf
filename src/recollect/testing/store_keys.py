"""The store's contract: keys to the server."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from recollect.errors import Conflict, NotFound
from recollect.ports.keys import SESSIONS, ApiKey, KeyRole
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import START, said
from recollect.testing.store_suite import Opener, StoreSuite

MINUTE = timedelta(minutes=1)


def key(id: str, owner: str | None = "alice", **more: Any) -> ApiKey:
    role = KeyRole.SERVICE if owner is None else KeyRole.USER
    given: dict[str, Any] = {"name": id, "role": role, "owner": owner, "created_at": START, **more}
    return ApiKey(id=id, digest=f"digest of {id}", **given)


def session(id: str, parent: str, owner: str | None = "alice", **more: Any) -> ApiKey:
    return key(id, owner, **{"parent": parent, "expires_at": START + MINUTE, **more})


class KeysContract(StoreSuite):
    """`add_key`, `keys`, `sessions`, `key`, `key_by_digest`, `revoke_key` and `note_key_used`."""

    def test_a_key_is_found_by_its_digest(self, store: Store, reopen: Opener) -> None:
        full = key("k1", expires_at=START + MINUTE, revoked_at=START, used_at=START, name="caf\x00é\ud800")
        bare = key("k2", None)
        store.add_key(full)
        store.add_key(bare)
        again = reopen()
        assert again.key_by_digest("digest of k1") == full
        assert again.key_by_digest("digest of k2") == bare
        assert again.key_by_digest("digest of k3") is None
        assert again.key_by_digest("k1\x00") is None

    def test_keys_are_listed_newest_first_in_pages(self, store: Store) -> None:
        assert store.keys() == []
        made = [key(f"k{n}", None) for n in range(5)]
        for one in made:
            store.add_key(one)
        assert store.keys() == made[::-1]
        assert store.keys(2) == [made[4], made[3]]
        assert store.keys(2, after="k3") == [made[2], made[1]]
        assert store.keys(after="k0") == []
        own = key("k2x", "alice")
        store.add_key(own)
        assert store.keys(owner="alice") == [own]
        assert store.keys(after="k2x", owner="alice") == store.keys(owner="bob") == []
        assert (store.key("k2x"), store.key("k2y"), store.key("\x00")) == (own, None, None)

    @pytest.mark.parametrize("taken", [{"id": "k1"}, {"digest": "digest of k1"}])
    def test_no_two_keys_are_one(self, store: Store, taken: dict[str, str]) -> None:
        store.add_key(key("k1"))
        with pytest.raises(Conflict):
            store.add_key(replace(key("k2", "bob"), **taken))
        assert store.keys() == [key("k1")]

    def test_a_key_is_revoked_once_and_for_all(self, store: Store, reopen: Opener) -> None:
        store.add_key(key("k1"))
        store.add_key(key("k2"))
        assert store.revoke_key("k1", START) == key("k1", revoked_at=START)
        assert reopen().revoke_key("k1", START + MINUTE) == key("k1", revoked_at=START)
        assert store.keys() == [key("k2"), key("k1", revoked_at=START)]
        for nothing in ("k3", "", "k1\x00"):
            with pytest.raises(NotFound):
                store.revoke_key(nothing, START)

    def test_the_latest_use_is_noted(self, store: Store, reopen: Opener) -> None:
        store.add_key(key("k1"))
        other = reopen()
        with ThreadPoolExecutor(4) as threads:
            notes = [
                partial(s.note_key_used, "k1", START + n * MINUTE) for n in range(9) for s in (store, other)
            ]
            for done in [threads.submit(note) for note in notes]:
                done.result()
        store.note_key_used("k2", START)
        assert store.keys() == [key("k1", used_at=START + 8 * MINUTE)]

    def test_a_key_is_valid_until_it_expires_or_is_revoked(self) -> None:
        assert key("k1").is_valid(START)
        assert key("k1", expires_at=START + MINUTE).is_valid(START)
        assert not key("k1", expires_at=START).is_valid(START)
        assert not key("k1", revoked_at=START).is_valid(START)

    def test_keys_go_with_their_user(self, store: Store, alice: UserStore, bob: UserStore) -> None:
        for one in (key("k1"), key("k2"), key("k3", "bob"), key("k4", None)):
            store.add_key(one)
        alice.apply([said(1)])
        alice.erase()
        assert store.keys() == [key("k4", None), key("k3", "bob")]
        assert bob.erase() == {}  # of whom nothing else is stored
        assert store.keys() == [key("k4", None)]
        assert store.needs_scrub()

    # Sessions

    def test_a_session_is_found_as_keys_are_and_not_listed_among_them(
        self, store: Store, reopen: Opener
    ) -> None:
        for one in (key("k1"), key("k2", "bob"), key("k3", None)):
            store.add_key(one)
        first, second, admins = session("s1", "k1"), session("s2", "k1"), session("s4", "k3", None)
        for one in (first, second, session("s3", "k2", "bob"), admins):
            store.add_key(one)
        again = reopen()
        assert again.key_by_digest("digest of s1") == again.key("s1") == first
        assert again.sessions("alice", START) == [second, first]
        assert again.sessions(None, START) == [admins]
        assert again.keys() == [key("k3", None), key("k2", "bob"), key("k1")]
        assert again.sessions("alice", START + MINUTE) == []

    @pytest.mark.parametrize("gone", [{"revoked_at": START}, {"expires_at": START}, None])
    def test_no_session_is_opened_with_a_key_that_opens_nothing(
        self, store: Store, gone: dict[str, Any] | None
    ) -> None:
        if gone is not None:
            store.add_key(key("k1", **gone))
        with pytest.raises(NotFound):
            store.add_key(session("s1", "k1"))
        assert store.key("s1") is None

    def test_sessions_end_with_their_key(self, store: Store, reopen: Opener) -> None:
        for one in (key("k1"), key("k2"), session("s1", "k1"), session("s2", "k1"), session("s3", "k2")):
            store.add_key(one)
        assert store.revoke_key("s1", START).revoked_at == START
        assert store.revoke_key("k1", START + MINUTE).revoked_at == START + MINUTE
        again = reopen()
        ended = {id: one.revoked_at for id in ("s1", "s2", "s3") if (one := again.key(id))}
        assert ended == {"s1": START, "s2": START + MINUTE, "s3": None}

    def test_nobody_revokes_what_is_anothers(self, store: Store) -> None:
        for one in (key("k1"), key("k2", "bob"), key("k3", None), session("s1", "k1")):
            store.add_key(one)
        for anothers in ("k1", "k3", "s1"):
            with pytest.raises(NotFound):
                store.revoke_key(anothers, START, "bob")
        still = [one.id for one in (*store.keys(), *store.sessions("alice", START)) if one.is_valid(START)]
        assert still == ["k3", "k2", "k1", "s1"]
        assert store.revoke_key("s1", START, "alice").revoked_at == START

    def test_expired_sessions_make_room_and_so_do_the_first_of_many(self, store: Store) -> None:
        store.add_key(key("k1"))
        store.add_key(session("s0", "k1"))
        later = START + MINUTE
        for n in range(SESSIONS + 1):
            store.add_key(session(f"s{n:03d}x", "k1", created_at=later, expires_at=later + MINUTE))
        assert store.key("s0") is None
        assert [one.id for one in store.sessions("alice", later)] == [
            f"s{n:03d}x" for n in range(SESSIONS, 0, -1)
        ]

    def test_no_session_outlives_a_key_revoked_meanwhile(self, store: Store, reopen: Opener) -> None:
        other = reopen()
        for n in range(8):
            store.add_key(key(f"k{n}"))
            with ThreadPoolExecutor(2) as threads:
                opened = threads.submit(store.add_key, session(f"s{n}", f"k{n}"))
                revoked = threads.submit(other.revoke_key, f"k{n}", START)
                refused = opened.exception()
                revoked.result()
            assert refused is None or isinstance(refused, NotFound)
        assert store.sessions("alice", START) == []

    def test_sessions_go_with_their_user(self, store: Store, alice: UserStore) -> None:
        for one in (key("k1"), key("k2", "bob"), session("s1", "k1"), session("s2", "k2", "bob")):
            store.add_key(one)
        alice.erase()
        assert store.key("s1") is None
        assert store.sessions("bob", START) == [session("s2", "k2", "bob")]
