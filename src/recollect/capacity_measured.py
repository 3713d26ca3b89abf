"""What `recollect bench scale` measured, for `recollect capacity`."""

from recollect.capacity import Costs, Spent

ON = "two Xeon cores, 384 dimensions, turns of 30 words, the default local model"
MEASURED: dict[str, Costs] = {
    "postgresql": Costs(
        turn_bytes=3700,
        fact_bytes=4730,
        turn=Spent(0.0027, 0.0015),
        mine=Spent(0.0109, 0.0058),
        recalls=((100, Spent(0.0029, 0.0015)), (200_000, Spent(0.05, 0.2))),
        embed=0.0223,
        rows=1_200_000,
    ),
    "sqlite": Costs(
        turn_bytes=2333,
        fact_bytes=3244,
        turn=Spent(0.0023),
        mine=Spent(0.0059),
        recalls=((100, Spent(0.0027)), (166_700, Spent(0.0333))),
        embed=0.0223,
        rows=1_000_000,
    ),
}
