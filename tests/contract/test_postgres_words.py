"""Words that very many documents have: skipped where they make no difference, and the best stay the best."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest

from recollect.model.search import Candidate, Search
from recollect.ports.store import UserStore
from recollect.stores.postgres import words
from recollect.stores.postgres.words import Frequencies, Question, ranked
from recollect.testing.store_samples import SPACE, append, draft, question, vectors
from tests.contract.postgres import emptied, opened

pytestmark = pytest.mark.engine

DOCUMENTS = 5000
LIMIT = 20
COMMONEST = ("tea", "harbour", "letter", "train")
RARER = [f"word{n}" for n in range(300)]
VECTORS = vectors(50)


def text(chance: random.Random) -> str:
    often = [word for word in COMMONEST for _ in range(chance.randint(0, 2) if chance.random() < 0.9 else 0)]
    said = [*often, *chance.choices(RARER, k=chance.randint(1, 12))]
    chance.shuffle(said)
    return " ".join(said)


@pytest.fixture(scope="module")
def alice(database: str) -> Iterator[UserStore]:
    emptied(database)
    store = opened(database)
    store.add_space(SPACE)
    chance, alice = random.Random(7), store.user("alice")
    for start in range(0, DOCUMENTS, 1000):
        drafts = [
            draft(text(chance), id=f"t-{n}", vector=VECTORS[n % 50], agent=f"agent-{n % 40}")
            for n in range(start, start + 1000)
        ]
        alice.apply([append(*drafts)], SPACE)
    yield alice
    store.close()


@pytest.fixture
def elsewhere(database: str, alice: UserStore) -> Iterator[UserStore]:
    """The same, by a process that has asked nothing yet."""
    store = opened(database)
    yield store.user("alice")
    store.close()


def scored(found: list[Candidate]) -> tuple[list[float], dict[str, float]]:
    """How well they match, best first; and who they are, but for the last, of which there may be others."""
    scores = sorted((round(one.text, 4) for one in found), reverse=True)
    return scores, {one.owner: round(one.text, 4) for one in found if round(one.text, 4) > scores[-1]}


def questions(**given: Any) -> list[Search]:
    chance = random.Random(11)
    asked = [
        [*chance.sample(COMMONEST, chance.randint(1, 4)), *chance.sample(RARER, chance.randint(0, 3))]
        for _ in range(25)
    ]
    return [question(" ".join(one), limit=LIMIT, **given) for one in asked]


@pytest.mark.parametrize("agent", [None, "agent-3"])
def test_who_has_asked_before_finds_the_same(
    alice: UserStore, elsewhere: UserStore, agent: str | None
) -> None:
    for asked in questions(agent=agent):
        alice.search(asked)
    for asked in questions(agent=agent):
        assert scored(alice.search(asked)) == scored(elsewhere.search(asked))


def test_what_is_near_has_its_words_told_as_well(alice: UserStore, elsewhere: UserStore) -> None:
    for asked in questions(vector=VECTORS[3]):
        alice.search(asked)
        found, exact = alice.search(asked), elsewhere.search(asked)
        near = {one.owner: round(one.text, 4) for one in found if (one.similarity or 0) > 0.99}
        assert near == {one.owner: round(one.text, 4) for one in exact if one.owner in near}


@pytest.fixture
def asked(database: str, alice: UserStore) -> Iterator[Question]:
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT set_config('recollect.user', 'alice', false)")
        row = cursor.execute("SELECT number, documents, terms FROM users WHERE user_id = 'alice'").fetchone()
        assert row is not None
        number, documents, terms = row
        yield Question(cursor, "alice", number, ("tea", "harbour", "word1", "word2"), documents, terms)


def test_a_common_word_is_read_once(asked: Question) -> None:
    known = Frequencies()
    first, then = (ranked(asked, known, LIMIT, []) for _ in range(2))
    assert first.whole
    assert not then.whole
    assert len(then.docs) < len(first.docs) / 4
    assert then.of(then.best(LIMIT).tolist()) == pytest.approx(first.of(first.best(LIMIT)[:LIMIT].tolist()))


def test_words_are_known_by_whose_they_are(asked: Question) -> None:
    known = Frequencies()
    ranked(asked, known, LIMIT, [])
    assert known.of(asked).tolist() == [pytest.approx(DOCUMENTS * 0.6, rel=0.1)] * 2 + [0, 0]
    assert not known.of(asked._replace(number=asked.number + 1)).any()


def test_what_is_known_is_read_anew_when_much_has_changed(asked: Question) -> None:
    known = Frequencies()
    ranked(asked, known, LIMIT, [])
    assert known.of(asked._replace(documents=round(DOCUMENTS * 1.05))).any()
    more = asked._replace(documents=round(DOCUMENTS * 1.08))
    ranked(more, known, LIMIT, [])  # and reads none of them
    for documents in (round(DOCUMENTS * 1.16), DOCUMENTS // 2):
        assert not known.of(asked._replace(documents=documents)).any()


def test_what_is_known_takes_only_so_much_room(asked: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "KNOWN", 1)
    known = Frequencies()
    ranked(asked, known, LIMIT, [])
    assert np.count_nonzero(known.of(asked)) == 1
