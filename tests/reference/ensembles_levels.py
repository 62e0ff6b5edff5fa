"""Which level of supervision wins, from the losses of the folds: sums over single examples."""

from __future__ import annotations

import math


def winner(losses, weights, folds):
    """Return the level; ``losses`` are lists by level, ``folds`` has the number of the fold of each example."""
    best, best_mean = 1.0, math.inf
    for level in sorted((w for w in losses if w < 1), reverse=True):
        gains = [one - other for one, other in zip(losses[1.0], losses[level], strict=True)]
        stays = True
        for fold in range(max(folds) + 1):
            so_far = [i for i in range(len(folds)) if folds[i] <= fold]
            gain, error = mean_and_error([gains[i] for i in so_far], [weights[i] for i in so_far])
            stays = stays and gain >= -error
        mean, _ = mean_and_error(losses[level], weights)
        if stays and mean < best_mean:
            best, best_mean = level, mean
    gains = [one - other for one, other in zip(losses[1.0], losses[best], strict=True)]
    gain, error = mean_and_error(gains, weights)
    return best if gain > error else 1.0


def mean_and_error(values, weights):
    """Return a weighted mean and its standard error, which one value does not have."""
    mean, n = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights), len(values)
    squares = sum((w * (v - mean)) ** 2 for w, v in zip(weights, values, strict=True))
    return mean, math.sqrt(squares * n / (n - 1)) / sum(weights) if n > 1 else math.inf
