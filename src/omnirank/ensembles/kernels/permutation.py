"""What permuting a feature among the out-of-bag rows does to a tree's errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, allocating, dispatched, inlined
from omnirank.core.kernels.vector import uncounted
from omnirank.trees.kernels.random import below, mix
from omnirank.trees.kernels.route import code_of, walk, walk_with


class Shuffle(NamedTuple):
    """The rows, and where row i takes its value of feature f from: shuffled[(i + shift[f]) mod n]."""

    rows: np.ndarray
    shuffled: np.ndarray
    shift: np.ndarray


@allocating
def shuffle(rows, n_features, seed):
    """One uniform permutation of the rows, turned by a random shift for each feature.

    Seen from one feature that is a uniform permutation, and drawing it costs one number.
    """
    n = len(rows)
    state = mix(seed)
    shuffled = rows.copy()
    for i in range(n - 1, 0, -1):
        state = mix(state)
        j = below(state, i + 1)
        shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
    shift = np.empty(n_features, np.int64)
    for f in range(n_features):
        state = mix(state)
        shift[f] = below(state, n)
    return Shuffle(rows, shuffled, shift)


@inlined
def last_code(values, starts, f, threshold):
    """Last code of feature f whose value is not above the threshold; the values of f begin at ``starts[f]``."""
    low = starts[f]
    above = starts[f + 1]
    while above - low > 1:
        middle = (low + above) >> 1
        if values[middle] <= threshold:
            low = middle
        else:
            above = middle
    return low - starts[f]


@allocating
def threshold_cuts(feature, cut, threshold, values, starts):
    """Cuts of numeric tests by which any training row goes where its value goes.

    Growing sees the rows of a node only: of two neighbouring codes there, the first is its cut. Codes that lie
    between them in other rows go by the threshold. NaN as threshold (nominal tests and leaves) keeps the cut.
    """
    found = cut.copy()
    for k in range(len(cut)):
        if np.isnan(threshold[k]):
            continue
        found[k] = last_code(values, starts, feature[k], threshold[k])
    return found


@inlined
def donor(order, i, f):
    """The row that gives its value of feature f to the i-th row."""
    n = len(order.rows)
    place = i + order.shift[f]
    return order.shuffled[place - n if place >= n else place]


# -- errors of a row in a leaf --------------------------------------------------------------------------


class SquaredLoss(NamedTuple):
    """Squared errors of numeric targets."""

    truth: np.ndarray  # (rows, targets), NaN = unknown
    means: np.ndarray  # (nodes, targets)


class LevelLoss(NamedTuple):
    """Wrong levels of nominal targets, or wrong labels of small label sets."""

    truth: np.ndarray  # (rows, targets) codes, -1 = unknown
    level: np.ndarray  # (nodes, targets) predicted codes


class SetLoss(NamedTuple):
    """Weighted size of the symmetric difference of label sets: one target."""

    starts: np.ndarray  # labels of each row
    labels: np.ndarray
    weight: np.ndarray  # of a label
    node_starts: np.ndarray  # predicted labels of each node
    node_labels: np.ndarray
    node_weight: np.ndarray  # total weight of the predicted labels
    marks: np.ndarray  # scratch: row whose label it is, plus 1


class LabelLoss(NamedTuple):
    """Wrong labels of label sets, label by label."""

    starts: np.ndarray  # labels of each row that are relevant or unknown
    labels: np.ndarray
    relevant: np.ndarray  # whether the label is relevant, else unknown
    node_starts: np.ndarray  # predicted labels of each node
    node_labels: np.ndarray
    marks: np.ndarray  # scratch: row whose label it is, plus 1


@dispatched(Kinds("losses"))
def add_loss(loss, row, node, weight, out, f):
    """Add weight * error of the node's prediction for the row to out[f, target], for all known targets."""


@add_loss.kind(SquaredLoss)
def _add_squared(loss, row, node, weight, out, f):
    for j in range(loss.truth.shape[1]):
        y = loss.truth[row, j]
        if not np.isnan(y):
            d = y - loss.means[node, j]
            out[f, j] += weight * d * d


@add_loss.kind(LevelLoss)
def _add_level(loss, row, node, weight, out, f):
    for j in range(loss.truth.shape[1]):
        y = loss.truth[row, j]
        if y >= 0 and y != loss.level[node, j]:
            out[f, j] += weight


@add_loss.kind(SetLoss)
def _add_set(loss, row, node, weight, out, f):
    size = loss.node_weight[node]
    for e in range(loss.starts[row], loss.starts[row + 1]):
        label = loss.labels[e]
        loss.marks[label] = row + 1
        size += loss.weight[label]
    for e in range(loss.node_starts[node], loss.node_starts[node + 1]):
        label = loss.node_labels[e]
        if loss.marks[label] == row + 1:
            size -= 2.0 * loss.weight[label]
    out[f, 0] += weight * size


@add_loss.kind(LabelLoss)
def _add_labels(loss, row, node, weight, out, f):
    mark = np.int64(row) + 1  # negative: unknown
    for e in range(loss.starts[row], loss.starts[row + 1]):
        label = loss.labels[e]
        if loss.relevant[e]:
            loss.marks[label] = mark
            out[f, label] += weight
        else:
            loss.marks[label] = -mark
    for e in range(loss.node_starts[node], loss.node_starts[node + 1]):
        label = loss.node_labels[e]
        if loss.marks[label] == mark:
            out[f, label] -= weight
        elif loss.marks[label] != -mark:
            out[f, label] += weight


@allocating
def permutation_losses(tests, codes, loss, order, weight, n_targets):
    """Sum of the rows' errors, and its change when a feature is permuted.

    A row's prediction changes only if a feature on its path is permuted: it is routed again from the first node
    that tests the feature.

    Returns
    -------
    base : (targets,), change : (features, targets)
        Sums over the rows, each times its weight.
    """
    tests = uncounted(tests)
    codes = uncounted(codes)
    rows = order.rows
    n_features = len(codes.n_levels)
    base = np.zeros((1, n_targets))
    change = np.zeros((n_features, n_targets))
    met = np.zeros(n_features, np.int64)
    path = np.empty(n_features, np.int64)
    first = np.empty(n_features, np.int64)
    for i in range(len(rows)):
        row = rows[i]
        here, n_path = walk(tests, codes, row, i + 1, met, path, first)
        add_loss(loss, row, here, weight[row], base, 0)
        for k in range(n_path):
            f = path[k]
            c = code_of(codes, f, donor(order, i, f))
            if c == code_of(codes, f, row):
                continue
            there = walk_with(tests, codes, row, first[k], f, c)
            if there != here:
                add_loss(loss, row, there, weight[row], change, f)
                add_loss(loss, row, here, -weight[row], change, f)
    return base[0], change
