"""Out-of-bag covariances straight from their definition: every variable as columns of Python numbers."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from reference.ensembles_scores import _value, explicit_tree


@dataclass
class Variable:
    """A target or a feature: its value in each row (None = unknown), and how much it counts."""

    values: list
    nominal: bool
    alpha: float
    owner: int | None = None  # the feature that it is, None: a target
    share: float = 1.0  # of its part of the impurity
    normalize: bool = True

    def columns(self):
        """A number is one column, a nominal variable one a level."""
        if not self.nominal:
            return [self.values]
        levels = sorted({value for value in self.values if value is not None})
        return [[None if value is None else float(value == level) for value in self.values] for level in levels]

    def impurity(self, weight):
        """Sum of the variances of its columns: the variance of a number, the Gini index of levels."""
        return sum(variance(column, weight) for column in self.columns())


def known(column, rows):
    return [i for i in rows if column[i] is not None]


def mean(column, rows, weight):
    return sum(weight[i] * column[i] for i in rows) / sum(weight[i] for i in rows)


def variance(column, weight):
    rows = [i for i in known(column, range(len(column))) if weight[i] > 0]
    if not rows:
        return 0.0
    middle = mean(column, rows, weight)
    return sum(weight[i] * (column[i] - middle) ** 2 for i in rows) / sum(weight[i] for i in rows)


def cells_of(table):
    return [[_value(cell, levels is not None) for cell in table.column(f)] for f, levels in enumerate(table.levels)]


def variables_of(plan):
    """The targets with the share w of the impurity, the features with 1 - w; without a target the features alone."""
    dataset, w = plan.dataset, plan.rules.supervision
    found = []
    if dataset.target is not None:
        alpha = plan.columns.weights
        dense = dataset.target.dense()
        for j, levels in enumerate(dataset.target.levels):
            values = [None if np.isnan(cell) else float(cell) for cell in dense[:, j]]
            found.append(Variable(values, levels is not None, alpha[j], None, w, plan.rules.normalize_targets))
    if dataset.target is None or w < 1:
        share = 1.0 if dataset.target is None else 1 - w
        for f, values in enumerate(cells_of(dataset.features)):
            found.append(Variable(values, dataset.features.levels[f] is not None, 1.0, f, share))
    return found


def unbiased(plan, tree, counts):
    """The score of each feature that each variable adds, (variables, features)."""
    table, weight = plan.dataset.features, plan.weight
    cells = cells_of(table)
    n = table.n_rows
    case = SimpleNamespace(
        nominal=[levels is not None for levels in table.levels],
        X=[[values[i] for values in cells] for i in range(n)],
        training=range(n),
        bag=counts * weight,
    )
    root = explicit_tree(tree, case)
    unseen = [i for i in range(n) if counts[i] == 0]
    variables = variables_of(plan)
    varying = [v for v in variables if v.impurity(weight) > 1e-14 and v.alpha > 0]
    scores = np.zeros((len(variables), table.n_columns))

    def visit(node, rows):
        if node.feature is None:
            return
        left = [i for i in rows if node.child(case.X[i][node.feature]) is node.left]
        right = [i for i in rows if node.child(case.X[i][node.feature]) is node.right]
        for v, variable in enumerate(variables):
            if variable in varying and variable.owner != node.feature:
                beside = [u for u in varying if (u.owner is None) == (variable.owner is None)]
                scores[v, node.feature] += gain(variable, node, left, right) / sum(u.alpha for u in beside)
        visit(node.left, left)
        visit(node.right, right)

    def gain(variable, node, left, right):
        total = 0.0
        for column in variable.columns():
            seen = known(column, node.left.rows), known(column, node.right.rows)
            found = known(column, left), known(column, right)
            if not all(sum(weight[i] for i in rows) > 0 for rows in (*seen, *found)):
                continue
            a, b = (sum(weight[i] for i in rows) for rows in found)
            said = mean(column, seen[0], case.bag) - mean(column, seen[1], case.bag)
            confirmed = mean(column, found[0], weight) - mean(column, found[1], weight)
            all_known = sum(weight[i] for i in known(column, range(n)))
            total += sum(weight) / all_known * a * b / (a + b) * confirmed * said
        scale = variable.share * variable.alpha / (variable.impurity(weight) if variable.normalize else 1.0)
        return scale * total

    visit(root, unseen)
    return scores * sum(weight) / sum(weight[i] for i in unseen)
