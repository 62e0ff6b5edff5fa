"""Normal scores: against quantiles of weights that are counts."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm, rankdata

from omnirank.ensembles.unbiased import normal_scores


def test_normal_scores_are_quantiles_of_ranks_and_weights_count_examples():
    rng = np.random.default_rng(0)
    values, times = rng.integers(0, 12, 60).astype(float), rng.integers(0, 4, 60)
    repeated = np.repeat(values, times)
    expected = norm.ppf((rankdata(repeated) - 0.5) / len(repeated))
    np.testing.assert_allclose(normal_scores(repeated, np.ones(len(repeated))), expected, rtol=1e-12, atol=1e-12)
    found = normal_scores(values, 0.1 * times)
    np.testing.assert_allclose(np.repeat(found, times), expected, rtol=1e-12, atol=1e-12)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(normal_scores(-values, 0.1 * times), -found, rtol=1e-12, atol=1e-12)


def test_both_ends_are_equally_far():
    found = normal_scores(np.arange(3.0), np.array([1e-30, 1.0, 1e-30]))
    np.testing.assert_allclose(found, [norm.ppf(0.5e-30), 0.0, -norm.ppf(0.5e-30)], rtol=1e-12, atol=1e-12)
