"""What is done for each user now and then, in this order."""

from datetime import timedelta

from recollect.tend.cleanup import plan_cleanup
from recollect.tend.decay import plan_decay
from recollect.tend.expire import plan_expiry
from recollect.tend.mining import plan_mining
from recollect.tend.promote import plan_promotion
from recollect.tend.quota import plan_quota
from recollect.tend.steps import Chore

CHORES: tuple[Chore, ...] = (
    Chore("mine", plan_mining),
    Chore("promote", plan_promotion, lambda settings: timedelta(minutes=settings.promote_minutes)),
    Chore("decay", plan_decay, lambda settings: timedelta(minutes=settings.decay_minutes)),
    Chore("expire", plan_expiry, lambda settings: timedelta(minutes=settings.expire_minutes)),
    Chore("cleanup", plan_cleanup, lambda settings: timedelta(minutes=settings.cleanup_minutes)),
    Chore("quota", plan_quota, lambda settings: timedelta(minutes=settings.cleanup_minutes), on_change=True),
)
