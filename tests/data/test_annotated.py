"""AnnData files and objects: genes by name, the target from obs, sparse stays sparse."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.errors import DataError, FileFormatError, MissingDependencyError, ParameterError

CELLS = sparse.random_array((30, 5), density=0.3, random_state=np.random.default_rng(0), format="csr")
GENES = ["CD3", "CD19", "MS4A1", "GNLY", "NKG7"]
OBS = pd.DataFrame(
    {"type": pd.Categorical([None, "T", "B"] * 10), "age": np.arange(30) / 4, "batch": np.arange(30) % 2},
    index=[f"cell{i}" for i in range(30)],
)


def cells(X=CELLS, genes=GENES):
    return SimpleNamespace(X=X, obs=OBS, var_names=pd.Index(genes))


@pytest.fixture
def file(tmp_path):
    h5py = pytest.importorskip("h5py")

    def written(X=CELLS):
        path = tmp_path / "cells.h5ad"
        text = h5py.string_dtype()
        with h5py.File(path, "w") as file:
            if sparse.issparse(X):
                group = file.create_group("X")
                group.attrs["encoding-type"] = f"{X.format}_matrix"
                group.attrs["shape"] = X.shape
                for name in ("data", "indices", "indptr"):
                    group[name] = getattr(X, name)
            else:
                file["X"] = X
            var = file.create_group("var")
            var.attrs["_index"] = "gene"
            var.create_dataset("gene", data=GENES, dtype=text)
            obs = file.create_group("obs")
            obs.attrs["_index"] = "_index"
            obs.attrs["column-order"] = list(OBS)
            obs.create_dataset("_index", data=list(OBS.index), dtype=text)
            codes = OBS["type"].cat.codes.to_numpy()
            obs["type/codes"] = codes
            obs.create_dataset("type/categories", data=["B", "T"], dtype=text)
            obs["age"] = OBS["age"].to_numpy()
            obs["batch/values"] = OBS["batch"].to_numpy()
            obs["batch/mask"] = np.arange(30) == 3
        return path

    return written


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_a_file_is_read(file, format):
    data = om.load(file(CELLS.asformat(format)), "type", key="age")
    assert data.features.is_sparse
    assert data.feature_names == tuple(GENES)
    assert (data.X != CELLS).nnz == 0
    assert data.target.levels == (("B", "T"),)
    assert data.labelled.tolist() == OBS["type"].notna().tolist()
    assert data.name == "cells"


def test_texts_with_a_mask_are_read(file):
    """As anndata 0.13 writes them with pandas 3: names, categories and columns are groups of values and a mask."""
    h5py = pytest.importorskip("h5py")
    path = file()
    with h5py.File(path, "a") as changed:
        for name in ("var/gene", "obs/_index", "obs/type/categories"):
            texts = changed[name][()]
            del changed[name]
            changed.create_dataset(f"{name}/values", data=texts, dtype=h5py.string_dtype())
            changed[f"{name}/mask"] = np.zeros(len(texts), bool)
        sites = changed.create_dataset("obs/site/values", data=["a", "b", ""] * 10, dtype=h5py.string_dtype())
        changed["obs/site/mask"] = sites.asstr()[()] == ""
        changed["obs"].attrs["column-order"] = [*OBS, "site"]
    data = om.load(path, "type")
    assert data.feature_names == tuple(GENES)
    assert data.target.levels == (("B", "T"),)
    assert data.labelled.tolist() == OBS["type"].notna().tolist()
    assert om.load(path, "site").labelled.tolist() == [True, True, False] * 10


def test_dense_cells_and_other_targets(file):
    path = file(CELLS.toarray().astype(np.float32))
    data = om.load(path, "age", ignore="GNLY")
    assert data.task == "regression"
    np.testing.assert_array_equal(data.X, CELLS.toarray()[:, [0, 1, 2, 4]].astype(np.float32))
    assert np.isnan(om.load(path, "batch", task="regression").y[3])
    assert om.load(path, "batch", nominal="batch").task == "classification"
    assert om.load(path).task == "clustering"
    assert om.load(path, "type", features=["CD3", "NKG7"]).feature_names == ("CD3", "NKG7")


def test_an_object_is_read_everywhere():
    expected = om.Dataset(CELLS, OBS["type"], feature_names=GENES)
    assert om.load(cells(), "type").fingerprint == expected.fingerprint
    assert om.Dataset(cells(), "type").fingerprint == expected.fingerprint
    assert om.Dataset(cells(), OBS["type"]).features.is_sparse
    ranker = om.make_ranker("univariate").fit(cells(), "type")
    assert ranker.feature_names_in_.tolist() == GENES
    assert ranker.ranking_.names == om.make_ranker("univariate").fit(expected).ranking_.names


def test_mistakes_are_named(file, tmp_path, monkeypatch):
    path = file()
    (tmp_path / "no.h5ad").write_bytes(b"nothing")
    for given, options, error, message in (
        (path, {"target": "Type"}, ParameterError, "target='Type': there is no such column; did you mean 'type'"),
        (path, {"decimal": ","}, ParameterError, "decimal is not for AnnData"),
        (cells(genes=["CD3"] * 5), {}, DataError, "CD3"),
        (tmp_path / "no.h5ad", {}, FileFormatError, "not an AnnData file that can be read"),
    ):
        with pytest.raises(error, match=message):
            om.load(given, **options)
    assert om.load(cells(genes=["CD3"] * 5), duplicates="number").feature_names[1] == "CD3_2"
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingDependencyError, match=r"omnirank\[anndata\]"):
        om.load(path)
