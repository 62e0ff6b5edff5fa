"""The Relief family straight from the formulas, on lists."""

from __future__ import annotations

import math

from reference.neighbors_distances import feature_distances, nearest, total_distance


def relief(columns, rows, k, distance, sigma=0.0, influence=None):
    """RReliefF with any target distance; ``distance(r, q)`` is None where a target is unknown.

    Returns P_FT / P_T - (P_F - P_FT) / (s - P_T), or zeros where that is undefined.
    """
    n_features = len(columns)
    influence = influence or [1.0] * len(columns[0][0])
    p_ft, p_f, p_t, s = [0.0] * n_features, [0.0] * n_features, 0.0, 0.0
    for r in rows:
        for position, q in enumerate(nearest(columns, r, k), 1):
            weight = influence[r] * influence[q] * math.exp(-((sigma * position) ** 2))
            far = distance(r, q)
            if far is None:
                far = total_distance(columns, r, q) / n_features
            p_t += weight * far
            s += weight
            for i, d in enumerate(feature_distances(columns, r, q)):
                p_f[i] += weight * d
                p_ft[i] += weight * d * far
    return finished(p_ft, p_f, p_t, s)


def finished(p_ft, p_f, p_t, s):
    if p_t <= 1e-12 * s or s - p_t <= 1e-12 * s:
        return [0.0] * len(p_f)
    return [ft / p_t - (f - ft) / (s - p_t) for ft, f in zip(p_ft, p_f, strict=True)]


def closed_form(columns, rows, k, distance):
    """n / (tau (n - tau)) sum_q (tau_q - tau / n) alpha_q over all pairs."""
    pairs = [(r, q) for r in rows for q in nearest(columns, r, k)]
    far = [distance(r, q) for r, q in pairs]
    n, tau = len(pairs), sum(far)
    total = [0.0] * len(columns)
    for (r, q), own in zip(pairs, far, strict=True):
        for i, alpha in enumerate(feature_distances(columns, r, q)):
            total[i] += (own - tau / n) * alpha
    return [n / (tau * (n - tau)) * value for value in total]


def influences(columns, labelled, w0, w1):
    """1 for labelled examples; for others the line through (d_max, w0) and (d_min, w1)."""
    n = len(labelled)
    known = [q for q in range(n) if labelled[q]]
    if not known or len(known) == n:
        return [1.0] * n
    far = {r: min(total_distance(columns, r, q) for q in known) for r in range(n) if not labelled[r]}
    low, high = min(far.values()), max(far.values())
    found = []
    for r in range(n):
        if labelled[r]:
            found.append(1.0)
        elif high - low <= 1e-9:
            found.append((w0 + w1) / 2)
        else:
            found.append(w1 + (w0 - w1) * (far[r] - low) / (high - low))
    return found


def relieff(columns, classes, rows, k, sigma=0.0):
    """Hits and misses by class; where a class has fewer than k others, the mean over those there are."""
    n = len(classes)
    share = {c: classes.count(c) / n for c in set(classes)}
    score = [0.0] * len(columns)
    for r in rows:
        for c in share:
            found = nearest(columns, r, k, [q for q in range(n) if classes[q] == c])
            weights = [math.exp(-((sigma * q) ** 2)) for q in range(1, len(found) + 1)]
            sign = -1.0 if c == classes[r] else share[c] / (1 - share[classes[r]])
            for q, weight in zip(found, weights, strict=True):
                for i, d in enumerate(feature_distances(columns, r, q)):
                    score[i] += sign * weight / sum(weights) * d / len(rows)
    return score
