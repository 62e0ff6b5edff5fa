"""What Relief must know of the targets of all examples, where these are in parts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from omnirank.data.target import Target
from omnirank.shards.dataset import ShardedDataset
from omnirank.tasks.target_distances import final_labels


@dataclass(frozen=True, eq=False)
class TargetFacts:
    """What a pass over the targets found.

    Parameters
    ----------
    n_examples, n_labelled : int
        Number of examples, and of those with a known target.
    labelled_rows : ndarray of int
        Numbers of the labelled examples, where some are not labelled; else empty.
    class_counts : ndarray of int
        How often each class of the first target occurs; empty where it has no classes.
    final : ndarray of bool
        Labels of a hierarchy that are the most specific ones of some example; empty where nothing depends on them.
    """

    n_examples: int
    n_labelled: int
    labelled_rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    class_counts: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    final: np.ndarray = field(default_factory=lambda: np.empty(0, bool))

    @property
    def of_labelled(self) -> TargetFacts:
        """The same of the labelled examples alone."""
        return replace(self, n_examples=self.n_labelled)


def target_facts(data: ShardedDataset, target_distance: str = "auto") -> TargetFacts:
    """Return what a pass over the targets finds; without a target, nothing is read.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    target_distance : str
        Which distance of targets is used: "euclidean-mu" asks for the most specific labels.
    """
    if not data.n_targets:
        return TargetFacts(data.n_examples, 0)
    labelled, hierarchy = [], data.hierarchy if target_distance == "euclidean-mu" else None
    counts = np.empty(0, np.int64)
    final = np.empty(0, bool) if hierarchy is None else np.zeros(hierarchy.n_labels, bool)
    for target in data.targets():
        labelled.append(target.labelled)
        if target.levels[0] is not None:
            codes = target.values[:, 0]
            found = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(target.levels[0]))
            counts = counts + found if len(counts) else found
        if hierarchy is not None:
            final |= final_labels(target, hierarchy)
    mask = np.concatenate(labelled)
    rows = np.empty(0, np.int64) if mask.all() else np.flatnonzero(mask)
    return TargetFacts(data.n_examples, int(mask.sum()), rows, counts, final)


def spanning_target(data: ShardedDataset, facts: TargetFacts, target: Target) -> Target:
    """Return a few targets whose range, and whose most specific labels, are those of all examples.

    Distances of targets are relative to these: with the spanning ones behind them, the targets of some examples have
    the distances that they have among all.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    facts : TargetFacts
        What a pass over their targets found.
    target : Target
        The target of some examples.
    """
    if target.is_labels:
        paths = np.empty((0, target.n_targets))
        if data.hierarchy is not None and len(facts.final):
            paths = data.hierarchy.ancestors[np.flatnonzero(facts.final)].toarray().astype(np.float64)
        return Target.labels(sparse.csr_array(paths) if target.is_sparse else paths, target.names)
    summary = data.summary.loc[list(target.names)]
    ends = np.array([summary["low"], summary["high"]], np.float64)
    ends[:, target.is_nominal] = np.nan
    return Target(target.names, target.levels, ends, np.ones(2, bool))
