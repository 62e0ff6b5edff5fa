r"""Moments of the credit at the root over all permutations of the target: exact, without drawing any.

With equal weights, the credit of a feature (:mod:`omnirank.ensembles.root_credit`) is :math:`s = \sum_{i \ne k} A_{ik}
B_{ik}`. A is the kernel of the feature and B that of the target, both U-centred: rows sum to 0 and the diagonal is 0.
If the feature says nothing, every permutation of the n targets is equally likely. The mean of s is 0. With unequal
weights, the same holds for a kernel A of the values alone and B of the weighed targets: target and weight of a row are
permuted together. Its variance is

.. math:: \frac{2 a_2 b_2}{n (n - 3)}, \qquad a_p = \sum_{i, k} A_{ik}^p,

and its third moment is :math:`\sum_g m_g S_g(A) S_g(B) / (n)_g` over the eight multigraphs g of three edges without
loops: :math:`m_g` of the 87 index patterns are of this graph, :math:`(n)_g` counts the ways to choose its vertices, and
:math:`S_g`, the sum of products of its edges over different vertices, is a combination of :math:`a_3` and
:math:`\operatorname{tr} A^3`, since a vertex of one edge can be summed out.

Rare values of a feature that meet rare targets make the far tail heavier than three moments show. The fourth cumulant
has this part to leading order, from :math:`\alpha = a_4 / a_2^2` and :math:`\eta = \sum_i (\sum_k A_{ik}^2)^2 / a_2^2`
of both kernels:

.. math:: \frac{\kappa}{\sigma^4} = 2 n^2 \alpha_A \alpha_B + 12 n (\eta_A - \alpha_A) (\eta_B - \alpha_B)
          + 3 (1 - 4 \eta_A + 2 \alpha_A) (1 - 4 \eta_B + 2 \alpha_B) - 3.

A depends on how many examples have each value of a feature, so that all features without ties share it. All sums take
time proportional to the number of values, since :math:`A_{ik} = a_i + b_k` for values i < k.

References
----------
Kazi-Aoual, Hitier, Sabatier, Lebreton: Refined approximations to permutation tests for multivariate inference.
Comput. Stat. Data Anal. 20, 1995.
Szekely, Rizzo: Partial distance correlation with methods for dissimilarities. Ann. Statist. 42, 2014.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from omnirank.ensembles.root_credit import OrderedRows

# Cells of the sums that are held at once.
_MOST_CELLS = 2**20
# Sums of powers over pairs of examples are sums of products of columns, where few columns count (with two more), and
# where no digits are lost: squares are more than this share of the squared trace.
_MOST_FACTORS = 18
_NOTHING_LOST = 1e-6
# Elsewhere so many pairs are summed; of more, evenly spaced examples stand for all.
_MOST_PAIRS = 2**22
# Share of the squared trace of a kernel: less is rounding, where no two examples differ from two others.
_ROUNDING = 1e-12
# Graphs of three edges: index patterns, vertices, and factors of the sum of cubes and of the trace.
_GRAPHS = (
    (4, 2, 1, 0),  # one edge, three times
    (24, 3, -1, 0),  # twice, and a neighbour
    (6, 4, 2, 0),  # twice, and another one
    (8, 3, 0, 1),  # triangle
    (8, 4, 2, 0),  # star
    (24, 4, 1, -1),  # path
    (12, 5, -4, 2),  # path of two edges, and another edge
    (1, 6, 16, -8),  # three edges apart
)


class Kernel(NamedTuple):
    """Sums over U-centred kernels, one in each place."""

    n: np.ndarray  # examples
    squares: np.ndarray
    cubes: np.ndarray
    fourths: np.ndarray
    rows: np.ndarray  # squares of the sums of squares of rows
    trace: np.ndarray  # of the third power

    def take(self, places: np.ndarray) -> Kernel:
        """Return the sums of the kernels in these places."""
        return Kernel(*(values[places] for values in self))


def permutation_moments(rows: OrderedRows, target: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Return standard deviation, skewness and excess kurtosis (this part) of each credit: an array (3, features).

    Parameters
    ----------
    rows : OrderedRows
        The features of the rows that are permuted.
    target : ndarray (rows, columns)
        The clustering columns, weighed and centred.
    owner : ndarray (columns,)
        The feature that a column comes from, for which it does not count; -1: none.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.ensembles.permutation_moments import permutation_moments
    >>> from omnirank.ensembles.root_credit import OrderedRows
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]), np.array([-1.5, -0.5, 0.5, 1.5])
    >>> permutation_moments(OrderedRows(Table.from_numeric(X)), y[:, None], np.array([-1]))[0].round(3)
    array([0.567, 1.7  ])
    """
    largest = np.abs(target).max(initial=0.0)
    scale = largest * np.sqrt(np.sum((target / (largest or 1.0)) ** 2))
    target = target / (scale or 1.0)
    owned = np.unique(owner[owner >= 0])
    if target.shape[1] > len(target) and not len(owned):  # the same products of rows
        sizes, directions = np.linalg.eigh(target @ target.T)
        target, owner = directions * np.sqrt(np.maximum(sizes, 0.0)), owner[: len(sizes)]
    n = len(target)
    # of features without ties and missing cells first, so that their places are 0
    patterns = {(False, np.ones(n, np.int64).tobytes()): 0}
    masks = {(np.packbits(np.ones(n, bool)).tobytes(), -1): 0}
    places = np.zeros((2, rows.table.n_columns), np.int64)
    for values in rows:
        own = np.isin(values.features, owned)
        for j in np.flatnonzero(_tied(values, n) | own):
            counts, known = _counts(values, int(j), n)
            f = int(values.features[j])
            pattern, mask = (bool(values.nominal[j]), counts.tobytes()), np.packbits(known).tobytes()
            places[0, f] = patterns.setdefault(pattern, len(patterns))
            places[1, f] = masks.setdefault((mask, f if own[j] else -1), len(masks))
    of_features = _feature_kernels(list(patterns), n)
    of_targets = _target_kernels(target, owner, masks)
    moments = _moments(of_features.take(places[0]), of_targets.take(places[1]))
    moments[0] *= scale**2
    return moments


