"""Rankings of the Relief family: features that differ where the targets of neighbours differ."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import DataError, ParameterError, logger, setting
from omnirank.core.parameters import FLAG, TEXT, Domain, choice, count, listed, number, share
from omnirank.core.ranking.accumulators import TargetScores
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.registry import SUPERVISION
from omnirank.core.seeds import SeedRanges, root_entropy, stream
from omnirank.data.dataset import Dataset
from omnirank.data.notes import caller_outside
from omnirank.data.task_registry import TASKS, TaskNames
from omnirank.rankers.base import BaseRanker, DependsOn, labelled_part, recorded_of
from omnirank.relief.choice import Candidate, best_candidate, candidate_rankings, cross_validated_losses
from omnirank.relief.pairs import Influence, PairSettings
from omnirank.relief.sums import Sums, relief_sums
from omnirank.shards.dataset import ShardedDataset

_ALGORITHMS = ("auto", "rrelieff", "relieff")
_CANDIDATES = [15, 20, 30]
_LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
_INFLUENCES = [(w0, w1) for w0 in _LEVELS for w1 in _LEVELS if w0 <= w1]
# With fewer labelled examples the unlabelled ones are needed.
_FEWEST_LABELLED = 8
_USUAL_INFLUENCE = (0.0, 1.0)
_MISSING = ("left-out", "distant")
_SUPERVISED, _SEMI_SUPERVISED, _UNSUPERVISED = 15, 20, 30
# What "all examples" are beyond memory: the time for the neighbours of all grows as the square of their number.
_MOST_ITERATIONS = 1000


@dataclass(eq=False, repr=False)
class ReliefRanker(BaseRanker):
    r"""Rank features by how they differ between neighbours whose targets differ, for any target or none.

    The importance of feature i estimates P(x_i differs | targets differ) - P(x_i differs | targets are the same),

    .. math:: \frac{P_{FT}[i]}{P_T} - \frac{P_F[i] - P_{FT}[i]}{s - P_T}, \quad
        P_T = \sum w d_Y, \quad P_F[i] = \sum w d_i, \quad P_{FT}[i] = \sum w d_i d_Y, \quad s = \sum w

    where the sums run over pairs of an example and one of its k nearest neighbours in the mean feature distance
    :math:`d_X = \frac1D \sum_i d_i`, and :math:`d_Y` is a distance of targets: RReliefF, with any target distance. For
    classes the neighbours are the k nearest of each class (hits and misses): ReliefF. Scores lie in [-1, 1]. Unlike
    univariate scores they see interactions; redundant features share high scores.

    Unlabelled examples are left out, or count less than labelled ones (``influence``): where a target is unknown
    :math:`d_X` takes the place of :math:`d_Y`. Without any target this is unsupervised Relief.

    Parameters
    ----------
    algorithm : {"auto", "relieff", "rrelieff"}
        "relieff" is the form for one class target: the mean distance to the k nearest misses of each other class,
        weighted by the classes' shares, minus that to the k nearest hits; it uses labelled examples only. "rrelieff" is
        the form by target distances, for all tasks. "auto" is "relieff" for one class target that is known in all
        examples that are used, "rrelieff" otherwise.
    n_neighbors : int, sequence of int, "auto" or None
        Number of neighbours k (of each class, for hits and misses). None: 15; 20 if unlabelled examples are used; 30
        without a target. If there are fewer other examples, all of them are used. Several numbers give one ranking
        each, in ``checkpoints_``, from one pass; ``ranking_`` is that of the largest. "auto": 15, 20 or 30, chosen as
        below.
    n_iterations : float, int or sequence of these
        Number of examples whose neighbours are looked at: a share in (0, 1] or a count, drawn without replacement.
        Several give a ranking each, as above. Of data beyond memory a random sample that fits is used, and 1.0 is at
        most 1000 of its examples, with a warning.
    target_distance : str
        "auto": absolute differences relative to the range for numbers, share of different classes, Hamming distance
        of label sets, F1 distance of label sets in a hierarchy. Label sets have "hamming", "accuracy", "f1" and
        "subset", those in a hierarchy "euclidean-mu", too. The labels of a hierarchy are weighted by their place in it.
    influence : (float, float), None, "auto" or "cv"
        Influence of the unlabelled examples that are farthest from (w0) and nearest to (w1) labelled ones;
        0 <= w0 <= w1 <= 1. A pair weighs the product of its examples' influences; labelled examples have 1. None
        leaves unlabelled examples out, as neighbours too. "auto" is None; (0, 1) if fewer than eight examples are
        labelled. "cv": the pair from 0, 1/4, 1/2, 3/4 and 1 with the smallest mean loss in 4-fold cross-validation, as
        in the paper: labelled examples are predicted by their nearest labelled neighbours, in a distance weighted by
        the ranking.
    missing : {"left-out", "distant"}
        "left-out": a feature's sums are those of the pairs in which both its cells are known, and its score is
        multiplied by the root of the share of the weights that these pairs have. "distant": all pairs count, with the
        distances that the search of neighbours gives to missing cells.
    sigma : float
        The q-th neighbour weighs exp(-(sigma q)^2); 0: all the same.
    per_target : bool
        Whether each target is also scored alone, in ``ranking_.per_target``, by the same neighbours.
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)).
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The seed matters only where not all examples are looked at, or parameters are chosen.

    Attributes
    ----------
    checkpoints_ : dict of (int, int) to Ranking
        Rankings by number of iterations and number of neighbours.
    algorithm_, n_neighbors_, n_iterations_, influence_
        What ``ranking_`` was computed with.
    losses_ : dict of (influence, int) to float
        Where parameters were chosen: the loss of each influence and k. It is 1 - F1 (macro) of classes, 1 - the area
        under the pooled precision-recall curve of label sets, the relative root mean squared error of numbers.

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

    supported_tasks = DependsOn("algorithm", {"relieff": TaskNames("classes", single=True)}, otherwise=TASKS)
    supported_supervision = DependsOn("algorithm", {"relieff": ("supervised",)}, otherwise=SUPERVISION)
    replicates = "n_iterations"

    # Place of the nearest neighbour, by which it is weighted.
    _first_place: ClassVar[int] = 1

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "algorithm": choice(*_ALGORITHMS),
        "n_neighbors": choice("auto", None) | listed(count(1), or_one=True),
        "n_iterations": listed(share(above=0) | count(1), or_one=True),
        "target_distance": TEXT,
        "missing": choice(*_MISSING),
        "sigma": number(0),
        "per_target": FLAG,
        "hierarchy_weight": number(above=0, most=1),
    }

    algorithm: str = "auto"
    n_neighbors: int | Sequence[int] | str | None = None
    n_iterations: float | Sequence[float] = 1.0
    target_distance: str = "auto"
    influence: tuple[float, float] | str | None = "auto"
    missing: str = "left-out"
    sigma: float = 0.0
    per_target: bool = False
    hierarchy_weight: float = 0.75

    @classmethod
    def _one_fit_gives(cls, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the numbers of neighbours and iterations, unless the data decide or several are given."""
        return tuple(name for name in ("n_neighbors", "n_iterations") if isinstance(parameters[name], int | float))

    def _ranking_at(self, **values: Any) -> Ranking:
        """Return the ranking for one of the values of ``n_neighbors`` and ``n_iterations`` of the fit."""
        k = min(values.get("n_neighbors", self.n_neighbors_), self._n_examples - 1)
        m = _n_iterations(values.get("n_iterations", self.n_iterations_), self._n_examples)
        return self.checkpoints_[m, k]

    def _rank(self, dataset: Dataset, whole: ShardedDataset | None = None) -> Ranking:
        """Keep the rankings of all numbers of iterations and neighbours; return that of the largest.

        ``whole`` are data in parts of which ``dataset`` is a sample.
        """
        entropy = root_entropy(self.random_state)
        settings = PairSettings(
            self.algorithm, self.target_distance, self.hierarchy_weight, self.sigma, self.n_jobs, self._first_place
        )
        self.influence_, k = self._chosen(dataset, settings, entropy)
        data = dataset if self.influence_ is not None or dataset.target is None else labelled_part(dataset, ())[0]
        n_examples = data.n_examples
        if n_examples < 2:
            raise DataError("Relief compares examples: it needs at least two, and there is 1 example")
        self.algorithm_ = settings.form(data)
        wanted = _several(self.n_iterations)
        if whole is not None:
            wanted = _fewer_iterations(wanted, n_examples)
        ms = sorted({_n_iterations(amount, n_examples) for amount in wanted})
        ks = _neighbor_counts(self.n_neighbors, k, n_examples)
        [rule] = settings.rules(data, [self.influence_ or _USUAL_INFLUENCE])
        rows = relief_sums(
            rule,
            _visiting_order(entropy, n_examples),
            ms,
            ks,
            self.per_target and data.n_targets > 0,
            self.n_jobs,
            leave_out=self._leaves_out,
        )
        self.checkpoints_ = {
            (m, k): self._ranking_from(dataset if whole is None else whole, sums, m, k, entropy)
            for m, row in zip(ms, rows, strict=True)
            for k, sums in zip(ks, row, strict=True)
        }
        self.n_iterations_, self.n_neighbors_, self._n_examples = ms[-1], ks[-1], n_examples
        if rows[-1][-1].together.degenerate:
            what = "targets" if data.n_targets else "features"
            warnings.warn(
                f"the {what} of all neighbours are equal, or differ as much as they can: all Relief scores are 0",
                UserWarning,
                stacklevel=caller_outside(),
            )
        return self.checkpoints_[ms[-1], ks[-1]]

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        sample = data.sample(root_entropy(self.random_state))
        if data.n_targets and "semi-supervised" not in self.supported_supervision:
            sample, _ = labelled_part(sample, ())
        return self._rank(sample, data)

    def _chosen(self, dataset: Dataset, settings: PairSettings, entropy: int) -> Candidate:
        """The influence and the number of neighbours: as given, or best by cross-validation."""
        influences: Sequence[Influence | None] = [_checked_influence(self.influence)]
        if isinstance(self.influence, str) and dataset.target is not None and not dataset.labelled.all():
            if dataset.labelled.sum() < _FEWEST_LABELLED:
                influences = [_USUAL_INFLUENCE]
            elif self.influence == "cv":
                influences = _INFLUENCES
        choose_k = _is_text(self.n_neighbors, "auto") and dataset.target is not None
        if not choose_k and len(influences) == 1:
            [only] = influences
            return only, self._usual_neighbors(dataset, only)
        candidates = [
            (influence, k)
            for influence in influences
            for k in (_CANDIDATES if choose_k else [self._usual_neighbors(dataset, influence)])
        ]
        rankings = partial(candidate_rankings, settings, candidates, self._leaves_out, entropy)
        losses = cross_validated_losses(dataset, rankings, stream(entropy, 1), self.n_jobs)
        self.losses_ = {candidate: float(of_folds.mean()) for candidate, of_folds in losses.items()}
        return best_candidate(losses)

    def _ranking_from(self, dataset: Dataset | ShardedDataset, sums: Sums, m: int, k: int, entropy: int) -> Ranking:
        return Ranking.from_state(
            dataset.feature_names,
            sums.together,
            "relief" if self.algorithm == "auto" else self.algorithm,
            parameters=self._recorded_parameters() | {"n_iterations": m, "n_neighbors": k},
            **recorded_of(dataset),
            seeds=SeedRanges.of(entropy, 0, m),
            per_target=None if sums.alone is None else TargetScores.from_state(dataset.target_names, sums.alone),
        )

    def _recorded_parameters(self) -> dict[str, Any]:
        recorded = super()._recorded_parameters()
        if hasattr(self, "influence_"):  # not yet in a ranker that others are made from, such as that for one target
            recorded["influence"] = None if self.influence_ is None else [float(w) for w in self.influence_]
            recorded["algorithm"] = self.algorithm_
        return recorded

    # -- what was asked for -----------------------------------------------------------------------------

    def _check_supported(self, dataset: Dataset) -> None:
        if dataset.target is not None and dataset.task not in self.supported_tasks:
            raise DataError(
                f"relieff compares the examples of classes, and does not handle {dataset.task}: choose the method "
                "relief (in Python: the algorithm 'auto')"
            )
        super()._check_supported(dataset)

    @property
    def _leaves_out(self) -> bool:
        return self.missing == "left-out"

    def _usual_neighbors(self, dataset: Dataset, influence: Influence | None) -> int:
        """The largest number of neighbours that was given, or the usual one."""
        if self.n_neighbors is not None and not _is_text(self.n_neighbors, "auto"):
            return max(int(k) for k in _several(self.n_neighbors))
        if dataset.target is None:
            return _UNSUPERVISED
        return _SUPERVISED if influence is None or dataset.labelled.all() else _SEMI_SUPERVISED


def _n_iterations(amount: Any, n_examples: int) -> int:
    """How many iterations a count or a share stands for."""
    return min(int(amount), n_examples) if isinstance(amount, Integral) else max(1, round(float(amount) * n_examples))


def _neighbor_counts(wanted: Any, chosen: int, n_examples: int) -> list[int]:
    """Numbers of neighbours, ascending: those given, or the one that was chosen."""
    counts = [chosen] if wanted is None or _is_text(wanted, "auto") else _several(wanted)
    most = n_examples - 1
    if max(counts) > most:
        logger.info("%d neighbours were asked for, all %d other examples are used", max(counts), most)
    return sorted({min(int(k), most) for k in counts})


def _checked_influence(influence: Any) -> Influence | None:
    """The influence as given; None where cross-validation finds it, or unlabelled examples are left out."""
    if influence is None or _is_text(influence, "auto") or _is_text(influence, "cv"):
        return None
    try:
        w0, w1 = influence
        good = 0 <= w0 <= w1 <= 1
    except (TypeError, ValueError):
        good = False
    if not good:
        raise ParameterError("influence", influence, "choose (w0, w1) with 0 <= w0 <= w1 <= 1, None, 'auto' or 'cv'")
    return float(w0), float(w1)


def _several(wanted: Any) -> list[Any]:
    """One value or several as a list."""
    is_listed = isinstance(wanted, Sequence | np.ndarray) and not isinstance(wanted, str | bytes)
    return list(wanted) if is_listed else [wanted]


def _is_text(value: Any, name: str) -> bool:
    """Whether a value is this text; an array would be compared cell by cell."""
    return isinstance(value, str) and value == name


def _visiting_order(entropy: int, n_examples: int) -> np.ndarray:
    """A permutation of the examples, of as few bytes as it needs."""
    order = np.arange(n_examples, dtype=np.int32 if n_examples < 2**31 else np.int64)
    stream(entropy, 0).shuffle(order)
    return order


def _fewer_iterations(wanted: list[Any], n_examples: int) -> list[Any]:
    """Replace "all examples" of a sample by at most `_MOST_ITERATIONS`, with a warning."""
    amounts = [amount if isinstance(amount, Integral) or amount != 1 else n_examples for amount in wanted]
    if amounts == wanted or n_examples <= _MOST_ITERATIONS:
        return amounts
    warnings.warn(
        f"the examples do not fit in memory: the neighbours of {_MOST_ITERATIONS} of them are looked at, among "
        f"{n_examples} drawn at random ({setting('n_iterations', 1.0)}); give n_iterations as a number of examples for "
        "more or fewer",
        UserWarning,
        stacklevel=caller_outside(),
    )
    return [min(amount, _MOST_ITERATIONS) if amount == n_examples else amount for amount in amounts]
