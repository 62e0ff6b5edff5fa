"""Choosing Relief's parameters on the labelled examples, by what neighbours in the ranking's distance predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.seeds import stream
from omnirank.data.dataset import Dataset
from omnirank.data.resampling import dealt_folds
from omnirank.neighbors.weighted import neighbor_means, ranking_weights, weighted_neighbors
from omnirank.relief.pairs import Influence, PairSettings
from omnirank.relief.sums import relief_sums
from omnirank.tasks import get_task

# None: unlabelled examples are left out. Then the number of neighbours.
Candidate: TypeAlias = tuple[Influence | None, int]

_NO_INFLUENCE = (0.0, 0.0)
_JUDGES = 20
_FOLDS = 4
# Examples that are visited for a ranking by which parameters are chosen.
_MOST_VISITED = 1000


def cross_validated_losses(
    dataset: Dataset,
    rankings: Callable[[Dataset], Mapping[Any, np.ndarray]],
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> dict[Any, np.ndarray]:
    """Return the losses of each candidate, one per fold of the labelled examples.

    A fold's examples are predicted by their 20 nearest labelled examples of the other folds, in a distance that weighs
    features by the candidate's ranking; the ranking is made from these and all unlabelled examples.

    Parameters
    ----------
    dataset : Dataset
        Data with at least two labelled examples.
    rankings : callable
        From the training part to the importances of each candidate.
    rng : Generator
        Draws the folds.
    n_jobs : int or None
        Number of workers.
    """
    losses: dict[Any, list[float]] = {}
    folds = labelled_folds(dataset, rng)
    for fold in range(folds.max() + 1):
        kept = folds != fold
        importances_of = rankings(dataset.take(kept))
        judge = _Judge(dataset.take(kept & dataset.labelled), dataset.take(~kept), n_jobs)
        for candidate, importances in importances_of.items():
            losses.setdefault(candidate, []).append(judge(importances))
    return {candidate: np.array(of_folds) for candidate, of_folds in losses.items()}


def best_candidate(losses: Mapping[Candidate, np.ndarray]) -> Candidate:
    """Return the candidate with the smallest mean loss; of equal ones the most supervised, then the fewest neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relief.choice import best_candidate
    >>> best_candidate({((0.0, 0.5), 20): np.array([0.5, 0.6]), ((0.0, 1.0), 20): np.array([0.4, 0.5])})
    ((0.0, 1.0), 20)
    """

    def order(candidate: Candidate) -> tuple[Any, ...]:
        influence, k = candidate
        return losses[candidate].mean(), (influence or _NO_INFLUENCE)[::-1], k

    return min(losses, key=order)


def candidate_rankings(
    settings: PairSettings, candidates: Sequence[Candidate], leave_out: bool, entropy: int, train: Dataset
) -> dict[Candidate, np.ndarray]:
    """Return the importances for each candidate, from at most a thousand examples and their neighbours.

    Parameters
    ----------
    settings : PairSettings
        The other parameters of the rankings.
    candidates : sequence of (influence, int)
        What is compared.
    leave_out : bool
        As in `relief_sums`.
    entropy : int
        Seed of the examples that are visited.
    train : Dataset
        The examples.
    """
    importances: dict[Candidate, np.ndarray] = {}
    for without in (True, False):
        wanted = [one for one in candidates if (one[0] is None) == without]
        if not wanted:
            continue
        data = train.take(train.labelled) if without else train
        most = data.n_examples - 1
        if not most:
            importances |= {one: np.zeros(train.n_features) for one in wanted}
            continue
        ks = sorted({min(k, most) for _, k in wanted})
        rows = np.sort(stream(entropy, 3).permutation(data.n_examples)[:_MOST_VISITED])
        pairs = list(dict.fromkeys(influence or _NO_INFLUENCE for influence, _ in wanted))
        for pair, rule in zip(pairs, settings.rules(data, pairs, ks[-1], rows), strict=True):
            [row] = relief_sums(rule, rows, [len(rows)], ks, False, settings.n_jobs, leave_out=leave_out)
            scores = {k: sums.together.finish()[0] for k, sums in zip(ks, row, strict=True)}
            importances |= {one: scores[min(one[1], most)] for one in wanted if (one[0] or _NO_INFLUENCE) == pair}
    return importances


def labelled_folds(dataset: Dataset, rng: np.random.Generator) -> np.ndarray:
    """Return the fold of each labelled example, of up to four, classes evenly and groups together; -1 for the others.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.relief.choice import labelled_folds
    >>> data = om.Dataset(np.arange(6.0)[:, None], ["a", None, "b", "a", "b", None])
    >>> sorted(labelled_folds(data, np.random.default_rng(0)).tolist())
    [-1, -1, 0, 1, 2, 3]
    """
    labelled = dataset.take(dataset.labelled)
    groups, n = labelled.groups, labelled.n_examples
    if labelled.target is None or (n if groups is None else groups.max(initial=-1) + 1) < 2:
        raise DataError(
            f"choosing parameters needs at least two labelled examples, there are {n}; give n_neighbors and influence"
        )
    classes = labelled.target.values[:, 0] if get_task(dataset.task).is_one_class else None
    folds = np.full(dataset.n_examples, -1)
    folds[dataset.labelled] = dealt_folds(groups, classes, n, _FOLDS, rng)
    return folds


class _Judge:
    """How badly the neighbours of a ranking predict."""

    def __init__(self, train: Dataset, test: Dataset, n_jobs: int | None) -> None:
        assert train.target is not None
        assert test.target is not None
        self._train, self._test, self._n_jobs = train, test, n_jobs
        self._task = get_task(train.task)
        self._columns = self._task.columns(train.target, train.hierarchy)
        self._truth = self._task.columns(test.target, test.hierarchy)
        self._values = self._columns.dense()

    def __call__(self, importances: np.ndarray) -> float:
        weights = ranking_weights(importances)
        ids = weighted_neighbors(self._train.features, self._test.features, weights, _JUDGES, self._n_jobs)
        means = neighbor_means(self._values, ids)
        return self._task.loss(self._truth, means, self._columns)
