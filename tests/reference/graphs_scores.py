"""Scores on graphs of examples, straight from the formulas: loops over pairs, no products of matrices."""

from __future__ import annotations

import math

import numpy as np


def columns_of(frame):
    """Columns of a frame (numbers, or strings), and the feature of each: known, centred, variance 1 per feature."""
    made, owner = [], []
    for f, name in enumerate(frame.columns):
        cells = list(frame[name])
        known = [c for c in cells if not (c is None or (isinstance(c, float) and math.isnan(c)))]
        if len(set(known)) < 2:
            continue
        if isinstance(known[0], str):
            levels = sorted(set(known))
            usual = max(levels, key=known.count)
            filled = [c if c in levels else usual for c in cells]
            kept = levels[1:] if len(levels) == 2 else levels
            hot = [[float(c == level) for c in filled] for level in kept]
            gini = sum(variance(h) for h in hot)
            new = [[(v - mean(h)) / math.sqrt(gini) for v in h] for h in hot]
        else:
            middle = mean(known)
            filled = [middle if math.isnan(c) else c for c in cells]
            new = [[(v - middle) / math.sqrt(variance(filled)) for v in filled]]
        made += new
        owner += [f] * len(new)
    return made, owner


def mean(values):
    return sum(values) / len(values)


def variance(values):
    return mean([(v - mean(values)) ** 2 for v in values])


def by_feature(columns, owner, scores, n_features):
    """Means over the columns of each feature, weighted by their variances; the worst (least) for constant ones."""
    found = []
    for f in range(n_features):
        own = [i for i in range(len(owner)) if owner[i] == f]
        weights = [variance(columns[i]) for i in own]
        total = sum(w * scores[i] for w, i in zip(weights, own, strict=True))
        found.append(total / sum(weights) if own else min(scores))
    return np.array(found)


def turned(scores):
    return [max(scores) + min(scores) - s for s in scores]


def squared(columns, i, j):
    return sum((c[i] - c[j]) ** 2 for c in columns)


def quantile_of_distances(columns, share):
    n = len(columns[0])
    return float(np.quantile([squared(columns, i, j) for i in range(n) for j in range(i)], share))


def nearest(columns, k):
    """The k nearest others of each example; of ties the first."""
    n = len(columns[0])
    found = []
    for i in range(n):
        others = sorted((round(squared(columns, i, j), 6), j) for j in range(n) if j != i)
        found.append([j for _, j in others[:k]])
    return found


def neighbor_affinity(columns, k, weight):
    """Affinities of pairs of which one is among the k nearest of the other."""
    n = len(columns[0])
    near = nearest(columns, k)
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i in near[j] or j in near[i]:
                S[i, j] = weight(squared(columns, i, j))
    return S


def full_affinity(columns, weight):
    n = len(columns[0])
    return np.array([[weight(squared(columns, i, j)) for j in range(n)] for i in range(n)])


def laplacian_score(f, S):
    D = np.diag(S.sum(axis=1))
    ones = np.ones(len(f))
    f = np.array(f)
    centred = f - (f @ D @ ones) / (ones @ D @ ones) * ones
    return (centred @ (D - S) @ centred) / (centred @ D @ centred)


def spec_score(f, S, form):
    """Two forms of SPEC, from all eigenpairs."""
    D = np.diag(S.sum(axis=1))
    root = np.sqrt(D)
    inverse = np.diag(1 / np.sqrt(np.diag(D)))
    values, vectors = np.linalg.eigh(inverse @ (D - S) @ inverse)
    hat = root @ np.array(f)
    hat = hat / np.linalg.norm(hat)
    a = vectors.T @ hat
    if form == "phi1":
        return sum(a[j] ** 2 * values[j] for j in range(len(a)))
    return sum(a[j] ** 2 * values[j] for j in range(1, len(a))) / (1 - a[0] ** 2)


def jaccard(a, b):
    """Similarity of two sets; two empty ones are equal."""
    return len(a & b) / len(a | b) if a | b else 1.0


