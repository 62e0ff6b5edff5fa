"""Clustering space of label sets: rows with few non-zero columns.

Instead of centring (which would fill the rows), q = |S_1|^2 and p = S . S_1 are kept while rows are added:

    q += 2 b S_1 . z + b^2 z . z,   p += b S . z,   |S_1 - S K_1 / K|^2 = q - 2 p K_1 / K + |S|^2 (K_1 / K)^2

S_1 are the sums of the lighter side of a split: what is left of a difference from the sums of nearly all rows has few
digits. A step costs the number of the row's labels, whatever the number of labels altogether. Labels that all rows of
a node share are left out there, labels of a single row need no running sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import inlined
from omnirank.trees.kernels import spaces
from omnirank.trees.kernels.order import OTHER

# Labels of a row that are read at once, whether it has as many or not.
HEAD = np.uint32(4)


class LabelSets(NamedTuple):
    """Label sets; a label's value is its scale, every label is known."""

    starts: np.ndarray
    labels: np.ndarray  # with HEAD more at the end, which belong to no row
    scale: np.ndarray  # one per label


class LabelNode(NamedTuple):
    """The node's rows with node-local label numbers."""

    sums: np.ndarray  # (2, labels): of the node by label; of the rows split off by local label
    marks: np.ndarray  # (3, labels): number of rows, local number, labels met
    starts: np.ndarray
    labels: np.ndarray
    values: np.ndarray
    products: np.ndarray  # (2, rows): z . z and S . z
    listed: np.ndarray  # whether a row is split off
    totals: np.ndarray  # [|S|^2, number of local labels, number of rows]


NODE_SUM, RUNNING = 0, 1
COUNT, LOCAL, MET = 0, 1, 2
OWN, ALONG = 0, 1
CONSTANT = np.uint32(0xFFFFFFFF)
SINGLE = np.uint32(0xFFFFFFFE)
# Share of the weight up to which a side is the lighter one; of two equal sides either will do, whatever is rounded.
_LIGHTER = 0.5000001


@spaces.node_scratch.kind(LabelSets)
def _scratch(space, n):
    n_labels = len(space.scale)
    n_cells = len(space.labels)
    return LabelNode(
        np.zeros((2, n_labels)),
        np.zeros((3, n_labels), np.uint32),
        np.zeros(n + 1, np.uint32),
        np.zeros(n_cells, np.uint32),
        np.zeros(n_cells),
        np.zeros((2, n)),
        np.zeros(n, np.uint8),
        np.zeros(3),
    )


@spaces.open_node.kind(LabelSets)
def _open(space, node, rows, weight, lo, n):
    sums = node.sums
    marks = node.marks
    total = 0.0
    n_met = 0
    for i in range(n):
        r = rows[lo + i]
        w = weight[lo + i]
        total += w
        for e in range(space.starts[r], space.starts[r + np.uint32(1)]):
            label = space.labels[e]
            if marks[COUNT, label] == 0:
                marks[MET, n_met] = label
                n_met += 1
            marks[COUNT, label] += np.uint32(1)
            sums[NODE_SUM, label] += w
    norm = 0.0
    impurity = 0.0
    n_local = np.uint32(0)
    for j in range(n_met):
        label = marks[MET, j]
        if marks[COUNT, label] == n:
            marks[LOCAL, label] = CONSTANT
            continue
        s = sums[NODE_SUM, label] * space.scale[label]
        impurity += s * (space.scale[label] - s / total)
        norm += s * s
        sums[NODE_SUM, label] = s
        if marks[COUNT, label] == 1:
            marks[LOCAL, label] = SINGLE
        else:
            marks[LOCAL, label] = n_local
            n_local += np.uint32(1)
    _localise(space, node, rows, weight, lo, n)
    for j in range(n_met):
        marks[COUNT, marks[MET, j]] = 0
        sums[NODE_SUM, marks[MET, j]] = 0.0
    node.totals[0] = norm
    node.totals[1] = n_local
    node.totals[2] = n
    return total, impurity


