"""Agreement of two rankings, straight from the formulas."""

from __future__ import annotations


def top(scores, j):
    """Indices of the j best; ties in the order of the features."""
    return set(sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:j])


def membership(scores, j, x):
    best = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    if x in best[:j]:
        return 1.0
    least = scores[best[j - 1]]
    return 1.0 if least == 0 else scores[x] / least


def fuji(a, b, j):
    union = top(a, j) | top(b, j)
    smaller = sum(min(membership(a, j, x), membership(b, j, x)) for x in union)
    larger = sum(max(membership(a, j, x), membership(b, j, x)) for x in union)
    return smaller / larger


def kendall_tau_b(x, y):
    """(concordant - discordant) / sqrt((pairs not tied in x) (pairs not tied in y))."""
    pairs = [(i, j) for i in range(len(x)) for j in range(i)]
    sign = [((x[i] > x[j]) - (x[i] < x[j]), (y[i] > y[j]) - (y[i] < y[j])) for i, j in pairs]
    balance = sum(s * t for s, t in sign)
    untied_x, untied_y = sum(s != 0 for s, _ in sign), sum(t != 0 for _, t in sign)
    return balance / (untied_x * untied_y) ** 0.5 if untied_x and untied_y else float("nan")


def average_ranks(x):
    return [sum(v < value for v in x) + (sum(v == value for v in x) + 1) / 2 for value in x]


def spearman(x, y):
    """Pearson's correlation of the average ranks."""
    p, q = average_ranks(x), average_ranks(y)
    mean = (len(x) + 1) / 2
    cross = sum((s - mean) * (t - mean) for s, t in zip(p, q, strict=True))
    square_p, square_q = sum((s - mean) ** 2 for s in p), sum((t - mean) ** 2 for t in q)
    return cross / (square_p * square_q) ** 0.5 if square_p and square_q else float("nan")
