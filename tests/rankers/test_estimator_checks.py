"""Every registered ranker against scikit-learn's checks and against ours, with one exception."""

from __future__ import annotations

from unittest import SkipTest

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import omnirank as om
from omnirank.testing import check_ranker

# What makes a method fast enough for some 50 fits.
FAST = {"n_trees": 5}


def small_ranker(method):
    parameters = method.make().get_params(deep=False)
    few = {"n_iterations": 5} if "base" in parameters else {}  # each of them is a ranking
    return method.make(**{name: value for name, value in FAST.items() if name in parameters}, **few)


def one_a_class():
    """The first method of each ranker class: scikit-learn's checks are about the class."""
    rankers = {}
    for method in om.methods():
        rankers.setdefault(method.ranker, small_ranker(method))
    return list(rankers.values())


def expected_failures(estimator):
    """Weights multiply bootstrap counts: drawing a row twice is not giving it the weight 2."""
    if not isinstance(estimator, om.EnsembleRanker):
        return {}
    reason = "bootstrap replicates of weighted and of repeated rows differ, as in scikit-learn's own forests"
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


# One class for each way of ranking: `make test` runs all checks on them. What they say of `BaseRanker` holds for all.
IN_FULL = (om.EnsembleRanker, om.LaplacianRanker, om.ReliefRanker, om.UnivariateRanker)
# The checks of what the other classes write themselves: a constructor, and a ranking of any data.
ABOUT_A_CLASS = {
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_estimators_overwrite_params",
    "check_estimators_dtypes",
    "check_sample_weight_equivalence_on_dense_data",
    "check_estimator_sparse_array",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_dict_unchanged",
    "check_fit_idempotent",
}


@pytest.mark.every(8)
@parametrize_with_checks(
    [ranker for ranker in one_a_class() if isinstance(ranker, IN_FULL)], expected_failed_checks=expected_failures
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("which", ["of a class", pytest.param("all", marks=pytest.mark.slow)])
@pytest.mark.every(12)
@pytest.mark.parametrize(
    "ranker", [one for one in one_a_class() if not isinstance(one, IN_FULL)], ids=lambda one: type(one).__name__
)
def test_scikit_learn_checks_of_the_other_classes(ranker, which):
    for estimator, check in estimator_checks_generator(ranker):
        if which == "all" or check.func.__name__ in ABOUT_A_CLASS:
            try:
                check(clone(estimator))
            except SkipTest:
                pass
            except Exception as error:
                raise AssertionError(f"{check.func.__name__}: {error}") from error


@pytest.mark.every(9)
@pytest.mark.parametrize("method", om.methods(), ids=lambda method: method.name)
def test_omnirank_checks(method):
    check_ranker(small_ranker(method))


def test_registry_and_class_say_the_same():
    for method in om.methods():
        ranker = method.load()
        assert set(method.tasks) <= set(ranker.supported_tasks), method.name
        assert set(method.supervision) <= set(ranker.supported_supervision), method.name
