"""The values of one column, on their way to a database that takes all of them as one parameter."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """Values of one SQL type, None among them where there is none."""

    type: str
    values: list[Any]
