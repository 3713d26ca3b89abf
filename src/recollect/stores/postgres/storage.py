"""How tables are kept on disk, and when the server tidies them up.

The server looks after a table once a fifth of it has changed. That suits what is written once. What is
rewritten with every request would by then be several times as large as it need be, and be read as such; and
of what is only ever added to, rows would be looked at for the first time when there are very many.
"""

_REWRITTEN = {
    # Room in each page for the next version of a row: it then needs no new entry in any index, and the
    # room of the old one is used again without waiting for a vacuum.
    "fillfactor": "70",
    "autovacuum_vacuum_scale_factor": "0.02",
    "autovacuum_vacuum_threshold": "200",
}
_GROWING = {
    # Vectors, words and chunks are large or many: a twentieth of them dead is worth a vacuum, and those that
    # were added are marked as seen by all, before anti-wraparound has to do it for everything at once.
    "autovacuum_vacuum_scale_factor": "0.05",
    "autovacuum_vacuum_insert_scale_factor": "0.1",
}
# A vector is read in one piece, never put aside: it makes up nearly all of its row.
_VECTORS = {**_GROWING, "toast_tuple_target": "8160"}

_COUNTED = ("users", "leases", "jobs", "measures", "meta", "erasures", "api_keys")
_COUNTED_BY_USER = (
    "conversations",
    "usage",
    "spending",
    "sizes",
    "places",
    "visits",
    "marks",
    "answers",
    "projected",
)
STORAGE: dict[str, dict[str, str]] = {
    **dict.fromkeys((*_COUNTED, *_COUNTED_BY_USER), _REWRITTEN),
    **dict.fromkeys(("turns", "chunks", "texts", "links", "deletions"), _GROWING),
    "vectors": _VECTORS,
}
"""Storage parameters by table; of a partitioned one each partition has them."""


def with_storage(table: str) -> str:
    """What a new partition is made with."""
    return f" WITH ({_listed(table)})" if table in STORAGE else ""


def settle(table: str) -> str:
    """The statement that sets them where an older release did not. It holds up nobody who reads or writes."""
    wanted = ", ".join(f"'{key}={value}'" for key, value in STORAGE[table].items())
    return f"""
        DO $$ DECLARE part regclass; BEGIN
            FOR part IN
                SELECT c.oid FROM pg_class c LEFT JOIN pg_inherits ON inhrelid = c.oid
                WHERE coalesce(inhparent, c.oid) = '{table}'::regclass AND c.relkind = 'r'
                    AND NOT coalesce(c.reloptions, '{{}}') @> ARRAY[{wanted}]
            LOOP
                EXECUTE format('ALTER TABLE %%s SET ({_listed(table)})', part);
            END LOOP;
        END $$"""


def _listed(table: str) -> str:
    return ", ".join(f"{key} = {value}" for key, value in STORAGE[table].items())
