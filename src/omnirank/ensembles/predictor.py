"""What single trees and forests share as predictors: reading the data, predicting, scikit-learn's attributes."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError, ParameterError, logger
from omnirank.core.files import StoredArrays
from omnirank.core.parameters import JOBS, SEED, Domain, Hinting, check, check_parameters, choice
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike, in_memory
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import any_table, check_sample_weight, features_like, read_input
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.models import JsonFields, SavedModel
from omnirank.data.notes import caller_outside
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.data.task_registry import TaskNames, task_named
from omnirank.ensembles.model_parts import features_contents, restore_features, restore_target, target_contents
from omnirank.ensembles.plan import GROWING, GrowingData, GrowingPlan, GrowingRules
from omnirank.ensembles.supervision import SUPERVISION, Supervision, ToFit, resolve_level
from omnirank.measures.table import reaches
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.tasks.measuring import share_right, target_of, true_target
from omnirank.tasks.variables import decode_levels
from omnirank.trees.prediction import average_means
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import Pruning
from omnirank.trees.tree import Tree, arrays_of_trees, one_leaf, tree_from_grown, trees_of_arrays

_JUST_OVER_HALF = np.nextafter(0.5, 1.0)
# Warning for data without signal; wrappers that fit subsets silence it.
ONE_VALUE = "one class or value only; every prediction will be the same"


@dataclass(frozen=True, eq=False)
class Training:
    """What a fit works on.

    Attributes
    ----------
    whole : Dataset
        All examples given.
    used : ndarray of bool
        Those that trees may see: of positive weight, and labelled where the level of supervision is 1.
    data : GrowingData
        The used examples, their weights and those of the features.
    columns : PrototypeColumns
        Their coded target.
    level : Supervision
        The level of supervision.
    """

    whole: Dataset
    used: np.ndarray
    data: GrowingData
    columns: PrototypeColumns
    level: Supervision

    @classmethod
    def of(
        cls, whole: Dataset, weight: np.ndarray | None, data: GrowingData, rules: GrowingRules, level: Supervision
    ) -> Training:
        """Return what a fit works on, from the examples of positive weight."""
        used = np.ones(whole.n_examples, bool) if weight is None else weight > 0
        used, data = (used & whole.labelled, data.labelled) if level.level == 1 else (used, data)
        return cls(whole, used, data, data.target_columns(rules), level)


class PCTPredictor(Hinting, SavedModel, BaseEstimator):
    """Base of the predictors; subclasses grow trees in ``fit``, name them in ``_trees`` and take those of a file."""

    supported_tasks: ClassVar[Sequence[str]]

    _parameter_checks: ClassVar[Mapping[str, Domain]] = GROWING | {
        "supervision": SUPERVISION,
        "random_state": SEED,
        "n_jobs": JOBS,
    }

    max_features: Any
    supervision: Any
    feature_weights: Ranking | ArrayLike | None
    task: str
    random_state: RandomState

    # -- reading --------------------------------------------------------------------------------------

    def _training(
        self, X: FeaturesLike, y: TargetLike | None, sample_weight: ArrayLike | None, rules: GrowingRules, entropy: int
    ) -> Training:
        """Read and check the data, and note what predictions need to know of it."""
        check_parameters(self)
        X = in_memory(X)
        name = type(self).__name__
        if hasattr(X, "refuse_as_one"):  # several tables
            X.refuse_as_one()
        if y is None and not isinstance(X, Dataset):
            raise DataError(f"{name} requires y to be passed, but the target y is None")
        hierarchy = getattr(self, "hierarchy", None)
        whole = read_input(self, X, y, task=self._asked_task(X, y), hierarchy=hierarchy, task_is_sure=True)
        if whole.target is None:
            raise DataError(f"{name} needs a target: no example has a known target value")
        if whole.task not in self.supported_tasks:
            raise DataError(self._refusal(whole))
        weight = None if sample_weight is None else check_sample_weight(sample_weight, whole.n_examples)
        data = weighted_data(getattr(self, "class_weight", None), entropy, rules, whole, self._n_jobs(), weight)
        level, data = resolve_level(self.supervision, self.feature_weights, data, rules, self._to_fit(whole.task))
        training = Training.of(whole, self._with_class_weight(whole, weight), data, rules, level)
        if not training.used.all():
            logger.info("%d examples without known target or weight are not used", int((~training.used).sum()))
        self._note(training.data.dataset, training.columns)
        self._labelled = whole.labelled
        self._note_level(training.level)
        return training

    def _note_level(self, level: Supervision) -> None:
        self.supervision_ = level.level
        self.supervision_reason_ = level.reason
        self.supervision_curve_ = dict(level.curve)

    def _to_fit(self, task: str) -> ToFit:
        """Return what is to be fitted, for the choice of its level of supervision."""
        return ToFit(int(getattr(self, "n_trees", 1)))

    def _asked_task(self, X: FeaturesLike, y: TargetLike | None) -> str:
        return check("task", self.task, choice("auto", *self.supported_tasks), type(self).__name__)

    def _refusal(self, dataset: Dataset) -> str:
        return (
            f"Unknown label type: {type(self).__name__} does not handle {dataset.task} (target "
            f"{dataset.target_names[0]!r}); it handles {', '.join(self.supported_tasks)}"
        )

    def _with_class_weight(self, dataset: Dataset, weight: np.ndarray | None) -> np.ndarray | None:
        return class_weighted(getattr(self, "class_weight", None), dataset, weight)

    def _note(self, dataset: Dataset, columns: PrototypeColumns) -> None:
        self._note_target(dataset.task, dataset.hierarchy, columns)
        # how much each column varies: pictures of trees tell by it which means deviate
        self._column_spread = columns.deviation
        # What predictions need to know of the features, without their cells.
        self._features = dataset.features.take(slice(0, 0))
        self._had_missing = dataset.features.with_missing

    def _note_target(self, task: str, hierarchy: Hierarchy | None, columns: PrototypeColumns) -> None:
        """Note what predictions need to know of the target, without its values."""
        self.task_ = task
        self.hierarchy_ = hierarchy
        self.n_outputs_ = columns.n_variables
        self.target_names_ = columns.names
        self._columns = replace(columns, matrix=columns.matrix[:0], labelled=columns.labelled[:0])

    def _warn_of_constant(self, names: Sequence[str]) -> None:
        shown = repr(names[0]) if len(names) == 1 else f"{names[0]!r} and the {len(names) - 1} others"
        warnings.warn(f"target {shown}: {ONE_VALUE}", UserWarning, stacklevel=caller_outside())

    # -- predicting -----------------------------------------------------------------------------------

    @abstractmethod
    def _trees(self) -> list[Tree]:
        """Return the fitted trees."""

    @abstractmethod
    def _take_trees(self, trees: list[Tree]) -> None:
        """Take trees as the fitted ones."""

    @abstractmethod
    def _keep_out_of_bag(self, means: np.ndarray, covered: np.ndarray) -> None:
        """Keep the out-of-bag means as the attribute of a forest of this kind."""

    def _n_jobs(self) -> int | None:
        return getattr(self, "n_jobs", None)

    def _table(self, X: FeaturesLike) -> Table:
        check_is_fitted(self)
        return features_like(self, X, self._features)

    def _means(self, table: Table) -> np.ndarray:
        """Prototypes averaged over the trees."""
        return average_means(self._trees(), table, self._columns.n_columns, n_jobs=self._n_jobs())

    def predict_means(self, X: FeaturesLike) -> np.ndarray:
        """Return what predictions are made from: means of the target in the leaves, averaged over the trees.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.

        Returns
        -------
        ndarray
            One row per example; one column per number, per label (its frequency) or per class of a nominal target.
        """
        return self._means(self._table(X))

    def predict(self, X: FeaturesLike) -> Any:
        """Predict the target.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.

        Returns
        -------
        ndarray or DataFrame
            One value per example; one row per example where there are several targets; a DataFrame for mixed targets.
        """
        return self._decide(self._means(self._table(X)))

    def transduce(self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None) -> Any:
        """Fit, and predict the target of the unlabelled examples among the training data.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        ndarray or DataFrame
            As ``predict``, one entry for each example without any known target value, in their order.
        """
        X = in_memory(X)
        self.fit(X, y, sample_weight)
        if self._labelled.all():
            raise DataError("all examples are labelled: there is nothing to predict; use fit and predict")
        return self._decide(self._means(self._table(X).take(~self._labelled)))

    def _truth(self, X: FeaturesLike, y: TargetLike | None) -> Target | None:
        """Return what ``score`` compares predictions with."""
        return true_target(X, y, self.task_, self.target_names_, self.hierarchy_)

    def _threshold(self, threshold: float | None) -> float:
        if threshold is not None:
            raise ParameterError("threshold", threshold, f"it is for label sets, but the task is {self.task_}")
        return 0.5

    def _decide(self, means: np.ndarray, threshold: float = 0.5) -> Any:
        return get_task(self.task_).predict(means, self._columns, threshold)

    # -- files ----------------------------------------------------------------------------------------

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts, arrays = target_contents(self)
        return features_contents(self) | facts, arrays | arrays_of_trees(self._trees())

    def _restore(self, facts: JsonFields, stored: StoredArrays) -> None:
        restore_features(self, facts)
        restore_target(self, facts, stored)
        n_values = getattr(self, "_leaf_columns", self._columns).n_columns
        self._take_trees(trees_of_arrays(stored, self._features.levels, n_values))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Genie3: summed heuristic values h* of the tests of each feature, averaged over the trees."""
        check_is_fitted(self)
        sums = np.zeros(self.n_features_in_)
        for tree in self._trees():
            inner = ~tree.is_leaf
            sums += np.bincount(tree.feature[inner], tree.gain[inner], len(sums))
        return sums / len(self._trees())

    def __sklearn_tags__(self) -> Any:
        tags = any_table(super().__sklearn_tags__())
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


