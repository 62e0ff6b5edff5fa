"""What all rankers share, shown with the simplest of them."""

from __future__ import annotations

import logging
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import omnirank as om
from omnirank.errors import DataError, DataTypeError, ParameterError
from omnirank.rankers import BaseRanker, STRLaplaceRanker
from omnirank.testing import tiny_dataset

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = X[:, 2] + 0.1 * RNG.normal(size=30)
NAMES = ["a", "b", "c", "d"]
FRAMES = {
    "pandas": pd.DataFrame(X, columns=NAMES),
    "polars": pl.DataFrame(X, schema=NAMES),
    "pyarrow": pa.table({name: X[:, i] for i, name in enumerate(NAMES)}),
}


def ranker(**parameters):
    return om.UnivariateRanker(**parameters)


# -- what comes in ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_keep_names_and_kind(kind):
    fitted = ranker(n_features_to_select=2).fit(FRAMES[kind], Y)
    assert fitted.feature_names_in_.tolist() == NAMES
    assert fitted.ranking_.top(1) == ["c"]
    np.testing.assert_array_equal(fitted.feature_importances_, ranker().fit(X, Y).feature_importances_)
    kept = fitted.transform(FRAMES[kind])
    assert type(kept) is type(FRAMES[kind])
    columns = kept.column_names if kind == "pyarrow" else list(kept.columns)
    assert columns == fitted.get_feature_names_out().tolist() == [n for n in NAMES if n in fitted.ranking_.top(2)]


def test_mixed_frame_of_strings_categories_dates_and_missing_cells():
    frame = pd.DataFrame(
        {
            "size": [1.0, np.nan, 3.0, 4.0],
            "town": ["Bled", "Kranj", None, "Bled"],
            "kind": pd.Categorical(["x", "y", "x", "y"]),
            "flag": [True, False, True, False],
            "day": pd.date_range("2024-01-01", periods=4),
        },
        index=[10, 11, 12, 13],
    )
    fitted = ranker(n_features_to_select=4).fit(frame, ["p", "q", "p", "q"])
    assert fitted.task_ == "classification"
    assert fitted.feature_importances_[2] == pytest.approx(1.0)
    kept = fitted.transform(frame)
    pd.testing.assert_frame_equal(kept, frame[list(kept.columns)])


def test_lists_with_strings_and_object_arrays():
    rows = [["u", 1.5], ["v", 2.5], ["u", 0.5]]
    for given in (rows, np.array(rows, dtype=object)):
        fitted = ranker().fit(given, [1, 2, 1])
        assert fitted.feature_importances_[0] == pytest.approx(1.0)
    with pytest.raises(DataTypeError, match="argument must be a string or a number"):
        ranker().fit(np.array([[{"a": 1}], [2]], dtype=object), [0, 1])


def test_dataset_alone():
    data = om.Dataset(X, Y, feature_names=NAMES, feature_groups={"a": "g"})
    fitted = ranker(n_features_to_select=1).fit(data)
    assert fitted.feature_names_in_.tolist() == NAMES
    kept = fitted.transform(data)
    assert isinstance(kept, om.Dataset)
    assert kept.feature_names == ("c",)
    np.testing.assert_array_equal(kept.y, Y)
    with pytest.raises(ParameterError, match="y must not be given"):
        ranker().fit(data, Y)
    with pytest.raises(ParameterError, match="hierarchy must not be given"):
        ranker(hierarchy=om.Hierarchy.flat(["l"])).fit(data)
    with pytest.raises(ParameterError, match="made for 'regression'"):
        ranker(task="classification").fit(data)
    assert ranker(task="regression").fit(data).task_ == "regression"


def test_clustering_leaves_the_target_of_a_dataset_out():
    fitted = ranker(task="clustering").fit(om.Dataset(X, Y))
    assert fitted.task_ == "clustering"
    np.testing.assert_array_equal(fitted.feature_importances_, ranker().fit(X).feature_importances_)


def test_names_made_up_by_a_dataset_are_no_names():
    fitted = ranker(n_features_to_select=1).fit(om.Dataset(X, Y))
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.transform(X).shape == (30, 1)
    # the ranking and the selector must not count differently
    assert fitted.get_feature_names_out().tolist() == fitted.ranking_.top(1) == ["x2"]
    assert fitted.get_feature_names_out(NAMES).tolist() == ["c"]


