"""What trees draw: the examples of a bootstrap replicate, and the number of features of a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.parameters import check, choice, count, share
from omnirank.core.seeds import stream
from omnirank.data.dataset import Dataset
from omnirank.ensembles.growing_checks import mostly_binary

if TYPE_CHECKING:
    from omnirank.ensembles.plan import GrowingRules


def bootstrap_counts(entropy: int, i: int, strata: Sequence[np.ndarray]) -> np.ndarray:
    """Return how often tree i draws each row, with replacement, as many of each stratum as there are."""
    rng = stream(entropy, i)
    drawn = [np.bincount(rng.integers(0, len(rows), len(rows)), minlength=len(rows)) for rows in strata]
    if len(drawn) == 1:  # of all rows
        return drawn[0].astype(np.float64)
    counts = np.empty(sum(len(rows) for rows in strata))
    for rows, found in zip(strata, drawn, strict=True):
        counts[rows] = found
    return counts


def group_numbers(groups: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """Return the numbers among all groups of those of some rows (a mask); None: each row is a group."""
    return np.flatnonzero(rows) if groups is None else np.unique(groups[rows])


def features_drawn(given: Any, n: int) -> int:
    """Return how many of n features a count, a share or a name stands for.

    Examples
    --------
    >>> from omnirank.ensembles.draws import features_drawn
    >>> features_drawn("sqrt", 10), features_drawn(0.5, 10), features_drawn(3, 10)
    (4, 5, 3)
    """
    named = {"sqrt": np.ceil(np.sqrt(n)), "log2": np.ceil(np.log2(n)), "all": n}
    check("max_features", given, choice(*named, None) | count(1, n, "features") | share(above=0))
    if isinstance(given, str):
        return max(1, int(named[given]))
    return int(given) if isinstance(given, int | np.integer) else max(1, round(given * n))


def features_per_node(rules: GrowingRules, dataset: Dataset) -> int:
    """Return how many features are drawn in a node.

    None: ceil(sqrt D) in a random forest, D in bagging and extra trees, but ceil(sqrt D) in extra trees when most
    features are binary (each has a single test then, and trees that see all of them are alike). Without a target
    ceil(log2 D), except in bagging.
    """
    n = dataset.n_features
    given = rules.max_features
    if given is None:
        if dataset.target is None and rules.ensemble != "bagging":
            given = "log2"
        elif rules.ensemble == "random-forest" or (rules.ensemble == "extra-trees" and mostly_binary(dataset.features)):
            given = "sqrt"
        else:
            given = "all"
    return features_drawn(given, n)
