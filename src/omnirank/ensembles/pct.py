"""Predictive clustering trees and ensembles of them as predictors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.files import StoredArrays
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import FLAG, Domain, check_parameters, choice, count, number
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.estimator_input import read_features
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.models import JsonFields, value_to_json
from omnirank.data.notes import caller_outside
from omnirank.data.table import Levels, Table
from omnirank.ensembles.explanation import Explaining
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.predictor import (
    PCTClassifierBase,
    PCTPredictor,
    PCTRegressorBase,
    Training,
    tree_grower,
    weighted_data,
)
from omnirank.ensembles.run import AskedLevel, DealtSamples, Limits, SampleTask, growing_samples, grown_samples
from omnirank.ensembles.supervision import Supervision, ToFit, check_feature_weights
from omnirank.shards.dataset import ShardedDataset, check_given
from omnirank.shards.summary import ColumnSummary
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prediction import leaves_of, sum_means
from omnirank.trees.pruning import M5_PENALTY, Pruning
from omnirank.trees.tree import Tree

# What a task may name as its default.
_PRUNINGS = {None: None, "m5": Pruning(M5_PENALTY), "plain": Pruning(1.0, plain=True)}


Self = TypeVar("Self", bound="SingleTree")
ForestSelf = TypeVar("ForestSelf", bound="Forest")


@dataclass(kw_only=True, eq=False, repr=False)
class GrowthParameters:
    """The parameters that trees and forests share, given by name."""

    normalize_targets: bool | None = None
    supervision: Any = "auto"
    feature_weights: Ranking | ArrayLike | None = None
    min_labelled_leaf: float = 2
    task: str = "auto"
    random_state: RandomState = None


@dataclass(kw_only=True, eq=False, repr=False)
class ClassParameters:
    """Those of classifiers alone."""

    hierarchy_weight: float = 0.75
    class_weight: Any = None
    hierarchy: Hierarchy | None = None


@dataclass(eq=False, repr=False)
class TreeParameters(GrowthParameters):
    """Those of one tree."""

    max_features: Any = None
    min_samples_leaf: float = 2
    max_depth: int | None = None
    pruning: Any = "m5"


@dataclass(eq=False, repr=False)
class ForestParameters(GrowthParameters):
    """Those of a forest."""

    ensemble: str = "random-forest"
    n_trees: int = 100
    max_features: Any = None
    bootstrap: bool | None = None
    min_samples_leaf: float = 2
    max_depth: int | None = None
    oob_score: bool = False
    n_jobs: int | None = field(default=None, kw_only=True)


class SingleTree(Explaining, PCTPredictor):
    """One tree: growing, pruning and looking at it."""

    _parameter_checks: ClassVar[dict[str, Domain]] = {"pruning": choice("auto", "m5", None) | number(0)}

    pruning: Any

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
        if training.columns.is_constant:
            self._warn_of_constant(training.columns.names)
        self.tree_ = tree_grower(training.data, replace(rules, supervision=training.level.level), pruning)(0)
        return self

    def _how_to_prune(self, task: str) -> Pruning | None:
        given = self.pruning
        if given is None:
            return None
        if isinstance(given, str) and given in ("auto", "m5"):
            return _PRUNINGS[get_task(task).default_pruning if given == "auto" else given]
        return Pruning(float(given))

    def _to_fit(self, task: str) -> ToFit:
        return ToFit(1, self._how_to_prune(task))

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

    def get_depth(self) -> int:
        """Return the depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves


@dataclass(eq=False, repr=False)
class PCTClassifier(ClassParameters, TreeParameters, SingleTree, PCTClassifierBase):
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
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    supervision : "auto", "cv", float or dict
        Level of supervision w in [0, 1]: tests lower w times the impurity of the target plus 1 - w times that of the
        features. 1 uses the labelled examples only, 0 the features only. "auto": 1 if all examples are labelled,
        otherwise chosen by 3-fold cross-validation of the labelled examples, as
        :func:`omnirank.ensembles.supervision.resolve_supervision` describes. "cv": the level of 0, 0.1, ..., 1 with the
        best measure of the task in cross-validation; a dict sets its ``levels``, ``folds`` or ``measure``.
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
        The level of supervision, the reason, and the losses ("auto") or measures ("cv") of the levels compared.
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

    pruning: Any = "auto"


