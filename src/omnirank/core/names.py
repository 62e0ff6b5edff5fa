"""Names of features and targets as numpy must not see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def which_names(names: Sequence[str], chosen: Iterable[str]) -> np.ndarray:
    """Return which of the names are among the chosen ones: one bool per name.

    ``numpy.isin`` takes names for equal that differ only in null characters at their ends.

    Examples
    --------
    >>> from omnirank.core.names import which_names
    >>> which_names(["a", "a\\0", "b"], ["a"]).tolist()
    [True, False, False]
    """
    wanted = set(chosen)
    return np.array([name in wanted for name in names], dtype=bool)
