"""Plain BM25: English stop words and stemmer, as in the package's own example."""

from pathlib import Path
from typing import Any

import bm25s
import harness
import Stemmer


def open_memory(folder: Path, person: harness.Person, filled: bool) -> harness.Memory:
    stemmer = Stemmer.Stemmer("english")
    kept: list[Any] = [bm25s.BM25.load(str(folder / "index"))] if filled else []

    def tokens(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    def fill() -> None:
        index = bm25s.BM25()
        index.index(tokens([one.text for one in person.documents]), show_progress=False)
        index.save(str(folder / "index"))
        kept.append(index)

    def search(text: str, vector: Any, top_k: int) -> list[int]:
        count = min(top_k, len(person.documents))
        places, scores = kept[0].retrieve(tokens([text]), k=count, show_progress=False)
        return [int(place) for place, score in zip(places[0], scores[0], strict=True) if score > 0]

    return harness.Memory(fill, search)
