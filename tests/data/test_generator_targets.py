"""Targets of generated data: classes, labels, hierarchies, and where scores are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnirank import datasets
from omnirank.data.generated import cut
from omnirank.data.hierarchy import Hierarchy

# -- targets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_classes_are_of_equal_size_and_named(n_classes):
    data, _ = datasets.make_classification(70 * n_classes, n_classes=n_classes, random_state=0)
    names = [f"c{k}" for k in range(1, n_classes + 1)]
    assert data.describe()["classes"] == dict.fromkeys(names, 70)


def test_class_numbers_do_not_follow_the_score():
    made = [
        datasets.make_classification(200, n_relevant=1, n_classes=4, noise=0.0, shuffle=False, random_state=i)
        for i in range(20)
    ]
    orders = set()
    for data, _ in made:
        codes = data.target.values[:, 0]
        orders.add(tuple(np.argsort([data.X[codes == k, 0].mean() for k in range(4)])))
    assert len(orders) > 5


def test_number_of_classes_of_each_target():
    data, _ = datasets.make_multi_target_classification(n_targets=3, n_classes=(2, 3, 5), random_state=0)
    assert [len(levels) for levels in data.target.levels] == [2, 3, 5]
    assert [np.unique(data.target.values[:, i]).size for i in range(3)] == [2, 3, 5]
    data, _ = datasets.make_multi_target_classification(n_targets=4, n_classes=2, random_state=0)
    assert data.task == "multi-target-classification"
    assert data.y.shape == (200, 4)


def test_mixed_targets_are_numbers_and_classes():
    data, _ = datasets.make_mixed_targets(n_numeric=3, n_nominal=1, n_classes=4, random_state=0)
    assert data.target.is_nominal.tolist() == [False, False, False, True]
    assert np.unique(data.target.values[:, 0]).size == 200
    assert set(np.unique(data.target.values[:, 3])) == {0, 1, 2, 3}


def test_targets_differ():
    data, _ = datasets.make_multi_target_regression(1000, n_targets=4, random_state=0)
    correlation = np.corrcoef(data.y.T) - np.eye(4)
    assert np.abs(correlation).max() < 0.99


@pytest.mark.parametrize("density", [0.05, 0.3, 0.8])
def test_label_density(density):
    data, _ = datasets.make_multi_label(200, n_labels=6, label_density=density, random_state=0)
    assert np.allclose(data.y.mean(axis=0), density)
    assert data.target_names == tuple(f"label{i}" for i in range(1, 7))


@pytest.mark.parametrize("kind", ["tree", "dag"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_label_sets_are_closed_under_the_hierarchy(kind, sparse, missing):
    data, _ = datasets.make_hierarchical_multi_label(
        n_labels=25, hierarchy=kind, sparse=sparse, missing_targets=missing, labelled=150, random_state=0
    )
    assert data.hierarchy.is_tree == (kind == "tree")
    assert data.target_names == data.hierarchy.labels
    values = data.target.dense()[data.labelled]
    for child, above in enumerate(data.hierarchy.parents):
        for parent in above:
            both = ~np.isnan(values[:, child]) & ~np.isnan(values[:, parent])
            assert (values[both, child] <= values[both, parent]).all()
            assert not np.isnan(values[values[:, child] == 1, parent]).any(), "a known 1 settles its ancestors"
            assert not np.isnan(values[values[:, parent] == 0, child]).any(), "a known 0 settles its descendants"
    assert (np.nansum(values, axis=0) > 0).mean() > 0.8
    assert np.isnan(values).any() == (missing > 0)


@pytest.mark.parametrize("kind", ["tree", "dag"])
def test_density_holds_among_the_examples_with_all_parents(kind):
    data, _ = datasets.make_hierarchical_multi_label(
        1000, n_labels=12, hierarchy=kind, label_density=0.4, random_state=0
    )
    for child, above in enumerate(data.hierarchy.parents):
        allowed = data.y[:, list(above)].all(axis=1)
        assert abs(data.y[allowed, child].mean() - 0.4) < 0.5 / allowed.sum() + 1e-9


def test_generated_hierarchies():
    tree, _ = datasets.make_hierarchical_multi_label(n_labels=39, random_state=0)
    assert tree.hierarchy.roots.tolist() == [0, 1, 2]
    assert sorted(tree.hierarchy.depth.tolist()) == [0] * 3 + [1] * 9 + [2] * 27
    dag, _ = datasets.make_hierarchical_multi_label(n_labels=39, hierarchy="dag", random_state=0)
    assert np.array_equal(dag.hierarchy.depth, tree.hierarchy.depth)
    assert sum(len(above) == 2 for above in dag.hierarchy.parents) == 18
    small, _ = datasets.make_hierarchical_multi_label(n_labels=4, hierarchy="dag", random_state=0)
    assert len(small.hierarchy.parents[3]) == 2
    assert len(datasets.make_hierarchical_multi_label(n_labels=1)[0].hierarchy) == 1


def test_a_hierarchy_of_ones_own():
    own = Hierarchy.from_paths(["b/c", "a", "b"])
    data, _ = datasets.make_hierarchical_multi_label(hierarchy=own, random_state=0)
    assert data.hierarchy is own
    assert (data.y[:, 0] <= data.y[:, 2]).all()
    assert data.y.sum(axis=0).tolist() == [50, 100, 100]


@given(
    st.lists(
        st.sampled_from([0.0, 0.5, 0.25, 1e-3, 2.0, 3.0]) | st.floats(-5, 5).map(lambda v: round(v, 6)),
        min_size=1,
        max_size=30,
    ),
    st.lists(st.floats(0.01, 0.99), min_size=1, max_size=5).map(sorted),
)
def test_cut_makes_intervals_of_which_none_is_empty(scores, shares):
    scores = np.array(scores)
    codes = cut(scores, shares)
    if np.unique(scores).size <= len(shares):
        assert codes is None
        return
    assert set(codes) == set(range(len(shares) + 1))
    order = np.argsort(scores)
    assert (np.diff(codes[order]) >= 0).all()
    for value in np.unique(scores):
        assert np.unique(codes[scores == value]).size == 1


def test_cut_takes_the_nearest_possible_cuts():
    assert cut(np.arange(10.0), [0.3, 0.9]).tolist() == [0] * 3 + [1] * 6 + [2]
    assert cut(np.array([1.0, 1.0, 1.0, -1.0]), [0.5]).tolist() == [1, 1, 1, 0]
    assert cut(np.array([0.1 + 0.2, 0.3, 1.0]), [0.3]).tolist() == [0, 0, 1]


def test_parity_alone_makes_exact_classes():
    data, _ = datasets.make_classification(
        301, n_relevant=0, n_interacting=2, n_irrelevant=0, noise=0.0, shuffle=False, random_state=4
    )
    parity = np.sign(data.X).prod(axis=1)
    assert abs(np.corrcoef(parity, data.target.values[:, 0])[0, 1]) == pytest.approx(1)
