"""Neighbours and ML-kNN straight from their definitions, for numbers without missing cells."""

from __future__ import annotations


def nearest(train, row, weights, k, leave_out=None):
    """Numbers of the k nearest training rows by the weighted squared distance over ranges; ties by number."""
    spans = [max(column) - min(column) for column in zip(*train, strict=True)]

    def distance(q):
        parts = zip(row, train[q], spans, weights, strict=True)
        return sum(w * ((a - b) / span) ** 2 for a, b, span, w in parts if span > 0)

    others = [q for q in range(len(train)) if q != leave_out]
    return sorted(others, key=lambda q: (round(distance(q), 12), q))[:k]


def ml_knn(train, labels, row, k, s):
    """Probability of every label of one row."""
    n, ones = len(train), [1.0] * len(train[0])
    near = [nearest(train, train[i], ones, k, leave_out=i) for i in range(n)]
    own = nearest(train, row, ones, k)
    found = []
    for label in range(len(labels[0])):
        has = [i for i in range(n) if labels[i][label] == 1]
        lacks = [i for i in range(n) if labels[i][label] == 0]
        count = sum(labels[q][label] for q in own)

        def share(members, label=label, count=count):
            equal = sum(1 for i in members if sum(labels[q][label] for q in near[i]) == count)
            return (s + equal) / (s * (k + 1) + len(members))

        prior = (s + len(has)) / (2 * s + n)
        with_label, without = prior * share(has), (1 - prior) * share(lacks)
        found.append(with_label / (with_label + without))
    return found
