"""How the tables of the schema are made."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.types import TypeEngine, UserDefinedType

metadata = MetaData()

PARTITIONS = 64
"""Into how many parts PostgreSQL splits each table by its user."""
BY_USER = "HASH (user_id)"
BY_TIME = "RANGE (at)"


class Halfvec(UserDefinedType[bytes]):
    """pgvector's 16-bit vectors. Rows carry the bytes that `codec.encode_vector` made; the PostgreSQL
    store's connections turn them into vectors and back."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "halfvec"


def vector_type() -> TypeEngine[bytes]:
    return LargeBinary().with_variant(Halfvec(), "postgresql")


def text_type() -> TypeEngine[str]:
    """Compared character by character, as Python does, whatever the database's language is."""
    return Text().with_variant(Text(collation="C"), "postgresql")


def text(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, text_type(), nullable=null)


def time(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=null)


def number(name: str) -> Column[Any]:
    return Column(name, Integer, nullable=False)


def record_table(
    name: str, *columns: Any, added: tuple[Column[Any] | Index, ...] = (), partition_by: str = BY_USER
) -> Table:
    """A table of records; `added` is what came with a later revision."""
    return Table(
        name,
        metadata,
        Column("user_id", text_type(), primary_key=True),
        Column("id", text_type(), primary_key=True),
        *columns,
        text("metadata"),
        Column("seq", BigInteger, nullable=False),
        *added,
        postgresql_partition_by=partition_by,
    )
