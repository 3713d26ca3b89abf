"""recollect keys create, list, revoke."""

import shlex
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any

import typer

from recollect import wiring
from recollect.cli import output
from recollect.cli.frame import Here, command, new_app
from recollect.ports.clock import SystemClock
from recollect.ports.keys import ApiKey, KeyRole
from recollect.ports.store import Store

app = new_app(
    "keys",
    "Keys to the server: who may use it, and for whom.",
    "recollect keys create --user ana",
    "recollect keys list",
    "recollect keys revoke 0195a3c2-…",
)
_TIMES = ("created_at", "expires_at", "revoked_at", "used_at")
_PAGE = 1000


@command(
    app,
    "recollect keys create --user ana --name laptop --expires 90d",
    "recollect keys create --service --name chatbot",
    "recollect keys create --admin",
)
def create(
    here: Here,
    service: Annotated[
        bool, typer.Option("--service", help="For a service that acts for users: X-Recollect-User says whom.")
    ] = False,
    admin: Annotated[
        bool, typer.Option("--admin", help="For who looks after the server; it opens nobody's memory.")
    ] = False,
    name: Annotated[str, typer.Option(metavar="TEXT", help="What it is for, to tell it from others.")] = "",
    expires: Annotated[
        str, typer.Option(metavar="WHEN", help="After 90d, 12h or 4w, or on 2030-01-31. Default: never.")
    ] = "",
) -> None:
    """Make a key and show it, this once: for the memory of --user NAME, for a --service, or for an --admin.

    From the first key on, the server asks for one, also on this machine.
    """
    from recollect.server.identity.issuing import expiry, issue

    clock, role, owner = SystemClock(), _role(here, service, admin), here.options.user
    until = expiry(expires, clock.now()) if expires else None
    with _store(here) as store:
        first = not store.keys(1)
        made = issue(store, clock, role, owner=owner, name=name, expires_at=until)

    def tell() -> None:
        output.line(made.key)
        here.note(f"Only its digest is kept: note it down. Key {made.kept.id} opens {_opens(made.kept)}.")
        if first:
            here.note(_first(here.settings.user, made.kept))

    here.answer({**_shown(made.kept), "key": made.key}, tell)


def _first(local: str, key: ApiKey) -> str:
    """What changes with the first key of a database."""
    told = "It is the first: from now on every request needs a key."
    if key.owner == local:
        return told
    return (
        f"{told} What was recorded without one is {local}'s: make a key with --user {shlex.quote(local)} "
        "to go on with it."
    )


def _role(here: Here, service: bool, admin: bool) -> KeyRole:
    asked = {KeyRole.USER: here.options.user is not None, KeyRole.SERVICE: service, KeyRole.ADMIN: admin}
    roles = [role for role, wanted in asked.items() if wanted]
    if len(roles) != 1:
        raise typer.BadParameter("say whose key it is: one of --user NAME, --service and --admin.")
    return roles[0]


@command(app, "recollect keys list", "recollect keys list --user ana --json", name="list")
def list_(here: Here) -> None:
    """Show every key, newest first, or those of --user NAME; never the keys themselves."""
    here.existing()
    with _store(here) as store:
        found = [key for key in _all(store) if here.options.user in (None, key.owner)]
        now = SystemClock().now()

    def tell() -> None:
        heads = ("id", "for", "name", "made", "used", "expires", "state")
        output.table(heads, [_row(key, now) for key in found])
        if not found:
            here.note("There are no keys. `recollect keys create --user NAME` makes one.")

    here.answer({"keys": [_shown(key) for key in found]}, tell)


@command(app, "recollect keys revoke 0195a3c2-…")
def revoke(
    here: Here, id: Annotated[str, typer.Argument(metavar="ID", help="The id of a key, not the key.")]
) -> None:
    """Have a key open nothing any more; running servers follow within seconds."""
    here.existing()
    with _store(here) as store:
        key = store.revoke_key(id, SystemClock().now())
    here.answer(_shown(key), lambda: output.line(f"Key {key.id} opens nothing any more."))


@contextmanager
def _store(here: Here) -> Generator[Store]:
    """The database alone: keys need no model."""
    store = wiring.open_store(here.settings)
    try:
        yield store
    finally:
        store.close()


def _all(store: Store) -> Generator[ApiKey]:
    page = store.keys(_PAGE)
    while page:
        yield from page
        page = store.keys(_PAGE, after=page[-1].id)


def _opens(key: ApiKey) -> str:
    opened = {
        KeyRole.USER: f"the memory of {key.owner}",
        KeyRole.SERVICE: "the memory of whom X-Recollect-User names",
        KeyRole.ADMIN: "the server's own affairs, and nobody's memory",
    }
    return opened[key.role]


def _row(key: ApiKey, now: datetime) -> tuple[str, ...]:
    whom = key.role.value if key.owner is None else f"user {key.owner}"
    state = "revoked" if key.revoked_at else "valid" if key.is_valid(now) else "expired"
    made, used, expires = (output.local(at) for at in (key.created_at, key.used_at, key.expires_at))
    return key.id, whom, key.name, made, used, expires, state


def _shown(key: ApiKey) -> dict[str, Any]:
    given = {"id": key.id, "name": key.name, "role": key.role.value, "user": key.owner}
    return {**given, **{name: getattr(key, name) for name in _TIMES}}
