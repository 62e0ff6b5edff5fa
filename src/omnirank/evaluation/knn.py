"""What neighbours predict, for every task and several numbers of neighbours at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.parameters import check, choice
from omnirank.core.ranking import Ranking
from omnirank.core.variances import column_units
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.neighbors.mixed_distances import Ranges, feature_ranges
from omnirank.neighbors.ml_knn import ml_knn_probabilities, other_neighbors
from omnirank.neighbors.weighted_knn import neighbor_means, ranking_weights, weighted_neighbors
from omnirank.tasks import PrototypeColumns, get_task

NEIGHBOR_PREDICTORS = ("knn", "ml-knn")
NEIGHBORS = ("labelled", "oracle", "published")


def distance_weights(
    ranking: Ranking,
    features: Table,
    *,
    top: int | None = None,
    weighted: bool = True,
    scaled: bool = True,
    ranges: Ranges | None = None,
) -> np.ndarray:
    """Return the weight of each feature in the squared distance.

    Parameters
    ----------
    ranking : Ranking
        Of these features.
    features : Table
        The training features.
    top : int, optional
        Only that many of the best features count.
    weighted : bool
        Weights max(score, 0), 0 for constant features, all 1 where none is positive; otherwise all 1.
    scaled : bool
        Whether numbers are divided by their range in the training data.
    ranges : Ranges, optional
        These ranges, where they are not those of the table.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.data.table import Table
    >>> from omnirank.evaluation.knn import distance_weights
    >>> ranking = om.Ranking(["a", "b", "c"], [0.5, -1.0, 2.0], "genie3")
    >>> table = Table.from_numeric(np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 5.0]]), ranking.names)
    >>> distance_weights(ranking, table).tolist(), distance_weights(ranking, table, top=1, scaled=False).tolist()
    ([0.5, 0.0, 2.0], [0.0, 0.0, 32.0])
    """
    kept = ranking.ranks <= (len(ranking) if top is None else top)
    weights = np.zeros(len(ranking))
    weights[kept] = ranking_weights(ranking.order_scores[kept]) if weighted else 1.0
    if not scaled:
        span = np.nan_to_num((feature_ranges(features) if ranges is None else ranges).span)
        # the square of a huge range overflows, that of a tiny one vanishes; levels differ by 1
        largest = span.max(initial=float(features.is_nominal.any()))
        unit = column_units(np.array([[0.0], [largest]]))
        in_units = weights.copy()
        in_units[~features.is_nominal] *= (2 * (span / unit)) ** 2
        in_units[features.is_nominal] /= unit**2
        # features that are all constant leave every example at distance 0
        weights = in_units if in_units.any() else weights
    return weights


def neighbor_predictions(
    train: Table,
    target: Target,
    test: Table,
    weights: np.ndarray,
    counts: Sequence[int],
    *,
    task: str,
    hierarchy: Hierarchy | None = None,
    predictor: str = "knn",
    neighbors: str = "labelled",
    n_jobs: int | None = None,
) -> dict[int, np.ndarray]:
    """Return the predicted means of the target's prototype columns, for each number of neighbours.

    One search serves all numbers.

    Parameters
    ----------
    train, target : Table and Target
        Training examples.
    test : Table
        Features of the test examples.
    weights : ndarray
        Weight of each feature in the squared distance.
    counts : sequence of int
        Numbers of neighbours; all there are, where there are fewer.
    task : str
        The task.
    hierarchy : Hierarchy, optional
        Of the labels.
    predictor, neighbors : str
        As in `omnirank.evaluate`.
    n_jobs : int or None
        Number of workers.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.data.target import Target
    >>> from omnirank.evaluation.knn import neighbor_predictions
    >>> train, test = (Table.from_numeric(np.array(cells)) for cells in ([[0.0], [1.0], [5.0]], [[0.2]]))
    >>> target = Target.numeric(np.array([[1.0], [2.0], [6.0]]), ["y"])
    >>> found = neighbor_predictions(train, target, test, np.ones(1), [1, 2, 3], task="regression")
    >>> {k: means.tolist() for k, means in found.items()}
    {1: [[1.0]], 2: [[1.5]], 3: [[3.0]]}
    """
    check("neighbors", neighbors, choice(*NEIGHBORS))
    check("predictor", predictor, choice(*NEIGHBOR_PREDICTORS))
    if not target.labelled.any():
        raise DataError("no training example has a known target: neighbours have nothing to predict")
    if neighbors != "published" and not target.labelled.all():
        train, target = train.take(target.labelled), target.take(target.labelled)
    columns = get_task(task).columns(target, hierarchy)
    if predictor == "ml-knn":
        return _ml_knn(train, columns, test, weights, counts, task, neighbors, n_jobs)
    return votes(columns, weighted_neighbors(train, test, weights, max(counts), n_jobs), counts, neighbors)


def votes(columns: PrototypeColumns, ids: np.ndarray, counts: Sequence[int], neighbors: str) -> dict[int, np.ndarray]:
    """Return what neighbours predict, by their number.

    Parameters
    ----------
    columns : PrototypeColumns
        The target of the examples that may be neighbours.
    ids : ndarray of int
        The neighbours of each test example, nearest first.
    counts, neighbors
        As in `neighbor_predictions`.
    """
    values = columns.matrix if columns.is_sparse_and_known else columns.dense()
    default = _default_votes(columns) if neighbors == "published" else None
    return {k: neighbor_means(values, ids[:, :k], default) for k in counts}


def _default_votes(columns: PrototypeColumns) -> np.ndarray:
    """What is predicted where no neighbour has a label: the commonest class, 0 for numbers and labels."""
    default = np.zeros(columns.n_columns)
    totals = np.nansum(columns.dense(), axis=0) if (columns.level >= 0).any() else default
    for variable in np.unique(columns.variable[columns.level >= 0]).tolist():
        own = np.flatnonzero(columns.variable == variable)
        default[own[np.argmax(totals[own])]] = 1.0
    return default


def _ml_knn(
    train: Table,
    columns: PrototypeColumns,
    test: Table,
    weights: np.ndarray,
    counts: Sequence[int],
    task: str,
    neighbors: str,
    n_jobs: int | None,
) -> dict[int, np.ndarray]:
    if get_task(task).kind != "labels" or neighbors == "published":
        where = f"for {task}" if neighbors != "published" else f"with {setting('neighbors', 'published')}"
        raise ParameterError(
            "predictor", "ml-knn", f"it predicts label sets of labelled neighbours and cannot be used {where}"
        )
    if train.n_rows < 2:
        raise DataError("ML-kNN needs at least two labelled training examples")
    labels = np.nan_to_num(columns.dense())
    most = min(max(counts), train.n_rows - 1)
    ids = weighted_neighbors(train, test, weights, most, n_jobs)
    near = other_neighbors(train, weights, most, n_jobs)
    return {k: ml_knn_probabilities(labels, near[:, :k], ids[:, :k]) for k in counts}