class PCTClassifierBase(ClassifierMixin, PCTPredictor):
    """Classes and label sets: probabilities, thresholds and class weights.

    scikit-learn's tag ``multi_label`` stays off although label sets are predicted: it stands for checks that want
    probabilities strictly between 0 and 1, but frequencies in leaves are often 0 or 1.
    """

    supported_tasks = TaskNames("classes", "labels")

    class_weight: Any

    def predict(self, X: FeaturesLike, threshold: float | None = None) -> Any:
        """Predict classes or label sets.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.
        threshold : float, optional
            Label sets: a label is predicted if its frequency is at least this, by default 1/2. Predictions obey the
            hierarchy for every threshold.

        Returns
        -------
        ndarray
            Classes, (n,) or (n, targets), or a 0/1 matrix (n, labels).
        """
        table = self._table(X)
        cut = self._threshold(threshold)
        if get_task(self.task_).kind != "labels":
            return self._decide(self._means(table))
        finish = partial(get_task(self.task_).predict, columns=self._columns, threshold=cut)
        return average_means(self._trees(), table, self._columns.n_columns, finish, self._n_jobs())

    def predict_proba(self, X: FeaturesLike) -> Any:
        """Return the frequencies of classes or labels, averaged over the trees.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.

        Returns
        -------
        ndarray or list of ndarray
            (n, classes), in the order of ``classes_``; (n, labels) for label sets, with 1/2 as the next larger number,
            so that rounding gives ``predict``; a list of (n, classes), one per target, for several nominal targets.
        """
        return self._shares(self._means(self._table(X)))

    def score(self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of labelled examples predicted right: the class, all classes, or the whole label set.

        Unlabelled examples do not count; of partly labelled ones what is known does.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples; a Dataset brings its target.
        y : array-like
            Their classes or label sets, written as in ``fit``.
        sample_weight : array-like, optional
            Weights of the examples.
        """
        predicted = self.predict(X)
        return share_right(self._truth(X, y), predicted, sample_weight)

    def _threshold(self, threshold: float | None) -> float:
        if threshold is None or get_task(self.task_).kind != "labels":
            return super()._threshold(threshold)
        return float(threshold)

    def _shares(self, means: np.ndarray) -> Any:
        task = get_task(self.task_)
        if task.kind == "labels":
            # so that rounding, which takes 1/2 down to 0, agrees with predict, for which 1/2 is enough
            means[reaches(means) & (means <= 0.5)] = _JUST_OVER_HALF
        if task.kind == "labels" or task.single:
            return means
        return [means[:, self._columns.variable == v] for v in range(self.n_outputs_)]

    def _note_target(self, task: str, hierarchy: Hierarchy | None, columns: PrototypeColumns) -> None:
        super()._note_target(task, hierarchy, columns)
        classes: Any
        known = get_task(task)
        if known.kind == "labels":
            classes = [np.array([0, 1])] * self.n_outputs_
        else:
            classes = [decode_levels(np.arange(len(lev or ())), lev) for lev in columns.levels]
            classes = classes[0] if known.single else classes
        self.classes_ = classes

    def _keep_out_of_bag(self, means: np.ndarray, covered: np.ndarray) -> None:
        self.oob_decision_function_ = self._shares(means)


class PCTRegressorBase(RegressorMixin, PCTPredictor):
    """One number, several, or numbers and classes together."""

    supported_tasks = TaskNames("numbers", "mixed")

    def score(self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return R squared, the mean over the targets, each over the examples in which it is known.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples; a Dataset brings its target.
        y : array-like
            Their targets.
        sample_weight : array-like, optional
            Weights of the examples.
        """
        check_is_fitted(self)
        if get_task(self.task_).kind == "mixed":
            raise DataError("there is no R squared of mixed targets: compare the columns of predict(X) one by one")
        target = self._truth(X, y)
        predicted = self.predict(X)
        target, n = target_of(target, predicted), len(predicted)
        weights = None if sample_weight is None else check_sample_weight(sample_weight, n)
        truth, predictions = target.dense(), np.reshape(predicted, (n, -1))
        return float(np.mean([_r2(truth[:, v], predictions[:, v], weights) for v in range(truth.shape[1])]))

    def _asked_task(self, X: FeaturesLike, y: TargetLike | None) -> str:
        task = super()._asked_task(X, y)
        if task != "auto" or isinstance(X, Dataset):
            return task
        # Whole numbers would be classes: to a regressor they are numbers.
        inferred = target_from(y)[1]
        as_given = get_task(inferred)
        return task_named("numbers", single=as_given.single) if as_given.kind in ("classes", "labels") else inferred

    def _keep_out_of_bag(self, means: np.ndarray, covered: np.ndarray) -> None:
        mixed = get_task(self.task_).kind == "mixed"
        predicted = self._decide(np.nan_to_num(means) if mixed else means)
        if mixed:
            predicted[~covered] = None
        self.oob_prediction_ = predicted


def _r2(truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    from sklearn.metrics import r2_score

    known = ~np.isnan(truth)
    if not known.any():
        raise DataError("a target has no known value in y: there is nothing to compare predictions with")
    weights = None if weights is None else weights[known]
    return float(r2_score(truth[known], predicted[known], sample_weight=weights))


def class_weighted(class_weight: Any, dataset: Dataset, weight: np.ndarray | None) -> np.ndarray | None:
    """Return the weights of examples, times those of their classes."""
    target = dataset.target
    if class_weight is None or target is None:
        return weight
    if target.is_labels:
        raise ParameterError("class_weight", class_weight, "it is for classes; label sets have sample_weight")
    given = class_weight
    if isinstance(given, str | Mapping):
        given = [given] * target.n_targets
    if isinstance(given, bytes) or not isinstance(given, Sequence) or len(given) != target.n_targets:
        advice = f"choose 'balanced', None, a dictionary, or a list of {target.n_targets}, one per target"
        raise ParameterError("class_weight", given, advice)
    product = np.ones(dataset.n_examples) if weight is None else weight
    for v, one in enumerate(given):
        product = product * _class_weights(target, v, one)
    try:
        return check_sample_weight(product, dataset.n_examples)
    except DataError as reason:
        raise ParameterError("class_weight", class_weight, f"times the weights of examples: {reason}") from None


def _class_weights(target: Target, variable: int, given: Any) -> np.ndarray:
    """Weight of each example by its class of one target; 1 where that is unknown."""
    cells, levels = target.values[:, variable], target.levels[variable] or ()
    codes = np.where(np.isnan(cells), len(levels), cells).astype(np.intp)
    by_code = np.ones(len(levels) + 1)
    name = target.names[variable]
    if isinstance(given, str):
        check("class_weight", given, choice("balanced"))
        counts = np.bincount(codes, minlength=len(by_code))[:-1]
        present = counts > 0
        by_code[:-1][present] = counts.sum() / (present.sum() * counts[present])
        return by_code[codes]
    if not isinstance(given, Mapping):
        raise ParameterError("class_weight", given, f"choose 'balanced' or a dictionary for target {name!r}")
    unknown = [level for level in given if level not in levels]
    if unknown:
        raise ParameterError("class_weight", given, f"{unknown[0]!r} is no class of target {name!r}")
    for code, level in enumerate(levels):
        own = given.get(level, 1.0)
        if not isinstance(own, Real) or not 0 <= float(own) < np.inf:
            raise ParameterError("class_weight", given, f"the weight of {level} must be finite and not negative")
        by_code[code] = float(own)
    return by_code[codes]


def weighted_data(
    class_weight: Any,
    entropy: int,
    rules: GrowingRules,
    whole: Dataset,
    n_jobs: int | None,
    weight: np.ndarray | None = None,
) -> GrowingData:
    """Return the examples of positive weight as trees are grown on them; bootstraps keep copies together."""
    weight = class_weighted(class_weight, whole, weight)
    used = np.ones(whole.n_examples, bool) if weight is None else weight > 0
    if not (used & whole.labelled).any():
        raise DataError("no example has both a known target value and a positive weight")
    groups = whole.groups if rules.bootstraps else None
    return GrowingData(whole, entropy, weight, n_jobs=n_jobs, groups=groups).take(used)


def tree_grower(data: GrowingData, rules: GrowingRules, pruning: Pruning | None) -> Callable[[int], Tree]:
    """Return what grows tree i; where the target is constant, every tree is one leaf."""
    columns = data.target_columns(rules)
    if columns.is_constant:
        return partial(_one_leaf, data, columns)
    return PlannedTrees(data.plan(rules), pruning)


@dataclass(frozen=True, eq=False)
class PlannedTrees:
    """Grows the trees of a plan; picklable."""

    plan: GrowingPlan
    pruning: Pruning | None

    def __call__(self, i: int) -> Tree:
        """Grow tree i."""
        return self.plan.tree(self.pruning, i)

    def to_send(self) -> PlannedTrees:
        """Return what grows the same trees, as it travels to other machines."""
        return replace(self, plan=self.plan.to_send())


def _one_leaf(data: GrowingData, columns: PrototypeColumns, i: int) -> Tree:
    grown = one_leaf(np.ones(data.dataset.n_examples) if data.weight is None else data.weight)
    return tree_from_grown(grown, data.dataset.features, *node_means(grown, columns))
