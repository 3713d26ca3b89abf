"""The embedder without a model."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.models.hashing import HashingEmbedder

EMBEDDER = HashingEmbedder()


def test_texts_that_share_words_are_near() -> None:
    query = EMBEDDER.embed_query("the budget for the Hawaii trip")
    near, far = EMBEDDER.embed_passages(["My Hawaii budget is ten thousand", "The dog needs a vet"])
    assert query @ near > 0.3 > abs(query @ far)


def test_word_forms_are_nearer_than_other_words() -> None:
    query = EMBEDDER.embed_query("running")
    forms, other = EMBEDDER.embed_passages(["runner", "penguin"])
    assert query @ forms > query @ other


def test_query_and_passage_are_the_same_and_case_does_not_matter() -> None:
    assert np.array_equal(EMBEDDER.embed_query("Ärger"), EMBEDDER.embed_passages(["ÄRGER"])[0])


def test_a_vector_does_not_depend_on_its_batch() -> None:
    texts = ["one text", "", "another, longer text", "一つの文"]
    together = EMBEDDER.embed_passages(texts)
    assert np.array_equal(together, np.stack([EMBEDDER.embed_query(text) for text in texts]))


def test_vectors_are_the_same_in_another_process_and_release() -> None:
    # Pinned: stored vectors must stay comparable. Another scheme needs another space name.
    vector = HashingEmbedder(8).embed_query("My budget for Hawaii")
    assert vector.tolist() == pytest.approx(
        [-0.6043, -0.2531, -0.6043, -0.155, 0.2247, 0.0655, 0.1751, -0.31], abs=1e-4
    )
    script = (
        "from recollect.models.hashing import *; print(HashingEmbedder().embed_query('naïve café').tolist())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_no_texts_give_no_rows() -> None:
    assert EMBEDDER.embed_passages([]).shape == (0, 384)


@given(st.lists(st.text(st.characters(exclude_categories=[])), max_size=5), st.integers(1, 64))
def test_any_text_gives_a_unit_vector(texts: list[str], dimensions: int) -> None:
    embedder = HashingEmbedder(dimensions)
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (len(texts), dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_a_mebibyte_in_one_word_is_taken() -> None:
    assert np.isfinite(EMBEDDER.embed_query("a" * (1 << 20))).all()
