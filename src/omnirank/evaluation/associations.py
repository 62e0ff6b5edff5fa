"""How closely pairs of features of all kinds are related, from 0 to 1: many pairs at a time, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from omnirank.core.parallel import run_parallel
from omnirank.data.table import Table

# Columns that are compared at a time, one-hot columns of nominal features counted: bounds the memory of a worker.
_BLOCK = 256
# Fewer examples in which both features are known say nothing about a pair.
_FEWEST = 10
# What rounding may cost an association of exactly the threshold.
_ROUNDING = 1e-9
# Spread of a column within the rows where the other is known, relative to its own, that is rounding only.
_NO_SPREAD = 1e-9


class Pairs(NamedTuple):
    """Pairs of columns (first before second) and how closely they are related."""

    first: np.ndarray
    second: np.ndarray
    values: np.ndarray


def associated_pairs(table: Table, threshold: float, n_jobs: int | None = None) -> Pairs:
    r"""Return the pairs of columns whose association is at least a threshold.

    Two numeric columns: the absolute value of Spearman's correlation; with missing cells, the correlation of the ranks
    that each column has among its own known cells, over the rows where both are known.

    A numeric and a nominal column: the correlation ratio of the ranks, corrected for the number of levels,
    :math:`\eta^2 = 1 - \frac{N - 1}{N - L} (1 - \hat\eta^2)`: how much of the variance the L levels explain.

    Two nominal columns: Tschuprow's T with the correction of Bergsma [1]_. Unlike Cramer's V it is 1 only where each
    level of one goes with one level of the other: V is also 1 where one of them merely follows from the other.

    Without these corrections any two features of many levels would be related. The association is 0 for a pair with
    fewer than 10 rows in which both are known (or fewer than all rows, where there are fewer than 10), with a constant
    column, or with a nominal column of more levels than half of its known cells: an identifier.

    Parameters
    ----------
    table : Table
        The columns.
    threshold : float
        The least association, above 0.
    n_jobs : int or None
        Number of workers.

    References
    ----------
    .. [1] W. Bergsma: A bias-correction for Cramer's V and Tschuprow's T. Journal of the Korean Statistical Society 42
       (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.evaluation.associations import associated_pairs
    >>> x = np.arange(20.0)
    >>> table = Table.from_numeric(np.column_stack([x, -(x**3), np.sin(9 * x)]))
    >>> associated_pairs(table, 0.9)
    Pairs(first=array([0]), second=array([1]), values=array([1.]))
    """
    blocks: list[_Numbers | _Levels] = [*_numeric_blocks(table), *_nominal_blocks(table)]
    todo = [(i, j) for i in range(len(blocks)) for j in range(i, len(blocks))]
    found = run_parallel(_Compared(blocks, threshold), todo, n_jobs, description="comparing features")
    nothing = Pairs(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))
    first, second, values = (np.concatenate(parts) for parts in zip(nothing, *found, strict=True))
    order = np.lexsort((second, first))
    return Pairs(first[order], second[order], values[order])


class _Numbers(NamedTuple):
    """Numeric columns: their places, ranks with mean 0 and variance 1 (0 where missing), and 1 where known.

    known is None where all cells are.
    """

    places: np.ndarray
    ranks: np.ndarray
    known: np.ndarray | None


class _Levels(NamedTuple):
    """Nominal columns: their places, where the levels of each start, and one row of 0 and 1 per level."""

    places: np.ndarray
    starts: np.ndarray
    indicators: Any


def _numeric_blocks(table: Table) -> Iterator[_Numbers]:
    places = np.flatnonzero(~table.is_nominal)
    for start in range(0, len(places), _BLOCK):
        own = places[start : start + _BLOCK]
        cells = np.column_stack([table.column(j) for j in own.tolist()]).astype(np.float64)
        known = ~np.isnan(cells)
        ranks = np.zeros(cells.shape)
        for j in range(len(own)):
            ranks[known[:, j], j] = _standard_ranks(cells[known[:, j], j])
        yield _Numbers(own, ranks, None if known.all() else known.astype(np.float64))


def _standard_ranks(values: np.ndarray) -> np.ndarray:
    if not len(values):
        return values
    ranks = rankdata(values) - (len(values) + 1) / 2
    spread = ranks.std()
    return ranks / spread if spread > 0 else np.zeros(len(values))


def _nominal_blocks(table: Table) -> Iterator[_Levels]:
    """Blocks of as many nominal columns as have the levels of a block together; at least one."""
    places: list[int] = []
    parts: list[Any] = []
    n_rows = 0
    for j in np.flatnonzero(table.is_nominal).tolist():
        codes = table.column(j)
        rows = np.flatnonzero(codes >= 0)
        seen, level = np.unique(codes[rows], return_inverse=True)
        if not len(seen) or len(seen) > len(rows) / 2:
            continue
        shape = (len(seen), len(codes))
        part = sparse.csr_array((np.ones(len(rows)), (level, rows)), shape=shape)
        if places and n_rows + shape[0] > _BLOCK:
            yield _levels(places, parts)
            places, parts, n_rows = [], [], 0
        places.append(j)
        parts.append(part)
        n_rows += shape[0]
    if places:
        yield _levels(places, parts)


def _levels(places: list[int], parts: list[Any]) -> _Levels:
    starts = np.cumsum([0, *(part.shape[0] for part in parts[:-1])])
    return _Levels(np.array(places), starts, sparse.csr_array(sparse.vstack(parts, format="csr")))


@dataclass(frozen=True, eq=False)
class _Compared:
    """The associations of the columns of two blocks that reach the threshold."""

    blocks: Sequence[_Numbers | _Levels]
    threshold: float

    def __call__(self, which: tuple[int, int]) -> Pairs:
        one, other = (self.blocks[i] for i in which)
        with np.errstate(invalid="ignore", divide="ignore"):  # empty and constant parts are 0/0: not related
            if isinstance(one, _Numbers) and isinstance(other, _Numbers):
                values = _correlations(one, other)
            elif isinstance(other, _Levels):
                values = _contingencies(one, other) if isinstance(one, _Levels) else _ratios(other, one).T
        i, j = np.nonzero(values >= self.threshold - _ROUNDING)
        a, b, values = one.places[i], other.places[j], np.minimum(values[i, j], 1.0)
        kept = a < b if which[0] == which[1] else np.ones(len(a), bool)
        return Pairs(np.minimum(a, b)[kept], np.maximum(a, b)[kept], values[kept])


def _enough(n_common: np.ndarray, n_rows: int) -> np.ndarray:
    return np.asarray(n_common >= min(_FEWEST, n_rows))


def _correlations(a: _Numbers, b: _Numbers) -> np.ndarray:
    """Absolute correlations of ranks over the rows where both columns are known."""
    products = a.ranks.T @ b.ranks
    if a.known is None and b.known is None:
        return np.abs(products) / len(a.ranks)
    known_a, known_b = _known(a), _known(b)
    n = known_a.T @ known_b
    x, y = a.ranks.T @ known_b, known_a.T @ b.ranks
    spread_x = (a.ranks**2).T @ known_b - x * x / n
    spread_y = known_a.T @ b.ranks**2 - y * y / n
    varies = (np.minimum(spread_x, spread_y) > _NO_SPREAD * n) & _enough(n, len(a.ranks))
    return np.where(varies, np.abs(products - x * y / n) / np.sqrt(spread_x * spread_y), 0.0)


def _known(part: _Numbers) -> np.ndarray:
    return np.ones(part.ranks.shape) if part.known is None else part.known


def _ratios(a: _Levels, b: _Numbers) -> np.ndarray:
    """Correlation ratios of numeric columns (second) by the levels of nominal ones (first), corrected."""
    indicators = _fit_to_multiply(a.indicators)
    n_in_level, sums = indicators @ _known(b), indicators @ b.ranks
    n, total = (np.add.reduceat(part, a.starts, axis=0) for part in (n_in_level, sums))
    spread = np.add.reduceat(indicators @ b.ranks**2, a.starts, axis=0) - total**2 / n
    explained = np.add.reduceat(np.where(n_in_level > 0, sums**2 / n_in_level, 0.0), a.starts, axis=0) - total**2 / n
    n_levels = np.add.reduceat((n_in_level > 0).astype(np.float64), a.starts, axis=0)
    unexplained = (n - 1) / (n - n_levels) * (1 - explained / spread)
    sensible = (spread > _NO_SPREAD * n) & (n > n_levels) & (n_levels > 1) & _enough(n, len(b.ranks))
    return np.where(sensible, np.sqrt(np.clip(1 - unexplained, 0.0, 1.0)), 0.0)


def _fit_to_multiply(indicators: Any) -> Any:
    """Dense where there are few levels: several times faster; sparse where that would take much memory."""
    return indicators.toarray() if indicators.shape[0] <= 2 * _BLOCK else indicators


def _contingencies(a: _Levels, b: _Levels) -> np.ndarray:
    """Tschuprow's T of nominal columns, corrected."""
    first, second = _fit_to_multiply(a.indicators), _fit_to_multiply(b.indicators)
    counts = first @ second.T
    counts = counts.toarray() if sparse.issparse(counts) else counts
    by_row = np.add.reduceat(counts, b.starts, axis=1)  # levels of a, columns of b
    by_column = np.add.reduceat(counts, a.starts, axis=0)  # columns of a, levels of b
    n = np.add.reduceat(by_row, a.starts, axis=0)
    spans_a, spans_b = (np.diff([*part.starts, part.indicators.shape[0]]) for part in (a, b))
    expected = np.repeat(by_row, spans_b, axis=1) * np.repeat(by_column, spans_a, axis=0)
    shares = np.where(counts > 0, counts**2 / expected, 0.0)
    phi = np.add.reduceat(np.add.reduceat(shares, a.starts, axis=0), b.starts, axis=1) - 1
    n_a = np.add.reduceat((by_row > 0).astype(np.float64), a.starts, axis=0)
    n_b = np.add.reduceat((by_column > 0).astype(np.float64), b.starts, axis=1)
    phi = np.maximum(0.0, phi - (n_a - 1) * (n_b - 1) / (n - 1))
    free_a, free_b = (k - 1 - (k - 1) ** 2 / (n - 1) for k in (n_a, n_b))
    sensible = (np.minimum(free_a, free_b) > _NO_SPREAD) & _enough(n, a.indicators.shape[1])
    return np.where(sensible, np.sqrt(phi / np.sqrt(free_a * free_b)), 0.0)
