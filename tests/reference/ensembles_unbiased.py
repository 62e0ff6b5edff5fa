"""Credit at the root and out-of-bag covariances below it, straight from their definitions, with Python numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
from scipy.stats import norm, pearson3, rankdata
from scipy.stats import t as student

from reference import ensembles_permutations as permuted
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
        return [[None if value is None else int(value == level) for value in self.values] for level in levels]

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
        return 0
    middle = mean(column, rows, weight)
    return sum(weight[i] * (column[i] - middle) ** 2 for i in rows) / sum(weight[i] for i in rows)


def cells_of(table):
    return [[_value(cell, levels is not None) for cell in table.column(f)] for f, levels in enumerate(table.levels)]


def variables_of(plan, number=float):
    """The targets with the share w of the impurity, the features with 1 - w; without a target the features alone."""
    dataset, w = plan.dataset, number(plan.rules.supervision)
    found = []
    if dataset.target is not None:
        alpha = plan.columns.weights
        dense = dataset.target.dense()
        for j, levels in enumerate(dataset.target.levels):
            values = [None if np.isnan(cell) else number(float(cell)) for cell in dense[:, j]]
            normalize = plan.rules.normalize_targets is not False
            found.append(Variable(values, levels is not None, number(float(alpha[j])), None, w, normalize))
    if dataset.target is None or w < 1:
        share = number(1) if dataset.target is None else 1 - w
        for f, values in enumerate(cells_of(dataset.features)):
            values = [None if value is None else number(value) for value in values]
            found.append(Variable(values, dataset.features.levels[f] is not None, number(1), f, share))
    return found


def in_normal_scores(plan, variables, number=float):
    """Numeric targets as quantiles of the weight below each value and half of that at it, of the same variance."""
    if plan.dataset.target is None or plan.dataset.target.is_labels:
        return variables
    return [v if v.nominal or v.owner is not None else _in_normal_scores(v, plan.weight, number) for v in variables]


def _in_normal_scores(variable, weight, number):
    weight, values = [number(w) for w in weight], variable.values
    rows, scores = known(values, range(len(values))), [None] * len(values)
    for i in rows:
        below, at, above = (
            sum(weight[k] for k in rows if (values[k] > values[i]) - (values[k] < values[i]) == side)
            for side in (-1, 0, 1)
        )
        less, side = min(below, above) + at / 2, 1 if below < above else -1
        scores[i] = number(float(norm.ppf(float(less / (below + at + above)))) * side if less > 0 else 0)  # no weight
    size = variance(scores, weight)
    scale = (variance(values, weight) / size) ** number(0.5) if size else number(0)
    return replace(variable, values=[None if score is None else score * scale for score in scores])


def kernel(x, nominal, weight):
    """K_ik of the examples with these values: the mean over tests of (1 / W_L + 1 / W_R) (l_i - F) (l_k - F).

    F = W_L / W, and l is 1 on the left. A number has a test between neighbouring values, by the weight of the examples
    that have one of the two; levels have all their contrasts.
    """
    values, weight = sorted(set(x)), np.asarray(weight)
    total = weight.sum()
    of_value = [sum(w for y, w in zip(x, weight, strict=True) if y == value) for value in values]
    if nominal:
        same = np.array([[(y == z) / of_value[values.index(y)] for z in x] for y in x])
        return (same - 1 / total) / (len(values) - 1)
    K = 0
    chances = [a + b for a, b in pairwise(of_value)]
    for value, chance in zip(values, chances, strict=False):
        left = np.array([int(y <= value) for y in x])
        inside = left @ weight
        away = left - inside / total
        K = K + chance / sum(chances) * (1 / inside + 1 / (total - inside)) * np.outer(away, away)
    return K


def noise_factor(m, nominal):
    """By what credit of m equally frequent values is multiplied so that noise varies as numbers of many values do.

    The credit of noise is a sum of squares with the eigenvalues of the kernel as weights; 1 / (j (j + 1)) for j from 1
    to infinity for numbers of many values, whose squares add up to pi^2 / 3 - 3.
    """
    weights = np.linalg.eigvalsh(kernel(range(m), nominal, [1.0] * m))
    return ((np.pi**2 / 3 - 3) * weights.sum() ** 2 / (weights**2).sum()) ** 0.5


def root(plan, number=float):
    """Credit of each feature at the root by variable, what groups add to it, and what they add that meet themselves.

    With u_i = w_i (z_i - mean), centred among the examples with a known cell, M_ik = K_ik u_i u_k, sums D of M and Q
    of u_i u_k within groups, and the sum h of the squared shares of the groups' weights, the credit is
    sum M - D / (1 - 2 h) + h Q / (W (1 - h) (1 - 2 h)).
    """
    table, weight, n = plan.dataset.features, np.array([number(w) for w in plan.weight]), plan.n_examples
    groups = np.arange(n) if plan.groups is None else plan.groups
    variables = in_normal_scores(plan, variables_of(plan, number), number)
    scores, themselves = np.full((len(variables), table.n_columns), number(0)), np.full(table.n_columns, number(0))
    by_group = np.full((table.n_columns, groups.max() + 1), number(0))
    varying = [v for v in variables if v.varies() and v.alpha > 0]
    # groups add what they do about the target, where it counts
    beside_target = any(v.owner is None for v in varying) and plan.rules.supervision > 0
    for f, cells in enumerate(cells_of(table)):
        rows = [i for i in range(n) if weight[i] > 0 and cells[i] is not None]
        if len({cells[i] for i in rows}) < 2:
            continue
        shares = [sum(weight[i] for i in rows if groups[i] == g) / sum(weight[rows]) for g in set(groups.tolist())]
        h = sum(share**2 for share in shares)
        if h > 0.49999:  # fewer than three groups
            continue
        K = kernel([cells[i] for i in rows], table.levels[f] is not None, [weight[i] for i in rows])
        inside, same = weight[rows], groups[rows][:, None] == groups[rows]
        for v, variable in enumerate(variables):
            if variable not in varying or variable.owner == f:
                continue
            beside = sum(u.alpha for u in varying if (u.owner is None) == (variable.owner is None))
            for column in variable.columns():
                all_known = [i for i in known(column, range(n)) if weight[i] > 0]
                middle = mean(column, all_known, weight)
                u = np.array([number(0) if column[i] is None else weight[i] * (column[i] - middle) for i in rows])
                u -= inside * sum(u) / sum(inside)
                share = sum(weight) / sum(weight[i] for i in all_known)
                products = np.outer(u, u) * _scale(plan, variable, column, weight) / beside * share
                M = K * products
                D, Q = (M * same).sum(), (products * same).sum() / sum(inside)
                left = (h * Q / (1 - h) - 2 * h * D) / (1 - 2 * h)
                scores[v, f] += M.sum() - D + left
                if variable.owner is not None and beside_target:
                    continue
                themselves[f] += D
                for row, own in zip(rows, (M * ~same).sum(axis=1) + left * inside / sum(inside), strict=True):
                    by_group[f, groups[row]] += own
    return tuple(found.astype(np.float64) for found in (scores, by_group, themselves))


def chance(plan):
    """Of each feature: a statistic by rows of weight 1 and the weighed targets u, and its moments over permutations.

    The p value in pairs comes last, NaN without a target.
    """
    table, weight, n = plan.dataset.features, plan.weight, plan.n_examples
    varying = [v for v in in_normal_scores(plan, variables_of(plan)) if v.varies() and v.alpha > 0]
    if any(v.owner is None for v in varying):
        varying = [v for v in varying if v.owner is None]
    columns = [column for v in varying for column in v.columns()]
    labelled = [i for i in range(n) if weight[i] > 0 and any(column[i] is not None for column in columns)]
    found, pairs = [], [np.nan] * table.n_columns
    if all(v.owner is None for v in varying):
        targets = []
        for variable, column in ((v, column) for v in varying for column in v.columns()):
            middle = mean(column, [i for i in known(column, range(n)) if weight[i] > 0], weight)
            size = (_scale(plan, variable, column)) ** 0.5
            targets.append([0.0 if column[i] is None else size * weight[i] * (column[i] - middle) for i in labelled])
        pairs = in_pairs(table.take(np.array(labelled)), np.transpose(targets), share=0.15)
    for f, cells in enumerate(cells_of(table)):
        rows = [i for i in labelled if cells[i] is not None]
        if len({cells[i] for i in rows}) < 2:
            found.append((0.0, 0.0, 0.0, 0.0, pairs[f]))
            continue
        products = np.zeros((len(rows), len(rows)))
        for variable in varying:
            beside = sum(v.alpha for v in varying if (v.owner is None) == (variable.owner is None))
            for column in variable.columns() if variable.owner != f else ():
                all_known = [i for i in known(column, range(n)) if weight[i] > 0]
                middle = mean(column, all_known, weight)
                u = np.array([0.0 if column[i] is None else weight[i] * (column[i] - middle) for i in rows])
                scale = _scale(plan, variable, column) * sum(weight) / sum(weight[i] for i in all_known)
                products += np.outer(u - u.mean(), u - u.mean()) * scale / beside
        A = permuted.centred(kernel([cells[i] for i in rows], table.levels[f] is not None, [1.0] * len(rows)))
        B = permuted.centred(products)
        found.append(((A * B).sum(), *permuted.moments(A, B), pairs[f]))
    return found


def confirmed(below, root, genie3, kinds):
    """The score of each feature from its credit below the root and at it, and from Genie3.

    At the root, features share what the best has, in proportion; below it, b counts as b^3 / (b^2 + (8 tau)^2), where
    tau is the root mean square of the negative b (0 for fewer than ten features). A fifth is borrowed from the line of
    at least ten features of a kind.
    """
    n = len(below)
    negative = [b for b in below if b < 0 and n >= 10]
    tau = (sum(b**2 for b in negative) / len(negative)) ** 0.5 if negative else 0.0
    positive = sum(max(r, 0.0) for r in root)
    share = max(root) / positive if positive > 0 else 1.0
    own = [share * r + (b**3 / (b**2 + (8 * tau) ** 2) if b else 0.0) for b, r in zip(below, root, strict=True)]
    alike = [[f for f in range(n) if kinds[f] == kind] for kind in kinds]
    away = [
        genie3[f] - sum(genie3[i] for i in alike[f]) / len(alike[f]) if len(alike[f]) >= 10 else 0 for f in range(n)
    ]
    squares = sum(x**2 for x in away)
    slope = max(0.0, sum(x * e for x, e in zip(away, own, strict=True)) / squares) if squares else 0.0
    return [
        0.8 * own[f] + 0.2 * (sum(own[i] for i in alike[f]) / len(alike[f]) + slope * away[f])
        if len(alike[f]) >= 10
        else own[f]
        for f in range(n)
    ]


def unbiased(plan, tree, counts):
    """The credit of each feature below the root that each variable adds, (variables, features)."""
    scores = np.zeros((len(variables_of(plan)), plan.dataset.n_features))
    for v, variable, node, left, right, factor in _told(plan, tree, counts):
        scores[v, node.feature] += factor * _gain(plan, counts, variable, node, left, right)
    return scores


def contributions(plan, tree, counts, widened=True):
    """What each example out of bag adds to the score of each feature, (examples, features).

    Example i adds (N0 / N0') w_i sum_c (z_ic - nu_tc) (mu_c(i),c - mbar_tc) in node t with its child c(i), where
    mbar_t is the mean over the m known examples out of bag in t, whatever their weights. Widened by sqrt(m / (m - 1)),
    the squares have the size that they would have if nu and mbar were not means of the same examples.
    """
    weight = plan.weight
    found = np.zeros((plan.n_examples, plan.dataset.n_features))
    for _, variable, node, left, right, factor in _told(plan, tree, counts):
        for column, seen, out in _columns(plan, variable, node, left, right):
            mu = [mean(column, rows, counts * weight) for rows in seen]
            m = len(out[0]) + len(out[1])
            mbar = (len(out[0]) * mu[0] + len(out[1]) * mu[1]) / m
            nu = mean(column, out[0] + out[1], weight)
            scale = _scale(plan, variable, column)
            if widened:
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


def in_pairs(table, target, most=8, share=1.0):
    """P value of each feature from its pairs with all others, 1 unless below a share of the error: see `pair_test`."""
    n = len(target)
    ranks = {}
    for column in sorted((tuple(u) for u in np.transpose(target)), key=np.std, reverse=True)[:most]:
        r = rankdata(np.round(np.array(column) / max(np.abs(column)), 9)) - (n + 1) / 2 if any(column) else np.zeros(n)
        if any(r) and tuple(-r) not in ranks:
            ranks[tuple(r)] = r
    scores = []  # feature and its scores by example
    for f, cells in enumerate(cells_of(table)):
        rows = [i for i in range(n) if cells[i] is not None]
        known_cells = [cells[i] for i in rows]
        if not table.is_nominal[f]:
            columns = [rankdata(known_cells)]
        else:
            levels = sorted(set(known_cells), key=lambda level: (-known_cells.count(level), level))[:10]
            levels = levels[:1] if len(levels) == 2 else levels
            columns = [[float(c == level) for c in known_cells] for level in levels]
        for column in columns:
            scores.append((f, np.zeros(n)))
            if rows:
                scores[-1][1][rows] = column - np.mean(column)
    found = []
    for g in range(table.n_columns):
        own, smallest = [s for f, s in scores if f == g], 1.0
        pairs = [(r, s) for f, s in scores if f != g for r in ranks.values()]
        for mine in own:
            for r, other in pairs:
                v = r * other - np.mean(r * other)
                squares = max(sum(v**2 * mine**2), sum(v**2) * sum(mine**2) / n)
                if squares > 1e-20:
                    p = 2 * student.sf(abs(v @ mine) / squares**0.5, n - 2)
                    smallest = min(smallest, p * len(pairs) * len(own))
        found.append(smallest if smallest < share else 1.0)
    return found


def p_values(scores, contributions_of_trees, in_bag_of_trees, root, by_chance=None):
    """P values from scores in and out of bag (trees, features), and widened contributions (trees, examples, features).

    A = sum C^2 of the mean contributions C; B, the squared standard error over trees, at most A, which it is for a
    single tree; G is the score of the bag, and L = max(G - s, G / 2) / 2 for s at least 0. All these are from below
    the root. At the root, C are what groups add, B = 0, and L is what they add that meet themselves; but where moments
    over permutations are known, the p value is the larger one of two gamma distributions.
    The feature has the smallest of the p values at the root, below it and in pairs, each divided by its share of the
    error: 0.7, 0.15 and 0.15.
    """
    trees = np.asarray(contributions_of_trees)
    C, G = trees.mean(axis=0), np.mean(in_bag_of_trees, axis=0)
    found = []
    for f in range(C.shape[1]):
        by_tree = np.asarray(scores)[:, f]
        A, s = sum(c**2 for c in C[:, f]), by_tree.mean()
        B = min(A, by_tree.var(ddof=1) / len(trees)) if len(trees) > 1 else A
        p = _tail(s, A, B, max(G[f] - max(s, 0.0), G[f] / 2) / 2)
        _, at_root, themselves = root
        alone = _tail(sum(at_root[f]), sum(c**2 for c in at_root[f]), 0.0, themselves[f])
        if by_chance is not None:
            statistic, deviation, skewness, rare, pairs = by_chance[f]
            skewness = max(skewness, 0.0)
            fits = [pearson3(x, scale=deviation) for x in (skewness, (skewness**2 + rare / 1.5) ** 0.5)]
            alone = max(fit.sf(statistic) for fit in fits) if deviation > 0 else 1.0
        others = [p if A else np.nan, np.nan if by_chance is None else pairs]
        found.append(min(1.0, alone / 0.7, *(q / 0.15 for q in others if not np.isnan(q))))
    return np.array(found)


def _tail(score, A, B, L):
    """The shifted gamma distribution of variance 2 l L + B and third moment 8 l^2 L, of L / l terms, at least 1.

    l = (A - B) / (L + s), for s at least 0.
    """
    if A == 0:
        return 1.0
    size = (A - B) / (L + max(score, 0.0))
    V = 2 * size * L + B
    skewness = (8 / max(L / size, 1.0)) ** 0.5 * (2 * size * L / V) ** 1.5 if A > B else 0.0
    null = pearson3(skewness, scale=V**0.5) if skewness > 1e-3 else norm(scale=V**0.5)
    return null.sf(score)


def _told(plan, tree, counts):
    """Tests below the root and the variables of which they tell something, with out-of-bag rows of both children."""
    table, weight = plan.dataset.features, plan.weight
    cells = cells_of(table)
    n = table.n_rows
    case = SimpleNamespace(
        nominal=[levels is not None for levels in table.levels],
        X=[[values[i] for values in cells] for i in range(n)],
        training=range(n),
        bag=counts * weight,
    )
    top = explicit_tree(tree, case)
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
            if node is not top and variable in varying and variable.owner != node.feature:
                beside = [u for u in varying if (u.owner is None) == (variable.owner is None)]
                found.append((v, variable, node, left, right, share / sum(u.alpha for u in beside)))
        visit(node.left, left)
        visit(node.right, right)

    visit(top, unseen)
    return found


def _columns(plan, variable, node, left, right):
    """Columns that are known in all four parts of a node, with the known rows of its children in and out of bag."""
    for column in variable.columns():
        seen = known(column, node.left.rows), known(column, node.right.rows)
        out = known(column, left), known(column, right)
        if all(sum(plan.weight[i] for i in rows) > 0 for rows in (*seen, *out)):
            yield column, seen, out


def _scale(plan, variable, column, weight=None):
    weight = plan.weight if weight is None else weight
    all_known = sum(weight[i] for i in known(column, range(plan.n_examples)))
    spread = variable.impurity(weight) if variable.normalize else 1
    return variable.share * variable.alpha / spread * sum(weight) / all_known


def _gain(plan, counts, variable, node, left, right):
    weight, total = plan.weight, 0.0
    for column, seen, out in _columns(plan, variable, node, left, right):
        a, b = (sum(weight[i] for i in rows) for rows in out)
        said = mean(column, seen[0], counts * weight) - mean(column, seen[1], counts * weight)
        confirmed = mean(column, out[0], weight) - mean(column, out[1], weight)
        total += _scale(plan, variable, column) * a * b / (a + b) * confirmed * said
    return total
