"""Recollect in the agent frameworks people already use; each module needs its framework and nothing else."""
