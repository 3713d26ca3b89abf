"""Statements that are asked again and again of SQLite, straight to its driver.

SQLite answers most of ours in some ten microseconds; to fill in a statement and to wrap the rows takes
SQLAlchemy ten times as long. A server takes longer than that to answer, and there SQLAlchemy is needed to
tell a lost connection: those statements go through it.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, Connection, Dialect, Executable, Float
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.visitors import iterate

MOST = 1024


class Kept:
    """A statement as text, once it was asked before: to compile one that is asked once costs more than it
    saves."""

    __slots__ = ("_columns", "_converted", "_given", "_statement", "_text", "_times")

    def __init__(self, statement: Executable) -> None:
        self._statement: Any = statement
        self._times = 0
        self._text = ""

    def is_ready(self, dialect: Dialect) -> bool:
        """Whether it can be asked directly."""
        if not self._text and self._times >= 0:
            self._times = self._times + 1 if not self._times or self._compile(dialect) else -1
            return self._times > 1
        return self._times > 0

    def run(self, connection: Connection, parameters: Mapping[str, Any]) -> Any:
        """The driver's cursor."""
        raw: Any = connection.connection.dbapi_connection
        given = [parameters.get(name, value) for name, value in self._given]
        return raw.execute(self._text, given)

    def all(self, connection: Connection, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        columns = self._columns
        found = [dict(zip(columns, row, strict=True)) for row in self.run(connection, parameters)]
        for name, convert in self._converted:
            for row in found:
                row[name] = convert(row[name])
        return found

    def _compile(self, dialect: Dialect) -> bool:
        """Not one whose text depends on how many values there are, or whose values are to be converted;
        numbers are not, in SQLite."""
        parts: list[Any] = [part for part in iterate(self._statement) if isinstance(part, BindParameter)]
        if any(b.expanding or _is_converted(b.type, dialect) for b in parts):
            return False
        compiled = self._statement.compile(dialect=dialect)
        self._given = tuple((name, compiled.params[name]) for name in compiled.positiontup or ())
        columns: list[Any] = [*self._statement.exported_columns]
        converting: list[tuple[str, Callable[[Any], Any] | None]] = [
            (str(c.key), c.type.dialect_impl(dialect).result_processor(dialect, None)) for c in columns
        ]
        self._columns = tuple(name for name, _ in converting)
        self._converted = tuple((name, convert) for name, convert in converting if convert is not None)
        if len({*self._columns}) < len(columns):
            return False
        self._text = str(compiled)
        return True


def _is_converted(type: Any, dialect: Dialect) -> bool:
    return not isinstance(type, Float) and type.dialect_impl(dialect).bind_processor(dialect) is not None


def insert_directly(connection: Connection, statement: str, rows: list[Any]) -> int:
    """Insert rows, and say how many; `IntegrityError`, as from SQLAlchemy, when something else is there."""
    raw: Any = connection.connection.dbapi_connection
    try:
        return raw.executemany(statement, rows).rowcount
    except raw.IntegrityError as error:
        raise IntegrityError(None, None, error) from error


@lru_cache(maxsize=MOST)
def kept(statement: Executable) -> Kept:
    return Kept(statement)
