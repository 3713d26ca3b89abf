"""The contract of a projection, as a test class for any adapter to inherit.

    class TestMyProjection(ProjectionContract):
        @pytest.fixture
        def store(self): ...  # empty, searched by SPACE

        @pytest.fixture
        def opened(self, store): ...  # a function that opens the projection of the store, as others would

        def held(self, projection, epoch, number): ...  # all that it has of a user, as a value to compare

Nothing here sleeps: `held` sees what was written.
"""

import random
import threading
from collections.abc import Callable, Container, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.errors import ProjectionError
from recollect.model.changes import Change, Put, Remove, Revise
from recollect.model.records import Relation
from recollect.ports.projection import Portion, Projection
from recollect.ports.store import Store, UserStore, UserView
from recollect.settings import Settings
from recollect.tend.projecting import project, project_user, rebuild
from recollect.tend.tender import Tender
from recollect.testing.store_samples import SPACE, START, ManualClock, entity, fact, put, vectors
from recollect.workspace import Workspace

Opened = Callable[[], Projection]
VECTORS = vectors(50)
OPERATIONS = 60
WORKERS = 4


class Between:
    """A projection with something happening just before it is written to, and just after: for everybody, or
    for the users of these numbers."""

    def __init__(
        self,
        inner: Projection,
        happens: Callable[[], object],
        then: Callable[[], object] = lambda: None,
        numbers: Container[int] | None = None,
    ) -> None:
        self._inner, self._happens, self._then, self._numbers = inner, happens, then, numbers

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def settles(self) -> timedelta:
        return self._inner.settles

    def ping(self) -> None:
        self._inner.ping()

    def epoch(self) -> str:
        return self._inner.epoch()

    def read(self, view: UserView, since: int) -> Portion:
        return self._inner.read(view, since)

    def write(self, epoch: str, number: int, portion: Portion) -> None:
        if self._numbers is None or number in self._numbers:
            self._happens()
        self._inner.write(epoch, number, portion)
        self._then()

    def forget(self, epoch: str, number: int) -> None:
        self._inner.forget(epoch, number)

    def drop(self) -> None:
        self._inner.drop()

    def close(self) -> None: ...


@contextmanager
def opening(make: Opened) -> Generator[Opened]:
    """What opens a projection once more; what is in it goes in the end."""
    made: list[Projection] = []

    def again() -> Projection:
        made.append(make())
        return made[-1]

    yield again
    for projection in made[:1]:
        projection.drop()
    for projection in made:
        projection.close()


class Died(BaseException):
    """As a worker does that is killed."""


def die() -> None:
    raise Died


def refuse() -> None:
    raise ProjectionError("This cannot be stored.")


def known(number: int) -> list[Change]:
    """An entity, a fact about it and what it has to do with the one before."""
    bond = Relation(
        id=f"r-{number}",
        source=f"e-{max(0, number - 1)}",
        type="knows",
        target=f"e-{number}",
        valid_from=START,
        recorded_at=START,
    )
    about = fact(f"f-{number}", f"number {number} likes tea", about=(f"e-{number}",))
    return [
        put(entity(f"e-{number}", f"Person {number}"), VECTORS[number % 50]),
        put(about, VECTORS[(number + 7) % 50]),
        Put(bond),
    ]


def fill(user: UserStore, count: int = 10) -> None:
    for number in range(count):
        user.apply(known(number), SPACE)


