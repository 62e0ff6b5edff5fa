"""EnsembleRanker: its options, and data that cannot be ranked."""

from __future__ import annotations

import pickle
import warnings
from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone

import omnirank as om
from omnirank.errors import DataWarning, ParameterError
from omnirank.evaluation.experiments.fit import make
from omnirank.testing import tiny_dataset
from reference.ensembles_cases import genie3_forest

# -- options ------------------------------------------------------------------------------------------------


def test_per_target_genie3_sums_to_genie3():
    data = tiny_dataset("hierarchical-multi-label")
    fitted = genie3_forest(n_trees=10, per_target=True, random_state=0).fit(data)
    single = fitted.ranking_.per_target
    assert single.names == data.target_names
    np.testing.assert_allclose(single.scores.sum(axis=0), fitted.ranking_.scores, rtol=1e-9)
    assert fitted.rankings_["symbolic"].per_target is None


def leaking(n=200):
    """Three features of noise, and the target."""
    y = np.random.default_rng(0).integers(0, 2, n)
    return np.column_stack([np.random.default_rng(1).normal(size=(n, 3)), y]), y


def test_the_note_says_that_a_leak_hides_others():
    with pytest.warns(DataWarning, match="'x3' predicts .* can hide what other features tell"):
        om.UnivariateRanker().fit(*leaking())


@pytest.mark.filterwarnings("ignore:feature")
def test_permutation_scores_of_trees_without_errors_are_explained_and_other_scores_need_no_explanation():
    options = {"ensemble": "bagging", "n_trees": 5, "random_state": 0}
    with pytest.warns(UserWarning, match="all permutation scores are 0: no tree makes an error") as told:
        ranker = om.EnsembleRanker("permutation", **options).fit(*leaking())
    assert not ranker.feature_importances_.any()
    assert ranker.n_undefined_ == 5
    assert told[-1].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", DataWarning)
        om.EnsembleRanker(**options).fit(*leaking())


def test_weights_of_examples_count_in_trees_and_errors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(np.arange(200) < 100, X[:, 0], X[:, 1])
    heavy, light = np.full(100, 1.9), np.full(100, 0.1)
    for favoured, weight in enumerate((np.r_[heavy, light], np.r_[light, heavy])):
        fitted = genie3_forest("permutation", n_trees=20, random_state=0).fit(X, y, sample_weight=weight)
        for ranking in fitted.rankings_.values():
            assert ranking.order[0] == favoured


def test_parameters_and_private_rules():
    parameters = "importance ensemble n_trees max_features bootstrap min_samples_leaf max_depth supervision"
    parameters += " feature_weights min_labelled_leaf symbolic_weight permutation_error per_target p_values"
    parameters += " task hierarchy n_features_to_select random_state n_jobs"
    assert list(signature(om.EnsembleRanker).parameters) == parameters.split()
    ranker = genie3_forest(rules={"tie_break": "first"}, n_trees=2, random_state=0)
    assert clone(clone(ranker))._rules == {"tie_break": "first"}
    several = clone(ranker).set_params(n_trees=np.array([2, 1])).fit(tiny_dataset("regression"))
    assert list(several.checkpoints_) == [1, 2]
    assert clone(ranker).set_params(n_trees=np.int64(2)).fit(tiny_dataset("regression")).certainty_.remark == ""
    ranking = om.PerTargetRanker(ranker).fit(tiny_dataset("multi-target-regression")).ranking_
    assert ranking.parameters["ranker"]["tie_break"] == "first"


def test_plans_of_studies_set_private_rules():
    ranker = make("genie3", {"normalize_targets": False, "n_trees": 3}, seed=1)
    assert (ranker._rules, ranker.n_trees) == ({"normalize_targets": False}, 3)
    with pytest.raises(ParameterError, match="no such parameter"):
        make("univariate", {"tie_break": "first"}, seed=1)


def test_importance_is_a_plain_parameter():
    ranker = om.EnsembleRanker("symbolic", n_trees=2, random_state=0)
    assert ranker.get_params()["importance"] == clone(ranker).importance == "symbolic"
    assert repr(ranker) == "EnsembleRanker(importance='symbolic', n_trees=2, random_state=0)"
    assert pickle.loads(pickle.dumps(ranker.fit(tiny_dataset("regression")))).ranking_.method == "symbolic"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"importance": "gini"}, "importance='gini': choose one of genie3, symbolic, permutation, unbiased"),
        ({"max_features": 9}, "a whole number from 1 to 5"),
        ({"importance": "permutation", "permutation_error": "auprc"}, "auprc.* is for multi-label.*not for regression"),
        ({"importance": "permutation", "permutation_error": "accuracy"}, "accuracy.* is for classification"),
        ({"importance": "permutation", "bootstrap": False}, "needs out-of-bag examples"),
        ({"importance": "unbiased", "bootstrap": False}, "needs out-of-bag examples"),
        ({"rules": {"tie_break": "all"}}, "tie_break"),
        ({"rules": {"hierarchy_weight": 1.5}}, "hierarchy_weight=1.5"),
        ({"supervision": 0.5, "feature_weights": [1.0]}, r"5 numbers, one per feature"),
        ({"n_trees": [5, 0]}, r"n_trees=\[5, 0\]: choose 'auto', a whole number from 1"),
    ],
)
def test_parameters_outside_their_domain(options, message):
    with pytest.raises(ParameterError, match=message):
        genie3_forest(**({"n_trees": 10} | options)).fit(tiny_dataset("regression"))


# -- data that cannot be ranked -----------------------------------------------------------------------------

X4 = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        (X4, ["a"] * 4, None, r"target 'y' has one class only \('a'\)"),
        (X4, [1.5] * 4, None, "target 'y' is constant"),
        (X4[:1], ["a"], None, "1 sample"),
        (np.where(X4 == 5, np.inf, X4), [0, 1, 0, 1], None, r"infinite|column 'x1'"),
        (X4, [0.5, 1.5, np.inf, 2.5], None, "target 'y', row 2"),
        (X4, [0, 1, 0, 1, 1], None, "X has 4 rows, y has 5"),
        (X4[:3], [0, 1, 0], None, "less than two leaves of min_samples_leaf=2: lower it"),
    ],
)
def test_errors_say_what_and_where(X, y, weight, message):
    with pytest.raises(ValueError, match=message):
        genie3_forest(n_trees=2).fit(X, y, sample_weight=weight)


def test_a_feature_without_known_value_is_named_and_scores_zero():
    data = tiny_dataset("classification")
    X = data.X.assign(empty=np.nan, nothing=None)
    with pytest.warns(UserWarning, match="features 'empty' and 'nothing' have no known value"):
        fitted = genie3_forest("permutation", n_trees=5, random_state=0).fit(X, data.y)
    for ranking in fitted.rankings_.values():
        assert ranking.scores[-2:].tolist() == [0.0, 0.0]
