"""Files that are not what they should be, what erasure leaves in them, and the schema they get."""

import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from recollect.errors import SchemaMismatch, StoreCorrupt, StoreError, StoreUnavailable
from recollect.model.changes import Put, Remove
from recollect.model.records import RECORD_TYPES, Conversation, Fact, Turn
from recollect.ports.store import Store, UserStore
from recollect.stores.sql import schema
from recollect.stores.sqlite.backend import PAGE_SIZE, open_store
from recollect.testing.store_samples import SPACE, append, draft, fact, put, question, said, sample, vectors
from recollect.testing.store_suite import found


def opened(path: Path) -> Store:
    return open_store(path, cache_bytes=1 << 24)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def filled(path: Path, count: int = 300) -> None:
    store = opened(path)
    store.add_space(SPACE)
    rows = vectors(count)
    store.user("alice").apply(
        [append(*(draft(f"tea {i} " * 30, id=f"t-{i}", vector=rows[i]) for i in range(count)))], SPACE
    )
    store.close()


# Files that are no database of ours


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"just some notes, nothing else\n" * 50,
        bytes(range(256)) * 64,
        b"SQLite format 3\x00" + b"\xff" * 9000,
    ],
    ids=["a byte", "notes", "binary", "header only"],
)
def test_a_file_that_is_no_database(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match="not a Recollect database"):
        opened(path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.touch()
    store = opened(path)
    assert store.user("alice").apply([said(1)]).created == 1
    store.close()


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        opened(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable):
        opened(tmp_path / "file" / "memory.db")


def test_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "memory?#%20 é.db"
    opened(path).close()
    assert path.is_file()


def test_somebody_elses_database_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE turns (mine TEXT)")
        connection.execute("INSERT INTO turns VALUES ('precious')")
    connection.close()
    with pytest.raises(StoreError):
        opened(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("turns",)]
        assert connection.execute("SELECT mine FROM turns").fetchall() == [("precious",)]
    connection.close()


def test_a_newer_schema_is_refused(path: Path) -> None:
    filled(path, 3)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch, match="9999"):
        opened(path)
    assert path.read_bytes() == before


# Damage


def use(path: Path) -> None:
    """Reads all that can be read."""
    store = opened(path)
    try:
        user = store.user("alice")
        list(user.find(Turn))
        list(user.feed())
        list(user.find(Conversation))
        user.search(question("tea 7", vectors(1)[0]))
        user.unembedded(SPACE, 10)
    finally:
        store.close()


