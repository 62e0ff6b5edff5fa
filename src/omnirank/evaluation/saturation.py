"""How many trees or iterations are enough: the rankings of one fit's beginnings, judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from omnirank.core.errors import ParameterError
from omnirank.core.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.evaluation.curves import Curve
from omnirank.evaluation.evaluate import evaluate
from omnirank.tasks.measuring import measure_of


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
    >>> from omnirank.evaluation.saturation import saturation_rankings
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
    >>> from omnirank.evaluation.saturation import saturation_curve
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
    >>> from omnirank.evaluation.saturation import saturation_size
    >>> saturation_size(Curve([1, 10, 50, 100], [0.5, 0.9, 0.7, 0.895], "f1_macro", "trees", True))
    100
    """
    best = curve.values[curve.best]
    worse = (best - curve.values) if curve.larger_is_better else (curve.values - best)
    good = worse <= tolerance * abs(best)
    bad = np.flatnonzero(~good)
    first = bad[-1] + 1 if len(bad) else 0
    return int(curve.positions[first if first < len(good) else curve.best])
