"""A collection: its fields, its index, and how that is asked so as to find what an exact search would."""

from typing import Any

from recollect.model.space import Space
from recollect.stores.milvus.rows import NAMES, TIMES

PARTITIONS = 64
"""How many parts users are spread over by their number."""
EF = 512
"""How many candidates a search of the graph keeps: with few, a filter leaves hardly any that are near."""
MOST = 16_384
"""The most that Milvus answers with."""
KEY_LENGTH = 48


def make(client: Any, name: str, space: Space, *, lite: bool, timeout: float) -> None:
    from pymilvus import DataType  # pyright: ignore[reportMissingTypeStubs]

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=KEY_LENGTH)
    schema.add_field("user_id", DataType.INT64, is_partition_key=True)
    for field in (*NAMES, *TIMES):
        schema.add_field(field, DataType.INT64)
    schema.add_field("confidence", DataType.DOUBLE)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=space.dimensions)
    index = client.prepare_index_params()
    index.add_index("vector", metric_type="IP", **_index(lite))
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
