"""What SQLite is told of how many rows a value has: by that it chooses among indexes.

Without that it takes a user for ten rows, and reads all of them in order rather than look up the few that are
asked for. It could count for itself (ANALYZE), but in a new file there is nothing to count, and some builds
keep samples of what is stored.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

USERS, ROWS = 100, 10_000
"""How many users there are, and how many rows of a table each has."""
ALIKE = 10
"""How many of them have the same in another column."""
_WITH_FEW_VALUES = {
    ("memories", "kind"),
    ("links", "name"),
    ("goals", "status"),
    ("closets", "wing"),
    ("vectors", "space"),
}
FEW = 4
"""How many values there are in such a column."""
RARE = 100
"""An index of some rows has one of so many."""


def has_figures(connection: Connection) -> bool:
    found = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'")
    return found.first() is not None


def set_figures(connection: Connection) -> None:
    connection.exec_driver_sql("ANALYZE meta")  # there is no other way to make the table
    connection.exec_driver_sql("DELETE FROM sqlite_stat1")
    tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars().all()
    for table in tables:
        for _, index, unique, _, partial in _pragma(connection, f"index_list({table})"):
            columns = [name for _, _, name in _pragma(connection, f"index_info({index})")]
            if "user_id" in columns:
                told = " ".join(map(str, _figures(table, columns, unique, partial)))
                new = (table, index, told)
                connection.exec_driver_sql("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", new)
    connection.exec_driver_sql("ANALYZE sqlite_master")  # which only has it read again


def _pragma(connection: Connection, what: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in connection.exec_driver_sql(f"PRAGMA {what}")]


def _figures(table: str, columns: Sequence[str], unique: bool, partial: bool) -> list[int]:
    """How many rows an index has, and how many of them agree in its first column, in its first two, …"""
    if columns == ["user_id"] and unique:
        return [USERS, 1]
    figures = [USERS * ROWS]
    for column in columns:
        left = figures[-1]
        if column == "user_id":
            figures.append(left // USERS)
        elif (table, column) in _WITH_FEW_VALUES:
            figures.append(max(1, left // FEW))
        else:
            figures.append(min(left, ALIKE))
    if unique:
        figures[-1] = 1
    return [max(1, figure // RARE) if partial else figure for figure in figures]
