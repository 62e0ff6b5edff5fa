"""Small data sets of every task."""

from __future__ import annotations

import numpy as np
import pandas as pd

from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy

NAN = np.nan
TREE = Hierarchy.from_paths(["a", "a/b", "c"])
TARGETS = {
    "classification": ["u", "v", None, "u", "u", "v"],
    "multi-target-classification": [["u", "x"], ["v", None], [None, None], ["u", "y"], ["u", "x"], ["v", "x"]],
    "regression": [0.5, 1.5, NAN, 2.5, 3.5, 4.5],
    "multi-target-regression": [[0.5, 1], [2, NAN], [NAN, NAN], [1, 2], [3, 4], [5, 6]],
    "multi-label": [{"a"}, {"b"}, None, {"a", "b"}, set(), {"a"}],
    "hierarchical-multi-label": [{"a"}, {"a/b"}, None, {"c"}, set(), {"a/b", "c"}],
    "mixed-targets": pd.DataFrame({"k": ["u", "v", None, "u", "u", "v"], "s": [0.5, NAN, NAN, 1, 2, 3]}),
    "clustering": None,
}


def mixed_frame():
    return pd.DataFrame(
        {
            "size": [1.5, NAN, 3.0, 4.0, 5.0, 6.0],
            "colour": ["red", "blue", None, "red", "red", "blue"],
            "wet": [True, False, True, True, True, False],
            "age": [3, 4, 5, 6, 7, 8],
        }
    )


def dataset_of(task, X=None):
    hierarchy = TREE if task == "hierarchical-multi-label" else None
    return Dataset(mixed_frame() if X is None else X, TARGETS[task], hierarchy=hierarchy, name="small")
