"""What a model gets to see of what is known, so that it can say what is replaced."""

from recollect.mine.extracted import Window
from recollect.model.records import MEMORY_KINDS, MEMORY_TYPES, MemoryRecord, Role
from recollect.model.search import Filter, Search
from recollect.text.analyse import query_terms
from recollect.workspace import Workspace

MOST = 20
EACH = 5
SEARCHED = 20
"""How many turns are searched by: the user's longest, which say most."""


def nearest(work: Workspace, window: Window) -> list[MemoryRecord]:
    """The memories in force that are most like what the user says in the window."""
    said = sorted((t for t in window.turns if t.role is Role.USER), key=lambda t: -len(t.content))[:SEARCHED]
    chunks = work.store.chunks([turn.id for turn in said], work.space)
    filter = Filter(now=work.clock.now(), kinds=MEMORY_KINDS, channels=work.channels)
    best: dict[str, float] = {}
    for turn in said:
        vector = next((chunk.vector for chunk in chunks.get(turn.id, ()) if chunk.vector is not None), None)
        terms = tuple(query_terms(turn.content[:2000]))
        if vector is None and not terms:
            continue
        search = Search(filter=filter, terms=terms, vector=vector, space=work.space, limit=EACH)
        for found in work.store.search(search):
            score = (found.similarity or 0.0) + found.text / (found.text + 20)
            best[found.owner] = max(best.get(found.owner, 0.0), score)
    ids = sorted(best, key=lambda id: (-best[id], id))[:MOST]
    return [memory for kind in MEMORY_TYPES for memory in work.store.get(kind, ids)]
