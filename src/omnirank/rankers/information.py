"""Rankings by information theory and by tables of counts: each feature alone against the classes or labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.parallel import blocks, run_parallel
from omnirank.core.parameters import Domain, choice, count
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.data.task_registry import TaskNames
from omnirank.rankers.base import DependsOn, WeightedRanker
from omnirank.tasks import get_task

NEIGHBOR_MEASURE = "mutual-information"
LABEL_SETS = ("binary-relevance", "label-powerset", "pruned-powerset")

# Blocks of features; their number does not depend on that of the workers.
_BLOCKS = 64
# Shares of the weight that miss the edge of a bin by less than this are rounding.
_EDGE = 1e-9
# Rows of label sets that are packed at once.
_ROWS = 4096


# -- tables of counts of features against classes ----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassTargets:
    """One target of K classes, or V labels, as columns whose sums over the examples of a bin are counts.

    Attributes
    ----------
    columns : csr_array of shape (n, K) or (n, V)
        1 for the class of an example, or for each of its labels.
    unknown : csr_array of shape (n, V), or None
        1 where a label is unknown; classes that are unknown have no 1 in their row.
    are_labels : bool
        Whether the columns are labels.
    weights : ndarray of shape (V,)
        Weights of the targets in means over them.
    """

    columns: Any
    unknown: Any
    are_labels: bool
    weights: np.ndarray

    def counts(self, codes: np.ndarray, examples: np.ndarray) -> np.ndarray:
        """Return the weights of the examples by bin, target and class: (bins, V, K).

        Parameters
        ----------
        codes : ndarray of int of shape (n,)
            Bin of each example, -1 where it is missing.
        examples : ndarray of shape (n,)
            Weights of the examples.
        """
        known = codes >= 0
        starts = np.concatenate([[0], np.cumsum(known)])
        shape = (len(codes), int(codes.max(initial=0)) + 1)
        bins = sparse.csr_array((examples[known], codes[known], starts), shape=shape).T
        weights = (bins @ self.columns).toarray()
        if not self.are_labels:
            return weights[:, None, :]
        known_weight = np.asarray(bins.sum(axis=1)).reshape(-1, 1)
        if self.unknown is not None:
            known_weight = known_weight - (bins @ self.unknown).toarray()
        # differences of sums in another order may be -1e-17
        return np.stack([np.maximum(known_weight - weights, 0.0), weights], axis=2)

    def totals(self, examples: np.ndarray) -> np.ndarray:
        """Return the weights of all examples by target and class, whatever the feature: (V, K)."""
        return self.counts(np.zeros(len(examples), dtype=np.intp), examples)[0]


def class_targets(target: Target, weights: np.ndarray) -> list[ClassTargets]:
    """Return a target's nominal variables, one by one, or its labels, all at once."""
    if target.is_labels:
        values = target.values if target.is_sparse else sparse.csr_array(target.values)
        relevant, hidden = _cells(values, values.data == 1), _cells(values, np.isnan(values.data))
        return [ClassTargets(relevant, hidden if hidden.nnz else None, True, weights)]
    return [
        _one_class(target.values[:, j], weights[j : j + 1])
        for j, levels in enumerate(target.levels)
        if levels is not None
    ]


def _cells(values: Any, chosen: np.ndarray) -> Any:
    """1 in the chosen ones of the stored cells."""
    starts = np.concatenate([[0], np.cumsum(chosen)])[values.indptr]
    return sparse.csr_array((np.ones(int(starts[-1])), values.indices[chosen], starts), shape=values.shape)


def label_set_target(target: Target, least: int) -> ClassTargets:
    """Return label sets as classes: one class for each set that at least so many examples have.

    Examples of rarer sets, and those with an unknown label, have no class.

    Parameters
    ----------
    target : Target
        Labels.
    least : int
        Number of examples.
    """
    n = target.n_examples
    packed, complete = [], np.zeros(n, dtype=bool)
    for start in range(0, n, _ROWS):
        part = target.take(slice(start, start + _ROWS)).dense()
        complete[start : start + _ROWS] = ~np.isnan(part).any(axis=1)
        packed.append(np.packbits(part == 1, axis=1))
    sets = np.concatenate(packed)
    rows = np.ascontiguousarray(sets).view([("", np.uint8)] * sets.shape[1])[:, 0]
    _, of, sizes = np.unique(rows[complete], return_inverse=True, return_counts=True)
    classes = np.full(n, np.nan)
    classes[complete] = np.where(sizes[of] >= least, of, np.nan)
    if np.isnan(classes).all():
        raise DataError(
            f"no label set is that of {least} examples, the most frequent is that of {sizes.max(initial=0)}: choose a "
            f"smaller min_count, or {setting('label_sets', 'binary-relevance')}"
        )
    return _one_class(classes, np.ones(1))


