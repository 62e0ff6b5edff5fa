"""What all relational learners share: their parameters, reading the data, and the features of new examples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError, DataTypeError, ParameterError
from omnirank.core.log import logger
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import Domain, check_parameters, choice, number
from omnirank.core.plurals import counted
from omnirank.core.seeds import root_entropy
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.remarks import caller_outside, warn_about
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.ensembles.forest import Forest
from omnirank.ensembles.pct import PCTClassifier, PCTRegressor
from omnirank.ensembles.pct_forest import PCTForestClassifier, PCTForestRegressor
from omnirank.ensembles.plan import GrowingRules
from omnirank.ensembles.predictor import PCTPredictor
from omnirank.relational.aggregation import NONE_LEVEL
from omnirank.relational.candidates import Bias
from omnirank.relational.construction import CandidateTables, RelationalConstruction, UsedFeatures, over_used_features
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.evaluation import feature_columns
from omnirank.relational.growing import INHERITANCE, NodeRules, RelationalPlan
from omnirank.relational.paths import Feature
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.tasks.scoring import in_training_order
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import Tree, one_leaf, tree_with_thresholds

GrownTree = tuple[Tree, tuple[Any, ...]]


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


class RelationalLearner(PCTPredictor):
    """Base of relational trees, forests and boosting; subclasses grow trees in ``fit``."""

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "inherit": choice(*INHERITANCE),
        "missing": choice("extreme", "learned"),
        "min_impurity_decrease": number(0, 1),
        "ensemble": choice("bagging", "random-forest"),
    }

    preset: str
    aggregates: Sequence[str] | None
    lookahead: int
    max_path_length: int | None
    modes: Mapping[str, Any] | None
    dedupe_functional: bool
    nominal_joins: bool
    max_candidates: int | None
    inherit: str
    missing: str
    min_impurity_decrease: float
    features_: tuple[Feature, ...]

    # -- reading --------------------------------------------------------------------------------------

    def _bias(self, dataset: RelationalDataset) -> Bias:
        given = Bias(**{field.name: getattr(self, field.name) for field in fields(Bias)})
        return given.within(dataset.modes, dataset.aggregates)

    def _node_rules(self, max_features: Any) -> NodeRules:
        return NodeRules(max_features, float(self.min_impurity_decrease), self.inherit)

    def _read(self, X: Any, y: Any, sample_weight: ArrayLike | None, rules: GrowingRules) -> RelationalTraining:
        """Check parameters and data, and note what predictions need to know of the target."""
        check_parameters(self)
        name = type(self).__name__
        whole = _relational(X, name)
        if y is not None:
            raise ParameterError("the RelationalDataset holds its target: y must not be given as well")
        whole.require_target(name)
        assert whole.target is not None
        if whole.task not in self.supported_tasks:
            raise DataError(
                f"Unknown label type: {name} does not handle {whole.task} (target {whole.target_names[0]!r}); it "
                f"handles {', '.join(self.supported_tasks)}"
            )
        warn_about(whole, task_is_sure=True)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, whole.n_examples)
        weight = self._with_class_weight(whole, weight)  # type: ignore[arg-type]  # it asks for the target only
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
        self, training: RelationalTraining, rules: GrowingRules, node_rules: NodeRules, entropy: int
    ) -> tuple[Callable[[int], GrownTree], RelationalPlan | None]:
        """Return what grows tree i, and the plan; there is none where trees are leaves."""
        tables = self._tables(training)
        if tables is None:
            own = np.ones(training.dataset.n_examples) if training.weight is None else training.weight
            return partial(_one_leaf, own, training.columns), None
        task, columns, weight = training.dataset.task, training.columns, training.weight
        plan = RelationalPlan.make(tables, task, columns, rules, node_rules, weight, entropy)
        _ = plan.tables.root  # made once, not by whichever worker comes first
        return plan.tree, plan

    def _keep(self, grown: Sequence[GrownTree], dataset: RelationalDataset) -> list[Tree]:
        """Note the features that trees use, and return the trees over these."""
        trees, used = over_used_features(grown)
        self._note_features(used.described(dataset.database, dataset.example_types))
        return trees

    def _note_features(self, used: UsedFeatures) -> None:
        self.features_ = used.features
        self._features = used.header
        self._had_missing = (self.missing == "learned",) * len(used.features)
        self.n_features_in_ = len(used.features)
        self.feature_names_in_ = np.array(self._features.names, dtype=object)

    # -- predicting -----------------------------------------------------------------------------------

    def _table(self, X: Any) -> Table:
        """Return the used features of the examples, with the levels of the training data."""
        check_is_fitted(self)
        dataset = _relational(X, type(self).__name__)
        used = {step.relation for feature in self.features_ for step in feature.path}
        dataset = dataset.aligned_with(self._signature.needed_of(dataset, used))
        fitted = dict(zip(self.features_, self._features.levels, strict=True))
        levels = {f: lev if NONE_LEVEL in lev else (*lev, NONE_LEVEL) for f, lev in fitted.items() if lev is not None}
        table = feature_columns(dataset, self.features_, levels=levels)
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

    def _truth(self, X: Any, y: Any) -> Target | None:
        if y is not None:
            raise ParameterError("the RelationalDataset holds its target: y must not be given as well")
        return in_training_order(_relational(X, type(self).__name__).target, self.task_, self.target_names_)


def _relational(X: Any, learner: str) -> RelationalDataset:
    if not isinstance(X, RelationalDataset):
        raise DataTypeError(
            f"{learner} takes a RelationalDataset, not {type(X).__name__}: make one by RelationalDataset.from_frames, "
            "from_folder, from_database or from_facts"
        )
    return X


def _one_leaf(weight: np.ndarray, columns: PrototypeColumns, i: int) -> GrownTree:
    grown = one_leaf(weight)
    return tree_with_thresholds(grown, np.full(1, np.nan), (), *node_means(grown, columns)), ()


Self = TypeVar("Self", bound="_SingleTree")


class _SingleTree(RelationalLearner):
    """One tree, not pruned."""

    def __init__(
        self,
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
        max_features: Any = None,
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        min_impurity_decrease: float = 0.0,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        normalize_targets: bool | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.preset = preset
        self.aggregates = aggregates
        self.lookahead = lookahead
        self.max_path_length = max_path_length
        self.modes = modes
        self.dedupe_functional = dedupe_functional
        self.nominal_joins = nominal_joins
        self.max_candidates = max_candidates
        self.inherit = inherit
        self.missing = missing
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.nominal_tests = nominal_tests
        self.tie_break = tie_break
        self.normalize_targets = normalize_targets
        self.random_state = random_state

    def fit(self: Self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
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
        rules = GrowingRules.of(self, ensemble="bagging", bootstrap=False, max_features=None)
        training = self._read(X, y, sample_weight, rules)
        max_features = "all" if self.max_features is None else self.max_features
        grow, _ = self._grower(training, rules, self._node_rules(max_features), root_entropy(self.random_state))
        [self.tree_] = self._keep([grow(0)], training.dataset)
        return self


class RelationalTreeClassifier(_SingleTree, PCTClassifier):  # type: ignore[misc]  # other data
    """A relational tree for classes, several classes, label sets and hierarchies of labels.

    A test asks for a value that is constructed along a path of relations from the example: "mean stars of its ratings
    <= 2.5". A node continues a prefix of the path of its parent's test.

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
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)) in hierarchical multi-label classification.
    class_weight : None, "balanced", dict or list of them
        Weight of each class, times ``sample_weight``; see :class:`PCTClassifier`.
    random_state : None, int, RandomState or Generator
        The seed.

    Attributes
    ----------
    tree_ : Tree
        The tree over ``features_``.
    classes_ : ndarray or list of ndarray
        The classes; several targets or labels: one array each.
    features_ : tuple of Feature
        The constructed features that the tree test; ``feature_names_in_`` are their sentences.
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
    >>> model = om.RelationalTreeClassifier(random_state=0).fit(data)
    >>> model.score(data) > 0.9
    True
    """

    def __init__(
        self,
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
        max_features: Any = None,
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        min_impurity_decrease: float = 0.0,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        normalize_targets: bool | None = None,
        hierarchy_weight: float = 0.75,
        class_weight: Any = None,
        random_state: RandomState = None,
    ) -> None:
        constructed = preset, aggregates, lookahead, max_path_length, modes
        counted = dedupe_functional, nominal_joins, max_candidates, inherit, missing
        limits = max_features, min_samples_leaf, max_depth, min_impurity_decrease
        super().__init__(*constructed, *counted, *limits, nominal_tests, tie_break, normalize_targets, random_state)
        self.hierarchy_weight = hierarchy_weight
        self.class_weight = class_weight


class RelationalTreeRegressor(_SingleTree, PCTRegressor):  # type: ignore[misc]  # other data
    """A relational tree for one number, several numbers, or numbers and classes together.

    A test asks for a value that is constructed along a path of relations from the example: "mean stars of its ratings
    <= 2.5". A node continues a prefix of the path of its parent's test.

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
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None is True.
    random_state : None, int, RandomState or Generator
        The seed.

    Attributes
    ----------
    tree_ : Tree
        The tree over ``features_``.
    features_ : tuple of Feature
        The constructed features that the tree test; ``feature_names_in_`` are their sentences.
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
    >>> import pandas as pd
    >>> shops = pd.DataFrame({"id": [1, 2, 3, 4], "profit": [1.5, 2.5, 9.0, 8.5]})
    >>> sales = pd.DataFrame({"shop_id": [1, 2, 3, 4, 4], "price": [3.0, 4.0, 9.0, 7.0, 9.0]})
    >>> data = om.RelationalDataset.from_frames({"shops": shops, "sales": sales}, target="shops.profit")
    >>> model = om.RelationalTreeRegressor(max_depth=1, random_state=0).fit(data)
    >>> model.predict(data).tolist()
    [2.0, 2.0, 8.75, 8.75]
    """


Self = TypeVar("Self", bound="_Forest")


class _Forest(RelationalLearner, Forest):
    """Bagging and random forests."""

    def __init__(
        self,
        ensemble: str = "bagging",
        n_trees: int = 50,
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
        max_features: Any = None,
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        min_impurity_decrease: float = 0.0,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        normalize_targets: bool | None = None,
        oob_score: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.ensemble = ensemble
        self.n_trees = n_trees
        self.preset = preset
        self.aggregates = aggregates
        self.lookahead = lookahead
        self.max_path_length = max_path_length
        self.modes = modes
        self.dedupe_functional = dedupe_functional
        self.nominal_joins = nominal_joins
        self.max_candidates = max_candidates
        self.inherit = inherit
        self.missing = missing
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.nominal_tests = nominal_tests
        self.tie_break = tie_break
        self.normalize_targets = normalize_targets
        self.oob_score = oob_score
        self.random_state = random_state
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
        rules = GrowingRules.of(self, max_features=None)
        training = self._read(X, y, sample_weight, rules)
        drawn = {"bagging": "all", "random-forest": "sqrt"}[self.ensemble]
        node_rules = self._node_rules(drawn if self.max_features is None else self.max_features)
        grow, plan = self._grower(training, rules, node_rules, root_entropy(self.random_state))
        grown = run_parallel(grow, range(self.n_trees), self.n_jobs, description="growing trees")
        self.trees_ = self._keep(grown, training.dataset)
        self._clear_out_of_bag()
        if self.oob_score:
            self._predict_out_of_bag(training, plan)
        return self

    def _training_table(self, training: Any) -> Table:
        return self._table(training.whole)


class RelationalForestClassifier(_Forest, PCTForestClassifier):
    """An ensemble of relational trees for classes, several classes, label sets and hierarchies of labels.

    A test asks for a value that is constructed along a path of relations from the example: "mean stars of its ratings
    <= 2.5". A node continues a prefix of the path of its parent's test.

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
        Candidates drawn in a node: a count, a share or a name. None: all in bagging, ceil(sqrt F) of F in random
        forests.
    min_samples_leaf : float
        Least weight of a leaf, counted with bootstrap multiplicity and sample weights.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    min_impurity_decrease : float
        Least share of a node's impurity that its test takes away.
    nominal_tests : {"ordered", "greedy", "one-against-rest"}
        How subsets of a nominal feature's levels are searched.
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    oob_score : bool
        Whether to predict each example by the trees that have not seen it.
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)) in hierarchical multi-label classification.
    class_weight : None, "balanced", dict or list of them
        Weight of each class, times ``sample_weight``; see :class:`PCTClassifier`.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers and any order of the tables' rows.
    n_jobs : int or None
        Number of workers; -1: all cores.

    Attributes
    ----------
    trees_ : list of Tree
        The trees over ``features_``.
    classes_ : ndarray or list of ndarray
        The classes; several targets or labels: one array each.
    features_ : tuple of Feature
        The constructed features that trees test; ``feature_names_in_`` are their sentences.
    task_, n_outputs_, target_names_
        The task, the number of targets or labels, and their names.
    feature_importances_ : ndarray
        Genie3 of each of these features, averaged over the trees.
    oob_decision_function_, oob_error_
        Out-of-bag predictions and their error, as in :class:`PCTForestClassifier`.

    References
    ----------
    Petkovic, Ceci, Pio, Skrlj, Kersting, Dzeroski: Relational tree ensembles and feature rankings. Knowledge-Based
    Systems 251, 2022.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.make_movies(random_state=0)
    >>> model = om.RelationalForestClassifier(n_trees=10, random_state=0).fit(data)
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
        dedupe_functional: bool = True,
        nominal_joins: bool = False,
        max_candidates: int | None = 10_000,
        inherit: str = "both",
        missing: str = "extreme",
        max_features: Any = None,
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        min_impurity_decrease: float = 0.0,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        normalize_targets: bool | None = None,
        oob_score: bool = False,
        hierarchy_weight: float = 0.75,
        class_weight: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        constructed = preset, aggregates, lookahead, max_path_length, modes
        counted = dedupe_functional, nominal_joins, max_candidates, inherit, missing
        limits = max_features, min_samples_leaf, max_depth, min_impurity_decrease
        tests = nominal_tests, tie_break, normalize_targets, oob_score
        super().__init__(ensemble, n_trees, *constructed, *counted, *limits, *tests, random_state, n_jobs)
        self.hierarchy_weight = hierarchy_weight
        self.class_weight = class_weight