def _tied(values: Any, n: int) -> np.ndarray:
    """Whether features have levels, ties or missing cells."""
    if len(values.rows) < n * len(values.features):  # zeros are not listed
        return np.ones(len(values.features), bool)
    untied = values.new.reshape(-1, n).all(axis=1) if n else False
    return values.nominal | (values.n_known < n) | ~untied


def _counts(values: Any, j: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """How many examples have each value of a feature, and which examples have one."""
    start, end = values.starts[j], values.starts[j + 1]
    n_known = values.n_known[j]
    new = np.flatnonzero(values.new[start : start + n_known])
    counts = np.diff(new, append=n_known)
    if values.zero[j] >= 0 and end - start < n:  # zeros are not listed
        counts = np.insert(counts, np.searchsorted(new, values.zero[j]), n - (end - start))
    known = np.ones(n, bool)
    known[values.rows[start + n_known : end]] = False
    return np.sort(counts) if values.nominal[j] else counts, known


def _feature_kernels(patterns: list[tuple[bool, bytes]], n: int) -> Kernel:
    """Sums over the kernels of features with these numbers of examples by value."""
    sums = np.zeros((len(Kernel._fields), len(patterns)))
    for nominal in (False, True):
        places = np.array([i for i, pattern in enumerate(patterns) if pattern[0] == nominal], np.int64)
        for some in np.array_split(places, len(places) * n // _MOST_CELLS + 1):
            counts = [np.frombuffer(patterns[i][1], np.int64) for i in some]
            size = np.zeros((len(some), max([2, *map(len, counts)])))
            for row, count in zip(size, counts, strict=True):
                row[: len(count)] = count
            with np.errstate(divide="ignore", invalid="ignore"):
                sums[:, some] = _level_sums(size) if nominal else _number_sums(size)
    return Kernel(*np.where(np.isfinite(sums), sums, 0.0))


def _number_sums(size: np.ndarray) -> np.ndarray:
    """Sums over the kernels of numbers, from the examples that have each value."""
    n = size.sum(axis=1, keepdims=True)
    left = np.cumsum(size, axis=1)
    share, inside = left / n, left < n
    step = np.where(inside, size + np.roll(size, -1, axis=1), 0.0)
    step *= np.where(inside, 1 / left + 1 / (n - left), 0.0) / step.sum(axis=1, keepdims=True)
    below, between, above = step * share**2, step * share * (1 - share), step * (1 - share) ** 2
    first = _before(below) + _before(between)
    second = _after(above) + above - _before(between)
    products = 6 * between * _before(below) * _after(above) + 3 * between * below * _after(above)
    products += 3 * between * above * _before(below) + between**3

    def form(c: np.ndarray) -> np.ndarray:
        mass = np.cumsum(size * c, axis=1)
        return (step * (mass - share * mass[:, -1:]) ** 2).sum(axis=1)

    return _kernel_sums(size, (first, second, first + second), n[:, 0] ** 3 * products.sum(axis=1), form)


def _level_sums(size: np.ndarray) -> np.ndarray:
    """Sums over the kernels of levels, from the examples that have each of them."""
    n = size.sum(axis=1, keepdims=True)
    factor = 1 / ((size > 0).sum(axis=1, keepdims=True) - 1)
    apart = np.broadcast_to(-factor / n, size.shape)
    alike = np.where(size > 0, factor / np.where(size > 0, size, 1.0) + apart, 0.0)

    def form(c: np.ndarray) -> np.ndarray:
        return factor[:, 0] * ((size * c**2).sum(axis=1) - (size * c).sum(axis=1) ** 2 / n[:, 0])

    return _kernel_sums(size, (apart, np.zeros(size.shape), alike), factor[:, 0] ** 2, form)


def _kernel_sums(size: np.ndarray, kernel: tuple[np.ndarray, ...], trace: np.ndarray, form: Any) -> np.ndarray:
    """Sums over U-centred kernels K, of which rows sum to 0.

    ``kernel`` has a, b and K_vv of the values v, with K_vw = a_v + b_w for v < w, ``trace`` is that of K^3, and
    ``form(c)`` is c' K c.
    """
    first, second, own = kernel
    n = size.sum(axis=1)
    c = _centring(n[:, None], own, (size * own).sum(axis=1, keepdims=True))
    a, b, d = first + c, second + c, own + 2 * c
    lower = [_before(size * a**k) for k in range(5)]
    upper = [_after(size * b**k) for k in range(3)]
    rows = lower[2] + 2 * b * lower[1] + b**2 * lower[0] + upper[2] + 2 * a * upper[1] + a**2 * upper[0]
    rows += (size - 1) * d**2
    cubes = 2 * (lower[3] + 3 * b * lower[2] + 3 * b**2 * lower[1] + b**3 * lower[0]) + (size - 1) * d**3
    fourths = lower[4] + 4 * b * lower[3] + 6 * b**2 * lower[2] + 4 * b**3 * lower[1] + b**4 * lower[0]
    fourths = 2 * fourths + (size - 1) * d**4
    s, q = (size * c).sum(axis=1), (size * c**2).sum(axis=1)
    trace = trace + 3 * n * form(c) + 2 * s**3 + 6 * s * n * q - (size * (3 * d * rows + d**3)).sum(axis=1)
    total = (size * own).sum(axis=1)
    return _sums(n, *((size * x).sum(axis=1) for x in (rows, cubes, fourths, rows**2)), trace, total)


def _sums(*sums: np.ndarray) -> np.ndarray:
    """What `Kernel` has, without kernels that are nothing but rounding; the last one is the trace before centring."""
    *kept, total = sums
    return np.where(kept[1] > _ROUNDING * total**2, kept, 0.0)


def _centring(n: np.ndarray, own: np.ndarray, total: np.ndarray) -> np.ndarray:
    """What U-centring adds to a kernel, of which rows sum to 0, for each of two examples; from its diagonal."""
    return own / (n - 2) - total / (2 * (n - 1) * (n - 2))


def _before(x: np.ndarray) -> np.ndarray:
    """Sums of the values before each."""
    sums = np.zeros(x.shape)
    np.cumsum(x[:, :-1], axis=1, out=sums[:, 1:])
    return sums


def _after(x: np.ndarray) -> np.ndarray:
    """Sums of the values after each."""
    return _before(x[:, ::-1])[:, ::-1]


def _target_kernels(target: np.ndarray, owner: np.ndarray, masks: Collection[tuple[bytes, int]]) -> Kernel:
    """Sums over the kernels of the target, of the examples that each mask has, without the columns of a feature."""
    n, n_columns = target.shape
    known = np.array([np.frombuffer(mask, np.uint8) for mask, _ in masks])
    features = np.array([feature for _, feature in masks])
    rows = np.unique(np.linspace(0, n - 1, min(n, max(64, _MOST_PAIRS // max(n * len(known), 1)))).astype(np.int64))
    width = n_columns + max(len(rows), n_columns * n_columns // 2)
    sums = [
        _target_sums(target, np.unpackbits(known[some], axis=1, count=n).astype(bool), counted, rows)
        for some in np.array_split(np.arange(len(known)), len(known) * n * width // _MOST_CELLS + 1)
        if len(some)
        for counted in [(owner < 0) | (owner != features[some, None])]
    ]
    return Kernel(*np.concatenate(sums, axis=1))


def _target_sums(target: np.ndarray, known: np.ndarray, counted: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """The same of some masks (masks, examples), by the columns that count (masks, columns)."""
    n = known.sum(axis=1).astype(np.float64)
    u = target - (known @ target / np.maximum(n, 1.0)[:, None])[:, None, :]
    u *= known[:, :, None] & counted[:, None, :]
    own = np.einsum("mic,mic->mi", u, u)
    with np.errstate(divide="ignore", invalid="ignore"):
        c = np.where(known, _centring(n[:, None], own, own.sum(axis=1, keepdims=True)), 0.0)
    d = own + 2 * c
    across = u.transpose(0, 2, 1) @ u
    mass = np.einsum("mic,mi->mc", u, c)
    s, q = c.sum(axis=1), (c**2).sum(axis=1)
    rows = np.einsum("mic,mic->mi", u @ across, u) + n[:, None] * c**2 + q[:, None] + 2 * c * s[:, None]
    rows = np.where(known, rows + 2 * np.einsum("mic,mc->mi", u, mass) - d**2, 0.0)
    # pairs have the products of the rows of two matrices
    pairs = np.concatenate([u, c[:, :, None], known[:, :, None]], axis=2)
    if pairs.shape[2] <= _MOST_FACTORS and (rows.sum(axis=1) > _NOTHING_LOST * own.sum(axis=1) ** 2).all():
        cubes, fourths = _powers(pairs) - [(d**3).sum(axis=1), (d**4).sum(axis=1)]
    else:
        cubes, fourths = _sampled_powers(pairs, known, sample)
    trace = np.einsum("mcd,mdc->m", across @ across, across) + 3 * n * (mass**2).sum(axis=1)
    trace += 2 * s**3 + 6 * s * n * q - (3 * d * rows + d**3).sum(axis=1)
    return _sums(n, rows.sum(axis=1), cubes, fourths, (rows**2).sum(axis=1), trace, own.sum(axis=1))


def _powers(x: np.ndarray) -> np.ndarray:
    """Sums of third and fourth powers of the products of all pairs of rows of x and x with its last columns swapped.

    They are products of sums over rows: the square of a product of two rows is one of their products of two columns.
    """
    n_columns = x.shape[2]
    first, second = np.triu_indices(n_columns)
    swapped = np.r_[: n_columns - 2, n_columns - 1, n_columns - 2]
    number = np.empty((n_columns, n_columns), np.int64)
    number[first, second] = number[second, first] = np.arange(len(first))
    other, times = number[swapped[first], swapped[second]], 2.0 - (first == second)
    squares = x[:, :, first] * x[:, :, second]
    cubes, fourths = (squares.transpose(0, 2, 1) @ y for y in (x, squares))
    cubes *= times[:, None] * cubes[:, other][:, :, swapped]
    fourths *= times[:, None] * times * fourths[:, other][:, :, other]
    return np.array([cubes.sum(axis=(1, 2)), fourths.sum(axis=(1, 2))])


def _sampled_powers(x: np.ndarray, known: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """The same sums over pairs of different rows, one of them in a sample that stands for all."""
    products = x[:, sample] @ np.concatenate([x[..., :-2], x[..., :-3:-1]], axis=2).transpose(0, 2, 1)
    products[:, np.arange(len(sample)), sample] = 0.0
    scale = known.sum(axis=1) / np.maximum(known[:, sample].sum(axis=1), 1)
    squares = products**2
    return np.array([scale * np.einsum("mij,mij->m", squares, y) for y in (products, squares)])


def _moments(a: Kernel, b: Kernel) -> np.ndarray:
    """Standard deviation, skewness and excess kurtosis; 0 where there are fewer than four examples."""
    n = b.n
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = 2 * a.squares * b.squares / (n * (n - 3))
        third = np.zeros(len(n))
        for patterns, vertices, cubes, trace in _GRAPHS:
            choices = np.prod([n - i for i in range(vertices)], axis=0)
            both = np.prod([cubes * x.cubes + trace * x.trace for x in (a, b)], axis=0)
            third += np.where(choices > 0, patterns * both / choices, 0.0)
        (p, q), (x, y) = ([k.fourths / k.squares**2 for k in (a, b)], [k.rows / k.squares**2 for k in (a, b)])
        rare = 2 * n**2 * p * q + 12 * n * (x - p) * (y - q) + 3 * (1 - 4 * x + 2 * p) * (1 - 4 * y + 2 * q) - 3
        moments = np.array([np.sqrt(variance), third / variance**1.5, np.maximum(rare, 0.0)])
    return np.where((n > 3) & (variance > 0) & np.isfinite(moments).all(axis=0), moments, 0.0)
