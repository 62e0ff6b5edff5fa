"""Out-of-bag covariances straight from their definition: every variable as columns of Python numbers."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from scipy.stats import norm, pearson3

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

    def varies(self):
        """Whether it has several known values."""
        return any(len({value for value in column if value is not None}) > 1 for column in self.columns())


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
            found.append(
                Variable(values, levels is not None, alpha[j], None, w, plan.rules.normalize_targets is not False)
            )
    if dataset.target is None or w < 1:
        share = 1.0 if dataset.target is None else 1 - w
        for f, values in enumerate(cells_of(dataset.features)):
            found.append(Variable(values, dataset.features.levels[f] is not None, 1.0, f, share))
    return found


def unbiased(plan, tree, counts):
    """The score of each feature that each variable adds, (variables, features)."""
    scores = np.zeros((len(variables_of(plan)), plan.dataset.n_features))
    for v, variable, node, left, right, factor in _told(plan, tree, counts):
        scores[v, node.feature] += factor * _gain(plan, counts, variable, node, left, right)
    return scores


def contributions(plan, tree, counts, widened=True):
    """What each example out of bag adds to the score of each feature, (examples, features).

    Example i adds (N0 / N0') w_i sum_c (z_ic - nu_tc) (mu_c(i),c - mbar_tc) in node t with its child c(i), where
    mbar_t = (K'_L mu_L + K'_R mu_R) / K'_t. Widened by sqrt(m / (m - 1)), for m known examples out of bag in t, the
    squares have the size that they would have if nu and mbar were not means of the same examples.
    """
    weight = plan.weight
    one = sum(w**2 for w in weight) / sum(weight)
    found = np.zeros((plan.n_examples, plan.dataset.n_features))
    for _, variable, node, left, right, factor in _told(plan, tree, counts):
        for column, seen, out in _columns(plan, variable, node, left, right):
            mu = [mean(column, rows, counts * weight) for rows in seen]
            known_weight = [sum(weight[i] for i in rows) for rows in out]
            mbar = (known_weight[0] * mu[0] + known_weight[1] * mu[1]) / sum(known_weight)
            nu = mean(column, out[0] + out[1], weight)
            scale = _scale(plan, variable, column)
            if widened:
                m = max(2.0, sum(known_weight) / one)
                scale *= (m / (m - 1)) ** 0.5
            for child in (0, 1):
                for i in out[child]:
                    found[i, node.feature] += factor * scale * weight[i] * (column[i] - nu) * (mu[child] - mbar)
    return found


def in_bag(plan, tree, counts):
    """The score of each feature with the means of the bag in place of those out of it, (features,)."""
    found = np.zeros(plan.dataset.n_features)
    for _, variable, node, left, right, factor in _told(plan, tree, counts):
        for column, seen, out in _columns(plan, variable, node, left, right):
            a, b = (sum(plan.weight[i] for i in rows) for rows in out)
            mu = [mean(column, rows, counts * plan.weight) for rows in seen]
            found[node.feature] += factor * _scale(plan, variable, column) * a * b / (a + b) * (mu[0] - mu[1]) ** 2
    return found


def p_values(scores, contributions_of_trees, in_bag_of_trees):
    """P values from scores in and out of bag (trees, features), and widened contributions (trees, examples, features).

    A = sum C^2 of the mean contributions C; B, the squared standard error over trees, at most A, which it is for a
    single tree; s at least 0, L = max(G - s, G / 2) / 2 for the score G of the bag, l = (A - B) / (L + s); the shifted
    gamma distribution of variance 2 l L + B and third moment 8 l^2 L, of L / l terms, at least 1.
    """
    trees = np.asarray(contributions_of_trees)
    C, G = trees.mean(axis=0), np.mean(in_bag_of_trees, axis=0)
    found = []
    for f in range(C.shape[1]):
        by_tree = np.asarray(scores)[:, f]
        A = sum(c**2 for c in C[:, f])
        B = min(A, by_tree.var(ddof=1) / len(trees)) if len(trees) > 1 else A
        if A == 0:
            found.append(1.0)
            continue
        s = max(by_tree.mean(), 0.0)
        L = max(G[f] - s, G[f] / 2) / 2
        size = (A - B) / (L + s)
        V = 2 * size * L + B
        skewness = (8 / max(L / size, 1.0)) ** 0.5 * (2 * size * L / V) ** 1.5 if A > B else 0.0
        null = pearson3(skewness, scale=V**0.5) if skewness > 1e-3 else norm(scale=V**0.5)
        found.append(null.sf(by_tree.mean()))
    return np.array(found)


def _told(plan, tree, counts):
    """Every test and variable that it tells something of: variable, node, out-of-bag rows of its children, factor."""
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
    varying = [v for v in variables if v.varies() and v.alpha > 0]
    share = sum(weight) / sum(weight[i] for i in unseen)
    found = []

    def visit(node, rows):
        if node.feature is None:
            return
        left = [i for i in rows if node.child(case.X[i][node.feature]) is node.left]
        right = [i for i in rows if node.child(case.X[i][node.feature]) is node.right]
        for v, variable in enumerate(variables):
            if variable in varying and variable.owner != node.feature:
                beside = [u for u in varying if (u.owner is None) == (variable.owner is None)]
                found.append((v, variable, node, left, right, share / sum(u.alpha for u in beside)))
        visit(node.left, left)
        visit(node.right, right)

    visit(root, unseen)
    return found


def _columns(plan, variable, node, left, right):
    """Columns that are known in all four parts of a node, with the known rows of its children in and out of bag."""
    for column in variable.columns():
        seen = known(column, node.left.rows), known(column, node.right.rows)
        out = known(column, left), known(column, right)
        if all(sum(plan.weight[i] for i in rows) > 0 for rows in (*seen, *out)):
            yield column, seen, out


def _scale(plan, variable, column):
    all_known = sum(plan.weight[i] for i in known(column, range(plan.n_examples)))
    spread = variable.impurity(plan.weight) if variable.normalize else 1.0
    return variable.share * variable.alpha / spread * sum(plan.weight) / all_known


def _gain(plan, counts, variable, node, left, right):
    weight, total = plan.weight, 0.0
    for column, seen, out in _columns(plan, variable, node, left, right):
        a, b = (sum(weight[i] for i in rows) for rows in out)
        said = mean(column, seen[0], counts * weight) - mean(column, seen[1], counts * weight)
        confirmed = mean(column, out[0], weight) - mean(column, out[1], weight)
        total += _scale(plan, variable, column) * a * b / (a + b) * confirmed * said
    return total
