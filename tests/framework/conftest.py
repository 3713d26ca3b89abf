"""The memory of the unit tests: a real SQLite file, a clock moved by hand, an embedder with a switch."""

from importlib.util import find_spec

from tests.unit.conftest import clock, derek, embedder, empty_database, memory, open_memory, path

__all__ = ["clock", "derek", "embedder", "empty_database", "memory", "open_memory", "path"]

# CrewAI wants older versions of what our other frameworks need, so it has an environment of its own; what it
# takes to run these there is in docs/integrations/crewai.md.
collect_ignore = [] if find_spec("crewai") else ["test_crewai.py"]