def soft_constrained(f, columns, k, width, P):
    """S-CLS of one column; P[i][j] is None where not both are labelled."""
    n = len(f)
    near = nearest(columns, k)
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            heat = math.exp(-squared(columns, i, j) / width)
            if P[i][j] is not None:
                S[i, j] = heat * P[i][j]
            elif i in near[j] or j in near[i]:
                S[i, j] = heat
    D = S.sum(axis=1)
    mu = sum(f[i] * D[i] for i in range(n)) / D.sum()
    top = bottom = 0.0
    for i in range(n):
        for j in range(n):
            top += (f[i] - f[j]) ** 2 * S[i, j]
            if P[i][j] is None:
                bottom += (f[i] - mu) ** 2 * D[i]
            else:
                bottom += (f[i] * (1 - P[i][j]) - f[j] * (1 - P[i][j])) ** 2 * D[i]
    return top / bottom


def str_laplace(columns, y, k, C, n_features):
    """SSLS of every column: score_semi * score_sup; y is None where unknown."""
    n = len(y)
    known = [i for i in range(n) if y[i] is not None]
    middle, spread = mean([y[i] for i in known]), math.sqrt(variance([y[i] for i in known]))
    y = [None if v is None else (v - middle) / spread for v in y]
    near = nearest(columns, k)
    pairs = [(i, j) for i in range(n) for j in range(n) if i in near[j] or j in near[i]]
    d = {}
    for i, j in pairs:
        labelled = y[i] is not None and y[j] is not None
        d[i, j] = (y[i] - y[j]) ** 2 if labelled else squared(columns, i, j) / n_features
    t = mean(list(d.values()))
    S = np.zeros((n, n))
    for i, j in pairs:
        both = y[i] is not None and y[j] is not None
        S[i, j] = (C if both else 1.0) * math.exp(-d[i, j] / t)
    target = [[y[i] for i in known]]
    near = nearest(target, k)
    pairs = [(i, j) for i in range(len(known)) for j in range(len(known)) if i in near[j] or j in near[i]]
    t = mean([squared(target, i, j) for i, j in pairs])
    T = np.zeros((len(known), len(known)))
    for i, j in pairs:
        T[i, j] = math.exp(-squared(target, i, j) / t)
    return [laplacian_score(f, S) * laplacian_score([f[i] for i in known], T) for f in columns]


def lasso(columns, y, penalty, rounds=3000):
    """Minimise |y - X a|^2 / 2 + penalty |a|_1, one coefficient after the other."""
    X, y = np.array(columns).T, np.array(y)
    a = np.zeros(X.shape[1])
    for _ in range(rounds):
        before = a.copy()
        for j in range(len(a)):
            rest = y - X @ a + X[:, j] * a[j]
            slope = X[:, j] @ rest
            a[j] = math.copysign(max(abs(slope) - penalty, 0.0), slope) / (X[:, j] @ X[:, j])
        if np.abs(a - before).max() < 1e-15:
            break
    return a


def mcfs(columns, S, n_clusters, d):
    """Scores of MCFS: the penalty of each regression is the least with at most d coefficients that are not zero."""
    from scipy.linalg import eigh

    D = np.diag(S.sum(axis=1))
    _, vectors = eigh(D - S, D)
    fits = []
    for q in range(1, n_clusters + 1):
        y = vectors[:, q] - vectors[:, q].mean()
        high = max(abs(np.array(f) @ y) for f in columns)
        low = 0.0
        for _ in range(45):
            middle = (low + high) / 2
            few = np.count_nonzero(lasso(columns, y, middle)) <= d
            low, high = (low, middle) if few else (middle, high)
        fits.append(lasso(columns, y, high))
    return np.abs(fits).max(axis=0)


