"""Where rows go when a feature is permuted among those out of bag, and what that does to areas under curves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import allocating, inlined
from omnirank.core.kernels.vector import uncounted
from omnirank.trees.kernels.candidates import below, mix
from omnirank.trees.kernels.route import cell_of, next_node, walk, walk_with


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
def donor(order, i, f):
    """The row that gives its value of feature f to the i-th row."""
    n = len(order.rows)
    place = i + order.shift[f]
    return order.shuffled[place - n if place >= n else place]


class Moves(NamedTuple):
    """Leaves of the rows, and which rows reach another leaf when a feature is permuted."""

    leaf: np.ndarray
    starts: np.ndarray  # by feature
    place: np.ndarray  # which of the rows
    new_leaf: np.ndarray


@allocating
def permutation_moves(tests, cells, order):
    """Route the rows, and those again that leave their path with the value of another row."""
    tests = uncounted(tests)
    cells = uncounted(cells)
    rows = order.rows
    n_features = len(cells.nominal)
    leaf = np.empty(len(rows), np.int64)
    n_nodes = len(tests.feature)
    met = np.full(n_features, -1, np.int64)
    path = np.empty(n_nodes, np.int64)
    first = np.empty(n_nodes, np.bool_)
    again = np.empty(n_nodes, np.int64)
    counts = np.zeros(n_features + 1, np.int64)
    most = 1024
    feature = np.empty(most, np.int64)
    place = np.empty(most, np.int64)
    new_leaf = np.empty(most, np.int64)
    n_moves = 0
    for i in range(len(rows)):
        row = rows[i]
        n_path = walk(tests, cells, row, i * n_nodes, met, path, first, again)
        leaf[i] = path[n_path]
        if n_moves + n_path > most:
            most = 2 * most + n_path
            feature = _longer(feature, most)
            place = _longer(place, most)
            new_leaf = _longer(new_leaf, most)
        for place_on_path in range(n_path):
            if not first[place_on_path]:
                continue
            f = tests.feature[path[place_on_path]]
            other = donor(order, i, f)
            x, is_missing = cell_of(cells, f, other)
            k = place_on_path
            while k >= 0:
                there = next_node(tests, cells, path[k], f, x, is_missing)
                if there != path[k + 1]:
                    feature[n_moves] = f
                    place[n_moves] = i
                    new_leaf[n_moves] = walk_with(tests, cells, row, there, f, other)
                    counts[f + 1] += 1
                    n_moves += 1
                    break
                k = again[k]
    starts = np.cumsum(counts)
    next_place = starts.copy()
    by_place = np.empty(n_moves, np.int64)
    by_leaf = np.empty(n_moves, np.int64)
    for m in range(n_moves):
        at = next_place[feature[m]]
        by_place[at] = place[m]
        by_leaf[at] = new_leaf[m]
        next_place[feature[m]] += 1
    return Moves(leaf, starts, by_place, by_leaf)


@inlined
def _longer(values, size):
    longer = np.empty(size, values.dtype)
    longer[: len(values)] = values
    return longer


# -- areas under the precision-recall curves of a tree ----------------------------------------------------
#
# All rows of a leaf have the same label frequencies. The (leaf, label) cells are put in groups of equal frequency once
# per tree; a row that moves to another leaf changes the counts of the groups of the two leaves only.


class Sets(NamedTuple):
    """Label sets of the training rows."""

    starts: np.ndarray
    labels: np.ndarray  # relevant and unknown ones
    relevant: np.ndarray  # else unknown


class Curves(NamedTuple):
    """Curves of one tree: one for all labels, or one per label.

    The groups of a curve follow one another, the largest frequency first; the last group of each is that of
    frequency 0, whose cells are not stored.
    """

    starts: np.ndarray  # cells of each node
    labels: np.ndarray
    groups: np.ndarray
    group_starts: np.ndarray  # by curve
    n_known: np.ndarray  # (row, label) pairs of a curve
    n_positive: np.ndarray


@allocating
def permuted_areas(moves, rows, sets, curves):
    """Areas of the curves, (curves,), and when each feature is permuted, (features, curves)."""
    moves = uncounted(moves)
    sets = uncounted(sets)
    curves = uncounted(curves)
    n_curves = len(curves.n_known)
    n_features = len(moves.starts) - 1
    n_groups = curves.group_starts[n_curves]
    marks = np.zeros(sets.labels.max() + 2 if len(sets.labels) else 2, np.int64)
    if len(curves.labels):
        marks = np.zeros(max(len(marks), curves.labels.max() + 1), np.int64)
    counts = np.zeros((2, n_groups), np.int64)
    for i in range(len(rows)):
        _count(counts, rows[i], moves.leaf[i], 1, sets, curves, marks)
    before = np.zeros(n_curves)
    after = np.zeros((n_features, n_curves))
    for c in range(n_curves):
        before[c] = _area(counts, c, curves)
    changed = counts.copy()
    for f in range(n_features):
        if moves.starts[f] == moves.starts[f + 1]:
            after[f] = before
            continue
        for m in range(moves.starts[f], moves.starts[f + 1]):
            i = moves.place[m]
            _count(changed, rows[i], moves.leaf[i], -1, sets, curves, marks)
            _count(changed, rows[i], moves.new_leaf[m], 1, sets, curves, marks)
        for c in range(n_curves):
            after[f, c] = _area(changed, c, curves)
        changed[:] = counts
    return before, after


@inlined
def _count(counts, row, leaf, sign, sets, curves, marks):
    """Add a row of a leaf to (or take it from) the counts of positive and of all pairs in the groups."""
    for e in range(sets.starts[row], sets.starts[row + 1]):
        marks[sets.labels[e]] = row + 1 if sets.relevant[e] else -np.int64(row) - 1
    for e in range(curves.starts[leaf], curves.starts[leaf + 1]):
        mark = marks[curves.labels[e]]
        if mark != -np.int64(row) - 1:
            counts[1, curves.groups[e]] += sign
            if mark == np.int64(row) + 1:
                counts[0, curves.groups[e]] += sign


@inlined
def _area(counts, c, curves):
    """Area of curve c: trapezoids between all whole numbers of true positives; 0 without positives."""
    if curves.n_positive[c] == 0:
        return 0.0
    left_positive = curves.n_positive[c]
    left_known = curves.n_known[c]
    last_group = curves.group_starts[c + 1] - 1
    true = 0
    predicted = 0
    precision = 0.0
    area = 0.0
    for g in range(curves.group_starts[c], last_group + 1):
        positive = counts[0, g] if g < last_group else left_positive
        known = counts[1, g] if g < last_group else left_known
        if known == 0:
            continue
        left_positive -= positive
        left_known -= known
        if predicted == 0:  # the curve starts level
            precision = positive / known
            area += positive * precision
        elif positive == 0:
            precision = true / (predicted + known)
        for k in range(1, positive + 1 if predicted > 0 else 1):
            reached = (true + k) / (predicted + known * (k / positive))
            area += (precision + reached) / 2.0
            precision = reached
        true += positive
        predicted += known
    return area / curves.n_positive[c]
