"""How tables lie: users can be spread over servers, and what is rewritten often does not grow."""

from typing import Any

import psycopg
import pytest
from sqlalchemy import Table, UniqueConstraint

from recollect.ports.store import Store
from recollect.stores.postgres import objects, storage
from recollect.stores.postgres.admin import upgrade
from recollect.stores.sql import schema
from recollect.testing.store_samples import SPACE, append, axis, draft
from tests.contract.postgres import options
from tests.contract.standby import until

REFERENCE = {
    *("alembic_version", "api_keys", "erasures", "jobs", "leases", "measures", "meta", "receipts", "spaces"),
    "unprojected",
}
"""Tables without a user: small ones, of which each server has a copy."""

UNIQUE = """
SELECT c.relname, array_agg(a.attname::text) FROM pg_index i
JOIN pg_class c ON c.oid = i.indrelid
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
WHERE c.relnamespace = current_schema()::regnamespace AND i.indisunique AND NOT c.relispartition
    AND c.relkind IN ('r', 'p')
GROUP BY c.relname, i.indexrelid
"""


def keys(table: Table) -> list[set[str]]:
    """The columns of each unique key of a table."""
    unique = [constraint for constraint in table.constraints if isinstance(constraint, UniqueConstraint)]
    indexes = [index for index in table.indexes if index.unique]
    return [{column.name for column in one.columns} for one in (table.primary_key, *unique, *indexes)]


def test_every_unique_key_of_a_user_contains_the_user() -> None:
    owned = {table.name for table in schema.USER_TABLES}
    assert {table.name for table in schema.metadata.sorted_tables} - owned == REFERENCE - {"alembic_version"}
    for table in schema.USER_TABLES:
        assert all("user_id" in key for key in keys(table)), table.name
        assert not table.foreign_keys, "nothing is checked across servers"


def asked(url: str, statement: str, *values: Any) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        answer = connection.execute(statement.encode(), values)
        return answer.fetchall() if answer.description else []


@pytest.mark.engine
def test_so_it_is_in_the_catalogue(database: str) -> None:
    found = asked(database, UNIQUE)
    assert {name for name, _ in found} == {*objects.OWNED, *REFERENCE}
    assert [name for name, columns in found if "user_id" not in columns and name not in REFERENCE] == []
    foreign = "SELECT conname FROM pg_constraint WHERE contype = 'f'"
    assert asked(database, foreign) == []


STORED = """
SELECT c.relname, coalesce(p.relname, c.relname), c.reloptions FROM pg_class c
LEFT JOIN pg_inherits ON inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = inhparent
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
"""


def unset(url: str) -> list[str]:
    """Tables and partitions that are not kept as they should be."""
    wanted = {
        table: {f"{key}={value}" for key, value in values.items()}
        for table, values in storage.STORAGE.items()
    }
    return [
        name for name, table, found in asked(url, STORED) if not set(found or ()) >= wanted.get(table, set())
    ]


@pytest.mark.engine
def test_a_table_is_kept_as_it_is_used(database: str) -> None:
    assert storage.STORAGE.keys() <= {*objects.OWNED, *REFERENCE}
    assert unset(database) == []
    for table in ("users", "marks_07", "vectors_63"):
        asked(database, f"ALTER TABLE {table} RESET (autovacuum_vacuum_scale_factor)")
    assert sorted(unset(database)) == ["marks_07", "users", "vectors_63"]
    asked(database, "DELETE FROM meta WHERE key = 'partitions'")  # as a revision leaves it
    upgrade(database, options())
    assert unset(database) == []


@pytest.mark.engine
@pytest.mark.slow
def test_rows_that_are_rewritten_often_do_not_grow(store: Store, database: str) -> None:
    """Also without a single vacuum."""
    asked(database, "ALTER TABLE users SET (autovacuum_enabled = off)")
    users = [store.user(f"user-{n}") for n in range(20)]

    def written(n: int) -> None:
        for number, user in enumerate(users):
            turn = draft("tea", id=f"t-{number}-{n}", conversation="c", vector=axis(n % 8))
            user.apply([append(turn)], SPACE)

    written(0)
    asked(database, "SELECT pg_stat_force_next_flush()")
    size = "SELECT pg_relation_size('users'), pg_relation_size('users_pkey')"
    for n in range(1, 60):
        written(n)
    ((table, index),) = asked(database, size)
    assert table <= 5 * 8192, "20 rows, written 1,200 times"
    assert index <= 2 * 8192
    asked(database, "ALTER TABLE users RESET (autovacuum_enabled)")
    hot = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'users'"
    store.close()
    until(lambda: asked(database, hot)[0][0] > 500)  # its connections tell the server as they end
    ((updated, in_place),) = asked(database, hot)
    assert in_place >= 0.9 * updated
