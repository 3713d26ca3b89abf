"""Which servers are asked for an index of vectors, and by which statement."""

import pytest

from recollect.model.space import Space
from recollect.stores.neo4j.cypher import indexes_vectors, is_code, no_vector_indexes, vector_indexes


@pytest.mark.parametrize(
    ("agent", "does"),
    [
        ("Neo4j/5.15.0", True),
        ("Neo4j/5.26.0", True),
        ("Neo4j/5.27-aura", True),
        ("Neo4j/2025.01.0", True),
        ("Neo4j/5.14.0", False),
        ("Neo4j/4.4.30", False),
        ("Neo4j/5.26.0 compatible (ArcadeDB 26.10.2)", False),
        ("Neo4j/v5.11.0 compatible graph database server - Memgraph", False),
        ("", False),
    ],
)
def test_only_a_neo4j_that_has_them_is_asked(agent: str, does: bool) -> None:
    assert indexes_vectors(agent) is does


def test_a_name_of_a_model_is_no_part_of_a_statement() -> None:
    hostile = Space("x`) DETACH DELETE n //", 384)
    made, gone = vector_indexes(hostile), no_vector_indexes(hostile.code)
    assert is_code(hostile.code)
    assert len(made) == len(gone) == 6
    for create, drop in zip(made, gone, strict=True):
        assert "DETACH" not in create + drop
        assert f"_{hostile.code} IF NOT EXISTS FOR (n:" in create
        assert "`vector.dimensions`: 384," in create
        assert drop.split()[2] == create.split()[3]
    assert vector_indexes(Space("x", 384)) != made
    assert not is_code("0123456789ab; MATCH (n) DETACH DELETE n")
