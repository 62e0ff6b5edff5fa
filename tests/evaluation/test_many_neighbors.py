"""As many neighbours as there are labelled examples, or more: figures say nothing then, and the user is told, once."""

from __future__ import annotations

import warnings

import pytest

import omnirank as om
from omnirank.evaluation.cross import evaluate_folds
from omnirank.evaluation.folds import make_folds


@pytest.fixture(scope="module")
def parts():
    train, test = om.datasets.load_sample("iris").split(0.6, random_state=0)
    return train.keep_labels(12, random_state=0), test


def told(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(("k", "n"), [(11, 0), (12, 1), ([3, 50], 1)])
def test_evaluate(parts, k, n):
    found = told(lambda: om.evaluate([1.0, 1.0, 1.0, 1.0], *parts, k))
    assert len(found) == n
    largest = max(k) if isinstance(k, list) else k
    assert all(f"n_neighbors={largest}, but there are only 12 labelled training examples" in text for text in found)


def test_unlabelled_examples_count_where_they_take_places(parts):
    train = parts[0]
    assert told(lambda: om.evaluate([1.0] * 4, *parts, 12, neighbors="published")) == []
    [text] = told(lambda: om.evaluate([1.0] * 4, *parts, train.n_examples, neighbors="published"))
    assert f"there are only {train.n_examples} training examples" in text


def test_folds_warn_once_of_the_smallest(parts):
    data = om.datasets.load_sample("iris").keep_labels(20, random_state=0)
    folds = make_folds(data, "cross-validation", n_folds=3, random_state=0)
    fewest = min(int(fold.training(data).labelled.sum()) for fold in folds)
    [text] = told(lambda: evaluate_folds(om.UniformRanker(), data, folds, fewest))
    assert f"n_neighbors={fewest}, but there are only {fewest} labelled" in text
    assert told(lambda: evaluate_folds(om.UniformRanker(), data, folds, fewest - 1)) == []
