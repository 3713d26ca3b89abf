"""From arguments, the environment and a file to settings.

`RECOLLECT_TOP_K=8` sets `top_k`, and so on for every field; so does `top_k = 8` in the file that
`RECOLLECT_CONFIG` names. A file that lies in the current directory is not read: it may be a stranger's.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple

from recollect.errors import SettingsError
from recollect.settings.bounds import BOUNDS, CHOICES
from recollect.settings.values import Settings

PREFIX = "RECOLLECT_"
CONFIG = f"{PREFIX}CONFIG"
FILE_LIMIT = 1024 * 1024
"""The largest file of settings, in bytes."""
Origin = Literal["argument", "environment", "file", "default"]
_FIELDS = {field.name: field for field in fields(Settings)}
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class Sourced(NamedTuple):
    """A value, and where it comes from."""

    value: Any
    origin: Origin


def load(environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """The settings: given ones first, then the environment's, then the file's, then the defaults."""
    return Settings(**{name: found.value for name, found in sourced(environment, **overrides).items()})


def sourced(environment: Mapping[str, str] | None = None, **overrides: Any) -> dict[str, Sourced]:
    """Every setting by name; of several places that set it, the first one counts."""
    environment = os.environ if environment is None else environment
    _check_names(overrides)
    layers: dict[Origin, dict[str, Any]] = {
        "argument": {name: _typed(f"The setting {name!r}", value, name) for name, value in overrides.items()},
        "environment": _variables(environment),
        "file": _file(environment[CONFIG]) if environment.get(CONFIG) else {},
    }
    found: dict[str, Sourced] = {}
    for origin, values in layers.items():
        keyed = any(found[name].value for name in ("key", "key_file") if name in found)  # stands for both
        for name, value in values.items():
            if name not in found and not (keyed and name in {"key", "key_file"}):
                _check(name, value)
                found[name] = Sourced(value, origin)
    if "key" in found and "key_file" in found and found["key"].value and found["key_file"].value:
        raise SettingsError(f"{PREFIX}KEY and {PREFIX}KEY_FILE are both set: unset one of them.")
    defaults = Settings()
    return {name: found.get(name, Sourced(getattr(defaults, name), "default")) for name in _FIELDS}


def config_file(environment: Mapping[str, str] | None = None) -> Path | None:
    """The file that settings are read from, if one is named."""
    named = (os.environ if environment is None else environment).get(CONFIG)
    return Path(named).expanduser().absolute() if named else None


def unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """Variables that look like settings and are none: most likely misspelt."""
    known = {CONFIG, *(PREFIX + name.upper() for name in _FIELDS)}
    found = [name for name in (environment or os.environ) if name.startswith(PREFIX) and name not in known]
    return sorted(name for name in found if not name.startswith((f"{PREFIX}TEST_", f"{PREFIX}NO_SKIPS")))


def _variables(environment: Mapping[str, str]) -> dict[str, Any]:
    named = {name: PREFIX + name.upper() for name in _FIELDS}
    return {
        name: _parsed(variable, environment[variable], _FIELDS[name].type)
        for name, variable in named.items()
        if environment.get(variable)
    }


def _file(path: str) -> dict[str, Any]:
    """What the file sets; every name in it must be a setting's."""
    try:
        with Path(path).expanduser().open("rb") as file:
            content = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise SettingsError(f"{CONFIG}: {path} cannot be read ({error.strerror}).") from None
    if len(content) > FILE_LIMIT:
        raise SettingsError(f"{CONFIG}: {path} has over {FILE_LIMIT:,} bytes, too many for settings.")
    try:
        values = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"{CONFIG}: {path} is not TOML ({error}).") from None
    _check_names(values, f" in {path}")
    return {name: _typed(f"{name} in {path}", value, name) for name, value in values.items()}


def _check_names(values: Mapping[str, Any], where: str = "") -> None:
    for name in sorted(values.keys() - _FIELDS.keys()):
        near = get_close_matches(name.lower(), _FIELDS, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_FIELDS)}."
        raise SettingsError(f"There is no setting {name!r}{where}; {meant}")


def _parsed(variable: str, text: str, kind: Any) -> Any:
    try:
        if kind is bool:
            if text.lower() not in _TRUE + _FALSE:
                raise ValueError
            return text.lower() in _TRUE
        return kind(text)
    except ValueError:
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise SettingsError(f"{variable} is {text!r}, but must be {wanted}.") from None


def _typed(what: str, value: Any, name: str) -> Any:
    kind: Any = _FIELDS[name].type
    if type(value) is kind or (kind is float and type(value) is int):
        return value
    raise SettingsError(f"{what} must be of type {kind.__name__}, not {type(value).__name__}.")


def _check(name: str, value: Any) -> None:
    low, high = BOUNDS.get(name, (value, value))
    if not low <= value <= high:
        raise SettingsError(f"{PREFIX}{name.upper()} is {value}, but must be between {low} and {high}.")
    if name in CHOICES and value not in CHOICES[name]:
        allowed = ", ".join(CHOICES[name])
        raise SettingsError(f"{PREFIX}{name.upper()} is {value!r}, but must be one of {allowed}.")