def test_other_names_or_another_number_of_features_are_refused():
    data = om.Dataset(X, Y, feature_names=NAMES)
    fitted = ranker().fit(data)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(om.Dataset(X, feature_names=["a", "b", "c", "other"]))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(FRAMES["pandas"].rename(columns={"d": "other"}))
    with pytest.raises(ValueError, match="X has 3 features, but UnivariateRanker is expecting 4"):
        ranker().fit(X, Y).transform(om.Dataset(X[:, :3]))


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_stays_sparse(make):
    cells = np.where(np.abs(X) > 0.7, X, 0.0)
    cells[0, 0] = np.nan
    fitted = ranker(n_features_to_select=2).fit(make(cells), Y)
    kept = fitted.transform(make(cells))
    back = fitted.inverse_transform(kept)
    assert sparse.issparse(kept)
    assert sparse.issparse(back)
    np.testing.assert_array_equal(kept.toarray(), cells[:, fitted.get_support()])
    np.testing.assert_array_equal(back.toarray(), np.where(fitted.get_support(), cells, 0.0))
    with pytest.raises(ValueError, match="different shape"):
        fitted.inverse_transform(make(cells))
    np.testing.assert_allclose(fitted.feature_importances_, ranker().fit(cells, Y).feature_importances_)


# -- the target -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unknown", [np.full(30, np.nan), [None] * 30, pd.Series([pd.NA] * 30), np.full((30, 2), np.nan)]
)
def test_target_without_known_value_is_unsupervised(unknown):
    fitted = ranker().fit(X, unknown)
    assert fitted.task_ == "clustering"
    np.testing.assert_array_equal(fitted.feature_importances_, ranker().fit(X).feature_importances_)


def test_the_task_is_logged_not_warned(caplog):
    with caplog.at_level(logging.INFO, logger="omnirank"):
        ranker().fit(X, np.where(np.arange(30) < 10, Y, np.nan))
    assert "task: regression (inferred); 10 of 30 examples labelled" in caplog.messages
    assert "20 unlabelled examples are not used" in caplog.messages


class OnlyClasses(om.UnivariateRanker):
    supported_tasks = ("classification",)
    supported_supervision = ("supervised",)


class Forgetful(BaseRanker):
    def _rank(self, dataset):
        self._ranking(dataset, np.ones(dataset.n_features), "forgetful")


def test_a_ranker_that_returns_no_ranking_is_told_what_to_return():
    with pytest.raises(DataTypeError, match=r"Forgetful._rank must return self._ranking\(.*, not NoneType"):
        Forgetful().fit(X, Y)


def test_unsupported_data_are_refused():
    with pytest.raises(DataError, match="OnlyClasses does not handle regression; it handles classification"):
        OnlyClasses().fit(X, Y)
    with pytest.raises(DataError, match="OnlyClasses needs a target"):
        OnlyClasses().fit(X)
    with pytest.raises(DataError, match=r"LaplacianRanker .* does not handle regression; it handles clustering"):
        om.LaplacianRanker(task="regression").fit(X, Y)


def test_unsupervised_rankers_ignore_the_target():
    labels = (Y > 0).astype(int)
    for name in ("laplacian", "spec", "mcfs", "ndfs", "udfs", "agnos-s"):
        made = partial(om.make_ranker, name, random_state=0)
        alone = made().fit(X).feature_importances_
        for given in ((X, Y), (X, labels), (X, ["a", None] * 15), (om.Dataset(X, Y),)):
            fitted = made().fit(*given)
            assert fitted.task_ == "clustering"
            np.testing.assert_array_equal(fitted.feature_importances_, alone)
        assert make_pipeline(made(), DecisionTreeClassifier(random_state=0)).fit(X, labels).predict(X).shape == (30,)


def test_whole_numbers_are_numbers_where_a_ranker_takes_nothing_else():
    counts = np.round(3 * Y).astype(int)
    for made in (om.CorrelationRanker, STRLaplaceRanker):
        expected = made(task="regression").fit(X, counts)
        fitted = made().fit(X, counts)
        assert fitted.task_ == "regression"
        np.testing.assert_array_equal(fitted.feature_importances_, expected.feature_importances_)
        for named in (["a", "b"] * 15, Y > 0):
            with pytest.raises(DataError, match="does not handle classification; it handles regression"):
                made().fit(X, named)
    both = np.column_stack([counts, counts > 0]).astype(int)
    assert om.CorrelationRanker().fit(X, both).task_ == "multi-target-regression"
    assert om.CorrelationRanker().fit(X, both % 2).task_ == "multi-target-regression"


# -- weights ----------------------------------------------------------------------------------------------


def test_weight_zero_is_no_example_and_weight_two_is_two():
    weights = np.arange(30) % 3
    repeated = np.repeat(np.arange(30), weights)
    weighted = ranker(adjusted=False).fit(X, Y, sample_weight=weights)
    again = ranker(adjusted=False).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(weighted.feature_importances_, again.feature_importances_)


def test_labels_of_weight_zero_are_no_labels():
    with pytest.raises(DataError, match="both a known target value and a positive weight"):
        ranker().fit(X, np.where(np.arange(30) < 9, Y, np.nan), sample_weight=np.arange(30) >= 9)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(30), "non-zero"),
        (np.ones(29), r"shape \(29,\)"),
        (-np.ones(30), r"sample_weight\[0\] is -1"),
        (np.full(30, np.nan), r"sample_weight\[0\] is nan"),
        (np.full(30, 1e99), "sums up to 3e\\+100.*mean 1"),
        (np.full(30, 1e308), "sums up to inf.*mean 1"),
        (np.full(30, 1e-200), "sums up to 3e-199.*mean 1"),
        (["much"] * 30, "one number per example"),
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(DataError, match=message):
        ranker().fit(X, Y, sample_weight=weights)


