"""The permutation score of relations, tree by tree and example by example: all features are computed anew each time.

Only the permutations and the bags come from the package.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from omnirank.core.seeds import root_entropy, stream
from omnirank.ensembles.plan import bootstrap_counts
from omnirank.relational.permutation import _FIRST_STREAM, N_PERMUTATIONS, permuted
from omnirank.trees.tree import routing_matrix


def slow_scores(ranker, data, weight, names, group):
    """Growth of the error of each tree, example by example."""
    model, entropy = ranker.model_, root_entropy(ranker.random_state)
    used = data.take(np.flatnonzero(data.labelled & (weight > 0)))
    weight = weight[data.labelled & (weight > 0)]
    is_class = data.target.levels[0] is not None
    truth = used.target.values[:, 0]
    spread = np.var(np.eye(3)[truth.astype(int)], axis=0).sum() if is_class else np.var(truth)
    rows = []
    for i, tree in enumerate(model.trees_):
        seen = bootstrap_counts(entropy, i, (np.arange(len(used)),)) > 0
        rng = stream(entropy, _FIRST_STREAM + (group + 1) * N_PERMUTATIONS + i % N_PERMUTATIONS)
        errors = []
        for database in (used.database, permuted(used.database, names, rng)):
            leaves = tree.apply(routing_matrix(model._table(replace(used, database=database))))
            total = 0.0
            for leaf, value, own, is_seen in zip(leaves, truth, weight, seen, strict=True):
                if not is_seen:
                    mean = tree.means(np.array([leaf]))[0]
                    wanted = np.eye(3)[int(value)] if is_class else np.array([value])
                    total += own * ((mean - wanted) ** 2).sum()
            errors.append(total / weight[~seen].sum() / spread)
        rows.append(errors[1] - errors[0])
    return np.array(rows)
