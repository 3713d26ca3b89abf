"""What `recollect bench scale` measured, for `recollect capacity`: a whole run, when nobody else used the
machine."""

from recollect.capacity import Costs, Spent

ON = "two cores of a virtual machine, 384 dimensions, turns of 30 words, the default local model"
MEASURED: dict[str, Costs] = {
    "postgresql": Costs(
        turn_bytes=3534,
        fact_bytes=4620,
        turn=Spent(0.0038, 0.0027),
        mine=Spent(0.0149, 0.0077),
        recalls=((100, Spent(0.0050, 0.0050)), (200_000, Spent(0.0248, 0.2030))),
        embed=0.0211,
        rows=1_200_000,
    ),
    "sqlite": Costs(
        turn_bytes=2321,
        fact_bytes=4457,
        turn=Spent(0.0017),
        mine=Spent(0.0044),
        recalls=((100, Spent(0.0022)), (166_700, Spent(0.0340))),
        embed=0.0191,
        rows=1_000_000,
    ),
}
