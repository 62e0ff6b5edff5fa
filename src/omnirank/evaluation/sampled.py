"""Measures on a sample of test examples, with standard errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

_GROUPS = 20


class SampledMeasures(dict[str, float]):
    """Values by measure, of a sample of test examples.

    Parameters
    ----------
    values : mapping
        Values by measure.
    standard_errors : mapping
        How far, about, they are from those of all examples that the sample was drawn from.
    n_test : int
        Number of examples in the sample.

    Examples
    --------
    >>> from omnirank.evaluation.sampled import SampledMeasures
    >>> found = SampledMeasures({"accuracy": 0.9}, {"accuracy": 0.01}, 2000)
    >>> found["accuracy"], found.standard_errors["accuracy"], found.n_test
    (0.9, 0.01, 2000)
    """

    def __init__(self, values: Mapping[str, float], standard_errors: Mapping[str, float], n_test: int) -> None:
        super().__init__(values)
        self.standard_errors = dict(standard_errors)
        self.n_test = n_test


def with_standard_errors(
    values: Mapping[str, float], n_test: int, measured: Callable[[np.ndarray], Mapping[str, float]]
) -> SampledMeasures:
    r"""Return measures with their standard errors, by the jackknife over groups of test examples.

    With g groups, and the value :math:`v_j` without group j, the standard error is

    .. math:: \sqrt{\frac{g - 1}{g} \sum_j (v_j - \bar v)^2}

    Groups in which a measure is not defined are left out.

    Parameters
    ----------
    values : mapping
        Measures of all test examples.
    n_test : int
        Their number.
    measured : callable
        From a mask of test examples to their measures.

    References
    ----------
    Efron, Stein: The jackknife estimate of variance. Annals of Statistics 9, 1981.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.sampled import with_standard_errors
    >>> errors = np.arange(4.0)
    >>> found = with_standard_errors({"mae": 1.5}, 4, lambda mask: {"mae": errors[mask].mean()})
    >>> found, bool(np.isclose(found.standard_errors["mae"], errors.std(ddof=1) / 2))
    ({'mae': 1.5}, True)
    """
    groups = np.arange(n_test) % min(_GROUPS, n_test)
    without = [measured(groups != group) for group in range(groups.max() + 1)] if n_test > 1 else []
    found = {}
    for name in values:
        parts = np.array([part[name] for part in without])
        parts = parts[~np.isnan(parts)]
        g = len(parts)
        found[name] = float(np.sqrt((g - 1) / g * ((parts - parts.mean()) ** 2).sum())) if g > 1 else float("nan")
    return SampledMeasures(values, found, n_test)
