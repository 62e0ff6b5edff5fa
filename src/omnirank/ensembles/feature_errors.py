"""Errors of trees whose leaves describe the features: alone, or beside the target's error where labels are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.data.table import is_sparse
from omnirank.ensembles.error_parts import ErrorGrowth, ErrorMeasure, OutOfBag
from omnirank.ensembles.plan import GrowingPlan
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import one_leaf

__all__ = ["FeatureErrors", "MixedErrors", "feature_errors", "mixed_errors"]


@dataclass(frozen=True, eq=False)
class FeatureErrors:
    """Mean over features of their error relative to their training impurity.

        E_X = sum_i v_i / (V I_i) mean_known err(x_i, xhat_i)

    with squared errors of numbers, wrong levels of nominal features, their variance or Gini index I_i on the training
    set, the weights v_i of the features and the sum V of those that are not constant. A permutation changes the routes
    of examples only: their own values stay what prototypes are compared with.
    """

    plan: GrowingPlan
    columns: PrototypeColumns
    numbers: np.ndarray  # prototype columns of the numbers
    nominal: np.ndarray  # features that are classes
    truth: np.ndarray
    codes: np.ndarray
    scale: np.ndarray  # of the numbers, then of the classes

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the error of a tree and its growth."""
        from omnirank.ensembles.kernels.feature_errors import FeatureLoss
        from omnirank.ensembles.kernels.permutation import permutation_losses

        means, node_row = node_means(case.grown, self.columns)
        means = means.toarray() if is_sparse(means) else means
        by_node = self.columns.scaled(means)[np.maximum(node_row, 0)]
        weight, rows = self.plan.weight, case.order.rows.astype(np.int64)
        known = np.concatenate([weight[rows] @ ~np.isnan(self.truth[rows]), weight[rows] @ (self.codes[rows] >= 0)])
        scale = np.divide(self.scale, known, out=np.zeros(len(known)), where=known > 0)
        n = len(self.numbers)
        loss = FeatureLoss(
            self.truth,
            np.ascontiguousarray(by_node[:, self.numbers]),
            scale[:n],
            self.codes,
            majority_levels(by_node, self.columns, self.nominal),
            scale[n:],
        )
        base, change = permutation_losses(case.tests, self.plan.coded.routing, loss, case.order, weight, 1)
        return ErrorGrowth(float(base[0]), change[:, 0])


def feature_errors(plan: GrowingPlan) -> FeatureErrors:
    """Return the error of the features of a plan, in one number."""
    columns = plan.columns if plan.feature_part is None else plan.feature_part.columns
    dense = columns.scaled(columns.dense())
    is_class = np.array([levels is not None for levels in columns.levels], bool)
    numbers = np.flatnonzero(~is_class[columns.variable])
    nominal = np.flatnonzero(is_class)
    impurity = weighted_impurities(columns, dense, plan.weight)
    counted = np.where(impurity > 0, columns.weights, 0.0)
    scale = np.divide(counted, impurity * max(counted.sum(), 1e-300), out=np.zeros(len(counted)), where=impurity > 0)
    return FeatureErrors(
        plan,
        columns,
        numbers,
        nominal,
        np.ascontiguousarray(dense[:, numbers]),
        true_levels(dense, columns, nominal),
        np.concatenate([scale[~is_class], scale[is_class]]),
    )


def true_levels(dense: np.ndarray, columns: PrototypeColumns, variables: np.ndarray) -> np.ndarray:
    """Return the codes of nominal variables or labels, -1 = unknown."""
    codes = np.full((len(dense), len(variables)), -1, np.int32)
    for place, v in enumerate(variables):
        own = dense[:, columns.variable == v]
        known = ~np.isnan(own[:, 0])
        codes[known, place] = own[known, 0] if own.shape[1] == 1 else np.argmax(own[known], axis=1)
    return codes


def majority_levels(by_node: np.ndarray, columns: PrototypeColumns, variables: np.ndarray) -> np.ndarray:
    """Return the majority level (the first of equals) of each node; of a label, whether 1/2 or more have it."""
    codes = np.empty((len(by_node), len(variables)), np.int32)
    for place, v in enumerate(variables):
        own = by_node[:, columns.variable == v]
        if own.shape[1] > 1:
            codes[:, place] = np.argmax(own, axis=1)
        else:  # one column stands for the second of two levels
            codes[:, place] = own[:, 0] >= 0.5 if columns.levels[v] is None else own[:, 0] > 0.5
    return codes


def weighted_impurities(columns: PrototypeColumns, dense: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted variance of each number, in its unit, and the Gini index of each class in training."""
    variance = np.zeros(columns.n_columns)
    for c, cells in enumerate(dense.T):
        known = ~np.isnan(cells)
        cells, own = cells[known], weight[known]
        if len(cells) and (cells != cells[0]).any():
            variance[c] = np.average((cells - np.average(cells, weights=own)) ** 2, weights=own)
    found = np.bincount(columns.variable, variance, columns.n_variables)
    single = np.bincount(columns.variable, minlength=columns.n_variables) == 1
    halved = single & np.array([levels is not None for levels in columns.levels], bool)
    return np.where(halved, 2 * found, found)


@dataclass(frozen=True, eq=False)
class MixedErrors:
    """Error of semi-supervised trees, both parts relative to the default model.

        E = w E_Y / E_Y(default) + (1 - w) E_X / E_X(default)

    The default model predicts the prototype of the whole training set.
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
    everything = _default_model(plan)
    w = plan.rules.supervision
    shares = []
    for share, measure in ((w, target), (1 - w, features)):
        default = measure.growth(everything).before if share else 0.0
        shares.append(share / default if default > 0 else 0.0)
    return MixedErrors(target, features, shares[0], shares[1])


def _default_model(plan: GrowingPlan) -> OutOfBag:
    """A tree of one leaf and all training rows."""
    from omnirank.ensembles.kernels.permutation import Shuffle
    from omnirank.trees.kernels.route import CodeTests

    grown: Any = one_leaf(plan.weight)
    tests = CodeTests(grown.feature, grown.cut, grown.right, grown.missing_left, grown.subsets)
    rows = np.arange(plan.n_examples, dtype=np.uint32)
    return OutOfBag(grown, tests, Shuffle(rows, rows, np.zeros(plan.dataset.n_features, np.int64)))
