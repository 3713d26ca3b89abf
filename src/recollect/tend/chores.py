"""What is done for each user now and then, in this order."""

from recollect.tend.mining import plan_mining
from recollect.tend.steps import Chore

CHORES: tuple[Chore, ...] = (Chore("mine", plan_mining),)
