"""Clusters that a tree describes."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from omnirank.core.files import StoredArrays
from omnirank.core.parameters import SEED, check_parameters, choice, count
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.estimator_input import any_table, check_sample_weight, features_like, read_input
from omnirank.data.models import JsonFields, SavedModel
from omnirank.data.target import Target
from omnirank.data.task_registry import task_named
from omnirank.ensembles.model_parts import features_contents, known_task, restore_features
from omnirank.ensembles.plan import GROWING, GrowingData, GrowingRules
from omnirank.ensembles.supervision import resolve_feature_weights
from omnirank.tasks import get_task, prototype_columns
from omnirank.trees.prediction import leaves_of
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import without_subtrees
from omnirank.trees.tree import Tree, arrays_of_trees, tree_from_grown, trees_of_arrays


@dataclass(eq=False, repr=False)
class PCTClusterer(SavedModel, ClusterMixin, BaseEstimator):
    """Cluster examples by a predictive clustering tree on their features.

    Tests lower the mean over features of their variance (or Gini index) relative to the training set; each leaf is a
    cluster, and the tests on the way to it describe it. Features may be numeric and nominal, with missing cells.

    Parameters
    ----------
    max_leaves : int or None
        Greatest number of clusters: the tests that lower the impurity most are kept, from the root down. None: no
        limit.
    max_depth : int or None
        Greatest depth of a leaf; None: no limit.
    min_samples_leaf : float
        Least weight of a cluster.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Features drawn in a node: a count, a share or a name. None: all.
    feature_weights : None, Ranking or array-like
        How much each feature counts in the impurity, relative to the largest.
    random_state : None, int, RandomState or Generator
        The seed.

    Attributes
    ----------
    labels_ : ndarray of int
        Cluster of each training example.
    n_clusters_ : int
        Number of clusters.
    cluster_prototypes_ : DataFrame
        Mean or most frequent level of each feature, one row per cluster.
    tree_ : Tree
        The tree as flat arrays.
    feature_importances_ : ndarray
        Genie3 of the tree: how much the tests of each feature lower the impurity.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Blockeel, De Raedt, Ramon: Top-down induction of clustering trees. ICML, 1998.

    Examples
    --------
    >>> import omnirank as om
    >>> X = [[1.0, 5.0], [1.2, 5.1], [1.1, 4.9], [3.0, 0.2], [3.1, 0.1], [2.9, 0.3]]
    >>> model = om.PCTClusterer(max_leaves=2).fit(X)
    >>> model.labels_.tolist(), model.predict([[3.3, 0.0]]).tolist()
    ([0, 0, 0, 1, 1, 1], [1])
    >>> print(om.export_text(model))
    x0 <= 2.05
    |-- yes: cluster 0, 3 examples
    `-- no:  cluster 1, 3 examples
    """

    _parameter_checks = GROWING | {"max_leaves": choice(None) | count(1), "random_state": SEED}

    max_leaves: int | None = 8
    max_depth: int | None = None
    min_samples_leaf: float = 2
    max_features: Any = None
    feature_weights: Ranking | ArrayLike | None = None
    random_state: RandomState = None

    def fit(self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None) -> PCTClusterer:
        """Grow the tree.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame
            The examples; the target of a Dataset is not used.
        y : None
            Not used; scikit-learn's interface has it.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples, of mean about 1; those of weight 0 are not used.

        Returns
        -------
        self
            The fitted tree.
        """
        check_parameters(self)
        data = GrowingData(read_input(self, X, None, task=task_named("none")), root_entropy(self.random_state))
        whole = data.dataset
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, whole.n_examples)
            data = replace(data, weight=weight).take(weight > 0)
        # of features that divide the examples in the same way, the first is taken
        rules = GrowingRules.of(self, ensemble="bagging", bootstrap=False, tie_break="first")
        dataset = data.dataset
        plan = resolve_feature_weights(self.feature_weights, data, rules).plan(rules)
        grown = best_tests(plan.grow(0), self.max_leaves)
        columns = prototype_columns(Target.from_table(dataset.features))
        self.tree_ = tree_from_grown(grown, dataset.features, *node_means(grown, columns))
        self.n_clusters_ = self.tree_.n_leaves
        self.task_ = dataset.task
        # what predictions and exports need to know of the features, without their cells
        self._features = dataset.features.take(slice(0, 0))
        self._had_missing = dataset.features.with_missing
        self._columns = prototype_columns(Target.from_table(self._features))
        self.labels_ = self._clusters(whole.features)
        return self

    def predict(self, X: FeaturesLike) -> np.ndarray:
        """Return the cluster of each example.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame
            Examples with the features of the training data.
        """
        check_is_fitted(self)
        return self._clusters(features_like(self, X, self._features))

    @property
    def cluster_prototypes_(self) -> pd.DataFrame:
        """Mean or most frequent level of each feature, one row per cluster."""
        check_is_fitted(self)
        means = self.tree_.means(np.flatnonzero(self.tree_.is_leaf))
        return get_task(self.task_).predict(means, self._columns)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Genie3: summed heuristic values h* of the tests of each feature."""
        check_is_fitted(self)
        inner = ~self.tree_.is_leaf
        return np.bincount(self.tree_.feature[inner], self.tree_.gain[inner], self.n_features_in_)

    def _clusters(self, table: Any) -> np.ndarray:
        number = np.cumsum(self.tree_.is_leaf) - 1
        return number[leaves_of([self.tree_], table)[:, 0]]

    def _trees(self) -> list[Tree]:
        return [self.tree_]

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return features_contents(self) | {"task": self.task_}, arrays_of_trees([self.tree_])

    def _restore(self, facts: JsonFields, stored: StoredArrays) -> None:
        restore_features(self, facts)
        self.task_ = known_task(facts, [task_named("none")]).name
        self._columns = prototype_columns(Target.from_table(self._features))
        (self.tree_,) = trees_of_arrays(stored, self._features.levels, self._columns.n_columns)
        self.n_clusters_ = self.tree_.n_leaves

    def __sklearn_tags__(self) -> Any:
        return any_table(super().__sklearn_tags__())


def best_tests(grown: Any, max_leaves: int | None) -> Any:
    """Return the tree of the tests that gain most, from the root down, with at most that many leaves.

    It is the tree that growing best node first would give, because a node's test does not depend on other nodes.
    """
    inner = grown.feature >= 0
    if max_leaves is None or inner.sum() < max_leaves:
        return grown
    is_leaf = np.ones(len(inner), bool)
    waiting = [(-grown.gain[0], 0)] if inner[0] else []
    for _ in range(max_leaves - 1):
        _, node = heapq.heappop(waiting)
        is_leaf[node] = False
        for child in (node + 1, int(grown.right[node])):
            if inner[child]:
                heapq.heappush(waiting, (-grown.gain[child], child))
    return without_subtrees(grown, is_leaf)
