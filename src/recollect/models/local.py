"""A local model by name, fetched on first use when it is not there yet."""

import logging
import threading
from collections.abc import Sequence
from pathlib import Path

from recollect.errors import WeightsMissing
from recollect.model.space import Space
from recollect.models.install import Progress, install, installed_path
from recollect.models.onnx import OnnxEmbedder, open_installed
from recollect.models.registry import find
from recollect.ports.embedder import Vectors

log = logging.getLogger("recollect")


class LocalEmbedder:
    """The `Embedder` port over a model of the registry. Nothing is read or fetched before it is needed."""

    def __init__(self, name: str, cache_dir: Path, *, fetch: bool, progress: Progress | None = None) -> None:
        self._model = find(name)
        self._cache_dir = cache_dir
        self._fetch = fetch
        self._progress = progress
        self._lock = threading.Lock()
        self._opened: OnnxEmbedder | None = None

    @property
    def space(self) -> Space:
        recipe = self._model.recipe
        if recipe.dimensions is None:
            return self._embedder().space
        return Space(recipe.name, recipe.dimensions, recipe.unrelated)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embedder().embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        return self._embedder().embed_query(text)

    def _embedder(self) -> OnnxEmbedder:
        with self._lock:
            if self._opened is None:
                if installed_path(self._model, self._cache_dir) is None:
                    self._obtain()
                self._opened = open_installed(self._model.name, self._cache_dir)
            return self._opened

    def _obtain(self) -> None:
        """Fetch once; a failed attempt is not repeated on every call."""
        if not self._fetch:
            raise WeightsMissing()
        self._fetch = False
        log.info("Fetching the embedding model %s, which is not installed yet.", self._model.name)
        directory = install(self._model, self._cache_dir, self._progress)
        log.info("The embedding model %s is installed in %s.", self._model.name, directory)
