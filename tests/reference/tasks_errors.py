"""Errors of predictions straight from the formulas, one loop a sum. None is an unknown value."""

from __future__ import annotations

from reference.tasks_impurity import gini, variance


def mean_known(pairs, cost):
    costs = [cost(true, predicted) for true, predicted in pairs if true is not None]
    return sum(costs) / len(costs) if costs else 0.0


def error_rate(truth, predicted):
    """Share of wrong classes of one target."""
    return mean_known(zip(truth, predicted, strict=True), lambda y, p: float(y != p))


def squared_error(truth, predicted):
    return mean_known(zip(truth, predicted, strict=True), lambda y, p: (y - p) ** 2)


def relative_mse(truth, predicted, train):
    """(1/T) sum_j (1/Var(y_j)) (1/|S|) sum (y_j - yhat_j)^2 over targets that vary in training."""
    parts = [
        squared_error(y, p) / variance(whole)
        for y, p, whole in zip(truth, predicted, train, strict=True)
        if variance(whole) > 0
    ]
    return sum(parts) / len(parts) if parts else 0.0


def mixed_error(truth, predicted, train, nominal):
    """(1/D) sum_i beta_i mean err(x_i, xhat_i): 1[x != xhat] / Gini or (x - xhat)^2 / Var."""
    parts = []
    for y, p, whole, is_nominal in zip(truth, predicted, train, nominal, strict=True):
        spread = gini(whole) if is_nominal else variance(whole)
        if spread > 0:
            parts.append((error_rate(y, p) if is_nominal else squared_error(y, p)) / spread)
    return sum(parts) / len(parts) if parts else 0.0


def hamming_loss(truth, predicted, weights):
    """(1/L) sum_l w(l) mean over examples with known l of XOR(l in y, l in yhat); columns of 0/1."""
    parts = [w * error_rate(y, p) for y, p, w in zip(truth, predicted, weights, strict=True)]
    return sum(parts) / len(parts)
