"""The Relief family straight from the formulas, on lists."""

from __future__ import annotations

import math

from reference.neighbors_distances import cell_distance, feature_distances, nearest, total_distance


def relief(columns, rows, k, distance, sigma=0.0, influence=None, missing="left-out"):
    """RReliefF with any target distance; ``distance(r, q)`` is None where a target is unknown."""
    n_features = len(columns)
    influence = influence or [1.0] * len(columns[0][0])
    pairs = []
    for r in rows:
        for position, q in enumerate(nearest(columns, r, k), 1):
            weight = influence[r] * influence[q] * math.exp(-((sigma * position) ** 2))
            far = distance(r, q)
            if far is None:
                far = total_distance(columns, r, q) / n_features
            pairs.append((r, q, weight, far))
    p_t, s = sum(w * far for _, _, w, far in pairs), sum(w for _, _, w, _ in pairs)
    return from_pairs(columns, pairs, p_t, s, missing)


def from_pairs(columns, pairs, p_t, s, missing):
    """Scores from pairs (r, q, w, d_Y) with the sums P_T and s, in one of four ways to treat missing cells.

    "distant": by the distances of the search. "left-out": a feature's sums are those of the pairs in which it is known,
    times the root of the share of the weights that these have. Two more that were tried: "compared", without that root,
    and "expected", the mean difference to the known cells of the column.
    """
    found = []
    for i, (values, n_levels) in enumerate(columns):
        known = [v for v in values if v is not None]
        own = pairs
        lost_t = lost = 0.0
        if missing in ("left-out", "compared") and has_distances(values, n_levels):
            gone = [pair for pair in pairs if values[pair[0]] is None or values[pair[1]] is None]
            own = [pair for pair in pairs if pair not in gone]
            lost_t, lost = sum(w * far for _, _, w, far in gone), sum(w for _, _, w, _ in gone)
        p_ft = p_f = 0.0
        for r, q, w, far in own:
            if missing == "expected" and None in (values[r], values[q]) and known:
                firsts = known if values[r] is None else [values[r]]
                seconds = known if values[q] is None else [values[q]]
                apart = [cell_distance(a, b, values, n_levels) for a in firsts for b in seconds]
                d = sum(apart) / len(apart)
            else:
                d = feature_distances(columns, r, q)[i]
            p_ft, p_f = p_ft + w * d * far, p_f + w * d
        score = one_score(p_ft, p_f, p_t - lost_t, s - lost, 1e-12 * s if lost == 0 else 1e-9 * s)
        found.append(score * math.sqrt(max(s - lost, 0.0) / s) if missing == "left-out" and s else score)
    return found


def has_distances(values, n_levels):
    """Whether two cells of a column can differ, if only because one is missing."""
    return n_levels > 1 if n_levels is not None else any(v is not None for v in values)


def one_score(p_ft, p_f, p_t, s, least):
    """P_FT / P_T - (P_F - P_FT) / (s - P_T), or 0 where that is undefined."""
    if p_t <= least or s - p_t <= least:
        return 0.0
    return p_ft / p_t - (p_f - p_ft) / (s - p_t)


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


def relieff(columns, classes, rows, k, sigma=0.0, missing="left-out"):
    """Hits and misses by class; where a class has fewer than k others, the mean over those there are."""
    n = len(classes)
    share = {c: classes.count(c) / n for c in set(classes)}
    pairs, n_missed = [], 0
    for r in rows:
        n_missed += len(share) > 1
        for c in share:
            found = nearest(columns, r, k, [q for q in range(n) if classes[q] == c])
            weights = [math.exp(-((sigma * q) ** 2)) for q in range(1, len(found) + 1)]
            is_hit = c == classes[r]
            whole = 1.0 if is_hit else share[c] / (1 - share[classes[r]])
            pairs += [
                (r, q, whole * w / sum(weights), 0.0 if is_hit else 1.0) for q, w in zip(found, weights, strict=True)
            ]
    return from_pairs(columns, pairs, n_missed, n_missed + len(list(rows)), missing)
