"""mem0 with the half of its search that goes by words: fastembed's BM25, as its extras install it.

Its stop words would be downloaded; here they are given. spaCy's model is not on the package index, so words
are stemmed, not lemmatized, and no entities are found.
"""

from pathlib import Path
from typing import Any

import harness
import run_mem0
from fastembed.sparse.bm25 import Bm25
from mem0.vector_stores.qdrant import Qdrant

STOP_WORDS = """
a about after all also am an and any are as at be because been before being but by can could did do does doing
down during each few for from further had has have having he her here hers him his how i if in into is it its
just me more most my no nor not now of off on once only or other our out over own same she should so some such
than that the their them then there these they this those through to too under until up very was we were what
when where which while who whom why will with would you your
"""
Made: dict[str, Any] = {}


def open_memory(folder: Path, person: harness.Person, filled: bool) -> harness.Memory:
    if not Made:
        Made["bm25"] = Bm25("Qdrant/bm25", specific_model_path=str(folder), stopwords={*STOP_WORDS.split()})
    Qdrant._get_bm25_encoder = lambda self: Made["bm25"]
    return run_mem0.open_memory(folder, person, filled)
