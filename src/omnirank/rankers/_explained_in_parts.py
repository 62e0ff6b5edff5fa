"""Shares of the target that single features explain, over data in parts: sums of blocks of rows, added up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from omnirank.data.dataset import Dataset
from omnirank.rankers._explained_variance import (
    Columns,
    Extents,
    Sums,
    feature_blocks,
    shares_of_sums,
    sums_of,
    target_blocks,
)
from omnirank.shards.dataset import ShardedDataset
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns


@dataclass
class _Pair:
    """Some features and some targets: the sums so far, their last columns, and in which of them something varied."""

    sums: Sums
    features: Columns
    target: Columns
    varies: np.ndarray


def mean_shares_in_parts(data: ShardedDataset, *, adjusted: bool = False, roots: bool = False) -> np.ndarray:
    """Return for each feature the mean, over all target variables but itself, of the shares that it explains.

    The same as `omnirank.rankers.univariate.mean_shares`, up to rounding, with weights of 1: sums are added up block by
    block, since every mean, variance and covariance comes from them.

    Parameters
    ----------
    data : ShardedDataset
        The data; without a target, the other features take its place.
    adjusted : bool
        Whether shares are adjusted for what is explained by chance.
    roots : bool
        Whether the mean is that of the square roots of the shares.
    """
    extents = _feature_extents(data)
    of_target = _target_extents(data) if data.n_targets else extents
    alpha = np.ones(data.n_features)
    pairs: dict[tuple[int, int], _Pair] = {}
    for block in _labelled_blocks(data):
        weights = np.ones(block.n_examples)
        features = [make() for make in feature_blocks(block.features, weights, extents)]
        target = features
        if data.n_targets:
            columns = _columns(block)
            alpha = columns.weights
            target = [make() for make in target_blocks(columns, weights, of_target)]
        for i, own in enumerate(features):
            for j, other in enumerate(target):
                _add(pairs, (i, j), own, other, weights)
    return _means(data, pairs, alpha, adjusted, roots)


def _add(
    pairs: dict[tuple[int, int], _Pair], key: tuple[int, int], own: Columns, other: Columns, weights: np.ndarray
) -> None:
    sums, varies = sums_of(own, other, weights), other.varies
    if key in pairs:
        before = pairs[key]
        sums, varies = before.sums + sums, before.varies | varies
    pairs[key] = _Pair(sums, own, other, varies)


def _means(
    data: ShardedDataset, pairs: dict[tuple[int, int], _Pair], alpha: np.ndarray, adjusted: bool, roots: bool
) -> np.ndarray:
    sums, total = np.zeros(data.n_features), np.zeros(data.n_features)
    for pair in pairs.values():
        own = pair.features.positions
        counted = np.tile(np.where(pair.varies, alpha[pair.target.positions], 0.0), (len(own), 1))
        if not data.n_targets:
            counted[own[:, None] == pair.target.positions] = 0.0
        shares = shares_of_sums(pair.sums, pair.features, pair.target, adjusted)
        sums[own] += ((np.sqrt(shares) if roots else shares) * counted).sum(axis=1)
        total[own] += counted.sum(axis=1)
    return sums / np.where(total > 0, total, 1.0)


def _labelled_blocks(data: ShardedDataset) -> Iterator[Dataset]:
    for block in data.blocks():
        if not data.n_targets or block.labelled.all():
            yield block
        elif block.labelled.any():
            yield block.take(block.labelled)


def _columns(block: Dataset) -> PrototypeColumns:
    assert block.target is not None
    return get_task(block.task).columns(block.target, block.hierarchy)


def _feature_extents(data: ShardedDataset) -> Extents:
    """Those of numbers from the summary of all rows; those of codes of two levels are 0 and 1."""
    summary = data.summary.loc[list(data.feature_names)]
    nominal = (summary["type"] == "nominal").to_numpy()
    found = [np.nan_to_num(summary[name].to_numpy(np.float64)) for name in ("low", "high", "mean")]
    return Extents(
        *(np.where(nominal, of_codes, values) for values, of_codes in zip(found, (0.0, 1.0, 0.5), strict=True))
    )


def _target_extents(data: ShardedDataset) -> Extents:
    """Smallest, largest and mean value of each column of the coded target, over the labelled examples."""
    low, high, sums, known = np.array([np.inf]), np.array([-np.inf]), np.zeros(1), np.zeros(1)
    task = get_task(data.task)
    for target in data.targets():  # no feature is read
        cells = task.columns(target.take(target.labelled), data.hierarchy).dense()
        is_known = ~np.isnan(cells)
        low = np.minimum(low, np.min(cells, axis=0, where=is_known, initial=np.inf))
        high = np.maximum(high, np.max(cells, axis=0, where=is_known, initial=-np.inf))
        known = known + is_known.sum(axis=0)
        with np.errstate(over="ignore"):
            sums = sums + np.sum(cells, axis=0, where=is_known)
    nothing = known == 0
    low, high = np.where(nothing, 0.0, low), np.where(nothing, 0.0, high)
    mean = sums / np.where(nothing, 1.0, known)
    return Extents(low, high, np.where(np.isfinite(mean), mean, low / 2 + high / 2))
