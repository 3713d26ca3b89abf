"""One SQLite file with a million rows of ten thousand users."""

from typing import Any

from recollect.bench.scale.costs import file_costs
from recollect.bench.scale.crowd import Size
from recollect.bench.scale.growth import grown, prepared
from recollect.bench.scale.options import Options, at_most
from recollect.bench.sqlite import SqlitePlace


def sqlite(options: Options) -> dict[str, Any]:
    """Growth, and the small user beside all the others."""
    place = SqlitePlace(options.folder)
    share = options.file_rows / options.rows
    users = max(2, round(options.users * share))
    size = Size(users, options.memories, options.file_rows - users * options.memories)
    setting = prepared(place, options)
    growth = [grown(setting, step) for step in size.steps()]
    small = growth[-1]["small"]
    return {
        **place.about(),
        "growth": growth,
        "costs": file_costs(setting, size.rows),
        "checks": {
            "small user's recall beside all the others, times alone": at_most(
                small["ratio_p50"], place.limits.others
            )
        },
    }
