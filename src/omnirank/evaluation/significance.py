"""Which features are more than chance: p values for the scores of any ranker, `omnirank.significance`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.parallel import progress, run_parallel
from omnirank.core.parameters import JOBS, SEED, check, choice, count
from omnirank.core.ranking.certainty import COPIES_TEST
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import kernel_seed, root_entropy, stream
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.files import number_names
from omnirank.data.notes import share_remarks
from omnirank.data.table import Levels, Table
from omnirank.ensembles.supervision import check_feature_weights
from omnirank.evaluation.conditional import with_given_others
from omnirank.rankers.refits import check_ranker, ranker_and_data, seeded, with_settings
from omnirank.shards.dataset import ShardedDataset

# Copies of all features: the best of them is 1 / (25 D + 1), below 0.05 / D, so that one feature alone can be
# significant among D after any correction.
_ROUNDS = 25


def significance(
    ranker: BaseEstimator,
    X: FeaturesLike | ShardedDataset,
    y: TargetLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    method: str = "auto",
    n_rounds: int | str = "auto",
    given: str | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Rank the features with p values: how probable is such a score for a feature that tells nothing?

    The unbiased score of trees (``EnsembleRanker(importance="unbiased")``) has p values of its own, for which nothing
    is fitted twice. For any other ranker, whatever its scores are and for any target, each feature gets a permuted
    copy, and the ranker ranks features and copies together, several times: a feature is significant if its score stands
    out from those of its copies (`omnirank.evaluation.significance.copies_p_values` has the formula). With a target,
    and without one, the null is that a feature is independent of the target and of all other features. A feature that
    only goes along with a relevant one is not independent, and may be significant.

    Parameters
    ----------
    ranker : estimator
        Any ranker; it is not changed. Its parameters, such as the number of trees, are those of all fits.
    X, y
        A Dataset, data in parts, or features and target (None: without target), as in :meth:`BaseRanker.fit`. Data that
        do not fit in memory have p values of the ranker's own only.
    sample_weight : array-like of shape (n_examples,), optional
        Weights of the examples, for rankers that take them.
    groups : array-like of shape (n_examples,), optional
        Groups of examples that are not independent of each other, as in :meth:`Dataset.with_groups`: bootstraps draw
        whole groups, and values of copies are permuted by whole groups. None: examples that repeat are groups.
    method : {"auto", "analytic", "copies"}
        "analytic": the ranker's own p values, an error if it has none. "copies": permuted copies. "auto": the ranker's
        own where it has some.
    n_rounds : int or "auto"
        How often copies are made, at least 3; "auto" is 25. A round costs a fit of twice the features.
    given : {None, "others"}
        "others": also whether a feature tells anything of the target that the other features do not
        (`omnirank.evaluation.conditional` has the formula). ``p_given_others`` has these p values, the table two
        columns more: ``p_given_others`` and ``adds``, whether it is at most 0.05 after correction.
    random_state : None, int, RandomState or Generator
        Seed of the copies, and of the ranker in each round; None: that of the ranker.
    n_jobs : int or None
        Number of workers; changes no bit. None: that of the ranker.

    Returns
    -------
    Ranking
        The ranking of the ranker, with ``p_values`` and ``p_value_test``; `Ranking.relevant` names the significant
        features.

    References
    ----------
    Kursa, Rudnicki: Feature selection with the Boruta package. J. Statistical Software 36(11), 2010 (permuted copies
    beside the features). Altmann et al.: Permutation importance: a corrected feature importance measure.
    Bioinformatics 26(10), 2010 (a null for each feature).

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_friedman(200, random_state=0, shuffle=False)
    >>> trees = om.EnsembleRanker("unbiased", ensemble="extra-trees", random_state=0)
    >>> sorted(om.significance(trees, data).relevant())
    ['x1', 'x2', 'x3', 'x4', 'x5']
    >>> om.significance(om.UnivariateRanker(), data, random_state=0).relevant(correction="family-wise")
    ['x4', 'x2', 'x5', 'x1']
    """
    check("method", method, choice("auto", "analytic", "copies"))
    check("n_rounds", n_rounds, choice("auto") | count(3))
    check("given", given, choice(None, "others"))
    check("random_state", random_state, SEED)
    check("n_jobs", n_jobs, JOBS)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    if isinstance(X, ShardedDataset) and not X.fits_in_memory:
        check_ranker(ranker)
        for what, option in (("groups need", groups), (f"{setting('given', 'others')} needs", given)):
            if option is not None:
                raise DataError(f"{what} all examples in memory: {X.why_not_in_memory}")
        own = _own_p_values(clone(ranker), method, random_state, n_jobs)
        if own is None:
            raise DataError(
                f"permuted copies need all examples in memory: {X.why_not_in_memory}; or ask om.EnsembleRanker(), "
                "whose unbiased score has p values of its own"
            )
        found: Ranking = own.fit(X, y, **weights).ranking_
        return found
    ranker, dataset = ranker_and_data(ranker, X, y, groups, sample_weight)
    n_jobs = getattr(ranker, "n_jobs", None) if n_jobs is None else n_jobs
    own = _own_p_values(ranker, method, random_state, n_jobs)
    ranker = with_settings(ranker, n_jobs=n_jobs)
    random_state = seeded(ranker, random_state)
    seed = getattr(ranker, "random_state", None) if random_state is None else random_state
    ranking: Ranking = (clone(ranker) if own is None else own).fit(dataset, **weights).ranking_
    if own is None:
        n, half = _ROUNDS if n_rounds == "auto" else int(n_rounds), dataset.n_features
        one_round = _Round(ranker, dataset, root_entropy(seed), weights)
        rounds = np.array(run_parallel(one_round, range(n), n_jobs, description="ranking permuted copies"))
        p_values = copies_p_values(rounds[:, :half], rounds[:, half:], feature_kinds(dataset.features))
        ranking = replace(ranking, p_values=p_values, p_value_test=COPIES_TEST)
    return with_given_others(ranking, dataset, sample_weight, seed, n_jobs) if given else ranking


