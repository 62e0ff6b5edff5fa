"""Out-of-bag errors of one tree, and how much they grow when a feature is permuted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from omnirank.core.errors import ParameterError, setting
from omnirank.data.table import is_sparse
from omnirank.ensembles.plan import GrowingPlan
from omnirank.ensembles.scores import ERRORS, check_error
from omnirank.measures.table import Measure, first_largest, reaches
from omnirank.tasks.columns import PrototypeColumns, variances_of
from omnirank.tasks.measuring import measure, measure_of
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import one_leaf, routing_tests

# Losses of rows by target that are held at once.
_MOST_LOSSES = 2**18


class ErrorGrowth(NamedTuple):
    """An error of one tree on its out-of-bag rows, and how much it grows when each feature is permuted.

    For a measure that is larger for better predictions it is the value, and how much it falls.

    Attributes
    ----------
    before : float
        The error.
    growth : ndarray (features,)
        By how much it grows.
    target_before : ndarray (targets,) or None
        The same for single targets, where that is asked for.
    target_growth : ndarray (targets, features) or None
        By how much these grow.
    """

    before: float
    growth: np.ndarray
    target_before: np.ndarray | None = None
    target_growth: np.ndarray | None = None


class OutOfBag(NamedTuple):
    """A grown tree and the rows it has not seen, with the order in which their values are permuted."""

    grown: Any
    tests: Any
    order: Any


class ErrorMeasure(Protocol):
    """What is the same for all trees of a fit; picklable."""

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the error of a tree and its growth."""


def error_measure(plan: GrowingPlan, error: str = "auto", per_target: bool = False) -> ErrorMeasure:
    """Return the error by which the trees of a plan are judged.

    Parameters
    ----------
    plan : GrowingPlan
        What the trees are grown on.
    error : str
        The error; "auto" is that of the task, of semi-supervised trees beside that of the features; "target" leaves
        the features out. Others, such as measures of the task, are of the target alone.
    per_target : bool
        Whether errors of single targets are wanted too.
    """
    check_error(error, plan.task.name)
    if plan.task.name not in ERRORS.get(error, ()):
        if per_target:
            raise ParameterError("per_target", True, f"{setting('permutation_error', error)} has no errors by target")
        return _MeasureErrors(plan, measure_of(plan.task.name, error))
    if plan.task.kind == "none" and not per_target:
        return feature_errors(plan)
    if error == "auto" and plan.feature_part is not None:
        return mixed_errors(plan, _target_measure(plan, error, per_target))
    return _target_measure(plan, "auto" if error == "target" else error, per_target)


def _target_measure(plan: GrowingPlan, error: str, per_target: bool) -> ErrorMeasure:
    columns = plan.columns
    if plan.task.kind == "labels":
        if error != "auprc":
            return _set_errors(plan, per_target)
        # of hierarchies, labels that no out-of-bag row has are left out of the curve, as in studies of them
        return _RecallErrors(plan, label_sets(columns), plan.task.hierarchical, per_target)
    impurity = weighted_impurities(columns, plan.weight)
    # Numbers count relative to their variance, and classes beside them relative to their Gini index.
    scale = (impurity > 0).astype(np.float64) / max(1, int((impurity > 0).sum()))
    if any(levels is None for levels in columns.levels):
        scale = np.divide(scale, impurity, out=scale, where=impurity > 0)
    return column_errors(plan, columns, scale, error)


