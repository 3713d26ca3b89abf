"""A year of somebody's life in forty conversations, to try the memory on: `recollect demo --load`."""

from recollect.demo.loading import Loaded, Then, is_loaded, load, remove
from recollect.demo.story import Talk, talks

__all__ = ["Loaded", "Talk", "Then", "is_loaded", "load", "remove", "talks"]
