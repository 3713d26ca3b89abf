"""What is done for each user now and then, in this order."""

from datetime import timedelta

from recollect.tend.cleanup import plan_cleanup
from recollect.tend.conclude import plan_conclusions
from recollect.tend.consolidate import plan_consolidation
from recollect.tend.decay import plan_decay
from recollect.tend.expire import plan_expiry
from recollect.tend.mining import plan_mining
from recollect.tend.patterns import plan_patterns
from recollect.tend.promote import plan_promotion
from recollect.tend.quota import plan_quota
from recollect.tend.steps import Chore

CHORES: tuple[Chore, ...] = (
    Chore("mine", plan_mining),
    Chore("conclude", plan_conclusions),
    Chore("consolidate", plan_consolidation, lambda s: timedelta(minutes=s.consolidate_minutes), True),
    Chore("patterns", plan_patterns, lambda s: timedelta(minutes=s.patterns_minutes), True),
    Chore("promote", plan_promotion, lambda s: timedelta(minutes=s.promote_minutes)),
    Chore("decay", plan_decay, lambda s: timedelta(minutes=s.decay_minutes)),
    Chore("expire", plan_expiry, lambda s: timedelta(minutes=s.expire_minutes)),
    Chore("cleanup", plan_cleanup, lambda s: timedelta(minutes=s.cleanup_minutes)),
    Chore("quota", plan_quota, lambda s: timedelta(minutes=s.cleanup_minutes), on_change=True),
)
