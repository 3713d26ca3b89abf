"""What every embedder does to texts and vectors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.errors import EmbedderError
from recollect.ports.embedder import Vectors


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced; tokenizers and JSON take only real characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        # By way of UTF-16, two halves that stand together become the character they spell.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def unit(rows: NDArray[np.floating]) -> Vectors:
    """Rows scaled to length one; a row that has no direction is an error, never a NaN."""
    wide = rows.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < 1e-12).any():
        raise EmbedderError("The embedding model gave a vector that is zero or not finite.")
    return (wide / lengths).astype(np.float32)


def mean(rows: Vectors, weights: Sequence[int]) -> Vectors:
    """One unit vector for the pieces of a text, each counting by its length."""
    if len(rows) == 1:
        return rows[0]
    return unit(np.average(rows.astype(np.float64), axis=0, weights=np.asarray(weights, np.float64)))
