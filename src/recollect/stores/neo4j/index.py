"""The `GraphIndex` port over Bolt and Cypher.

Several memories may share a database: what is drawn is keyed by the memory it is of, and each has a node that
tells which making of its graph is there. The name of a making begins with the space of its vectors.
"""

import logging
import uuid
from collections.abc import Iterable, Sequence
from datetime import timedelta

from recollect.errors import ProjectionError
from recollect.model.space import Space
from recollect.ports.projection import Portion
from recollect.ports.store import Store, UserView
from recollect.stores.neo4j import cypher
from recollect.stores.neo4j.bolt import Bolt, Row, Run
from recollect.stores.neo4j.drawing import ALL_LABELS, LABELS, Drawing, drawn, id_of, key, parts

log = logging.getLogger("recollect")

LAYOUT = 3
"""Which way of drawing this is: a graph drawn another way is made anew."""
PORTION = 200
"""How many records are drawn at once, about."""
AT_ONCE = 1000
"""How many nodes are drawn or removed in one transaction, which has a limit to how long it takes."""
SETTLES = timedelta(seconds=10)
"""For how long a member of a cluster may not have heard of what another took."""


class Neo4jGraph:
    def __init__(self, store: Store, bolt: Bolt) -> None:
        self._store = store
        self._bolt = bolt
        # Asked now: whoever asks the graph later has a connection of the store's in use.
        self._memory = store.identity()

    @property
    def name(self) -> str:
        return "neo4j"

    @property
    def settles(self) -> timedelta:
        return SETTLES if self._bolt.routed else timedelta(0)

    def ping(self) -> None:
        self._bolt.read(cypher.MADE, memory=self._memory)

    def epoch(self) -> str:
        space = self._store.active_space()
        for row in self._bolt.write(cypher.MADE, memory=self._memory):
            if row["layout"] == LAYOUT and _is_of(row["epoch"], space):
                return row["epoch"]
        self.drop()
        for statement in cypher.SCHEMA:
            self._bolt.write(statement)
        if space is not None:
            self._index_vectors(cypher.vector_indexes(space))
        epoch = f"{_code(space)}_{uuid.uuid4().hex}"
        (row,) = self._bolt.write(cypher.MAKE, memory=self._memory, epoch=epoch, layout=LAYOUT)
        return row["epoch"]

    def _index_vectors(self, statements: Iterable[str]) -> None:
        """For people who ask Neo4j themselves: whatever comes of it, the graph is drawn."""
        try:
            if cypher.indexes_vectors(self._bolt.agent()):
                for statement in statements:
                    self._bolt.write(statement)
        except ProjectionError as error:
            log.warning("The indexes of vectors are not as they should be: %s", error)

    def read(self, view: UserView, since: int) -> Portion:
        entries, upto = view.steps(tuple(LABELS), since, PORTION)
        return Portion(upto, drawn(view, entries, view.active_space()))

    def write(self, epoch: str, number: int, portion: Portion) -> None:
        """In several transactions, if there is much of it: it counts as written once all of it is."""
        drawing: Drawing = portion.content
        for part in parts(drawing, AT_ONCE):
            self._write(epoch, number, part)

    def _write(self, epoch: str, number: int, drawing: Drawing) -> None:
        this = {"memory": self._memory, "epoch": epoch}
        with self._bolt.transaction() as run:
            self._current(run(cypher.IS_MADE, **this) if _is_of(epoch, drawing.space) else [])
            _draw(run, self._user(number), drawing)
            self._current(run(cypher.IS_MADE, **this))  # somebody may have dropped it meanwhile

    def forget(self, epoch: str, number: int) -> None:
        self._current(self._bolt.write(cypher.IS_MADE, memory=self._memory, epoch=epoch))
        for label in ALL_LABELS:
            self._remove(cypher.forget(label), user=self._user(number))

    def drop(self) -> None:
        found = self._bolt.write(cypher.UNMAKE, memory=self._memory)
        for label in ALL_LABELS:
            self._remove(cypher.drop(label), whose=self._user(""))
        for code in {row["epoch"].partition("_")[0] for row in found}:
            # They would keep what was in them for a while. Another memory may be of the same model.
            if cypher.is_code(code) and not self._bolt.write(cypher.OF_SPACE, code=f"{code}_"):
                self._index_vectors(cypher.no_vector_indexes(code))

    def _user(self, number: int | str) -> str:
        """What the nodes of a user are keyed by."""
        return f"{self._memory}.{number}"

    def _remove(self, statement: str, **given: str) -> None:
        while self._bolt.write(statement, most=AT_ONCE, **given)[0]["gone"]:
            pass

    def bonds(
        self,
        epoch: str,
        number: int,
        entities: Sequence[str],
        channels: Sequence[str] | None,
        most: int,
        before: str | None = None,
    ) -> list[str]:
        if not entities:
            return []
        found = self._bolt.read(
            cypher.BONDS,
            memory=self._memory,
            epoch=epoch,
            user=self._user(number),
            entities=[key(id) for id in dict.fromkeys(entities)],
            channels=None if channels is None else [key(channel) for channel in channels],
            most=most + 1,  # one may be that an entity has none
            before=None if before is None else key(before),
        )
        return self._ids(epoch, found)[:most]

    def about(self, epoch: str, number: int, entity: str) -> list[str]:
        given = {"memory": self._memory, "user": self._user(number), "entity": key(entity)}
        found = self._bolt.read(cypher.ABOUT, epoch=epoch, **given)
        return self._ids(epoch, found)

    def _ids(self, epoch: str, found: list[Row]) -> list[str]:
        """Without the epoch's node nothing at all is found, not even that there is nothing."""
        self._current([row for row in found if row["epoch"] == epoch])
        try:
            return [id_of(one) for row in found for one in row["ids"]]
        except (TypeError, UnicodeError):
            raise ProjectionError(
                f"The graph of {self._bolt.where} holds what others wrote: run `recollect rebuild neo4j`."
            ) from None

    def _current(self, found: list[Row]) -> None:
        if not found:
            raise ProjectionError(f"The graph of {self._bolt.where} was made anew, or is gone.")

    def close(self) -> None:
        self._bolt.close()


