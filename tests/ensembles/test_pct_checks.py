"""The predictors, and the ranker that no method names, against scikit-learn's checks."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import omnirank as om

# A bootstrap of repeated rows is another random draw than one of weighted rows: so in scikit-learn's forests.
BOOTSTRAPPED = {
    "check_sample_weight_equivalence_on_dense_data": "bootstrap",
    "check_sample_weight_equivalence_on_sparse_data": "bootstrap",
}


def expected_failures(estimator):
    return BOOTSTRAPPED if hasattr(estimator, "ensemble") else {}


# A class that is alone gives a warning; the checks ask only that it can be predicted.
@pytest.mark.every(15)
@pytest.mark.filterwarnings("ignore:target 'y'. one class or value only:UserWarning")
@parametrize_with_checks(
    [
        *(om.PCTClassifier(), om.PCTRegressor(), om.PCTClusterer()),
        *(om.PCTForestClassifier(n_trees=5), om.PCTForestRegressor(n_trees=5)),
        om.PerTargetRanker(om.UnivariateRanker()),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
