"""Mutual information of numbers by nearest neighbours: scikit-learn's estimators, one pair of variables at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable: numbers or codes of classes, NaN where it is unknown."""

    values: np.ndarray
    discrete: bool

    @classmethod
    def of_numbers(cls, values: np.ndarray) -> Variable:
        """Return numbers in units of half their range: squares of all numbers are finite then."""
        known = values[~np.isnan(values)]
        low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
        size = high / 2 - low / 2
        return cls((values / 2 - low / 2) / (size if size > 0 else 1.0), False)

    @classmethod
    def of_codes(cls, codes: np.ndarray) -> Variable:
        """Return classes from their codes, -1 where they are unknown."""
        return cls(np.where(codes < 0, np.nan, codes), True)


def neighbor_information(x: Variable, y: Variable, n_neighbors: int, seed: int) -> float:
    """Return the mutual information of two variables in nats, over the examples known in both.

    It is multiplied by the share of these among the examples with y known: what is missing tells nothing.

    Parameters
    ----------
    x, y : Variable
        The variables; at least one of them has numbers.
    n_neighbors : int
        Number of neighbours; fewer where there are not so many examples.
    seed : int
        Of the noise, some 1e-10 of the numbers, by which scikit-learn parts equal values.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.rankers._neighbor_information import Variable, neighbor_information
    >>> x = Variable.of_numbers(np.arange(40.0))
    >>> round(neighbor_information(x, Variable(np.repeat([0.0, 1.0], 20), True), 3, 0), 2)
    0.66
    """
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    known_y = ~np.isnan(y.values)
    rows = known_y & ~np.isnan(x.values)
    own, other = x.values[rows], y.values[rows]
    if not _enough(own, x.discrete) or not _enough(other, y.discrete):
        return 0.0
    estimate = mutual_info_classif if y.discrete else mutual_info_regression
    found = estimate(
        own[:, None],
        other.astype(np.int64) if y.discrete else other,
        discrete_features=np.array([x.discrete]),
        n_neighbors=min(n_neighbors, len(own) - 1),
        random_state=seed,
    )
    return float(found[0]) * int(rows.sum()) / int(known_y.sum())


def _enough(values: np.ndarray, discrete: bool) -> bool:
    """Whether values differ; of classes, one must have two examples, which can be neighbours."""
    if len(values) < 2 or np.ptp(values) == 0:
        return False
    return not discrete or len(np.unique(values)) < len(values)
