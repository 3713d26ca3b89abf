"""recollect config: every setting, where its value comes from, and whether a server can run with them."""

import ipaddress
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from recollect import settings as settings_module
from recollect import wiring
from recollect.cli import database, doctor_engines, doctor_server, output
from recollect.cli.doctor_contents import Check
from recollect.cli.failing import FAILED
from recollect.cli.frame import Here, command
from recollect.errors import RecollectError, SettingsError
from recollect.memory import check_settings
from recollect.ports.store import Store
from recollect.settings import PREFIX, Settings, Sourced, shown

app = typer.Typer()

URLS = ("upstream", "model", "embedder", "reranker", "jwt_issuer", "jwt_keys")
"""Settings that may be the address of a service."""


@command(app, "recollect config", "recollect config --check", "recollect config --json | jq .settings.db")
def config(
    here: Here,
    check: Annotated[
        bool, typer.Option("--check", help="Also try whether a server can run so; exit code 1 if not.")
    ] = False,
) -> None:
    """Show every setting with its value and where that comes from.

    That is an argument, the environment, the file that RECOLLECT_CONFIG names, or the default. Secrets are
    shown as set, never as they are.
    """
    options: dict[str, Any] = {"db": here.options.db, "embedder": here.options.embedder}
    given = {name: value for name, value in options.items() if value is not None}
    found = settings_module.sourced(**given)
    settings = Settings(**{name: one.value for name, one in found.items()})
    checks = list(_checks(settings)) if check else []
    data: dict[str, Any] = {
        "settings": {
            name: {"value": shown(name, one.value), "origin": one.origin} for name, one in found.items()
        }
    }
    if check:
        data |= {"ok": _fine(checks), "checks": [output.plain(one) for one in checks]}
    here.answer(data, lambda: _tell(found, checks))
    if not _fine(checks):
        raise typer.Exit(FAILED)


def _fine(checks: list[Check]) -> bool:
    return all(check.state != "fail" for check in checks)


def _tell(found: dict[str, Sourced], checks: list[Check]) -> None:
    if not checks:
        rows = [
            (PREFIX + name.upper(), str(shown(name, one.value)), one.origin) for name, one in found.items()
        ]
        output.table(("setting", "value", "from"), rows, {"default": "dim"})
        return
    output.table(
        ("", "what", "found", "what to do"),
        [(check.state, check.name, check.detail, check.fix) for check in checks],
        {"ok": "green", "warn": "yellow", "fail": "bold red"},
    )


# Whether a server can run so


def _checks(settings: Settings) -> Iterator[Check]:
    for name in settings_module.unknown_variables():
        yield Check("environment", "warn", f"{name} is no setting", "Correct or unset it.")
    try:
        check_settings(settings)
        wiring.open_reranker(settings, wiring.open_model(settings))
        wiring.open_embedder(settings)
        yield Check("settings", "ok", "every value can be read")
    except RecollectError as error:
        yield Check("settings", "fail", str(error), "Correct or unset it.")
    yield from filter(None, (_url(name, getattr(settings, name)) for name in URLS))
    yield from _database(settings)
    yield from _server(settings)
    yield from doctor_engines.redis(settings)
    if settings.processes > 1 and not settings.redis:
        detail = "each of several processes has a working memory of its own and counts rates for itself"
        yield Check("redis", "warn", detail, f"Set {PREFIX}REDIS, or one process.")


def _url(name: str, value: str) -> Check | None:
    """What is wrong with an address; None when it is none, or nothing is."""
    if "://" not in value and name != "upstream":
        return None
    try:
        parts = urlsplit(value)
        fine = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if fine:
        return None
    return Check(
        name, "fail", f"{shown(name, value)!r} is no http(s) address", f"Set {PREFIX}{name.upper()}."
    )


