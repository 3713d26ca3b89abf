"""A local model run by ONNX Runtime: no network, no PyTorch.

Settings, measured with arctic-embed-s int8 on two cores that others used too: medians (and range) of
five interleaved rounds. A query has 21 tokens; bulk is texts of 98 tokens from two threads.

    intra-op threads, optimisation    ms a query        bulk texts/s     s to load
    1, extended   <- chosen           5.0 (4.5-7.2)     87 (40-103)      .23 (.17-.31)
    1, all                            4.6 (3.3-5.3)     81 (73-99)       .20 (.17-.23)
    1, basic                          6.9 (4.7-7.8)     76 (37-82)       .59 (.55-1.56)
    2, extended                       5.2 (4.5-15.2)    61 (46-64)       .21 (.20-.79)
    2, all                            4.5 (4.3-5.9)     65 (47-70)       .21 (.18-.22)

Two threads a call gain a query nothing and cost bulk a third; basic loads slowly. Extended and all do
not differ beyond the noise; extended leaves out the optimisations that depend on the machine's layout.
One session with one thread a call serves both the single query and, called from several threads, many
texts. Texts go in singly: a batch pads to its longest, and int8 makes a vector depend on its batch.
"""

import hashlib
import importlib
import json
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recollect.errors import EmbedderError, SettingsError, WeightsMissing
from recollect.model.space import Space
from recollect.models._vectors import mean, unit, well_formed
from recollect.models.install import installed_path, verify
from recollect.models.registry import KNOWN, MODEL_FILE, TOKENIZER_FILE, Pooling, Recipe, find
from recollect.ports.embedder import Vectors

RECIPE_FILE = "recollect.json"
_FALLBACK_TOKENS = 512
_MOST_THREADS = 8

Tokens = NDArray[np.int64]


def open_installed(name: str, cache_dir: Path) -> "OnnxEmbedder":
    """The embedder of a known model that `install` has put into `cache_dir`."""
    model = find(name)
    directory = installed_path(model, cache_dir)
    if directory is None:
        raise WeightsMissing(
            f"The local embedding model {name} is not installed in {cache_dir}. "
            "Run `recollect models install`."
        )
    return OnnxEmbedder(directory, model.recipe)


def open_directory(directory: Path) -> "OnnxEmbedder":
    """The embedder of a directory of one's own: `model.onnx`, `tokenizer.json`, maybe `recollect.json`.

    `recollect.json` holds fields of `Recipe`. Without it, a known model's files are recognised by their
    hash, and any other model is pooled by mean, without prefixes.
    """
    for file in (MODEL_FILE, TOKENIZER_FILE):
        if not (directory / file).is_file():
            raise WeightsMissing(f"{directory} is no model directory: it has no {file}.")
    return OnnxEmbedder(directory, _recipe_of(directory))


class OnnxEmbedder:
    """The `Embedder` port over a directory with a model. Loads it at first use; safe in any thread."""

    def __init__(self, directory: Path, recipe: Recipe, threads: int | None = None) -> None:
        self._directory = directory
        self._recipe = recipe
        self._threads = threads or min(_MOST_THREADS, _cores())
        self._lock = threading.Lock()
        self._loaded: _Engine | None = None

    def __repr__(self) -> str:
        return f"OnnxEmbedder({self._recipe.name!r}, {str(self._directory)!r})"

    @property
    def space(self) -> Space:
        # A known model's dimensions are known without loading it, which keeps opening a memory fast.
        dimensions = self._recipe.dimensions or self._engine().dimensions
        return Space(self._recipe.name, dimensions, self._recipe.unrelated)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        engine = self._engine()
        if not texts:
            return np.empty((0, engine.dimensions), np.float32)
        windows = [engine.windows(text, self._recipe.passage_prefix) for text in texts]
        flat = [window for of_text in windows for window in of_text]
        rows = iter(self._vectors(engine, flat))
        return np.stack([_join(of_text, [next(rows) for _ in of_text]) for of_text in windows])

    def embed_query(self, text: str) -> Vectors:
        engine = self._engine()
        windows = engine.windows(text, self._recipe.query_prefix)
        return _join(windows, self._vectors(engine, windows))

    def _vectors(self, engine: "_Engine", windows: list[Tokens]) -> list[Vectors]:
        if len(windows) == 1:
            return [engine.vector(windows[0])]
        # A pool a call: starting threads costs microseconds beside a model's milliseconds, and nothing
        # has to be closed.
        with ThreadPoolExecutor(min(self._threads, len(windows)), "recollect-embed") as pool:
            return list(pool.map(engine.vector, windows))

    def _engine(self) -> "_Engine":
        with self._lock:
            if self._loaded is None:
                self._loaded = _Engine(self._directory, self._recipe)
            return self._loaded


