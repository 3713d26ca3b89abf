"""What doctor and `config --check` say of the engines beside the database: whether they answer."""

from collections.abc import Iterator
from contextlib import closing

from recollect import wiring
from recollect.cli.doctor_contents import Check
from recollect.errors import ProjectionError, RecollectError, SettingsError
from recollect.ports.clock import SystemClock
from recollect.ports.store import Store
from recollect.settings import PREFIX, MiB, Settings


def redis(settings: Settings) -> Iterator[Check]:
    if not settings.redis:
        return
    try:
        with closing(wiring.open_working(settings, SystemClock())) as store:
            state = store.state()
    except RecollectError as error:
        yield Check("redis", "fail", str(error), f"Correct or unset {PREFIX}REDIS.")
        return
    if state.problem:
        fix = f"See that it runs and that {PREFIX}REDIS is right; until then every process is on its own."
        yield Check("redis", "warn", state.problem, fix)
        return
    most = f"of {state.most_bytes / MiB:.0f} MiB" if state.most_bytes else "MiB, without a limit"
    used = f"{(state.used_bytes or 0) / MiB:.1f} {most}"
    yield Check("redis", "ok", f"{state.where}: {used}, {state.policy}, {state.evicted} keys evicted")


def copies(settings: Settings, store: Store) -> Iterator[Check]:
    """What every other command would refuse is said here too; that nobody answers, none of them minds."""
    opening = {
        "milvus": lambda: wiring.open_index(settings, store),
        "neo4j": lambda: wiring.open_graph(settings, store),
    }
    for name, opened in opening.items():
        try:
            copy = opened()
        except SettingsError as error:
            yield Check(name, "fail", str(error), f"Correct or unset {PREFIX}{name.upper()}.")
            continue
        if copy is None:
            continue
        with closing(copy):
            try:
                copy.ping()
                yield Check(name, "ok", "answers")
            except ProjectionError as error:
                yield Check(name, "warn", str(error), "Until then the database answers alone.")