# -- choosing features ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "count"), [(None, 2), (1, 1), (np.int64(3), 3), (1.0, 4), (0.5, 2), (0.01, 1), (np.float32(0.75), 3)]
)
def test_count_share_or_half(wanted, count):
    fitted = ranker(n_features_to_select=wanted).fit(X, Y)
    assert fitted.get_support().sum() == count
    assert set(fitted.get_support(indices=True)) == set(fitted.ranking_.order[:count])


@pytest.mark.parametrize("wanted", [0, 5, -1, 0.0, 1.5, True, "all", np.nan])
def test_wrong_counts_are_refused_at_fit(wanted):
    with pytest.raises(ParameterError, match="a whole number from 1 to 4"):
        ranker(n_features_to_select=wanted).fit(X, Y)


@pytest.mark.parametrize("wanted", ["pandas", "polars"])
@pytest.mark.parametrize("given", ["array", "pandas", "polars"])
def test_set_output(wanted, given):
    fitted = ranker(n_features_to_select=2).fit(FRAMES["pandas"], Y).set_output(transform=wanted)
    if given == "array":
        fitted = ranker(n_features_to_select=2).fit(X, Y).set_output(transform=wanted)
    kept = fitted.transform(X if given == "array" else FRAMES[given])
    assert isinstance(kept, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[wanted])
    assert list(kept.columns) == fitted.get_feature_names_out().tolist()
    np.testing.assert_array_equal(np.asarray(kept.to_numpy()), X[:, fitted.get_support()])


def test_a_dataset_stays_a_dataset_whatever_the_output_setting():
    data = om.Dataset(X, Y)
    with config_context(transform_output="pandas"):
        assert isinstance(ranker().fit(data).transform(data), om.Dataset)
        assert isinstance(ranker().fit_transform(data), om.Dataset)
    assert isinstance(ranker().set_output(transform="polars").fit(data).transform(data), om.Dataset)


# -- the result -------------------------------------------------------------------------------------------


def test_the_ranking_knows_how_it_was_made():
    data = tiny_dataset("classification")
    ranking = ranker(n_features_to_select=2, random_state=np.random.default_rng(0), n_jobs=2).fit(data).ranking_
    assert ranking.method == "univariate"
    assert ranking.task == "classification"
    assert ranking.fingerprint == data.fingerprint
    # what a file cannot hold, and what has no influence, is left out
    assert dict(ranking.parameters) == {"adjusted": True, "task": "auto", "n_features_to_select": 2}


class Several(BaseRanker):
    def _rank(self, dataset):
        return {
            "first": self._ranking(dataset, np.arange(dataset.n_features), "first"),
            "second": self._ranking(dataset, -np.arange(dataset.n_features), "second"),
        }


def test_several_rankings_at_once():
    fitted = Several().fit(X)
    assert list(fitted.rankings_) == ["first", "second"]
    assert fitted.ranking_ is fitted.rankings_["first"]
    assert fitted.feature_importances_.tolist() == [0, 1, 2, 3]
    assert fitted._ranking_at() is fitted.ranking_
    assert fitted._ranking_at(importance="second") is fitted.rankings_["second"]
    assert Several.replicates is None
    assert Several._one_fit_gives(fitted.get_params()) == ()


# -- fits that fail ---------------------------------------------------------------------------------------


def test_a_refit_that_cannot_choose_features_changes_nothing():
    fitted = ranker(n_features_to_select="auto").fit(X, Y)
    before, kept = dict(vars(fitted)), fitted.get_support()
    with pytest.raises(DataError, match="at least"):
        fitted.fit(X[:4], Y[:4])
    assert vars(fitted) == before
    np.testing.assert_array_equal(fitted.get_support(), kept)


# -- rankings that know nothing ----------------------------------------------------------------------------

WIDE = np.random.default_rng(0).normal(size=(10, 2000))


def test_random_scores_are_uniform_and_follow_the_seed():
    scores = om.rankers.RandomRanker(random_state=5).fit(WIDE).feature_importances_
    assert scores.min() >= 0
    assert scores.max() < 1
    assert scores.mean() == pytest.approx(0.5, abs=0.03)
    np.testing.assert_array_equal(om.rankers.RandomRanker(random_state=5).fit(WIDE[:3]).feature_importances_, scores)
    assert not np.array_equal(om.rankers.RandomRanker(random_state=6).fit(WIDE).feature_importances_, scores)


def test_uniform_scores_are_all_one():
    ranker = om.rankers.UniformRanker(n_features_to_select=3).fit(WIDE)
    assert set(ranker.feature_importances_) == {1.0}
    assert ranker.get_support(indices=True).tolist() == [0, 1, 2]
