"""From frequencies to classes and label sets; equal frequencies stay equal however their sums were rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

# Frequencies closer than this are equal: weighted sums in another order differ by far less, and examples by more.
EQUAL = 1e-9


def reaches(frequencies: Any, threshold: float = 0.5) -> Any:
    """Return whether frequencies (an array, or sparse if the threshold is positive) are at least that, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures.decisions import reaches
    >>> half = (0.7 + 0.1 + 0.1) / 1.8
    >>> half >= 0.5, reaches(np.array([half, 0.49])).tolist()
    (False, [True, False])
    """
    return frequencies >= threshold - EQUAL


def first_largest(frequencies: np.ndarray) -> np.ndarray:
    """Return the position of the largest frequency in each row, the first of those that are equal up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures.decisions import first_largest
    >>> first_largest(np.array([[0.5 - 1e-16, 0.5], [0.2, 0.8]])).tolist()
    [0, 1]
    """
    return np.argmax(frequencies >= frequencies.max(axis=1, keepdims=True) - EQUAL, axis=1)