class PCTRegressor(TreeParameters, SingleTree, PCTRegressorBase):
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
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set; None is True.
    supervision : "auto", "cv", float or dict
        Level of supervision w in [0, 1]: tests lower w times the impurity of the target plus 1 - w times that of the
        features. 1 uses the labelled examples only, 0 the features only. "auto": 1 if all examples are labelled,
        otherwise chosen by 3-fold cross-validation of the labelled examples, as
        :func:`omnirank.ensembles.supervision.resolve_supervision` describes. "cv": the level of 0, 0.1, ..., 1 with the
        best measure of the task in cross-validation; a dict sets its ``levels``, ``folds`` or ``measure``.
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
        The level of supervision, the reason, and the losses ("auto") or measures ("cv") of the levels compared.
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


# -- forests --------------------------------------------------------------------------------------------------


class Forest(Explaining, PCTPredictor):
    """Many trees: growing them, adding to them, averaging them."""

    _parameter_checks: ClassVar[dict[str, Domain]] = {"n_trees": count(1), "oob_score": FLAG}

    # Features drawn in a node of a random forest where ``max_features`` is None; None: as `features_per_node` says.
    _default_max_features: ClassVar[float | None] = None

    ensemble: str
    n_trees: int
    oob_score: bool
    n_jobs: int | None
    trees_: list[Tree]
    oob_error_: float

    def fit(
        self: ForestSelf, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None
    ) -> ForestSelf:
        """Grow the trees.

        Parameters
        ----------
        X : Dataset, ShardedDataset, array-like, scipy.sparse container or data frame
            A data set with its target, or the features: numbers are numeric; categoricals, strings and booleans are
            nominal; NaN, None and NA are missing. Of data in parts that do not fit in memory, each tree sees a random
            sample.
        y : array-like, data frame, scipy.sparse container or sequence of sets
            The target; NaN, None and NA are unknown. ``supervision`` decides how examples without any known target
            value are used. Not with a Dataset.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples, of mean about 1; they multiply bootstrap counts. Those of weight 0 are not used.

        Returns
        -------
        self
            The fitted forest.
        """
        rules = GrowingRules.of(self)
        self._check(rules)
        if self.max_features is None and self.ensemble == "random-forest":
            rules = replace(rules, max_features=self._default_max_features)
        entropy = root_entropy(self.random_state)
        if isinstance(X, ShardedDataset) and not X.fits_in_memory:
            check_given(self, X, y, sample_weight)
            return self._fit_parts(X, rules, entropy)
        training = self._training(X, y, sample_weight, rules, entropy)
        if training.columns.is_constant:
            self._warn_of_constant(training.columns.names)
        grow = tree_grower(training.data, replace(rules, supervision=training.level.level), None)
        self.trees_ = run_parallel(grow, range(int(self.n_trees)), self.n_jobs, description="growing trees")
        self._clear_out_of_bag()
        if self.oob_score:
            self._predict_out_of_bag(training, getattr(grow, "plan", None))
        return self

    def _fit_parts(self: ForestSelf, data: ShardedDataset, rules: GrowingRules, entropy: int) -> ForestSelf:
        """Grow the trees on random samples of data in parts.

        Levels, classes and their order are those of all rows, so that a class that a sample does not have keeps its
        place.
        """
        if not data.n_targets:
            raise DataError(f"{type(self).__name__} needs a target: open the shards with one")
        if data.task not in self.supported_tasks:
            raise DataError(self._refusal(data.example))
        read_features(self, data.example, reset=True)
        check_feature_weights(self.feature_weights, data.example)
        samples = growing_samples(data, entropy, self.supervision)
        growing = partial(weighted_data, getattr(self, "class_weight", None), entropy, rules)
        dealt = DealtSamples(data, samples, growing, self.n_jobs)
        columns = GrowingData(data.example, entropy).target_columns(rules)
        asked = AskedLevel(self.supervision, self.feature_weights, rules, self._to_fit(data.task))
        limits = Limits(int(self.n_trees))
        with dealt.ready(asked, limits) as level:
            work = _TreeWork(rules, level)
            (self.trees_,) = grown_samples(dealt, work, limits)
            self._clear_out_of_bag()
            self._note_level(level)
            self._note_parts(data, columns)
            if self.oob_score:
                self.oob_error_ = self._error_in_parts(dealt, work)
        return self

    def _note_parts(self, data: ShardedDataset, columns: PrototypeColumns) -> None:
        """Note what predictions need to know, of all rows."""
        summaries, target = data._summary.columns, data.example.target
        assert target is not None
        self._note(data.example, columns)
        self._labelled = np.zeros(0, bool)
        self._had_missing = tuple(summaries[name].n_known < data.n_examples for name in data.feature_names)
        spread = [_spread(summaries[name], levels) for name, levels in zip(target.names, target.levels, strict=True)]
        self._column_spread = np.concatenate(spread)
        if all(summaries[name].n_values < 2 for name in target.names):
            self._warn_of_constant(target.names)

    def _error_in_parts(self, dealt: DealtSamples, work: _TreeWork) -> float:
        """Return the error on the rows of the first sample, which are a random sample of all.

        A row is predicted by the trees that have not seen it: those of the sample whose bag it is not in, and those of
        other samples, but for samples that have the same labelled rows.
        """
        rows, data, samples = dealt.rows(0), dealt.sample(0), dealt.samples
        training = Training.of(rows, self._with_class_weight(rows, None), data, work.rules, work.level)
        plan = getattr(work.prepare(data), "plan", None)
        shared = samples.n_labelled or samples.n_samples
        seen = np.zeros((len(self.trees_), rows.n_examples), bool)
        for i in range(len(self.trees_)):
            if i % samples.n_samples:
                seen[i] = i % samples.n_samples % shared == 0
            elif plan is not None:
                seen[i, training.used] = plan.counts(i) > 0
        return self._judged_out_of_bag(training, self.trees_, seen)[2]

    def _check(self, rules: GrowingRules) -> None:
        check_parameters(self)
        if self.oob_score and not rules.bootstraps:
            raise ParameterError("oob_score", True, "it needs out-of-bag examples: set bootstrap to None or True")

    def _trees(self) -> list[Tree]:
        return self.trees_

    def _take_trees(self, trees: list[Tree]) -> None:
        self.trees_ = trees

    # -- files ----------------------------------------------------------------------------------------

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts, arrays = super()._contents()
        if hasattr(self, "oob_error_"):
            facts["oob_error"] = value_to_json(self.oob_error_, "oob_error_")
        return facts, arrays

    def _restore(self, facts: JsonFields, stored: StoredArrays) -> None:
        super()._restore(facts, stored)
        if "oob_error" in facts.keys():  # noqa: SIM118
            self.oob_error_ = facts.number("oob_error")

    # -- predicting -----------------------------------------------------------------------------------

    def apply(self, X: FeaturesLike) -> np.ndarray:
        """Return the number of the leaf that each example reaches in each tree, (examples, trees).

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.
        """
        table = self._table(X)  # says so where nothing is fitted
        return leaves_of(self._trees(), table, self.n_jobs)

    # -- out of bag -----------------------------------------------------------------------------------

    def _predict_out_of_bag(self, training: Any, plan: Any) -> None:
        """Predict each example by the trees that have not seen it; examples never used are out of every bag."""
        whole, used = training.whole, training.used
        seen = np.zeros((len(self.trees_), whole.n_examples), bool)
        if plan is not None:
            for i, bag in enumerate(seen):
                bag[used] = plan.counts(i) > 0
        self._seen = np.packbits(seen, axis=1)  # for explanations
        means, covered, self.oob_error_ = self._judged_out_of_bag(training, self.trees_, seen)
        self._keep_out_of_bag(means, covered)

    def _judged_out_of_bag(
        self, training: Training, trees: list[Tree], seen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Means over the trees that have not seen an example, whether there are any, and the error of these means."""
        whole, table = training.whole, self._training_table(training)
        sums, counts = sum_means(trees, table, training.columns.n_columns, seen, self.n_jobs)
        covered = counts > 0
        if not covered.all():
            warnings.warn(
                f"{int((~covered).sum())} examples are in the bag of every tree and have no out-of-bag prediction: "
                "grow more trees",
                UserWarning,
                stacklevel=caller_outside(),
            )
        with np.errstate(invalid="ignore"):
            means = sums / counts[:, None]
        rated = covered & training.used & whole.labelled
        task = get_task(self.task_)
        target = whole.take(rated).target
        truth = task.columns(target, whole.hierarchy) if target is not None else training.columns
        error = task.error(truth, means[rated], training.columns) if rated.any() else float("nan")
        return means, covered, float(error)

    def _training_table(self, training: Any) -> Table:
        """Return the features of all examples of a fit."""
        features: Table = training.whole.features
        return features

    def _clear_out_of_bag(self) -> None:
        for name in ("oob_error_", "oob_decision_function_", "oob_prediction_", "_seen"):
            self.__dict__.pop(name, None)


@dataclass(eq=False, repr=False)
class PCTForestClassifier(ClassParameters, ForestParameters, Forest, PCTClassifierBase):
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
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    supervision : "auto", "cv", float or dict
        Level of supervision w in [0, 1]: tests lower w times the impurity of the target plus 1 - w times that of the
        features. 1 uses the labelled examples only, 0 the features only. "auto": 1 if all examples are labelled,
        otherwise chosen by 3-fold cross-validation of the labelled examples, as
        :func:`omnirank.ensembles.supervision.resolve_supervision` describes. "cv": the level of 0, 0.1, ..., 1 with the
        best measure of the task in cross-validation; a dict sets its ``levels``, ``folds`` or ``measure``.
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
        The level of supervision, the reason, and the losses ("auto") or measures ("cv") of the levels compared.
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


class PCTForestRegressor(ForestParameters, Forest, PCTRegressorBase):
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
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set; None is True.
    supervision : "auto", "cv", float or dict
        Level of supervision w in [0, 1]: tests lower w times the impurity of the target plus 1 - w times that of the
        features. 1 uses the labelled examples only, 0 the features only. "auto": 1 if all examples are labelled,
        otherwise chosen by 3-fold cross-validation of the labelled examples, as
        :func:`omnirank.ensembles.supervision.resolve_supervision` describes. "cv": the level of 0, 0.1, ..., 1 with the
        best measure of the task in cross-validation; a dict sets its ``levels``, ``folds`` or ``measure``.
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
        The level of supervision, the reason, and the losses ("auto") or measures ("cv") of the levels compared.
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


@dataclass(frozen=True, eq=False)
class _TreeWork:
    """Grows the trees of a forest on the examples of a sample."""

    rules: GrowingRules
    level: Supervision

    def prepare(self, data: GrowingData) -> Any:
        """Return what grows tree i."""
        data = data.at_level(self.level.level)
        return tree_grower(data, replace(self.rules, supervision=self.level.level), None)

    def extended(self, grow: Any, task: SampleTask, n_jobs: int | None, before: None) -> list[Tree]:
        """Return the trees."""
        return run_parallel(grow, task.trees, n_jobs, description="growing trees")

    def merged(self, results: Mapping[int, list[Tree]], n_trees: int, n_samples: int) -> list[Tree]:
        """Return the trees of all samples, in the order of their numbers."""
        return [results[i % n_samples][i // n_samples] for i in range(n_trees)]


def _spread(summary: ColumnSummary, levels: Levels | None) -> np.ndarray:
    """Standard deviations of the columns of a target variable, over all rows."""
    if levels is None:
        return np.sqrt([summary.variance])
    shares = np.array([summary.counts.get(level, 0) for level in levels]) / max(summary.n_known, 1)
    return np.sqrt(shares * (1 - shares))
