"""The memory of the unit tests: a real SQLite file, a clock moved by hand, an embedder with a switch."""

from tests.unit.conftest import clock, derek, embedder, empty_database, memory, open_memory, path

__all__ = ["clock", "derek", "embedder", "empty_database", "memory", "open_memory", "path"]