@inlined
def _localise(space, node, rows, weight, lo, n):
    """Copy the node's rows with local label numbers and weighted values."""
    cell = np.uint32(0)
    for i in range(n):
        r = rows[lo + i]
        w = weight[lo + i]
        own = 0.0
        along = 0.0
        for e in range(space.starts[r], space.starts[r + np.uint32(1)]):
            label = space.labels[e]
            local = node.marks[LOCAL, label]
            if local == CONSTANT:
                continue
            a = w * space.scale[label]
            own += a * a
            along += node.sums[NODE_SUM, label] * a
            if local != SINGLE:
                node.labels[cell] = local
                node.values[cell] = a
                cell += np.uint32(1)
        node.products[OWN, i] = own
        node.products[ALONG, i] = along
        node.starts[i + 1] = cell


@inlined
def _step(node, i):
    """Add row i to the running sums; returns by how much |S_L|^2 grows."""
    cross = 0.0
    for e in range(node.starts[i], node.starts[i + np.uint32(1)]):
        local = node.labels[e]
        a = node.values[e]
        s = node.sums[RUNNING, local]
        cross += s * a
        node.sums[RUNNING, local] = s + a
    return 2.0 * cross + node.products[OWN, i]


@inlined
def _clear_running(node):
    for c in range(np.int64(node.totals[1])):
        node.sums[RUNNING, c] = 0.0


@spaces.prefix_gains.kind(LabelSets)
def _prefix(space, node, weight, lo, total, ints, part, n, floats):
    """Add rows from the first on while they are the lighter side, then from the last one back."""
    norm = node.totals[0]
    k = 0.0
    for t in range(n):
        k += weight[lo + ints[part, t]]
        floats[spaces.SPLIT_OFF, t] = k
    last = np.int64(node.totals[2]) - 1
    for side in range(2):
        _clear_running(node)
        q = 0.0
        p = 0.0
        k = 0.0
        for s in range(last if side else n):
            i = ints[part, last - s if side else s]
            k += weight[lo + i]
            if k > _LIGHTER * total:
                break
            q += _step(node, i)
            p += node.products[ALONG, i]
            cut = last - 1 - s if side else s
            if cut < n:
                floats[spaces.GAIN, cut] = spaces.sums_gain(q, p, k, norm, total)


@spaces.subset_gain.kind(LabelSets)
def _subset(space, node, weight, lo, total, ints, n):
    k = 0.0
    for t in range(n):
        k += weight[lo + ints[OTHER, t]]
        node.listed[ints[OTHER, t]] = 1
    side = np.uint8(k <= _LIGHTER * total)
    _clear_running(node)
    q = 0.0
    p = 0.0
    lighter = 0.0
    for i in range(np.uint32(node.totals[2])):
        if node.listed[i] == side:
            q += _step(node, i)
            p += node.products[ALONG, i]
            lighter += weight[lo + i]
        node.listed[i] = 0
    return spaces.sums_gain(q, p, lighter, node.totals[0], total), k


@spaces.level_sums.kind(LabelSets)
def _levels(space, node, weight, lo, level, n, n_levels):
    # Labels of a single row have no local number; those of a row, or of all rows of a level, act like one column.
    n_local = np.int64(node.totals[1])
    alone = np.zeros(n)
    n_alone = 0
    for i in range(n):
        single = node.products[OWN, i]
        for e in range(node.starts[i], node.starts[i + 1]):
            single -= node.values[e] * node.values[e]
        if level[i] >= 0 and single > 1e-12 * node.products[OWN, i]:
            alone[i] = single
            n_alone += 1
    by_row = n_alone < n_levels
    sums = np.zeros((n_levels, n_local + min(n_alone, n_levels)))
    column = n_local
    for i in range(n):
        v = level[i]
        if v >= 0:
            for e in range(node.starts[i], node.starts[i + 1]):
                sums[v, node.labels[e]] += node.values[e]
        if alone[i] > 0.0:
            sums[v, column if by_row else n_local + v] += alone[i]
            column += 1
    for v in range(n_levels):
        for c in range(n_local, sums.shape[1]):
            sums[v, c] = np.sqrt(sums[v, c])
    return sums
