"""Every setting, and where its value comes from: the only readers of the environment."""

from recollect.settings.bounds import BOUNDS, CHOICES, MiB
from recollect.settings.reading import (
    CONFIG,
    PREFIX,
    Origin,
    Sourced,
    config_file,
    load,
    sourced,
    unknown_variables,
)
from recollect.settings.values import SECRET, Settings, shown

__all__ = [
    "BOUNDS",
    "CHOICES",
    "CONFIG",
    "PREFIX",
    "SECRET",
    "MiB",
    "Origin",
    "Settings",
    "Sourced",
    "config_file",
    "load",
    "shown",
    "sourced",
    "unknown_variables",
]
