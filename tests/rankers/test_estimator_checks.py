"""Every registered ranker against scikit-learn's checks and against ours; the one exception is below."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import omnirank as om
from omnirank.testing import ranker_checks

# What makes a method fast enough for some 50 fits.
FAST = {"n_trees": 5}


def small_ranker(method):
    parameters = method.make().get_params(deep=False)
    few = {"n_iterations": 5} if "base" in parameters else {}  # each of them is a ranking
    return method.make(**{name: value for name, value in FAST.items() if name in parameters}, **few)


def one_a_class():
    """The first method of each ranker class: scikit-learn's checks are about the class.

    They pass whole numbers as target to all estimators: those that have one task, or none for classes,
    are told which is meant.
    """
    found = {}
    for method in om.methods():
        told = len(method.tasks) == 1 or "classification" not in method.tasks
        named = {"task": method.tasks[0]} if told else {}
        found.setdefault(method.ranker, small_ranker(method).set_params(**named))
    return list(found.values())


def expected_failures(estimator):
    """Weights multiply bootstrap counts: drawing a row twice is not giving it the weight 2."""
    if not isinstance(estimator, om.EnsembleRanker):
        return {}
    reason = "bootstrap replicates of weighted and of repeated rows differ, as in scikit-learn's own forests"
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@parametrize_with_checks(one_a_class(), expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


CASES = [
    pytest.param(check, id=f"{method.name}-{name}")
    for method in om.methods()
    for name, check in ranker_checks(small_ranker(method))
]


@pytest.mark.parametrize("check", CASES)
def test_omnirank_checks(check):
    check()


@pytest.mark.parametrize("method", om.methods(), ids=lambda method: method.name)
def test_registry_and_class_say_the_same(method):
    ranker = method.load()
    assert set(method.tasks) <= set(ranker.supported_tasks)
    assert set(method.supervision) <= set(ranker.supported_supervision)
