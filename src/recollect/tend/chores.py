"""What is done for each user now and then, in this order."""

from datetime import timedelta

from recollect.tend.conclude import plan_conclusions
from recollect.tend.consolidate import plan_consolidation
from recollect.tend.mining import plan_mining
from recollect.tend.patterns import plan_patterns
from recollect.tend.steps import Chore

CHORES: tuple[Chore, ...] = (
    Chore("mine", plan_mining),
    Chore("conclude", plan_conclusions),
    Chore("consolidate", plan_consolidation, lambda s: timedelta(minutes=s.consolidate_minutes), True),
    Chore("patterns", plan_patterns, lambda s: timedelta(minutes=s.patterns_minutes), True),
)