def ndfs(columns, S, F, alpha, beta, gamma, tol, max_iter=1000):
    """Norms of the rows of W of NDFS, with M and the inverse written out."""
    X = np.array(columns).T
    n, D = X.shape
    L = np.diag(S.sum(axis=1)) - S
    Q = np.eye(D)
    before = None
    for _ in range(max_iter):
        inverse = np.linalg.inv(X.T @ X + beta * Q)
        W = inverse @ X.T @ F
        Q = np.diag([1 / (2 * max(np.linalg.norm(w), 1e-12)) for w in W])
        M = L + alpha * (np.eye(n) - X @ inverse @ X.T)
        F = F * (gamma * F) / (M @ F + gamma * F @ F.T @ F)
        F = np.column_stack([f / np.linalg.norm(f) for f in F.T])
        penalty = sum(np.linalg.norm(w) for w in W)
        now = np.trace(F.T @ L @ F) + alpha * (np.linalg.norm(X @ W - F) ** 2 + beta * penalty)
        if before is not None and abs(now - before) <= tol * abs(now):
            break
        before = now
    return [np.linalg.norm(w) for w in W]


def effects(columns, coefficients):
    """Coefficients for columns of variance 1."""
    return [a * math.sqrt(variance(f)) for f, a in zip(columns, coefficients, strict=True)]


def one_level_less(columns, owner):
    """Places of the columns but, of each feature with several, the first of the largest variance."""
    left_out = set()
    for f in set(owner):
        own = [i for i in range(len(owner)) if owner[i] == f]
        if len(own) > 1:
            left_out.add(max(own, key=lambda i: round(variance(columns[i]), 12)))
    return [i for i in range(len(owner)) if i not in left_out]


def udfs(columns, kept, k, gamma, c, tol, max_iter=1000):
    """Norms of the rows of W of UDFS, one neighbourhood after the other; coordinates are of the kept columns."""
    X = np.array(columns).T
    Z = np.array([np.array(columns[i]) / math.sqrt(variance(columns[i])) for i in kept]).T
    n, D = Z.shape
    near = nearest(columns, k)
    A = np.zeros((n, n))
    H = np.eye(k + 1) - np.ones((k + 1, k + 1)) / (k + 1)
    for i in range(n):
        members = [i, *near[i]]
        S = np.zeros((n, k + 1))
        for q, j in enumerate(members):
            S[j, q] = 1.0
        local = X[members].T @ H
        A += S @ H @ np.linalg.inv(local.T @ local + gamma * np.eye(k + 1)) @ H @ S.T
    M = Z.T @ A @ Z
    Q = np.eye(D)
    before = None
    for _ in range(max_iter):
        _, vectors = np.linalg.eigh(M + gamma * Q)
        W = vectors[:, :c]
        Q = np.diag([1 / (2 * max(np.linalg.norm(w), 1e-12)) for w in W])
        now = np.trace(W.T @ M @ W) + gamma * sum(np.linalg.norm(w) for w in W)
        if before is not None and abs(now - before) <= tol * abs(now):
            break
        before = now
    return [np.linalg.norm(w) for w in W]


def sfss(columns, S, Y, labelled, mu, gamma, weight, tol, max_iter=200):
    """Norms of the rows of W of SFSS; columns of X are examples, all inverses are written out."""
    X = np.array(columns)
    D, n = X.shape
    H = np.eye(n) - np.ones((n, n)) / n
    L = np.diag(S.sum(axis=1)) - S
    U = np.diag([weight if known else 1e-6 for known in labelled])
    Q = np.eye(D)
    before = None
    for _ in range(max_iter):
        A = X @ H @ X.T + gamma / mu * Q
        F = np.linalg.inv(L + U + mu * H - mu * H @ X.T @ np.linalg.inv(A) @ X @ H) @ U @ Y
        W = np.linalg.inv(A) @ X @ H @ F
        Q = np.diag([1 / (2 * max(np.linalg.norm(w), 1e-12)) for w in W])
        if before is not None and np.linalg.norm(W - before) <= tol * np.linalg.norm(W):
            break
        before = W
    return [np.linalg.norm(w) for w in W]
