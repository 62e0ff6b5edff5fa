"""What must hold for every tree, whichever kernel grew it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from draws import draws
from omnirank.data.infer import target_from
from omnirank.data.table import Table
from omnirank.tasks import clustering_columns, get_task
from omnirank.trees.kernels import spaces as kinds
from omnirank.trees.kernels.grow import grow
from omnirank.trees.kernels.labels import LabelSets
from omnirank.trees.kernels.partial_targets import DenseBlocks
from omnirank.trees.layout import LaidOut, clustering_space, code_features, feature_kind
from reference import trees_cases as cases
from reference import trees_growing as reference

few = draws(10)
random_tests = pytest.mark.parametrize("random_tests", [False, True], ids=["all-tests", "random-tests"])
whole_seeds = st.integers(0, 2**32 - 1)


def nodes(case, kind, search, seed, random_tests=False, wide=False):
    problem, weight = case
    tree = cases.grow(problem, kind, weight, search, seed, random_tests, wide)
    return cases.nodes_of(tree, problem, random_tests)


# -- kernels agree with each other -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("mixed", "random_tests"), [(False, False), (True, True)])
@few
@given(st.data())
def test_codes_of_16_and_32_bits_grow_the_same_tree(mixed, random_tests, data):
    case = data.draw(cases.problems("one", mixed, most_rows=90))
    search, seed = data.draw(cases.searches()), data.draw(cases.seeds)
    expected = nodes(case, "one", search, seed, random_tests)
    cases.assert_same(nodes(case, "one", search, seed, random_tests, wide=True), expected)


# -- gains -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@random_tests
@pytest.mark.parametrize("kind", cases.SPACES)
@few
@given(st.data())
def test_gains_add_up_to_the_impurity_lost_from_the_root_to_the_leaves(kind, random_tests, data):
    problem, weight = data.draw(cases.problems(kind, mixed=True, most_rows=60))
    search, seed = data.draw(cases.searches()), data.draw(cases.seeds)
    tree = cases.grow(problem, kind, weight, search, seed, random_tests)

    def impurity(node):
        rows = tree.rows[tree.first[node] : tree.last[node]]
        return reference.impurity(problem.columns[rows], weight[rows], problem.scale)

    leaves = np.flatnonzero(tree.feature < 0)
    lost = impurity(0) - sum(impurity(leaf) for leaf in leaves)
    assert tree.gain[tree.feature >= 0].sum() == pytest.approx(lost, rel=1e-7, abs=1e-9 * impurity(0))
    assert (tree.gain[tree.feature >= 0] > 0).all()
    assert (tree.weight[leaves] >= search.min_leaf - 1e-9).all() or len(leaves) == 1
    assert sorted(tree.rows) == np.flatnonzero(weight > 0).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("kind", cases.SPACES)
@few
@given(st.data())
def test_bootstrap_counts_are_repeated_rows(kind, data):
    problem, weight = data.draw(cases.problems(kind, mixed=True))
    counts = np.ceil(weight).astype(int)
    repeated = problem._replace(
        features=[np.repeat(x, counts) for x in problem.features],
        columns=np.repeat(problem.columns, counts, axis=0),
        training_weight=np.ones(counts.sum()),
    )
    known = (counts[:, None] * ~np.isnan(problem.columns)).sum(axis=0)
    assume((known > 0).all())
    problem = problem._replace(training_weight=counts.astype(float))
    search, seed = data.draw(cases.searches())._replace(first_tie=True), data.draw(cases.seeds)
    expected = nodes((problem, counts.astype(float)), kind, search, seed)
    cases.assert_same(nodes((repeated, np.ones(counts.sum())), kind, search, seed), expected)


# -- constant targets ------------------------------------------------------------------------------------


def constant_spaces(rng, n):
    values = rng.normal(size=8)
    known = np.ones((2, n))
    known[1] = rng.random(n) < 0.5
    yield kinds.OneColumn(np.full(n, values[0]))
    yield kinds.DenseColumns(np.tile(values, (n, 1)))
    yield DenseBlocks(np.ascontiguousarray(known.T * values[:2]), np.arange(3), known)
    both = np.tile(np.array([0, 2], np.uint32), n)  # every row has the labels 0 and 2 of 3
    yield LabelSets(2 * np.arange(n + 1, dtype=np.uint32), both, np.abs(values[:3]))


@pytest.mark.slow
@few
@given(whole_seeds, st.integers(1, 80))
def test_a_constant_root_is_not_split_on_rounding_errors(seed, n):
    rng = np.random.default_rng(seed)
    problem = reference.Problem([rng.normal(size=n), rng.normal(size=n)], [0, 0], None, None, None)
    for space in constant_spaces(rng, n):
        tree = cases.grow(problem, space, rng.random(n) + 0.1, cases.settings(min_leaf=0.1), seed)
        assert len(tree.feature) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", cases.SPACES)
@few
@given(st.data())
def test_a_constant_node_is_never_split(kind, data):
    problem, weight = data.draw(cases.problems(kind, mixed=True, most_rows=40))
    tree = cases.grow(problem, kind, weight, cases.settings(min_leaf=0.25), data.draw(cases.seeds))
    for node in np.flatnonzero(tree.feature >= 0):
        rows = tree.rows[tree.first[node] : tree.last[node]]
        assert not reference.is_constant(problem.columns[rows])


# -- the way from the data to the kernels ----------------------------------------------------------------


def first_tree(table, y, task, seed, random_tests=False):
    target = target_from(y, task=task)[0]
    columns = get_task(task).columns(target)
    clustering = clustering_columns(columns)
    assume(len(clustering.columns) > 0)
    space = clustering_space(columns, clustering)
    if random_tests:
        cells = LaidOut(table, feature_kind(table, None, space, 3, random_tests)[0]).cells
    else:
        cells = code_features(table).cells()
    return grow(space, cells, np.ones(table.n_rows), cases.settings(min_leaf=2), np.uint64(seed))


def assert_same_tests(a, b):
    for part in ("feature", "cut", "right", "missing_left", "low_row", "high_row", "depth", "subsets"):
        np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    np.testing.assert_allclose(a.gain, b.gain, rtol=1e-6, atol=1e-9 * a.gain.max(initial=0.0))


def mixed_table(rng, n, offset=0.0):
    columns = [
        rng.integers(-3, 4, n) * 0.5 + offset,
        rng.integers(0, 5, n),
        np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n)) + offset,
    ]
    return Table.from_columns(["a", "b", "c"], columns, [None, tuple("uvwxy"), None])


@random_tests
@few
@given(whole_seeds, st.integers(5, 60), st.booleans())
def test_an_offset_changes_no_split(random_tests, seed, n, unknown):
    targets = np.random.default_rng(seed).integers(0, 7, (n, 2)) * 0.25
    if unknown:
        targets[: n // 3, 1] = np.nan
    task = "multi-target-regression"
    plain = first_tree(mixed_table(np.random.default_rng(seed), n), targets, task, seed, random_tests)
    moved = first_tree(
        mixed_table(np.random.default_rng(seed), n, 1e6), targets + np.array([1e6, -1e6]), task, seed, random_tests
    )
    assert_same_tests(plain, moved)


@few
@given(whole_seeds, st.integers(5, 60))
def test_labels_as_numbers_and_as_nominals_give_the_same_tree(seed, n):
    rng = np.random.default_rng(seed)
    table = mixed_table(rng, n)
    y = rng.integers(0, 2, (n, 1))
    as_numbers = first_tree(table, y[:, 0].astype(float), "regression", seed)
    as_classes = first_tree(table, np.where(y[:, 0], "yes", "no"), "classification", seed)
    assert_same_tests(as_numbers, as_classes)


@few
@given(whole_seeds, st.integers(5, 60))
def test_label_sets_as_numbers_and_as_nominals_give_the_same_tree(seed, n):
    rng = np.random.default_rng(seed)
    table = mixed_table(rng, n)
    y = (rng.random((n, 3)) < 0.4).astype(int)
    frame = pd.DataFrame({f"y{j}": np.where(y[:, j], "yes", "no") for j in range(3)})
    as_labels = first_tree(table, y, "multi-label", seed)
    assert_same_tests(as_labels, first_tree(table, y.astype(float), "multi-target-regression", seed))
    assert_same_tests(as_labels, first_tree(table, frame, "multi-target-classification", seed))
