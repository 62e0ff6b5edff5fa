"""Both layouts of the same features, whatever their share of non-zero cells."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np

from omnirank.ensembles.plan import GrowingData


@contextmanager
def laid_out(on_cells):
    """Lay out features by their non-zero cells alone, or in full."""
    with ExitStack() as both:
        for name in ("_MOST_OF_TWO_VALUES", "_MOST_OF_MORE_VALUES"):
            both.enter_context(patch(f"omnirank.trees.layout.{name}", 1.0 if on_cells else -1.0))
        yield


def both_plans(thin, full, rules, seed=0, weight=None):
    """Plans of the first data set on non-zero cells, and of the second one on all cells."""
    plans = []
    for dataset, on_cells in ((thin, True), (full, False)):
        with laid_out(on_cells):
            plans.append(GrowingData(dataset, seed, weight).plan(rules))
    assert [plan.coded.kind == "Cells" for plan in plans] == [True, False]
    return plans


def assert_same_splits(thin, full, rtol=1e-7, atol=0.0):
    """Grown trees with the same tests, and the same gains but for rounding."""
    assert thin.feature.tolist() == full.feature.tolist()
    assert thin.right.tolist() == full.right.tolist()
    np.testing.assert_allclose(thin.gain, full.gain, rtol=rtol, atol=atol)
    np.testing.assert_allclose(thin.weight, full.weight, rtol=1e-12)
