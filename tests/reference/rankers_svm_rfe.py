"""SVM-RFE, one feature and one machine at a time."""

from __future__ import annotations

import math

import numpy as np
from sklearn.svm import LinearSVC


def columns_of(feature, is_nominal):
    """Standardised columns of a feature (a list, None or NaN = missing); none where it is constant."""
    known = [v for v in feature if v is not None and v == v]
    if len(set(known)) < 2:
        return []
    if is_nominal:
        levels = sorted(set(known))
        usual = max(levels, key=lambda level: (known.count(level), -levels.index(level)))
        cells = [usual if v is None else v for v in feature]
        hot = [[float(v == level) for v in cells] for level in (levels[1:] if len(levels) == 2 else levels)]
    else:
        mean = sum(known) / len(known)
        hot = [[mean if v is None or v != v else v for v in feature]]
    total = sum(np.var(column) for column in hot)
    return [(np.array(column) - np.mean(column)) / math.sqrt(total) for column in hot]


def scores(features, nominal, targets, step, C):
    """Number of features that were removed up to and with each."""
    columns = [columns_of(feature, is_nominal) for feature, is_nominal in zip(features, nominal, strict=True)]
    left = [i for i, own in enumerate(columns) if own]
    found, removed = [0.0] * len(features), 0
    while left:
        weight = dict.fromkeys(left, 0.0)
        X = np.column_stack([column for i in left for column in columns[i]])
        owner = [i for i in left for _ in columns[i]]
        for target in targets:
            rows = [k for k, v in enumerate(target) if v is not None and v == v]
            classes = sorted({target[k] for k in rows})
            for one in classes[1:] if len(classes) == 2 else classes if len(classes) > 2 else []:
                machine = LinearSVC(dual=False, C=C, tol=1e-6, max_iter=10**6)
                machine.fit(X[rows], [target[k] == one for k in rows])
                for i in left:
                    own = [j for j, of in enumerate(owner) if of == i]
                    weight[i] += np.var(X[:, own] @ machine.coef_[0][own])
        first = sorted(left, key=lambda i: (weight[i], -i))[: max(1, math.floor(step * len(left)))]
        for i in first:
            equal = sum(math.isclose(weight[j], weight[i], rel_tol=1e-12) for j in first)
            smaller = sum(weight[j] < weight[i] * (1 - 1e-12) for j in first)
            found[i] = removed + smaller + (equal + 1) / 2
        removed += len(first)
        left = [i for i in left if i not in first]
    return found