def _tokens(settings: Settings) -> Iterator[Check]:
    from recollect.server.identity.tokens import check_tokens

    try:
        check_tokens(settings)
    except RecollectError as error:
        yield Check("tokens", "fail", str(error), f"Correct {PREFIX}JWT_…, or unset all of it.")
        return
    if not settings.jwt_issuer:
        return
    if not settings.jwt_user:
        yield Check("tokens", "fail", "no claim of theirs names the user", f"Unset {PREFIX}JWT_USER.")
    elif "://" not in settings.jwt_keys and not Path(settings.jwt_keys).expanduser().is_file():
        yield Check("tokens", "fail", f"there is no file {settings.jwt_keys}", f"Set {PREFIX}JWT_KEYS.")
    else:
        yield Check("tokens", "ok", f"of {settings.jwt_issuer} are taken")


def _lists(settings: Settings) -> Iterator[Check]:
    from recollect.server.headers import origins

    try:
        origins(settings)
    except RecollectError as error:
        yield Check("cors", "fail", str(error), f"Correct or unset {PREFIX}CORS.")
    for proxy in filter(None, (one.strip() for one in settings.proxies.split(","))):
        try:
            ipaddress.ip_network(proxy)
        except ValueError:
            state = "warn" if proxy == "*" else "fail"
            fix = "Give the addresses of your proxies: whoever is believed can pretend to be anybody."
            yield Check("proxies", state, f"{proxy!r} is no address", fix)


def _database(settings: Settings) -> Iterator[Check]:
    """Whether it answers. Nothing is made."""
    try:
        where, seen = wiring.address(settings), database.look(settings)
        if seen.problem:
            fix = "Run `recollect db create`." if seen.missing else "Do what it says, or set another one."
            yield Check("database", "fail", seen.problem, fix)
        elif seen.empty and not wiring.is_server(settings) and not _can_be_made(Path(where)):
            yield Check("database", "fail", f"{where} cannot be made", f"Set {PREFIX}DB or give --db.")
        elif seen.empty:
            yield Check("database", "ok", f"{where} holds nothing yet; it is made when it is first used")
            yield from _callers(settings, None)
        else:
            with closing(wiring.open_store(settings)) as store:
                yield Check("database", "ok", f"{where}, schema {seen.schema}")
                if wiring.is_server(settings):
                    yield doctor_server.connections(settings)
                yield from doctor_engines.copies(settings, store)
                yield from _callers(settings, store)
    except RecollectError as error:
        yield Check("database", "fail", str(error), "Do what it says, or set another one.")


def _can_be_made(path: Path) -> bool:
    above = next(folder for folder in path.absolute().parents if folder.exists())
    return above.is_dir() and os.access(above, os.W_OK)


def _callers(settings: Settings, store: Store | None) -> Iterator[Check]:
    """Whether those who come are told apart, and get through to the upstream."""
    try:
        from recollect.server.identity.binding import check_keys, keyless_upstream
    except ImportError:
        return
    try:
        check_keys(settings, store)
    except SettingsError as error:
        yield Check("keys", "fail", str(error), f"Make a key, or set {PREFIX}HOST to 127.0.0.1.")
    if told := keyless_upstream(settings, store):
        yield Check("upstream", "warn", told, f"Set {PREFIX}UPSTREAM_KEY, unless it needs none.")


def _server(settings: Settings) -> Iterator[Check]:
    """What only a server needs; its address is tried, and let go at once."""
    try:
        from recollect.server.running import listening
    except ImportError as error:
        fix = "Run `pip install 'recollect[server]'` to serve."
        yield Check("server", "warn", f"its extra is not installed ({error})", fix)
        return
    yield from _tokens(settings)
    yield from _lists(settings)
    try:
        listening(settings).close()
    except SettingsError as error:
        yield Check("address", "fail", str(error), f"Set another {PREFIX}HOST or {PREFIX}PORT.")
    else:
        yield Check("address", "ok", f"{settings.host}:{settings.port}")
