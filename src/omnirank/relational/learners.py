"""Relational trees, forests and gradient boosting, on one base: parameters, reading the data, new examples."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, astuple, dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError, ParameterError, logger
from omnirank.core.files import StoredArrays
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import Domain, check_parameters, choice, count, number, share
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.text import counted
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.models import JsonFields, value_to_json
from omnirank.data.notes import caller_outside, warn_about
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.data.task_registry import TaskNames
from omnirank.ensembles.pct import Forest, SingleTree
from omnirank.ensembles.plan import GrowingRules
from omnirank.ensembles.predictor import PCTClassifierBase, PCTRegressorBase, Training
from omnirank.ensembles.supervision import resolve_level
from omnirank.relational.candidates import Bias
from omnirank.relational.database import Component
from omnirank.relational.dataset import RelationalDataset, Signature, check_relational
from omnirank.relational.evaluation import columns_as_fitted
from omnirank.relational.growing import distinct_names, over_used_features
from omnirank.relational.paths import Feature, Step, describe
from omnirank.relational.training import GrownTree, Paid, RelationalGrowing, RelationalPlan
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.tasks.measuring import in_training_order
from omnirank.trees.prediction import leaves_of
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import Tree, one_leaf, tree_with_thresholds

BOOSTING: dict[str, Domain] = {
    "n_trees": count(1),
    "shrinkage": number(above=0, most=1),
    "chosen_examples": share(above=0),
}

_OWN_TARGET = "the RelationalDataset holds its target: y must not be given as well"


def _may_predict_classes(model: Any) -> bool:
    """Whether the model predicts classes or labels; a model that is not fitted may."""
    return not hasattr(model, "task_") or model._predicts_classes


@dataclass(eq=False, repr=False, kw_only=True)
class ConstructionParameters:
    """The parameters that learners and rankers share: what is constructed, and how trees grow.

    Parameters are fields of dataclasses, so that each is written once; these are given by name.
    """

    aggregates: str | Sequence[str] = "AGG-All"
    lookahead: int = 2
    max_path_length: int | None = 4
    modes: Mapping[str, Any] | None = None
    max_candidates: int | None = 3_000
    min_samples_leaf: float = 1
    max_depth: int | None = None
    random_state: RandomState = None

    def _bias(self, dataset: RelationalDataset) -> Bias:
        bias = Bias(**{field.name: getattr(self, field.name) for field in fields(Bias)})
        return bias.within(dataset.modes, dataset.aggregates)


@dataclass(eq=False, repr=False, kw_only=True)
class RelationalLearner(ConstructionParameters, PCTClassifierBase, PCTRegressorBase):
    """Base of relational trees, forests and boosting; subclasses grow trees in ``fit``.

    The data set knows its task: a fitted learner is a classifier or a regressor.
    """

    max_features: Any = None
    class_weight: Any = None

    supported_tasks: ClassVar[TaskNames] = TaskNames("classes", "labels", "numbers", "mixed")
    _ranked_by = ""  # the ``tie_break`` of rankers
    _may_cluster = False  # and need no target
    _parameter_checks: ClassVar[dict[str, Domain]] = {"ensemble": choice("bagging", "random-forest")}

    @property
    def min_labelled_leaf(self) -> float:
        """Least labelled weight of a leaf that has labels: that of leaves of supervised trees."""
        return self.min_samples_leaf

    # -- reading --------------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any, sample_weight: ArrayLike | None, rules: GrowingRules) -> Training:
        """Check parameters and data, and note what predictions need to know of the target."""
        check_parameters(self)
        name = type(self).__name__
        whole = check_relational(X, name)
        if y is not None:
            raise ParameterError(_OWN_TARGET)
        if not whole.n_examples:
            raise DataError(f"{whole.name!r} has no examples: the table of the target is empty")
        if not self._may_cluster:
            whole.require_target(name)
        if whole.target is not None and whole.task not in self.supported_tasks:
            raise DataError(self._refusal(whole))  # type: ignore[arg-type]  # other data
        warn_about(whole, task_is_sure=True)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, whole.n_examples)
        weight = self._with_class_weight(whole, weight)
        used = np.ones(whole.n_examples, bool) if weight is None else weight > 0
        if whole.target is not None and not (used & whole.labelled).any():
            raise DataError("no example has both a known target value and a positive weight")
        growing = self._growing(whole, root_entropy(self.random_state), weight).take(used)
        level, data = resolve_level(self.supervision, None, growing, rules, self._to_fit(whole.task))
        training = Training.of(whole, weight, data, rules, level)  # type: ignore[arg-type]  # other data
        if not training.used.all():
            logger.info("%d examples without known target or weight are not used", int((~training.used).sum()))
        self._note_target(whole.task, whole.hierarchy, training.columns)
        self._column_spread = training.columns.deviation
        self._signature = whole.signature
        self._note_level(level)
        self._labelled = whole.labelled
        return training

    def _growing(self, dataset: RelationalDataset, entropy: int, weight: np.ndarray | None) -> RelationalGrowing:
        """Return examples as trees are grown on them."""
        shared: dict[str, Any] = {"bias": self._bias(dataset), "ranked_by": self._ranked_by}
        return RelationalGrowing(dataset, entropy, weight, n_jobs=self._n_jobs(), **shared)

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

    def _plan(self, training: Training, rules: GrowingRules) -> RelationalPlan | None:
        """Return what trees are grown on; None, with a warning, where there is nothing to test or to learn."""
        tables, level = training.data.tables, training.level.level  # type: ignore[attr-defined]
        if level == 1 and training.columns.is_constant:
            reason = f"target {training.columns.names[0]!r}: one class or value only"
        elif tables.is_empty:
            reason = (
                "there is nothing to test: nothing that is constructed differs between examples; check the "
                "aggregates, the keys of the tables, and the relations that are left out"
            )
        else:
            tables.table(())  # made once, not by whichever worker comes first
            return training.data.plan(replace(rules, supervision=level))  # type: ignore[return-value]
        warnings.warn(f"{reason}; every prediction will be the same", UserWarning, stacklevel=caller_outside())
        return None

    def _grown(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, n_trees: int, **rules: Any
    ) -> tuple[Training, RelationalPlan | None, list[Tree]]:
        """Return the data, the plan and its trees; there is no plan where trees are leaves."""
        own = GrowingRules.of(self, **rules)
        training = self._read(X, y, sample_weight, own)
        plan = self._plan(training, own)
        grow = partial(_one_leaf, training) if plan is None else plan.constructed_tree
        grown = run_parallel(grow, range(n_trees), self._n_jobs(), description="growing trees")
        return training, plan, self._keep(grown, training.data.dataset)

    def _keep(self, grown: Sequence[GrownTree], dataset: Any) -> list[Tree]:
        """Note the features that trees use, and return the trees over these."""
        trees, features, levels = over_used_features(grown)
        self._paid = [paid for *_, paid in grown]
        self.features_ = tuple(describe(dataset.database, dataset.example_types, feature) for feature in features)
        names = distinct_names([feature.sentence for feature in self.features_])
        n_nominal = sum(known is not None for known in levels)
        blocks = np.empty((0, len(levels) - n_nominal)), np.empty((0, n_nominal), np.int32)
        self._features = Table(names, levels, *blocks)
        self._had_missing = (False,) * len(names)
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return trees

    # -- files ----------------------------------------------------------------------------------------

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        if not self.features_:
            raise DataError("the model tests nothing: there is nothing to save")
        facts, arrays = super()._contents()
        known = self._signature
        relations = {name: tuple(map(astuple, parts)) for name, parts in known.relations.items()}
        facts["signature"] = value_to_json((known.example_types, relations, dict(known.columns)), "signature")
        facts["constructed"] = value_to_json(tuple(map(astuple, self.features_)), "feature")
        return facts, arrays

    def _restore(self, facts: JsonFields, stored: StoredArrays) -> None:
        types, relations, columns = facts.value("signature")
        parts = {name: tuple(Component(*part) for part in of) for name, of in relations.items()}
        self._signature = Signature(types, parts, columns)
        made = facts.value("constructed")
        self.features_ = tuple(Feature(tuple(Step(*step) for step in path), *others) for path, *others in made)
        if not {step.relation for feature in self.features_ for step in feature.path} <= set(parts):
            facts.refuse("features of relations that the signature does not name", "constructed")
        super()._restore(facts, stored)
        if len(self.features_) != self.n_features_in_:
            facts.refuse(f"not {self.n_features_in_} features", "constructed")

    # -- predicting -----------------------------------------------------------------------------------

    @property
    def _predicts_classes(self) -> bool:
        return get_task(self.task_).kind in ("classes", "labels")

    def _table(self, X: Any, only: Sequence[int] | None = None) -> Table:
        """Return the used features of the examples (or some, by number), with the levels of the training data."""
        check_is_fitted(self)
        dataset = check_relational(X, type(self).__name__)
        fitted = self._features if only is None else self._features.select(only)
        features = self.features_ if only is None else [self.features_[i] for i in only]
        table = columns_as_fitted(dataset, self._signature, features, fitted.levels)
        codes, new = table.codes, []
        for i in np.flatnonzero(table.is_nominal):
            nothing = codes[:, table.slots[i]] == len(fitted.levels[i] or ())
            if nothing.any():
                new.append(fitted.names[i])
                codes[nothing, table.slots[i]] = -1
        if new:
            warnings.warn(
                "there is nothing to aggregate where the training data always had something "
                f"({counted(len(new), 'feature')}, first {new[0]!r}): taken as missing",
                UserWarning,
                stacklevel=caller_outside(),
            )
        return replace(table, names=fitted.names, levels=fitted.levels, dates=frozenset())

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
        return super().predict_proba(X)

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
        return kind.score(self, X, y, sample_weight)

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


def _one_leaf(training: Training, i: int) -> GrownTree:
    weight = training.data.weight
    grown = one_leaf(np.ones(training.data.dataset.n_examples) if weight is None else weight)
    tree = tree_with_thresholds(grown, np.full(1, np.nan), (), *node_means(grown, training.columns))
    return tree, (), Paid({}, np.zeros(1))


@dataclass(eq=False, repr=False, kw_only=True)
class RelationalTree(RelationalLearner, SingleTree):
    """One relational tree, not pruned.

    A test asks for a value that is constructed along a path of relations from the example: "mean stars of its ratings
    <= 2.5". A node continues a prefix of the path of its parent's test. The data set knows its task: the tree predicts
    classes, several classes, label sets, hierarchies of labels, one number, several, or numbers and classes together.

    Parameters
    ----------
    aggregates : {"AGG-All", "AGG-Exist", "NO-Rel"} or sequence of str
        What is constructed: all aggregates, or those that the settings of facts declare; only whether there is a match
        of a path; only columns of the target table; or some of count, count_unique, min, max, mean, sum, mode, exists.
    lookahead : int
        How many steps (relations) a test may add to a prefix of the path that its node inherits.
    max_path_length : int, optional
        Most steps of a path; None: no limit.
    modes : mapping, optional
        How steps may use some of the relations, as in :class:`~omnirank.relational.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    max_candidates : int or None
        Most candidates of a node; where there are more, a sample of the longest paths is taken.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Candidates drawn in a node: a count, a share or a name. None: all.
    min_samples_leaf : float
        Least weight of a leaf.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    supervision : float, "auto", "cv" or dict
        Level of supervision w in [0, 1], as in :class:`PCTForestClassifier`: tests lower w times the impurity of the
        target plus 1 - w times that of at most 300 constructed features, the shortest paths first. 1 uses the labelled
        examples only.
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

    normalize_targets: bool | None = None
    supervision: Any = 1.0
    hierarchy_weight: float = 0.75
    pruning = None

    def fit(  # type: ignore[override]  # other data
        self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None
    ) -> RelationalTree:
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
        rules = {"ensemble": "bagging", "bootstrap": False, "max_features": drawn}
        *_, [self.tree_] = self._grown(X, y, sample_weight, 1, **rules)
        return self


@dataclass(eq=False, repr=False)
class RelationalForest(RelationalLearner, Forest):
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
    aggregates : {"AGG-All", "AGG-Exist", "NO-Rel"} or sequence of str
        What is constructed: all aggregates, or those that the settings of facts declare; only whether there is a match
        of a path; only columns of the target table; or some of count, count_unique, min, max, mean, sum, mode, exists.
    lookahead : int
        How many steps (relations) a test may add to a prefix of the path that its node inherits.
    max_path_length : int, optional
        Most steps of a path; None: no limit.
    modes : mapping, optional
        How steps may use some of the relations, as in :class:`~omnirank.relational.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    max_candidates : int or None
        Most candidates of a node; where there are more, a sample of the longest paths is taken.
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
    supervision : float, "auto", "cv" or dict
        Level of supervision w in [0, 1], as in :class:`PCTForestClassifier`: tests lower w times the impurity of the
        target plus 1 - w times that of at most 300 constructed features, the shortest paths first. 1 uses the labelled
        examples only.
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

    ensemble: str = "bagging"
    n_trees: int = 50
    _: KW_ONLY
    normalize_targets: bool | None = None
    supervision: Any = 1.0
    oob_score: bool = False
    hierarchy_weight: float = 0.75
    n_jobs: int | None = None

    def fit(  # type: ignore[override]  # other data
        self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None
    ) -> RelationalForest:
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
        training, plan, self.trees_ = self._grown(X, y, sample_weight, self.n_trees, max_features=drawn)
        self._clear_out_of_bag()
        if self.oob_score:
            self._predict_out_of_bag(training, plan)
        return self

    def _training_table(self, training: Any) -> Table:
        return self._table(training.whole)

    def _keep_out_of_bag(self, means: np.ndarray, covered: np.ndarray) -> None:
        kind = PCTClassifierBase if self._predicts_classes else PCTRegressorBase
        kind._keep_out_of_bag(self, means, covered)


