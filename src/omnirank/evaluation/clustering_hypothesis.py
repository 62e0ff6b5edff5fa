"""The clustering-hypothesis value CH: how far clusters of the features agree with the target."""

from __future__ import annotations

import numpy as np

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.errors import DataError
from omnirank.core.parameters import check, choice, count
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.tasks import PrototypeColumns, get_task, prototype_columns

_FORMS = ("variance", "std")
_OVER_RUNS = ("best", "median")
_N_CLUSTERS = 8


def clustering_hypothesis(
    data: Dataset,
    *,
    form: str = "variance",
    n_clusters: int | None = None,
    n_runs: int = 5,
    over_runs: str = "best",
    random_state: RandomState = None,
) -> float:
    """Return how far clusters of the features, found without the target, agree with it.

    One class: the adjusted Rand index of clusters and classes. Everything else: CH = 1 - mean over targets of v_j, with
    v_j the variance of the target within clusters relative to that in the data (for a nominal target the Gini index;
    for labels in a hierarchy a mean weighted by their weights).

    Parameters
    ----------
    data : Dataset
        Clusters are made of all examples, the agreement is that of the labelled ones. Features are not scaled, levels
        are indicators, and missing cells take the feature's mean.
    form : {"variance", "std"}
        As defined above, or with the square root of every v_j, which is what published values hold.
    n_clusters : int, optional
        By default the number of classes, 8 for other tasks.
    n_runs : int
        Runs of k-means from different starts.
    over_runs : {"best", "median"}
        Which of the runs to return.
    random_state : None, int, RandomState or Generator
        Seed of the starts.

    References
    ----------
    Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.clustering_hypothesis import clustering_hypothesis
    >>> data = om.Dataset([[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"])
    >>> clustering_hypothesis(data, random_state=1)
    1.0
    """
    if data.target is None or not data.labelled.any():
        raise DataError(f"{data.name} has no known target to compare clusters with")
    check("form", form, choice(*_FORMS))
    check("over_runs", over_runs, choice(*_OVER_RUNS))
    check("n_runs", n_runs, count(1))
    known = data.labelled
    target = data.target.take(known)
    task = get_task(data.task)
    columns, is_classes = task.columns(target, data.hierarchy), task.is_one_class
    if n_clusters is None:
        n_clusters = len(np.unique(target.values)) if is_classes else _N_CLUSTERS
    matrix = _feature_matrix(data.features)
    n_clusters = min(n_clusters, len(np.unique(matrix, axis=0)))
    entropy = root_entropy(random_state)
    found = []
    for run in range(n_runs):
        clusters = _clusters(matrix, n_clusters, stream(entropy, run))[known]
        found.append(_rand_index(target, clusters) if is_classes else explained_by_clusters(columns, clusters, form))
    return float(np.max(found) if over_runs == "best" else np.median(found))


def explained_by_clusters(columns: PrototypeColumns, clusters: np.ndarray, form: str = "variance") -> float:
    """Return the share of the target's variance that clusters explain; targets that are constant are left out.

    Parameters
    ----------
    columns : PrototypeColumns
        The coded target.
    clusters : ndarray of int
        Cluster of each example.
    form : {"variance", "std"}
        As in `clustering_hypothesis`.

    Returns
    -------
    float
        From 0 to 1; NaN where no target varies.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.target import Target
    >>> from omnirank.evaluation.clustering_hypothesis import explained_by_clusters
    >>> from omnirank.tasks import prototype_columns
    >>> target = Target.numeric(np.array([[0.0], [2.0], [4.0], [6.0]]), ["yield"])
    >>> explained_by_clusters(prototype_columns(target), np.array([0, 0, 1, 1]))
    0.8
    """
    values = columns.scaled(columns.dense())
    whole = columns.impurity
    within = np.zeros(values.shape[1])
    n_known = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    for cluster in np.unique(clusters):
        part = values[clusters == cluster]
        known = ~np.isnan(part)
        n_part = np.maximum(known.sum(axis=0), 1)
        centre = np.where(known, part, 0.0).sum(axis=0) / n_part
        within += np.where(known, (part - centre) ** 2, 0.0).sum(axis=0) / n_known
    inside = np.bincount(columns.variable, weights=within, minlength=columns.n_variables)
    varying = (whole > 0) & (columns.weights > 0)
    if not varying.any():
        return float("nan")
    left = inside[varying] / whole[varying]
    return float(1 - np.average(np.sqrt(left) if form == "std" else left, weights=columns.weights[varying]))


def _feature_matrix(table: Table) -> np.ndarray:
    values = np.array(prototype_columns(Target.from_table(table)).dense(), dtype=np.float64)
    known = ~np.isnan(values)
    if not known.all():
        means = np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        values = np.where(known, values, means)
    return values


def _clusters(matrix: np.ndarray, n_clusters: int, random: np.random.Generator) -> np.ndarray:
    from sklearn.cluster import KMeans

    seed = int(random.integers(2**31))
    # one thread: its sums, and with them the clusters, do not depend on the number of cores
    with one_blas_thread(openmp=True):
        return KMeans(n_clusters, init="k-means++", n_init=1, random_state=seed).fit(matrix).labels_


def _rand_index(target: Target, clusters: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(target.values[:, 0], clusters))
