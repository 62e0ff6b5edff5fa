"""Measures straight from their definitions, one loop a sum; None is an unknown value."""

from __future__ import annotations

import itertools
import math


def known_pairs(truth, other):
    return [(y, p) for y, p in zip(truth, other, strict=True) if y is not None]


def sets_of(truth, predicted):
    """(relevant, predicted) sets of every example; unknown labels are in neither."""
    found = []
    for y, z in zip(truth, predicted, strict=True):
        relevant = {j for j, v in enumerate(y) if v == 1}
        chosen = {j for j, v in enumerate(z) if v == 1 and y[j] is not None}
        found.append((relevant, chosen))
    return found


def mean(values):
    return sum(values) / len(values) if values else math.nan


# -- label sets -----------------------------------------------------------------------------------


def hamming_loss(truth, predicted, weights=None):
    total = 0.0
    n_labels = len(truth[0])
    for j in range(n_labels):
        pairs = known_pairs([y[j] for y in truth], [z[j] for z in predicted])
        wrong = sum(y != z for y, z in pairs) / len(pairs) if pairs else 0.0
        total += wrong * (1.0 if weights is None else weights[j])
    return total / n_labels


def jaccard_samples(truth, predicted):
    return mean([len(y & z) / len(y | z) if y | z else 1.0 for y, z in sets_of(truth, predicted)])


def precision_samples(truth, predicted):
    return mean([len(y & z) / len(z) if z else float(not y) for y, z in sets_of(truth, predicted)])


def recall_samples(truth, predicted):
    return mean([len(y & z) / len(y) if y else float(not z) for y, z in sets_of(truth, predicted)])


def f1_samples(truth, predicted):
    return mean([2 * len(y & z) / (len(y) + len(z)) if y or z else 1.0 for y, z in sets_of(truth, predicted)])


def subset_accuracy(truth, predicted):
    return mean([float(y == z) for y, z in sets_of(truth, predicted)])


# -- the order of labels --------------------------------------------------------------------------


def known_labels(y):
    return [j for j, v in enumerate(y) if v is not None]


def one_error(truth, scores, variant="standard", threshold=0.5):
    errors = []
    for y, p in zip(truth, scores, strict=True):
        labels = known_labels(y)
        if labels:
            top = max(labels, key=lambda j: (p[j], -j))
            expected = 1 if variant == "standard" else int(p[top] >= threshold)
            errors.append(float(y[top] != expected))
    return mean(errors)


def coverage(truth, scores, variant="standard"):
    depths = []
    for y, p in zip(truth, scores, strict=True):
        labels = known_labels(y)
        relevant = [j for j in labels if y[j] == 1]
        if relevant:
            least = min(p[j] for j in relevant)
            depths.append(sum(p[j] >= least for j in labels))
        elif variant == "standard":
            depths.append(0)
    return mean(depths)


def ranking_loss(truth, scores, variant="standard"):
    losses = []
    for y, p in zip(truth, scores, strict=True):
        labels = known_labels(y)
        pairs = [(a, b) for a in labels for b in labels if y[a] == 1 and y[b] == 0]
        if variant == "standard":
            wrong = sum(p[a] <= p[b] for a, b in pairs)
        else:
            wrong = sum((-p[b], b) < (-p[a], a) for a, b in pairs)
        losses.append(wrong / len(pairs) if pairs else 0.0)
    return mean(losses)


def average_precision(truth, scores):
    found = []
    for y, p in zip(truth, scores, strict=True):
        labels = known_labels(y)
        relevant = [j for j in labels if y[j] == 1]
        if not relevant or len(relevant) == len(labels):
            found.append(1.0)
            continue
        parts = [sum(p[i] >= p[j] for i in relevant) / sum(p[i] >= p[j] for i in labels) for j in relevant]
        found.append(mean(parts))
    return mean(found)


# -- curves ---------------------------------------------------------------------------------------


def auroc(truth, scores):
    """Share of (positive, negative) pairs in order, ties half."""
    pairs = known_pairs(truth, scores)
    positive, negative = [p for y, p in pairs if y == 1], [p for y, p in pairs if y == 0]
    if not positive or not negative:
        return 0.5
    return mean([(a > b) + 0.5 * (a == b) for a in positive for b in negative])


def auprc(truth, scores):
    """The curve built point by point: groups of equal score, horizontal start, interpolation in (TP, FP)."""
    pairs = known_pairs(truth, scores)
    n_positive = sum(y for y, _ in pairs)
    points = [(0, 0)]
    for threshold in sorted({p for _, p in pairs}, reverse=True):
        true = sum(1 for y, p in pairs if p >= threshold and y == 1)
        false = sum(1 for y, p in pairs if p >= threshold and y == 0)
        points.append((true, false))
    first_true, first_false = points[1]
    curve = [(0.0, first_true / (first_true + first_false))]
    for (true_a, false_a), (true_b, false_b) in itertools.pairwise(points):
        for true in range(true_a + 1, true_b):
            false = false_a + (false_b - false_a) * (true - true_a) / (true_b - true_a)
            curve.append((true / n_positive, true / (true + false)))
        curve.append((true_b / n_positive, true_b / (true_b + false_b)))
    return sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in itertools.pairwise(curve))


# -- numbers --------------------------------------------------------------------------------------


def variance(values):
    known = [v for v in values if v is not None]
    return mean([(v - mean(known)) ** 2 for v in known]) if known else 0.0


def rrmse(truth, predicted, variances):
    """Columns of truth and predictions; variances 0 are left out, and so are columns without a known value."""
    found = []
    for y, p, spread in zip(truth, predicted, variances, strict=True):
        pairs = known_pairs(y, p)
        if pairs and spread > 0:
            found.append(math.sqrt(mean([(a - b) ** 2 for a, b in pairs]) / spread))
    return mean(found)
