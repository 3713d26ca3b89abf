"""The memory page: what a browser loads to look at, correct and prune what is remembered."""
