"""PostgreSQL with ten thousand users of a hundred memories each, and one with very many."""

from typing import Any

from recollect.bench.scale.costs import postgres_costs
from recollect.bench.scale.crowd import Size
from recollect.bench.scale.growth import grown, prepared
from recollect.bench.scale.indexed import break_even, measure_indexed
from recollect.bench.scale.options import Options, Unavailable, at_least, at_most
from recollect.bench.scale.servers import postgres_server

BESIDE_OTHERS = 1.3
RECALL = 0.98
BY_INDEX = 0.3
OF_COPY = 0.5
WORTH_AN_INDEX = 5_000
"""Rows below which nobody would look for an index's break-even."""


def postgres(options: Options) -> dict[str, Any]:
    """Growth, and at full size: a small user beside all the others, the large one with an index and
    without, ingestion beside COPY."""
    try:
        from recollect.bench.postgres import scratch
        from recollect.bench.scale.copying import measure_copying
    except ImportError as error:
        message = f"PostgreSQL needs its driver: pip install 'recollect[postgres]' ({error})."
        raise Unavailable(message) from None
    with postgres_server(options) as server, scratch(server) as place:
        setting = prepared(place, options)
        growth: list[dict[str, Any]] = []
        indexed: list[dict[str, Any]] = []
        steps = Size(options.users, options.memories, options.large).steps()
        for size in steps:
            growth.append(grown(setting, size))
            if size.large >= WORTH_AN_INDEX or size == steps[-1]:
                options.stage(f"an index for {size.large:,} rows", 0)
                indexed.append(measure_indexed(setting, size.large))
        costs = postgres_costs(setting, options.rows)
        ingested = measure_copying(setting)
        about = place.about()
    small, large = growth[-1]["small"], indexed[-1]
    return {
        **about,
        "growth": growth,
        "indexed": indexed,
        "index_break_even_rows": break_even(indexed),
        "ingestion": ingested,
        "costs": costs,
        "checks": {
            "small user's recall beside all the others, times alone": at_most(
                small["ratio_p50"], BESIDE_OTHERS
            ),
            "large user's recall@10 by index": at_least(large["recall_at_10"], RECALL),
            "large user's search by index, times the exact scan": at_most(large["ratio_p50"], BY_INDEX),
            **{
                f"ingestion, {one['rows_a_transaction']:,} rows a transaction, times COPY": at_least(
                    one["ratio"], OF_COPY
                )
                for one in ingested.values()
            },
        },
    }