def _own_p_values(ranker: Any, method: str, random_state: RandomState, n_jobs: int | None) -> Any:
    """The ranker whose rankings have p values of their own, if that is asked for and possible; else None."""
    if method == "copies":
        return None
    own = ranker.with_p_values() if hasattr(ranker, "with_p_values") else None
    if own is None:
        if method == "analytic":
            advice = f"{type(ranker).__name__} has no p values of its own: choose 'copies'"
            raise ParameterError("method", method, advice)
        return None
    seeded(own, random_state)
    return own if n_jobs is None else with_settings(own, n_jobs=n_jobs)


@dataclass(frozen=True, eq=False)
class _Round:
    """Ranks the features beside a permuted copy of each; picklable."""

    ranker: Any
    dataset: Dataset
    entropy: int
    given: dict[str, Any]

    def __call__(self, i: int) -> np.ndarray:
        """Return the scores of the features, then those of their copies."""
        doubled = with_permuted_copies(self.dataset, stream(self.entropy, i))
        settings: dict[str, Any] = {"random_state": int(kernel_seed(self.entropy, i)), "n_jobs": 1}
        weights = check_feature_weights(getattr(self.ranker, "feature_weights", None), self.dataset)
        if weights is not None:
            settings["feature_weights"] = np.tile(np.maximum(weights, 0.0), 2)
        with progress(False):
            ranking = with_settings(clone(self.ranker), **settings).fit(doubled, **self.given).ranking_
        scores: np.ndarray = ranking.scores
        return scores


# Two scores are the same if they differ by less than this share of the larger: rounding.
_SAME = 1e-9
# Scores above this, or below its inverse, are divided before they are squared.
_LARGE = 1e100
# From this share of equal values on, a number is mostly one value.
_MOSTLY_ONE = 0.5
# Up to so many levels a nominal feature has few.
_FEW_LEVELS = 10
# A larger share of the rounds is not corrected for: what is left is the difference of two uncertain variances.
_MOST_OF_ROUNDS = 0.5


