"""Measures of classes, numbers and features: against scikit-learn and worked examples, and where they are undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from draws import draws
from omnirank import measures
from omnirank.measures.variables import exact_match
from reference import measures as reference


@pytest.mark.slow
@given(st.integers(2, 5), st.integers(1, 40), st.integers(0, 2**32 - 1))
@draws(15)
def test_measures_of_confusion_as_in_scikit_learn(n_classes, n, seed):
    random = np.random.default_rng(seed)
    codes, frequencies = random.integers(0, n_classes, n), random.random((n, n_classes))
    predicted = frequencies.argmax(axis=1)
    confusion = measures.confusion_matrix(codes, frequencies)
    expected = metrics.confusion_matrix(codes, predicted, labels=range(n_classes))
    np.testing.assert_array_equal(confusion, expected)
    expected = {
        "accuracy": metrics.accuracy_score(codes, predicted),
        "f1_macro": metrics.f1_score(codes, predicted, average="macro", zero_division=0),
        "balanced_accuracy": metrics.recall_score(
            codes, predicted, average="macro", labels=np.unique(codes), zero_division=0
        ),
    }
    if len(np.unique(codes)) > 1:
        expected["kappa"] = metrics.cohen_kappa_score(codes, predicted)
        expected["mcc"] = metrics.matthews_corrcoef(codes, predicted)
    else:
        expected |= dict.fromkeys(("f1_macro", "balanced_accuracy", "kappa", "mcc"), np.nan)
    found = measures.confusion_measures(confusion)
    assert found == pytest.approx(expected, nan_ok=True)
    shares = frequencies / frequencies.sum(axis=1, keepdims=True)
    expected_loss = metrics.log_loss(codes, shares, labels=range(n_classes))
    assert measures.log_loss(codes, frequencies) == pytest.approx(expected_loss)


def test_unknown_classes_are_left_out_and_ties_go_to_the_first():
    confusion = measures.confusion_matrix([0, -1, 1], [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]])
    assert confusion.tolist() == [[1, 0], [1, 0]]


def test_area_of_classes_as_in_scikit_learn():
    random = np.random.default_rng(2)
    codes, frequencies = random.integers(0, 3, 50), random.random((50, 3)).round(1) + 0.1
    shares = frequencies / frequencies.sum(axis=1, keepdims=True)
    expected = metrics.roc_auc_score(codes, shares, multi_class="ovr", average="macro")
    assert measures.class_auroc(codes, shares) == pytest.approx(expected)
    two = (codes > 0).astype(int)
    expected = metrics.roc_auc_score(two, shares[:, 1])
    assert measures.class_auroc(two, np.column_stack([1 - shares[:, 1], shares[:, 1]])) == pytest.approx(expected)


def test_one_class():
    frequencies = [[0.9, 0.1], [0.8, 0.2]]
    confusion = measures.confusion_matrix([0, 0], frequencies)
    found = measures.confusion_measures(confusion)
    assert found.pop("accuracy") == 1.0
    assert np.isnan([*found.values(), measures.class_auroc([0, 0], frequencies)]).all()
    assert measures.log_loss([0, 0], [[1.0], [1.0]]) == 0.0


def test_an_example_is_right_where_all_its_known_classes_are():
    """Of four examples: both classes right, one right and one unknown, one wrong and one unknown, both unknown."""
    first = np.array([0, 1, 1, -1]), np.eye(2)[[0, 1, 0, 1]]
    second = np.array([1, -1, -1, -1]), np.eye(2)[[1, 0, 0, 0]]
    assert exact_match([first, second]) == pytest.approx(2 / 3)


def test_no_known_class():
    empty = measures.confusion_measures(np.zeros((2, 2)))
    assert all(np.isnan(value) for value in empty.values())
    assert np.isnan(measures.class_auroc([-1], [[0.5, 0.5]]))
    assert np.isnan(measures.log_loss([-1], [[0.5, 0.5]]))


def test_log_loss_of_impossible_and_silent_predictions():
    assert measures.log_loss([1], [[1.0, 0.0]]) == pytest.approx(-np.log(np.finfo(float).eps))
    assert measures.log_loss([1], [[0.0, 0.0]]) == pytest.approx(np.log(2))


# -- numbers --------------------------------------------------------------------------------------

cells = st.one_of(st.none(), st.integers(-3, 3))


@given(st.integers(1, 8).flatmap(lambda n: st.lists(st.tuples(*[cells] * n), min_size=1, max_size=4)), st.data())
@draws(15)
def test_rrmse_with_unknown_values(columns, data):
    n = len(columns[0])
    predicted = [data.draw(st.tuples(*[st.integers(-3, 3)] * n)) for _ in columns]
    spreads = [data.draw(st.sampled_from([0.0, 0.5, 2.0])) for _ in columns]
    truth = np.array([[np.nan if v is None else v for v in column] for column in columns], dtype=float).T
    made = np.array(predicted, dtype=float).T
    expected = reference.rrmse(columns, predicted, spreads)
    assert measures.rrmse(truth, made, spreads) == pytest.approx(expected, nan_ok=True)
    own = [reference.variance(column) for column in columns]
    own = [0.0 if spread < 1e-12 else spread for spread in own]
    assert measures.rrmse(truth, made) == pytest.approx(reference.rrmse(columns, predicted, own), nan_ok=True)


def test_numbers_as_in_scikit_learn():
    random = np.random.default_rng(5)
    truth, predicted = random.normal(size=(30, 3)), random.normal(size=(30, 3))
    assert measures.rmse(truth, predicted) == pytest.approx(metrics.root_mean_squared_error(truth, predicted))
    assert measures.mae(truth, predicted) == pytest.approx(metrics.mean_absolute_error(truth, predicted))
    assert measures.r2(truth, predicted) == pytest.approx(metrics.r2_score(truth, predicted))
    by_target = measures.rrmse_by_target(truth, predicted)
    squares = metrics.r2_score(truth, predicted, multioutput="raw_values")
    np.testing.assert_allclose(by_target, np.sqrt(1 - squares))


def test_constant_targets_are_left_out():
    truth = np.array([[0.1, 0.0], [0.1, 2.0], [0.1, 4.0]])
    predicted = np.array([[7.0, 2.0], [7.0, 2.0], [7.0, 2.0]])
    assert measures.rrmse(truth, predicted) == pytest.approx(1.0)
    assert measures.r2(truth, predicted) == pytest.approx(0.0)
    assert np.isnan(measures.rrmse(truth[:, :1], predicted[:, :1]))
    assert np.isnan(measures.r2(truth[:, :1], predicted[:, :1]))
    assert measures.rmse(truth[:, :1], predicted[:, :1]) == pytest.approx(6.9)


# -- areas ----------------------------------------------------------------------------------------
