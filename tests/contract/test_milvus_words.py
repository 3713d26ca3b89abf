"""What Milvus proposes by words, with its own BM25; what it can tell of them, and how it goes without."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymilvus", reason="the client is an extra")
pytest.importorskip("milvus_lite", reason="Milvus Lite is an extra of the tests")

from milvus_lite import server_manager_instance
from pyarrow.parquet import read_table  # which it comes with
from pymilvus import MilvusClient, MilvusException

from recollect.bench.corpus import Corpus
from recollect.errors import ProjectionError
from recollect.model.changes import Remove
from recollect.model.search import Near
from recollect.ports.search_index import Proposed
from recollect.ports.store import Store
from recollect.stores.milvus.index import MilvusIndex
from recollect.testing.store_samples import SPACE, START, axis, fact, put, question, vectors
from tests.contract import milvus

pytestmark = pytest.mark.engine

USERS, DOCUMENTS, QUESTIONS = 8, 200, 15
TOP = 10


@pytest.fixture
def store(in_file: Store) -> Store:
    return in_file


@pytest.fixture
def index(store: Store, lite: str) -> Iterator[MilvusIndex]:
    index = MilvusIndex(store, lite, token="", timeout=30.0)
    yield index
    index.close()


def copy(store: Store, index: MilvusIndex, user: str) -> None:
    own = store.user(user)
    reach = own.reach(index.name, index.epoch(), START, index.settles)
    assert reach is not None
    index.write(index.epoch(), reach.number, own.reading(lambda view: index.read(view, 0)))


def proposed(
    store: Store, index: MilvusIndex, user: str, words: str, limit: int = 100, **filters: Any
) -> Proposed:
    reach = store.user(user).reach(index.name, None, START, index.settles)
    assert reach is not None
    asked = replace(question(words, axis(0), **filters), space=SPACE)
    return index.propose(index.epoch(), reach.number, reach.secret, asked, limit)


def docs(store: Store, user: str) -> list[int]:
    """Of what was stored, in order."""
    return sorted(chunk.doc for chunk in store.user(user).searched_since(0, 1000).chunks)


def test_what_has_the_words_is_proposed_and_passes_the_filter(store: Store, index: MilvusIndex) -> None:
    said = ["green tea", "tea and tea", "a boat", "painted boats", "日本語のお茶"]
    store.user("alice").apply([put(fact(f"f-{i}", text), axis(3)) for i, text in enumerate(said)], SPACE)
    away = [put(fact("away", "tea", channel="work"), axis(0)), put(fact("waiting", "tea"))]
    store.user("alice").apply(away, SPACE)
    store.user("bob").apply([put(fact("f", "tea"), axis(0))], SPACE)
    for user in ("alice", "bob"):
        copy(store, index, user)
    tea, more, boat, boats, japanese, work, _ = docs(store, "alice")
    here: dict[str, Any] = {"channels": ("_global",)}
    assert proposed(store, index, "alice", "tea", **here).by_words == (more, tea)
    assert set(proposed(store, index, "alice", "painting a boat", **here).by_words or ()) == {boat, boats}
    assert proposed(store, index, "alice", "お茶", **here).by_words == (japanese,)
    assert proposed(store, index, "alice", "violin").by_words == ()
    assert proposed(store, index, "alice", "tea", channels=("work",)) == Proposed((work,), (work,))
    without = proposed(store, index, "alice", "")
    assert without.by_words is None
    assert set(without.docs) == {tea, more, boat, boats, japanese, work}
    assert len(proposed(store, index, "bob", "tea").by_words or ()) == 1
    found = store.user("alice").search(question("tea", axis(0)))  # what waits for its vector, by words
    assert "waiting" in {candidate.owner for candidate in found if candidate.text > 0}


def test_what_is_gone_is_proposed_no_more(store: Store, index: MilvusIndex) -> None:
    alice = store.user("alice")
    alice.apply([put(fact(f"f-{i}", "tea"), axis(i)) for i in range(3)], SPACE)
    copy(store, index, "alice")
    before = proposed(store, index, "alice", "tea").by_words or ()
    assert len(before) == 3
    alice.apply([Remove("fact", ("f-1",))])
    found = alice.search(replace(question("tea", axis(0)), near=Near(before, alice.seq())))
    assert {candidate.owner for candidate in found} == {"f-0", "f-2"}
    copy(store, index, "alice")
    assert set(proposed(store, index, "alice", "tea").by_words or ()) == set(docs(store, "alice"))


def test_the_best_by_words_are_those_of_the_database(store: Store, index: MilvusIndex) -> None:
    """Of many users in one collection, whose texts share their words."""
    corpus, same, wanted = Corpus(), 0, 0
    asked = list[tuple[str, str]]()
    for number in range(USERS):
        user, rows = f"user-{number}", corpus.rows(DOCUMENTS, stream=number)
        told = zip(rows.texts, vectors(DOCUMENTS, seed=number), strict=True)
        store.user(user).apply([put(fact(f"{i}", text), row) for i, (text, row) in enumerate(told)], SPACE)
        copy(store, index, user)
        asked += [(user, query.text) for query in corpus.queries(rows, QUESTIONS)]
    for user, words in asked:
        found = store.user(user).search(question(words))
        best = sorted(found, key=lambda candidate: -candidate.text)[:TOP]
        named = dict(enumerate(docs(store, user)))
        by_words = proposed(store, index, user, words, TOP).by_words or ()
        same += len({named[int(candidate.owner)] for candidate in best} & set(by_words))
        wanted += len(best)
    assert wanted > USERS * QUESTIONS * TOP / 2
    assert same / wanted >= 0.97


def test_no_word_can_be_read_in_its_files(store: Store, index: MilvusIndex, lite: str) -> None:
    words = ["xylophone", "tea", "marmalade"]
    for user in ("alice", "bob"):
        store.user(user).apply([put(fact("f", " ".join(words)), axis(0))], SPACE)
        copy(store, index, user)
    looking, epoch = milvus.client(lite), index.epoch()
    held = [
        row["words"].split()
        for user in ("alice", "bob")
        for row in milvus.rows(looking, epoch, number(store, index, user)).values()
    ]
    assert [len(set(tokens)) for tokens in held] == [3, 3]
    assert not set(held[0]) & set(held[1])  # nor is it told that two say the same
    looking.flush(epoch)
    looking.close()
    index.close()
    server_manager_instance.release_server(lite)
    files = [path for path in Path(lite).rglob("*") if path.is_file()]
    unpacked = [str(read_table(path).to_pydict()).encode() for path in files if path.suffix == ".parquet"]
    contents = [*(path.read_bytes() for path in files), *unpacked]
    assert any(held[0][0].encode() in content for content in contents)
    assert not any(word.encode() in content for word in ("xylophon", "marmalad") for content in contents)


def number(store: Store, index: MilvusIndex, user: str) -> int:
    reach = store.user(user).reach(index.name, None, START, index.settles)
    assert reach is not None
    return reach.number


def test_without_a_bm25_there_it_proposes_by_vector(
    store: Store, index: MilvusIndex, lite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a server of 2.3.5 refuses it: when the collection is there, and only its index is not."""
    create = MilvusClient.create_collection

    def refusing(self: MilvusClient, name: str, *, schema: Any, **given: Any) -> None:
        create(self, name, schema=schema, **given)
        if schema.functions:
            raise MilvusException(message="create index on 104 field is not supported")

    monkeypatch.setattr(MilvusClient, "create_collection", refusing)
    by_vector_only(store, index, lite)
    portion = store.user("alice").reading(lambda view: index.read(view, 0))
    monkeypatch.undo()
    index.drop()
    with pytest.raises(ProjectionError, match="made anew"):  # rather than without words where they belong
        index.write(index.epoch(), number(store, index, "alice"), portion)
    copy(store, index, "alice")
    assert len(proposed(store, index, "alice", "tea").by_words or ()) == 3


@pytest.mark.slow
@pytest.mark.timeout(1200)  # others have their server first
def test_a_server_that_ranks_no_words_proposes_by_vector(store: Store) -> None:
    with milvus.own_server() as server:
        index = MilvusIndex(store, server.url, token="", timeout=30.0)
        by_vector_only(store, index, server.url)
        index.close()


def by_vector_only(store: Store, index: MilvusIndex, where: str) -> None:
    store.user("alice").apply([put(fact(f"f-{i}", "tea"), axis(i)) for i in range(3)], SPACE)
    copy(store, index, "alice")
    looking, epoch = milvus.client(where), index.epoch()
    held = milvus.rows(looking, epoch, number(store, index, "alice"))  # which waits until they are seen
    assert [*looking.list_collections()] == [epoch]
    looking.close()
    assert len(held) == 3
    assert not any("words" in row for row in held.values())
    found = proposed(store, index, "alice", "tea")
    assert found.by_words is None
    assert len(found.by_vector) == 3
