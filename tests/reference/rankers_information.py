"""Measures of information and counts, bins, correlation and spread of one feature, straight from the formulas."""

from __future__ import annotations

import math

from reference.rankers_univariate import known, mean, variance, varies


def is_nominal(feature):
    return any(isinstance(v, str) for v in feature)


def bins(feature, weights, n_bins):
    """Levels, values, or numbers of bins; None where missing."""
    values = sorted({v for v in feature if known(v)})
    if is_nominal(feature) or len(values) <= n_bins:
        return [v if known(v) else None for v in feature]
    pairs = [(v, w) for v, w in zip(feature, weights, strict=True) if known(v)]
    total = sum(w for _, w in pairs)
    below = {v: sum(w for u, w in pairs if u < v) + sum(w for u, w in pairs if u == v) / 2 for v in values}
    return [min(int(n_bins * below[v] / total), n_bins - 1) if known(v) else None for v in feature]


def entropy(values, weights):
    sums = {}
    for v, w in zip(values, weights, strict=True):
        sums[v] = sums.get(v, 0.0) + w
    total = sum(weights)
    return -sum(s / total * math.log(s / total) for s in sums.values())


def gain(x, y, weights):
    return entropy(x, weights) + entropy(y, weights) - entropy(list(zip(x, y, strict=True)), weights)


def uncertainty(x, y, weights):
    both = entropy(x, weights) + entropy(y, weights)
    return 2 * gain(x, y, weights) / both if both > 0 else 0.0


def chi2(x, y, weights):
    total, found = sum(weights), 0.0
    for a in set(x):
        for b in set(y):
            row = sum(w for v, w in zip(x, weights, strict=True) if v == a)
            column = sum(w for v, w in zip(y, weights, strict=True) if v == b)
            seen = sum(w for u, v, w in zip(x, y, weights, strict=True) if u == a and v == b)
            found += (seen - row * column / total) ** 2 / (row * column / total)
    return found


MEASURES = {"information-gain": gain, "symmetrical-uncertainty": uncertainty, "chi2": chi2}


def score(feature, target, weights, measure, n_bins):
    """The measure over the examples known in both, times their share; chi2 as it is."""
    coded = bins(feature, weights, n_bins)
    rows = [i for i in range(len(target)) if known(coded[i]) and known(target[i])]
    if not rows:
        return 0.0
    x, y, b = ([column[i] for i in rows] for column in (coded, target, weights))
    found = MEASURES[measure](x, y, b)
    of_all = sum(w for t, w in zip(target, weights, strict=True) if known(t))
    return found if measure == "chi2" else found * sum(b) / of_all


def scores(features, targets, weights, measure, n_bins=10):
    """One score per feature; examples without any known target are left out, and so are constant targets."""
    rows = [i for i in range(len(weights)) if any(known(target[i]) for target in targets)]
    features, targets = ([[column[i] for i in rows] for column in columns] for columns in (features, targets))
    weights = [weights[i] for i in rows]
    counted = [target for target in targets if varies(target)]
    found = [[score(x, y, weights, measure, n_bins) for y in counted] for x in features]
    return [sum(values) / len(values) if values else 0.0 for values in found]


def label_set_classes(label_rows, least):
    """Each set of labels is a class; None where it is rare, or a label is unknown."""
    names = ["".join(str(int(v)) for v in row) if all(map(known, row)) else None for row in label_rows]
    return [name if name is not None and names.count(name) >= least else None for name in names]


def correlation(feature, target, weights):
    """|r|, or the correlation ratio, over the examples known in both, times the root of their share."""
    rows = [i for i in range(len(target)) if known(feature[i]) and known(target[i])]
    of_all = sum(w for t, w in zip(target, weights, strict=True) if known(t))
    if not rows:
        return 0.0
    x, y, b = ([column[i] for i in rows] for column in (feature, target, weights))
    if len(set(x)) < 2 or len(set(y)) < 2:
        return 0.0
    if is_nominal(x):
        rows_of = {a: [i for i, u in enumerate(x) if u == a] for a in set(x)}
        means = {a: mean([y[i] for i in own], [b[i] for i in own]) for a, own in rows_of.items()}
        found = math.sqrt(variance([means[a] for a in x], b) / variance(y, b))
    else:
        products = [(u - mean(x, b)) * (v - mean(y, b)) for u, v in zip(x, y, strict=True)]
        found = abs(mean(products, b)) / math.sqrt(variance(x, b) * variance(y, b))
    return found * math.sqrt(sum(b) / of_all)


def spread(feature, weights, measure):
    """Variance, or logarithm of the ratio of means; of levels the sum over their 0/1 columns."""
    pairs = [(v, w) for v, w in zip(feature, weights, strict=True) if known(v)]
    if not pairs:
        return 0.0
    values, b = [v for v, _ in pairs], [w for _, w in pairs]
    if is_nominal(values):
        columns = [[float(v == level) for v in values] for level in set(values)]
    else:
        columns = [values]
    return sum(_one_spread(column, b, measure) for column in columns)


def _one_spread(values, weights, measure):
    if len(set(values)) < 2:
        return 0.0
    if measure == "variance":
        return variance(values, weights)
    low, high = min(values), max(values)
    scaled = [(v - low) / (high - low) for v in values]
    return math.log(mean([math.exp(v) for v in scaled], weights)) - mean(scaled, weights)
