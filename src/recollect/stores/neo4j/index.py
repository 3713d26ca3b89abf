"""The `GraphIndex` port over Bolt and Cypher."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import timedelta

from recollect.errors import ProjectionError
from recollect.ports.projection import Portion
from recollect.ports.store import UserView
from recollect.stores.neo4j import cypher
from recollect.stores.neo4j.bolt import Bolt, Row, Run
from recollect.stores.neo4j.drawing import ALL_LABELS, LABELS, Drawing, drawn, id_of, key

LAYOUT = 1
"""Which way of drawing this is: a graph drawn another way is made anew."""
PORTION = 200
"""How many records are drawn at once, about."""
AT_ONCE = 500
"""How many nodes are removed at once."""
SETTLES = timedelta(seconds=10)
"""For how long a member of a cluster may not have heard of what another took."""


class Neo4jGraph:
    def __init__(self, bolt: Bolt) -> None:
        self._bolt = bolt
        self._epoch: str | None = None

    @property
    def name(self) -> str:
        return "neo4j"

    @property
    def settles(self) -> timedelta:
        return SETTLES if self._bolt.routed else timedelta(0)

    def made(self) -> str:
        if self._epoch is None:
            self._epoch = next((row["epoch"] for row in self._bolt.read(cypher.MADE)), None)
        if self._epoch is None:
            raise ProjectionError(f"{self._bolt.where} has no graph yet; `recollect tend` draws it.")
        return self._epoch

    def epoch(self) -> str:
        for row in self._bolt.write(cypher.MADE):
            if row["layout"] == LAYOUT:
                self._epoch = row["epoch"]
                return row["epoch"]
        self.drop()
        for statement in cypher.SCHEMA:
            self._bolt.write(statement)
        (row,) = self._bolt.write(cypher.MAKE, epoch=uuid.uuid4().hex, layout=LAYOUT)
        self._epoch = row["epoch"]
        return row["epoch"]

    def read(self, view: UserView, since: int) -> Portion:
        entries, upto = view.steps(tuple(LABELS), since, PORTION)
        return Portion(upto, drawn(view, entries))

    def write(self, epoch: str, number: int, portion: Portion) -> None:
        with self._bolt.transaction() as run:
            self._current(run(cypher.IS_MADE, epoch=epoch))
            _draw(run, number, portion.content)
            self._current(run(cypher.IS_MADE, epoch=epoch))  # somebody may have dropped it meanwhile

    def forget(self, epoch: str, number: int) -> None:
        self._current(self._bolt.write(cypher.IS_MADE, epoch=epoch))
        for label in ALL_LABELS:
            self._remove(cypher.forget(label), user=number)

    def drop(self) -> None:
        self._epoch = None
        self._bolt.write(cypher.UNMAKE)
        for label in ALL_LABELS:
            self._remove(cypher.drop(label))

    def _remove(self, statement: str, **given: int) -> None:
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
            epoch=epoch,
            user=number,
            entities=[key(id) for id in dict.fromkeys(entities)],
            channels=None if channels is None else [key(channel) for channel in channels],
            most=most + 1,  # one may be that an entity has none
            before=None if before is None else key(before),
        )
        return self._ids(epoch, found)[:most]

    def about(self, epoch: str, number: int, entity: str) -> list[str]:
        found = self._bolt.read(cypher.ABOUT, epoch=epoch, user=number, entity=key(entity))
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
            self._epoch = None
            raise ProjectionError(f"The graph of {self._bolt.where} was made anew, or is gone.")

    def close(self) -> None:
        self._bolt.close()


def _draw(run: Run, number: int, drawing: Drawing) -> None:
    left: dict[str, set[str]] = {}

    def unlink(kind: str, ids: list[str]) -> None:
        for forward in (True, False):
            if statement := cypher.unlink(kind, forward):
                (found,) = run(statement, user=number, ids=ids)
                _note(left, found["ends"])

    for kind, ids in drawing.gone.items():
        unlink(kind, ids)
        run(cypher.sever(kind), user=number, ids=ids)
        run(cypher.blank(kind), user=number, ids=ids)
        left.setdefault(LABELS[kind], set()).update(ids)
    for kind, rows in drawing.nodes.items():
        run(cypher.put(kind), user=number, rows=rows)
    for kind, rows in drawing.nodes.items():
        unlink(kind, [row["id"] for row in rows])
    for (kind, edge), rows in drawing.edges.items():
        if rows:
            run(cypher.link(kind, edge), user=number, rows=rows)
    if turns := drawing.nodes.get("turn"):
        places = [{name: row[name] for name in ("id", "conversation", "index")} for row in turns]
        for statement in cypher.FOLLOW:
            run(statement, user=number, rows=places)
    for label, ids in left.items():
        run(cypher.tidy(label), user=number, ids=sorted(ids))


def _note(left: dict[str, set[str]], found: Iterable[Row]) -> None:
    """What an edge was taken away from."""
    for row in found:
        for label in row["labels"]:
            if label in ALL_LABELS:
                left.setdefault(label, set()).add(row["id"])


def open_graph(url: str, user: str, password: str, database: str, timeout: float) -> Neo4jGraph:
    return Neo4jGraph(Bolt(url, user, password, database, timeout))
