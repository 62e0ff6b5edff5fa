"""Widths of the kernel of all pairs by which the graph says nothing."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import ParameterError


@pytest.mark.parametrize("form", ["phi1", "phi2", "phi3"])
@pytest.mark.parametrize(("width", "problem"), [(1e-300, "vanish"), (1e-3, "vanish"), (1e300, "are equal")])
def test_a_width_that_tells_no_examples_apart_is_refused(form, width, problem):
    X = np.random.default_rng(0).normal(size=(40, 4))
    with pytest.raises(ParameterError, match=f"all affinities {problem}"):
        om.SPECRanker(form, width=width).fit(X)


def test_examples_that_are_there_twice_are_like_each_other_at_any_width():
    X = np.random.default_rng(0).normal(size=(20, 4))
    scores = om.SPECRanker(width=1e-10).fit(np.vstack([X, X])).feature_importances_
    assert np.isfinite(scores).all()
