"""AnnData: a matrix of samples x genes beside tables of both, as an object or a file (``.h5ad``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import FileFormatError, MissingDependencyError, ParameterError
from omnirank.core.types import PathLike
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.dataset import Dataset
from omnirank.data.files import number_names, unreadable

_SPARSE = {"csr": sparse.csr_array, "csc": sparse.csc_array}


class Annotated(NamedTuple):
    """What a file of AnnData holds, under the names that its objects have."""

    X: Any
    obs: pd.DataFrame
    var_names: tuple[str, ...]


def read_h5ad(path: PathLike) -> Annotated:
    """Read the matrix, the names of its columns and the table of its rows from a file of AnnData.

    Parameters
    ----------
    path : str or Path
        The file. Layers, embeddings and the table of the columns are not read.
    """
    path = Path(path)
    try:
        import h5py
    except ImportError:
        raise MissingDependencyError(
            f"{path.name}: AnnData files need the package h5py: pip install 'omnirank[anndata]'"
        ) from None
    try:
        with h5py.File(path, "r") as file:
            if "X" not in file:
                raise FileFormatError("the file has no matrix X", path=path)
            var = file["var"]
            names = _values(var[_text(var.attrs.get("_index", "_index"))])
            return Annotated(_matrix(file["X"]), _frame(file["obs"]), tuple(map(str, names)))
    except FileFormatError:
        raise
    except Exception as problem:  # damaged files are met with many kinds of errors
        raise unreadable(problem, "an AnnData file", path) from None


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _values(cells: Any) -> np.ndarray:
    """The cells of a column, also one with a mask of missing cells: texts are str."""
    if hasattr(cells, "keys"):
        return pd.Series(_values(cells["values"])).mask(_values(cells["mask"]).astype(bool)).to_numpy()
    values = np.asarray(cells[()])
    return np.array([_text(value) for value in values], object) if values.dtype.kind in "OS" else values


def _matrix(group: Any) -> Any:
    """The matrix, sparse where the file has it so."""
    if not hasattr(group, "keys"):
        return group[()]
    attributes: Mapping[str, Any] = group.attrs
    kind = _SPARSE[_text(attributes["encoding-type"])[:3]]
    return kind((group["data"][()], group["indices"][()], group["indptr"][()]), shape=tuple(attributes["shape"]))


def _frame(group: Any) -> pd.DataFrame:
    """The table of the rows: a group of columns."""
    index = _text(group.attrs.get("_index", "_index"))
    names = [_text(name) for name in group.attrs.get("column-order", [])]
    columns: dict[str, Any] = {}
    for name in names:
        column = group[name]
        if hasattr(column, "keys") and "categories" in column:
            columns[name] = pd.Categorical.from_codes(_values(column["codes"]), pd.Index(_values(column["categories"])))
        else:
            columns[name] = _values(column)
    return pd.DataFrame(columns, index=pd.Index(_values(group[index])))


def annotated_dataset(
    data: Any,
    *,
    target: ColumnChoice | None = None,
    features: ColumnChoice | None = None,
    key: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    groups: ColumnChoice | None = None,
    nominal: ColumnChoice | None = None,
    duplicates: str = "error",
    task: str = "auto",
    name: str = "data",
) -> Dataset:
    """Return the data set of an AnnData object: its genes are the features, and the target is a column of ``obs``.

    Parameters
    ----------
    data : AnnData, or an object with ``X``, ``obs`` and ``var_names``
        The data; a sparse matrix stays sparse.
    target, key, groups : column choice, optional
        Columns of ``obs``.
    features, ignore : column choice, optional
        Columns of the matrix that are used, and that are not.
    nominal : column choice, optional
        Columns of ``obs`` with numbers that are classes.
    duplicates : {"error", "number"}
        What to do with a name of a column that was there before.
    task, name
        As in :func:`omnirank.load`.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.data.annotated import Annotated, annotated_dataset
    >>> cells = Annotated([[0.0, 2.0], [1.0, 0.0]], pd.DataFrame({"type": ["T", "B"]}), ("CD3", "CD19"))
    >>> annotated_dataset(cells, target="type")
    <Dataset 'data': 2 examples, 2 features, classification, 1 target, 2 labelled>
    """
    genes = tuple(map(str, data.var_names))
    genes = number_names(genes) if duplicates == "number" else genes
    names = [str(column) for column in data.obs.columns]
    chosen = {
        what: [] if choice is None else choose_columns(choice, names, what)
        for what, choice in {"target": target, "key": key, "groups": groups, "nominal": nominal}.items()
    }
    y = data.obs.iloc[:, chosen["target"]] if chosen["target"] else None
    if y is not None:
        y = y.astype({names[i]: "category" for i in chosen["nominal"] if i in chosen["target"]})
    dataset = Dataset(data.X, y, task=task, feature_names=genes, name=name)
    used = range(len(genes)) if features is None else choose_columns(features, genes, "features")
    left_out = [] if ignore is None else choose_columns(ignore, genes, "ignore")
    kept = [i for i in used if i not in set(left_out)]
    if not kept:
        raise ParameterError("no column is left as a feature")
    dataset = dataset if len(kept) == len(genes) else dataset.select_features(kept)
    of = data.obs.iloc[:, chosen["groups"]]
    return dataset if groups is None else dataset.with_groups(of.groupby(list(of), observed=True).ngroup().to_numpy())
