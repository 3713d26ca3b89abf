"""Candidates for a question, by meaning and by words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.model.search import Candidate, Filter, Search
from recollect.text.analyse import query_terms
from recollect.workspace import Workspace, log, usable


def embed_query(work: Workspace, query: str) -> tuple[NDArray[np.float32] | None, str | None]:
    """The query's vector, or why there is none."""
    if work.embedder is None:
        return None, None
    if not work.searched.ours and (problem := work.searched.problem(work.embedder.space)):
        return None, problem
    try:
        return usable(work.embedder.embed_query(query), (work.embedder.space.dimensions,)), None
    except Exception as error:  # noqa: BLE001 - whatever an embedder does, recall answers
        problem = f"Recalled by words only: {str(error) or type(error).__name__}"
        log.warning(problem)
        return None, problem


def gather(
    work: Workspace,
    query: str,
    vector: NDArray[np.float32] | None,
    filter: Filter,
    threshold: float,
    limit: int,
) -> list[Candidate]:
    return work.store.search(
        Search(
            filter=filter,
            terms=tuple(query_terms(query)),
            vector=vector,
            space=work.space,
            threshold=threshold,
            limit=limit,
        )
    )


def not_compared(work: Workspace, candidates: Sequence[Candidate]) -> str | None:
    """Why no candidate could be compared with the query's vector, if the model is the reason. It is only
    asked when none was: in a memory that is searched by this model, nearly every answer has one."""
    if work.space is None or any(candidate.similarity is not None for candidate in candidates):
        return None
    return work.searched.problem(work.space)