class ProjectionContract:
    """It ends up equal to the store of record, whatever happens on the way."""

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def opened(self, store: Store) -> Opened:
        raise NotImplementedError

    def held(self, projection: Projection, epoch: str, number: int) -> Any:
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def projection(self, opened: Opened) -> Projection:
        return opened()

    @pytest.fixture
    def tender(self, store: Store, projection: Projection, clock: ManualClock) -> Tender:
        return Tender(store, None, clock, Settings(), _nobodys, projections=(projection,))

    def all_held(self, tender: Tender) -> dict[str, Any]:
        """What it has of everybody; nobody waits for it."""
        (projection,) = tender.projections
        epoch = projection.epoch()
        assert tender.store.users_behind(projection.name, epoch, "", 1) == []
        return {
            user: self.held(projection, epoch, _number(tender.store, user)) for user in tender.store.users()
        }

    def rebuilt(self, tender: Tender) -> dict[str, Any]:
        rebuild(tender, tender.projections[0].name)
        return self.all_held(tender)

    def test_it_follows_what_is_stored_changed_and_forgotten(self, store: Store, tender: Tender) -> None:
        alice = store.user("alice")
        fill(alice)
        run(tender)
        whole = self.all_held(tender)["alice"]
        alice.apply([Revise("fact", "f-3", {"valid_to": START + timedelta(days=1)})])
        alice.apply([Remove("fact", ("f-4",)), Remove("relation", ("r-4",)), Remove("entity", ("e-9",))])
        run(tender)
        assert self.all_held(tender)["alice"] != whole
        assert self.all_held(tender) == self.rebuilt(tender)

    def test_to_write_again_changes_nothing(self, store: Store, tender: Tender) -> None:
        fill(store.user("alice"))
        run(tender)
        before = self.all_held(tender)
        (projection,) = tender.projections
        number = _number(store, "alice")
        portion = store.user("alice").reading(lambda view: projection.read(view, 0))
        for _ in range(2):
            projection.write(projection.epoch(), number, portion)
        assert self.all_held(tender) == before

    def test_what_a_worker_wrote_before_it_died_is_written_again(self, store: Store, tender: Tender) -> None:
        alice = store.user("alice")
        fill(alice)
        (projection,) = tender.projections
        portion = alice.reading(lambda view: projection.read(view, 0))
        projection.write(projection.epoch(), _number(store, "alice"), portion)  # and noted nothing
        alice.apply([Remove("fact", ("f-1", "f-2"))])
        run(tender)
        assert self.all_held(tender) == self.rebuilt(tender)

    def test_a_worker_that_dies_leaves_its_share_to_others(
        self, store: Store, tender: Tender, clock: ManualClock
    ) -> None:
        fill(store.user("alice"))
        (projection,) = tender.projections
        with pytest.raises(Died):
            run(replace(tender, projections=(Between(projection, die),)))
        clock.advance(hours=1)
        run(tender)
        assert self.all_held(tender) == self.rebuilt(tender)

    def test_users_do_not_mix(self, store: Store, tender: Tender) -> None:
        for user in ("alice", "bob"):
            fill(store.user(user))
        run(tender)
        bobs = self.all_held(tender)["bob"]
        store.user("alice").apply([Remove("fact", ("f-1", "f-2", "f-3"))])
        run(tender)
        assert self.all_held(tender)["bob"] == bobs
        store.user("alice").erase()
        run(tender)
        assert self.all_held(tender) == {"bob": bobs}

    def test_whom_it_refuses_keeps_nobody_else_waiting(self, store: Store, tender: Tender) -> None:
        users = [f"user-{number}" for number in range(6)]
        for user in users:
            fill(store.user(user), 1)
        (projection,) = tender.projections
        refused = {_number(store, user) for user in users[:-1]}
        _, problem = project(
            replace(tender, projections=(Between(projection, refuse, numbers=refused),)), lambda: True
        )
        assert isinstance(problem, ProjectionError)
        behind = store.users_behind(projection.name, projection.epoch(), "", 10)
        assert [user for user, _ in behind] == users[:-1]

    def test_who_is_erased_is_gone(self, store: Store, tender: Tender) -> None:
        alice = store.user("alice")
        fill(alice)
        (projection,) = tender.projections
        number, nothing = _number(store, "alice"), self.held(projection, projection.epoch(), 0)
        run(tender)
        assert self.held(projection, projection.epoch(), number) != nothing
        alice.erase()
        assert project_user(tender, "alice") is None
        assert self.held(projection, projection.epoch(), number) == nothing
        fill(alice, 2)  # who comes back is another
        run(tender)
        assert self.held(projection, projection.epoch(), number) == nothing
        assert self.all_held(tender) == self.rebuilt(tender)

    def test_who_is_erased_while_it_is_written_is_gone(self, store: Store, tender: Tender) -> None:
        alice = store.user("alice")
        fill(alice)
        (projection,) = tender.projections
        number, nothing = _number(store, "alice"), self.held(projection, projection.epoch(), 0)
        run(replace(tender, projections=(Between(projection, alice.erase),)))
        run(tender)
        assert self.held(projection, projection.epoch(), number) == nothing
        assert store.unprojected(projection.name) == []

    def test_who_is_erased_while_a_worker_writes_that_then_dies_is_gone(
        self, store: Store, tender: Tender, clock: ManualClock
    ) -> None:
        alice = store.user("alice")
        fill(alice)
        (projection,) = tender.projections
        number, nothing = _number(store, "alice"), self.held(projection, projection.epoch(), 0)

        def erased() -> None:
            alice.erase()
            run(tender)

        with pytest.raises(Died):
            run(replace(tender, projections=(Between(projection, erased, die),)))
        clock.advance(hours=1)
        run(tender)
        assert self.held(projection, projection.epoch(), number) == nothing

    def test_what_a_worker_that_was_held_up_writes_is_put_right(self, store: Store, tender: Tender) -> None:
        alice = store.user("alice")
        fill(alice)
        (projection,) = tender.projections
        epoch, number = projection.epoch(), _number(store, "alice")
        portion = alice.reading(lambda view: projection.read(view, 0))
        alice.apply([Remove("fact", ("f-1", "f-2"))])
        run(tender)
        alice.apply(known(11), SPACE)

        def held_up() -> None:
            projection.write(epoch, number, portion)
            alice.project(projection.name, epoch, number, 0, portion.upto, START, projection.settles)

        run(replace(tender, projections=(Between(projection, held_up),)))
        run(tender)
        assert self.all_held(tender) == self.rebuilt(tender)

    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_whatever_happens_it_ends_as_if_it_were_made_anew(
        self, store: Store, tender: Tender, clock: ManualClock, seed: int
    ) -> None:
        chance = random.Random(seed)
        for _ in range(OPERATIONS):
            user, number = store.user(chance.choice(("alice", "bob"))), chance.randrange(12)
            match chance.choice((*["know"] * 3, "revise", "remove", "erase", "project", "one", "adopt")):
                case "know":
                    user.apply(known(number), SPACE)
                case "revise":
                    user.apply([put(fact(f"f-{number}", "changed", pinned=True), VECTORS[number])], SPACE)
                case "remove":
                    user.apply(
                        [Remove(*chance.choice((("fact", (f"f-{number}",)), ("entity", (f"e-{number}",)))))]
                    )
                case "erase" if chance.random() < 0.3:
                    user.erase()
                case "project":
                    run(tender)
                case "adopt":
                    assert user.adopt_secret(chance.randbytes(32))
                case "one":
                    assert project_user(tender, user.user) is None
                case _:
                    clock.advance(seconds=30)
        run(tender)
        assert self.all_held(tender) == self.rebuilt(tender)

    def test_two_workers_at_once_do_it_once(
        self, store: Store, tender: Tender, opened: Opened, clock: ManualClock
    ) -> None:
        for number in range(6):
            fill(store.user(f"user-{number}"), 3)
        tender.projections[0].epoch()
        together = threading.Barrier(WORKERS)

        def work(projection: Projection) -> None:
            together.wait()
            run(replace(tender, projections=(projection,)))

        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(work, [opened() for _ in range(WORKERS)]))
        run(tender)
        assert len(self.all_held(tender)) == 6
        assert self.all_held(tender) == self.rebuilt(tender)

    def test_one_that_was_lost_is_made_anew(self, store: Store, tender: Tender) -> None:
        alice = store.user("alice")
        fill(alice)
        run(tender)
        whole = self.all_held(tender)
        (projection,) = tender.projections
        old, number = projection.epoch(), _number(store, "alice")
        portion = alice.reading(lambda view: projection.read(view, 0))
        projection.drop()
        with pytest.raises(ProjectionError):
            projection.write(old, number, portion)
        assert projection.epoch() != old
        with pytest.raises(ProjectionError):  # also once there is another
            projection.write(old, number, portion)
        run(tender)
        assert self.all_held(tender) == whole

    def test_a_rebuild_takes_in_what_is_written_meanwhile(self, store: Store, tender: Tender) -> None:
        alice = store.user("alice")
        fill(alice)
        run(tender)
        (projection,) = tender.projections
        more = iter(range(10, 13))

        def meanwhile() -> None:
            for number in more:
                alice.apply(known(number), SPACE)

        rebuild(replace(tender, projections=(Between(projection, meanwhile),)), projection.name)
        run(tender)
        assert self.all_held(tender) == self.rebuilt(tender)


def run(tender: Tender) -> None:
    _, problem = project(tender, lambda: True)
    assert problem is None


def _number(store: Store, user: str) -> int:
    reach = store.user(user).reach("", None, START, timedelta(0))
    assert reach is not None
    return reach.number


def _nobodys(scope: object) -> Workspace:
    raise AssertionError("To project takes no workspace.")
