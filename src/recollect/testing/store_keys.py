"""The store's contract: keys to the server."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from recollect.errors import Conflict, NotFound
from recollect.ports.keys import ApiKey, KeyRole
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import START, said
from recollect.testing.store_suite import Opener, StoreSuite

MINUTE = timedelta(minutes=1)


def key(id: str, owner: str | None = "alice", **more: Any) -> ApiKey:
    role = KeyRole.SERVICE if owner is None else KeyRole.USER
    given: dict[str, Any] = {"name": id, "role": role, "owner": owner, "created_at": START, **more}
    return ApiKey(id=id, digest=f"digest of {id}", **given)


class KeysContract(StoreSuite):
    """`add_key`, `keys`, `key_by_digest`, `revoke_key` and `note_key_used`."""

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
