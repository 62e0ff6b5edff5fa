"""Rankings of the Relief family: features that differ where the targets of neighbours differ."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.log import logger
from omnirank.core.parameters import FLAG, Domain, check, choice, count, listed, number, share
from omnirank.core.ranking import Ranking
from omnirank.core.seeds import SeedRanges, root_entropy, stream
from omnirank.core.target_scores import TargetScores
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TASKS, TaskNames
from omnirank.neighbors.approximate import ApproximateNeighbors
from omnirank.neighbors.cached_search import StoredNeighbors
from omnirank.neighbors.mixed_distances import table_cells
from omnirank.neighbors.sparse_cells import cells_of, search_among
from omnirank.rankers.base import BaseRanker
from omnirank.relief.choice import cross_validated_losses
from omnirank.relief.influence import influences, nearest_labelled
from omnirank.relief.pairs import ClassPairs, DistancePairs, PairRule
from omnirank.relief.sums import Sums, relief_sums
from omnirank.tasks import get_task
from omnirank.tasks.target_distances import TargetDistance

_ALGORITHMS = ("auto", "rrelieff", "relieff")
_SEARCHES = ("exact", "approximate")
_CANDIDATES = [15, 20, 30]
_LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
_PAIRS = [(w0, w1) for w0 in _LEVELS for w1 in _LEVELS if w0 <= w1]
_SUPERVISED, _SEMI_SUPERVISED, _UNSUPERVISED = 15, 20, 30


class _Supported:
    """What the class can do, and what an instance with ``algorithm="relieff"`` can do."""

    def __init__(self, everything: Sequence[str], by_class: Sequence[str]) -> None:
        self._everything = everything
        self._by_class = by_class

    def __get__(self, ranker: Any, owner: type) -> Sequence[str]:
        return self._by_class if getattr(ranker, "algorithm", None) == "relieff" else self._everything


class ReliefRanker(BaseRanker):
    r"""Rank features by how they differ between neighbours whose targets differ, for any target or none.

    The importance of feature i estimates P(x_i differs | targets differ) - P(x_i differs | targets are the same),

    .. math:: \frac{P_{FT}[i]}{P_T} - \frac{P_F[i] - P_{FT}[i]}{s - P_T}, \quad
        P_T = \sum w d_Y, \quad P_F[i] = \sum w d_i, \quad P_{FT}[i] = \sum w d_i d_Y, \quad s = \sum w

    where the sums run over pairs of an example and one of its k nearest neighbours in the mean feature distance
    :math:`d_X = \frac1D \sum_i d_i`, and :math:`d_Y` is a distance of targets: RReliefF, with any target distance.
    It lies in [-1, 1]. Unlike univariate scores it sees interactions; redundant features share high scores.

    Where a target is unknown :math:`d_X` takes the place of :math:`d_Y`, and unlabelled examples count less
    (``influence``); without any target this is unsupervised Relief.

    Parameters
    ----------
    algorithm : {"auto", "rrelieff", "relieff"}
        "auto" is "rrelieff", for all tasks. "relieff" is the classical form for classification: the mean distance
        to the k nearest misses of each other class, weighted by the classes' shares, minus that to the k nearest
        hits; it uses labelled examples only.
    n_neighbors : int, sequence of int, "auto" or None
        Number of neighbours k. None: 15; 20 if some examples are unlabelled; 30 without a target. If there are fewer
        other examples, all of them are used. Several numbers give one ranking each, in ``checkpoints_``, from one pass;
        ``ranking_`` is that of the largest. "auto": 15, 20 or 30, chosen as below.
    n_iterations : float, int or sequence of these
        Number of examples whose neighbours are looked at: a share in (0, 1] or a count, drawn without replacement.
        Several give a ranking each, as above.
    target_distance : str
        "auto": absolute differences relative to the range for numbers, share of different classes, Hamming distance
        of label sets. Label sets also have "accuracy", "f1" and "subset", label sets in a hierarchy "euclidean-mu".
        The labels of a hierarchy are weighted by their place in it.
    influence : (float, float) or "auto"
        Influence of the unlabelled examples that are farthest from (w0) and nearest to (w1) labelled ones;
        0 <= w0 <= w1 <= 1. A pair weighs the product of its examples' influences; labelled examples have 1. "auto":
        both from 0, 1/4, 1/2, 3/4 and 1, chosen by cross-validation in four folds of the labelled examples, which
        are predicted by their nearest labelled neighbours in a distance weighted by the ranking.
    sigma : float
        The q-th neighbour weighs exp(-(sigma q)^2); 0: all the same.
    per_target : bool
        Whether each target is also scored alone, in ``ranking_.per_target``, by the same neighbours.
    search : {"exact", "approximate"}
        How neighbours are found. "approximate" takes an index (the package pynndescent is needed): its time grows
        little faster than the number of examples, which pays from some 100,000 on. Exact neighbours of fewer examples
        (``n_iterations``) are often the better way to save time. Not for "relieff".
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)).
    first_iteration : int
        How many of the drawn examples are skipped: rankings of the iterations 0 to 499 and 500 to 999, made on two
        machines with the same seed, merge into that of 1000.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The seed matters only where not all examples are looked at.

    Attributes
    ----------
    checkpoints_ : dict of (int, int) to Ranking
        Rankings by number of iterations and number of neighbours.
    n_neighbors_, n_iterations_, influence_
        What ``ranking_`` was computed with.
    losses_ : dict of (float, float, int) to float
        Where parameters were chosen: the loss of each (w0, w1, k). It is 1 - F1 (macro) of classes, 1 - the area under
        the pooled precision-recall curve of label sets, the relative root mean squared error of numbers.

    Notes
    -----
    Neighbours are exact; distances that agree to 2**-32 are ties, which the example that comes first wins. Where
    all targets of neighbours are equal (or differ fully) scores are undefined: all are 0 then, with a warning.

    References
    ----------
    Robnik-Sikonja, Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. Machine Learning 53, 2003.
    Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109, 2020. Eqs. (4) to (7),
    Algorithm 3. With unlabelled examples: Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning.
    Machine Learning 112, 2023. Sec. 5.2, Algorithm 3. Without a target: Petkovic, Kocev, Skrlj, Dzeroski: Ensemble- and
    distance-based feature ranking for unsupervised learning. International Journal of Intelligent Systems 36, 2021.
    Eqs. (3) and (4).

    Examples
    --------
    Both features of an exclusive or, which no univariate score can find:

    >>> import numpy as np
    >>> import omnirank as om
    >>> X = np.random.default_rng(0).integers(0, 2, (300, 8))
    >>> om.ReliefRanker(n_neighbors=10).fit(X, X[:, 2] ^ X[:, 5]).ranking_.top(2)
    ['x2', 'x5']
    """

    supported_tasks = _Supported(TASKS, TaskNames("classes", single=True))
    supported_supervision = _Supported(("supervised", "semi-supervised", "unsupervised"), ("supervised",))
    replicates = "n_iterations"

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "algorithm": choice(*_ALGORITHMS),
        "n_neighbors": choice("auto", None) | listed(count(1), or_one=True),
        "n_iterations": listed(share(above=0) | count(1), or_one=True),
        "sigma": number(0),
        "per_target": FLAG,
        "search": choice(*_SEARCHES),
        "hierarchy_weight": number(above=0, most=1),
        "first_iteration": count(0),
    }

    def __init__(
        self,
        algorithm: str = "auto",
        n_neighbors: int | Sequence[int] | str | None = None,
        n_iterations: float | Sequence[float] = 1.0,
        target_distance: str = "auto",
        influence: tuple[float, float] | str = (0.0, 1.0),
        sigma: float = 0.0,
        per_target: bool = False,
        search: str = "exact",
        hierarchy_weight: float = 0.75,
        first_iteration: int = 0,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.algorithm = algorithm
        self.n_neighbors = n_neighbors
        self.n_iterations = n_iterations
        self.target_distance = target_distance
        self.influence = influence
        self.sigma = sigma
        self.per_target = per_target
        self.search = search
        self.hierarchy_weight = hierarchy_weight
        self.first_iteration = first_iteration

    def importances_at(self, n_neighbors: int | None = None, n_iterations: int | None = None) -> np.ndarray:
        """Return the importances for fewer neighbours or iterations, from ``checkpoints_``.

        Parameters
        ----------
        n_neighbors, n_iterations : int, optional
            One of the numbers that the ranker was fitted with (iterations as counts); by default the largest.

        Examples
        --------
        >>> import omnirank as om
        >>> data, _ = om.datasets.make_friedman(100, random_state=0)
        >>> ranker = om.ReliefRanker(n_neighbors=[5, 10], n_iterations=[20, 1.0], random_state=0).fit(data)
        >>> ranker.importances_at(n_neighbors=5, n_iterations=20).shape
        (10,)
        """
        given = {"n_neighbors": n_neighbors, "n_iterations": n_iterations}
        return self.ranking_at(**{name: value for name, value in given.items() if value is not None}).scores.copy()

    @classmethod
    def one_fit_gives(cls, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the numbers of neighbours and iterations, but where the data decide, or several are given."""
        return tuple(name for name in ("n_neighbors", "n_iterations") if isinstance(parameters[name], int | float))

    def ranking_at(self, **values: Any) -> Ranking:
        """Return the ranking for one of the values of ``n_neighbors`` and ``n_iterations`` of the fit."""
        k = min(values.get("n_neighbors", self.n_neighbors_), self._n_examples - 1)
        m = _n_iterations(values.get("n_iterations", self.n_iterations_), self._n_examples)
        try:
            return self.checkpoints_[m, k]
        except KeyError:
            known = ", ".join(f"({m}, {k})" for m, k in self.checkpoints_)
            raise ParameterError(
                f"there is no ranking for {m} iterations and {k} neighbours, only for {known}"
            ) from None

    def _rank(self, dataset: Dataset) -> Ranking:
        self._check()
        if dataset.n_examples < 2:
            raise DataError("Relief compares examples: it needs at least two, and there is 1 example")
        entropy = root_entropy(self.random_state)
        ms = self._iteration_counts(dataset.n_examples)
        ks, self.influence_ = self._neighbor_counts(dataset), self._fixed_influence
        if _is_auto(self.n_neighbors) or _is_auto(self.influence):
            ks, self.influence_ = self._chosen(dataset, ks, entropy)
        order = stream(entropy, 0).permutation(dataset.n_examples)[self.first_iteration :]
        stored = ks[-1] if self.search == "approximate" else 0
        rule = self._rules(dataset, [self.influence_], entropy, stored)[0]
        per_target = self.per_target and dataset.target is not None
        if per_target and not isinstance(rule, DistancePairs):
            raise ParameterError("per_target", True, f"{setting('algorithm', 'relieff')} has one target only")
        found = relief_sums(rule, order, ms, ks, per_target, self.n_jobs)
        self.checkpoints_ = {
            (m, k): self._ranking_from(dataset, sums, m, k, entropy)
            for m, row in zip(ms, found, strict=True)
            for k, sums in zip(ks, row, strict=True)
        }
        self.n_iterations_, self.n_neighbors_, self._n_examples = ms[-1], ks[-1], dataset.n_examples
        if found[-1][-1].together.degenerate:
            what = "features" if dataset.target is None else "targets"
            warnings.warn(
                f"the {what} of all neighbours are equal, or differ as much as they can: all Relief scores are 0",
                UserWarning,
                stacklevel=4,
            )
        return self.checkpoints_[ms[-1], ks[-1]]

    def _rules(
        self, dataset: Dataset, pairs: Sequence[tuple[float, float]], entropy: int, stored: int = 0
    ) -> list[PairRule]:
        """The pairs of examples that the algorithm looks at, for each of several influences.

        stored: how many neighbours of every example are kept, so that they are searched once.
        """
        target = dataset.target
        # an index takes dense cells only
        cells: Any = (table_cells if self.search == "approximate" else cells_of)(dataset.features)
        classes = None
        if target is not None and self.algorithm == "relieff":
            classes = np.unique(target.values[:, 0], return_inverse=True)[1]
        search: Any
        if self.search == "approximate":
            seed = int(stream(entropy, 2).integers(2**31))
            search = ApproximateNeighbors(cells, stored, seed)
        else:
            search = search_among(cells, classes)
            search = StoredNeighbors(search, stored, self.n_jobs) if stored else search
        if classes is not None:
            return [ClassPairs(search, classes, float(self.sigma)) for _ in pairs]
        if target is None:
            return [DistancePairs(search, None, None, float(self.sigma)) for _ in pairs]
        distances = self._distances(dataset)
        if target.labelled.all():
            return [DistancePairs(search, distances, None, float(self.sigma)) for _ in pairs]
        far = nearest_labelled(cells, target.labelled, self.n_jobs)
        weights = [influences(far, target.labelled, *pair) for pair in pairs]
        return [DistancePairs(search, distances, found, float(self.sigma)) for found in weights]

    def _chosen(self, dataset: Dataset, ks: list[int], entropy: int) -> tuple[list[int], tuple[float, float]]:
        """The numbers of neighbours and the influence that are best by cross-validation."""
        if dataset.target is None:
            return ks, self._fixed_influence
        choose_influence = _is_auto(self.influence) and not dataset.labelled.all()
        pairs = _PAIRS if choose_influence else [self._fixed_influence]
        candidates = _CANDIDATES if _is_auto(self.n_neighbors) else [ks[-1]]

        def rankings(train: Dataset) -> dict[tuple[float, float, int], np.ndarray]:
            n = train.n_examples
            used = sorted({min(k, n - 1) for k in candidates})
            found: dict[tuple[float, float, int], np.ndarray] = {}
            for pair, rule in zip(pairs, self._rules(train, pairs, entropy, used[-1]), strict=True):
                [row] = relief_sums(rule, np.arange(n), [n], used, False, self.n_jobs)
                scores = {k: sums.together.finish()[0] for k, sums in zip(used, row, strict=True)}
                found |= {(*pair, k): scores[min(k, n - 1)] for k in candidates}
            return found

        self.losses_ = cross_validated_losses(dataset, rankings, stream(entropy, 1), self.n_jobs)
        # of equally good ones the most supervised, then the smallest
        w0, w1, k = min(self.losses_, key=lambda c: (self.losses_[c], c[1], c[0], c[2]))
        most = dataset.n_examples - 1
        return [min(k, most)] if _is_auto(self.n_neighbors) else ks, (w0, w1)

    def _distances(self, dataset: Dataset) -> TargetDistance:
        task = get_task(dataset.task)
        allowed = task.distances
        kind = allowed[0] if self.target_distance == "auto" else self.target_distance
        check("target_distance", kind, choice("auto", *allowed), dataset.task)
        assert dataset.target is not None
        return task.distance(dataset.target, kind, dataset.hierarchy, self.hierarchy_weight)

    def _ranking_from(self, dataset: Dataset, sums: Sums, m: int, k: int, entropy: int) -> Ranking:
        assert dataset.target is not None or sums.alone is None
        return Ranking.from_state(
            dataset.feature_names,
            sums.together,
            "relieff" if self.algorithm == "relieff" else "relief",
            parameters=self._recorded_parameters() | {"n_iterations": m, "n_neighbors": k},
            task=dataset.task,
            fingerprint=dataset.fingerprint,
            seeds=SeedRanges.of(entropy, self.first_iteration, self.first_iteration + m),
            per_target=None if sums.alone is None else TargetScores.from_state(dataset.target_names, sums.alone),
        )

    def _recorded_parameters(self) -> dict[str, Any]:
        recorded = super()._recorded_parameters()
        if hasattr(self, "influence_"):  # not yet in a ranker that others are made from, such as that for one target
            recorded["influence"] = [float(w) for w in self.influence_]
        # the seeds record which iterations they were
        return {name: value for name, value in recorded.items() if name != "first_iteration"}

    # -- what was asked for -----------------------------------------------------------------------------

    def _check(self) -> None:
        if self.search == "approximate" and self.algorithm == "relieff":
            raise ParameterError("search", self.search, f"choose 'exact' with {setting('algorithm', 'relieff')}")
        try:
            w0, w1 = self._fixed_influence
            good = 0 <= w0 <= w1 <= 1
        except (TypeError, ValueError):
            good = False
        if not good:
            raise ParameterError("influence", self.influence, "choose (w0, w1) with 0 <= w0 <= w1 <= 1, or 'auto'")

    @property
    def _fixed_influence(self) -> tuple[float, float]:
        """The influence that is used where none is chosen."""
        return (0.0, 1.0) if _is_auto(self.influence) else self.influence  # type: ignore[return-value]

    def _neighbor_counts(self, dataset: Dataset) -> list[int]:
        wanted: Any = self.n_neighbors
        if wanted is None or _is_auto(wanted):
            wanted = _UNSUPERVISED
            if dataset.target is not None:
                wanted = _SUPERVISED if dataset.labelled.all() else _SEMI_SUPERVISED
        several = _several(wanted)
        most = dataset.n_examples - 1
        if max(several) > most:
            logger.info("%d neighbours were asked for, all %d other examples are used", max(several), most)
        return sorted({min(int(k), most) for k in several})

    def _iteration_counts(self, n_examples: int) -> list[int]:
        counts = [_n_iterations(amount, n_examples) for amount in _several(self.n_iterations)]
        if max(counts) > n_examples - self.first_iteration:
            raise ParameterError(
                "first_iteration",
                self.first_iteration,
                f"with {max(counts)} iterations from there on, more than the {n_examples} examples would be visited",
            )
        return sorted(set(counts))


def _n_iterations(amount: Any, n_examples: int) -> int:
    """How many iterations a count or a share stands for."""
    return min(int(amount), n_examples) if isinstance(amount, Integral) else max(1, round(float(amount) * n_examples))


def _several(wanted: Any) -> list[Any]:
    listed = isinstance(wanted, Sequence | np.ndarray) and not isinstance(wanted, str | bytes)
    return list(wanted) if listed else [wanted]


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
