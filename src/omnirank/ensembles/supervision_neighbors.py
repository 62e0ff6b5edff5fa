"""How well rankings serve neighbours: one made without labels, beside supervised ones that have not seen the labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from omnirank.core.seeds import stream
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.score_sums import mean_scores
from omnirank.ensembles.supervision_losses import squared_losses
from omnirank.neighbors.weighted_knn import neighbor_means, ranking_weights, weighted_neighbors
from omnirank.tasks.columns import ClusteringColumns

# Rankings by these scores are judged.
_SCORES = ("genie3", "symbolic")
_FOLDS = 3
_NEIGHBORS = 10
# So many examples of a fold tell rankings apart; more would cost without changing the answer.
_MOST_JUDGED = 1000
# Keeps the stream that deals folds apart from those of trees and of cross-validation.
_FOLDS_KEY = 2**31 + 1


def neighbor_losses(
    data: GrowingData,
    rules: GrowingRules,
    clustering: ClusteringColumns,
    n_trees: int,
) -> dict[str, dict[float, np.ndarray]] | None:
    """Return the losses of labelled examples that neighbours predict, at the levels 0 and 1; NaN where not judged.

    The labelled examples are dealt into folds. Those of a fold are predicted by the mean of their nearest labelled
    examples outside the fold; the distance weighs features by a score, of trees that see no label (level 0) or of
    supervised trees that do not see the labels of the fold (level 1).

    Parameters
    ----------
    data, rules, clustering
        As in :func:`omnirank.ensembles.supervision_losses.out_of_bag_losses`.
    n_trees : int
        Number of trees that see no label, and of supervised ones for each fold.

    Returns
    -------
    dict of str to dict of float to ndarray, or None
        By score, "genie3" and "symbolic", and level; None where the labelled examples outside a fold do not do to grow
        trees.
    """
    labelled = data.labelled
    folds = list(_folds(labelled, rules))
    if not folds:
        return None
    truth, features = labelled.target_columns(rules), labelled.dataset.features
    known = truth.matrix.toarray() if truth.is_sparse else truth.matrix
    without = _rankings(data, replace(rules, supervision=0.0), n_trees)
    losses = {score: {level: np.full(len(known), np.nan) for level in (0.0, 1.0)} for score in without}
    for outside, fold in folds:
        supervised = _rankings(labelled.take(outside), replace(rules, supervision=1.0), n_trees)
        judged = fold[:_MOST_JUDGED]
        near, far = features.take(outside), features.take(judged)
        for score, by_level in losses.items():
            for level, ranking in ((0.0, without[score]), (1.0, supervised[score])):
                ids = weighted_neighbors(near, far, ranking_weights(ranking), _NEIGHBORS, data.n_jobs)
                means = neighbor_means(known[outside], ids)
                by_level[level][judged] = squared_losses(truth, judged, clustering, means)
    return losses


def _folds(labelled: GrowingData, rules: GrowingRules) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Who is outside (a mask) and inside each fold, dealt by the seed; none where the rest is not enough for trees."""
    n = labelled.dataset.n_examples
    weight = np.ones(n) if labelled.weight is None else labelled.weight
    order = stream(labelled.entropy, _FOLDS_KEY).permutation(n)
    folds = [order[fold::_FOLDS] for fold in range(_FOLDS)]
    masks = [~np.isin(np.arange(n), fold) for fold in folds]
    for fold, outside in zip(folds, masks, strict=True):
        rest = labelled.take(outside)
        if rest.dataset.target is None or weight.sum() - weight[fold].sum() < 2 * rules.min_samples_leaf:
            return
        columns = rest.target_columns(rules)
        if not len(fold) or not ((columns.impurity > 0) & (columns.weights > 0)).any():
            return
    yield from zip(masks, folds, strict=True)


def _rankings(data: GrowingData, rules: GrowingRules, n_trees: int) -> dict[str, np.ndarray]:
    return mean_scores(data.plan(rules), _SCORES, n_trees, data.n_jobs, f"supervision {rules.supervision:g}")
