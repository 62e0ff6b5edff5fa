"""Writing CSV: the features, then the target, under their names."""

from __future__ import annotations

import io

import pandas as pd

from omnirank.core.atomic_file import replacing
from omnirank.core.errors import DataError
from omnirank.core.types import PathLike
from omnirank.data.dataset import Dataset
from omnirank.data.duplicate_names import number_names

_ROWS = 10_000


def write_csv(dataset: Dataset, path: PathLike) -> None:
    """Write a data set as a CSV file (gzipped where it ends in .gz), its target last; missing cells are empty.

    Numbers are written so that reading gives the same bits; labels are 0 and 1. A label hierarchy does not fit a CSV
    file.

    Parameters
    ----------
    dataset : Dataset
        What to write.
    path : str or Path
        The file; it appears whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> from omnirank.data.delimited_write import write_csv
    >>> data = om.Dataset([[1.5], [2.0]], ["a", None], feature_names=["the size"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.csv")
    ...     write_csv(data, path)
    ...     print(path.read_text())
    the size,y
    1.5,a
    2.0,
    <BLANKLINE>
    """
    if dataset.hierarchy is not None:
        raise DataError("a CSV file cannot hold the hierarchy of the labels: write .arff or .parquet")
    names = number_names([*dataset.feature_names, *dataset.target_names])
    with replacing(path) as file, io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True) as text:
        for start in range(0, dataset.n_examples, _ROWS):
            part = dataset.take(slice(start, start + _ROWS))
            frames = [part.features.to_frame()]
            if part.target is not None:
                frame = part.target.to_frame()
                frames.append(frame.astype("Int8") if part.target.is_labels else frame)
            joined = pd.concat(frames, axis=1)
            joined.columns = pd.Index(names)
            joined.to_csv(text, index=False, header=start == 0, lineterminator="\n")
