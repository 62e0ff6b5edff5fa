"""Gains of a tree's tests as covariances of what its in-bag and its out-of-bag rows say of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import allocating, compiled, inlined
from omnirank.core.kernels.vector import uncounted


class NodeRows(NamedTuple):
    """Rows of the nodes of a tree, named as in GrownTree: a node's are rows[first:last]."""

    first: np.ndarray
    last: np.ndarray
    rows: np.ndarray
    row_weight: np.ndarray


class GainColumns(NamedTuple):
    """Columns of the clustering space, centred and scaled."""

    values: np.ndarray  # (rows, columns), NaN = unknown
    all_known: bool


class NodeSums(NamedTuple):
    """Sums of the centred columns over the rows of each node, and the weights of those that are known."""

    sums: np.ndarray  # (nodes, columns)
    known: np.ndarray  # (nodes, columns), or (nodes, 1) where all cells are known


class CsrRows(NamedTuple):
    """Rows of a sparse matrix."""

    data: np.ndarray
    indices: np.ndarray
    starts: np.ndarray


@compiled
def sum_nodes(nodes, feature, right, columns, sums, known):
    """Sum columns over the rows of leaves, and from there up to the root; both sums start at 0."""
    values = columns.values
    n_columns, n_known = values.shape[1], known.shape[1]
    for k in range(len(feature) - 1, -1, -1):
        if feature[k] >= 0:
            for c in range(n_columns):
                sums[k, c] = sums[k + 1, c] + sums[right[k], c]
            for c in range(n_known):
                known[k, c] = known[k + 1, c] + known[right[k], c]
            continue
        for e in range(nodes.first[k], nodes.last[k]):
            row, w = nodes.rows[e], nodes.row_weight[e]
            if columns.all_known:
                known[k, 0] += w
                for c in range(n_columns):
                    sums[k, c] += w * values[row, c]
            else:
                for c in range(n_columns):
                    z = values[row, c]
                    known[k, c] += 0.0 if z != z else w
                    sums[k, c] += 0.0 if z != z else w * z


@compiled
def add_contributions(tests, outside, columns, unseen, counts, directions, contributions):
    """Add what single rows out of bag tell of tests to ``contributions``: by test, the rows of each in their order.

    Row i with weight w adds w (z_i - nu) (mu_c(i) - mbar) in each column: a test's direction is mu_L - mu_R, and child
    L is m_R / m_t of it away from mbar.

    Parameters
    ----------
    tests : ndarray (tests, 2)
        Nodes with a test and their right children, as integers.
    outside : NodeRows
        Rows out of bag.
    columns : GainColumns
        The columns of the clustering space.
    unseen : NodeSums
        Sums over the rows out of bag.
    counts : ndarray
        Numbers of known examples out of bag, in the shape of known weights.
    directions : ndarray (tests, columns)
        mu_L - mu_R, 0 in columns that do not count.
    contributions : ndarray
        Sums, changed in place.
    """
    values = columns.values
    n_columns, n = values.shape[1], 0
    for j in range(len(tests)):
        k, right = tests[j]
        left = k + 1
        if columns.all_known:
            a, b = counts[left, 0], counts[right, 0]
            centre = 0.0
            for c in range(n_columns):
                centre += directions[j, c] * unseen.sums[k, c]
            centre /= unseen.known[k, 0]
            for e in range(outside.first[k], outside.last[k]):
                row = outside.rows[e]
                projection = 0.0
                for c in range(n_columns):
                    projection += directions[j, c] * values[row, c]
                away = b / (a + b) if e < outside.last[left] else -a / (a + b)
                contributions[n] += outside.row_weight[e] * (projection - centre) * away
                n += 1
            continue
        for e in range(outside.first[k], outside.last[k]):
            row = outside.rows[e]
            projection = 0.0
            for c in range(n_columns):
                z = values[row, c]
                if directions[j, c] == 0.0 or z != z:
                    continue
                a, b = counts[left, c], counts[right, c]
                away = b / (a + b) if e < outside.last[left] else -a / (a + b)
                projection += (z - unseen.sums[k, c] / unseen.known[k, c]) * directions[j, c] * away
            contributions[n] += outside.row_weight[e] * projection
            n += 1


class RowProducts(NamedTuple):
    """More columns than rows: products of all pairs of rows, and the columns that each feature owns."""

    z: np.ndarray  # (rows, columns), in their units of the clustering space but for the share
    products: np.ndarray  # (rows, rows)
    share: float
    starts: np.ndarray  # (features + 1,), first column of each feature


