"""What all relational learners share: their parameters, reading the data, and the features of new examples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError, DataTypeError, ParameterError
from omnirank.core.log import logger
from omnirank.core.parameters import Domain, check_parameters, choice, number
from omnirank.core.plurals import counted
from omnirank.core.types import ArrayLike
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.notes import caller_outside, warn_about
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.ensembles.plan import GrowingRules
from omnirank.ensembles.predictor import PCTPredictor
from omnirank.relational.aggregation import NONE_LEVEL
from omnirank.relational.bias import Bias
from omnirank.relational.candidate_tables import CandidateTables
from omnirank.relational.columns import feature_columns
from omnirank.relational.construction import RelationalConstruction, UsedFeatures, over_used_features
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.growing import INHERITANCE, NodeRules
from omnirank.relational.paths import Feature
from omnirank.relational.plan import RelationalPlan
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