def _one_class(values: np.ndarray, weight: np.ndarray) -> ClassTargets:
    """A target of classes by their codes, NaN where unknown."""
    known = ~np.isnan(values)
    codes = values[known].astype(np.intp)
    starts = np.concatenate([[0], np.cumsum(known)])
    shape = (len(values), int(codes.max(initial=0)) + 1)
    return ClassTargets(sparse.csr_array((np.ones(len(codes)), codes, starts), shape=shape), None, False, weight)


# -- measures of one table for each of V targets, (bins, V, K) -> (V,) ---------------------------------------


def information_gain(counts: np.ndarray) -> np.ndarray:
    """Return H(x) + H(y) - H(x, y), in nats, for each target.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.rankers.information import information_gain
    >>> information_gain(np.array([[[2.0, 0.0]], [[0.0, 2.0]]])).round(4).tolist()
    [0.6931]
    """
    bins, classes, total = _margins(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        # exactly log 1 where there is one bin only
        lift = counts * total[:, None] / (bins[:, :, None] * classes)
        gains = (counts * np.log(np.where(counts > 0, lift, 1.0))).sum(axis=(0, 2)) / total
    return np.where(total > 0, np.maximum(gains, 0.0), 0.0)


def symmetrical_uncertainty(counts: np.ndarray) -> np.ndarray:
    """Return 2 (H(x) + H(y) - H(x, y)) / (H(x) + H(y)) for each target; 0 where both are constant."""
    bins, classes, total = _margins(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        both = _entropy(bins / total, 0) + _entropy(classes / total[:, None], 1)
        return np.where((total > 0) & (both > 0), 2 * information_gain(counts) / both, 0.0)


def chi_squared(counts: np.ndarray) -> np.ndarray:
    """Return the sum of (observed - expected)^2 / expected over the cells of the table, for each target."""
    bins, classes, total = _margins(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = bins[:, :, None] * (classes / total[:, None])
        return np.where(expected > 0, (counts - expected) ** 2 / expected, 0.0).sum(axis=(0, 2))


MEASURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "information-gain": information_gain,
    "symmetrical-uncertainty": symmetrical_uncertainty,
    "chi2": chi_squared,
}


def _margins(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums by bin (bins, V), by class (V, K), and of all (V,)."""
    bins = counts.sum(axis=2)
    return bins, counts.sum(axis=0), bins.sum(axis=0)


def _entropy(shares: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(-xlogy(shares, shares).sum(axis=axis))


# -- numbers in bins ------------------------------------------------------------------------------------------


def feature_codes(table: Table, i: int, weights: np.ndarray, n_bins: int) -> tuple[np.ndarray, bool]:
    """Return a feature as numbers of levels or bins from 0 on (-1 = missing), and whether values were put into bins.

    Levels of a nominal feature stay as they are, and so do the values of a number that has at most ``n_bins``
    different ones.

    Parameters
    ----------
    table : Table
        The features.
    i : int
        Which of them.
    weights : ndarray of shape (n_rows,)
        Weights of the examples.
    n_bins : int
        Number of bins.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.rankers.information import feature_codes
    >>> table = Table.from_numeric(np.array([[0.0], [0.0], [1.0], [9.0], [np.nan]]))
    >>> feature_codes(table, 0, np.ones(5), 2)
    (array([ 0,  0,  1,  1, -1]), True)
    >>> feature_codes(table, 0, np.ones(5), 3)
    (array([ 0,  0,  1,  2, -1]), False)
    """
    if table.is_nominal[i]:
        return table.column(i), False
    values, codes = _values(table, i)
    binned = len(values) > n_bins
    if binned:
        known = codes >= 0
        of = codes[known]
        codes[known] = _frequencies(of, weights[known], n_bins)[of]
    return codes, binned


def _values(table: Table, i: int) -> tuple[np.ndarray, np.ndarray]:
    """The different values of a number, ascending, and which of them each example has (-1 = missing)."""
    cells = table.column(i)
    known = ~np.isnan(cells)
    codes = np.full(len(cells), -1, dtype=np.intp)
    values, codes[known] = np.unique(cells[known], return_inverse=True)
    return values, codes


def _frequencies(of: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin of each value: that of the middle of its ranks, so that examples of one value are never parted.

    A value that most examples share gets a bin of its own, wherever in the order it is.
    """
    sizes = np.bincount(of, weights)
    ends = np.cumsum(sizes)
    middle = (ends - sizes / 2) / ends[-1]
    return np.minimum((n_bins * middle + _EDGE).astype(np.intp), n_bins - 1)


# -- mutual information by nearest neighbours -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable: numbers or codes of classes, NaN where it is unknown."""

    values: np.ndarray
    discrete: bool

    @classmethod
    def of_numbers(cls, values: np.ndarray) -> Variable:
        """Return numbers in units of half their range: squares of all numbers are finite then."""
        known = values[~np.isnan(values)]
        low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
        size = high / 2 - low / 2
        return cls((values / 2 - low / 2) / (size if size > 0 else 1.0), False)

    @classmethod
    def of_codes(cls, codes: np.ndarray) -> Variable:
        """Return classes from their codes, -1 where they are unknown."""
        return cls(np.where(codes < 0, np.nan, codes), True)


def neighbor_information(x: Variable, y: Variable, n_neighbors: int, seed: int) -> float:
    """Return the mutual information of two variables in nats, over the examples known in both.

    It is multiplied by the share of these among the examples with y known: what is missing tells nothing.

    Parameters
    ----------
    x, y : Variable
        The variables; at least one of them has numbers.
    n_neighbors : int
        Number of neighbours; fewer where there are not so many examples.
    seed : int
        Of the noise, some 1e-10 of the numbers, by which scikit-learn parts equal values.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.rankers.information import Variable, neighbor_information
    >>> x = Variable.of_numbers(np.arange(40.0))
    >>> round(neighbor_information(x, Variable(np.repeat([0.0, 1.0], 20), True), 3, 0), 2)
    0.66
    """
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    known_y = ~np.isnan(y.values)
    rows = known_y & ~np.isnan(x.values)
    own, other = x.values[rows], y.values[rows]
    if not _enough(own, x.discrete) or not _enough(other, y.discrete):
        return 0.0
    estimate = mutual_info_classif if y.discrete else mutual_info_regression
    estimates = estimate(
        own[:, None],
        other.astype(np.int64) if y.discrete else other,
        discrete_features=np.array([x.discrete]),
        n_neighbors=min(n_neighbors, len(own) - 1),
        random_state=seed,
    )
    return float(estimates[0]) * int(rows.sum()) / int(known_y.sum())


def _enough(values: np.ndarray, discrete: bool) -> bool:
    """Whether values differ; of classes, one must have two examples, which can be neighbours."""
    if len(values) < 2 or np.ptp(values) == 0:
        return False
    return not discrete or len(np.unique(values)) < len(values)


# -- the ranker ----------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class InformationRanker(WeightedRanker):
    r"""Importance of a feature: how much it tells, alone, about the class.

    With entropies H over the examples in which feature and class are known, in nats,

    ======================== =====================================================================
    ``measure``              score
    ======================== =====================================================================
    information-gain         :math:`I(x, y) = H(y) - H(y \mid x)`
    symmetrical-uncertainty  :math:`2 I(x, y) / (H(x) + H(y))`, from 0 to 1
    chi2                     :math:`\sum (O - E)^2 / E` over the table of bins or levels and classes
    mutual-information       :math:`I(x, y)`, of numbers estimated by nearest neighbours
    ======================== =====================================================================

    Numbers with more than ``n_bins`` different values are put into bins. Equal frequencies keep examples of the same
    value together; a value that most examples share, such as 0 in sparse data, has a bin of its own. The estimates by
    neighbours (scikit-learn's ``mutual_info_classif`` and ``mutual_info_regression``) need no bins, and take targets
    that are numbers, too; features of at most ``n_bins`` different values count as levels, for which both measures of
    information are the same.

    A missing cell tells nothing: entropies are those of the known ones, and the score is multiplied by their share
    (except chi2, which grows with the number of examples anyway). Unlabelled examples are not used, constant features
    get 0.

    For several class targets, and for label sets by *binary relevance*, scores are computed for each target that is not
    constant and averaged (by the weights of labels in a hierarchy). In the *label power set* each set of labels is a
    class of its own; it is *pruned* where sets of fewer than ``min_count`` examples are left out.

    Scores from tables grow with the number of levels by chance, information gain by about
    (levels - 1) (classes - 1) / 2n and chi2 by (levels - 1) (classes - 1): identifiers score high (`UnivariateRanker`
    takes this off).

    Parameters
    ----------
    measure : {"information-gain", "symmetrical-uncertainty", "chi2", "mutual-information"}
        The score.
    label_sets : {"binary-relevance", "label-powerset", "pruned-powerset"}
        What label sets become.
    n_bins : int
        Number of bins.
    min_count : int
        Number of examples that a label set of the pruned power set has at least.
    n_neighbors : int
        Number of neighbours in the estimates of mutual information.
    task, hierarchy, n_features_to_select
        As in every ranker.
    random_state : None, int, RandomState or Generator
        Seed of the tiny noise by which scikit-learn parts equal numbers; for mutual information only.
    n_jobs : int or None
        Number of workers.

    References
    ----------
    Quinlan: C4.5, 1993 (information gain, missing values). Press et al.: Numerical recipes, 1988 (symmetrical
    uncertainty). Ross: Mutual information between discrete and continuous data sets. PLoS ONE 9, 2014. Kraskov,
    Stoegbauer, Grassberger: Estimating mutual information. Physical Review E 69, 2004. Read: A pruned problem
    transformation method for multi-label classification, 2008. Doquire, Verleysen: Mutual information-based feature
    selection for multilabel classification. Neurocomputing 122, 2013.

    Notes
    -----
    A weight of 2 is that of two such examples. Mutual information by neighbours takes no weights.

    Examples
    --------
    >>> import omnirank as om
    >>> X = [[0.0, 3.0], [0.0, 1.0], [1.0, 3.0], [1.0, 1.0]]
    >>> om.InformationRanker("symmetrical-uncertainty").fit(X, ["a", "a", "b", "b"]).feature_importances_
    array([1., 0.])
    """

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "measure": choice(*MEASURES, NEIGHBOR_MEASURE),
        "label_sets": choice(*LABEL_SETS),
        "n_bins": count(2),
        "min_count": count(1),
        "n_neighbors": count(1),
    }
    supported_tasks = DependsOn(
        "measure",
        dict.fromkeys(MEASURES, TaskNames("classes", "labels")),
        otherwise=TaskNames("classes", "numbers", "labels", "mixed"),
    )
    supported_supervision = ("supervised",)

    measure: str = "information-gain"
    label_sets: str = "binary-relevance"
    n_bins: int = 10
    min_count: int = 6
    n_neighbors: int = 3

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> Ranking:
        if sample_weight is not None and self.measure == NEIGHBOR_MEASURE:
            counted = ", ".join(MEASURES)
            raise ParameterError(
                f"mutual information by neighbours takes no sample_weight; these measures do: {counted}"
            )
        weights = np.ones(dataset.n_examples) if sample_weight is None else sample_weight
        scores = self._scores(dataset, weights, self._seed())
        return self._ranking(dataset, scores, self._method(dataset))

    def _scores(self, dataset: Dataset, weights: np.ndarray, seed: int) -> np.ndarray:
        target = dataset.target
        assert target is not None  # the supported tasks have one
        scored = _Scored(self, seed, dataset, weights, self._targets(dataset, target), self._numbers(target))
        parts = run_parallel(scored, blocks(dataset.n_features, _BLOCKS), self.n_jobs, description="ranking features")
        return np.concatenate(parts)

    def _method(self, dataset: Dataset) -> str:
        labels = dataset.target is not None and dataset.target.is_labels
        pruned = self.measure == NEIGHBOR_MEASURE and labels and self.label_sets == "pruned-powerset"
        return "ppt-mi" if pruned else self.measure

    def _seed(self) -> int:
        by_neighbors = self.measure == NEIGHBOR_MEASURE
        return int(stream(root_entropy(self.random_state), 0).integers(2**31)) if by_neighbors else 0

    def _targets(self, dataset: Dataset, target: Target) -> list[ClassTargets]:
        if target.is_labels and self.label_sets != "binary-relevance":
            return [label_set_target(target, self.min_count if self.label_sets == "pruned-powerset" else 1)]
        return class_targets(target, get_task(dataset.task).columns(target, dataset.hierarchy).weights)

    def _numbers(self, target: Target) -> list[int]:
        """Targets that are numbers, which are not counted."""
        return [] if target.is_labels else [j for j, levels in enumerate(target.levels) if levels is None]


class _Total(NamedTuple):
    """The known weight of each target, and whether it has examples of two classes."""

    known: np.ndarray
    varies: np.ndarray

    @classmethod
    def of(cls, target: ClassTargets, weights: np.ndarray) -> _Total:
        # counted, as differences of weights are not exact
        varies = (target.totals(np.ones(len(weights))) > 0).sum(axis=1) > 1
        return cls(target.totals(weights).sum(axis=1), varies)


@dataclass(frozen=True, eq=False)
class _Scored:
    """Scores of a block of features; the seed is that of the noise in estimates by neighbours."""

    ranker: InformationRanker
    seed: int
    dataset: Dataset
    weights: np.ndarray
    targets: list[ClassTargets]
    numbers: list[int]

    def __call__(self, block: range) -> np.ndarray:
        totals = [_Total.of(target, self.weights) for target in self.targets]
        others = self._neighbor_targets(totals) if self.ranker.measure == NEIGHBOR_MEASURE else []
        return np.array([self._score(i, totals, others) for i in block])

    def _score(self, i: int, totals: list[_Total], others: list[tuple[Variable, float]]) -> float:
        ranker, table = self.ranker, self.dataset.features
        codes, binned = feature_codes(table, i, self.weights, ranker.n_bins)
        if ranker.measure == NEIGHBOR_MEASURE and binned:
            own = Variable.of_numbers(table.column(i).astype(np.float64))
            return self._aggregated(self._by_neighbors(own, others))
        numbers = [(variable, weight) for variable, weight in others if not variable.discrete]
        by_neighbors = self._by_neighbors(Variable.of_codes(codes), numbers)
        return self._aggregated(np.vstack([*self._by_counts(codes, totals), by_neighbors]))

    def _by_counts(self, codes: np.ndarray, totals: list[_Total]) -> list[np.ndarray]:
        """Scores for the targets that are not constant, and the weights of these."""
        measure = MEASURES.get(self.ranker.measure, information_gain)
        found = []
        for target, total in zip(self.targets, totals, strict=True):
            counts = target.counts(codes, self.weights)
            scores = measure(counts)
            if self.ranker.measure != "chi2":
                known = total.known
                scores = scores * np.minimum(counts.sum(axis=(0, 2)) / np.where(known > 0, known, 1.0), 1.0)
            found.append(np.column_stack([scores, target.weights])[total.varies])
        return found

    def _neighbor_targets(self, totals: list[_Total]) -> list[tuple[Variable, float]]:
        """All targets that are not constant, with their weights."""
        target = self.dataset.target
        assert target is not None
        targets = []
        for own, total in zip(self.targets, totals, strict=True):
            varying = np.flatnonzero(total.varies).tolist()
            targets += [(_class_variable(own, v), float(own.weights[v])) for v in varying]
        for j in self.numbers:
            variable = Variable.of_numbers(target.values[:, j])
            if np.fmax.reduce(variable.values) > np.fmin.reduce(variable.values):  # NaN where no value is known
                targets.append((variable, 1.0))
        return targets

    def _by_neighbors(self, own: Variable, others: list[tuple[Variable, float]]) -> np.ndarray:
        ranker, seed = self.ranker, self.seed
        found = [(neighbor_information(own, other, ranker.n_neighbors, seed), weight) for other, weight in others]
        return np.reshape(found, (-1, 2))

    def _aggregated(self, weighted: np.ndarray) -> float:
        return float(np.average(weighted[:, 0], weights=weighted[:, 1])) if len(weighted) else 0.0


def _class_variable(target: ClassTargets, v: int) -> Variable:
    """One of the targets as codes, NaN where unknown."""
    if target.are_labels:
        values = target.columns[:, [v]].toarray()[:, 0]
        if target.unknown is not None:
            values[target.unknown[:, [v]].toarray()[:, 0] > 0] = np.nan
        return Variable(values, True)
    values = np.full(target.columns.shape[0], np.nan)
    values[np.diff(target.columns.indptr) > 0] = target.columns.indices
    return Variable(values, True)
