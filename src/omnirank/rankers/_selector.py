"""What makes a ranker a selector of features as scikit-learn has them."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from omnirank.core.errors import DataError
from omnirank.core.ranking.ranking import Ranking
from omnirank.data.containers import FeaturesLike, unmasked
from omnirank.data.table import is_sparse


class Selector(TransformerMixin, metaclass=ABCMeta):
    """The methods of scikit-learn's ``SelectorMixin``.

    That class itself comes with all of ``sklearn.feature_selection``, and with it neighbours, measures and
    preprocessing: a tenth of a second for every process that ranks, and nothing of it is used.
    """

    ranking_: Ranking

    @abstractmethod
    def _get_support_mask(self) -> np.ndarray:
        """Return for each feature whether it is selected."""

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Return which features are selected.

        Parameters
        ----------
        indices : bool
            Whether to return their positions instead of a mask.
        """
        mask = self._get_support_mask()
        return np.flatnonzero(mask) if indices else mask

    def inverse_transform(self, X: FeaturesLike) -> Any:
        """Put columns of zeros where features were left out.

        Parameters
        ----------
        X : array-like or scipy.sparse container
            The selected features, with missing cells or without.
        """
        check_is_fitted(self)
        kept = self.get_support()
        cells: Any = X
        cells = cells.tocsc() if is_sparse(X) else check_array(unmasked(X), dtype=None, ensure_all_finite="allow-nan")
        n_rows, n_columns = cells.shape
        if n_columns != kept.sum():
            shapes = f"{n_columns} columns for {kept.sum()} features"
            raise DataError(f"X has a different shape than during fitting: {shapes}")
        if is_sparse(X):
            stored = np.zeros(len(kept), cells.indptr.dtype)
            stored[kept] = np.diff(cells.indptr)
            starts = np.concatenate([[0], np.cumsum(stored)])
            return type(cells)((cells.data, cells.indices, starts), shape=(n_rows, len(kept)))
        back = np.zeros((n_rows, len(kept)), cells.dtype)
        back[:, kept] = cells
        return back

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the selected features, in the order of the input.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of all features, where the training data had none; by default those of ``ranking_``.
        """
        check_is_fitted(self)
        if input_features is None and not hasattr(self, "feature_names_in_"):
            input_features = np.array(self.ranking_.names, dtype=object)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return names[self.get_support()]
