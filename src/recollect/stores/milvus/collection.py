"""A collection: its fields, its indexes, and how they are asked so as to find what an exact search would."""

from typing import Any

from recollect.model.space import Space
from recollect.stores.milvus.rows import NAMES, TIMES, WORDS_LENGTH
from recollect.text.bm25 import K1, B

PARTITIONS = 64
"""How many parts users are spread over by their number."""
EF = 512
"""How many candidates a search of the graph keeps: with few, a filter leaves hardly any that are near."""
MOST = 16_384
"""The most that Milvus answers with."""
KEY_LENGTH = 48


def make(client: Any, name: str, space: Space, *, lite: bool, timeout: float) -> None:
    """With words where the server has a BM25 of its own; older ones refuse the field, some of them when they
    have made the rest."""
    from pymilvus import MilvusException  # pyright: ignore[reportMissingTypeStubs]

    try:
        _make(client, name, space, words=True, lite=lite, timeout=timeout)
    except MilvusException:  # of a server that is down, what follows fails too
        if client.has_collection(name, timeout=timeout):
            client.drop_collection(name, timeout=timeout)
        _make(client, name, space, words=False, lite=lite, timeout=timeout)


def has_words(client: Any, name: str, *, timeout: float) -> bool:
    fields = client.describe_collection(name, timeout=timeout)["fields"]
    return any(field["name"] == "words" for field in fields)


def _make(client: Any, name: str, space: Space, *, words: bool, lite: bool, timeout: float) -> None:
    from pymilvus import DataType, Function, FunctionType  # pyright: ignore[reportMissingTypeStubs]

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=KEY_LENGTH)
    schema.add_field("user_id", DataType.INT64, is_partition_key=True)
    for field in (*NAMES, *TIMES):
        schema.add_field(field, DataType.INT64)
    schema.add_field("confidence", DataType.DOUBLE)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=space.dimensions)
    index = client.prepare_index_params()
    index.add_index("vector", metric_type="IP", **_index(lite))
    if words:
        analysed = {"enable_analyzer": True, "analyzer_params": {"tokenizer": "standard"}}
        schema.add_field("words", DataType.VARCHAR, max_length=WORDS_LENGTH, **analysed)
        schema.add_field("ranked", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(Function("bm25", FunctionType.BM25, ["words"], ["ranked"]))
        index.add_index(
            "ranked",
            index_type="SPARSE_INVERTED_INDEX",
            metric_type="BM25",
            params={"bm25_k1": K1, "bm25_b": B},
        )
    client.create_collection(
        name,
        schema=schema,
        index_params=index,
        num_partitions=PARTITIONS,
        consistency_level="Bounded",
        timeout=timeout,
    )


def _index(lite: bool) -> dict[str, Any]:
    """Milvus Lite filters what its graph found, which may be nobody's: it compares them all instead."""
    if lite:
        return {"index_type": "FLAT", "params": {}}
    return {"index_type": "HNSW", "params": {"M": 16, "efConstruction": 200}}


def search_params(limit: int, *, lite: bool) -> dict[str, Any]:
    return {"metric_type": "IP", "params": {} if lite else {"ef": max(EF, 2 * limit)}}
