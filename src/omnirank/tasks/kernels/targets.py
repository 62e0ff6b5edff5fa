"""Target distances of pairs of examples; NaN where no target is known in both."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from omnirank.core.compiled import allocating, compiled, inlined

# Kinds of label set distances.
HAMMING, ACCURACY, F1, SUBSET, EUCLIDEAN = range(5)


class LabelLists(NamedTuple):
    """Label sets by rows: start (n + 1,), labels, is_unknown of each stored label; weights of all labels."""

    start: Any
    labels: Any
    is_unknown: Any
    weights: Any


@compiled
def value_distances(values, n_numeric, rows, ids, out):
    """Fill out (n_rows, k) with the mean distance over the variables known in both examples.

    values (n, T): numbers divided by their range come first, then codes of levels; NaN is unknown.
    """
    for i in range(len(rows)):
        first = rows[i]
        for q in range(ids.shape[1]):
            second = ids[i, q]
            total, n_known = 0.0, 0
            if second >= 0:
                for variable in range(values.shape[1]):
                    a, b = values[first, variable], values[second, variable]
                    if np.isnan(a) or np.isnan(b):
                        continue
                    n_known += 1
                    if variable < n_numeric:
                        total += abs(a - b)
                    elif a != b:
                        total += 1.0
            out[i, q] = total / n_known if n_known > 0 else np.nan


@allocating
def label_distances(sets, labelled, kind, mu, rows, ids, out):
    """Fill out (n_rows, k) with the distances of label sets; labels unknown in one of them are left out.

    labelled: which examples have a known label; mu: factor of the Euclidean distance.
    """
    n_labels = len(sets.weights)
    all_weight = 0.0
    for label in range(n_labels):
        all_weight += sets.weights[label]
    # what the label is in the first example of a pair: 0 not relevant, 1 relevant, 2 unknown
    marks = np.zeros(n_labels, np.uint8)
    for i in range(len(rows)):
        first = rows[i]
        relevant, n_relevant, unknown, n_unknown = 0.0, 0, 0.0, 0
        for place in range(sets.start[first], sets.start[first + 1]):
            label = sets.labels[place]
            if sets.is_unknown[place]:
                marks[label] = 2
                unknown += sets.weights[label]
                n_unknown += 1
            else:
                marks[label] = 1
                relevant += sets.weights[label]
                n_relevant += 1
        for q in range(ids.shape[1]):
            second = ids[i, q]
            out[i, q] = np.nan
            if second < 0 or not (labelled[first] and labelled[second]):
                continue
            common, different, known, n_known = _compare(
                sets, marks, second, relevant, n_relevant, all_weight - unknown, n_labels - n_unknown
            )
            if n_known > 0:
                out[i, q] = _set_distance(kind, mu, common, different, known)
        for place in range(sets.start[first], sets.start[first + 1]):
            marks[sets.labels[place]] = 0


@inlined
def _compare(sets, marks, second, only_first, n_first, known, n_known):
    """Weights of the common, the different and the known labels of two sets, and the number of known ones.

    only_first: weight of the first set, from which what the second shares or does not know is taken away; n_first: the
    number of its labels, so that nothing is left but 0 where all of them are.
    """
    common, only_second = 0.0, 0.0
    for place in range(sets.start[second], sets.start[second + 1]):
        label = sets.labels[place]
        mark, weight = marks[label], sets.weights[label]
        if sets.is_unknown[place]:
            if mark != 2:
                known -= weight
                n_known -= 1
            if mark == 1:
                only_first -= weight
                n_first -= 1
        elif mark == 1:
            common += weight
            only_first -= weight
            n_first -= 1
        elif mark == 0:
            only_second += weight
    return common, (max(only_first, 0.0) if n_first else 0.0) + only_second, known, n_known


@inlined
def _set_distance(kind, mu, common, different, known):
    if kind == SUBSET:
        return 1.0 if different > 0 else 0.0
    if kind == EUCLIDEAN:
        return min(1.0, mu * np.sqrt(different))
    whole = known
    if kind == ACCURACY:
        whole = different + common
    elif kind == F1:
        whole = different + 2 * common
    return min(1.0, different / whole) if whole > 0 else 0.0
