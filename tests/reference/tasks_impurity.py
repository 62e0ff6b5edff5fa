"""Impurities straight from the definitions: variance, Gini index, and their weighted, normalised mean."""

from __future__ import annotations

import math


def known(values):
    return [value for value in values if value is not None and not (isinstance(value, float) and math.isnan(value))]


def variance(values):
    """Biased variance of the known values; 0 where there are none."""
    found = known(values)
    if not found:
        return 0.0
    mean = math.fsum(found) / len(found)
    return math.fsum((value - mean) ** 2 for value in found) / len(found)


def gini(values):
    """1 - sum_v p(v)^2 over the known values; 0 where there are none."""
    found = known(values)
    if not found:
        return 0.0
    return 1.0 - math.fsum((found.count(value) / len(found)) ** 2 for value in set(found))


def impurity(part, train, nominal, weights=None, normalize=True):
    """Impurity of a part of the training set: both are lists of columns.

    (1/A) sum_j alpha_j impu(E, y_j) / impu(D_train, y_j) over the variables that are not constant on D_train,
    A the sum of their weights alpha; without normalisation the division by impu(D_train, y_j) is left out.
    """
    weights = [1.0] * len(train) if weights is None else weights
    total = weight = 0.0
    for column, whole, is_nominal, alpha in zip(part, train, nominal, weights, strict=True):
        measure = gini if is_nominal else variance
        if len(set(known(whole))) < 2:
            continue
        weight += alpha
        total += alpha * measure(column) / (measure(whole) if normalize else 1.0)
    return total / weight if weight else 0.0
