"""What `recollect bench scale` measured, for `recollect capacity`: bytes and the largest users in whole runs,
the processor time of small things in a run of 24,000 rows, when nobody else used the machine."""

from recollect.capacity import Costs, Spent

ON = "two cores of a virtual machine, 384 dimensions, turns of 30 words, the default local model"
MEASURED: dict[str, Costs] = {
    "postgresql": Costs(
        turn_bytes=3534,
        fact_bytes=4694,
        turn=Spent(0.0027, 0.0015),
        mine=Spent(0.0109, 0.0058),
        recalls=((100, Spent(0.0029, 0.0015)), (200_000, Spent(0.0196, 0.2367))),
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
