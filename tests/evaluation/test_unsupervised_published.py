"""The unsupervised protocol against published figures: the last 16 features in the order of the data.

Several methods of the study gave all features the same score and kept the last 16, so that their printed errors are
those of no ranking at all.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.public_data import public_data

import omnirank as om
from omnirank.data.estimator_input import without_target
from omnirank.evaluation.cross import evaluate_folds
from omnirank.evaluation.folds import make_folds

FOLDER = public_data() / "unsupervised"

pytestmark = pytest.mark.shared_data


@pytest.mark.parametrize(("name", "published"), [("Yale", 56.744), ("madelon", 33.621)])
def test_last_features(name, published):
    data = without_target(om.load(FOLDER / f"{name}.mat"))
    results = evaluate_folds(np.arange(data.n_features), data, make_folds(data, "consecutive"), n_jobs=2)
    assert results.summary["top_features_rmse"].item() == pytest.approx(published, abs=6e-4)
