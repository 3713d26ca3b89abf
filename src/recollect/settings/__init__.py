"""Every setting, and where its value comes from: the only readers of the environment."""

from recollect.settings.bounds import CHOICES, MiB
from recollect.settings.reading import PREFIX, Origin, Sourced, load, sourced, unknown_variables
from recollect.settings.values import SECRET, Settings

__all__ = [
    "CHOICES",
    "PREFIX",
    "SECRET",
    "MiB",
    "Origin",
    "Settings",
    "Sourced",
    "load",
    "sourced",
    "unknown_variables",
]
