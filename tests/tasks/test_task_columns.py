"""Clustering columns: weighted variances of columns are the impurities of the definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.target import Target
from omnirank.tasks import clustering_columns, get_task, prototype_columns
from reference import tasks_impurity as reference

NAN = np.nan


def impurity(columns, clustering, rows):
    """sum_c lambda_c Var(E, z_c) as the trees compute it, on the chosen columns only."""
    values = columns.dense()[rows][:, clustering.columns]
    return sum(w * reference.variance(list(z)) for w, z in zip(clustering.weights, values.T, strict=True))


def cells_of(target):
    """Columns as lists with None for unknown."""
    return [[None if np.isnan(v) else v for v in column] for column in target.dense().T]


numbers = st.one_of(st.just(NAN), st.sampled_from([0.0, 1.0, 2.5, -3.0]))
classes = st.one_of(st.none(), st.sampled_from(["u", "v", "w"]))


@st.composite
def targets(draw):
    """A target of any task, with its task."""
    n = draw(st.integers(1, 8))
    column = {"number": st.lists(numbers, min_size=n, max_size=n), "class": st.lists(classes, min_size=n, max_size=n)}
    labels = st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=3, max_size=3)
    task = draw(
        st.sampled_from(["regression", "multi-target-regression", "classification", "mixed-targets", "multi-label"])
    )
    if task == "multi-label":
        matrix = np.array(draw(st.lists(labels, min_size=n, max_size=n)))
        y = sparse.csr_array(matrix) if draw(st.booleans()) else matrix
        return target_from(y, task=task)[0], task
    kinds = {"regression": ["number"], "classification": ["class"], "multi-target-regression": ["number"] * 3}
    chosen = kinds.get(task, ["number", "class", "class"])
    frame = pd.DataFrame({f"t{i}": draw(column[kind]) for i, kind in enumerate(chosen)})
    for i, kind in enumerate(chosen):
        frame[f"t{i}"] = frame[f"t{i}"].astype(pd.CategoricalDtype(["u", "v", "w"]) if kind == "class" else float)
    return target_from(frame, task=task)[0], task


# -- against the definitions --------------------------------------------------------------------------


@pytest.mark.slow
@given(targets(), st.booleans(), st.data())
def test_weighted_variances_are_the_impurity_of_the_definition(target_and_task, normalize, data):
    target, task = target_and_task
    columns = get_task(task).columns(target)
    clustering = clustering_columns(columns, normalize=normalize)
    rows = np.array(data.draw(st.lists(st.integers(0, target.n_examples - 1), max_size=8)), int)
    train = cells_of(target)
    part = [[column[i] for i in rows] for column in train]
    nominal = target.is_nominal.tolist()
    expected = reference.impurity(part, train, nominal, normalize=normalize)
    assert impurity(columns, clustering, rows) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@given(targets())
def test_impurity_of_the_training_set_is_one_or_all_is_constant(target_and_task):
    target, task = target_and_task
    columns = get_task(task).columns(target)
    clustering = clustering_columns(columns)
    total = impurity(columns, clustering, slice(None))
    varies = any(len(set(reference.known(column))) > 1 for column in cells_of(target))
    assert total == pytest.approx(1.0 if varies else 0.0, abs=1e-12)
    assert (len(clustering.columns) > 0) == varies
    assert np.all(clustering.weights > 0)


@pytest.mark.slow
@given(targets())
def test_variances_and_gini_indices(target_and_task):
    target, task = target_and_task
    columns = get_task(task).columns(target)
    expected = [
        (reference.gini if nominal else reference.variance)(column)
        for column, nominal in zip(cells_of(target), target.is_nominal, strict=True)
    ]
    assert columns.impurity == pytest.approx(expected, abs=1e-12)
    assert columns.variance == pytest.approx([reference.variance(list(z)) for z in columns.dense().T], abs=1e-12)


@pytest.mark.slow
@given(targets(), st.data())
def test_sample_weights_are_repeated_rows(target_and_task, data):
    target, task = target_and_task
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=target.n_examples, max_size=target.n_examples)))
    weighted = clustering_columns(get_task(task).columns(target), sample_weight=counts.astype(float))
    repeated = target.take(np.repeat(np.arange(target.n_examples), counts))
    plain = clustering_columns(get_task(task).columns(repeated))
    assert weighted.columns.tolist() == plain.columns.tolist()
    assert weighted.weights == pytest.approx(plain.weights)


# -- the choice of columns ----------------------------------------------------------------------------


def test_constant_variables_are_dropped_and_not_counted():
    values = np.array([[1.5, 7.0, NAN, 0.0], [2.5, 7.0, 3.0, 4.0]])
    clustering = clustering_columns(prototype_columns(target_from(values)[0]))
    assert clustering.columns.tolist() == [0, 3]
    assert clustering.weights == pytest.approx([0.5 / 0.25, 0.5 / 4.0])
    nothing = clustering_columns(prototype_columns(target_from(np.full((3, 2), 1.5))[0]))
    assert len(nothing.columns) == len(nothing.weights) == 0


def test_constant_column_whose_mean_is_rounded_is_constant():
    values = np.full((3, 1), 0.1)
    assert values.mean() != 0.1
    assert prototype_columns(Target.numeric(values, ["t"])).variance.tolist() == [0.0]


def test_target_of_weight_zero_is_left_out():
    columns = prototype_columns(target_from(np.array([[0.5, 1], [1, 2]]))[0], weights=np.array([0.0, 2.0]))
    assert clustering_columns(columns).columns.tolist() == [1]


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_hierarchy_weights(make):
    hierarchy = Hierarchy.from_paths(["a", "a/b", "c"])
    values = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]])
    target, task = target_from(make(values.astype(float)), hierarchy=hierarchy)
    columns = get_task(task).columns(target, hierarchy, w0=0.5)
    assert columns.weights.tolist() == [1.0, 0.5, 1.0]
    clustering = clustering_columns(columns)
    assert clustering.weights == pytest.approx([1 / 2.5 / (1 / 4), 0.5 / 2.5 / (3 / 16), 1 / 2.5 / (3 / 16)])
    plain = clustering_columns(columns, normalize=False)
    assert plain.weights == pytest.approx([1 / 2.5, 0.5 / 2.5, 1 / 2.5])
    train = values.T.tolist()
    for rows in ([0, 1], [1, 2, 3]):
        expected = reference.impurity([[c[i] for i in rows] for c in train], train, [False] * 3, [1, 0.5, 1])
        assert impurity(columns, clustering, rows) == pytest.approx(expected)


# -- numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_offsets_do_not_spoil_variances(offset, dtype):
    values = (np.array([[0.0], [0.25], [0.5], [1.25]]) + offset).astype(dtype)
    columns = prototype_columns(target_from(values, task="regression")[0])
    assert columns.variance[0] == pytest.approx(0.21875, rel=1e-9)
    clustering = clustering_columns(columns)
    assert impurity(columns, clustering, slice(None)) == pytest.approx(1.0, rel=1e-12)


def test_a_label_that_only_light_examples_lack_keeps_its_variance():
    target = Target.labels(sparse.csr_array([[1.0, 1.0], [1.0, np.nan], [0.0, 0.0]]), ["a", "b"])
    columns, weight = get_task("multi-label").columns(target), np.array([1.0, 1e12, 1e-2])
    clustering = clustering_columns(columns, weight)
    exact = np.array([1e12 * 1e-2 / 1e24, 1e-2 / 1.01**2])
    np.testing.assert_allclose(clustering.weights * exact, 0.5, rtol=1e-9)


def test_thousands_of_sparse_labels_are_not_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    values = sparse.csr_array(rng.random((1600, 4125)) < 0.005)
    target, task = target_from(values)
    for name in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_array, name, lambda *_, **__: pytest.fail("made dense"))
    columns = get_task(task).columns(target)
    clustering = clustering_columns(columns)
    assert (clustering.weights * columns.variance[clustering.columns]).sum() == pytest.approx(1.0)


def test_labels_of_a_hierarchy_are_divided_by_one_number():
    hierarchy = Hierarchy.from_paths(["a", "a/b", "c"])
    target, _ = target_from([{"a/b"}, {"a"}, {"a"}, {"c"}, {"a"}, {"c"}, {"a"}, {"c"}], hierarchy=hierarchy)
    task = get_task("hierarchical-multi-label")
    columns = task.columns(target, hierarchy)
    weight = np.arange(1.0, 9.0)
    own, plain, each = (task.clustering(columns, weight, choice) for choice in (None, False, True))
    np.testing.assert_allclose(own.weights / own.weights.sum(), plain.weights / plain.weights.sum())
    assert not np.allclose(own.weights / own.weights.sum(), each.weights / each.weights.sum())
    variance = [np.cov(column, aweights=weight, bias=True) for column in columns.dense().T]
    assert own.weights @ variance == pytest.approx(1.0)
    flat = get_task("multi-label")
    np.testing.assert_array_equal(flat.clustering(columns, weight).weights, each.weights)
