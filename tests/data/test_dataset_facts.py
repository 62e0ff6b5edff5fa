"""What a data set says about itself: descriptions and fingerprints."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from reference.data_set_cases import NAN, TARGETS, TREE, dataset_of

# -- facts --------------------------------------------------------------------------------------------


COMMON = {
    "name": "small",
    "examples": 6,
    "features": 4,
    "numeric features": 2,
    "nominal features": 2,
    "missing cells": 2,
}
SPECIAL = {
    "classification": {"targets": 1, "partly labelled": 0, "classes": {"u": 3, "v": 2}},
    "multi-target-classification": {"targets": 2, "partly labelled": 1},
    "regression": {"targets": 1, "partly labelled": 0},
    "multi-target-regression": {"targets": 2, "partly labelled": 1},
    "multi-label": {"targets": 2, "partly labelled": 0, "label cardinality": 1.0},
    "hierarchical-multi-label": {"targets": 3, "label cardinality": 7 / 5, "hierarchy": "tree", "hierarchy depth": 2},
    "mixed-targets": {"targets": 2, "partly labelled": 1},
    "clustering": {"targets": 0, "labelled": 0},
}


@pytest.mark.parametrize("task", TARGETS)
def test_describe(task):
    facts = dataset_of(task).describe()
    assert list(facts)[:3] == ["name", "task", "examples"]
    expected = {"labelled": 5, **COMMON, "task": task, "sparse": False, **SPECIAL[task]}
    assert {key: facts[key] for key in expected} == expected
    assert facts["missing share"] == 2 / 24
    assert "density" not in facts


# -- fingerprints -------------------------------------------------------------------------------------


def test_fingerprint_of_equal_data_is_equal():
    values = np.random.default_rng(0).normal(size=(7, 3))
    values[2, 1] = NAN
    values[0, 0] = 0.0
    y = np.array([0, 1, 0, 1, 0, 1, NAN])
    expected = Dataset(values, y).fingerprint
    negative = values.copy()
    negative[0, 0] = -0.0
    negative[2, 1] = -np.float64(NAN)
    wide = np.zeros((14, 6))
    wide[::2, ::2] = values
    same = [
        np.asfortranarray(values),
        negative,
        wide[::2, ::2],
        values.tolist(),
        pd.DataFrame(values, columns=["x0", "x1", "x2"]),
    ]
    for X in same:
        assert Dataset(X, y, name="another").fingerprint == expected
    assert Dataset(values[::-1], y[::-1]).take(slice(None, None, -1)).fingerprint == expected
    assert pickle.loads(pickle.dumps(Dataset(values, y))).fingerprint == expected
    assert copy.deepcopy(Dataset(values, y)).fingerprint == expected


def test_fingerprint_of_sparse_data_does_not_depend_on_its_storage():
    values = np.array([[0, 1.5], [NAN, 0], [2, 0]])
    stored = sparse.coo_array(([1.5, NAN, 2.0, 0.0], ([0, 1, 2, 0], [1, 0, 0, 0])), shape=(3, 2))
    wide = sparse.csc_array(values)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    prints = {Dataset(X, [{"a"}, {"b"}, None]).fingerprint for X in (sparse.csr_array(values), stored, wide)}
    assert len(prints) == 1


def test_fingerprint_sees_every_difference():
    X, y = np.array([[1.0, 2.0], [3.0, 4.0]]), ["a", "b"]
    changed = X.copy()
    changed[1, 1] += 1e-12
    variants = [
        Dataset(X, y),
        Dataset(changed, y),
        Dataset(X.astype(np.float32), y),
        Dataset(X[:, ::-1], y),
        Dataset(X.T, y),
        Dataset(X[::-1], y),
        Dataset(X, y, feature_names=["p", "q"]),
        Dataset(X, y, target_names=["t"]),
        Dataset(X, y, nominal=[0]),
        Dataset(X, ["a", "c"]),
        Dataset(X, ["a", None]),
        Dataset(X, ["b", "a"]),
        Dataset(X),
        Dataset(X, [0, 1]),
        Dataset(X, [0, 1], task="regression"),
        Dataset(X, np.array([[0, 1, 0], [0, 0, 1]]), target_names=TREE.labels),
        Dataset(X, np.array([[0, 0, 1], [0, 0, 1]]), hierarchy=TREE),
        Dataset(X, np.array([[0, 0, 1], [0, 0, 1]]), hierarchy=Hierarchy.flat(TREE.labels)),
    ]
    assert len({data.fingerprint for data in variants}) == len(variants)


def test_fingerprint_of_more_rows_than_are_hashed_at_once(monkeypatch):
    monkeypatch.setattr("omnirank.data.dataset._HASHED_BYTES", 32)
    assert len({Dataset(np.eye(9, 10)[:, [i]]).fingerprint for i in range(10)}) == 10
