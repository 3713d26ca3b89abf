"""What doctor and `config --check` say of a PostgreSQL server: room for connections, and its standbys."""

from collections.abc import Iterator
from typing import Any

from recollect import wiring
from recollect.cli.doctor_contents import Check
from recollect.settings import PREFIX, MiB, Settings


def connections(settings: Settings) -> Check:
    """Whether the server has room for all that the processes of `recollect serve` may open."""
    most = wiring.most_connections(settings)
    upkeep = 1 if settings.server_tends else 0  # what is done to the database as a whole has one of its own
    each = upkeep if settings.db_pooler else settings.db_pool + upkeep
    wanted = settings.processes * each
    detail = f"up to {wanted} for {settings.processes} × {each}, of {most} that the server has room for"
    if wanted <= most:
        return Check("connections", "ok", detail)
    fits = most // settings.processes - upkeep
    smaller = f"Lower {PREFIX}DB_POOL to {fits}, r" if fits > 0 and not settings.db_pooler else "R"
    return Check(
        "connections", "warn", detail, f"{smaller}aise max_connections, or set {PREFIX}DB_POOLER (pgbouncer)."
    )


def standbys(settings: Settings, stats: dict[str, Any]) -> Iterator[Check]:
    """How each standby is doing, and whether it is asked at all."""
    if settings.db_replica and not wiring.replicas(settings):
        detail = f"not asked while {PREFIX}AUDIT is {settings.audit}"
        yield Check("replica", "warn", detail, f"Set {PREFIX}AUDIT to writes, or unset {PREFIX}DB_REPLICA.")
    for state in stats.get("replicas", ()):
        if "problem" in state:
            detail = f"{state['path']}: {state['problem']}"
            yield Check("replica", "warn", detail, f"Recall goes to {PREFIX}DB until it is back.")
        elif state["behind_bytes"] is None:
            yield Check("replica", "warn", f"{state['path']} is no standby", f"Correct {PREFIX}DB_REPLICA.")
        else:
            behind = f"{state['path']}, {state['behind_bytes'] / MiB:.1f} MiB of log behind"
            yield Check("replica", "ok", behind)
