"""Brings copies in other engines up to date with the store of record.

A projection is followed user by user from its own mark on, a portion at a time: written first, noted then,
so that a worker which dies in between writes it again. Users are shared out by their number among as many
workers as come, each share under a lease: two at once could write what one has read before the other
removed it.
"""

from collections.abc import Iterator

from recollect.errors import ProjectionError, RecollectError
from recollect.ports.projection import Projection
from recollect.tend.tender import Done, Hold, Tender, leased

SHARES = 16
"""Into how many parts users are shared out."""
USERS = 200
"""How many are looked up at once."""
FAILURES = 100
"""After how many users in a row whom it refuses, a projection that answers is left for the next round."""


def project(tender: Tender, hold: Hold) -> Done:
    """Every projection, as far as no other worker is at it; how many users it caught up with."""
    done, problem = 0, None
    for projection in tender.projections:
        try:
            done += _follow(tender, projection)
        except RecollectError as error:
            problem = error
    return done, problem


def _follow(tender: Tender, projection: Projection) -> int:
    epoch = projection.epoch()
    done, failed = _forget(tender, projection, epoch), 0
    problem: ProjectionError | None = None
    for user, number, hold in _behind(tender, projection.name, epoch):
        try:
            _follow_user(tender, projection, epoch, user, number, hold)
            done, failed = done + 1, 0
            tender.tell("project", done)
        except ProjectionError as error:  # their data may be at fault, or the engine
            problem, failed = error, failed + 1
            if failed == FAILURES or not _answers(projection):
                break
    if problem is not None:
        raise problem
    return done


def _answers(projection: Projection) -> bool:
    try:
        projection.ping()
    except ProjectionError:
        return False
    return True


def project_user(tender: Tender, user: str) -> RecollectError | None:
    """Bring every projection up to date with one user, and remove what it has of those who were erased; what
    went wrong. Nothing happens to a user whom another worker is at."""
    problem: RecollectError | None = None
    for projection in tender.projections:
        try:
            projection.ping()  # somebody waits: a silent engine is given up sooner than by what follows
            epoch = projection.epoch()
            _forget(tender, projection, epoch)
            now, settles = tender.clock.now(), projection.settles
            reach = tender.store.user(user).reach(projection.name, epoch, now, settles)
            if reach is not None:
                with leased(tender, _share(projection.name, reach.number % SHARES)) as hold:
                    if hold():
                        _follow_user(tender, projection, epoch, user, reach.number, hold)
        except RecollectError as error:
            problem = error
    return problem


def _share(name: str, share: int) -> str:
    return f"project:{name}:{share}"


def _behind(tender: Tender, name: str, epoch: str) -> Iterator[tuple[str, int, Hold]]:
    """Users whom the projection has to catch up with, each while their share is held."""
    last = ""
    while behind := tender.store.users_behind(name, epoch, last, USERS):
        last = behind[-1][0]
        for share in {number % SHARES for _, number in behind}:
            with leased(tender, _share(name, share)) as hold:
                for user, number in behind:
                    if number % SHARES == share and hold():
                        yield user, number, hold


def _follow_user(
    tender: Tender, projection: Projection, epoch: str, user: str, number: int, hold: Hold
) -> None:
    store = tender.store.user(user)
    reach = store.reach(projection.name, epoch, tender.clock.now(), projection.settles)
    if reach is None or reach.number != number:
        return
    since = reach.noted
    if not since and not _note(tender, projection, epoch, user, number, (0, 0)):
        return  # noted before anything is written, so that an erasure knows of it
    if since < 0:  # what it has is named by a secret that is no more: nothing that comes would replace it
        projection.forget(epoch, number)
    while since < reach.seq and hold():
        portion = store.reading(lambda view, after=since: projection.read(view, after))
        projection.write(epoch, number, portion)
        if not _note(tender, projection, epoch, user, number, (since, portion.upto)):
            projection.forget(epoch, number)  # erased meanwhile
            return
        since = portion.upto


def _note(
    tender: Tender, projection: Projection, epoch: str, user: str, number: int, steps: tuple[int, int]
) -> bool:
    now = tender.clock.now()
    return tender.store.user(user).project(projection.name, epoch, number, *steps, now, projection.settles)


def _forget(tender: Tender, projection: Projection, epoch: str) -> int:
    """Remove what it has of users who were erased, unless a worker is at them, who may yet write more."""
    done = 0
    shares: dict[int, list[int]] = {}
    for number in tender.store.unprojected(projection.name):
        shares.setdefault(number % SHARES, []).append(number)
    for share, gone in shares.items():
        with leased(tender, _share(projection.name, share)) as hold:
            for number in gone:
                if hold():
                    projection.forget(epoch, number)
                    tender.store.unproject(projection.name, number)
                    done += 1
    return done


def rebuild(tender: Tender, name: str) -> int:
    """Drop a projection and make it anew, while it is being searched: until it has caught up with a user, the
    store of record is asked."""
    for projection in tender.projections:
        if projection.name == name:
            projection.drop()
            return _follow(tender, projection)
    raise ProjectionError(f"No projection called {name} is configured: set RECOLLECT_{name.upper()}.")