def _code(space: Space | None) -> str:
    return "none" if space is None else space.code


def _is_of(epoch: str, space: Space | None) -> bool:
    """Whether the vectors of a making are of this space."""
    return epoch.startswith(f"{_code(space)}_")


def _draw(run: Run, user: str, drawing: Drawing) -> None:
    left: dict[str, set[str]] = {}

    def unlink(kind: str, ids: list[str]) -> None:
        for forward in (True, False):
            if statement := cypher.unlink(kind, forward):
                (found,) = run(statement, user=user, ids=ids)
                _note(left, found["ends"])

    for kind, ids in drawing.gone.items():
        unlink(kind, ids)
        run(cypher.sever(kind), user=user, ids=ids)
        run(cypher.blank(kind), user=user, ids=ids)
        left.setdefault(LABELS[kind], set()).update(ids)
    for kind, rows in drawing.nodes.items():
        run(cypher.put(kind), user=user, rows=rows)
    for kind, rows in drawing.nodes.items():
        unlink(kind, [row["id"] for row in rows])
    for (kind, edge), rows in drawing.edges.items():
        if rows:
            run(cypher.link(kind, edge), user=user, rows=rows)
    if turns := drawing.nodes.get("turn"):
        places = [{name: row[name] for name in ("id", "conversation", "index")} for row in turns]
        for statement in cypher.FOLLOW:
            run(statement, user=user, rows=places)
    for label, ids in left.items():
        run(cypher.tidy(label), user=user, ids=sorted(ids))


def _note(left: dict[str, set[str]], found: Iterable[Row]) -> None:
    """What an edge was taken away from."""
    for row in found:
        for label in row["labels"]:
            if label in ALL_LABELS:
                left.setdefault(label, set()).add(row["id"])


def open_graph(store: Store, url: str, user: str, password: str, database: str, timeout: float) -> Neo4jGraph:
    return Neo4jGraph(store, Bolt(url, user, password, database, timeout))
