"""Ensembles of predictive clustering trees as predictors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike
from omnirank.data.hierarchy import Hierarchy
from omnirank.ensembles.forest import Forest
from omnirank.ensembles.pct_kinds import PCTClassifierBase, PCTRegressorBase
from omnirank.tasks import get_task


class PCTForestClassifier(Forest, PCTClassifierBase):
    """An ensemble of predictive clustering trees for classes, several classes, label sets and hierarchies of labels.

    The frequencies in the leaves are averaged over the trees; then the most frequent class is predicted, or the labels
    whose frequency reaches a threshold.

    Parameters
    ----------
    ensemble : {"random-forest", "extra-trees", "bagging"}
        Random forest and bagging try all tests of the features drawn in a node, extra trees one random test each.
    n_trees : int
        Number of trees.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Features drawn in a node: a count, a share or a name. None: ceil(sqrt D) in random forests, all D in bagging
        and extra trees (ceil(sqrt D) in extra trees when most features are binary).
    bootstrap : bool or None
        Whether each tree sees a bootstrap replicate; None is True.
    min_samples_leaf : float
        Least weight of a leaf, counted with bootstrap multiplicity and sample weights.
    max_depth : int or None
        Greatest depth of a leaf; None: no limit.
    oob_score : bool
        Whether to predict each example by the trees that have not seen it. Of data that do not fit in memory, the
        examples of one random sample are predicted, and ``oob_error_`` alone is kept.
    warm_start : bool
        Whether a further fit on the same data adds trees up to ``n_trees``: the result is that of growing them at
        once.
    nominal_tests : {"ordered", "greedy", "one-against-rest"}
        How subsets of a nominal feature's levels are searched; "greedy" cuts more than 1024 levels in a node in order.
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    supervision : "auto", "cv" or float
        Level of supervision w in [0, 1] where some examples are unlabelled: tests lower w times the impurity of the
        target plus 1 - w times that of the features. 1 uses the labelled examples only, 0 the features only. "auto":
        small forests of several levels are compared by the out-of-bag loss of the labelled examples, and below 1 only
        where that is clearly better. "cv": the level of 0, 0.1, ..., 1 with the smallest error in 4-fold
        cross-validation of the labelled examples.
    feature_weights : None, "auto", Ranking or array-like
        How much each feature counts in the features' part of the impurity, relative to the largest. "auto": its
        permutation score in a supervised random forest on the labelled examples.
    min_labelled_leaf : float
        Where unlabelled examples are used: a leaf has no labelled examples or at least this weight of them, and nodes
        without any are not split. A leaf without labelled examples predicts what its nearest ancestor with some does.
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)) in hierarchical multi-label classification.
    class_weight : None, "balanced", dict or list of them
        Weight of each class, times ``sample_weight``: "balanced" is n / (classes * count); classes that a dictionary
        does not name weigh 1. Several nominal targets: one for all, or a list, whose weights are multiplied. Not for
        label sets.
    task : str
        "classification", "multi-target-classification", "multi-label" or "hierarchical-multi-label"; "auto" infers it
        from y.
    hierarchy : Hierarchy, optional
        Order of the labels; makes the task hierarchical.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers, and the first trees of a larger forest
        are those of a smaller one.
    n_jobs : int or None
        Number of workers, in ``fit`` over trees and in ``predict`` over blocks of examples; -1: all cores.

    Attributes
    ----------
    trees_ : list of Tree
        The trees as flat arrays.
    classes_ : ndarray or list of ndarray
        The classes; several targets or labels: one array each.
    task_ : str
        The task as inferred or given.
    n_outputs_ : int
        Number of targets or labels.
    target_names_ : tuple of str
        Their names.
    supervision_, supervision_reason_, supervision_curve_
        The level of supervision, why it is that one, and the errors of those that were compared.
    feature_importances_ : ndarray
        Genie3, averaged over the trees.
    oob_decision_function_ : ndarray or list of ndarray
        As ``predict_proba`` of the training examples, each by the trees that have not seen it; NaN where all have.
    oob_error_ : float
        Error of these predictions: error rate, its mean over targets, or (weighted) Hamming loss.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Kocev, Vens, Struyf, Dzeroski: Tree ensembles for predicting structured outputs. Pattern Recognition 46, 2013.

    Examples
    --------
    >>> import omnirank as om
    >>> train, test = om.datasets.load_sample("digits").split(random_state=0)
    >>> forest = om.PCTForestClassifier(n_trees=30, oob_score=True, random_state=0).fit(train)
    >>> forest.score(test) > 0.93, forest.oob_error_ < 0.1
    (True, True)
    """

    def __init__(
        self,
        ensemble: str = "random-forest",
        n_trees: int = 100,
        max_features: Any = None,
        bootstrap: bool | None = None,
        min_samples_leaf: float = 2,
        max_depth: int | None = None,
        oob_score: bool = False,
        warm_start: bool = False,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        normalize_targets: bool | None = None,
        supervision: Any = "auto",
        feature_weights: Ranking | ArrayLike | None = None,
        min_labelled_leaf: float = 2,
        hierarchy_weight: float = 0.75,
        class_weight: Any = None,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        sizes = ensemble, n_trees, max_features, bootstrap, min_samples_leaf, max_depth, oob_score, warm_start
        tests = nominal_tests, tie_break, normalize_targets, supervision, feature_weights, min_labelled_leaf
        super().__init__(*sizes, *tests, task, random_state, n_jobs)
        self.hierarchy_weight = hierarchy_weight
        self.class_weight = class_weight
        self.hierarchy = hierarchy

    def staged_predict_proba(self, X: FeaturesLike) -> Iterator[Any]:
        """Yield the probabilities by the first 1, 2, ... trees: those of smaller forests with the same seed.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.
        """
        for means in self._staged_means(X):
            yield self._shares(means)

    def _keep_out_of_bag(self, means: np.ndarray, covered: np.ndarray) -> None:
        self.oob_decision_function_ = self._shares(means)


class PCTForestRegressor(Forest, PCTRegressorBase):
    """An ensemble of predictive clustering trees for one number, several, or numbers and classes together.

    The means in the leaves are averaged over the trees.

    Parameters
    ----------
    ensemble : {"random-forest", "extra-trees", "bagging"}
        Random forest and bagging try all tests of the features drawn in a node, extra trees one random test each.
    n_trees : int
        Number of trees.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Features drawn in a node: a count, a share or a name. None: a third of them in random forests, all D in bagging
        and extra trees (ceil(sqrt D) in extra trees when most features are binary).
    bootstrap : bool or None
        Whether each tree sees a bootstrap replicate; None is True.
    min_samples_leaf : float
        Least weight of a leaf, counted with bootstrap multiplicity and sample weights.
    max_depth : int or None
        Greatest depth of a leaf; None: no limit.
    oob_score : bool
        Whether to predict each example by the trees that have not seen it. Of data that do not fit in memory, the
        examples of one random sample are predicted, and ``oob_error_`` alone is kept.
    warm_start : bool
        Whether a further fit on the same data adds trees up to ``n_trees``: the result is that of growing them at
        once.
    nominal_tests : {"ordered", "greedy", "one-against-rest"}
        How subsets of a nominal feature's levels are searched; "greedy" cuts more than 1024 levels in a node in order.
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set; None is True.
    supervision : "auto", "cv" or float
        Level of supervision w in [0, 1] where some examples are unlabelled: tests lower w times the impurity of the
        target plus 1 - w times that of the features. 1 uses the labelled examples only, 0 the features only. "auto":
        small forests of several levels are compared by the out-of-bag loss of the labelled examples, and below 1 only
        where that is clearly better. "cv": the level of 0, 0.1, ..., 1 with the smallest error in 4-fold
        cross-validation of the labelled examples.
    feature_weights : None, "auto", Ranking or array-like
        How much each feature counts in the features' part of the impurity, relative to the largest. "auto": its
        permutation score in a supervised random forest on the labelled examples.
    min_labelled_leaf : float
        Where unlabelled examples are used: a leaf has no labelled examples or at least this weight of them, and nodes
        without any are not split. A leaf without labelled examples predicts what its nearest ancestor with some does.
    task : str
        "regression", "multi-target-regression" or "mixed-targets" (numbers and classes together, predicted as a
        DataFrame); "auto" infers it from y, in which whole numbers are numbers.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers, and the first trees of a larger forest
        are those of a smaller one.
    n_jobs : int or None
        Number of workers, in ``fit`` over trees and in ``predict`` over blocks of examples; -1: all cores.

    Attributes
    ----------
    trees_ : list of Tree
        The trees as flat arrays.
    task_ : str
        The task as inferred or given.
    n_outputs_ : int
        Number of targets.
    target_names_ : tuple of str
        Their names.
    supervision_, supervision_reason_, supervision_curve_
        The level of supervision, why it is that one, and the errors of those that were compared.
    feature_importances_ : ndarray
        Genie3, averaged over the trees.
    oob_prediction_ : ndarray or DataFrame
        As ``predict`` of the training examples, each by the trees that have not seen it; NaN where all have.
    oob_error_ : float
        Error of these predictions: mean squared error relative to the variance, averaged over the targets.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Kocev, Vens, Struyf, Dzeroski: Tree ensembles for predicting structured outputs. Pattern Recognition 46, 2013.

    Examples
    --------
    >>> import omnirank as om
    >>> train, test = om.datasets.make_friedman(600, random_state=0)[0].split(random_state=0)
    >>> forest = om.PCTForestRegressor(n_trees=50, random_state=0).fit(train)
    >>> forest.score(test) > 0.6
    True
    """

    _default_max_features = 1 / 3

    def _keep_out_of_bag(self, means: np.ndarray, covered: np.ndarray) -> None:
        mixed = get_task(self.task_).kind == "mixed"
        found = self._decide(np.nan_to_num(means) if mixed else means)
        if mixed:
            found[~covered] = None
        self.oob_prediction_ = found
