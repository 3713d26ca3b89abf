"""Recollect in agent frameworks: one module each, to be imported with its extra installed."""
