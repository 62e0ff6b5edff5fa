"""The clustering columns of a semi-supervised tree, written down from the formula

    impu(E) = w / A sum_j alpha_j impu(E, y_j) / impu(y_j)  +  (1 - w) / B sum_i beta_i impu(E, x_i) / impu(x_i)

with one 0/1 column per level of a nominal variable; variables that are constant on the training set are left out. A is
the sum of the weights alpha, B the number of features. The labels of a hierarchy are not divided by their own
impurities but by the sum of alpha_j impu(y_j), which takes the place of A.
"""

from __future__ import annotations

import numpy as np

from reference.trees_growing import Problem


def weighted_variance(cells, weight):
    """Biased variance of the known values."""
    known = ~np.isnan(cells) & (weight > 0)
    if not known.any() or len(set(cells[known])) < 2:
        return 0.0
    mean = np.average(cells[known], weights=weight[known])
    return float(np.average((cells[known] - mean) ** 2, weights=weight[known]))


def variable_columns(cells, n_levels):
    """Columns of a number, or of a nominal variable with codes (NaN = unknown)."""
    if not n_levels:
        return [np.asarray(cells, float)]
    return [np.where(np.isnan(cells), np.nan, cells == v) for v in range(n_levels)]


def part(variables, weights, share, weight, normalize=True, together=False):
    """Columns and lambdas of all variables of one part; together: all are divided by the same number."""
    found = []
    for columns, alpha in zip(variables, weights, strict=True):
        total = sum(weighted_variance(c, weight) for c in columns)  # variance or Gini index
        if total > 0 and alpha > 0:
            found.append((columns, alpha, total))
    everything = sum(alpha * (total if together else 1.0) for _, alpha, total in found)
    columns, lambdas = [], []
    for own, alpha, total in found:
        columns += own
        lambdas += [share * alpha / everything / (total if normalize and not together else 1.0)] * len(own)
    return columns, lambdas


def feature_cells(table):
    """Features as the reference takes them: numbers, or codes with -1 = missing."""
    return [np.asarray(table.column(f)) for f in range(table.n_columns)]


def problem_of(dataset, w, weight, min_labelled=0.0, feature_weights=None):
    """The problem of growing a tree with level of supervision w."""
    table = dataset.features
    features = feature_cells(table)
    n_levels = [0 if levels is None else len(levels) for levels in table.levels]
    columns, lambdas = [], []
    labelled = np.zeros(table.n_rows, bool)
    if dataset.target is not None:
        values = dataset.target.dense()
        labelled = ~np.isnan(values).all(axis=1)
        sizes = [0 if levels is None else len(levels) for levels in dataset.target.levels]
        alpha = np.ones(len(sizes)) if dataset.hierarchy is None else dataset.hierarchy.weights(0.75)
        targets = [variable_columns(values[:, j], size) for j, size in enumerate(sizes)]
        columns, lambdas = part(targets, alpha, w, weight, together=dataset.hierarchy is not None)
    else:
        w = 0.0
    if w < 1:
        numbers = [np.where(x < 0, np.nan, x) if size else x for x, size in zip(features, n_levels, strict=True)]
        described = [variable_columns(x, size) for x, size in zip(numbers, n_levels, strict=True)]
        beta = np.ones(len(described)) if feature_weights is None else feature_weights
        varies = [sum(weighted_variance(c, weight) for c in own) > 0 for own in described]
        share = (1 - w) * np.mean(beta[varies]) if any(varies) else 0.0
        more, sizes = part(described, beta, share, weight)
        columns, lambdas = columns + more, lambdas + sizes
    matrix = np.column_stack(columns) if columns else np.zeros((table.n_rows, 1))
    return Problem(features, n_levels, matrix, np.array(lambdas or [1.0]), weight, labelled, min_labelled)
