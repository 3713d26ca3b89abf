"""What a new process costs: importing the product, and its first recall."""

import json
import subprocess
import sys
from statistics import median
from time import perf_counter
from typing import Any

from recollect import Memory
from recollect.bench.corpus import Corpus
from recollect.bench.measure import alternate
from recollect.bench.place import Place
from recollect.bench.subject import USER, fill
from recollect.settings import load

ROWS = 1000

_FIRST_RECALL = """
import json, sys
from recollect import Memory
address, user, text = json.loads(sys.stdin.readline())
memory = Memory.open(address, install_models=False, embedder_timeout=5.0)
found = memory.scope(user).recall(text)
print(json.dumps({"hits": len(found.hits), "problems": found.problems, "steps_ms": dict(found.timings_ms)}))
"""


def measure_import(times: int) -> dict[str, Any]:
    """Seconds that `import recollect` adds to an interpreter that does nothing."""
    empty: list[float] = []
    importing: list[float] = []
    for number in range(times + 1):
        alternate(
            number,
            lambda: empty.append(_seconds("pass")),
            lambda: importing.append(_seconds("import recollect")),
        )
    bare, whole = median(empty[1:]), median(importing[1:])
    return {"import_s": round(max(0.0, whole - bare), 3), "interpreter_s": round(bare, 3), "times": times}


def measure_first_recall(place: Place, corpus: Corpus, times: int) -> dict[str, Any]:
    """Seconds from starting a process to its first answer, with the configured embedder."""
    address = place.database("startup")
    name = load().embedder
    with Memory.open(address, install_models=False) as memory:
        space = memory.embedder.space if memory.embedder else None
        rows = corpus.rows(ROWS, stream=4)
        if space is None or space.dimensions != rows.vectors.shape[1]:
            return {
                "embedder": name,
                "skipped": f"{name} has no vectors of {rows.vectors.shape[1]} dimensions",
            }
        fill(memory.scope(USER), rows)
    taken: list[float] = []
    said: dict[str, Any] = {}
    for _ in range(times + 1):
        seconds, said = _first_answer(address, rows.texts[0])
        taken.append(seconds)
        if said["problems"]:
            return {"embedder": name, "skipped": said["problems"][0]}
    return {
        "embedder": name,
        "rows": ROWS,
        "first_recall_s": round(median(taken[1:]), 3),
        "coldest_s": round(taken[0], 3),
        "steps_ms": {step: round(ms, 1) for step, ms in said["steps_ms"].items()},
        "times": times,
    }


def _seconds(code: str) -> float:
    begun = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return perf_counter() - begun


def _first_answer(address: str, text: str) -> tuple[float, dict[str, Any]]:
    pipe, command = subprocess.PIPE, [sys.executable, "-c", _FIRST_RECALL]
    begun = perf_counter()
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([address, USER, text]) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        seconds = perf_counter() - begun
    return seconds, json.loads(line)
