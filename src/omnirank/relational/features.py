"""`RelationalFeatures`: a database as one table of constructed features, which any other method can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.text import counted, did_you_mean
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.relational.candidates import Bias, Mode, candidates
from omnirank.relational.dataset import RelationalDataset, check_relational
from omnirank.relational.evaluation import columns_as_fitted, empty_as_missing
from omnirank.relational.paths import Feature, describe, result_component


@dataclass(eq=False, repr=False)
class RelationalFeatures(TransformerMixin, BaseEstimator):
    """Turns a database into a table: a row per example, a column per path and chain of aggregates.

    Where there is nothing to aggregate, counts and sums are 0, and other cells are missing.

    Parameters
    ----------
    lookahead : int
        The largest number of steps of a path. A step follows a relation: a foreign key, in either direction, or a
        column. So two steps lead to the columns of related rows ("mean stars of its ratings"), three to those of rows
        related to these.
    aggregates : "AGG-All", "AGG-Exist", "NO-Rel" or sequence of str
        All aggregates, or those that the settings of facts declare; only whether there are related rows; only the
        columns of the target table; or some of count, count_unique, min, max, mean, sum, mode and exists.
    modes : mapping of str to sequences, optional
        Ways in which steps may use relations, as in :class:`~omnirank.relational.Bias`; by default those that the
        settings of facts declare. ``{}``: all ways.
    max_candidates : int or None
        The most features; where there are more, a sample of the longest paths is taken, with a warning.
    features : sequence of Feature or str, optional
        Only these: features as a forest has them in ``features_``, of any length, or names of features.

    Attributes
    ----------
    features_ : tuple of Feature
        The features, in the order of the columns; each has a ``name`` and a ``sentence``.

    See Also
    --------
    omnirank.relational.RelationalDataset : Where a database comes from.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.make_movies(random_state=0)
    >>> features = om.relational.RelationalFeatures(lookahead=2, aggregates=["count", "mean"]).fit(data)
    >>> features.get_feature_names_out().tolist()
    ['year', 'minutes', 'country', 'count(ratings)', 'mean(ratings.stars)']
    >>> features.transform(data).shape
    (200, 5)
    >>> om.make_ranker("univariate").fit(features.to_dataset(data)).ranking_.top(1)
    ['mean(ratings.stars)']
    """

    lookahead: int = 2
    aggregates: str | Sequence[str] = "AGG-All"
    modes: Mapping[str, Sequence[Mode]] | None = None
    max_candidates: int | None = 10_000
    features: Sequence[Feature | str] | None = None

    def fit(self, X: RelationalDataset, y: None = None) -> RelationalFeatures:
        """Find the features of a database; their values are computed by :meth:`transform`.

        Parameters
        ----------
        X : RelationalDataset
            The examples and the database behind them.
        y : None
            The data set holds its target, which is not looked at.
        """
        dataset = check_relational(X, "RelationalFeatures")
        self.features_ = self._chosen(dataset)
        if not self.features_:
            raise DataError(
                "there is no feature to construct: nothing in the database tells the examples apart in this way; check "
                "the keys of the tables, aggregates and lookahead"
            )
        self._signature = dataset.signature
        results = [result_component(dataset.database, dataset.example_types, feature) for feature in self.features_]
        self._levels = [None if component is None else component.levels for component in results]
        return self

    def transform(self, X: RelationalDataset) -> pd.DataFrame:
        """Return the features of the examples, also of another database of the same schema.

        Returns
        -------
        DataFrame
            A row per example, named by its identifiers; floats and categoricals.
        """
        frame = self._table(X).to_frame()
        ids = X.example_ids
        named = X.example_types if len(X.example_types) == 1 else [None] * len(X.example_types)
        several = len(X.example_types) > 1
        frame.index = pd.MultiIndex.from_tuples(ids, names=named) if several else pd.Index(ids, name=named[0])
        return frame

    def to_dataset(self, X: RelationalDataset) -> Dataset:
        """Return the features with the target of the examples as a `Dataset`, for any ranker, learner or writer."""
        table = self._table(X)
        return Dataset(table, X.target, task=X.task, hierarchy=X.hierarchy, name=X.name)

    def get_feature_names_out(self, input_features: None = None) -> np.ndarray:
        """Return the names of the columns."""
        check_is_fitted(self)
        return np.array([feature.name for feature in self.features_], dtype=object)

    def _chosen(self, dataset: RelationalDataset) -> tuple[Feature, ...]:
        database, types = dataset.database, dataset.example_types
        if not isinstance(self.features, Sequence | None) or isinstance(self.features, str):
            raise ParameterError("features", self.features, "give a list of names or features, or None for all")
        given, by_name = list(dict.fromkeys(self.features or ())), {}
        if self.features is None or any(isinstance(feature, str) for feature in given):
            bias = Bias(self.aggregates, self.lookahead, None, self.modes, self.max_candidates)
            found = candidates(database, types, (), bias.within(dataset.modes, dataset.aggregates))
            if self.features is None:
                return found
            by_name = {feature.name: feature for feature in found}
        for feature in given:
            if not isinstance(feature, str | Feature):
                raise ParameterError("features", feature, "give names of features, or features of a fitted model")
            if isinstance(feature, str) and feature not in by_name:
                advice = f"there is no such feature of at most {counted(self.lookahead, 'step')}"
                raise ParameterError("features", feature, advice + did_you_mean(feature, list(by_name)))
        return tuple(by_name[f] if isinstance(f, str) else describe(database, types, f) for f in given)

    def _table(self, X: RelationalDataset) -> Table:
        check_is_fitted(self)
        dataset = check_relational(X, "RelationalFeatures")
        return empty_as_missing(columns_as_fitted(dataset, self._signature, self.features_, self._levels))