def test_random_bytes_in_place_of_the_header(path: Path) -> None:
    filled(path)
    damaged = random.Random(1).randbytes(100) + path.read_bytes()[100:]
    path.write_bytes(damaged)
    with pytest.raises(StoreCorrupt):
        opened(path)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_truncated_file(path: Path, part: float) -> None:
    filled(path)
    whole = path.read_bytes()
    damaged = whole[: int(len(whole) * part) // PAGE_SIZE * PAGE_SIZE]
    path.write_bytes(damaged)
    with pytest.raises(StoreCorrupt, match="damaged"):
        use(path)
    assert path.read_bytes() == damaged


def schema_pages(file: bytearray) -> set[int]:
    """The pages, from 0, that tell which tables there are: the first, and where it leads."""
    header, interior = 100, 5
    if file[header] != interior:
        return {0}
    cells = int.from_bytes(file[header + 3 : header + 5], "big")
    places = [
        int.from_bytes(file[at : at + 2], "big") for at in range(header + 12, header + 12 + 2 * cells, 2)
    ]
    below = [int.from_bytes(file[at : at + 4], "big") for at in (*places, header + 8)]
    return {0, *(page - 1 for page in below)}


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes_in_the_middle(path: Path, seed: int) -> None:
    """The first bytes of each page but the schema's, so that the damage is to the structure."""
    filled(path)
    chance, damaged = random.Random(seed), bytearray(path.read_bytes())
    kept = schema_pages(damaged)
    for page in range(2 * len(damaged) // PAGE_SIZE // 3, len(damaged) // PAGE_SIZE):
        if page in kept:
            continue
        for _ in range(4):
            damaged[page * PAGE_SIZE + chance.randrange(12)] ^= chance.randrange(1, 256)
    path.write_bytes(damaged)
    with pytest.raises(StoreCorrupt):
        use(path)
    assert path.read_bytes() == damaged
    store = opened(path)
    assert store.check() != []
    store.close()
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bytes_anywhere_are_an_error_of_ours_or_unnoticed(path: Path, seed: int) -> None:
    filled(path, 60)
    chance, damaged = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(30):
        damaged[chance.randrange(100, len(damaged))] ^= 1 << chance.randrange(8)
    path.write_bytes(damaged)
    with suppress(StoreError):
        use(path)
    assert path.read_bytes() == damaged


def test_check_finds_rows_that_do_not_match(path: Path) -> None:
    filled(path, 20)
    for statement in (
        "DELETE FROM texts WHERE rowid & 255 = 3",
        "DELETE FROM vectors WHERE doc = 3",
        "DELETE FROM turns WHERE id = 't-3'",
        "DELETE FROM chunks WHERE doc = 3",
        "UPDATE users SET documents = documents + 1",
        "UPDATE users SET terms = terms - 1",
    ):
        copy = path.with_name("copy.db")
        copy.write_bytes(path.read_bytes())
        with sqlite3.connect(copy) as connection:
            assert connection.execute(statement).rowcount == 1
        connection.close()
        store = opened(copy)
        assert store.check() != [], statement
        store.close()


# Erasure


def left_in(folder: Path, words: list[str]) -> list[str]:
    """The words that are in any file, in whatever case."""
    content = b"\n".join(file.read_bytes() for file in folder.iterdir()).lower()
    return [word for word in words if word.lower().encode() in content]


def test_erasing_leaves_no_byte(path: Path) -> None:
    store, other = opened(path), opened(path)
    store.add_space(SPACE)
    kept, gone = store.user("kept-user"), store.user("gone-Zaphod")
    words = ["Xylophone", "quokkaßen", "Ünderwörld", "titlething", "metathing", "sourcething"]
    for user, mark in ((kept, "keep"), (gone, "")):
        user.apply(
            [
                append(draft(f"{mark}{words[0]} {mark}{words[2]} tea", id="t", title=mark + words[3])),
                put(fact("f", f"{mark}{words[1]} tea", metadata={"a": mark + words[4]})),
                Put(fact("g", sources=(mark + words[5],))),
            ],
            SPACE,
        )
        user.apply([Put(sample(kind, f"{mark}-{kind.kind}-samplething")) for kind in RECORD_TYPES])
    assert found(other.user("gone-Zaphod"), question("xylophone")) == {"t"}
    assert left_in(path.parent, ["zaphod", "7_xylophone", "2_xylophone", "titlething"]) != []
    gone.erase()
    assert other.scrub()
    content = [word for word in words if word not in ("quokkaßen", "Ünderwörld")]
    searched = [
        "zaphod",
        *(f"\x01{w}" for w in content),
        " 2_",
        "2_xylophone",
        "2_quokkassen",
        "2_underworld",
    ]
    assert left_in(path.parent, searched) == []
    raw = b"".join(file.read_bytes() for file in path.parent.iterdir())
    for word in (*words, "-turn-samplething"):
        assert raw.count(word.encode()) == raw.count(f"keep{word}".encode()) > 0, word
    assert found(store.user("kept-user"), question("keepxylophone")) == {"t"}
    assert store.check() == []
    store.close()
    other.close()


@pytest.mark.parametrize("seed", range(2))
def test_nothing_erased_is_left_after_a_long_life(path: Path, seed: int) -> None:
    """Rows move from page to page before they are deleted, and must leave no copies behind."""
    chance = random.Random(seed)
    store, other = opened(path), opened(path)
    store.add_space(SPACE)
    rows = vectors(8)
    users = {f"user{chance.randbytes(6).hex()}": dict[str, str]() for _ in range(10)}
    gone: list[str] = []
    for step in range(150):
        name = chance.choice(sorted(users))
        user, own = store.user(name), users[name]
        _live(user, own, chance, rows[step % 8])
        if own and chance.random() < 0.3:
            ids = tuple(chance.sample(sorted(own), min(3, len(own))))
            user.apply([Remove("turn", ids), Remove("fact", ids)])
            gone += [own.pop(id) for id in ids]
    for name in sorted(users)[::2]:
        gone += [name, *users.pop(name).values()]
        store.user(name).erase()
    assert store.scrub()
    assert len(gone) > 200
    assert left_in(path.parent, gone) == []
    kept = [word for own in users.values() for word in own.values()]
    assert left_in(path.parent, kept) == kept
    assert store.check() == []
    store.close()
    other.close()


def _live(user: UserStore, own: dict[str, str], chance: random.Random, vector: object) -> None:
    changes = []
    for _ in range(chance.randint(1, 9)):
        word, id = f"word{chance.randbytes(7).hex()}", f"{chance.getrandbits(60):x}"
        text = f"{word} Big{word.upper()} " * chance.choice([1, 1, 2, 25])
        own[id] = word
        if chance.random() < 0.5:
            changes.append(append(draft(text, id=id, conversation=f"c{id}", vector=vector)))  # type: ignore[arg-type]
        else:
            changes.append(put(fact(id, text, metadata={"m": word}, sources=(f"s{word}",)), vector))  # type: ignore[arg-type]
    user.apply(changes, SPACE)


def test_a_reader_of_an_old_state_is_in_the_way_of_a_scrub(path: Path) -> None:
    store = opened(path)
    user = store.user("alice")
    user.apply([put(fact("f", "xylophone"))])
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memories").fetchone()
    user.apply([Remove("fact", ("f",))])
    assert not store.scrub()
    assert store.needs_scrub()
    reader.execute("COMMIT")
    assert store.scrub()
    assert not store.needs_scrub()
    assert left_in(path.parent, ["xylophone"]) == []
    reader.close()
    store.close()


def test_replaced_text_is_scrubbed_too(path: Path) -> None:
    store = opened(path)
    user = store.user("alice")
    user.apply([put(fact("f", "xylophone"))])
    user.apply([put(fact("f", "tea"))])
    assert store.needs_scrub()
    assert store.scrub()
    assert left_in(path.parent, ["xylophone"]) == []
    assert [record.content for record in user.find(Fact)] == ["tea"]
    store.close()


# The schema


def test_migrations_make_the_schema(path: Path) -> None:
    opened(path).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        ours = {"include_name": lambda name, kind, _: kind != "table" or name in schema.metadata.tables}
        context = MigrationContext.configure(connection, opts={"compare_type": True, **ours})
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()


def test_migrations_make_the_very_statements_of_the_schema(path: Path, tmp_path: Path) -> None:
    """What a comparison of types cannot see: rows without ids, conditions of indexes."""
    opened(path).close()
    direct = tmp_path / "direct.db"
    engine = create_engine(f"sqlite:///{direct}")
    schema.metadata.create_all(engine)
    engine.dispose()
    migrated, made = statements(path), statements(direct)
    # One file may see to it that no number is given twice; many servers cannot.
    made["users"] = made["users"].replace("PRIMARY KEY (user_id)", "PRIMARY KEY (user_id), UNIQUE (number)")
    assert made.items() <= migrated.items()
    others = set(migrated) - set(statements(direct))
    assert {name for name in others if not name.startswith("texts")} == {"alembic_version", "sqlite_stat1"}


@pytest.mark.parametrize(
    ("table", "condition", "index"),
    [
        ("chunks", "owner = 'o'", "ix_chunks_owner"),
        ("memories", "kind = 'fact' AND slot IS 's' ORDER BY id LIMIT 500", "ix_memories_slot"),
        ("memories", "kind = 'fact' AND pinned IS 0 ORDER BY id LIMIT 500", "ix_memories_kind"),
        ("closets", "slug IS 's' ORDER BY wing, id LIMIT 1", "ix_closets_wings"),
        ("closets", "conversation IS 'c' AND wing IS 1 ORDER BY id LIMIT 1", "ix_closets_turns"),
        ("tombstones", "digest IN (SELECT value FROM json_each('[]')) ORDER BY id", "ix_tombstones_digest"),
        ("audit", "payload IS NOT NULL", "ix_audit_payload"),
        ("turns", "1 ORDER BY id LIMIT 500", "sqlite_autoindex_turns_1"),
    ],
)
def test_what_has_an_index_is_looked_up_by_it(path: Path, table: str, condition: str, index: str) -> None:
    opened(path).close()
    with sqlite3.connect(path) as connection:
        statement = f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE user_id = 'u' AND {condition}"
        assert any(f"USING INDEX {index} (" in row[3] for row in connection.execute(statement))
    connection.close()


def statements(path: Path) -> dict[str, str]:
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
    connection.close()
    return {
        name: " ".join(sql.replace('"', "").replace("vectors.vector", "vector").split()) for name, sql in rows
    }
