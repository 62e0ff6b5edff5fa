"""Data sets joined from parts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.core.errors import DataError
from omnirank.data.dataset import join_examples
from omnirank.data.hierarchy import Hierarchy

TREE = Hierarchy.from_paths(["a/b", "c"])


def mixed(y=("p", None, "q"), **options):
    import pandas as pd

    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0], "colour": pd.Categorical(["red", "blue", None], ["red", "blue"])})
    return om.Dataset(frame, list(y), **options)


def labels(kind, hierarchy=TREE):
    X = kind(np.array([[0.0, 2.0], [1.0, 0.0]]))
    y = kind(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    return om.Dataset(X, y, task="hierarchical-multi-label", hierarchy=hierarchy)


@pytest.mark.parametrize("make", [mixed, lambda: labels(np.asarray), lambda: labels(sparse.csr_array)])
def test_parts_come_back(make):
    whole = make()
    joined = join_examples([whole.take([0]), whole.take(list(range(1, whole.n_examples)))])
    assert joined.features.equals(whole.features)
    assert joined.target.equals(whole.target)
    assert (joined.task, joined.hierarchy, joined.fingerprint) == (whole.task, whole.hierarchy, whole.fingerprint)
    assert joined.features.is_sparse == whole.features.is_sparse


def test_without_target_and_alone():
    data = om.Dataset(np.eye(3))
    assert join_examples([data]) is data
    assert join_examples([data, data]).n_examples == 6
    assert join_examples([data, data]).target is None


PLAIN = om.Dataset([[1.0, 2.0], [2.0, 1.0]], ["p", "q"])
OTHERS = {
    "made for": om.Dataset([[1.0, 2.0]], [0.5]),
    "features differ": om.Dataset([[1.0, 2.0], [2.0, 1.0]], ["p", "q"], feature_names=["x0", "z"]),
    "targets differ": om.Dataset([[1.0, 2.0], [2.0, 1.0]], ["p", "r"]),
    "sparse, the other dense": om.Dataset(sparse.csr_array([[1.0, 2.0], [2.0, 1.0]]), ["p", "q"]),
}


@pytest.mark.parametrize("message", OTHERS)
def test_what_differs_is_named(message):
    with pytest.raises(DataError, match=f"part 2 .*{message}"):
        join_examples([PLAIN, OTHERS[message]])


def test_another_hierarchy_is_named():
    other = labels(np.asarray, Hierarchy.from_paths(["a/b", "a/c"]))
    with pytest.raises(DataError, match="hierarchies differ"):
        join_examples([labels(np.asarray), other])
