"""The other systems: what is installed for each, and how it is used. Versions are changed here only."""

from dataclasses import dataclass
from typing import Literal

Unit = Literal["turn", "session"]


@dataclass(frozen=True, slots=True)
class Peer:
    """A system that is asked the same questions."""

    name: str
    runner: str
    """The module in `runners`."""
    requirements: tuple[str, ...]
    """What pip installs; the first is the system itself."""
    unit: Unit
    """What it stores as one document."""
    vectors: bool
    """Whether it is given ours; else it does without."""
    how: str

    @property
    def package(self) -> str:
        return self.requirements[0].partition("==")[0]

    @property
    def version(self) -> str:
        return self.requirements[0].partition("==")[2]


_CHROMA = "chromadb==1.5.9"
_MEM0 = "mem0ai==2.2.1"
_MEMPALACE = "mempalace==3.11.0"
_NUMPY = "numpy==2.4.6"

PEERS = (
    Peer(
        "mem0",
        "run_mem0",
        (_MEM0, "qdrant-client==1.20.0", _NUMPY),
        "turn",
        True,
        "infer=False, Qdrant on disk; as pip installs it, by vector",
    ),
    Peer(
        "mem0-hybrid",
        "run_mem0_hybrid",
        (_MEM0, "qdrant-client==1.20.0", "fastembed==0.9.1", _NUMPY),
        "turn",
        True,
        "the same with fastembed, by vector and by words",
    ),
    Peer("chroma", "run_chroma", (_CHROMA, _NUMPY), "turn", True, "persistent client, cosine"),
    Peer(
        "mempalace",
        "run_mempalace",
        (_MEMPALACE, _CHROMA, _NUMPY),
        "session",
        True,
        "its published benchmark: a session's user turns as one drawer",
    ),
    Peer(
        "mempalace-search",
        "run_mempalace_search",
        (_MEMPALACE, _CHROMA, _NUMPY),
        "turn",
        True,
        "its search_memories, candidates by vector and by words",
    ),
    Peer(
        "langgraph",
        "run_langgraph",
        (
            "langgraph-checkpoint-sqlite==3.1.2",
            "langgraph-checkpoint==4.3.1",
            "sqlite-vec==0.1.9",
            # For a Python whose own sqlite3 cannot load extensions.
            "pysqlite3-binary==0.5.4.post2; sys_platform == 'linux' and python_version < '3.14'",
            _NUMPY,
        ),
        "turn",
        True,
        "SqliteStore with an index",
    ),
    Peer(
        "bm25",
        "run_bm25",
        ("bm25s==0.3.16", "PyStemmer==3.1.0", _NUMPY),
        "turn",
        False,
        "words only, English stemmer",
    ),
)

BY_NAME = {peer.name: peer for peer in PEERS}
