"""The area under the precision-recall curve as the error of a tree.

A tree gives all rows of a leaf the same label frequencies, so a curve needs no sorting of rows: the (leaf, label)
pairs are sorted once a tree, and permuting a feature only changes how many rows each leaf has, and with which labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from omnirank.ensembles.losses import ErrorGrowth, OutOfBag, label_sets
from omnirank.ensembles.plan import Plan
from omnirank.tasks.precision_recall import area_from_counts
from omnirank.trees.prototypes import node_means

__all__ = ["recall_errors"]


@dataclass(frozen=True, eq=False)
class _RecallErrors:
    """Pooled area under the precision-recall curve, which falls when a feature that matters is permuted."""

    plan: Plan
    relevant: Any  # csr (rows, labels) of 0 and 1
    unknown: Any  # csr (rows, labels) of 0 and 1, or None
    only_present: bool
    per_target: bool

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the area of a tree and by how much it falls."""
        from omnirank.ensembles._kernels_permutation import permuted_leaves

        rows = case.order.rows.astype(np.int64)
        curves = _Curves.of_tree(self, case, rows)
        codes = self.plan.coded.routing
        before, target_before = curves.areas(permuted_leaves(case.tests, codes, case.order, -1))
        n_features = self.plan.dataset.n_features
        growth, target_growth = np.zeros(n_features), np.zeros((len(target_before), n_features))
        for f in np.unique(case.grown.feature[case.grown.feature >= 0]):
            after, target_after = curves.areas(permuted_leaves(case.tests, codes, case.order, f))
            growth[f], target_growth[:, f] = before - after, target_before - target_after
        if not self.per_target:
            return ErrorGrowth(before, growth)
        return ErrorGrowth(before, growth, target_before, target_growth)


class _Entries(NamedTuple):
    """The positive label frequencies of a tree, and the rank of each among them (0 = the largest)."""

    leaf: np.ndarray
    label: np.ndarray
    rank: np.ndarray
    n_ranks: int

    @classmethod
    def of(cls, means: Any) -> _Entries:
        cells = sparse.coo_array(means)
        leaf, label = cells.coords
        distinct, group = np.unique(cells.data, return_inverse=True)
        return cls(leaf, label, len(distinct) - 1 - group, len(distinct))

    def area(self, positive: np.ndarray, total: np.ndarray) -> float:
        """Return the area for numbers of rows, (leaves, labels); frequencies of 0 are the last group."""
        at = (self.leaf, self.label)
        positives, totals = (np.bincount(self.rank, n[at], self.n_ranks + 1) for n in (positive, total))
        positives[-1], totals[-1] = positive.sum() - positives.sum(), total.sum() - totals.sum()
        area = area_from_counts(np.rint(positives), np.rint(totals))
        return 0.0 if np.isnan(area) else area


@dataclass(frozen=True, eq=False)
class _Curves:
    """Curves of one tree for rows that may move from leaf to leaf."""

    place: np.ndarray  # row of a leaf in the means, by node
    relevant: Any  # (out-of-bag rows, labels that count)
    unknown: Any
    pooled: _Entries
    single: tuple[_Entries, ...]  # of each label that counts, where they are asked for
    counted: np.ndarray  # labels that count
    n_labels: int

    @classmethod
    def of_tree(cls, errors: _RecallErrors, case: OutOfBag, rows: np.ndarray) -> _Curves:
        means, place = node_means(case.grown, errors.plan.columns)
        means = sparse.csc_array(means)
        relevant = errors.relevant[rows]
        present = np.asarray(relevant.sum(axis=0)).ravel() > 0
        counted = np.flatnonzero(present) if errors.only_present else np.arange(len(present))
        means = means[:, counted]
        single: tuple[_Entries, ...] = ()
        if errors.per_target:
            single = tuple(_Entries.of(means[:, [j]]) for j in range(len(counted)))
        unknown = None if errors.unknown is None else errors.unknown[rows][:, counted]
        return cls(place, relevant[:, counted], unknown, _Entries.of(means), single, counted, len(present))

    def areas(self, leaves: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the pooled area and, where they are asked for, those of all labels (0 where there is none)."""
        n_rows = len(leaves)
        shape = (int(self.place.max()) + 1, n_rows)
        members = sparse.csr_array((np.ones(n_rows), (self.place[leaves], np.arange(n_rows))), shape=shape)
        positive = (members @ self.relevant).toarray()
        total = np.broadcast_to(np.asarray(members.sum(axis=1)).reshape(-1, 1), positive.shape)
        if self.unknown is not None:
            total = total - (members @ self.unknown).toarray()
        single = np.zeros(self.n_labels if self.single else 0)
        for j, entries in enumerate(self.single):
            single[self.counted[j]] = entries.area(positive[:, [j]], total[:, [j]])
        return self.pooled.area(positive, total), single


def recall_errors(plan: Plan, per_target: bool) -> _RecallErrors:
    """Return the error measure of a plan for label sets.

    For hierarchies, labels that no out-of-bag row has are left out of the curve, as in studies of hierarchical
    classification.
    """
    sets = label_sets(plan.columns)
    unknown = np.isnan(sets.data)
    parts = [
        sparse.csr_array((chosen.astype(np.float64), sets.indices, sets.indptr), shape=sets.shape)
        for chosen in (~unknown, unknown)
    ]
    only_present = plan.task.name == "hierarchical-multi-label"
    return _RecallErrors(plan, parts[0], parts[1] if unknown.any() else None, only_present, per_target)
