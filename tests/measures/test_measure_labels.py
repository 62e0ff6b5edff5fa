"""Measures of label sets: against scikit-learn, against plain loops with unknown labels, and worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics

from draws import draws
from omnirank import measures
from omnirank.errors import DataError, ParameterError
from reference import measures as reference

SAMPLE_MEASURES = ("jaccard_samples", "precision_samples", "recall_samples", "f1_samples", "subset_accuracy")


@st.composite
def label_problems(draw, unknown=False):
    n, n_labels = draw(st.integers(1, 12)), draw(st.integers(2, 6))
    values = [0, 1, None] if unknown else [0, 1]
    truth = draw(
        st.lists(st.lists(st.sampled_from(values), min_size=n_labels, max_size=n_labels), min_size=n, max_size=n)
    )
    scores = draw(st.lists(st.lists(st.integers(0, 4), min_size=n_labels, max_size=n_labels), min_size=n, max_size=n))
    return truth, [[score / 4 for score in row] for row in scores]


def as_array(truth):
    return np.array([[np.nan if v is None else v for v in row] for row in truth], dtype=float)


def thresholded(scores):
    return [[int(score >= 0.5) for score in row] for row in scores]


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
@given(label_problems())
@draws(15)
def test_complete_label_sets_as_in_scikit_learn(problem):
    truth, scores = np.array(problem[0]), np.array(problem[1])
    chosen = (scores >= 0.5).astype(int)
    expected = {
        "hamming_loss": metrics.hamming_loss(truth, chosen),
        "subset_accuracy": metrics.accuracy_score(truth, chosen),
        "jaccard_samples": metrics.jaccard_score(truth, chosen, average="samples", zero_division=1),
        "f1_samples": metrics.f1_score(truth, chosen, average="samples", zero_division=1),
    }
    for average in ("micro", "macro"):
        for name in ("precision", "recall", "f1"):
            score = getattr(metrics, f"{name}_score")(truth, chosen, average=average, zero_division=0)
            expected[f"{name}_{average}"] = score
    sets = measures.label_set_measures(truth, chosen)
    assert {name: sets[name] for name in expected} == pytest.approx(expected)
    assert measures.hamming_loss(truth, chosen) == sets["hamming_loss"]
    order = measures.label_order_measures(truth, scores)
    assert order["coverage"] == pytest.approx(metrics.coverage_error(truth, scores))
    assert order["ranking_loss"] == pytest.approx(metrics.label_ranking_loss(truth, scores))
    precision = metrics.label_ranking_average_precision_score(truth, scores)
    assert order["average_precision"] == pytest.approx(precision)
    areas = map(reference.auroc, truth.T.tolist(), scores.T.tolist())
    assert measures.mean_auroc(truth, scores) == pytest.approx(reference.mean(list(areas)))


@given(label_problems(unknown=True))
@draws(20)
def test_unknown_labels_are_left_out(problem):
    truth, scores = problem
    array, chosen = as_array(truth), thresholded(scores)
    sets = measures.label_set_measures(array, chosen)
    for name in ("hamming_loss", *SAMPLE_MEASURES):
        assert sets[name] == pytest.approx(getattr(reference, name)(truth, chosen)), name
    for variant in ("standard", "clus"):
        order = measures.label_order_measures(array, scores, variant)
        for name in ("one_error", "coverage", "ranking_loss"):
            expected = getattr(reference, name)(truth, scores, variant)
            assert order[name] == pytest.approx(expected, nan_ok=True), (name, variant)
        assert order["average_precision"] == pytest.approx(reference.average_precision(truth, scores))


@given(label_problems(unknown=True))
@draws(15)
def test_areas_of_labels(problem):
    truth, scores = problem
    array, columns = as_array(truth), list(zip(*truth, strict=True))
    parts = []
    for column, points in zip(columns, zip(*scores, strict=True), strict=True):
        if all(v is None for v in column):
            continue
        present = 1 in column
        share = reference.mean([v for v in column if v is not None])
        area = reference.auprc(column, points) if present else 0.0
        parts.append((share, area, reference.auroc(column, points)))
    if not parts:
        assert np.isnan(measures.mean_auroc(array, scores))
        return
    present = [(share, area) for share, area, _ in parts if share > 0]
    assert measures.mean_auroc(array, scores) == pytest.approx(reference.mean([area for *_, area in parts]))
    areas = measures.label_curve_measures(array, scores)
    for only_present in (False, True):
        counted = [j for j, column in enumerate(columns) if 1 in column or not only_present]
        pairs = [(row[j], points[j]) for row, points in zip(truth, scores, strict=True) for j in counted]
        area = reference.auprc(*zip(*pairs, strict=True)) if any(y for y, _ in pairs) else np.nan
        assert measures.pooled_auprc(array, scores, only_present) == pytest.approx(area, nan_ok=True)
    assert areas["mean_auprc"] == pytest.approx(reference.mean([area for _, area, _ in parts]))
    only = measures.label_curve_measures(array, scores, only_present=True)["mean_auprc"]
    assert only == pytest.approx(reference.mean([area for _, area in present]), nan_ok=True)
    if present:
        expected = sum(share * area for share, area in present) / sum(share for share, _ in present)
        assert areas["weighted_auprc"] == pytest.approx(expected)


def test_one_error_of_an_irrelevant_top_label_with_a_low_score():
    truth, scores = [[0, 1, 0]] * 2, [[0.4, 0.3, 0.1], [0.6, 0.3, 0.1]]
    assert measures.label_order_measures(truth, scores)["one_error"] == 1.0
    assert measures.label_order_measures(truth, scores, variant="clus")["one_error"] == 0.5
    assert measures.label_order_measures(truth, scores, variant="clus", threshold=0.35)["one_error"] == 1.0


def test_examples_without_relevant_labels():
    truth, scores = [[0, 0], [1, 0]], [[0.2, 0.6], [0.7, 0.1]]
    assert measures.label_order_measures(truth, scores)["coverage"] == 0.5
    assert measures.label_order_measures(truth, scores, variant="clus")["coverage"] == 1.0
    assert measures.label_order_measures(truth, scores)["one_error"] == 0.5
    assert np.isnan(measures.label_order_measures([[0, 0]], [[0.1, 0.2]], variant="clus")["coverage"])


def test_sparse_label_sets():
    truth = np.array([[1, 0, 0], [0, 1, 1]])
    scores = np.array([[0.5, 0.1, 0.6], [0.1, 0.8, 0.4]])
    stored = sparse.csr_array(truth)
    assert measures.hamming_loss(stored, scores >= 0.5) == measures.hamming_loss(truth, scores >= 0.5)
    for family in (measures.label_order_measures, measures.label_curve_measures):
        assert family(stored, scores) == family(truth, scores)


def test_weights_of_labels_in_the_hamming_loss():
    truth, chosen = [[1, 0], [1, 1]], [[1, 1], [1, 0]]
    assert measures.hamming_loss(truth, chosen, weights=[1.0, 0.75]) == pytest.approx(0.375)


def test_shapes_and_names_are_checked():
    with pytest.raises(DataError, match=r"shape \(1, 3\).*\(1, 2\)"):
        measures.hamming_loss([[1, 0]], [[1, 0, 1]])
    with pytest.raises(DataError, match="shape"):
        measures.label_order_measures([[1, 0]], [[1, 0, 1]])["ranking_loss"]
    with pytest.raises(DataError, match="shape"):
        measures.mean_auroc([[1, 0]], [[1, 0, 1]])
    with pytest.raises(DataError, match="matrix"):
        measures.hamming_loss([1, 0], [1, 0])
    with pytest.raises(ParameterError, match="variant='other'"):
        measures.label_order_measures([[1, 0]], [[0.1, 0.2]], variant="other")["coverage"]
