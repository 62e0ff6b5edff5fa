"""Self-training of an ensemble, vote by vote, and the fall of accuracy when a feature is permuted, row by row."""

from __future__ import annotations

import numpy as np

from omnirank.core.seeds import stream


def majority(votes, n_classes):
    counts = [votes.count(c) for c in range(n_classes)]
    return counts.index(max(counts)), max(counts)


def self_train(grow, classes, n_classes, n_members, confidence, max_rounds, entropy):
    """Return for each member its labels and counts at the end; grow returns votes for all examples."""
    n = len(classes)
    labelled = [i for i in range(n) if classes[i] >= 0]
    bags = []
    for b in range(n_members):
        bag = [0.0] * n
        for place in stream(entropy, b).integers(0, len(labelled), len(labelled)):
            bag[labelled[place]] += 1
        bags.append(bag)
    start = [max(int(c), 0) for c in classes]
    lessons = [(start, list(bag)) for bag in bags]
    votes = [grow(b, *lessons[b]) for b in range(n_members)]
    errors, sums = [0.5] * n_members, [float("inf")] * n_members
    for step in range(1, max_rounds + 1):
        changed = {}
        for b in range(n_members):
            wrong = judged = 0
            for i in labelled:
                heard = [votes[o][i] for o in range(n_members) if o != b and bags[o][i] == 0]
                if heard:
                    judged += 1
                    wrong += majority(heard, n_classes)[0] != classes[i]
            error = wrong / judged if judged else float("nan")
            if not error < errors[b]:
                continue
            most = errors[b] * sums[b] / error if error > 0 else float("inf")
            found, shares, chosen = list(start), {}, []
            for i in range(n):
                if classes[i] < 0:
                    found[i], agree = majority([votes[o][i] for o in range(n_members) if o != b], n_classes)
                    shares[i] = agree / (n_members - 1)
                    if shares[i] > confidence:
                        chosen.append(i)
            if sum(shares[i] for i in chosen) >= most:
                order = stream(entropy, 2**32 + step * n_members + b).permutation(np.array(chosen)).tolist()
                chosen, total = [], 0.0
                for i in order:
                    total += shares[i]
                    if total >= most:
                        break
                    chosen.append(i)
            if not chosen:
                continue
            counts = list(bags[b])
            for i in chosen:
                counts[i] = shares[i]
            errors[b], sums[b] = error, sum(shares[i] for i in chosen)
            changed[b] = (found, counts)
        if not changed:
            return lessons, votes, step
        for b, lesson in changed.items():
            lessons[b] = lesson
            votes[b] = grow(b, *lesson)
    return lessons, votes, max_rounds


def falls_of_accuracy(predict, X, truth, rows, donors):
    """Fall of accuracy on the rows when feature f takes its values from the donors[f] of the rows."""
    before = sum(predict(X[i]) == truth[i] for i in rows) / len(rows)
    falls = []
    for f in range(X.shape[1]):
        right = 0
        for i, donor in zip(rows, donors[f], strict=True):
            cells = X[i].copy()
            cells[f] = X[donor, f]
            right += predict(cells) == truth[i]
        falls.append(before - right / len(rows))
    return falls
