"""Methods without a place for weights of examples say so."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.validation import has_fit_parameter

import omnirank as om
from omnirank.core.registry import methods
from omnirank.errors import DataTypeError

WITHOUT = [m.name for m in methods() if not has_fit_parameter(m.load(), "sample_weight")]


@pytest.mark.parametrize("name", WITHOUT)
def test_weights_are_refused_by_name(name):
    X = np.random.default_rng(0).normal(size=(20, 3))
    told = "takes no sample_weight: the method has no place for weights .* methods that have: .*univariate"
    with pytest.raises(DataTypeError, match=told):
        om.make_ranker(name).fit(X, X[:, 0], sample_weight=np.ones(20))


def test_other_arguments_are_refused():
    with pytest.raises(DataTypeError, match="fit of LaplacianRanker takes no weight: it takes X and y"):
        om.LaplacianRanker().fit([[1.0], [2.0]], weight=[1, 2])


def test_graph_and_neighbour_methods_take_none():
    assert {"laplacian", "spec", "mcfs", "ndfs", "udfs", "s-cls", "sfss", "relief", "3-3fs"} <= set(WITHOUT)
    assert not {"information-gain", "chi2", "symmetrical-uncertainty", "correlation", "variance"} & set(WITHOUT)
