"""What single trees and forests share as predictors: reading the data, predicting, scikit-learn's attributes."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from omnirank.core.array_file import StoredArrays
from omnirank.core.errors import DataError, ParameterError, logger
from omnirank.core.parameters import JOBS, SEED, Domain, check, check_parameters, choice
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike, in_memory
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import any_table, check_sample_weight, features_like, read_input
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.models import JsonFields, SavedModel
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.ensembles.feature_weights import check_feature_weights, resolve_feature_weights
from omnirank.ensembles.model_parts import features_contents, restore_features, restore_target, target_contents
from omnirank.ensembles.plan import GROWING, GrowingData, GrowingPlan, GrowingRules
from omnirank.ensembles.supervision import SUPERVISION, Supervision, resolve_supervision
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.tasks.scoring import true_target
from omnirank.trees.prediction import average_means
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import Pruning
from omnirank.trees.tree import Tree, one_leaf, tree_from_grown
from omnirank.trees.tree_arrays import arrays_of_trees, trees_of_arrays


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

    @property
    def is_constant(self) -> bool:
        """Whether no target varies, so that there is nothing to split on."""
        return not ((self.columns.impurity > 0) & (self.columns.weights > 0)).any()


# What is warned of where nothing can be learned; who fits parts of data may expect it.
ONE_VALUE = "one class or value only; every prediction will be the same"


class PCTPredictor(SavedModel, BaseEstimator):
    """Base of the predictors; subclasses grow trees in ``fit``, name them in ``_trees`` and take those of a file."""

    supported_tasks: ClassVar[Sequence[str]]

    _parameter_checks: ClassVar[Mapping[str, Domain]] = GROWING | {
        "supervision": SUPERVISION,
        "random_state": SEED,
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        max_features: Any,
        min_samples_leaf: float,
        max_depth: int | None,
        nominal_tests: str,
        tie_break: str,
        normalize_targets: bool | None,
        supervision: Any,
        feature_weights: Ranking | ArrayLike | None,
        min_labelled_leaf: float,
        task: str,
        random_state: RandomState,
    ) -> None:
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.nominal_tests = nominal_tests
        self.tie_break = tie_break
        self.normalize_targets = normalize_targets
        self.supervision = supervision
        self.feature_weights = feature_weights
        self.min_labelled_leaf = min_labelled_leaf
        self.task = task
        self.random_state = random_state

    # -- reading --------------------------------------------------------------------------------------

    def _training(
        self, X: FeaturesLike, y: TargetLike | None, sample_weight: ArrayLike | None, rules: GrowingRules, entropy: int
    ) -> Training:
        """Read and check the data, and note what predictions need to know of it."""
        check_parameters(self)
        X = in_memory(X)
        name = type(self).__name__
        if y is None and not isinstance(X, Dataset):
            raise DataError(f"{name} requires y to be passed, but the target y is None")
        hierarchy = getattr(self, "hierarchy", None)
        whole = read_input(self, X, y, task=self._asked_task(X, y), hierarchy=hierarchy, task_is_sure=True)
        if whole.target is None:
            raise DataError(f"{name} needs a target: no example has a known target value")
        if whole.task not in self.supported_tasks:
            raise DataError(self._refusal(whole))
        weight = None if sample_weight is None else check_sample_weight(sample_weight, whole.n_examples)
        training = self._prepared(whole, weight, rules, entropy)
        if not training.used.all():
            logger.info("%d examples without known target or weight are not used", int((~training.used).sum()))
        self._note(training.data.dataset, training.columns)
        self._labelled = whole.labelled
        self._note_level(training.level)
        return training

    def _prepared(
        self,
        whole: Dataset,
        weight: np.ndarray | None,
        rules: GrowingRules,
        entropy: int,
        level: Supervision | None = None,
        feature_weights: np.ndarray | None = None,
    ) -> Training:
        """Return what trees see of the examples, at a level of supervision that is given or found."""
        weight = self._with_class_weight(whole, weight)
        used = np.ones(whole.n_examples, bool) if weight is None else weight > 0
        if not (used & whole.labelled).any():
            raise DataError("no example has both a known target value and a positive weight")
        groups = whole.groups if rules.bootstraps else None
        data = GrowingData(whole, entropy, weight, feature_weights, self._n_jobs(), groups).take(used)
        if level is None:
            level, data = self._level(data, rules)
        if level.level == 1:
            used, data = used & whole.labelled, data.labelled
        return Training(whole, used, data, data.target_columns(rules), level)

    def _note_level(self, level: Supervision) -> None:
        self.supervision_ = level.level
        self.supervision_reason_ = level.reason
        self.supervision_curve_ = dict(level.curve)

    def _level(self, data: GrowingData, rules: GrowingRules) -> tuple[Supervision, GrowingData]:
        """Return the level of supervision, and the data with the weights of the features, which count below 1 only."""
        check_feature_weights(self.feature_weights, data.dataset)
        if self.supervision == 1 or (isinstance(self.supervision, str) and data.dataset.labelled.all()):
            return resolve_supervision(self.supervision, data, rules), data
        data = resolve_feature_weights(self.feature_weights, data, rules)
        return resolve_supervision(self.supervision, data, rules, *self._single_tree(data.dataset.task)), data

    def _single_tree(self, task: str) -> tuple[bool, Pruning | None]:
        """Whether one tree predicts, and how it is pruned."""
        return False, None

    def _asked_task(self, X: FeaturesLike, y: TargetLike | None) -> str:
        return check("task", self.task, choice("auto", *self.supported_tasks), type(self).__name__)

    def _refusal(self, dataset: Dataset) -> str:
        return (
            f"Unknown label type: {type(self).__name__} does not handle {dataset.task} (target "
            f"{dataset.target_names[0]!r}); it handles {', '.join(self.supported_tasks)}"
        )

    def _with_class_weight(self, dataset: Dataset, weight: np.ndarray | None) -> np.ndarray | None:
        return weight

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

    def _plan(self, training: Training, rules: GrowingRules) -> GrowingPlan | None:
        """Return the plan of the trees; None, with a warning, where the target is constant."""
        if not training.is_constant:
            return training.data.plan(replace(rules, supervision=training.level.level))
        self._tell_constant(training.columns.names)
        return None

    def _tell_constant(self, names: Sequence[str]) -> None:
        shown = repr(names[0]) if len(names) == 1 else f"{names[0]!r} and the {len(names) - 1} others"
        warnings.warn(
            f"target {shown}: {ONE_VALUE}",
            UserWarning,
            stacklevel=5,
        )

    # -- predicting -----------------------------------------------------------------------------------

    @abstractmethod
    def _trees(self) -> list[Tree]:
        """Return the fitted trees."""

    @abstractmethod
    def _take_trees(self, trees: list[Tree]) -> None:
        """Take trees as the fitted ones."""

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
        self._take_trees(trees_of_arrays(stored, self._features.levels, self._columns.n_columns))

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


def tree_grower(plan: GrowingPlan | None, training: Training, pruning: Pruning | None) -> Callable[[int], Tree]:
    """Return what grows tree i of a plan; without one the target is constant and every tree is one leaf.

    It holds the plan and not the training examples: it travels to the workers.
    """
    return partial(_one_leaf, training) if plan is None else _PlannedTrees(plan, pruning)


@dataclass(frozen=True, eq=False)
class _PlannedTrees:
    """Grows the trees of a plan; picklable."""

    plan: GrowingPlan
    pruning: Pruning | None

    def __call__(self, i: int) -> Tree:
        return self.plan.tree(self.pruning, i)

    def to_send(self) -> _PlannedTrees:
        """Return what grows the same trees, as it travels to other machines."""
        return replace(self, plan=self.plan.to_send())


def _one_leaf(training: Training, i: int) -> Tree:
    data = training.data
    grown = one_leaf(np.ones(data.dataset.n_examples) if data.weight is None else data.weight)
    return tree_from_grown(grown, data.dataset.features, *node_means(grown, training.columns))
