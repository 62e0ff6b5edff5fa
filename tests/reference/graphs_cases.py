"""Random data on which graph methods are compared with their formulas: ties, constant and missing columns, levels."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import sparse

from reference import graphs_scores as reference

LAYOUTS = ("plain", "ties", "missing", "mixed", "sparse")


def features(layout, seed, n=24):
    """Return a frame, and what to fit: the frame itself or the same numbers as a sparse matrix."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * [1.0, 3.0, 0.1, 1.0, 20.0] + [0.0, 5.0, 0.0, -3.0, 100.0]
    X[:, 0] += 4 * (np.arange(n) % 2)
    if layout in ("ties", "sparse"):
        X = rng.integers(0, 3, size=(n, 5)).astype(float)
    X[:, 3] = 2.5  # constant
    if layout == "sparse":
        X[:, 4] = np.where(rng.random(n) < 0.6, 0.0, X[:, 4])
        X[:, 3] = 0.0
    if layout in ("missing", "mixed"):
        X[rng.random(X.shape) < 0.1] = np.nan
        X[:2, 4] = [1.0, 2.0]
    frame = pd.DataFrame(X, columns=list("abcde"))
    if layout == "mixed":
        frame["kind"] = pd.Series(rng.choice(["u", "v", "w"], n)).where(rng.random(n) > 0.1, None).astype(object)
        frame["flag"] = rng.choice(["no", "yes"], n)
        frame["same"] = "one"
    return frame, sparse.csr_array(X) if layout == "sparse" else frame


def graph_case(layout, k, n=24):
    """What to fit; columns and affinities of k neighbours in a median kernel; importances from coefficients."""
    frame, given = features(layout, 3, n)
    columns, owner = reference.columns_of(frame)
    width = reference.quantile_of_distances(columns, 0.5)
    affinities = reference.neighbor_affinity(columns, k, lambda x: math.exp(-x / width))

    def importances(coefficients):
        return reference.by_feature(columns, owner, reference.effects(columns, coefficients), frame.shape[1])

    return given, columns, affinities, importances
