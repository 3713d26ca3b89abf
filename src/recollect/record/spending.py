"""What a user's memory has used of models, and what that cost."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple

from recollect.errors import Invalid, SettingsError
from recollect.limits import shown
from recollect.workspace import Workspace

MILLION = 1_000_000


class Price(NamedTuple):
    """Of a million tokens."""

    prompt: float
    completion: float = 0.0


@dataclass(frozen=True, slots=True)
class Spending:
    """What one model was asked for on one day (UTC), what for, and how many tokens it took. `cost` is by the
    prices that are set now; None when the model has none."""

    day: date
    source: str
    model: str
    calls: int
    prompt: int
    completion: int
    cost: float | None = None


def spending(work: Workspace, since: date | None) -> list[Spending]:
    """By day, source and model."""
    if since is not None and (isinstance(since, datetime) or not isinstance(since, date)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"since must be a date, not {shown(since)}; what is spent is kept by day.")
    work.flush()
    known = prices(work.settings.prices)
    return [
        Spending(
            one.day,
            one.source,
            one.model,
            one.calls,
            one.prompt,
            one.completion,
            _cost(known.get(one.model), one.prompt, one.completion),
        )
        for one in work.store.spending(since)
    ]


def _cost(price: Price | None, prompt: int, completion: int) -> float | None:
    return None if price is None else (prompt * price.prompt + completion * price.completion) / MILLION


@lru_cache(maxsize=16)
def prices(text: str) -> Mapping[str, Price]:
    """The prices as they are written in the setting, by model."""
    found: dict[str, Price] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, price = part.rpartition("=")
        try:
            given = Price(*map(float, price.split("/")))
        except (ValueError, TypeError):
            given = Price(math.nan)
        if name.split() != [name] or not all(0 <= number < math.inf for number in given):
            raise SettingsError(
                f"RECOLLECT_PRICES has {shown(part)}: write model=prompt/completion, for a million tokens of "
                "each, such as gpt-4o-mini=0.15/0.6."
            )
        if name in found:
            raise SettingsError(f"RECOLLECT_PRICES has two prices of {shown(name)}: take one out.")
        found[name] = given
    return found
