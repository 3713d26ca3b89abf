"""What the pipelines work with: one scope of one user's memory, and the ports around it."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.errors import EmbedderError
from recollect.model.changes import Change
from recollect.model.scope import Scope
from recollect.model.space import Space
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.ports.store import Applied, UserStore
from recollect.settings import Settings

log = logging.getLogger("recollect")


@dataclass(frozen=True, slots=True)
class Workspace:
    """One scope, its user's store, and the ports."""

    scope: Scope
    store: UserStore
    embedder: Embedder | None
    clock: Clock
    new_id: Callable[[], str]
    settings: Settings

    @property
    def space(self) -> Space | None:
        return self.embedder.space if self.embedder else None

    def apply(self, *changes: Change) -> Applied:
        return self.store.apply(changes, self.space)

    def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32] | None]:
        """A vector for each text; None where it has to wait because the embedder is off or failing."""
        if self.embedder is None or not texts or not self.settings.embed_on_write:
            return [None] * len(texts)
        try:
            return list(self.embedder.embed_passages(texts))
        except EmbedderError as error:
            log.warning("Stored without vectors, to be filled in by tend: %s", error)
            return [None] * len(texts)
