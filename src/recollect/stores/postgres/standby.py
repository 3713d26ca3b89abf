"""A hot standby: whether it follows the primary, and how far it has come in its log.

Places in a log can be compared within one history only: that of a cluster since another of its servers last
became the primary. A standby of another cluster, or one that stayed with the primary of before, may have come
further in its own.
"""

import psycopg
from sqlalchemy import Connection

from recollect.errors import StoreError, StoreUnavailable
from recollect.stores.postgres.session import PLACE, READ, Sessions, driver, last, whose

_REPLAYED = (
    "CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn() - '0/0', 0) ELSE 0 END::text"
)
"""How far a standby has come in the log, as a number; 0 when it is none, or none any more."""
_CLUSTER = "(SELECT system_identifier::text FROM pg_control_system())"
_WRITTEN = f"{_CLUSTER} || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)"
_FOLLOWED = (
    f"(SELECT {_CLUSTER} || '/' || lpad(upper(to_hex(greatest(timeline_id, min_recovery_end_timeline))), 8, "
    "'0') FROM pg_control_checkpoint(), pg_control_recovery())"
)
"""Which history the primary writes, and which one a standby follows: as it last noted on its disk, so that it
may take minutes until one that went along with a new primary says so."""
UNTOLD = ""
"""The history of a server that does not tell it, or not to this login."""
_UNTELLING = (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction)


def place_of(primary: Sessions) -> tuple[str, int]:
    """Which history the primary's log is of, and how far it has come."""
    try:
        history, place = primary.asked(_WRITTEN, PLACE)
    except StoreError as error:
        if not isinstance(error.__cause__, _UNTELLING):
            raise
        history, (place,) = UNTOLD, primary.asked(PLACE)
    return history, int(place)


class Standby(Sessions):
    """Transactions on a standby."""

    def state(self, history: str) -> tuple[bool, int]:
        """Whether it follows that history, and how far it has come; 0 when it is no standby."""
        with self._connected() as connection:
            return _follows(connection, history), _replayed(connection)

    def begun_at(self, user: str | None, history: str, place: int) -> Connection | None:
        """Its `read`, if it has come to this place of this history. A transaction sees what was replayed
        before it began, so what its own opening answers counts for the next one."""
        with self._translated():
            connection = self._connected()
            try:
                if not _follows(connection, history):
                    raise StoreUnavailable(f"{self.where} does not follow the primary.")
                known: int = connection.info.get("replayed", 0)
                if known < place:
                    known = _replayed(connection)
                if known >= place:
                    connection.info["replayed"] = _replayed(connection, f"{READ}; {whose(user)}; ")
                    return connection
            except BaseException:
                connection.invalidate()
                connection.close()
                raise
            connection.info["replayed"] = known
            connection.close()
            return None


def _replayed(connection: Connection, opening: str = "") -> int:
    return int(last(driver(connection).execute(f"{opening}SELECT {_REPLAYED}".encode()))[0])


def _follows(connection: Connection, history: str) -> bool:
    """Asked once for each connection, and again when the primary's history is another: a standby may go along
    with that, but not back."""
    known = connection.info.get("history")
    if history != UNTOLD and known not in (history, UNTOLD):
        try:
            (known,) = last(driver(connection).execute(f"SELECT {_FOLLOWED}".encode()))
        except _UNTELLING:
            known = UNTOLD
        connection.info["history"] = known
    return UNTOLD in (history, known) or known == history
