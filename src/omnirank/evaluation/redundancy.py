"""Which features stand for each other: `omnirank.redundancy`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import check, count, number
from omnirank.core.seeds import stream
from omnirank.core.text import Shown, counted
from omnirank.data.containers import FeaturesLike, TargetLike, in_memory
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.evaluation.alignment import RankingLike, ranking_for
from omnirank.rankers.refits import is_ranker, ranker_and_data
from omnirank.shards.dataset import ShardedDataset

if TYPE_CHECKING:
    import pandas as pd


_EXAMPLES_KEY = 2**31 + 4


@dataclass(frozen=True)
class FeatureGroup:
    """A feature and those that it stands for.

    Parameters
    ----------
    representative : str
        The best ranked feature of the group.
    others : tuple of str
        The other features, best ranked first.
    associations : tuple of float
        How closely each of them is related to the representative.
    score : float
        Sum of the scores of all features of the group. Trees share the score of a signal among its copies: the sum is
        about what the signal would have alone. Relief and scores of single features do not: their sums are too large.
    """

    representative: str
    others: tuple[str, ...]
    associations: tuple[float, ...]
    score: float

    def __str__(self) -> str:
        return self.representative + (f" stands also for: {', '.join(self.others)}" if self.others else "")


@dataclass(frozen=True, eq=False, repr=False)
class Redundancy(Shown):
    """Features in groups that stand for each other.

    Parameters
    ----------
    groups : tuple of FeatureGroup
        All groups, also those of one feature, by the rank of their representatives.
    threshold : float
        Association with the representative from which a feature belongs to its group.
    n_features : int
        Number of features of the ranking; those beyond the top that was asked for are in no group.
    """

    groups: tuple[FeatureGroup, ...]
    threshold: float
    n_features: int

    @property
    def representatives(self) -> list[str]:
        """One feature per group, best first."""
        return [group.representative for group in self.groups]

    @property
    def redundant(self) -> list[str]:
        """The features for which a better ranked one stands, group by group."""
        return [name for group in self.groups for name in group.others]

    def __str__(self) -> str:
        return self.summary

    @property
    def summary(self) -> str:
        """How many features are left, in words."""
        n = len(self.representatives) + len(self.redundant)
        top = f"the top {n} of {self.n_features} features" if n < self.n_features else counted(n, "feature")
        if not self.redundant:
            return f"none of {top} stands for another (association below {self.threshold:g})"
        groups = counted(len(self.groups), "group")
        return f"{top} form {groups} (association of at least {self.threshold:g}); redundant: {len(self.redundant)}"

    def to_frame(self) -> pd.DataFrame:
        """Return a table of all features in groups: group, feature, representative, association."""
        import pandas as pd

        rows = []
        for i, group in enumerate(self.groups, start=1):
            members = zip((group.representative, *group.others), (1.0, *group.associations), strict=True)
            rows += [(i, name, group.representative, value) for name, value in members]
        return pd.DataFrame(rows, columns=["group", "feature", "representative", "association"])


def redundancy(
    ranking: RankingLike,
    X: Dataset | ShardedDataset | FeaturesLike,
    y: TargetLike | None = None,
    *,
    threshold: float = 0.9,
    top: int = 2000,
    max_examples: int = 5000,
    n_jobs: int | None = None,
) -> Redundancy:
    """Group features that stand for each other, so that ten copies of one signal are seen as one.

    The best feature stands for all that are closely related to it; the best of the others for all of these that are
    closely related to it; and so on. So every feature is related to its representative, not only to another member of
    the group.

    Parameters
    ----------
    ranking : Ranking, ranker or array-like of scores
        The order of the features. A copy of a ranker that is not fitted ranks them.
    X, y : Dataset, ShardedDataset, or features and target
        The data; only a ranker that is not fitted looks at the target. Of data in parts that do not fit in memory, only
        the examples that are drawn are read.
    threshold : float
        The least association between a feature and the one that stands for it: the absolute rank correlation of two
        numbers, the correlation ratio of a number and a nominal feature, Tschuprow's T of two nominal features, the
        latter two corrected for their levels (`omnirank.evaluation.redundancy.associated_pairs`).
    top : int
        Only that many of the best features are compared: the time grows with the square of their number.
    max_examples : int
        Associations are computed from that many examples, drawn at random with a fixed seed, where there are more.
    n_jobs : int or None
        Number of workers.

    Returns
    -------
    Redundancy
        The groups.

    Notes
    -----
    Associations see pairs, and of numbers only monotone relations: neither a feature that follows from two others
    together is found, nor the square of a feature that is as often negative as positive.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> rng = np.random.default_rng(0)
    >>> signal, other = rng.normal(size=(2, 200))
    >>> X = np.column_stack([signal, other, np.exp(signal), -signal + 0.1 * rng.normal(size=200)])
    >>> found = om.redundancy([0.3, 0.1, 0.2, 0.4], X)
    >>> [str(group) for group in found.groups]
    ['x3 stands also for: x0, x2', 'x1']
    >>> found.summary
    '4 features form 2 groups (association of at least 0.9); redundant: 2'
    """
    check("threshold", threshold, number(above=0, most=1))
    check("top", top, count(1))
    check("max_examples", max_examples, count(2))
    if is_ranker(ranking) and not hasattr(ranking, "ranking_"):
        ranker, X = ranker_and_data(ranking, X, y)
        ranking = ranker.fit(X)
    data = X if isinstance(X, Dataset | ShardedDataset) else Dataset(X)
    ordered = ranking_for(ranking, data.feature_names)
    compared = ordered.order[:top]
    pairs = associated_pairs(_part(data, compared, max_examples), threshold, n_jobs)
    groups = leader_groups(len(compared), pairs)
    names = [ordered.names[i] for i in compared.tolist()]
    scores = ordered.scores[compared]
    feature_groups = []
    for leader, led in groups.items():
        score = float(scores[[leader, *led]].sum())
        feature_groups.append(FeatureGroup(names[leader], tuple(names[i] for i in led), tuple(led.values()), score))
    return Redundancy(tuple(feature_groups), float(threshold), len(ordered))


def _part(data: Dataset | ShardedDataset, columns: np.ndarray, max_examples: int) -> Table:
    """The features that are compared, of so many examples; what leaves out more is done first."""
    n = data.n_examples
    if n <= max_examples:
        return in_memory(data).features.select(columns)
    rows = np.sort(stream(0, _EXAMPLES_KEY).permutation(n)[:max_examples])
    if isinstance(data, ShardedDataset) or max_examples * data.n_features < n * len(columns):
        return data.take(rows).features.select(columns)
    return data.features.select(columns).take(rows)


def leader_groups(n: int, pairs: Pairs) -> dict[int, dict[int, float]]:
    """Return for each leader the others of its group with their association; the first of all are leaders first.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.redundancy import Pairs
    >>> from omnirank.evaluation.redundancy import leader_groups
    >>> leader_groups(4, Pairs(np.array([0, 1, 1]), np.array([1, 2, 3]), np.array([0.9, 0.95, 1.0])))
    {0: {1: 0.9}, 2: {}, 3: {}}
    """
    starts = np.searchsorted(pairs.first, np.arange(n + 1))
    led = np.zeros(n, bool)
    groups: dict[int, dict[int, float]] = {}
    for leader in range(n):
        if led[leader]:
            continue
        own = slice(starts[leader], starts[leader + 1])
        associated = zip(pairs.second[own].tolist(), pairs.values[own].tolist(), strict=True)
        groups[leader] = {i: value for i, value in associated if not led[i]}
        led[list(groups[leader])] = True
    return groups


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
    >>> from omnirank.evaluation.redundancy import associated_pairs
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
