"""Single predictive clustering trees."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from omnirank.core.parameters import Domain, choice, number
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.hierarchy import Hierarchy
from omnirank.ensembles.pct_kinds import PCTClassifierBase, PCTRegressorBase
from omnirank.ensembles.plan import GrowingRules
from omnirank.ensembles.predictor import PCTPredictor, tree_grower
from omnirank.tasks import get_task
from omnirank.trees.prediction import leaves_of, paths_of
from omnirank.trees.pruning import M5_PENALTY, Pruning
from omnirank.trees.tree import Tree

# What a task may name as its default.
_PRUNINGS = {None: None, "m5": Pruning(M5_PENALTY), "plain": Pruning(1.0, plain=True)}

Self = TypeVar("Self", bound="_SingleTree")


class _SingleTree(PCTPredictor):
    """One tree: growing, pruning and looking at it."""

    _parameter_checks: ClassVar[dict[str, Domain]] = {"pruning": choice("auto", "m5", None) | number(0)}

    def __init__(
        self,
        max_features: Any = None,
        min_samples_leaf: float = 2,
        max_depth: int | None = None,
        pruning: Any = "m5",
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        normalize_targets: bool | None = None,
        supervision: Any = "auto",
        feature_weights: Ranking | ArrayLike | None = None,
        min_labelled_leaf: float = 2,
        task: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        growing = max_features, min_samples_leaf, max_depth, nominal_tests, tie_break, normalize_targets
        super().__init__(*growing, supervision, feature_weights, min_labelled_leaf, task, random_state)
        self.pruning = pruning

    def fit(self: Self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Grow and prune the tree.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame
            A data set with its target, or the features: numbers are numeric; categoricals, strings and booleans are
            nominal; NaN, None and NA are missing.
        y : array-like, data frame, scipy.sparse container or sequence of sets
            The target; NaN, None and NA are unknown. ``supervision`` decides how examples without any known target
            value are used. Not with a Dataset.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples, of mean about 1; those of weight 0 are not used.

        Returns
        -------
        self
            The fitted tree.
        """
        rules, entropy = GrowingRules.of(self, ensemble="bagging", bootstrap=False), root_entropy(self.random_state)
        training = self._training(X, y, sample_weight, rules, entropy)
        pruning = self._how_to_prune(training.data.dataset.task)
        plan = self._plan(training, rules)
        self.tree_ = tree_grower(plan, training, pruning)(0)
        return self

    def _how_to_prune(self, task: str) -> Pruning | None:
        given = self.pruning
        if given is None:
            return None
        if isinstance(given, str) and given in ("auto", "m5"):
            return _PRUNINGS[get_task(task).default_pruning if given == "auto" else given]
        return Pruning(float(given))

    def _single_tree(self, task: str) -> tuple[bool, Pruning | None]:
        return True, self._how_to_prune(task)

    def _trees(self) -> list[Tree]:
        return [self.tree_]

    def _take_trees(self, trees: list[Tree]) -> None:
        (self.tree_,) = trees

    def apply(self, X: FeaturesLike) -> np.ndarray:
        """Return the number of the leaf that each example reaches.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.
        """
        table = self._table(X)  # says so where nothing is fitted
        return leaves_of(self._trees(), table)[:, 0]

    def decision_path(self, X: FeaturesLike) -> Any:
        """Return which nodes each example passes: a csr matrix (examples, nodes) of 0 and 1.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.
        """
        table = self._table(X)
        return paths_of(self.tree_, table)

    def get_depth(self) -> int:
        """Return the depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves


class PCTClassifier(_SingleTree, PCTClassifierBase):
    """A predictive clustering tree for classes, several classes, label sets and hierarchies of labels.

    Parameters
    ----------
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Features drawn in a node: a count, a share or a name. None: all.
    min_samples_leaf : float
        Least weight of a leaf.
    max_depth : int or None
        Greatest depth of a leaf; None: no limit.
    pruning : "auto", "m5", None or float
        M5 replaces a subtree by a leaf where the leaf's estimated error sqrt(E / n) (n + 2 v) / (n - v) is not
        larger: E squared distances from the prototypes, n examples, v leaves and tests. A number takes the place of
        the 2: 1 keeps larger trees. None: no pruning. "auto": M5 for label sets, with 1, and with labels that
        count in E as they are, not divided by their variances as otherwise; no pruning for classes, where M5 leaves
        little of a tree of many classes and few examples.
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
        The seed.

    Attributes
    ----------
    tree_ : Tree
        The tree as flat arrays.
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
        Genie3 of the tree.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Blockeel, De Raedt, Ramon: Top-down induction of clustering trees. ICML, 1998.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.load_sample("digits")
    >>> train, test = data.split(random_state=0)
    >>> tree = om.PCTClassifier(random_state=0).fit(train)
    >>> tree.score(test) > 0.8
    True
    """

    def __init__(
        self,
        max_features: Any = None,
        min_samples_leaf: float = 2,
        max_depth: int | None = None,
        pruning: Any = "auto",
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
    ) -> None:
        growing = max_features, min_samples_leaf, max_depth, pruning, nominal_tests, tie_break, normalize_targets
        super().__init__(*growing, supervision, feature_weights, min_labelled_leaf, task, random_state)
        self.hierarchy_weight = hierarchy_weight
        self.class_weight = class_weight
        self.hierarchy = hierarchy


class PCTRegressor(_SingleTree, PCTRegressorBase):
    """A predictive clustering tree for one number, several numbers, or numbers and classes together.

    Parameters
    ----------
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Features drawn in a node: a count, a share or a name. None: all.
    min_samples_leaf : float
        Least weight of a leaf.
    max_depth : int or None
        Greatest depth of a leaf; None: no limit.
    pruning : "m5", "auto" (the same), None or float
        M5 replaces a subtree by a leaf where the leaf's estimated error sqrt(E / n) (n + 2 v) / (n - v) is not
        larger: E squared distances from the prototypes, n examples, v leaves and tests. A number takes the place of
        the 2: 1 keeps larger trees. None: no pruning.
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
        The seed.

    Attributes
    ----------
    tree_ : Tree
        The tree as flat arrays.
    task_ : str
        The task as inferred or given.
    n_outputs_ : int
        Number of targets.
    target_names_ : tuple of str
        Their names.
    supervision_, supervision_reason_, supervision_curve_
        The level of supervision, why it is that one, and the errors of those that were compared.
    feature_importances_ : ndarray
        Genie3 of the tree.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Blockeel, De Raedt, Ramon: Top-down induction of clustering trees. ICML, 1998.

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_friedman(400, random_state=0)
    >>> tree = om.PCTRegressor(random_state=0).fit(data)
    >>> unpruned = om.PCTRegressor(pruning=None, random_state=0).fit(data)
    >>> tree.get_n_leaves() < unpruned.get_n_leaves()
    True
    """
