"""Taking in what people have elsewhere: one module a source, from a path to items, and one runner that writes
them."""

from recollect.importing.report import Report, Skipped
from recollect.importing.running import AUTO, SOURCES, import_from

__all__ = ["AUTO", "SOURCES", "Report", "Skipped", "import_from"]
