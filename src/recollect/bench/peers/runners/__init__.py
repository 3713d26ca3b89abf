"""One script for each other system, run by that system's own Python. Nothing here imports Recollect."""
