"""Relational trees and forests; their base, which boosting shares: parameters, reading the data, new examples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError, ParameterError, logger
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import Domain, check_parameters, choice
from omnirank.core.seeds import root_entropy
from omnirank.core.text import counted
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.notes import caller_outside, warn_about
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.data.task_registry import TaskNames
from omnirank.ensembles.pct import PCTClassifier
from omnirank.ensembles.pct_forest import PCTForestClassifier, PCTForestRegressor
from omnirank.ensembles.pct_kinds import PCTClassifierBase, PCTRegressorBase
from omnirank.ensembles.plan import GrowingRules
from omnirank.relational.candidates import Bias
from omnirank.relational.construction import (
    CandidateTables,
    RelationalConstruction,
    distinct_names,
    over_used_features,
)
from omnirank.relational.dataset import RelationalDataset, check_relational
from omnirank.relational.evaluation import columns_as_fitted
from omnirank.relational.growing import RelationalPlan
from omnirank.relational.paths import Feature, describe
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.tasks.scoring import in_training_order
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import Tree, one_leaf, tree_with_thresholds

GrownTree = tuple[Tree, tuple[Any, ...]]

_OWN_TARGET = "the RelationalDataset holds its target: y must not be given as well"

Self = TypeVar("Self", bound="RelationalLearner")


@dataclass(frozen=True, eq=False)
class RelationalTraining:
    """What a fit works on.

    Attributes
    ----------
    whole : RelationalDataset
        All examples given.
    used : ndarray of bool
        Those that are labelled and of positive weight.
    dataset : RelationalDataset
        The used examples.
    weight : ndarray or None
        Their weights, where some were given.
    columns : PrototypeColumns
        Their coded target.
    """

    whole: RelationalDataset
    used: np.ndarray
    dataset: RelationalDataset
    weight: np.ndarray | None
    columns: PrototypeColumns

    @property
    def is_constant(self) -> bool:
        """Whether no target varies, so that there is nothing to split on."""
        return not ((self.columns.impurity > 0) & (self.columns.weights > 0)).any()


def _may_predict_classes(model: Any) -> bool:
    """Whether the model predicts classes or labels; a model that is not fitted may."""
    return not hasattr(model, "task_") or model._predicts_classes


class RelationalLearner(PCTClassifierBase, PCTRegressorBase):
    """Base of relational trees, forests and boosting; subclasses grow trees in ``fit``.

    The data set knows its task: a fitted learner is a classifier or a regressor.
    """

    supported_tasks = TaskNames("classes", "labels", "numbers", "mixed")

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "missing": choice("extreme", "learned"),
        "ensemble": choice("bagging", "random-forest"),
    }

    features_: tuple[Feature, ...]

    def __init__(
        self,
        preset: str,
        aggregates: Sequence[str] | None,
        lookahead: int,
        max_path_length: int | None,
        modes: Mapping[str, Any] | None,
        nominal_joins: bool,
        max_candidates: int | None,
        missing: str,
        max_features: Any,
        min_samples_leaf: float,
        max_depth: int | None,
        class_weight: Any,
        random_state: RandomState,
    ) -> None:
        self.preset = preset
        self.aggregates = aggregates
        self.lookahead = lookahead
        self.max_path_length = max_path_length
        self.modes = modes
        self.nominal_joins = nominal_joins
        self.max_candidates = max_candidates
        self.missing = missing
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.class_weight = class_weight
        self.random_state = random_state

    # -- reading --------------------------------------------------------------------------------------

    def _bias(self, dataset: RelationalDataset) -> Bias:
        given = Bias(**{field.name: getattr(self, field.name) for field in fields(Bias)})
        return given.within(dataset.modes, dataset.aggregates)

    def _read(self, X: Any, y: Any, sample_weight: ArrayLike | None, rules: GrowingRules) -> RelationalTraining:
        """Check parameters and data, and note what predictions need to know of the target."""
        check_parameters(self)
        name = type(self).__name__
        whole = check_relational(X, name)
        if y is not None:
            raise ParameterError(_OWN_TARGET)
        whole.require_target(name)
        assert whole.target is not None
        if whole.task not in self.supported_tasks:
            raise DataError(
                f"Unknown label type: {name} does not handle {whole.task} (target {whole.target_names[0]!r}); it "
                f"handles {', '.join(self.supported_tasks)}"
            )
        warn_about(whole, task_is_sure=True)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, whole.n_examples)
        weight = self._with_class_weight(whole, weight)
        used = whole.labelled if weight is None else whole.labelled & (weight > 0)
        if not used.any():
            raise DataError("no example has both a known target value and a positive weight")
        dataset = whole
        if not used.all():
            logger.info("%d examples without known target or weight are not used", int((~used).sum()))
            dataset, weight = whole.take(used), None if weight is None else weight[used]
        target = dataset.target
        assert target is not None
        columns = get_task(dataset.task).columns(target, dataset.hierarchy, rules.hierarchy_weight)
        self._note_target(dataset.task, dataset.hierarchy, columns)
        self._column_spread = columns.deviation
        self._signature = dataset.signature
        self._labelled = whole.labelled
        return RelationalTraining(whole, used, dataset, weight, columns)

    def _with_class_weight(self, dataset: Any, weight: np.ndarray | None) -> np.ndarray | None:
        if self.class_weight is not None and get_task(dataset.task).kind in ("numbers", "mixed"):
            raise ParameterError(
                "class_weight", self.class_weight, f"it is for classes, but the task is {dataset.task}"
            )
        return super()._with_class_weight(dataset, weight)

    def _note_target(self, task: str, hierarchy: Hierarchy | None, columns: PrototypeColumns) -> None:
        self.__dict__.pop("classes_", None)
        kind = PCTClassifierBase if get_task(task).kind in ("classes", "labels") else PCTRegressorBase
        kind._note_target(self, task, hierarchy, columns)

    def _tables(self, training: RelationalTraining) -> CandidateTables | None:
        """Return what nodes may test; None, with a warning, where there is nothing to test or to learn."""
        bias, learned = self._bias(training.dataset), self.missing == "learned"
        tables = CandidateTables(RelationalConstruction.of(training.dataset, bias, learned))
        if training.is_constant:
            reason = f"target {training.columns.names[0]!r}: one class or value only"
        elif tables.is_empty:
            reason = (
                "there is nothing to test: nothing that the preset constructs differs between examples; check the "
                "preset, the keys of the tables, and the relations that are left out"
            )
        else:
            return tables
        warnings.warn(f"{reason}; every prediction will be the same", UserWarning, stacklevel=caller_outside())
        return None

    def _grower(
        self, training: RelationalTraining, rules: GrowingRules
    ) -> tuple[Callable[[int], GrownTree], RelationalPlan | None]:
        """Return what grows tree i, and the plan; there is none where trees are leaves."""
        tables = self._tables(training)
        if tables is None:
            own = np.ones(training.dataset.n_examples) if training.weight is None else training.weight
            return partial(_one_leaf, own, training.columns), None
        task, columns, weight = training.dataset.task, training.columns, training.weight
        plan = RelationalPlan.make(tables, task, columns, rules, weight, root_entropy(self.random_state))
        _ = plan.tables.root  # made once, not by whichever worker comes first
        return plan.tree, plan

    def _keep(self, grown: Sequence[GrownTree], dataset: RelationalDataset) -> list[Tree]:
        """Note the features that trees use, and return the trees over these."""
        trees, features, levels = over_used_features(grown)
        self.features_ = tuple(describe(dataset.database, dataset.example_types, feature) for feature in features)
        names = distinct_names([feature.sentence for feature in self.features_])
        n_nominal = sum(known is not None for known in levels)
        blocks = np.empty((0, len(levels) - n_nominal)), np.empty((0, n_nominal), np.int32)
        self._features = Table(names, levels, *blocks)
        self._had_missing = (self.missing == "learned",) * len(names)
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return trees

    # -- predicting -----------------------------------------------------------------------------------

    @property
    def _predicts_classes(self) -> bool:
        return get_task(self.task_).kind in ("classes", "labels")

    def _table(self, X: Any) -> Table:
        """Return the used features of the examples, with the levels of the training data."""
        check_is_fitted(self)
        dataset = check_relational(X, type(self).__name__)
        table = columns_as_fitted(dataset, self._signature, self.features_, self._features.levels)
        codes, new = table.codes, []
        for i in np.flatnonzero(table.is_nominal):
            nothing = codes[:, table.slots[i]] == len(self._features.levels[i] or ())
            if nothing.any():
                new.append(self._features.names[i])
                codes[nothing, table.slots[i]] = -1
        if self.missing == "learned":
            table.numeric[np.isinf(table.numeric)] = np.nan  # made for this call
        elif new:
            warnings.warn(
                "there is nothing to aggregate where the training data always had something "
                f"({counted(len(new), 'feature')}, first {new[0]!r}): taken as missing",
                UserWarning,
                stacklevel=caller_outside(),
            )
        return replace(table, names=self._features.names, levels=self._features.levels, dates=frozenset())

    @available_if(_may_predict_classes)
    def predict_proba(self, X: RelationalDataset) -> Any:
        """Return the frequencies of classes or labels; only where the target is classes or labels.

        Parameters
        ----------
        X : RelationalDataset
            Examples in a database of the same schema.

        Returns
        -------
        ndarray or list of ndarray
            (n, classes), in the order of ``classes_``; (n, labels) for label sets, with 1/2 as the next larger number,
            so that rounding gives ``predict``; a list of (n, classes), one per target, for several nominal targets.
        """
        return super().predict_proba(X)  # type: ignore[arg-type]  # other data

    def score(  # type: ignore[override]  # other data
        self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of labelled examples predicted right, or R squared where the target is numbers.

        Parameters
        ----------
        X : RelationalDataset
            Examples with their target, in a database of the same schema.
        y : None
            The target is that of X.
        sample_weight : array-like, optional
            Weights of the examples.
        """
        check_is_fitted(self)
        kind = PCTClassifierBase if self._predicts_classes else PCTRegressorBase
        return kind.score(self, X, y, sample_weight)  # type: ignore[arg-type]  # other data

    def _truth(self, X: Any, y: Any) -> Target | None:
        if y is not None:
            raise ParameterError(_OWN_TARGET)
        dataset = check_relational(X, type(self).__name__)
        return in_training_order(dataset.target, self.task_, self.target_names_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = None
        if hasattr(self, "task_"):
            tags.estimator_type = "classifier" if self._predicts_classes else "regressor"
        return tags


def _one_leaf(weight: np.ndarray, columns: PrototypeColumns, i: int) -> GrownTree:
    grown = one_leaf(weight)
    return tree_with_thresholds(grown, np.full(1, np.nan), (), *node_means(grown, columns)), ()


class RelationalTree(RelationalLearner, PCTClassifier):
    """One relational tree, not pruned.

    A test asks for a value that is constructed along a path of relations from the example: "mean stars of its ratings
    <= 2.5". A node continues a prefix of the path of its parent's test. The data set knows its task: the tree predicts
    classes, several classes, label sets, hierarchies of labels, one number, several, or numbers and classes together.

    Parameters
    ----------
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
        How steps may use some of the relations, as in :class:`~omnirank.relational.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    nominal_joins : bool
        Whether steps may also join columns of the same named nominal domain.
    max_candidates : int or None
        Most candidates of a node; longer paths are left out first, with a warning.
    missing : {"extreme", "learned"}
        Where values that are undefined go, those of nothing to aggregate: to the end of the order where infinity is (a
        category of their own), or to the side of a test that is better in the training data.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Candidates drawn in a node: a count, a share or a name. None: all.
    min_samples_leaf : float
        Least weight of a leaf.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)) in hierarchical multi-label classification.
    class_weight : None, "balanced", dict or list of them
        Weight of each class, times ``sample_weight``; see :class:`PCTClassifier`. Not for numbers.
    random_state : None, int, RandomState or Generator
        The seed.

    Attributes
    ----------
    tree_ : Tree
        The tree over ``features_``.
    classes_ : ndarray or list of ndarray
        Of classes: the classes, or one array for each of several targets or labels.
    features_ : tuple of Feature
        The constructed features that the tree tests; ``feature_names_in_`` are their sentences.
    task_, n_outputs_, target_names_
        The task, the number of targets or labels, and their names.
    feature_importances_ : ndarray
        Genie3 of each of these features.

    References
    ----------
    Petkovic, Ceci, Pio, Skrlj, Kersting, Dzeroski: Relational tree ensembles and feature rankings. Knowledge-Based
    Systems 251, 2022.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.make_movies(random_state=0)
    >>> om.relational.RelationalTree(random_state=0).fit(data).score(data) > 0.9
    True
    >>> import pandas as pd
    >>> shops = pd.DataFrame({"id": [1, 2, 3, 4], "profit": [1.5, 2.5, 9.0, 8.5]})
    >>> sales = pd.DataFrame({"shop_id": [1, 2, 3, 4, 4], "price": [3.0, 4.0, 9.0, 7.0, 9.0]})
    >>> tables = {"shops": shops, "sales": sales}
    >>> data = om.relational.RelationalDataset.from_frames(tables, target="shops.profit")
    >>> om.relational.RelationalTree(max_depth=1, random_state=0).fit(data).predict(data).tolist()
    [2.0, 2.0, 8.75, 8.75]
    """

    def __init__(
        self,
        preset: str = "AGG-All",
        aggregates: Sequence[str] | None = None,
        lookahead: int = 2,
        max_path_length: int | None = 4,
        modes: Mapping[str, Any] | None = None,
        nominal_joins: bool = False,
        max_candidates: int | None = 10_000,
        missing: str = "extreme",
        max_features: Any = None,
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        normalize_targets: bool | None = None,
        hierarchy_weight: float = 0.75,
        class_weight: Any = None,
        random_state: RandomState = None,
    ) -> None:
        constructed = preset, aggregates, lookahead, max_path_length, modes, nominal_joins, max_candidates, missing
        super().__init__(*constructed, max_features, min_samples_leaf, max_depth, class_weight, random_state)
        self.normalize_targets = normalize_targets
        self.hierarchy_weight = hierarchy_weight

    def fit(  # type: ignore[override]  # other data
        self: Self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : RelationalDataset
            The examples, with their target.
        y : None
            The target is that of X.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples, of mean about 1; those of weight 0 are not used.

        Returns
        -------
        self
            The fitted tree.
        """
        drawn = "all" if self.max_features is None else self.max_features
        rules = GrowingRules.of(self, ensemble="bagging", bootstrap=False, max_features=drawn)
        training = self._read(X, y, sample_weight, rules)
        grow, _ = self._grower(training, rules)
        [self.tree_] = self._keep([grow(0)], training.dataset)
        return self


class RelationalForest(RelationalLearner, PCTForestClassifier, PCTForestRegressor):
    """An ensemble of relational trees.

    A test asks for a value that is constructed along a path of relations from the example: "mean stars of its ratings
    <= 2.5". A node continues a prefix of the path of its parent's test. The data set knows its task: the forest
    predicts classes, several classes, label sets, hierarchies of labels, one number, several, or numbers and classes
    together.

    Parameters
    ----------
    ensemble : {"bagging", "random-forest"}
        Whether nodes try all candidates, or some that they draw.
    n_trees : int
        Number of trees.
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
        How steps may use some of the relations, as in :class:`~omnirank.relational.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    nominal_joins : bool
        Whether steps may also join columns of the same named nominal domain.
    max_candidates : int or None
        Most candidates of a node; longer paths are left out first, with a warning.
    missing : {"extreme", "learned"}
        Where values that are undefined go, those of nothing to aggregate: to the end of the order where infinity is (a
        category of their own), or to the side of a test that is better in the training data.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Candidates drawn in a node: a count, a share or a name. None: all in bagging, ceil(sqrt F) of F in random
        forests.
    min_samples_leaf : float
        Least weight of a leaf, counted with bootstrap multiplicity and sample weights.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)) in hierarchical multi-label classification.
    oob_score : bool
        Whether to predict each example by the trees that have not seen it.
    class_weight : None, "balanced", dict or list of them
        Weight of each class, times ``sample_weight``; see :class:`PCTClassifier`. Not for numbers.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers and any order of the tables' rows.
    n_jobs : int or None
        Number of workers; -1: all cores.

    Attributes
    ----------
    trees_ : list of Tree
        The trees over ``features_``.
    classes_ : ndarray or list of ndarray
        Of classes: the classes, or one array for each of several targets or labels.
    features_ : tuple of Feature
        The constructed features that trees test; ``feature_names_in_`` are their sentences.
    task_, n_outputs_, target_names_
        The task, the number of targets or labels, and their names.
    feature_importances_ : ndarray
        Genie3 of each of these features, averaged over the trees.
    oob_decision_function_, oob_prediction_, oob_error_
        Out-of-bag predictions (of classes the first, of numbers the second) and their error, as in
        :class:`PCTForestClassifier` and :class:`PCTForestRegressor`.

    References
    ----------
    Petkovic, Ceci, Pio, Skrlj, Kersting, Dzeroski: Relational tree ensembles and feature rankings. Knowledge-Based
    Systems 251, 2022.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.make_movies(random_state=0)
    >>> model = om.relational.RelationalForest(n_trees=10, random_state=0).fit(data)
    >>> model.score(data) > 0.9
    True
    """

    def __init__(
        self,
        ensemble: str = "bagging",
        n_trees: int = 50,
        preset: str = "AGG-All",
        aggregates: Sequence[str] | None = None,
        lookahead: int = 2,
        max_path_length: int | None = 4,
        modes: Mapping[str, Any] | None = None,
        nominal_joins: bool = False,
        max_candidates: int | None = 10_000,
        missing: str = "extreme",
        max_features: Any = None,
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        normalize_targets: bool | None = None,
        oob_score: bool = False,
        hierarchy_weight: float = 0.75,
        class_weight: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        constructed = preset, aggregates, lookahead, max_path_length, modes, nominal_joins, max_candidates, missing
        super().__init__(*constructed, max_features, min_samples_leaf, max_depth, class_weight, random_state)
        self.ensemble = ensemble
        self.n_trees = n_trees
        self.normalize_targets = normalize_targets
        self.oob_score = oob_score
        self.hierarchy_weight = hierarchy_weight
        self.n_jobs = n_jobs

    def fit(  # type: ignore[override]  # other data
        self: Self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : RelationalDataset
            The examples, with their target.
        y : None
            The target is that of X.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples, of mean about 1; they multiply bootstrap counts. Those of weight 0 are not used.

        Returns
        -------
        self
            The fitted forest.
        """
        check_parameters(self)
        drawn = self.max_features
        if drawn is None:
            drawn = "all" if self.ensemble == "bagging" else "sqrt"
        rules = GrowingRules.of(self, max_features=drawn)
        training = self._read(X, y, sample_weight, rules)
        grow, plan = self._grower(training, rules)
        grown = run_parallel(grow, range(self.n_trees), self.n_jobs, description="growing trees")
        self.trees_ = self._keep(grown, training.dataset)
        self._clear_out_of_bag()
        if self.oob_score:
            self._predict_out_of_bag(training, plan)
        return self

    @available_if(_may_predict_classes)
    def staged_predict_proba(self, X: RelationalDataset) -> Iterator[Any]:
        """Yield the probabilities by the first 1, 2, ... trees: those of smaller forests with the same seed.

        Parameters
        ----------
        X : RelationalDataset
            Examples in a database of the same schema.
        """
        return super().staged_predict_proba(X)  # type: ignore[arg-type]  # other data

    def _training_table(self, training: Any) -> Table:
        return self._table(training.whole)

    def _keep_out_of_bag(self, means: np.ndarray, covered: np.ndarray) -> None:
        kind = PCTForestClassifier if self._predicts_classes else PCTForestRegressor
        kind._keep_out_of_bag(self, means, covered)
