"""python start.py RUNNER DATA WORK TOP_K: silence first, then the system is imported, filled and asked."""

import importlib
import sys
from pathlib import Path

import harness

runner, data, work, top_k = sys.argv[1:]
harness.quiet(Path(work) / "home")
harness.shut_off_the_network()
harness.run(importlib.import_module(runner).open_memory, Path(data), Path(work), int(top_k))
