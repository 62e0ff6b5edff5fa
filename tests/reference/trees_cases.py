"""Random problems for the tree kernels, and kernels' trees in the words of the reference."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from omnirank.core.kernels.vector import PLAIN
from omnirank.data.table import Table
from omnirank.trees import layout as spaces
from omnirank.trees.kernels import grow as kernels
from omnirank.trees.kernels.partial_targets import DenseBlocks
from omnirank.trees.kernels.search_all import Settings
from omnirank.trees.kernels.spaces import DenseColumns, GramColumns, OneColumn
from omnirank.trees.layout import LaidOut, code_features, feature_kind
from reference import trees_growing as reference
from reference.trees_growing import Node, Problem

SPACES = ("one", "dense", "blocks", "labels")
EVERY_DEPTH = 10**6


def settings(max_features=EVERY_DEPTH, min_leaf=1.0, max_depth=EVERY_DEPTH, first_tie=False):
    return Settings(max_features, float(min_leaf), max_depth, first_tie)


# -- random problems -------------------------------------------------------------------------------------


def numeric_feature(rng, n, missing):
    """A number a row, from a few values (ties) or many."""
    few = rng.integers(2) == 0
    cells = rng.integers(0, rng.integers(1, 5), n) * 0.5 - 1 if few else rng.normal(size=n)
    cells = cells.astype(float)
    cells[rng.random(n) < missing] = np.nan
    return cells


def nominal_feature(rng, n, n_levels, missing):
    cells = rng.integers(0, n_levels, n).astype(np.int32)
    cells[rng.random(n) < missing] = -1
    return cells


def target_columns(rng, kind, n, missing=0.3):
    """Target columns for a kind of space."""
    if kind == "one":
        return numeric_feature(rng, n, 0.0)[:, None]
    if kind == "labels":
        return (rng.random((n, rng.integers(1, 7))) < rng.uniform(0.1, 0.7)).astype(float)
    n_columns = int(rng.integers(2, 5)) if kind in ("dense", "gram") else int(rng.integers(1, 5))
    columns = np.column_stack([numeric_feature(rng, n, 0.0) for _ in range(n_columns)])
    if kind == "blocks":
        for c in range(n_columns):
            if c == 0 or rng.integers(2):  # else the pattern of the column before
                unknown = rng.random(n) < missing
                unknown[rng.integers(n)] = False
            columns[unknown, c] = np.nan
    return columns


def row_weights(rng, n):
    """Weights that add up exactly: ones, bootstrap counts or quarters."""
    choice = rng.integers(3)
    if choice == 0:
        return np.ones(n)
    weight = rng.integers(0, 4, n) if choice == 1 else rng.integers(0, 9, n) / 4
    weight[rng.integers(n)] = 1
    return weight.astype(float)


@st.composite
def problems(draw, kind, mixed, most_rows=16):
    """A problem and the weights of its rows."""
    n = draw(st.integers(1, most_rows))
    n_features = draw(st.integers(1, 4))
    missing = draw(st.sampled_from([0.0, 0.3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_levels = [int(rng.integers(2, 7)) if mixed and rng.integers(3) else 0 for _ in range(n_features)]
    if mixed:
        n_levels[0] = 5
    features = [
        nominal_feature(rng, n, size, missing) if size else numeric_feature(rng, n, missing) for size in n_levels
    ]
    columns = target_columns(rng, kind, n)
    lambdas = rng.integers(1, 5, columns.shape[1]) / 2
    weight = row_weights(rng, n)
    training = weight if draw(st.booleans()) else np.ones(n)
    known = (~np.isnan(columns) * training[:, None]).sum(axis=0) > 0
    if not known.all():  # a column without known values has no K0
        columns, lambdas = columns[:, known], lambdas[known]
        if not known.any():
            columns, lambdas = np.zeros((n, 1)), np.ones(1)
    return Problem(features, n_levels, columns, lambdas, training), weight


@st.composite
def searches(draw):
    """Settings of a search."""
    return settings(
        draw(st.sampled_from([1, 2, EVERY_DEPTH])),
        draw(st.sampled_from([1.0, 2.0, 0.25])),
        draw(st.sampled_from([EVERY_DEPTH, 1, 3])),
        draw(st.booleans()),
    )


seeds = st.integers(0, 2**64 - 1).map(np.uint64)


# -- kernels ---------------------------------------------------------------------------------------------


def coded(problem, space, random_tests=False, wide=False):
    """Features as the package codes them for its kernels, or with 32-bit codes; few are drawn as many are."""
    levels = [tuple(range(size)) if size else None for size in problem.n_levels]
    table = Table.from_columns([f"x{i}" for i in range(len(levels))], problem.features, levels)
    if random_tests:
        dense = isinstance(space, OneColumn | DenseColumns) and not PLAIN
        by_row = dense and not table.n_missing and not any(problem.n_levels)
        kind = "RowDraws" if by_row else feature_kind(table, None, space, len(levels), random_tests=True)[0]
        cells = LaidOut(table, kind).cells
    else:
        cells = code_features(table).cells()
    if not wide:
        return cells
    codes = cells.codes.astype(np.uint32)
    missing = np.uint32(np.iinfo(np.uint32).max)
    codes[cells.codes == cells.missing] = missing
    wider = {"codes": codes, "missing": missing, "packed": np.zeros(0, np.uint64)}
    if "by_row" in cells._fields:
        wider["by_row"] = np.ascontiguousarray(codes.T)
    return cells._replace(**wider)


def space_of(problem, kind):
    """The clustering space of a kind, built as the package builds it."""
    scale, weight = np.sqrt(problem.lambdas), problem.training_weight
    if kind == "labels":
        return spaces._label_sets(sparse.csr_array(problem.columns), scale)
    if kind == "single blocks":
        return single_blocks(problem)
    if kind == "blocks":
        return spaces._blocks(problem.columns, ~np.isnan(problem.columns), scale, weight)
    one = "OneColumn" if problem.columns.shape[1] == 1 else "DenseColumns"
    space = spaces._all_known(one, problem.columns, scale, weight)
    if kind == "gram":
        z = np.atleast_2d(space.z.T).T
        return GramColumns(np.ascontiguousarray(z), z @ z.T, 1.0)
    if kind == "dense" and not isinstance(space, DenseColumns):
        return DenseColumns(spaces._padded(space.z[:, None]))
    return space


def single_blocks(problem):
    """Every column as a block of its own, whatever its pattern of unknown values."""
    parts = [
        spaces._blocks(cells[:, None], ~np.isnan(cells[:, None]), np.sqrt([size]), problem.training_weight)
        for cells, size in zip(problem.columns.T, problem.lambdas, strict=True)
    ]
    z = np.ascontiguousarray(np.hstack([part.z for part in parts]))
    return DenseBlocks(z, np.arange(z.shape[1] + 1), np.vstack([part.known for part in parts]))


def grow(problem, kind, weight, search, seed, random_tests=False, wide=False):
    """Grow a tree with the kernels; returns their arrays."""
    space = kind if not isinstance(kind, str) else space_of(problem, kind)
    features = coded(problem, space, random_tests, wide)
    return kernels.grow(space, features, weight, search, np.uint64(seed))


def nodes_of(tree, problem, random_tests=False):
    """Nodes of a kernel's tree in the words of the reference."""
    nodes = []
    for i, f in enumerate(tree.feature):
        weight, depth = float(tree.weight[i]), int(tree.depth[i])
        if f < 0:
            nodes.append(Node(None, None, None, None, 0.0, weight, depth))
            continue
        threshold = subset = None
        size = problem.n_levels[f]
        if size:
            words = [int(word) for word in tree.subsets[tree.cut[i] : tree.cut[i] + -(-size // 64)]]
            subset = frozenset(v for v in range(size) if words[v // 64] >> (v % 64) & 1)
        elif random_tests:
            threshold = float(tree.drawn[i])
        else:
            low, high = problem.features[f][[tree.low_row[i], tree.high_row[i]]]
            threshold = (low + high) / 2
        missing_left = bool(tree.missing_left[i])
        nodes.append(Node(int(f), threshold, subset, missing_left, float(tree.gain[i]), weight, depth))
    return nodes


def assert_same(found, expected, gains=True):
    """Node by node: tests exactly, gains and weights to rounding."""
    assert [node.feature for node in found] == [node.feature for node in expected]
    least = 1e-9 * max((node.gain for node in expected), default=0.0)
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        where = f"node {i}: {a} instead of {b}"
        assert (a.subset, a.missing_left, a.depth) == (b.subset, b.missing_left, b.depth), where
        if b.threshold is not None:
            assert np.isclose(a.threshold, b.threshold, rtol=1e-12, atol=1e-12), where
        assert np.isclose(a.weight, b.weight, rtol=1e-12), where
        if gains:
            assert np.isclose(a.gain, b.gain, rtol=1e-7, atol=least), where


def assert_same_bits(found, expected, gains=True):
    """All parts of two grown trees; gains may differ by rounding, where sums are added up in another order."""
    for name, one, other in zip(found._fields, found, expected, strict=True):
        if name == "gain" and not gains:
            np.testing.assert_allclose(one, other, rtol=1e-9)
        else:
            np.testing.assert_array_equal(one, other, name)


def agree(case, kind, search, seed, random_tests=False):
    """Grow the same tree with the kernels and by the reference, and compare them."""
    problem, weight = case
    tree = grow(problem, kind, weight, search, seed, random_tests)
    expected = reference.grow(problem, weight, search, seed, random_tests)
    assert_same(nodes_of(tree, problem, random_tests), expected)
