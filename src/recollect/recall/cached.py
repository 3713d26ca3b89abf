"""Answers that were given a moment ago, and the vectors of questions, out of a cache.

An answer is kept under the state of the memory that it was made of, which is asked for first: after any
write there is another state, and what was kept of the one before is never looked up again. Beside the state
the name holds everything else that an answer depends on but the time. Until when it holds an answer says
itself (`lasts`); one that depends on the time otherwise is not kept.
"""

import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import numpy as np

from recollect.measuring import ANSWER_HITS, ANSWER_MISSES, VECTOR_HITS, VECTOR_MISSES, Measures
from recollect.model.recollection import Hit, LeftOut, Recollection
from recollect.model.records import MemoryRecord
from recollect.model.space import Space
from recollect.ports.cache import Cache, Shelf
from recollect.ports.embedder import Embedder, Vectors
from recollect.ports.store import UserView
from recollect.ports.tending import Moment
from recollect.recall.question import Asked
from recollect.recall.report import Report
from recollect.version import VERSION
from recollect.wire import from_wire, to_wire
from recollect.wishes import Wishes
from recollect.workspace import Workspace, usable

SETTINGS = (
    *("db", "retention", "semantic_weight", "candidates", "milvus_over"),
    *("model", "model_name", "reranker", "reranker_model", "reranker_models"),
)
"""What an answer depends on beside what is asked: which memory, and how it is searched."""
_NO_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, until when it holds (None of one that may be another at any time), and of which state."""

    found: Recollection
    until: datetime | None
    moment: Moment | None = None


def remembered(
    work: Workspace, wishes: Wishes, asked: Asked, report: Report, answer: Callable[[Workspace], Answered]
) -> Recollection:
    """The answer, out of the cache or worked out and kept there; `StoreError` when it cannot be known which
    state the memory is in."""
    cache, shelf = work.cache, _shelf(work)
    if cache is None or shelf is None:
        return answer(work).found
    work = replace(work, embedder=_remembering(work, cache, shelf))
    if not is_kept(asked):
        return answer(work).found
    name = answer_name(shelf.secret, shelf.at, *_depends_on(work, wishes), asked)
    with report.step("cache") as step:
        data = cache.get(shelf, name)
        found = None if data is None else decoded(data, asked.filter.now)
        step.found = len(found.hits) if found else 0
        step.notes += ["answered a moment ago"] if found else []
    work.measures.count(ANSWER_MISSES if found is None else ANSWER_HITS)
    if found is not None:
        return replace(found, used=tuple(report.used))
    made = answer(work)
    # A standby may have answered, which lacks what is in the state that was asked for: not for others.
    if made.until is not None and not made.found.problems and _at(made.moment) == shelf.at:
        kept = encoded(made.found, asked.filter.now, made.until)
        cache.put(shelf, name, kept, work.settings.cache_seconds)
    return made.found


def is_kept(asked: Asked) -> bool:
    """Not what is explained, for whoever asks wants to see it happen; nor what is related, for nobody knows
    when one of the relations ends."""
    return not asked.explain and "related" not in asked.include


def lasts(
    view: UserView, hits: Sequence[Hit], left_out: Sequence[LeftOut], now: datetime, seconds: float
) -> datetime:
    """Until when nothing of what was found ends or expires, but no longer than so many seconds. What begins
    to hold meanwhile is found that much later."""
    known = [*(id for hit in hits for id in (hit.id, *hit.says)), *(out.id for out in left_out)]
    ends = [hit.valid_to for hit in hits]
    for memory in view.get(MemoryRecord, known, bare=True):
        ends += [memory.valid_to, None if memory.pinned else memory.expires_at]
    return min([now + timedelta(seconds=seconds), *(end for end in ends if end is not None and end > now)])


def answer_name(secret: bytes, at: str, *depends_on: Any) -> bytes:
    """What an answer is kept under: a digest of the state and of all that it depends on but the time, which
    nobody can check a guess by without the user's secret."""
    told = json.dumps([at, VERSION, *depends_on], default=_plain, sort_keys=True)
    return hmac.digest(secret, told.encode(), "sha256")


def vector_name(secret: bytes, space: Space, text: str) -> bytes:
    told = json.dumps(["vector", space.model, space.dimensions, text])
    return hmac.digest(secret, told.encode(), "sha256")


def encoded(found: Recollection, made: datetime, until: datetime) -> bytes:
    """The answer as bytes, without how it came about."""
    kept = {"made": made, "until": until, "found": replace(found, used=())}
    return json.dumps(to_wire(kept), separators=(",", ":")).encode()


def decoded(data: bytes, now: datetime) -> Recollection | None:
    """The answer, if it holds now."""
    try:
        kept = json.loads(data)
        made, until = (from_wire(datetime, kept[name]) for name in ("made", "until"))
        return cast(Recollection, from_wire(Recollection, kept["found"])) if made <= now < until else None
    except (ValueError, TypeError, LookupError):  # of a release that calls itself the same
        return None


def _depends_on(work: Workspace, wishes: Wishes) -> tuple[Any, ...]:
    settings = [getattr(work.settings, name) for name in SETTINGS]
    model = work.model.name if work.model else None
    return settings, work.space, model, work.reranker is not None, work.scope.channel, wishes


def _plain(value: Any) -> Any:
    """What JSON does not have, the same for the same value every time."""
    if isinstance(value, Asked):
        value = replace(value, filter=replace(value.filter, now=_NO_TIME))
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, np.ndarray):
        return np.asarray(value, "<f4").tobytes().hex()
    if isinstance(value, Mapping):
        return dict(cast(Mapping[str, Any], value))
    if isinstance(value, AbstractSet):
        return sorted(cast(AbstractSet[str], value))
    raise TypeError(f"An answer that depends on a {type(value).__name__} has no name.")


def _shelf(work: Workspace) -> Shelf | None:
    """Where answers of the memory as it is now are kept; None where nothing is."""
    moment = None if work.cache is None else work.store.moment()
    if moment is None:
        return None
    return Shelf(work.scope.user, "answers", _at(moment), moment.secret)


def _at(moment: Moment | None) -> str:
    return "" if moment is None else f"{moment.number:020d}.{moment.seq:020d}"


def _remembering(work: Workspace, cache: Cache, shelf: Shelf) -> Embedder | None:
    if work.embedder is None:
        return None
    own = replace(shelf, what="vectors", at="")  # what a text means does not change with what is remembered
    return _Remembering(work.embedder, cache, own, work.settings.cache_seconds, work.measures)


class _Remembering:
    """The `Embedder` port over another, which is asked for the vector of the same question once."""

    def __init__(
        self, inner: Embedder, cache: Cache, shelf: Shelf, seconds: float, measures: Measures
    ) -> None:
        self._inner = inner
        self._cache = cache
        self._shelf = shelf
        self._seconds = seconds
        self._measures = measures

    @property
    def space(self) -> Space:
        return self._inner.space

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        name = vector_name(self._shelf.secret, self.space, text)
        data = self._cache.get(self._shelf, name)
        if data is not None and len(data) == 4 * self.space.dimensions:
            self._measures.count(VECTOR_HITS)
            return np.frombuffer(data, "<f4").astype(np.float32)
        self._measures.count(VECTOR_MISSES)
        vector = usable(self._inner.embed_query(text), (self.space.dimensions,))
        self._cache.put(self._shelf, name, vector.astype("<f4").tobytes(), self._seconds)
        return vector
