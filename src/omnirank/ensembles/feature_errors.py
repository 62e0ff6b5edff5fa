"""Errors of trees whose leaves describe the features: alone, or beside the target's error where labels are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.ensembles.column_errors import ColumnErrors, column_errors, weighted_impurities
from omnirank.ensembles.error_parts import ErrorGrowth, ErrorMeasure, OutOfBag
from omnirank.ensembles.plan import GrowingPlan
from omnirank.trees.tree import one_leaf


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
