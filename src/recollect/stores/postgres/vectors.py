"""pgvector's 16-bit vectors, to and from the bytes that rows carry."""

from struct import pack
from typing import Any

import numpy as np
from psycopg import Connection
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from recollect.stores.postgres import arrays
from recollect.stores.sql.codec import StoredVector

TYPE = "halfvec"


class _HalfvecDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return pack(">hh", len(obj) // 2, 0) + np.frombuffer(obj, "<f2").astype(">f2").tobytes()


class _HalfvecLoader(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> StoredVector:
        return StoredVector(np.frombuffer(data, ">f2", offset=4).astype("<f2").tobytes())


class _HalfvecTextLoader(Loader):
    format = Format.TEXT

    def load(self, data: Any) -> StoredVector:
        numbers = bytes(data)[1:-1].decode().split(",")
        return StoredVector(np.array(numbers, "<f2").tobytes())


def register(connection: Connection[Any]) -> None:
    """Let the connection send and receive vectors, if its database knows them."""
    found = connection.execute("SELECT oid, typarray FROM pg_type WHERE typname = %s", (TYPE,)).fetchone()
    arrays.register(connection, {} if found is None else {TYPE: found[0]})
    if found is None:
        return
    oid, array_oid = found
    TypeInfo(TYPE, oid, array_oid).register(connection)
    adapters = connection.adapters
    adapters.register_dumper(StoredVector, type("HalfvecDumper", (_HalfvecDumper,), {"oid": oid}))
    adapters.register_loader(oid, _HalfvecLoader)
    adapters.register_loader(oid, _HalfvecTextLoader)
