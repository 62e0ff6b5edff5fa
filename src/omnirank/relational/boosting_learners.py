"""Relational gradient boosting as predictors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from omnirank.core.types import RandomState
from omnirank.data.task_registry import TaskNames
from omnirank.ensembles.pct_kinds import PCTClassifierBase, PCTRegressorBase
from omnirank.relational.boosting import Boosting
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.learner import RelationalTraining


class RelationalBoostingClassifier(Boosting, PCTClassifierBase):
    """Gradient boosting of relational trees for classes.

    Sums of regression trees fit the indicators of the classes (one of them where there are two). Each tree is grown on
    the residuals of the trees before, the negative gradient of the squared error, of examples drawn without
    replacement.

    Parameters
    ----------
    n_trees : int
        Number of iterations, each with a tree for every class (one where there are two).
    shrinkage : float
        What trees are multiplied by.
    chosen_examples : float
        Share of the examples that a tree sees.
    preset : {"AGG-All", "AGG-Exist", "NO-Rel"}
        What is constructed: all aggregates; only whether there is a match of a path; only columns of the target table.
    aggregates : sequence of str, optional
        Other aggregates than those of the preset: count, count_unique, min, max, mean, sum, mode, exists. None: with
        AGG-All, those that the settings of facts declare, if any.
    lookahead : int
        How many steps (relations) a test may add to a prefix of the path that its node inherits.
    max_path_length : int, optional
        Most steps of a path; None: no limit.
    modes : mapping, optional
        How steps may use some of the relations, as in :class:`omnirank.relational.bias.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    dedupe_functional : bool
        Whether a step with at most one match has one aggregate, which keeps its value, instead of all, which agree.
    nominal_joins : bool
        Whether steps may also join columns of the same named nominal domain.
    max_candidates : int or None
        Most candidates of a node; longer paths are left out first, with a warning.
    inherit : {"both", "yes_only"}
        Which children continue the path of a test: both, or the heavier one; the other then inherits what its parent
        has inherited.
    missing : {"extreme", "learned"}
        Where values that are undefined go, those of nothing to aggregate: to the end of the order where infinity is (a
        category of their own), or to the side of a test that is better in the training data.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Candidates drawn in a node: a count, a share or a name. None: all.
    min_samples_leaf : float
        Least weight of a leaf.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    min_impurity_decrease : float
        Least share of a node's impurity that its test takes away.
    nominal_tests : {"ordered", "greedy", "one-against-rest"}
        How subsets of a nominal feature's levels are searched.
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    class_weight : None, "balanced", dict or list of them
        Weight of each class, times ``sample_weight``; see :class:`PCTClassifier`.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers.
    n_jobs : int or None
        Number of workers, over the classes of an iteration.

    Attributes
    ----------
    trees_ : list of lists of Tree
        For each iteration its trees, over ``features_``.
    start_ : ndarray
        What sums start with: means of the training data.
    classes_ : ndarray
        The classes.
    features_ : tuple of Feature
        The constructed features that trees test; ``feature_names_in_`` are their sentences.
    task_, n_outputs_, target_names_
        The task, the number of targets or labels, and their names.
    feature_importances_ : ndarray
        Genie3 of each of these features, averaged over the trees.

    References
    ----------
    Petkovic, Ceci, Kersting, Dzeroski: Estimating the importance of relational features by using gradient boosting.
    ISMIS, 2020.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.make_movies(random_state=0)
    >>> model = om.RelationalBoostingClassifier(n_trees=10, random_state=0).fit(data)
    >>> model.score(data) > 0.8
    True
    """

    supported_tasks = TaskNames("classes", single=True)

    def __init__(
        self,
        n_trees: int = 50,
        shrinkage: float = 0.2,
        chosen_examples: float = 0.8,
        preset: str = "AGG-All",
        aggregates: Sequence[str] | None = None,
        lookahead: int = 2,
        max_path_length: int | None = 4,
        modes: Mapping[str, Any] | None = None,
        dedupe_functional: bool = True,
        nominal_joins: bool = False,
        max_candidates: int | None = 10_000,
        inherit: str = "both",
        missing: str = "extreme",
        max_features: Any = 0.6,
        min_samples_leaf: float = 1,
        max_depth: int | None = 4,
        min_impurity_decrease: float = 0.0,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        class_weight: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        constructed = preset, aggregates, lookahead, max_path_length, modes
        counted = dedupe_functional, nominal_joins, max_candidates, inherit, missing
        limits = max_features, min_samples_leaf, max_depth, min_impurity_decrease
        sums = n_trees, shrinkage, chosen_examples
        given = *sums, *constructed, *counted, *limits, nominal_tests, tie_break, random_state, n_jobs
        super().__init__(*given)
        self.class_weight = class_weight

    def _columns_to_fit(self, training: RelationalTraining) -> np.ndarray:
        columns = training.columns.dense()
        return columns[:, 1:] if columns.shape[1] == 2 else columns

    def _as_means(self, sums: np.ndarray) -> np.ndarray:
        return np.column_stack([1 - sums[:, 0], sums[:, 0]]) if len(self.classes_) == 2 else sums

    def predict_proba(self, X: RelationalDataset) -> Any:  # type: ignore[override]  # other data
        """Return sums of trees as shares: between 0 and 1, and 1 together.

        Parameters
        ----------
        X : RelationalDataset
            Examples in a database of the same schema.

        Returns
        -------
        ndarray (examples, classes)
            In the order of ``classes_``.
        """
        shares = np.clip(self._means(self._table(X)), 0.0, 1.0)
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1 / shares.shape[1])


class RelationalBoostingRegressor(Boosting, PCTRegressorBase):
    """Gradient boosting of relational trees for one number.

    Sums of regression trees fit the target. Each tree is grown on the
    residuals of the trees before, the negative gradient of the squared error, of examples drawn without replacement.

    Parameters
    ----------
    n_trees : int
        Number of iterations.
    shrinkage : float
        What trees are multiplied by.
    chosen_examples : float
        Share of the examples that a tree sees.
    preset : {"AGG-All", "AGG-Exist", "NO-Rel"}
        What is constructed: all aggregates; only whether there is a match of a path; only columns of the target table.
    aggregates : sequence of str, optional
        Other aggregates than those of the preset: count, count_unique, min, max, mean, sum, mode, exists. None: with
        AGG-All, those that the settings of facts declare, if any.
    lookahead : int
        How many steps (relations) a test may add to a prefix of the path that its node inherits.
    max_path_length : int, optional
        Most steps of a path; None: no limit.
    modes : mapping, optional
        How steps may use some of the relations, as in :class:`omnirank.relational.bias.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    dedupe_functional : bool
        Whether a step with at most one match has one aggregate, which keeps its value, instead of all, which agree.
    nominal_joins : bool
        Whether steps may also join columns of the same named nominal domain.
    max_candidates : int or None
        Most candidates of a node; longer paths are left out first, with a warning.
    inherit : {"both", "yes_only"}
        Which children continue the path of a test: both, or the heavier one; the other then inherits what its parent
        has inherited.
    missing : {"extreme", "learned"}
        Where values that are undefined go, those of nothing to aggregate: to the end of the order where infinity is (a
        category of their own), or to the side of a test that is better in the training data.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Candidates drawn in a node: a count, a share or a name. None: all.
    min_samples_leaf : float
        Least weight of a leaf.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    min_impurity_decrease : float
        Least share of a node's impurity that its test takes away.
    nominal_tests : {"ordered", "greedy", "one-against-rest"}
        How subsets of a nominal feature's levels are searched.
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers.
    n_jobs : int or None
        Number of workers in ``predict``.

    Attributes
    ----------
    trees_ : list of lists of Tree
        For each iteration its trees, over ``features_``.
    start_ : ndarray
        What sums start with: means of the training data.
    features_ : tuple of Feature
        The constructed features that trees test; ``feature_names_in_`` are their sentences.
    task_, n_outputs_, target_names_
        The task, the number of targets or labels, and their names.
    feature_importances_ : ndarray
        Genie3 of each of these features, averaged over the trees.

    References
    ----------
    Petkovic, Ceci, Kersting, Dzeroski: Estimating the importance of relational features by using gradient boosting.
    ISMIS, 2020.

    Examples
    --------
    >>> import omnirank as om
    >>> import pandas as pd
    >>> shops = pd.DataFrame({"id": [1, 2, 3, 4], "profit": [1.5, 2.5, 9.0, 8.5]})
    >>> sales = pd.DataFrame({"shop_id": [1, 2, 3, 4, 4], "price": [3.0, 4.0, 9.0, 7.0, 9.0]})
    >>> data = om.RelationalDataset.from_frames({"shops": shops, "sales": sales}, target="shops.profit")
    >>> model = om.RelationalBoostingRegressor(random_state=0).fit(data)
    >>> model.score(data) > 0.9
    True
    """

    supported_tasks = TaskNames("numbers", single=True)

    def _columns_to_fit(self, training: RelationalTraining) -> np.ndarray:
        return training.columns.dense()
