"""The client with keys: whose memory each opens, and what is said of one that opens nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect import Client, Invalid, Memory, NotFound, Unauthorized
from recollect.ports.keys import KeyRole
from recollect.server.identity.issuing import issue
from tests.interface.serving import serve


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="none") as opened:
        yield opened


@contextmanager
def opened(memory: Memory, role: KeyRole, owner: str | None = None) -> Iterator[Client]:
    """A client with a new key of this role."""
    key = issue(memory.store, memory.clock, role, owner=owner).key
    with serve(memory) as url, Client(url, key) as client:
        yield client


def test_a_users_key_opens_that_users_memory_named_or_not(memory: Memory) -> None:
    with opened(memory, KeyRole.USER, "Дерек 🍵") as client:
        turn = client.scope().record("user", "tea")
        assert client.scope("Дерек 🍵").get(turn.id) == memory.scope("Дерек 🍵").get(turn.id) == turn
        assert client.whoami() == ("user", "Дерек 🍵")
        assert client.scope().scope.user == "Дерек 🍵"
        with pytest.raises(NotFound):
            client.scope("ann").counts()
        with pytest.raises(Unauthorized, match="admin"):
            client.jobs()


def test_what_keys_do_not_open_is_told_in_python(memory: Memory) -> None:
    with opened(memory, KeyRole.SERVICE) as client:
        assert client.whoami() == ("service", None)
        with pytest.raises(Invalid, match=r"open the scope with user=…, as in client\.scope\(user=…\)\.$"):
            client.scope().recall("tea")
        with pytest.raises(Invalid, match=r"client\.scope\(user=…\)"):
            _ = client.scope().scope
    with (
        opened(memory, KeyRole.USER, "ana") as client,
        pytest.raises(NotFound, match="user=… is for service keys"),
    ):
        client.scope("ben").counts()


def test_a_services_key_opens_the_memory_of_whom_it_names(memory: Memory) -> None:
    with opened(memory, KeyRole.SERVICE) as client:
        ann, ben = client.scope("ann"), client.scope("ben")
        turn = ann.record("user", "tea", conversation="c")
        assert (ann.counts()["turn"], ben.counts(), ben.conversation("c")) == (1, {}, [])
        with pytest.raises(NotFound):
            ben.get(turn.id)
        assert ann.forget(everything=True).counts["turn"] == 1
        with pytest.raises(Invalid, match="user"):
            client.scope().counts()
        with pytest.raises(Invalid, match="user"):
            _ = client.scope().scope


def test_an_admins_key_opens_nobodys(memory: Memory) -> None:
    with opened(memory, KeyRole.ADMIN) as client:
        assert client.tend()
        for user in (None, "ann"):
            with pytest.raises(NotFound, match="admin"):
                client.scope(user).counts()


def test_a_key_that_opens_nothing(memory: Memory) -> None:
    issue(memory.store, memory.clock, KeyRole.ADMIN)
    with serve(memory) as url:
        for wrong in (None, "rk_u_" + "x" * 43, "nonsense"):
            with Client(url, wrong) as client, pytest.raises(Unauthorized, match="key") as refused:
                client.scope().recall("tea")
            assert wrong is None or wrong not in str(refused.value)
