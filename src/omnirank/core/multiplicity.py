"""P values: the tests that give them, and their correction for the number of tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.immutable import frozen_floats
from omnirank.core.parameters import check, choice

# What rankings record of our own tests.
OUT_OF_BAG_TEST = "out-of-bag test"
COPIES_TEST = "permuted copies"
CORRECTIONS = {"fdr": "Benjamini-Hochberg", "family-wise": "Holm", None: "not corrected"}
# The level of ``relevant`` in tables and files.
ALPHA = 0.05


def adjusted_p_values(p_values: Any, correction: str | None = "fdr") -> np.ndarray:
    """Return p values that can be compared with the error that is accepted for all tests together.

    With the m p values sorted, p_(1) <= ... <= p_(m), the adjusted ones are

        "fdr":          min over k >= j of p_(k) m / k                  [1]_
        "family-wise":  max over k <= j of p_(k) (m - k + 1)            [2]_

    and at most 1.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        P values of single tests.
    correction : {"fdr", "family-wise"} or None
        What ``adjusted <= alpha`` bounds: the expected share of false ones among the significant results, the
        probability of any false one, or only that of each single one.

    References
    ----------
    .. [1] Benjamini, Hochberg: Controlling the false discovery rate. J. Royal Statistical Society B 57, 1995.
    .. [2] Holm: A simple sequentially rejective multiple test procedure. Scandinavian J. of Statistics 6, 1979.

    Examples
    --------
    >>> from omnirank.core.multiplicity import adjusted_p_values
    >>> adjusted_p_values([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.04, 0.04]
    >>> adjusted_p_values([0.01, 0.04, 0.03], "family-wise").tolist()
    [0.03, 0.06, 0.06]
    """
    check("correction", correction, choice(*CORRECTIONS))
    values = frozen_floats(p_values, "p values")
    m = len(values)
    if correction is None or not m:
        return values
    places = np.arange(1, m + 1)
    if correction == "fdr":
        return stepped_up(values, places / m)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * (m - places + 1)), 1.0)
    return adjusted


def p_value_columns(p_values: Any) -> dict[str, np.ndarray]:
    """Return the columns that tables and files have of p values; none where there are no p values.

    ``p_value`` is that of the single test, ``p_adjusted`` the same corrected for the number of features (Benjamini and
    Hochberg), ``relevant`` tells whether ``p_adjusted`` is at most 0.05.

    Examples
    --------
    >>> from omnirank.core.multiplicity import p_value_columns
    >>> {name: column.tolist() for name, column in p_value_columns([0.04, 0.01]).items()}
    {'p_value': [0.04, 0.01], 'p_adjusted': [0.04, 0.02], 'relevant': [True, True]}
    """
    if p_values is None:
        return {}
    adjusted = adjusted_p_values(p_values, "fdr")
    return {"p_value": np.asarray(p_values), "p_adjusted": adjusted, "relevant": adjusted <= ALPHA}


def stepped_up(p_values: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the adjusted p values of a procedure that steps up: min over k >= j of p_(k) / f_k, at most 1.

    It rejects the hypotheses up to the last in ascending order whose p value is at most f_k alpha: with f_k = k / m
    Benjamini and Hochberg's, with f_k = 1 / (m + 1 - k) Hochberg's.

    Parameters
    ----------
    p_values : ndarray of shape (m,)
        P values of single tests.
    factors : ndarray of shape (m,)
        The numbers f_k, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.multiplicity import stepped_up
    >>> stepped_up(np.array([0.01, 0.04, 0.03]), 1 / np.array([3, 2, 1])).round(4).tolist()
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.minimum.accumulate((p_values[order] / factors)[::-1])[::-1], 1.0)
    return adjusted


def check_p_values(p_values: np.ndarray, names: Sequence[str]) -> None:
    """Raise `DataError` unless all p values lie between 0 and 1; the error names the feature."""
    outside = np.flatnonzero((p_values < 0) | (p_values > 1))
    if len(outside):
        i = int(outside[0])
        raise DataError(f"the p value of feature {names[i]!r} is {p_values[i]:g}: it must lie between 0 and 1")
