"""A whole recall, its question embedded by the configured model, against embedding the question alone."""

from typing import Any

from recollect import Memory
from recollect.bench.corpus import Corpus
from recollect.bench.measure import Times, alternate, ratio, settled
from recollect.bench.place import Place
from recollect.bench.subject import USER, Advance, fill
from recollect.errors import EmbedderError
from recollect.settings import load

STREAM = 6


def measure_whole(place: Place, corpus: Corpus, size: int, queries: int, advance: Advance) -> dict[str, Any]:
    with Memory.open(place.database("whole"), install_models=False) as memory:
        rows = corpus.rows(size, stream=STREAM)
        embedder, scope = memory.embedder, memory.scope(USER)
        if embedder is None or embedder.space.dimensions != rows.vectors.shape[1]:
            skipped = f"{load().embedder} has no vectors of {rows.vectors.shape[1]} dimensions"
            return {"rows": size, "skipped": skipped}
        fill(scope, rows, advance)
        embedding, whole = Times(), Times()

        def recalled(text: str) -> None:
            if problems := scope.recall(text).problems:
                raise EmbedderError("; ".join(problems))

        texts = [query.text for query in corpus.queries(rows, queries + 1)]
        recalled(texts[0])
        with settled():
            for number, text in enumerate(texts[1:]):
                alternate(
                    number,
                    lambda t=text: embedding.take(lambda: embedder.embed_query(t)),
                    lambda t=text: whole.take(lambda: recalled(t)),
                )
    return {
        "rows": size,
        "embedder": embedder.space.model,
        "p50_ms": round(whole.p50, 3),
        "p95_ms": round(whole.p95, 3),
        "embedding_p50_ms": round(embedding.p50, 3),
        "ratio_p50": ratio(whole.p50, embedding.p50),
    }
