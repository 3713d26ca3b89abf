"""Without OpenTelemetry nothing is traced, and nothing of it is loaded."""

import subprocess
import sys

ASKED = """
import sys, recollect
from recollect.tracing import at_work, span
with recollect.Memory.open(sys.argv[1], embedder="none") as memory:
    memory.scope("derek").record("user", "hello there")
    memory.scope("derek").recall("hello there?")
with span("anything", turns=1) as traced:
    traced.set_attribute("found", 2)
assert not at_work() and not [name for name in sys.modules if name.startswith("opentelemetry")]
"""


def test_nothing_is_loaded_for_it(tmp_path) -> None:
    done = subprocess.run([sys.executable, "-c", ASKED, str(tmp_path / "memory.db")], check=False)
    assert done.returncode == 0
