"""Data sets written as CSV come back as they were."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.data import delimited_write
from omnirank.data.delimited_write import write_csv
from omnirank.errors import DataError
from omnirank.testing import tiny_dataset


def test_numbers_names_and_missing_cells_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_write, "_ROWS", 7)  # several blocks
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a, b": rng.normal(size=20) * 1e-7, "kind": ["x y", 'say "no"'] * 10, "whole": np.arange(20.0)}
    )
    frame.loc[3, "a, b"] = np.nan
    frame.loc[4, "kind"] = None
    data = om.Dataset(frame, rng.normal(size=20), target_names=["price"])
    for name in ("data.csv", "data.csv.gz"):
        write_csv(data, tmp_path / name)
        again = om.load(tmp_path / name, "price")
        assert again.feature_names == data.feature_names
        np.testing.assert_array_equal(again.y, data.y)
        pd.testing.assert_frame_equal(again.X.astype(object), data.X.astype(object))
    assert gzip.decompress((tmp_path / "data.csv.gz").read_bytes()) == (tmp_path / "data.csv").read_bytes()


def test_label_sets_and_unlabelled_examples(tmp_path):
    data = om.Dataset(
        sparse.csr_array([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]]), [[1, 0], [0, 1], [1, 1]], target_names=["l1", "x1"]
    ).hide_labels([1])
    write_csv(data, tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text().splitlines() == [
        "x0,x1,l1,x1_2",
        "0.0,1.5,1,0",
        "2.0,0.0,,",
        "0.0,0.0,1,1",
    ]


def test_hierarchies_are_refused(tmp_path):
    data = tiny_dataset("hierarchical-multi-label")
    with pytest.raises(DataError, match=r"write \.arff or \.parquet"):
        write_csv(data, tmp_path / "labels.csv")
    assert not (tmp_path / "labels.csv").exists()
