"""No verb is forgotten, and none has other arguments: in this process, behind a server, and for asyncio."""

import inspect
import pickle
import subprocess
import sys

import pytest

from recollect import (
    AsyncClient,
    AsyncScopedMemory,
    AsyncWorkingMemory,
    Client,
    Invalid,
    Memory,
    RemoteScopedMemory,
    RemoteWorkingMemory,
    ScopedMemory,
    SettingsError,
    StoreUnavailable,
    WorkingMemory,
)

SAME = [
    (ScopedMemory, RemoteScopedMemory, AsyncScopedMemory),
    (WorkingMemory, RemoteWorkingMemory, AsyncWorkingMemory),
]


def verbs(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(("plain", "remote", "awaited"), SAME)
def test_every_verb_is_there_with_the_same_arguments(plain: type, remote: type, awaited: type) -> None:
    assert verbs(plain) == verbs(remote) == verbs(awaited)
    for name in verbs(plain):
        original = inspect.getattr_static(plain, name)
        if isinstance(original, property):
            assert isinstance(inspect.getattr_static(remote, name), property), name
            continue
        for kind in (remote, awaited):
            verb = getattr(kind, name)
            assert inspect.signature(verb) == inspect.signature(getattr(plain, name)), name
            assert verb.__doc__ == getattr(plain, name).__doc__, name


def test_the_client_has_scopes_as_a_memory_has() -> None:
    ours, theirs = inspect.signature(Client.scope), inspect.signature(Memory.scope)
    assert list(ours.parameters) == list(theirs.parameters)
    for name in ("channel", "agent", "conversation"):
        assert ours.parameters[name] == theirs.parameters[name]
    assert inspect.signature(AsyncClient.scope).parameters == ours.parameters
    assert verbs(AsyncClient) == verbs(Client)
    assert inspect.signature(AsyncClient) == inspect.signature(Client)


def test_arguments_are_checked_as_everywhere() -> None:
    with Client() as client:
        mine = client.scope("derek")
        with pytest.raises(TypeError, match="query"):
            mine.recall()  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="colour"):
            mine.record("user", "Hello", colour="blue")  # type: ignore[call-arg]
        with pytest.raises(Invalid, match="exactly one"):
            mine.forget()
        with pytest.raises(Invalid, match="conversation"):
            _ = mine.working
        with pytest.raises(Invalid, match="conversation"):
            mine.record_summary("a", "b", "c")
        with pytest.raises(Invalid, match="which conversation"):
            mine.end()
        with pytest.raises(Invalid, match="user must not be empty"):
            client.scope(" ")


@pytest.mark.parametrize("url", ["127.0.0.1:7070", "ftp://x", "http://a\nb", ""])
def test_an_address_that_cannot_be_one(url: str) -> None:
    with pytest.raises(SettingsError, match="http"):
        Client(url)


@pytest.mark.parametrize("ending", ["/api/v1", "/v1/"])
def test_an_address_of_requests_is_none_of_the_server(ending: str) -> None:
    with pytest.raises(SettingsError, match=f"leave out {ending.rstrip('/')},"):
        Client(f"http://derek:password@127.0.0.1:7070{ending}")


def test_a_key_is_not_shown() -> None:
    client = Client("http://derek:password@127.0.0.1:7070/", "rk_secret")
    assert repr(client) == "Client('http://127.0.0.1:7070')"


def test_closed_is_closed() -> None:
    client = Client()
    client.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        client.whoami()


def test_a_client_can_be_handed_to_another_process() -> None:
    client = Client("http://127.0.0.1:7070", "rk_secret", timeout=3, attempts=2)
    scope = pickle.loads(pickle.dumps(client.scope("derek", "work")))
    assert (scope.scope.user, scope.scope.channel) == ("derek", "work")
    assert repr(pickle.loads(pickle.dumps(client))) == repr(client)


def test_without_httpx_it_is_said_what_to_install() -> None:
    code = (
        "import sys; sys.modules['httpx'] = None\n"
        "from recollect import Client, SettingsError\n"
        "try: Client().scope('derek').recall('tea')\n"
        "except SettingsError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'recollect[client]'" in done.stdout