def with_permuted_copies(dataset: Dataset, rng: np.random.Generator) -> Dataset:
    """Return the data with a copy of each feature after them, its cells in a random order of their own.

    A copy has the values of its feature, missing ones included, and nothing to do with the target or any other feature.
    Where examples are grouped (`Dataset.groups`), a group gets the cells of another one, from the first on if it is
    larger: examples that repeat, repeat in the copy of the feature.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.evaluation.significance import with_permuted_copies
    >>> data = om.Dataset(np.arange(8.0).reshape(4, 2), feature_names=["a", "b"])
    >>> doubled = with_permuted_copies(data, np.random.default_rng(0))
    >>> doubled.feature_names, sorted(doubled.features.column(2).tolist())
    (('a', 'b', 'a (permuted)', 'b (permuted)'), [0.0, 2.0, 4.0, 6.0])
    """
    table = dataset.features
    names = number_names([*table.names, *(f"{name} (permuted)" for name in table.names)])
    levels, groups = table.levels * 2, dataset.groups
    if table.is_sparse:
        matrix = sparse.hstack([table.matrix, _permuted_cells(table.matrix, groups, rng)], format="csc")
        doubled = Table.from_sparse(matrix, names, levels)
    else:
        blocks = {"numeric": np.zeros_like(table.numeric), "codes": np.zeros_like(table.codes)}
        for nominal, slot in zip(table.is_nominal.tolist(), table.slots.tolist(), strict=True):
            block = "codes" if nominal else "numeric"
            cells = getattr(table, block)[:, slot]
            if groups is not None:
                blocks[block][:, slot] = cells[_rows_of_other_groups(groups, rng)]
                continue
            cells = cells[cells != 0]
            blocks[block][_new_rows(table.n_rows, len(cells), rng), slot] = cells
        numeric, codes = (np.hstack([getattr(table, block), copies]) for block, copies in blocks.items())
        doubled = replace(table, names=names, levels=levels, numeric=numeric, codes=codes)
    with_copies = Dataset(doubled, dataset.target, task=dataset.task, hierarchy=dataset.hierarchy, name=dataset.name)
    return share_remarks(with_copies, dataset).with_groups(np.arange(table.n_rows) if groups is None else groups)


def _permuted_cells(matrix: Any, groups: np.ndarray | None, rng: np.random.Generator) -> Any:
    """Columns of a sparse matrix with their cells in other rows: those that a dense table would have."""
    cells = sparse.csc_array(matrix, copy=True)
    cells.sum_duplicates()
    cells.eliminate_zeros()
    if groups is not None:
        columns = (cells[:, [f]].toarray()[_rows_of_other_groups(groups, rng)] for f in range(matrix.shape[1]))
        return sparse.hstack([sparse.csc_array(column) for column in columns], format="csc")
    ends = cells.indptr.tolist()
    drawn = [_new_rows(matrix.shape[0], ends[f + 1] - ends[f], rng) for f in range(matrix.shape[1])]
    permuted = sparse.csc_array((cells.data, np.concatenate(drawn), cells.indptr), shape=matrix.shape)
    permuted.sort_indices()
    return permuted


def _new_rows(n_rows: int, n_cells: int, rng: np.random.Generator) -> np.ndarray:
    """Rows for the cells of a column that are not 0, so that dense and sparse data have the same copies."""
    return rng.choice(n_rows, n_cells, replace=False)


