"""Share of the target's impurity that one feature explains, straight from the formula."""

from __future__ import annotations

import math


def mean(values, weights):
    return sum(w * v for v, w in zip(values, weights, strict=True)) / sum(weights)


def variance(values, weights):
    centre = mean(values, weights)
    return mean([(v - centre) ** 2 for v in values], weights)


def known(value):
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def target_columns(values):
    """A number is one column, a class one 0/1 column per level."""
    if all(isinstance(v, str) for v in values):
        return [[int(v == level) for v in values] for level in sorted(set(values))]
    return [values]


def explained(feature, column, weights):
    """Variance of one target column between the values of a nominal feature, or along a numeric one."""
    centre = mean(column, weights)
    if all(isinstance(v, str) for v in feature):
        between = 0
        for level in set(feature):
            rows = [i for i, v in enumerate(feature) if v == level]
            part = [weights[i] for i in rows]
            between += sum(part) * (mean([column[i] for i in rows], part) - centre) ** 2
        return between / sum(weights)
    if len(set(feature)) < 2:
        return 0.0
    middle = mean(feature, weights)
    products = [(a - middle) * (b - centre) for a, b in zip(feature, column, strict=True)]
    return mean(products, weights) ** 2 / variance(feature, weights)


def share(feature, target, weights, adjusted):
    """Share of one target variable's impurity, over the examples known in both, without what chance explains."""
    rows = [i for i in range(len(target)) if known(feature[i]) and known(target[i])]
    if not rows or len({target[i] for i in rows}) < 2:
        return 0.0
    x, b = [feature[i] for i in rows], [weights[i] for i in rows]
    columns = target_columns([target[i] for i in rows])
    impurity = sum(variance(column, b) for column in columns)
    total = sum(w for t, w in zip(target, weights, strict=True) if known(t))
    plain = sum(explained(x, column, b) for column in columns) / impurity
    if adjusted:
        m = sum(b) * sum(weights) / sum(w * w for w in weights)
        levels = len(set(x)) if all(isinstance(v, str) for v in x) else min(len(set(x)), 2)
        plain = 1 - (1 - plain) * (m - 1) / (m - levels) if m - levels > 1 - 1e-9 else 0.0
    return plain * sum(b) / total


def varies(values):
    return len({v for v in values if known(v)}) > 1


def scores(features, targets, weights, alpha, adjusted=True):
    """One score per feature: mean over the target variables that are not constant, weighted by alpha.

    Examples without any known target are left out.
    """
    rows = [i for i in range(len(weights)) if any(known(target[i]) for target in targets)]
    features, targets = ([[column[i] for i in rows] for column in columns] for columns in (features, targets))
    weights = [weights[i] for i in rows]
    return [_mean_share(feature, targets, weights, alpha, adjusted) for feature in features]


def _mean_share(feature, targets, weights, alpha, adjusted):
    counted = [v for v, target in enumerate(targets) if varies(target)]
    total = sum(alpha[v] for v in counted)
    return sum(alpha[v] * share(feature, targets[v], weights, adjusted) for v in counted) / total if counted else 0.0


def unsupervised_scores(features, weights, adjusted=True):
    """The other features take the target's place."""
    return [
        _mean_share(feature, features[:j] + features[j + 1 :], weights, [1.0] * len(features), adjusted)
        for j, feature in enumerate(features)
    ]
