"""Scores of features over replicates, one feature at a time."""

from __future__ import annotations

import math
import statistics


def places(scores):
    """Share of the other scores that are smaller; equal ones count by half."""
    if len(scores) == 1:
        return [0.5]
    return [
        (sum(other < own for other in scores) + (sum(other == own for other in scores) - 1) / 2) / (len(scores) - 1)
        for own in scores
    ]


def joined(draws, scores, n_features, aggregate):
    """Scores and standard errors (None where a feature is in one replicate only)."""
    seen = [[] for _ in range(n_features)]
    for draw, values in zip(draws, scores, strict=True):
        for feature, value in zip(draw, places(values) if aggregate == "rank-mean" else values, strict=True):
            seen[feature].append(value)
    found = [statistics.fmean(values) for values in seen]
    if any(len(values) < 2 for values in seen):
        return found, None
    return found, [statistics.stdev(values) / math.sqrt(len(values)) for values in seen]


def three_way(fit, X, labels, labelled, draws, picks):
    """3-3FS: mean of the scores that ``fit`` gives to the features of a draw, for given draws of rows and labels."""
    sums, occurrences = [0.0] * X.shape[1], [0] * X.shape[1]
    for features, (rows, columns) in zip(draws, picks, strict=True):
        scores = fit(X[rows][:, features], labels[rows][:, columns])
        for feature, score in zip(features, scores, strict=True):
            sums[feature] += score
            occurrences[feature] += 1
    return [total / count for total, count in zip(sums, occurrences, strict=True)]