def _rows_of_other_groups(groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each row, one whose cell it gets: groups change places, and larger ones repeat the cells of smaller ones."""
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(groups), np.int64)
    place[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
    other = rng.permutation(len(sizes))[groups]
    return np.asarray(order[starts[other] + place % sizes[other]])


def feature_kinds(table: Table) -> list[Hashable]:
    """Return the kind of each feature: features of one kind that tell nothing have scores of a similar distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.evaluation.significance import feature_kinds
    >>> feature_kinds(Table.from_numeric(np.array([[0.5, 1.0], [2.0, 0.0], [3.0, 1.0]])))
    ['numbers', 'two values']
    """
    return [_kind(table.column(f), levels) for f, levels in enumerate(table.levels)]


def _kind(cells: np.ndarray, levels: Levels | None) -> str:
    counts = np.unique(cells[~np.isnan(cells)] if cells.dtype.kind == "f" else cells[cells >= 0], return_counts=True)[1]
    if len(counts) <= 2:
        return "two values"
    if levels is not None:
        return "few levels" if len(counts) <= _FEW_LEVELS else "many levels"
    return "mostly one value" if counts.max() >= _MOSTLY_ONE * counts.sum() else "numbers"


def copies_p_values(scores: np.ndarray, copies: np.ndarray, kinds: list[Hashable]) -> np.ndarray:
    """Return the p value of each feature, against the scores of permuted copies.

    A feature's mean score over the R rounds is compared with the scores of its own copies in standard units,

        z_f = (mean of s_fr - mean of c_fr) / (k sd(c_fr)),

    so that features which win by chance more easily (many levels, say) have a null of their own. A copy has the unit of
    the other copies of its feature. The p value is (1 + number of copies with a larger or equal z) / (1 + number of
    copies), over the copies of all features of the same kind. Where no copy of the kind reaches z_f, copies of all
    kinds are counted, if that gives a smaller value: else few features of a kind could never be significant.

    The factor k: a mean over rounds varies less than the score of one copy in one round, which depends on trees and
    on the other copies as well. With rho the share of the copies' variance that comes from the round,
    k^2 = 1 - rho (1 - 1 / R). It is the sum of var(s_fr) over that of var(c_fr) for the features of the kind (of any
    kind where there are none) with scores below those of their copies, since others may be relevant and vary more for
    that reason. It is at most 0.5, so that p values are too large rather than too small where rounds differ much.

    Parameters
    ----------
    scores, copies : ndarray (rounds, features)
        Scores of the features and of their copies in each round.
    kinds : list
        Kind of each feature.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.significance import copies_p_values
    >>> copies = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [2.0, 2.0]])
    >>> scores = np.tile([9.0, 2.0], (4, 1))
    >>> copies_p_values(scores, copies, ["numbers", "numbers"]).round(2).tolist()
    [0.11, 0.78]
    """
    n = len(copies)
    unit = _units(scores, copies)
    scores, copies = scores / unit, copies / unit
    middle = copies.mean(axis=0)
    away = copies - middle
    squares = (away**2).sum(axis=0)
    means_without = (n * middle - copies) / (n - 1)
    variance = np.maximum(squares - n / (n - 1) * away**2, 0.0) / (n - 2)
    null = _in_units(copies, means_without, variance)
    own = _in_units(scores.mean(axis=0), middle, squares / (n - 1))
    of_rounds = scores.var(axis=0) * n
    p_values = np.empty(len(own))
    everywhere = np.sort(null.ravel())
    for kind in dict.fromkeys(kinds):
        here = np.array([k == kind for k in kinds])
        below = (own < 0) & here if ((own < 0) & here).any() else own < 0
        back = (unit[below] / unit[below].max(initial=1e-300)) ** 2
        total = back @ squares[below]
        rho = min(back @ of_rounds[below] / total, _MOST_OF_ROUNDS) if total > 0 else 0.0
        z = own[here] / np.sqrt(1 - rho * (1 - 1 / n))
        alike = np.sort(null[:, here].ravel())
        p = _share_above(z, alike)
        p_values[here] = np.where(z > alike[-1], np.minimum(p, _share_above(z, everywhere)), p)
    return p_values


def _units(scores: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """The power of two by which the scores of each feature are divided: 1, unless their squares are too large or small.

    The values z have no unit, and powers of two change no digit.
    """
    size = np.maximum(np.abs(scores).max(axis=0), np.abs(copies).max(axis=0))
    odd = (size > _LARGE) | ((size < 1 / _LARGE) & (size > 0))
    return np.where(odd, np.ldexp(1.0, np.frexp(size)[1] - 1), 1.0)


def _share_above(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """(1 + number of others that are larger or equal) / (1 + number of others)."""
    return (1 + len(ascending) - np.searchsorted(ascending, values, side="left")) / (1 + len(ascending))


def _in_units(values: np.ndarray, middle: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Distances from the middle in standard deviations; infinite where there is no deviation."""
    away = values - middle
    large = np.maximum(np.abs(values), np.abs(middle))
    away = np.where(np.abs(away) <= _SAME * large, 0.0, away)
    spread = np.sqrt(variance)
    spread = np.where(spread <= _SAME * large, 0.0, spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(away == 0, 0.0, away / spread)
