"""How many features to keep: `omnirank.select`, and what ``n_features_to_select="auto"`` of rankers does."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.immutable import which_names
from omnirank.core.parameters import check, choice, count, listed
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.text import Shown, counted, with_error
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.notes import of_one_value
from omnirank.ensembles.pct import PCTForestClassifier, PCTForestRegressor
from omnirank.ensembles.predictor import ONE_VALUE
from omnirank.evaluation.cross import FoldParts, judge, over_folds
from omnirank.evaluation.evaluate import candidate_count, measured_constant
from omnirank.evaluation.folds import Fold, labelled_folds, splitter_folds
from omnirank.evaluation.redundancy import Redundancy
from omnirank.evaluation.redundancy import redundancy as feature_groups
from omnirank.evaluation.significance import significance
from omnirank.neighbors.weighted import warn_of_many_neighbors
from omnirank.rankers.refits import (
    check_ranker,
    fresh_copy,
    ranker_and_data,
    ranking_of_part,
    run_refits,
    seeded,
    with_settings,
)
from omnirank.relational.dataset import RelationalDataset
from omnirank.shards.dataset import ShardedDataset, check_given
from omnirank.tasks import get_task
from omnirank.tasks.measuring import measure_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


SELECTED_BY = ("neighbors", "forest", "significance")
_JUDGES = ("neighbors", "forest")
_FEWEST = 6
_MOST_FOLDS = 10
_FEWEST_FOLDS = 3
# Labelled examples that a fold should have: measures of fewer say little.
_IN_FOLD = 5
_TREES = 50
# Keeps the stream that deals folds apart from those of trees.
_FOLDS_KEY = 2**31 + 2
# A mean that is worse by exactly one standard error is within it, however it was rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class SelectionCurve(Shown):
    """Cross-validated performance over the number of top features.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of top features, increasing.
    values : array-like of shape (n_folds, n_sizes)
        The measure in each fold; NaN where it is not defined.
    measure : str
        Name of the measure.
    larger_is_better : bool
        Its direction.
    judged_by : str
        Who predicts: "neighbors" or "forest".
    constant : array-like of shape (n_folds,), optional
        The measure of a prediction that is the same for all examples.

    Examples
    --------
    >>> from omnirank.evaluation.selection import SelectionCurve
    >>> folds = [[0.5, 0.89, 0.9], [0.6, 0.8, 0.9], [0.7, 0.95, 0.9]]
    >>> curve = SelectionCurve([1, 2, 4], folds, "accuracy", True, "neighbors")
    >>> curve.best_size, curve.chosen_size
    (4, 4)
    >>> folds[2][1] = 1.0
    >>> curve = SelectionCurve([1, 2, 4], folds, "accuracy", True, "neighbors")
    >>> curve.means.round(3).tolist(), curve.standard_errors.round(3).tolist()
    ([0.6, 0.897, 0.9], [0.058, 0.058, 0.0])
    """

    sizes: np.ndarray
    values: np.ndarray
    measure: str
    larger_is_better: bool
    judged_by: str
    constant: ArrayLike | None = None

    def __post_init__(self) -> None:
        sizes = np.array(self.sizes, dtype=np.int64)
        values = np.array(self.values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1:] != sizes.shape or (np.diff(sizes) <= 0).any():
            raise DataError("a selection curve has a column of values for each of its sizes, which increase")
        if np.isnan(values).all():
            raise DataError(f"{self.measure!r} is not defined in any fold: use fewer folds or another measure")
        for name, array in (("sizes", sizes), ("values", values)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.values)

    @property
    def means(self) -> np.ndarray:
        """Mean of the measure over the folds in which it is defined, for each size."""
        return over_folds(self.values)[0]

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard error of each mean; 0 where only one fold is defined."""
        return over_folds(self.values)[1]

    @property
    def best_size(self) -> int:
        """The size with the best mean, the smallest of equals."""
        return int(self.sizes[self._best])

    @property
    def limit(self) -> float:
        """The mean of the best size, worse by one standard error: what a size must reach to be chosen."""
        error = self.standard_errors[self._best]
        return float(self.means[self._best] + (-error if self.larger_is_better else error))

    @property
    def chosen_size(self) -> int:
        """The smallest size whose mean is within one standard error of the best."""
        needed = self.limit if self.larger_is_better else -self.limit
        return int(self.sizes[np.argmax(self._gains >= needed - _ROUNDING * abs(self.means[self._best]))])

    @property
    def beats_constant(self) -> bool:
        """Whether the best mean is better than that of a constant prediction; true if the latter is not known."""
        return not self._gains[self._best] <= (self.constant_mean if self.larger_is_better else -self.constant_mean)

    @property
    def constant_mean(self) -> float:
        """Mean of the measure of the constant prediction; NaN where it is not known."""
        return np.nan if self.constant is None else float(over_folds(np.asarray(self.constant)[:, None])[0][0])

    @property
    def _gains(self) -> np.ndarray:
        """Means, larger for better; undefined ones are never chosen."""
        means = self.means
        return np.where(np.isnan(means), -np.inf, means if self.larger_is_better else -means)

    @property
    def _best(self) -> int:
        return int(np.argmax(self._gains))

    @property
    def summary(self) -> str:
        """The choice in words.

        Examples
        --------
        >>> from omnirank.evaluation.selection import SelectionCurve
        >>> SelectionCurve([1, 2, 4], [[0.5, 0.8, 0.9], [0.5, 0.9, 0.8]], "accuracy", True, "neighbors").summary
        'the top 2 features of 4 suffice: accuracy 0.850 ± 0.050, the best of all sizes (2 folds, by neighbours)'
        """
        from omnirank.tasks.measuring import MEASURES

        title = MEASURES[self.measure].title if self.measure in MEASURES else self.measure
        chosen, best = (int(np.searchsorted(self.sizes, size)) for size in (self.chosen_size, self.best_size))
        by = "neighbours" if self.judged_by == "neighbors" else self.judged_by
        n = int(self.sizes[-1])
        which = "the best feature" if self.chosen_size == 1 else f"the top {counted(self.chosen_size, 'feature')}"
        said = f"{which} of {n} {'suffices' if self.chosen_size == 1 else 'suffice'}"
        if self.chosen_size == n > 1:
            said = f"all {n} features are needed, no smaller number that was tried is as good"
        reached = f"{title} {self._shown(chosen)}"
        best_value = f"{self._shown(best)} with {self.best_size}"
        compared = "the best of all sizes" if chosen == best else f"the best is {best_value}"
        if not self.beats_constant:
            said = f"no number of the {n} features predicts better than a constant"
            reached, compared = f"{title} {best_value}", f"a constant {self.constant_mean:.3f}"
        return f"{said}: {reached}, {compared} ({self.n_folds} folds, by {by})"

    def _shown(self, i: int) -> str:
        return with_error(float(self.means[i]), float(self.standard_errors[i]))

    def to_frame(self) -> pd.DataFrame:
        """Return a table: size, mean, standard_error, and whether a size is the best one or the chosen one."""
        import pandas as pd

        return pd.DataFrame(
            {
                "size": self.sizes,
                "mean": self.means,
                "standard_error": self.standard_errors,
                "best": self.sizes == self.best_size,
                "chosen": self.sizes == self.chosen_size,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve; see `omnirank.plots.plot_selection`."""
        from omnirank.plots.curves import plot_selection

        return plot_selection(self, ax=ax)


def selection_sizes(n_features: int) -> list[int]:
    """Return the sizes that are tried: powers of the square root of 2, rounded, and all features.

    Examples
    --------
    >>> from omnirank.evaluation.selection import selection_sizes
    >>> selection_sizes(20)
    [1, 2, 3, 4, 6, 8, 11, 16, 20]
    """
    powers = {round(2 ** (i / 2)) for i in range(2 * n_features.bit_length())}
    return sorted({size for size in powers if size < n_features} | {n_features})


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Shown):
    """The features to keep.

    Parameters
    ----------
    ranking : Ranking
        Of all examples.
    names : tuple of str
        The features that are kept, best first.
    by : str
        How they were chosen: "neighbors", "forest" or "significance".
    curve : SelectionCurve or None
        Performance over the number of features; None where significance chose.
    redundancy : Redundancy or None
        Groups of features that stand for each other, where only one of each is kept.
    """

    ranking: Ranking
    names: tuple[str, ...]
    by: str
    curve: SelectionCurve | None = None
    redundancy: Redundancy | None = None

    @property
    def mask(self) -> np.ndarray:
        """Which features are kept: one bool per feature, in the order of the data."""
        return which_names(self.ranking.names, self.names)

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        return f"<Selection of {counted(len(self.names), 'feature')} of {len(self.ranking)} by {self.by}>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw performance over the number of features; of significant ones, their scores."""
        return self.ranking.plot(ax=ax) if self.curve is None else self.curve.plot(ax=ax)

    @property
    def stands_for(self) -> dict[str, tuple[str, ...]]:
        """The features that each kept one stands for, where redundant ones were left out."""
        groups = () if self.redundancy is None else self.redundancy.groups
        members = {group.representative: group.others for group in groups if group.others}
        return {name: members[name] for name in self.names if name in members}

    @property
    def summary(self) -> str:
        """The choice in words."""
        if self.curve is not None:
            return self.curve.summary
        n = len(self.names)
        return f"{n} of {len(self.ranking)} features {'is' if n == 1 else 'are'} significant"

    def apply(self, X: Any) -> Any:
        """Return a data set, a table of pandas or polars, or an array with the kept features only, in its own order."""
        is_dataset = hasattr(X, "select_features")
        if not is_dataset and not hasattr(X, "columns"):
            return X[:, self.mask]
        kept = [name for name in (X.feature_names if is_dataset else X.columns) if name in set(self.names)]
        return X.select_features(kept) if is_dataset else X[kept]


def select(
    ranker: BaseEstimator,
    X: FeaturesLike | ShardedDataset,
    y: TargetLike | None = None,
    *,
    by: str = "neighbors",
    redundancy: float | None = None,
    sizes: Sequence[int] | None = None,
    measure: str | None = None,
    n_neighbors: int | None = None,
    n_folds: int | None = None,
    cv: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    alpha: float = 0.05,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Selection:
    """Rank the features and choose how many of them to keep.

    The labelled examples are dealt into folds. For each fold the features are ranked anew from the other examples
    (labelled or not), and predictors that see only the first 1, 2, 3, 4, 6, 8, 11, ... of that ranking predict the
    examples of the fold. The smallest number that is within one standard error of the best one is then taken from the
    ranking of all examples [1]_. No example that judges has been ranked with.

    Parameters
    ----------
    ranker : ranker
        Not fitted; copies of it are.
    X, y
        A `Dataset`, data in parts, or features and target as in ``fit``. Of data that do not fit in memory, features
        are chosen by significance only. A `RelationalDataset` with a `RelationalRanker`: relations are kept, judged by
        `RelationalForest` or by neighbours in a distance over relations.
    by : {"neighbors", "forest", "significance"}
        Who judges a number of features: the nearest neighbours, with equal weights of the features that are kept; or a
        random forest of 50 predictive clustering trees. "significance": keep the features whose p value is small;
        nothing is judged.
    redundancy : float, optional
        Features with at least this association (0.9, say) form a group, of which only the best one can be kept, see
        `omnirank.redundancy`. Groups are found anew in every fold, from its training examples.
    sizes : sequence of int, optional
        Numbers of features that are tried; by default powers of the square root of 2, and all.
    measure : str, optional
        What is measured; by default the primary measure of the task, without target the RRMSE of all features.
    n_neighbors : int, optional
        By default that of the task (as in `omnirank.evaluate`), but at most the square root of the number of labelled
        examples.
    n_folds : int, optional
        By default 10, or fewer where folds would have fewer than 5 labelled examples, but at least 3.
    cv : splitter of scikit-learn or iterable of (train, test), optional
        Divides the labelled examples instead of ``n_folds``; unlabelled ones train in every fold.
    sample_weight : array-like of shape (n_examples,), optional
        Weights of the examples in the rankings; all examples count equally where predictions are judged.
    groups : array-like of shape (n_examples,), optional
        Groups of examples that stay in one fold, as in :meth:`Dataset.with_groups`: repeated measurements.
    alpha : float
        Level of significance, with multiplicity corrected.
    random_state : None, int, RandomState or Generator
        Seed of the folds and forests; None: that of the ranker.
    n_jobs : int or None
        Number of workers; None: that of the ranker.

    Returns
    -------
    Selection
        The ranking of all examples, the names of the features to keep, and the curve.

    Notes
    -----
    Without target the features that are kept have to predict all features. Where features are independent of each
    other, none can be left out without loss, and all or nearly all are kept.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone: Classification and Regression Trees (1984), section 3.4.3.

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_regression(300, n_relevant=3, n_irrelevant=12, random_state=0)
    >>> chosen = om.select(om.UnivariateRanker(), data, random_state=0)
    >>> set(chosen.names) == {name for name, matters in zip(data.feature_names, truth.relevant) if matters}
    True
    >>> chosen.apply(data)
    <Dataset 'regression': 300 examples, 3 features, regression, 1 target, 300 labelled>
    """
    check("by", by, choice(*SELECTED_BY))
    if isinstance(X, ShardedDataset) and not X.fits_in_memory:
        check_ranker(ranker)
        check_given(ranker, X, y, None)
        if by != "significance":
            raise DataError(f"{setting('by', by)}: {X.why_not_in_memory}; or choose {setting('by', 'significance')}")
        dataset, weights = X, None
    else:
        ranker, dataset = ranker_and_data(ranker, X, y, groups, sample_weight, relational=True)
        random_state = seeded(ranker, random_state)
        weights = None if sample_weight is None else check_sample_weight(sample_weight, dataset.n_examples)
    if isinstance(dataset, RelationalDataset):
        check("by", by, choice(*_JUDGES))
    shared: dict[str, Any] = {"sample_weight": weights, "random_state": random_state, "n_jobs": n_jobs}
    curve = None
    if by == "significance":
        ranking = significance(ranker, dataset, **shared)
        names = ranking.relevant(alpha)
    else:
        assert not isinstance(dataset, ShardedDataset)
        judging: dict[str, Any] = {"by": by, "sizes": sizes, "measure": measure, "n_neighbors": n_neighbors}
        curve = selection_curve(ranker, dataset, n_folds=n_folds, cv=cv, redundancy=redundancy, **judging, **shared)
        if n_jobs is not None:
            with_settings(ranker, n_jobs=n_jobs)
        ranking = ranker.fit(dataset, **({} if weights is None else {"sample_weight": weights})).ranking_
        names = [name for name in ranking.top(len(ranking)) if name not in set(ranking.constant)]
    found = None
    if redundancy is not None:
        found = feature_groups(ranking, dataset, threshold=redundancy, n_jobs=n_jobs)
        left_out = set(found.redundant)
        names = [name for name in names if name not in left_out]
    return Selection(ranking, tuple(names if curve is None else names[: curve.chosen_size]), by, curve, found)


def selection_curve(
    ranker: Any,
    dataset: Dataset,
    *,
    by: str = "neighbors",
    sizes: Sequence[int] | None = None,
    measure: str | None = None,
    n_neighbors: int | None = None,
    n_folds: int | None = None,
    cv: Any = None,
    redundancy: float | None = None,
    sample_weight: np.ndarray | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> SelectionCurve:
    """Return how well the top features predict examples that the ranking has not seen, by their number.

    Parameters
    ----------
    ranker : ranker
        Copies of it rank the training parts.
    dataset : Dataset
        The data.
    by, sizes, measure, n_neighbors, n_folds, cv, redundancy, sample_weight, random_state, n_jobs
        As in `select`.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.selection import selection_curve
    >>> curve = selection_curve(om.UnivariateRanker(), om.datasets.load_sample("iris"), random_state=0)
    >>> curve.sizes.tolist(), curve.n_folds, curve.measure
    ([1, 2, 3, 4], 10, 'f1_macro')
    """
    check("by", by, choice(*_JUDGES))
    if isinstance(dataset, RelationalDataset):
        dataset.require_target("select")
        if redundancy is not None:
            raise ParameterError("redundancy", redundancy, "it is for the features of one table")
    check("n_folds", n_folds, choice(None) | count(2))
    check("n_neighbors", n_neighbors, choice(None) | count(1))
    without = dataset.target is None
    if without and by == "forest":
        raise ParameterError("by", by, "without target there is nothing for a forest to predict; neighbours can")
    n_judged, kind = candidate_count(dataset, "labelled")
    folds = [] if cv is None else splitter_folds(dataset, cv)
    n_folds = len(folds) or n_folds or min(_MOST_FOLDS, max(_FEWEST_FOLDS, n_judged // _IN_FOLD))
    if n_judged < max(_FEWEST, n_folds):
        raise DataError(
            f"how many features suffice is judged on at least {max(_FEWEST, n_folds)} {kind}examples, there are "
            f"{n_judged}: say how many to keep"
        )
    k = n_neighbors or min(get_task(dataset.task).default_neighbors, max(1, math.isqrt(n_judged)))
    # the errors of features have to be comparable where the features have different units
    shown = measure_of(dataset.task, "rrmse" if without and measure is None else measure)
    entropy = root_entropy(getattr(ranker, "random_state", None) if random_state is None else random_state)
    tried = _tried_sizes(dataset, sizes)
    folds = folds or labelled_folds(dataset, n_folds, stream(entropy, _FOLDS_KEY))
    if by == "neighbors":
        warn_of_many_neighbors(k, n_judged - max(len(fold.test) for fold in folds), kind)
    judged = _Judged(dataset, by, tried, shown.name, int(k), entropy, sample_weight, redundancy)
    with warnings.catch_warnings():
        # a fold can lose a class that is rare in the whole: its forest predicts the other one, as it should
        for told in (re.escape(ONE_VALUE), "there is nothing to test"):
            warnings.filterwarnings("ignore", f".*{told}", UserWarning)
        values = run_refits(judged, ranker, folds, n_jobs, "judging numbers of features")
    *of_sizes, constant = np.transpose(values)
    return SelectionCurve(np.array(tried), np.transpose(of_sizes), shown.name, shown.larger_is_better, by, constant)


def _tried_sizes(dataset: Dataset, sizes: Sequence[int] | None) -> list[int]:
    n = len(dataset.feature_names)
    if sizes is not None:
        check("sizes", sizes, listed(count(1, n, "features"), different=True))
        return sorted(int(size) for size in sizes)
    # features with one value come last, and tell nothing
    n_idle = 0 if isinstance(dataset, RelationalDataset) else len(list(of_one_value(dataset.features)))
    return selection_sizes(max(1, n - n_idle))


def chosen_features(
    ranker: Any, dataset: Dataset | ShardedDataset, wanted: str, sample_weight: np.ndarray | None = None
) -> tuple[np.ndarray, SelectionCurve | None]:
    """Return the mask of the features that a fitted ranker keeps, and the curve by which their number was chosen.

    Parameters
    ----------
    ranker : ranker
        Fitted to the data.
    dataset : Dataset or ShardedDataset
        The data; in parts only where all significant features are wanted.
    wanted : {"auto", "forest", "significant"}
        Its ``n_features_to_select``.
    sample_weight : ndarray, optional
        Weights of the examples.
    """
    fresh = fresh_copy(ranker)
    if wanted == "significant":
        ranking = significance(fresh, dataset, sample_weight=sample_weight)
        names = ranking.relevant()
        if not names:
            warnings.warn("no feature is significant: the best one is kept", UserWarning, stacklevel=5)
        return which_names(ranking.names, names or ranking.top(1)), None
    assert isinstance(dataset, Dataset)
    by = "neighbors" if wanted == "auto" else wanted
    curve = selection_curve(fresh, dataset, by=by, sample_weight=sample_weight)
    return ranker.ranking_.select(curve.chosen_size), curve


@dataclass(frozen=True, eq=False)
class _Judged:
    """Measures, on the test part of a fold, each number of top features of the training part, and a constant."""

    dataset: Dataset
    by: str
    sizes: Sequence[int]
    measure: str
    n_neighbors: int
    entropy: int
    sample_weight: np.ndarray | None
    redundancy: float | None = None

    def __call__(self, ranker: Any, fold: Fold) -> list[float]:
        parts = FoldParts.of(fold, self.dataset)
        weights = {} if self.sample_weight is None else {"sample_weight": self.sample_weight[fold.train]}
        ranking = ranking_of_part(clone(ranker), parts.train, self.dataset, **weights)
        n_jobs = ranker.get_params(deep=False).get("n_jobs")
        most = len(ranking)
        if self.redundancy is not None:  # the features that others stand for come last, and are never taken
            groups = feature_groups(ranking, parts.train, threshold=self.redundancy, n_jobs=n_jobs)
            left_out = set(groups.redundant)
            names = [name for name in ranking.top(most) if name not in left_out]
            most, last = len(names), dict.fromkeys(ranking.names, 0)
            places = last | {name: most - i for i, name in enumerate(names)}
            scores = np.array([places[name] for name in ranking.names], np.float64)
            ranking = Ranking(ranking.names, scores, ranking.method)  # places: no sums, errors or p values fit them
        measures = [self._measures(ranking, min(size, most), parts, n_jobs) for size in self.sizes]
        return [float(own[self.measure]) for own in (*measures, measured_constant(parts.train, parts.test))]

    def _measures(self, ranking: Ranking, size: int, parts: FoldParts, n_jobs: int | None) -> Mapping[str, float]:
        kept, relational = ranking.ranks <= size, isinstance(self.dataset, RelationalDataset)
        if self.by == "forest":
            own = FoldParts(*(part.select_features(np.flatnonzero(kept)) for part in parts))
            forest = self._forest(relational)(n_trees=_TREES, supervision=1.0, n_jobs=n_jobs, random_state=self.entropy)
            return judge(forest.fit(own.train), own, {})
        if relational:
            from omnirank.evaluation.relational import RelationalNeighbors

            alike = Ranking(ranking.names, kept.astype(np.float64), ranking.method)
            return judge(RelationalNeighbors(alike, parts.train, self.n_neighbors), parts, {})
        # weights would hide how many features there are
        same = {"n_neighbors": self.n_neighbors, "top": size, "weighted": False, "scaled": True, "n_jobs": n_jobs}
        return judge(ranking, parts, same)

    def _forest(self, relational: bool) -> Any:
        from omnirank.relational.learners import RelationalForest

        if relational:
            return RelationalForest
        predicts_classes = get_task(self.dataset.task).kind in ("classes", "labels")
        return PCTForestClassifier if predicts_classes else PCTForestRegressor
