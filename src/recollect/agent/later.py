"""What an agent does when the answer is given, out of its way: mining by a model."""

import logging
import threading
from collections.abc import Callable
from time import monotonic

from recollect.errors import ModelError
from recollect.model.records import Conversation
from recollect.workspace import Workspace

log = logging.getLogger("recollect.agent")


def mine_due(work: Workspace, id: str) -> None:
    """Mine a conversation, unless it failed and its time to be tried again has not come. Whatever happens,
    what is not mined now is past its watermark, and mined by the background or the next time."""
    from recollect.mine.pipeline import mine_conversation  # not needed to ask and answer

    now = work.clock.now()
    if any(found.mining_after and now < found.mining_after for found in work.store.get(Conversation, [id])):
        return
    if problem := mine_conversation(work, id).problem:
        raise ModelError(problem)


class Later:
    """Work in a thread of its own, one after the other; of what waits under the same name, once is enough.
    Safe in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Callable[[], None]] = {}
        self._thread: threading.Thread | None = None

    def add(self, name: str, work: Callable[[], None]) -> None:
        with self._lock:
            self._waiting[name] = work
            if self._thread is None:
                # A daemon: a model that never answers must not keep the process from ending.
                self._thread = threading.Thread(target=self._run, name="recollect-later", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                work = self._waiting.pop(next(iter(self._waiting)))
            try:
                work()
            except Exception as error:  # noqa: BLE001 - nobody waits for it, and it is tried again
                log.warning("A conversation was not mined: %s", type(error).__name__)

    def close(self, seconds: float) -> None:
        """Wait until all is done, so many seconds at most."""
        until = monotonic() + seconds
        while (thread := self._thread) is not None and (left := until - monotonic()) > 0:
            thread.join(left)
