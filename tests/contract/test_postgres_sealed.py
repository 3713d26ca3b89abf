"""PostgreSQL with sealed content: the whole contract, and nothing that the server could read."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import psycopg
import pytest

from recollect.errors import Invalid, SettingsError, StoreCorrupt
from recollect.keys import Key
from recollect.model.changes import Put
from recollect.model.records import Conversation, Entity, Fact, Goal, ToolInvocation, Turn
from recollect.ports.store import UserStore
from recollect.stores.sql import schema
from recollect.testing.store_contract import StoreContract
from recollect.testing.store_samples import (
    SPACE,
    START,
    append,
    draft,
    entity,
    fact,
    put,
    question,
    sample,
    vectors,
)
from recollect.testing.store_suite import Opener, found
from tests.contract.postgres import emptied, new_database, opened

pytestmark = pytest.mark.engine

KEY = Key(b"ab" * 32)


@pytest.fixture(scope="module")
def database(server: str) -> Iterator[str]:
    with new_database(server, "recollect_sealed") as url:
        opened(url, key=KEY).close()
        yield url


@pytest.fixture
def open_store(database: str) -> Opener:
    emptied(database)
    return partial(opened, database, key=KEY)


class TestSealedPostgresStore(StoreContract):
    @pytest.mark.parametrize("descending", [False, True])
    @pytest.mark.parametrize("order", ["id", "at", "role"])  # not by content: the server cannot read it
    def test_find_in_order(self, alice: UserStore, order: str, descending: bool) -> None:
        super().test_find_in_order(alice, order, descending)


def everything(url: str) -> str:
    """Every row of every table as the server has it."""
    names = [*(table.name for table in schema.metadata.sorted_tables), "texts"]
    with psycopg.connect(url) as connection:
        rows = [connection.execute(f"SELECT * FROM {name}".encode()).fetchall() for name in names]
    return str(rows)


def test_nothing_that_was_said_can_be_read_in_the_server(database: str, open_store: Opener) -> None:
    store = open_store()
    store.add_space(SPACE)
    alice, vector = store.user("alice"), vectors(1)[0]
    alice.apply(
        [
            append(draft("my quokka budget", id="t", title="quokka title", vector=vector)),
            put(fact("f", "the quokka is mine", metadata={"why": "quokka"}), vector),
            put(entity("e", "Quokka", aliases=("quokkas",), description="a quokka")),
            Put(Goal(id="g", description="see a quokka", created_at=START)),
            Put(replace(sample(ToolInvocation), input={"find": "quokka"}, output="quokka")),
        ],
        SPACE,
    )
    seen = everything(database).lower()
    assert "alice" in seen
    assert "quokka" not in seen
    assert "budget" not in seen
    assert repr(vector.astype("<f2").tobytes())[2:-1].lower() not in seen
    assert found(alice, question("quokka")) == {"t", "f", "e"}
    assert found(alice, question(vector=vector, threshold=0.99)) == {"t", "f"}
    assert alice.get(Turn, ["t"])[0].content == "my quokka budget"
    assert alice.get(Conversation, ["march-15"])[0].title == "quokka title"
    store.close()


def test_what_is_equal_is_found_and_what_is_sealed_has_no_order(open_store: Opener) -> None:
    store = open_store()
    alice = store.user("alice")
    alice.apply([put(entity("e", "Oahu")), put(entity("o", "Maui"))])
    assert [e.id for e in alice.find(Entity, {"name": "Oahu"})] == ["e"]
    assert [e.id for e in alice.find(Entity, {"name": ["Oahu", "Maui"]})] == ["e", "o"]
    with pytest.raises(Invalid, match="encrypted"):
        list(alice.find(Entity, order="name"))
    store.close()


def test_the_same_words_look_different_for_another_user(database: str, open_store: Opener) -> None:
    store = open_store()
    for name in ("alice", "bob"):
        store.user(name).apply([put(fact("f", "tea"))])
    with psycopg.connect(database) as connection:
        contents = connection.execute("SELECT content FROM memories").fetchall()
        words = connection.execute("SELECT split_part(unnest(tsvector_to_array(terms)), '_', 2) FROM texts")
        assert len(set(contents)) == len(set(words.fetchall())) == 2
    store.close()


def test_what_was_changed_or_moved_by_others_does_not_open(database: str, open_store: Opener) -> None:
    store = open_store()
    for name in ("alice", "bob"):
        store.user(name).apply([Put(sample(Fact))])
    with psycopg.connect(database, autocommit=True) as connection:
        taken = connection.execute("SELECT content FROM memories WHERE user_id = 'bob'").fetchone()
        connection.execute("UPDATE memories SET content = %s WHERE user_id = 'alice'", taken)
    with pytest.raises(StoreCorrupt):
        store.user("alice").get(Fact, ["sample"])
    assert store.user("bob").get(Fact, ["sample"]) == [sample(Fact)]
    store.close()


def test_the_wrong_key_and_none_open_nothing(database: str) -> None:
    with pytest.raises(SettingsError, match="another key"):
        opened(database, key=Key(b"wrong"))
    with pytest.raises(SettingsError, match="RECOLLECT_KEY_FILE"):
        opened(database)


def test_a_key_is_refused_where_content_is_readable(server: str) -> None:
    with new_database(server, "recollect_readable") as url:
        opened(url).close()
        with pytest.raises(SettingsError, match="recollect copy"):
            opened(url, key=KEY)
