"""Codes of features that all plans of the same examples share, and that some of the examples take from all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.data.table import Table
from omnirank.trees.codes import DenseFeatures, SparseFeatures, code_features


class SharedCodes:
    """The features of some examples, coded at most once for each way to grow trees.

    It knows the codes of the examples that these were taken from, but not those examples: they know their labelled
    part, and what knows each other stays in memory until the garbage is collected, beside the next sample.

    Parameters
    ----------
    features : Table
        The features.
    taken_from : SharedCodes and ndarray, optional
        Codes of more examples, and which of those these are (a mask).

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.ensembles.shared_codes import SharedCodes
    >>> data, some = om.datasets.load_sample("iris"), np.arange(150) < 90
    >>> codes = SharedCodes(data.features)
    >>> part = SharedCodes(data.take(some).features, (codes, some))
    >>> codes.coded(False, None, None) is codes.coded(False, None, None)
    True
    >>> part.coded(False, None, None).codes.shape
    (4, 90)
    """

    def __init__(self, features: Table, taken_from: tuple[SharedCodes, np.ndarray] | None = None) -> None:
        self._features, self._taken_from = features, taken_from
        self._found: dict[bool, SparseFeatures | DenseFeatures] = {}

    def coded(self, on_cells: bool, cells: Any, n_jobs: int | None) -> SparseFeatures | DenseFeatures:
        """Return the codes, made now if there are none.

        Parameters
        ----------
        on_cells : bool
            Whether trees are grown on non-zero cells.
        cells : object
            These cells, if so.
        n_jobs : int or None
            Number of workers.
        """
        found = self._known(on_cells)
        if found is None:
            found = self._found[on_cells] = code_features(
                self._features, cells=cells if on_cells else None, n_jobs=n_jobs
            )
        return found

    def _known(self, on_cells: bool) -> SparseFeatures | DenseFeatures | None:
        """Codes of these examples, or of more of them; non-zero cells are sooner coded than taken."""
        if self._taken_from is not None and on_cells not in self._found:
            whole, rows = self._taken_from
            coded = whole._known(on_cells)
            if isinstance(coded, DenseFeatures):
                self._found[on_cells] = coded.take(rows, self._features)
        return self._found.get(on_cells)
