"""Loss of a leaf's prototype of the features: one number, however many features there are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.ensembles.kernels.permutation import add_loss


class FeatureLoss(NamedTuple):
    """Scaled squared errors of numbers plus scaled wrong levels."""

    truth: np.ndarray  # (rows, numbers), NaN = unknown
    means: np.ndarray  # (nodes, numbers)
    scale: np.ndarray
    codes: np.ndarray  # (rows, classes), -1 = unknown
    levels: np.ndarray  # (nodes, classes)
    level_scale: np.ndarray


@add_loss.kind(FeatureLoss)
def _add_features(loss, row, node, weight, out, f):
    total = 0.0
    for j in range(loss.truth.shape[1]):
        d = loss.truth[row, j] - loss.means[node, j]
        total += 0.0 if np.isnan(d) else loss.scale[j] * d * d
    for j in range(loss.codes.shape[1]):
        code = loss.codes[row, j]
        total += loss.level_scale[j] if (code >= 0) & (code != loss.levels[node, j]) else 0.0
    out[f, 0] += weight * total