# -- numbers and classes --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ColumnErrors:
    """Mean squared errors of numbers and shares of wrong classes, each times the scale of its variable."""

    plan: GrowingPlan
    columns: PrototypeColumns
    numbers: np.ndarray  # variables that are numbers
    classes: np.ndarray  # variables that are classes
    number_truth: np.ndarray
    class_truth: np.ndarray  # codes, -1 = unknown
    scale: np.ndarray
    error: str
    in_one_number: bool  # of many variables at once, which takes less time

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the error of a tree and its growth."""
        columns, rows = self.columns, case.order.rows.astype(np.int64)
        means, node_row = node_means(case.grown, columns)
        means = means.toarray() if is_sparse(means) else means
        by_node = columns.scaled(means)[np.maximum(node_row, 0)]
        predicted = (
            by_node[:, np.isin(columns.variable, self.numbers)],
            _majority_levels(by_node, columns, self.classes),
        )
        weight, known = self.plan.weight[rows], np.zeros(columns.n_variables)
        known[self.numbers] = weight @ ~np.isnan(self.number_truth[rows])
        known[self.classes] = weight @ (self.class_truth[rows] >= 0)
        divisor = np.where(known > 0, known, 1.0)
        factor = (self.scale / divisor)[:, None] if self.in_one_number else None
        base, change = self._sums(case, *predicted, factor)
        if factor is not None:
            return ErrorGrowth(float(base[0]), change[0])
        return self._combined(base / divisor, change / divisor[:, None], known > 0)

    def _sums(
        self, case: OutOfBag, means: np.ndarray, levels: np.ndarray, factor: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Summed losses of each variable, or their sums by ``factor``, and their changes by feature in the columns."""
        moves, rows = moves_of(self.plan, case), case.order.rows.astype(np.int64)
        weight, width = self.plan.weight[rows], self.columns.n_variables
        step = max(1, _MOST_LOSSES // width)

        def losses(rows: np.ndarray, leaves: np.ndarray) -> np.ndarray:
            all_losses = np.empty((len(rows), width))
            apart = (self.number_truth[rows] - means[leaves]) ** 2
            all_losses[:, self.numbers] = np.where(np.isnan(apart), 0.0, apart)
            truth = self.class_truth[rows]
            all_losses[:, self.classes] = (truth >= 0) & (truth != levels[leaves])
            return all_losses if factor is None else all_losses @ factor

        parts = [slice(start, start + step) for start in range(0, len(rows), step)]
        here = np.concatenate([losses(rows[part], moves.leaf[part]) for part in parts])
        change = np.zeros((len(moves.starts) - 1, here.shape[1]))
        feature = np.repeat(np.arange(len(change)), np.diff(moves.starts))
        for start in range(0, len(feature), step):
            part = slice(start, start + step)
            place = moves.place[part]
            grown = (losses(rows[place], moves.new_leaf[part]) - here[place]) * weight[place, None]
            present, first = np.unique(feature[part], return_index=True)
            change[present] += np.add.reduceat(grown, first)
        return weight @ here, change.T

    def _combined(self, base: np.ndarray, change: np.ndarray, known: np.ndarray) -> ErrorGrowth:
        if self.error == "rrmse":
            before = np.sqrt(base * self.scale)
            growth = np.sqrt(np.maximum(base[:, None] + change, 0.0) * self.scale[:, None]) - before[:, None]
        elif self.error == "accuracy":
            counted = self.scale * known
            before, growth = (1.0 - base) * counted, change * counted[:, None]
        else:
            before, growth = base * self.scale, change * self.scale[:, None]
        return ErrorGrowth(float(before.sum()), growth.sum(axis=0), before, growth)


def moves_of(plan: GrowingPlan, case: OutOfBag) -> Any:
    """Return the leaves of the rows, and those that they reach when a feature is permuted."""
    from omnirank.ensembles.kernels.permutation import permutation_moves

    return permutation_moves(case.tests, plan.cells, case.order)


def column_errors(
    plan: GrowingPlan, columns: PrototypeColumns, scale: np.ndarray, error: str = "auto", in_one_number: bool = False
) -> ColumnErrors:
    """Return the errors of all variables of a coded target, or of the features.

    Parameters
    ----------
    plan : GrowingPlan
        What the trees are grown on.
    columns : PrototypeColumns
        What their leaves describe.
    scale : ndarray (variables,)
        How much the error of each variable counts.
    error : {"auto", "accuracy", "rrmse"}
        How the errors of single variables are combined.
    in_one_number : bool
        Whether only their sum is wanted.
    """
    dense = columns.scaled(columns.dense())
    is_class = np.array([levels is not None for levels in columns.levels], bool)
    numbers, classes = np.flatnonzero(~is_class), np.flatnonzero(is_class)
    number_truth = np.ascontiguousarray(dense[:, np.isin(columns.variable, numbers)])
    class_truth = _true_levels(dense, columns, classes)
    return ColumnErrors(plan, columns, numbers, classes, number_truth, class_truth, scale, error, in_one_number)


def _true_levels(dense: np.ndarray, columns: PrototypeColumns, variables: np.ndarray) -> np.ndarray:
    """Return the codes of nominal variables, -1 = unknown."""
    codes = np.full((len(dense), len(variables)), -1, np.int32)
    for place, v in enumerate(variables):
        own = dense[:, columns.variable == v]
        known = ~np.isnan(own).any(axis=1)
        codes[known, place] = own[known, 0] if own.shape[1] == 1 else first_largest(own[known])
    return codes


def _majority_levels(by_node: np.ndarray, columns: PrototypeColumns, variables: np.ndarray) -> np.ndarray:
    """Return the majority level (the first of equals) of each node."""
    codes = np.empty((len(by_node), len(variables)), np.int32)
    for place, v in enumerate(variables):
        own = by_node[:, columns.variable == v]
        if own.shape[1] != 1:
            codes[:, place] = first_largest(own)
        else:  # one column stands for the second of two levels
            codes[:, place] = ~reaches(1.0 - own[:, 0])
    return codes


def weighted_impurities(columns: PrototypeColumns, weight: np.ndarray) -> np.ndarray:
    """Return the weighted variance of each number, in its unit, and the Gini index of each class in training."""
    impurity = np.bincount(columns.variable, variances_of(columns, weight), columns.n_variables)
    single = np.bincount(columns.variable, minlength=columns.n_variables) == 1
    halved = single & np.array([levels is not None for levels in columns.levels], bool)
    return np.where(halved, 2 * impurity, impurity)


# -- any measure ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _MeasureErrors:
    """A measure of the predictions for all rows out of bag, which are not weighted."""

    plan: GrowingPlan
    measure: Measure

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the measure of a tree and by how much it gets worse."""
        moves = moves_of(self.plan, case)
        means, node_row = node_means(case.grown, self.plan.columns)
        means = means.toarray() if is_sparse(means) else means
        predicted = means[node_row[moves.leaf]]
        before = self._value(case, predicted)
        growth = np.zeros(self.plan.dataset.n_features)
        for f in np.flatnonzero(np.diff(moves.starts)):
            moved = slice(moves.starts[f], moves.starts[f + 1])
            permuted = predicted.copy()
            permuted[moves.place[moved]] = means[node_row[moves.new_leaf[moved]]]
            growth[f] = self._value(case, permuted) - before
        # a measure that is undefined makes the score of the tree undefined
        return ErrorGrowth(float(np.nan_to_num(before)), -growth if self.measure.larger_is_better else growth)

    def _value(self, case: OutOfBag, means: np.ndarray) -> float:
        data = self.plan.dataset
        assert data.target is not None
        truth = data.target.take(case.order.rows.astype(np.int64))
        if not truth.labelled.any():
            return float("nan")
        task = self.plan.task.name
        values = measure(truth, means, training=data.target, task=task, hierarchy=data.hierarchy)
        return values[self.measure.name]


# -- features -------------------------------------------------------------------------------------------------


def feature_errors(plan: GrowingPlan) -> ColumnErrors:
    """Return the mean over features of their error relative to their training impurity.

        E_X = sum_i v_i / (V I_i) mean_known err(x_i, xhat_i)

    with squared errors of numbers, wrong levels of nominal features, their variance or Gini index I_i on the training
    set, the weights v_i of the features and the sum V of those that are not constant. A permutation changes only the
    routes of examples: prototypes are still compared with the examples' own values.

    References
    ----------
    Petkovic, Kocev, Skrlj, Dzeroski: Ensemble- and distance-based feature ranking for unsupervised learning.
    International Journal of Intelligent Systems 36, 2021 (the error e of Eq. (2)).
    """
    columns = plan.columns if plan.feature_part is None else plan.feature_part.columns
    impurity = weighted_impurities(columns, plan.weight)
    counted = np.where(impurity > 0, columns.weights, 0.0)
    scale = np.divide(counted, impurity * max(counted.sum(), 1e-300), out=np.zeros(len(counted)), where=impurity > 0)
    return column_errors(plan, columns, scale, in_one_number=True)


@dataclass(frozen=True, eq=False)
class MixedErrors:
    """Error of semi-supervised trees, both parts relative to the default model.

        E = w E_Y / E_Y(default) + (1 - w) E_X / E_X(default)

    The default model predicts the prototype of the whole training set.

    References
    ----------
    Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023. Sec. 4.1.
    """

    target: ErrorMeasure
    features: ErrorMeasure
    target_share: float  # w / E_Y(default)
    feature_share: float

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the error of a tree and its growth; by target those of the target's own error."""
        y, x = self.target.growth(case), self.features.growth(case)
        return ErrorGrowth(
            self.target_share * y.before + self.feature_share * x.before,
            self.target_share * y.growth + self.feature_share * x.growth,
            y.target_before,
            y.target_growth,
        )


def mixed_errors(plan: GrowingPlan, target: ErrorMeasure) -> MixedErrors:
    """Return the error of the trees of a semi-supervised plan.

    Parameters
    ----------
    plan : GrowingPlan
        With features beside the target.
    target : ErrorMeasure
        The error of the target.
    """
    features = feature_errors(plan)
    w = plan.rules.supervision
    if w == 0:  # only ratios count, and these are those of unsupervised trees, bit for bit
        return MixedErrors(target, features, 0.0, 1.0)
    everything = _default_model(plan)
    shares = []
    for share, part in ((w, target), (1 - w, features)):
        default = part.growth(everything).before if share else 0.0
        shares.append(share / default if default > 0 else 0.0)
    return MixedErrors(target, features, shares[0], shares[1])


def _default_model(plan: GrowingPlan) -> OutOfBag:
    """A tree of one leaf and all training rows."""
    from omnirank.ensembles.kernels.permutation import Shuffle

    grown: Any = one_leaf(plan.weight)
    rows = np.arange(plan.n_examples, dtype=np.uint32)
    return OutOfBag(
        grown,
        routing_tests(grown, plan.dataset.features),
        Shuffle(rows, rows, np.zeros(plan.dataset.n_features, np.int64)),
    )


# -- label sets -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _SetErrors:
    """Weighted Hamming loss of label sets: in one number, or label by label."""

    plan: GrowingPlan
    relevant: Any  # csr (rows, labels): 1 where relevant
    unknown: Any  # the same: 1 where unknown
    by_label: bool

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the error of a tree and its growth."""
        columns, rows = self.plan.columns, case.order.rows.astype(np.int64)
        moves, weight = moves_of(self.plan, case), self.plan.weight[rows]
        sets, unknown = _predicted_sets(*node_means(case.grown, columns)), self.unknown[rows]
        relevant = self.relevant[rows]
        # a label that is predicted is right where it is relevant, wrong where it is not, neither where it is unknown
        signs = 2 * relevant + unknown
        known = weight.sum() - weight @ unknown
        scale = columns.weights / columns.n_variables
        factor = np.divide(scale, known, out=np.zeros(len(known)), where=known > 1e-12 * weight.sum())
        here = sets[moves.leaf]
        before = (weight @ (relevant + here - here.multiply(signs))) * factor
        change = sets[moves.new_leaf] - here[moves.place]
        change = sparse.csr_array(change - change.multiply(signs[moves.place]))
        n_features = self.plan.dataset.n_features
        feature, weight = np.repeat(np.arange(n_features), np.diff(moves.starts)), weight[moves.place]
        if not self.by_label:
            return ErrorGrowth(float(before.sum()), np.bincount(feature, weight * (change @ factor), n_features))
        by_feature = sparse.csr_array((weight, (feature, np.arange(len(feature)))), (n_features, len(feature)))
        growth = (by_feature @ change).toarray().T * factor[:, None]
        return ErrorGrowth(float(before.sum()), growth.sum(axis=0), before, growth)


def _set_errors(plan: GrowingPlan, by_label: bool) -> _SetErrors:
    sets = label_sets(plan.columns)
    unknown = np.isnan(sets.data)
    relevant, unknown = (
        sparse.csr_array((mask.astype(np.float64), sets.indices, sets.indptr), shape=sets.shape)
        for mask in (~unknown, unknown)
    )
    return _SetErrors(plan, relevant, unknown, by_label)


def label_sets(columns: PrototypeColumns) -> Any:
    """Return a label target as a csr matrix: 1 is stored where a label is relevant, NaN where it is unknown."""
    if not columns.is_sparse:
        return sparse.csr_array(columns.matrix)
    if columns.labelled.all():
        sets = columns.matrix.copy()
        sets.eliminate_zeros()
        return sets
    return sparse.csr_array(columns.dense())


def _predicted_sets(means: Any, node_row: np.ndarray) -> Any:
    """Labels with a frequency of at least 1/2, one row per node; inner nodes are empty."""
    chosen = sparse.csr_array(reaches(means), dtype=np.float64)
    sizes = np.where(node_row >= 0, np.diff(chosen.indptr)[np.maximum(node_row, 0)], 0)
    # Leaves are stored in the order of their nodes, so that the cells are in place already.
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return sparse.csr_array((chosen.data, chosen.indices, starts), shape=(len(node_row), chosen.shape[1]))


# -- precision-recall curves ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _RecallErrors:
    """Pooled area under the precision-recall curve, which falls when a feature that matters is permuted.

    Examples are not weighted: the curve counts pairs of examples and labels.
    """

    plan: GrowingPlan
    sets: Any  # csr (rows, labels): 1 where relevant, NaN where unknown
    only_present: bool
    per_target: bool

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the area of a tree and how much it falls."""
        moves = moves_of(self.plan, case)
        n_known, n_positive = self._pairs(case.order.rows)
        counted = (n_positive > 0) | (not self.only_present)
        means, node_row = node_means(case.grown, self.plan.columns)
        cells = sparse.csr_array(means)
        cells = sparse.csr_array(cells @ sparse.diags_array(counted.astype(np.float64)))
        cells.eliminate_zeros()
        pooled = (np.zeros(len(counted), np.int64), np.array([n_known @ counted]), np.array([n_positive.sum()]))
        before, after = self._areas(case, moves, cells, node_row, *pooled)
        whole = float(before[0]), before[0] - after[:, 0]
        if not self.per_target:
            return ErrorGrowth(*whole)
        before, after = self._areas(case, moves, cells, node_row, np.arange(len(counted)), n_known, n_positive)
        return ErrorGrowth(*whole, before, before[:, None] - after.T)

    def _pairs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Number of rows in which each label is known, and relevant."""
        own = self.sets[rows.astype(np.int64)]
        unknown = np.isnan(own.data)
        n_labels = own.shape[1]
        n_unknown = np.bincount(own.indices[unknown], minlength=n_labels)
        return len(rows) - n_unknown, np.bincount(own.indices[~unknown], minlength=n_labels)

    def _areas(
        self,
        case: OutOfBag,
        moves: Any,
        cells: Any,
        node_row: np.ndarray,
        curve_of: np.ndarray,
        n_known: np.ndarray,
        n_positive: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        from omnirank.ensembles.kernels.permutation import Curves, Sets, permuted_areas

        groups, group_starts = _groups(curve_of[cells.indices], cells.data, len(n_known))
        sizes = np.where(node_row >= 0, np.diff(cells.indptr)[np.maximum(node_row, 0)], 0)
        # Leaves are stored in the order of their nodes, so that the cells are in place already.
        starts = np.concatenate([[0], np.cumsum(sizes)])
        curves = Curves(starts, cells.indices.astype(np.int64), groups, group_starts, n_known, n_positive)
        sets = Sets(self.sets.indptr.astype(np.int64), self.sets.indices.astype(np.int64), ~np.isnan(self.sets.data))
        return permuted_areas(moves, case.order.rows, sets, curves)


def _groups(curve: np.ndarray, values: np.ndarray, n_curves: int) -> tuple[np.ndarray, np.ndarray]:
    """Number the groups of equal values of each curve, the largest first, with one more for 0 at its end.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.errors import _groups
    >>> groups, starts = _groups(np.array([0, 1, 0, 0]), np.array([0.2, 0.9, 0.7, 0.2]), 2)
    >>> groups.tolist(), starts.tolist()
    ([1, 3, 0, 1], [0, 3, 5])
    """
    order = np.lexsort((-values, curve))
    ordered_curve, ordered = curve[order], values[order]
    new_curve = np.diff(ordered_curve, prepend=-1) != 0
    new_group = new_curve | (np.diff(ordered, prepend=np.inf) != 0)
    n_groups = np.bincount(ordered_curve[new_group], minlength=n_curves) + 1
    starts = np.concatenate([[0], np.cumsum(n_groups)])
    groups = np.empty(len(order), np.int64)
    # Every curve before has one more group, that of 0.
    groups[order] = np.cumsum(new_group) - 1 + ordered_curve
    return groups, starts
