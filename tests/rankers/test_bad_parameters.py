"""Values that no parameter takes: whatever is given, what comes back is an error of omnirank."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from backends.cases import estimators
from omnirank.errors import DataError, DataTypeError, OmnirankError, ParameterError

BAD = [float("nan"), float("inf"), "x", b"x", 10**30, 1j, [], object(), np.array([1.0, 2.0]), np.array(["x", "y"])]
ESTIMATORS = list(estimators().values())
# Their defaults are no numbers, but they take some.
NUMBERS = {"max_depth", "symbolic_weight", "pruning", "n_jobs", "random_state", "bootstrap"}
X = np.random.default_rng(0).normal(size=(14, 3))


def target_of(estimator):
    if getattr(estimator, "supported_supervision", None) == ("unsupervised",):
        return None
    if estimator is om.rankers.STRLaplaceRanker:
        return X[:, 0]
    return X[:, :2] if estimator.__name__.endswith(("Regressor", "CorrelationRanker")) else (X[:, 0] > 0).astype(int)


def parameters_of(estimator):
    return inspect.signature(estimator).parameters


def quick(estimator):
    """What makes an estimator quick, and what it cannot do without."""
    if estimator is om.PerTargetRanker:
        return {"ranker": om.UnivariateRanker()}
    if estimator in (om.ResampledRanker, om.rankers.ThreeWayRanker):
        return {"n_iterations": 2}
    return {"n_trees": 2} if "n_trees" in parameters_of(estimator) else {}


@pytest.mark.every(5)
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_foreign_error_and_no_number_that_is_none(estimator):
    for name, parameter in parameters_of(estimator).items():
        numeric = isinstance(parameter.default, int | float) or name in NUMBERS
        for value in BAD:
            try:
                estimator(**quick(estimator) | {name: value}).fit(X, target_of(estimator))
            except OmnirankError:
                continue
            except Exception as error:
                raise AssertionError(f"{name}={value!r} raises a {type(error).__name__}") from error
            refused = numeric and not isinstance(value, int)
            assert not refused, f"{name}={value!r} was taken"


def flags_of(estimator):
    parameters = parameters_of(estimator).values()
    return [one.name for one in parameters if isinstance(one.default, bool) or one.name == "bootstrap"]


@pytest.mark.parametrize("estimator", [one for one in ESTIMATORS if flags_of(one)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_flags_are_booleans(estimator):
    for name in flags_of(estimator):
        fixed = {"n_trees": 2} if "n_trees" in parameters_of(estimator) else {}
        if name == "p_values":
            fixed["importance"] = "unbiased"
        if name == "bootstrap" and estimator is om.EnsembleRanker:
            fixed["importance"] = "genie3"  # the unbiased score needs a bootstrap
        for value in (0, 1, 1.0, "yes", [], [True], np.array([True])):
            with pytest.raises(ParameterError, match=f"{name}=.*True or False"):
                estimator(**fixed | {name: value}).fit(X, target_of(estimator))
        for value in (True, False):
            one, other = (estimator(**fixed, **{name: kind(value)}, random_state=0) for kind in (bool, np.bool_))
            one.fit(X, target_of(estimator))
            other.fit(X, target_of(estimator))
            for attribute in ("feature_importances_", "oob_score_"):
                assert np.array_equal(getattr(one, attribute, 0), getattr(other, attribute, 0)), name


def test_features_of_other_shapes():
    structured = np.zeros(5, dtype=[("age", float), ("town", "U9")])
    flat = sparse.coo_array(np.arange(5.0))
    y = [0, 1, 0, 1, 0]
    for fit in (om.UnivariateRanker().fit, om.PCTClassifier().fit, om.Dataset):
        with pytest.raises(DataTypeError, match="structured array \\(age, town\\)"):
            fit(structured, y)
        with pytest.raises(DataError, match="1 dimension"):
            fit(flat, y)
        with pytest.raises(DataError, match="1 dimension"):
            fit(X[:5], flat)
        with pytest.raises(DataTypeError, match="y is a structured array"):
            fit(X[:5], structured)


def test_no_features_are_chosen():
    for value in (None, 3, "a"):
        with pytest.raises(DataError, match="give a list of names or positions"):
            om.Dataset(X).select_features(value)