@compiled
def add_gains_of_products(tests, inside, outside, counted, columns, work, row, in_bag, contributions):
    """Add the gains of tests to ``row``, and what `add_contributions` adds to sums that are not empty.

    A direction mu_L - mu_R is a sum of the rows of the bag, so that its products with the rows out of bag are sums of
    products of pairs of rows.

    Parameters
    ----------
    tests : ndarray (tests, 3)
        Nodes with a test, their right children and their features, as integers.
    inside, outside, counted : NodeRows
        Rows of the bag, rows out of bag, and the latter with what each counts for.
    columns : RowProducts
        The columns of the clustering space.
    work : ndarray (2, rows + columns of a feature)
        Room.
    row, in_bag, contributions : ndarray
        Sums, changed in place.
    """
    n = 0
    for j in range(len(tests)):
        k, right, f = tests[j]
        left = k + 1
        start, middle, stop = outside.first[k], outside.last[left], outside.last[k]
        p = q = a = b = 0.0
        for e in range(inside.first[left], inside.last[left]):
            p += inside.row_weight[e]
        for e in range(inside.first[right], inside.last[right]):
            q += inside.row_weight[e]
        for e in range(start, middle):
            a += outside.row_weight[e]
        for e in range(middle, stop):
            b += outside.row_weight[e]
        if p <= 0.0 or q <= 0.0 or a <= 0.0 or b <= 0.0:
            n += stop - start
            continue
        for c in range(columns.starts[f], columns.starts[f + 1]):
            work[1, c - columns.starts[f]] = 0.0
        for e in range(inside.first[k], inside.last[k]):
            work[0, e] = inside.row_weight[e] / p if e < inside.last[left] else -inside.row_weight[e] / q
            for c in range(columns.starts[f], columns.starts[f + 1]):
                work[1, c - columns.starts[f]] += work[0, e] * columns.z[inside.rows[e], c]
        half = a * b / (a + b)
        one = other = 0.0
        for e in range(start, stop):
            along = projection(columns, inside, k, f, work, outside.rows[e])
            if e < middle:
                one += outside.row_weight[e] * along
            else:
                other += outside.row_weight[e] * along
            if len(contributions):
                contributions[n + e - start] += along
        row[f] += half * (one / a - other / b)
        if not len(contributions):
            continue
        centre = (one + other) / (a + b)
        n_left = n_right = 0.0
        for e in range(start, middle):
            n_left += counted.row_weight[e]
        for e in range(middle, stop):
            n_right += counted.row_weight[e]
        m = max(n_left + n_right, 2.0)
        for e in range(start, stop):
            away = n_right / (n_left + n_right) if e < middle else -n_left / (n_left + n_right)
            weight = outside.row_weight[e] * away * np.sqrt(m / (m - 1.0))
            contributions[n] = weight * (contributions[n] - centre)
            n += 1
        for e in range(inside.first[k], inside.last[k]):
            in_bag[f] += half * work[0, e] * projection(columns, inside, k, f, work, inside.rows[e])


@inlined
def projection(columns, inside, k, f, work, row):
    """Product of a row with the direction of test k, without the columns of its own feature."""
    along = 0.0
    for e in range(inside.first[k], inside.last[k]):
        along += work[0, e] * columns.products[row, inside.rows[e]]
    for c in range(columns.starts[f], columns.starts[f + 1]):
        along -= work[1, c - columns.starts[f]] * columns.z[row, c]
    return along * columns.share


@allocating
def add_contributions_by_cells(tests, outside, counted, directions, cells, labelled, owner, contributions):
    """Add what single rows out of bag add to the gains of tests, as in `add_contributions`, for sparse columns.

    Parameters
    ----------
    tests : ndarray (tests, 2)
        Nodes with a test and their features, as integers.
    outside : NodeRows
        Rows out of bag.
    counted : ndarray (2, tests)
        Numbers of known examples out of bag in the children; 0 unless all four parts of the node have known values.
    directions : CsrRows
        mu_L - mu_R of the tests.
    cells : CsrRows
        The columns in each row.
    labelled : ndarray (rows,)
        1 where columns are known in a row, else 0.
    owner : ndarray (columns,)
        Feature whose column it is, -1: of the target.
    contributions : ndarray
        Sums, changed in place.
    """
    outside, directions, cells = uncounted(outside), uncounted(directions), uncounted(cells)
    direction = np.zeros(len(owner))
    projections = np.empty(len(outside.rows))
    start = 0
    for j in range(len(tests)):
        k, f = tests[j]
        first, middle, last = outside.first[k], outside.last[k + 1], outside.last[k]
        a, b = counted[0, j], counted[1, j]
        if a > 0.0:
            for p in range(directions.starts[j], directions.starts[j + 1]):
                if owner[directions.indices[p]] != f:
                    direction[directions.indices[p]] = directions.data[p]
            known, centre = 0.0, 0.0
            for e in range(first, last):
                row = outside.rows[e]
                w = outside.row_weight[e] * labelled[row]
                total = 0.0
                for p in range(cells.starts[row], cells.starts[row + 1]):
                    total += direction[cells.indices[p]] * cells.data[p]
                projections[e] = total
                centre += w * total
                known += w
            centre /= known
            for e in range(first, last):
                w = outside.row_weight[e] * labelled[outside.rows[e]]
                away = b / (a + b) if e < middle else -a / (a + b)
                contributions[start + e - first] += w * (projections[e] - centre) * away
            for p in range(directions.starts[j], directions.starts[j + 1]):
                direction[directions.indices[p]] = 0.0
        start += last - first


@compiled
def add_by_example(sums, feature, first, last, place, contributions):
    """Add what rows tell of tests to ``sums`` (features, groups of examples).

    Test j has the feature ``feature[j]``, and its rows the groups ``place[first[j] : last[j]]``.
    """
    n = 0
    for j in range(len(feature)):
        f = feature[j]
        for e in range(first[j], last[j]):
            sums[f, place[e]] += contributions[n]
            n += 1