class RelationalForestRegressor(_Forest, PCTForestRegressor):
    """An ensemble of relational trees for one number, several numbers, or numbers and classes together.

    A test asks for a value that is constructed along a path of relations from the example: "mean stars of its ratings
    <= 2.5". A node continues a prefix of the path of its parent's test.

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
        Candidates drawn in a node: a count, a share or a name. None: all in bagging, ceil(sqrt F) of F in random
        forests.
    min_samples_leaf : float
        Least weight of a leaf, counted with bootstrap multiplicity and sample weights.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    min_impurity_decrease : float
        Least share of a node's impurity that its test takes away.
    nominal_tests : {"ordered", "greedy", "one-against-rest"}
        How subsets of a nominal feature's levels are searched.
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None is True.
    oob_score : bool
        Whether to predict each example by the trees that have not seen it.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers and any order of the tables' rows.
    n_jobs : int or None
        Number of workers; -1: all cores.

    Attributes
    ----------
    trees_ : list of Tree
        The trees over ``features_``.
    features_ : tuple of Feature
        The constructed features that trees test; ``feature_names_in_`` are their sentences.
    task_, n_outputs_, target_names_
        The task, the number of targets or labels, and their names.
    feature_importances_ : ndarray
        Genie3 of each of these features, averaged over the trees.
    oob_prediction_, oob_error_
        Out-of-bag predictions and their error, as in :class:`PCTForestRegressor`.

    References
    ----------
    Petkovic, Ceci, Pio, Skrlj, Kersting, Dzeroski: Relational tree ensembles and feature rankings. Knowledge-Based
    Systems 251, 2022.

    Examples
    --------
    >>> import omnirank as om
    >>> import pandas as pd
    >>> shops = pd.DataFrame({"id": [1, 2, 3, 4], "profit": [1.5, 2.5, 9.0, 8.5]})
    >>> sales = pd.DataFrame({"shop_id": [1, 2, 3, 4, 4], "price": [3.0, 4.0, 9.0, 7.0, 9.0]})
    >>> data = om.RelationalDataset.from_frames({"shops": shops, "sales": sales}, target="shops.profit")
    >>> model = om.RelationalForestRegressor(n_trees=20, random_state=0).fit(data)
    >>> model.score(data) > 0.8
    True
    """
