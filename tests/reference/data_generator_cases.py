"""Generators by task, and how features of generated data are looked at."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from omnirank import datasets

SUPERVISED = {
    "regression": datasets.make_regression,
    "multi-target-regression": datasets.make_multi_target_regression,
    "classification": datasets.make_classification,
    "multi-target-classification": datasets.make_multi_target_classification,
    "mixed-targets": datasets.make_mixed_targets,
    "multi-label": datasets.make_multi_label,
    "hierarchical-multi-label": datasets.make_hierarchical_multi_label,
}
SEVERAL_TARGETS = [task for task in SUPERVISED if task not in ("regression", "classification")]
ALL = SUPERVISED | {"clustering": datasets.make_clusters}


def values_of(data):
    """All feature cells as floats, codes of nominal ones, NaN = missing."""
    columns = [data.features.column(i) for i in range(data.n_features)]
    return np.column_stack([np.where(c < 0, np.nan, c) if c.dtype.kind == "i" else c for c in columns])


def importances(data, n_trees=100):
    """Impurity importances of a scikit-learn forest; several targets at once."""
    y = data.target.dense()
    kind = ExtraTreesClassifier if data.target.is_nominal.all() else ExtraTreesRegressor
    forest = kind(n_trees, max_features=None, min_samples_leaf=3, random_state=0)
    return forest.fit(values_of(data), y[:, 0] if y.shape[1] == 1 else y).feature_importances_
