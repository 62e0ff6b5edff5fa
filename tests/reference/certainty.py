"""Certain numbers of first features, straight from the definition: all pairs across a border, Holm's steps."""

from __future__ import annotations

import numpy as np
from scipy import stats


def border_p_value(scores, errors, n, k):
    """Largest p value of the pairs across the border after the first k, with the largest possible standard errors."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    p = 0.0
    for i in order[:k]:
        for j in order[k:]:
            difference, error = scores[i] - scores[j], errors[i] + errors[j]
            if error == 0:
                p = max(p, 0.0 if difference > 0 else 1.0)
            else:
                p = max(p, stats.t.sf(difference / error, n - 1))
    return p


def certain_sizes(scores, errors, n, confidence):
    """The numbers k whose p values pass Holm's procedure."""
    p = {k: border_p_value(scores, errors, n, k) for k in range(1, len(scores))}
    found = []
    for step, k in enumerate(sorted(p, key=p.__getitem__)):
        if not p[k] < (1 - confidence) / (len(p) - step):
            break
        found.append(k)
    return tuple(sorted(int(k) for k in np.array(found)))
