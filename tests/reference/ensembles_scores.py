"""Importance scores straight from their definitions, on trees of plain Python objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.measures import auprc

LABEL_TASKS = ("multi-label", "hierarchical-multi-label")


@dataclass
class Node:
    """A node with its training rows; a leaf has no feature."""

    rows: list[int]
    depth: int
    feature: int | None = None
    threshold: float = 0.0
    levels: frozenset = frozenset()
    missing_left: bool = False
    left: Any = None
    right: Any = None
    prototype: Any = None

    def child(self, value):
        if value is None:
            left = self.missing_left
        elif self.levels:
            left = value in self.levels
        else:
            left = value <= self.threshold
        return self.left if left else self.right

    def inner(self):
        if self.feature is None:
            return []
        return [self, *self.left.inner(), *self.right.inner()]


class Case:
    """Data as rows of Python values, the weight of each row in the bag, and what the task knows."""

    def __init__(self, dataset, sample_weight, counts, label_weights, normalize=True):
        table = dataset.features
        columns = [table.column(f) for f in range(table.n_columns)]
        self.nominal = [levels is not None for levels in table.levels]
        self.X = [[_value(columns[f][i], self.nominal[f]) for f in range(table.n_columns)] for i in range(table.n_rows)]
        self.y = dataset.target.dense()
        self.classes = [levels is not None for levels in dataset.target.levels]
        self.task = dataset.task
        self.weight = np.ones(table.n_rows) if sample_weight is None else np.asarray(sample_weight)
        self.bag = counts * self.weight
        self.out_of_bag = [i for i in range(table.n_rows) if counts[i] == 0]
        self.alpha = label_weights
        self.normalize = normalize
        self.n_features, self.n_targets = table.n_columns, self.y.shape[1]
        self.training = list(range(table.n_rows))

    # -- impurities ---------------------------------------------------------------------------------------

    def known(self, rows, j):
        return [i for i in rows if not np.isnan(self.y[i, j])]

    def scatter(self, rows, j, weight):
        """Weight of the rows with known target j, times their variance or Gini index."""
        rows = self.known(rows, j)
        total = sum(weight[i] for i in rows)
        if total == 0:
            return 0.0
        if self.classes[j]:
            shares = [sum(weight[i] for i in rows if self.y[i, j] == v) / total for v in {self.y[i, j] for i in rows}]
            return total * (1 - sum(p * p for p in shares))
        mean = sum(weight[i] * self.y[i, j] for i in rows) / total
        return sum(weight[i] * (self.y[i, j] - mean) ** 2 for i in rows)

    def training_impurity(self, j):
        """Variance or Gini index of target j on the whole training set."""
        return self.scatter(self.training, j, self.weight) / self.known_weight(self.training, j)

    def known_weight(self, rows, j):
        return sum(self.weight[i] for i in self.known(rows, j))

    def varying(self):
        return [j for j in range(self.n_targets) if self.varies(j) and self.alpha[j] > 0]

    def varies(self, j):
        """Whether target j has several values: its variance may be as small as rounding."""
        return len({self.y[i, j] for i in self.known(self.training, j)}) > 1

    def heuristics(self, node):
        """Part of h*(N) that each target adds."""
        found = np.zeros(self.n_targets)
        total = sum(self.alpha[j] for j in self.varying())
        for j in self.varying():
            lost = self.scatter(node.rows, j, self.bag)
            lost -= self.scatter(node.left.rows, j, self.bag) + self.scatter(node.right.rows, j, self.bag)
            scale = self.alpha[j] / total * self.weight.sum() / self.known_weight(self.training, j)
            found[j] = lost * scale / (self.training_impurity(j) if self.normalize else 1.0)
        return found


def _value(cell, nominal):
    if nominal:
        return None if cell < 0 else int(cell)
    return None if np.isnan(cell) else float(cell)


def explicit_tree(tree, case):
    """The tree as objects, its training rows routed anew through its tests."""

    def build(k, rows, depth):
        node = Node(rows, depth)
        if tree.feature[k] < 0:
            return node
        f = node.feature = int(tree.feature[k])
        node.missing_left = bool(tree.missing_left[k])
        if case.nominal[f]:
            every = tree.levels[f]
            node.levels = frozenset(every.index(level) for level in tree.left_levels(k))
        else:
            node.threshold = float(tree.threshold[k])
        node.left, node.right = Node([], 0), Node([], 0)
        sides = {id(node.left): [], id(node.right): []}
        for i in rows:
            sides[id(node.child(case.X[i][f]))].append(i)
        left, right = sides[id(node.left)], sides[id(node.right)]
        node.left = build(k + 1, left, depth + 1)
        node.right = build(int(tree.right[k]), right, depth + 1)
        return node

    return build(0, [i for i in case.training if case.bag[i] > 0], 0)


# -- the scores ---------------------------------------------------------------------------------------------


def genie3(root, case):
    """Sum of h*(N) over the nodes that test a feature, (targets, features)."""
    scores = np.zeros((case.n_targets, case.n_features))
    for node in root.inner():
        scores[:, node.feature] += case.heuristics(node)
    return scores


def symbolic(root, case, depth_weight=None):
    scores = np.zeros(case.n_features)
    for node in root.inner():
        share = sum(case.bag[node.rows]) / sum(case.bag)
        scores[node.feature] += share if depth_weight is None else depth_weight**node.depth
    return scores


def impurity_lost(root, case):
    """|E_root| impu(root) - sum over leaves of |E_leaf| impu(leaf), all targets together."""

    def leaves(node):
        return [node] if node.feature is None else [*leaves(node.left), *leaves(node.right)]

    def total(rows):
        sums = 0.0
        weights = sum(case.alpha[j] for j in case.varying())
        for j in case.varying():
            scale = case.alpha[j] / weights * case.weight.sum() / case.known_weight(case.training, j)
            sums += scale * case.scatter(rows, j, case.bag) / (case.training_impurity(j) if case.normalize else 1.0)
        return sums

    return total(root.rows) - sum(total(leaf.rows) for leaf in leaves(root))


def permutation(root, case, donors, error="auto"):
    """(Err(permuted) - Err) / Err for each feature: of the task, (features,), and of single targets.

    ``donors[f][k]`` is the row whose value of feature f the k-th out-of-bag row gets.
    """
    before = [_prediction(root, case, case.X[i]) for i in case.out_of_bag]
    whole, single = np.zeros(case.n_features), np.zeros((case.n_targets, case.n_features))
    sign = -1.0 if error in ("accuracy", "auprc") else 1.0
    for f in sorted({node.feature for node in root.inner()}):
        after = []
        for k, i in enumerate(case.out_of_bag):
            x = list(case.X[i])
            x[f] = case.X[donors[f][k]][f]
            after.append(_prediction(root, case, x))
        whole[f] = sign * _relative(_error(case, after, error), _error(case, before, error))
        for j in range(case.n_targets):
            single[j, f] = sign * _relative(_error(case, after, error, [j]), _error(case, before, error, [j]))
    return whole, single


def _relative(after, before):
    return 0.0 if before == 0 else (after - before) / before


def _prediction(root, case, x):
    """Mean of the known values of numbers and labels, shares of classes; of the nearest node that has any."""
    path = [root]
    while path[-1].feature is not None:
        path.append(path[-1].child(x[path[-1].feature]))
    found = []
    for j in range(case.n_targets):
        for node in reversed(path):
            rows = case.known(node.rows, j)
            if rows:
                break
        total = sum(case.bag[i] for i in rows)
        if not rows:
            found.append({0.0: 1.0} if case.classes[j] else 0.0)
        elif case.classes[j]:
            levels = sorted({case.y[i, j] for i in rows})
            found.append({v: sum(case.bag[i] for i in rows if case.y[i, j] == v) / total for v in levels})
        elif len({case.y[i, j] for i in rows}) == 1:
            found.append(case.y[rows[0], j])  # not rounded: an error of 0 is 0
        else:
            found.append(sum(case.bag[i] * case.y[i, j] for i in rows) / total)
    return found


def _error(case, predictions, error, targets=None):
    """Error of the task's kind over the given targets (default: all)."""
    if error == "auprc":
        return _pooled_area(case, predictions, targets)
    chosen = range(case.n_targets) if targets is None else targets
    if case.task not in LABEL_TASKS:
        chosen = [j for j in chosen if case.varies(j)]
    parts = []
    for j in chosen:
        total = wrong = 0.0
        for i, p in zip(case.out_of_bag, predictions, strict=True):
            y = case.y[i, j]
            if np.isnan(y):
                continue
            total += case.weight[i]
            if case.classes[j]:
                wrong += case.weight[i] * (max(p[j], key=lambda v, shares=p[j]: (shares[v], -v)) != y)
            elif case.task in LABEL_TASKS:
                wrong += case.weight[i] * ((p[j] >= 0.5) != (y == 1))
            else:
                wrong += case.weight[i] * (p[j] - y) ** 2
        parts.append(_part(case, j, wrong, total, error))
    return sum(parts)


def _part(case, j, wrong, total, error):
    if total == 0:
        return 0.0
    mean = wrong / total
    if error == "accuracy":
        return 1.0 - mean
    if case.task in LABEL_TASKS:
        return case.alpha[j] * mean
    if all(case.classes):
        return mean
    relative = mean / case.training_impurity(j)
    return relative**0.5 if error == "rrmse" else relative


def _pooled_area(case, predictions, targets):
    pairs = []
    chosen = range(case.n_targets) if targets is None else targets
    for j in chosen:
        own = [
            (p[j], case.y[i, j])
            for i, p in zip(case.out_of_bag, predictions, strict=True)
            if not np.isnan(case.y[i, j])
        ]
        if case.task == "multi-label" or any(y == 1 for _, y in own):
            pairs += own
    truth = [y for _, y in pairs]
    return auprc(truth, [p for p, _ in pairs]) if any(truth) else 0.0