def _cores() -> int:
    """The cores this process may use, which in a container can be fewer than there are."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _join(windows: list[Tokens], rows: list[Vectors]) -> Vectors:
    return mean(np.stack(rows), [len(window) for window in windows])


class _Engine:
    """The loaded model: text to windows of tokens, a window to its unit vector.

    The one place that touches the runtime's and tokenizer's untyped objects, and that turns whatever
    they raise into `EmbedderError`. No message repeats a text.
    """

    def __init__(self, directory: Path, recipe: Recipe) -> None:
        try:
            self._session, self._tokenizer = _load(directory)
            inputs = {node.name for node in self._session.get_inputs()}
            self._output, self._pooled, size = _choose_output(self._session.get_outputs())
            # What the tokenizer puts around any text, found by looking at what it does to one.
            probe = self._tokenizer.encode("a")
            special = cast(list[int], probe.special_tokens_mask)
            own = special.index(0) if 0 in special else len(special)
            self._head = cast(list[int], probe.ids)[:own]
            self._tail = cast(list[int], probe.ids)[own + special[own:].count(0) :]
            limit = recipe.max_tokens or _declared_limit(directory) or _FALLBACK_TOKENS
        except ImportError as error:
            raise EmbedderError(f"{error.name} is not installed. Run `pip install recollect`.") from error
        except Exception as error:
            raise EmbedderError(
                f"The model in {directory} cannot be loaded ({type(error).__name__}). If it was installed "
                "by recollect, `recollect models install` repairs it."
            ) from error
        self._inputs = inputs
        self._pooling: Pooling = recipe.pooling
        self._room = limit - len(self._head) - len(self._tail)
        self.dimensions = size or self.vector(self.windows("a", "")[0]).shape[0]
        if recipe.dimensions not in (None, self.dimensions):
            raise EmbedderError(
                f"The model in {directory} gives {self.dimensions} dimensions, not {recipe.dimensions}."
            )

    def windows(self, text: str, prefix: str) -> list[Tokens]:
        """The tokens of prefix and text; of a text too long for the model, several windows that
        together hold all of it, nearly equal in length, each with the prefix."""
        text = well_formed(text)
        whole = self._encode(prefix + text)
        if len(whole) <= self._room:
            return [self._wrap(whole)]
        opening = self._encode(prefix) if prefix else []
        tokens = self._encode(text)
        room = max(1, self._room - len(opening))
        count = -(-len(tokens) // room)
        cuts = [len(tokens) * i // count for i in range(count + 1)]
        return [self._wrap(opening + tokens[start:end]) for start, end in pairwise(cuts)]

    def vector(self, window: Tokens) -> Vectors:
        """The unit vector of one window."""
        ids = window[np.newaxis, :]
        offered = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feed = {name: value for name, value in offered.items() if name in self._inputs}
        try:
            output = cast(NDArray[np.floating], self._session.run([self._output], feed)[0])[0]
        except Exception as error:
            raise EmbedderError(f"The embedding model failed ({type(error).__name__}).") from error
        if self._pooled:
            return unit(output)
        return unit(output[0] if self._pooling == "cls" else output.mean(axis=0, dtype=np.float64))

    def _encode(self, text: str) -> list[int]:
        try:
            return self._tokenizer.encode(text, add_special_tokens=False).ids
        except Exception as error:
            raise EmbedderError(f"The tokenizer failed ({type(error).__name__}).") from error

    def _wrap(self, tokens: list[int]) -> Tokens:
        wrapped = self._head + tokens + self._tail
        if not wrapped:
            raise EmbedderError("The text has nothing this model's tokenizer can read.")
        return np.asarray(wrapped, np.int64)


def _load(directory: Path) -> tuple[Any, Any]:
    """The runtime session and the tokenizer. Imported here: importing recollect must stay fast."""
    # From 1.31 on the runtime tells its maker of its use: it writes ~/.cache/Microsoft and looks up a host
    # of Microsoft's. Nothing leaves the machine unasked, so that is off unless somebody switched it on. It
    # is read while the runtime is imported; its own disable_telemetry_events() comes too late.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    runtime: Any = importlib.import_module("onnxruntime")
    tokenizers: Any = importlib.import_module("tokenizers")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.log_severity_level = 3
    path = str(directory / MODEL_FILE)
    session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_file(str(directory / TOKENIZER_FILE))
    # Files come with padding and truncation switched on; here texts go in singly and are never cut.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return session, tokenizer


def _choose_output(outputs: Sequence[Any]) -> tuple[str, bool, int | None]:
    """The output to read: its name, whether it is already one vector a text, its declared dimensions."""
    by_name = {str(node.name): node for node in outputs}
    for name in ("sentence_embedding", "last_hidden_state"):
        if name in by_name:
            node = by_name[name]
            break
    else:
        node = outputs[0]
    last = node.shape[-1]
    return str(node.name), len(node.shape) == 2, last if isinstance(last, int) else None


def _declared_limit(directory: Path) -> int | None:
    """The window that tokenizer.json itself asks for."""
    declared = json.loads((directory / TOKENIZER_FILE).read_text("utf-8")).get("truncation")
    return int(declared["max_length"]) if declared else None


def _recipe_of(directory: Path) -> Recipe:
    own = directory / RECIPE_FILE
    if own.is_file():
        return _read_recipe(own)
    for model in KNOWN.values():
        if not verify(model, directory):
            return model.recipe
    return Recipe(name=_fingerprint(directory))


def _fingerprint(directory: Path) -> str:
    """A name for a space that follows the contents: other weights in the same place are another space."""
    with (directory / MODEL_FILE).open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    return f"{directory.resolve().name}-{digest.hexdigest()[:12]}"


def _read_recipe(path: Path) -> Recipe:
    """The recipe in a recollect.json; what it leaves out keeps its default."""
    try:
        given = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read as JSON: {error}") from error
    kinds: dict[str, tuple[type, ...]] = {
        "name": (str,),
        "dimensions": (int,),
        "pooling": (str,),
        "query_prefix": (str,),
        "passage_prefix": (str,),
        "max_tokens": (int,),
        "unrelated": (int, float),
    }
    if not isinstance(given, dict):
        raise SettingsError(f"{path} must hold a JSON object.")
    values = cast(dict[str, Any], given)
    for name, value in values.items():
        if name not in kinds or not isinstance(value, kinds[name]) or isinstance(value, bool):
            raise SettingsError(f"{path}: {name!r} is no field, or has a value of the wrong kind.")
    if values.get("pooling", "mean") not in ("cls", "mean") or values.get("max_tokens", 64) < 16:
        raise SettingsError(f"{path}: pooling is 'cls' or 'mean', max_tokens at least 16.")
    return replace(Recipe(name=_fingerprint(path.parent)), **values)
