"""Asks the index beside the store which documents may be near, before the store compares them."""

from dataclasses import replace

from recollect.errors import ProjectionError
from recollect.model.search import Near, Search
from recollect.ports.search_index import SearchIndex
from recollect.ports.store import UserView
from recollect.ports.stored import Reach
from recollect.recall.report import Report
from recollect.workspace import Workspace

MARGIN = 2
"""How many times as many as are wanted are asked for: some of them may have changed or gone since."""
LACKING = 1000
"""How many chunks that the index has not got yet are compared beside what it names; of more, all are."""
INSTEAD = "Searched in the database"


class Proposer:
    """Of one recall. How far the index has come is read before it is asked: what is written to it meanwhile
    is then known twice, and nothing is missed."""

    def __init__(self, work: Workspace, view: UserView, report: Report) -> None:
        self._work, self._view, self._report = work, view, report
        self._asked = False
        self._reach: Reach | None = None

    def __call__(self, search: Search) -> Search:
        """The search, with what the index names for it, where there is one that knows this user."""
        index = self._work.index
        if index is None or search.vector is None or search.space is None:
            return search
        if not self._asked:
            self._asked, self._reach = True, self._reached(index)
        reach = self._reach
        if reach is None:
            return search
        try:
            with self._work.resting.after_slow_failure(index.name, INSTEAD):
                most = MARGIN * search.limit
                proposed = index.propose(reach.epoch, reach.number, reach.secret, search, most)
        except ProjectionError as error:
            self._reach = None
            self._report.problem(f"{INSTEAD}: {error}")
            return search
        return replace(search, near=Near(proposed.docs, reach.reached))

    def _reached(self, index: SearchIndex) -> Reach | None:
        """How far it has come; None when it is not worth asking, or of no use."""
        reach = self._view.reach(index.name, None, self._work.clock.now(), index.settles)
        if reach is None or reach.documents <= self._work.settings.milvus_over:
            return None
        lacking = self._view.lacking(reach.reached, LACKING + 1) if reach.reached < reach.seq else 0
        if lacking > LACKING:
            self._report.problem(f"{INSTEAD}: {index.name} is behind by more than {LACKING} chunks.")
            return None
        if problem := self._work.resting.reason(index.name):
            self._report.problem(problem)
            return None
        return reach