@dataclass(eq=False, repr=False)
class RelationalBoosting(RelationalLearner):
    """Gradient boosting of relational trees: sums of small regression trees, each on the residuals of those before.

    With y_k the indicator of class k (one of them where there are two classes), or the number itself,

        F_0k = mean y_k,    F_mk = F_{m-1,k} + shrinkage * T_mk

    where T_mk is grown on the residuals y_k - F_{m-1,k}, the negative gradient of the squared error, of examples drawn
    without replacement. The data set knows its task: one class or one number is predicted. The probabilities of classes
    are the sums, cut to [0, 1] and divided by their total.

    Parameters
    ----------
    n_trees : int
        Number of iterations, each with a tree for every class (one where there are two, and of a number).
    shrinkage : float
        What trees are multiplied by.
    chosen_examples : float
        Share of the examples that a tree sees.
    aggregates : {"AGG-All", "AGG-Exist", "NO-Rel"} or sequence of str
        What is constructed: all aggregates, or those that the settings of facts declare; only whether there is a match
        of a path; only columns of the target table; or some of count, count_unique, min, max, mean, sum, mode, exists.
    lookahead : int
        How many steps (relations) a test may add to a prefix of the path that its node inherits.
    max_path_length : int, optional
        Most steps of a path; None: no limit.
    modes : mapping, optional
        How steps may use some of the relations, as in :class:`~omnirank.relational.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    max_candidates : int or None
        Most candidates of a node; where there are more, a sample of the longest paths is taken.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Candidates drawn in a node: a count, a share or a name. None: all.
    min_samples_leaf : float
        Least weight of a leaf.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    class_weight : None, "balanced", dict or list of them
        Weight of each class, times ``sample_weight``; see :class:`PCTClassifier`. Not for numbers.
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
        Of classes: the classes.
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
    >>> model = om.relational.RelationalBoosting(n_trees=10, random_state=0).fit(data)
    >>> model.score(data) > 0.8
    True
    """

    n_trees: int = 50
    shrinkage: float = 0.2
    chosen_examples: float = 0.8
    max_features: Any = field(default=0.6, kw_only=True)
    max_depth: int | None = field(default=4, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    supported_tasks: ClassVar[TaskNames] = TaskNames("classes", "numbers", single=True)
    supervision = 1.0  # residuals are known for labelled examples
    _parameter_checks: ClassVar[dict[str, Domain]] = BOOSTING

    def fit(self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None) -> RelationalBoosting:
        """Grow the trees, one iteration after the other.

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
            The fitted model.
        """
        drawn = "all" if self.max_features is None else self.max_features
        rules = GrowingRules.of(self, ensemble="bagging", bootstrap=False, max_features=drawn)
        training = self._read(X, y, sample_weight, rules)
        columns = training.columns.dense()
        columns = columns[:, 1:] if columns.shape[1] == 2 else columns  # of two classes one indicator
        self.start_ = np.average(columns, axis=0, weights=training.data.weight)
        plan = self._plan(training, rules)
        grown = [] if plan is None else self._iterations(plan, columns)
        self._take_trees(self._keep(grown, training.data.dataset))
        return self

    def _iterations(self, plan: RelationalPlan, columns: np.ndarray) -> list[GrownTree]:
        """Return all trees, those of the K columns of an iteration next to each other."""
        n, k = columns.shape
        sums = np.tile(self.start_, (n, 1))
        found: list[GrownTree] = []
        n_chosen = max(1, int(self.chosen_examples * n))
        for m in range(self.n_trees):
            grow = partial(_grow_residuals, plan, columns - sums, n_chosen, m)
            grown = run_parallel(grow, range(k), self.n_jobs)
            for j, (tree, features, _) in enumerate(grown):
                sums[:, j] += self.shrinkage * _leaf_values([tree], plan.coded.cells(features))[:, 0]
            found += grown
        return found

    # -- files ----------------------------------------------------------------------------------------

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts, arrays = super()._contents()
        return facts, arrays | {"start": self.start_}

    def _restore(self, facts: JsonFields, stored: StoredArrays) -> None:
        self.start_ = stored.take("start", np.float64, (None,))
        super()._restore(facts, stored)

    # -- predicting -----------------------------------------------------------------------------------

    def _trees(self) -> list[Tree]:
        return [tree for together in self.trees_ for tree in together]

    def _take_trees(self, trees: list[Tree]) -> None:
        k = len(self.start_)
        self.trees_ = [trees[first : first + k] for first in range(0, len(trees), k)]

    @property
    def _leaf_columns(self) -> PrototypeColumns:
        """What leaves hold: a residual."""
        return _one_number(np.empty(0))

    def _means(self, table: Table) -> np.ndarray:
        """Return the sums, one column per number or class."""
        k, sums = len(self.start_), np.tile(self.start_, (table.n_rows, 1))
        values = _leaf_values(self._trees(), table)
        for m in range(len(self.trees_)):
            sums = sums + self.shrinkage * values[:, m * k : (m + 1) * k]
        two_classes = self._predicts_classes and len(self.classes_) == 2
        return np.column_stack([1 - sums[:, 0], sums[:, 0]]) if two_classes else sums

    def _shares(self, means: np.ndarray) -> np.ndarray:
        shares = np.clip(means, 0.0, 1.0)
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1 / shares.shape[1])


def _one_number(values: np.ndarray) -> PrototypeColumns:
    zero = np.zeros(1, np.intp)
    return PrototypeColumns(
        values[:, None], np.ones(len(values), bool), zero, zero - 1, ("residual",), (None,), np.ones(1)
    )


def _grow_residuals(plan: RelationalPlan, residuals: np.ndarray, n_chosen: int, m: int, k: int) -> GrownTree:
    """Grow the tree of column k in iteration m."""
    from omnirank.trees.kernels.spaces import OneColumn

    n, n_columns = residuals.shape
    i = m * n_columns + k
    values = np.ascontiguousarray(residuals[:, k])
    chosen = np.zeros(n)
    chosen[stream(plan.entropy, i).choice(n, n_chosen, replace=False)] = 1.0
    return replace(plan, columns=_one_number(values), space=OneColumn(values)).constructed_tree(i, chosen)


def _leaf_values(trees: Sequence[Tree], table: Table) -> np.ndarray:
    """Means of the leaves that examples reach, (examples, trees)."""
    if not trees:
        return np.empty((table.n_rows, 0))
    leaves = leaves_of(trees, table)
    return np.column_stack([tree.means(leaves[:, i])[:, 0] for i, tree in enumerate(trees)])
