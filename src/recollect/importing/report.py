"""What an import did, and what it left out and why."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.importing.items import Left

EXAMPLES = 3
"""How many places are told of each reason."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """How many were left out for a reason, and where the first of them are; never what they say."""

    reason: str
    count: int
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What an import has done; of a dry run, what it would do.

    `imported` counts what is new by kind, `corrected` the memories that had changed at their source,
    `unchanged` what was there already."""

    source: str
    imported: Mapping[str, int]
    corrected: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    dry_run: bool = False

    @property
    def total(self) -> int:
        return sum(self.imported.values())


@dataclass(slots=True)
class Tally:
    """A report that is being made."""

    imported: Counter[str] = field(default_factory=Counter[str])
    corrected: int = 0
    unchanged: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])
    first: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def left(self, item: Left) -> None:
        self.reasons[item.reason] += 1
        if len(places := self.first.setdefault(item.reason, [])) < EXAMPLES:
            places.append(item.where)

    @property
    def taken(self) -> int:
        return self.imported.total() + self.corrected + self.unchanged

    @property
    def done(self) -> int:
        return self.taken + self.reasons.total()

    def report(self, source: str, dry_run: bool) -> Report:
        skipped = (Skipped(reason, n, tuple(self.first[reason])) for reason, n in self.reasons.most_common())
        return Report(source, dict(+self.imported), self.corrected, self.unchanged, tuple(skipped), dry_run)
