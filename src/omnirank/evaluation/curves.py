"""Curves of performance: over labelled examples, over top features, over trees or iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.immutable import frozen_floats
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike
from omnirank.data.dataset import Dataset
from omnirank.evaluation.alignment import RankingLike, ranking_of_data
from omnirank.evaluation.cross import FoldResults
from omnirank.evaluation.evaluate import evaluate
from omnirank.tasks.measuring import MEASURES, measure_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Curve:
    """Performance at several positions.

    Parameters
    ----------
    positions : ndarray
        Where: numbers of labelled examples, features, trees or iterations, increasing.
    values : ndarray
        The measure there.
    measure : str
        Name of the measure.
    axis : str
        What the positions count.
    larger_is_better : bool
        Direction of the measure.
    name : str
        Name of the curve in plots.

    Examples
    --------
    >>> from omnirank.evaluation.curves import Curve
    >>> curve = Curve([50, 100, 500], [0.5, 0.75, 1.0], "f1_macro", "labelled examples", True)
    >>> curve.area
    0.75
    """

    positions: np.ndarray
    values: np.ndarray
    measure: str
    axis: str
    larger_is_better: bool
    name: str = ""

    def __post_init__(self) -> None:
        positions = np.asarray(self.positions)
        values = np.array(self.values, np.float64)
        if positions.ndim != 1 or not len(positions) or values.shape != positions.shape:
            raise DataError(f"a curve has one value per position, not {values.shape} for {positions.shape}")
        if (np.diff(positions) <= 0).any():
            raise DataError("the positions of a curve must increase")
        object.__setattr__(self, "positions", frozen_floats(positions, "positions"))
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def area(self) -> float:
        """Mean height by the trapezoidal rule, positions taken as equally far apart: few labels weigh more."""
        return curve_area(self.values)

    @property
    def best(self) -> int:
        """Index of the best value, the first of equals."""
        return int(np.nanargmax(self.values if self.larger_is_better else -self.values))

    def better_by(self, other: Curve) -> float:
        """Return by how much the area of this curve is better than that of another; above 0 where it is."""
        if not np.array_equal(self.positions, other.positions) or self.measure != other.measure:
            raise DataError("curves are compared by the same measure at the same positions")
        return self.area - other.area if self.larger_is_better else other.area - self.area

    def to_frame(self) -> pd.DataFrame:
        """Return a table of positions and values."""
        import pandas as pd

        return pd.DataFrame({self.axis: self.positions, self.measure: self.values})


def label_curve(results: FoldResults, measure: str, n_neighbors: int | None = None, name: str = "") -> Curve:
    """Return the curve of a measure over the number of labelled training examples.

    Parameters
    ----------
    results : FoldResults
        Of a fold scheme that hides labels.
    measure : str
        The measure.
    n_neighbors : int, optional
        Which number of neighbours, where there are several.
    name : str
        Name of the curve.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.curves import label_curve
    >>> from omnirank.evaluation.folds import make_folds
    >>> from omnirank.evaluation.cross import evaluate_folds
    >>> data = om.datasets.load_sample("digits")
    >>> folds = make_folds(data, "semi-supervised", labelled=[50, 200], n_folds=3, random_state=0)
    >>> results = evaluate_folds(om.UnivariateRanker(), data, folds, n_neighbors=5)
    >>> curve = label_curve(results, "f1_macro")
    >>> curve.positions.tolist(), bool(curve.values[0] < curve.values[1])
    ([50.0, 200.0], True)
    """
    table = results.summary
    counts = table["n_neighbors"].unique().tolist()
    if n_neighbors not in (None, *counts) or (n_neighbors is None and len(counts) > 1):
        raise ParameterError(
            "n_neighbors", n_neighbors, f"there are results for {', '.join(map(str, counts))}: give one"
        )
    if measure not in table.columns:
        raise ParameterError("measure", measure, "it was not measured")
    if table["n_labelled"].isna().any():
        raise DataError("these folds hide no labels: there is no curve over numbers of labelled examples")
    part = table[table["n_neighbors"] == (counts[0] if n_neighbors is None else n_neighbors)].sort_values("n_labelled")
    return Curve(
        part["n_labelled"].to_numpy(),
        part[measure].to_numpy(),
        measure,
        "labelled examples",
        MEASURES[measure].larger_is_better,
        name,
    )


def top_sizes(n_features: int) -> list[int]:
    """Return the sizes at which top features are judged: the powers of 2 up to the number of features, and that.

    Examples
    --------
    >>> from omnirank.evaluation.curves import top_sizes
    >>> top_sizes(10)
    [1, 2, 4, 8, 10]
    """
    return sorted({2**i for i in range(n_features.bit_length()) if 2**i <= n_features} | {n_features})


def top_curve(
    ranking: RankingLike,
    train: Dataset,
    test: Dataset,
    n_neighbors: int | None = None,
    *,
    sizes: Sequence[int] | None = None,
    measure: str | None = None,
    weighted: bool = False,
    name: str = "",
    **options: Any,
) -> Curve:
    """Return the curve of a measure over the number of top features that are kept.

    Parameters
    ----------
    ranking, train, test, n_neighbors
        As in `omnirank.evaluate`.
    sizes : sequence of int, optional
        Numbers of features; by default 1, 2, 4, ... and all.
    measure : str, optional
        By default the task's primary measure.
    weighted : bool
        Whether scores also weigh the features that are kept. Without weights the last point, at all features, is the
        same for all rankings.
    name : str
        Name of the curve.
    **options
        Further parameters of `omnirank.evaluate`.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.curves import top_curve
    >>> train, test = om.datasets.load_sample("digits").split(0.5, random_state=0)
    >>> curve = top_curve(om.UnivariateRanker().fit(train), train, test)
    >>> curve.positions.tolist()
    [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    """
    shown = measure_of(train.task, measure)
    chosen = ranking_of_data(ranking, train)
    places = top_sizes(len(chosen)) if sizes is None else sorted({int(size) for size in sizes})
    found = [evaluate(chosen, train, test, n_neighbors, top=k, weighted=weighted, **options) for k in places]
    values = np.array([one[shown.name] for one in found])
    name = name or chosen.method
    return Curve(np.array(places), values, shown.name, "top features", shown.larger_is_better, name)


def saturation_rankings(ranker: Any, train: Dataset, sizes: Sequence[int | float]) -> dict[int, Ranking]:
    """Return the rankings after some numbers of trees or iterations, all from one fit.

    Parameters
    ----------
    ranker : EnsembleRanker or ReliefRanker
        Not fitted; its own number of trees or iterations is not used.
    train : Dataset
        The training data.
    sizes : sequence of int (or share of the examples, for iterations)
        Numbers of trees or iterations.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.curves import saturation_rankings
    >>> data = om.datasets.load_sample("linnerud")
    >>> found = saturation_rankings(om.EnsembleRanker(random_state=0), data, [5, 10])
    >>> {size: ranking.names for size, ranking in found.items()} == {5: data.feature_names, 10: data.feature_names}
    True
    """
    places = sorted(set(sizes))
    if not places:
        raise ParameterError("give at least one number of trees or iterations")
    counted = getattr(ranker, "replicates", None)
    if counted is None:
        raise ParameterError(
            f"{type(ranker).__name__} has neither trees nor iterations to count: give an EnsembleRanker or a "
            "ReliefRanker"
        )
    fitted = clone(ranker).with_several(**{counted: places}).fit(train)
    rankings = [fitted.ranking_at(**{counted: size}) for size in places]
    found = {ranking.parameters[counted]: ranking for ranking in rankings}  # shares and counts may be the same
    return {size: found[size] for size in sorted(found)}


def saturation_curve(
    ranker: Any,
    train: Dataset,
    test: Dataset,
    sizes: Sequence[int | float],
    n_neighbors: int | None = None,
    *,
    measure: str | None = None,
    name: str = "",
    **options: Any,
) -> Curve:
    """Return the curve of a measure over the number of trees or iterations.

    Parameters
    ----------
    ranker, train, sizes
        As in `saturation_rankings`.
    test, n_neighbors
        As in `omnirank.evaluate`.
    measure : str, optional
        By default the task's primary measure.
    name : str
        Name of the curve.
    **options
        Further parameters of `omnirank.evaluate`.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.curves import saturation_curve
    >>> train, test = om.datasets.load_sample("digits").split(0.5, random_state=0)
    >>> curve = saturation_curve(om.EnsembleRanker(random_state=0), train, test, [1, 5, 10])
    >>> curve.axis, curve.positions.tolist()
    ('trees', [1.0, 5.0, 10.0])
    """
    shown = measure_of(train.task, measure)
    rankings = saturation_rankings(ranker, train, sizes)
    values = [evaluate(ranking, train, test, n_neighbors, **options)[shown.name] for ranking in rankings.values()]
    axis = ranker.replicates.removeprefix("n_")
    return Curve(np.array(list(rankings)), np.array(values), shown.name, axis, shown.larger_is_better, name)


def saturation_size(curve: Curve, tolerance: float = 0.01) -> int:
    """Return the smallest position from which no value is worse than the best by more than a share of it.

    Over several data sets the statistics decide instead: the smallest size that does not differ from the best by a
    Friedman and Nemenyi test.

    Examples
    --------
    >>> from omnirank.evaluation.curves import Curve
    >>> from omnirank.evaluation.curves import saturation_size
    >>> saturation_size(Curve([1, 10, 50, 100], [0.5, 0.9, 0.7, 0.895], "f1_macro", "trees", True))
    100
    """
    best = curve.values[curve.best]
    worse = (best - curve.values) if curve.larger_is_better else (curve.values - best)
    good = worse <= tolerance * abs(best)
    bad = np.flatnonzero(~good)
    first = bad[-1] + 1 if len(bad) else 0
    return int(curve.positions[first if first < len(good) else curve.best])


def curve_area(values: ArrayLike) -> float:
    """Return the area under a curve, divided by its width: the mean height by the trapezoidal rule.

    Parameters
    ----------
    values : array-like
        Performance at each point, in order; points are equally far apart whatever the numbers of labelled examples
        are, so that few labels weigh more.

    Returns
    -------
    float
        The value itself for a single point.

    Examples
    --------
    Five numbers of labelled examples; the first and the last count half:

    >>> from omnirank.evaluation.curves import curve_area
    >>> curve_area([0.2, 0.4, 0.6, 0.6, 0.6])
    0.5
    """
    heights = np.asarray(values, dtype=np.float64)
    if heights.ndim != 1 or not len(heights):
        raise DataError(f"a curve is a list of at least one value, not an array of shape {heights.shape}")
    if len(heights) == 1:
        return float(heights[0])
    trapezoids = (heights[1:] + heights[:-1]) / 2
    return float(trapezoids.sum() / len(trapezoids))
