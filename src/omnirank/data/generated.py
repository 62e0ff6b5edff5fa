"""Generated features with known roles: relevant, interacting, redundant, irrelevant.

Relevant features are the *signals*; targets are made of them alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from numbers import Integral
from statistics import NormalDist
from typing import Any, TypedDict

import numpy as np
from scipy import sparse

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import FLAG, SEED, check, check_all, count, number, share
from omnirank.core.seeds import root_entropy
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Levels, Table, numbered_names
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target

_LEVEL_COUNTS = (2, 4, 6)
_LEVEL_NAMES = "abcdef"
_WORD_LEVELS = ("absent", "present")
# Noise of a redundant feature: standard deviation (numeric), or share of its words left out (sparse).
_COPY_NOISE = 0.1
# Share of the examples in which a word occurs.
WORD_SHARE = 0.05
_BRANCHES = 3


@dataclass(frozen=True, eq=False)
class Relevance:
    """What is known about generated features: each has exactly one of four roles.

    Parameters
    ----------
    relevant : ndarray of bool of shape (n_features,)
        Features that matter by themselves.
    redundant : ndarray of bool of shape (n_features,)
        Noisy copies of relevant features: informative, but dispensable.
    interacting : ndarray of bool of shape (n_features,)
        Features that matter only together with others; one of them alone is not informative.
    irrelevant : ndarray of bool of shape (n_features,)
        Features that are not informative.

    Examples
    --------
    >>> from omnirank.datasets import make_regression
    >>> data, relevance = make_regression(n_relevant=2, n_redundant=1, n_irrelevant=3, shuffle=False)
    >>> relevance.redundant.tolist()
    [False, False, True, False, False, False]
    >>> relevance.informative.tolist()
    [True, True, True, False, False, False]
    """

    relevant: np.ndarray
    redundant: np.ndarray
    interacting: np.ndarray
    irrelevant: np.ndarray

    @classmethod
    def of(cls, roles: np.ndarray) -> Relevance:
        """Return the masks of an array of role names, one per feature."""
        masks = {role: roles == role for role in cls.__dataclass_fields__}
        for mask in masks.values():
            mask.setflags(write=False)
        return cls(**masks)

    @property
    def informative(self) -> np.ndarray:
        """Mask of the features that a good ranking puts first: all but the irrelevant ones."""
        return ~self.irrelevant


_DOMAINS = {
    "n_examples": count(1),
    "n_relevant": count(1),
    "n_redundant": count(0),
    "n_irrelevant": count(0),
    "share_nominal": share(),
    "missing_features": share(below=1),
    "noise": number(0),
    "shuffle": FLAG,
    "random_state": SEED,
    "sparse": FLAG,
}


class ClusterOptions(TypedDict, total=False):
    """The keywords of `FeaturePlan` for data without a target."""

    n_relevant: int
    n_redundant: int
    n_irrelevant: int
    share_nominal: float
    missing_features: float
    noise: float
    shuffle: bool
    random_state: RandomState


class FeatureOptions(ClusterOptions, total=False):
    """The keywords of `FeaturePlan`."""

    labelled: float
    sparse: bool


@dataclass(frozen=True)
class FeaturePlan:
    """The options that all generators share, checked.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_relevant : int
        Number of features that matter by themselves.
    n_redundant : int
        Number of noisy linear copies of relevant features.
    n_irrelevant : int
        Number of features that are not informative.
    share_nominal : float in [0, 1]
        Share of the features that are binned into 2, 4 or 6 levels named by letters.
    missing_features : float in [0, 1)
        Share of the feature cells that are missing, at random.
    noise : float
        Standard deviation of the noise, as a multiple of that of the signal.
    shuffle : bool
        Whether the features are put in random order; else the relevant ones come first, then the redundant and
        the irrelevant ones.
    random_state : None, int, RandomState or Generator
        Seed; the same seed gives the same data.
    labelled : float in [0, 1] or int
        Share (float) or number (int) of examples that are labelled. With the same seed the features stay the same
        and fewer labelled examples are a subset of more.
    sparse : bool
        Text-like data: features are words, 1 in a few examples and else 0, in a sparse matrix; nominal
        features have the levels absent and present. Label sets are held in a sparse matrix too.
    """

    n_examples: int
    n_relevant: int = 5
    n_redundant: int = 0
    n_irrelevant: int = 15
    share_nominal: float = 0.0
    missing_features: float = 0.0
    noise: float = 0.1
    shuffle: bool = True
    random_state: RandomState = None
    labelled: float = 1.0
    sparse: bool = False

    def __post_init__(self) -> None:
        check_all(vars(self), _DOMAINS)
        check("labelled", self.labelled, share() | count(0, self.n_examples, "examples"))

    def streams(self, number: int) -> list[np.random.Generator]:
        """Return independent random streams of the plan's seed; call it once."""
        return np.random.default_rng(root_entropy(self.random_state)).spawn(number)


def draw_signals(plan: FeaturePlan, rng: np.random.Generator) -> np.ndarray:
    """Return independent relevant features: normal ones of mean 0 and variance 1, or rare words (0 and 1)."""
    relevant = rng.standard_normal((plan.n_examples, plan.n_relevant))
    if plan.sparse:
        relevant = (rng.random(relevant.shape) < WORD_SHARE).astype(np.float64)
    return relevant


def cluster_signals(plan: FeaturePlan, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return relevant features that depend on one of several equally large clusters, drawn for each example."""
    cluster = rng.permutation(np.arange(plan.n_examples) % n_clusters)
    centres = np.arange(n_clusters) - (n_clusters - 1) / 2
    centres /= centres.std()
    relevant = np.column_stack([rng.permutation(centres)[cluster] for _ in range(plan.n_relevant)])
    return relevant + plan.noise * rng.standard_normal(relevant.shape)


def build_features(plan: FeaturePlan, signals: np.ndarray, rng: np.random.Generator) -> tuple[Table, Relevance]:
    """Return the table of all features, in random order unless the plan says otherwise, and their roles."""
    counts = (plan.n_relevant, plan.n_redundant, plan.n_irrelevant)
    roles = np.repeat(("relevant", "redundant", "irrelevant"), counts)
    order = np.arange(len(roles))
    # One stream per purpose: asking for missing cells leaves the values as they are.
    for_values, for_order, for_levels, for_missing = rng.spawn(4)
    if plan.shuffle:
        for_order.shuffle(order)
    nominal = np.zeros(len(roles), bool)
    nominal[for_levels.permutation(len(roles))[: round(plan.share_nominal * len(roles))]] = True
    if plan.sparse:
        words = _words(plan, signals, for_values)[:, order]
        table = _sparse_table(words, nominal, _missing(plan, len(roles), for_missing))
    else:
        values = _values(plan, signals, for_values)[:, order]
        table = _dense_table(values, nominal, _missing(plan, len(roles), for_missing), for_levels)
    return table, Relevance.of(roles[order])


def _values(plan: FeaturePlan, signals: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n = plan.n_examples
    copies = signals[:, _sources(plan, rng)]
    slopes = rng.uniform(0.5, 2.0, plan.n_redundant) * rng.choice((-1.0, 1.0), plan.n_redundant)
    copies = slopes * (copies + _COPY_NOISE * rng.standard_normal(copies.shape))
    return np.hstack([signals, copies, rng.standard_normal((n, plan.n_irrelevant))])


def _sources(plan: FeaturePlan, rng: np.random.Generator) -> np.ndarray:
    """Relevant feature that each redundant one copies: all in turn, in random order."""
    return rng.permutation(np.arange(plan.n_redundant) % plan.n_relevant)


def _words(plan: FeaturePlan, signals: np.ndarray, rng: np.random.Generator) -> Any:
    n = plan.n_examples
    copies = signals[:, _sources(plan, rng)]
    copies = copies * (rng.random(copies.shape) >= _COPY_NOISE)
    # Poisson draws with repetition give every cell the same chance of at least one hit, independently,
    # without a dense matrix of random numbers.
    n_cells = n * plan.n_irrelevant
    hits = rng.integers(n_cells, size=rng.poisson(-np.log1p(-WORD_SHARE) * n_cells)) if n_cells else []
    rows, columns = np.divmod(np.unique(np.asarray(hits, dtype=np.int64)), max(1, plan.n_irrelevant))
    irrelevant = sparse.csc_array((np.ones(len(rows)), (rows, columns)), shape=(n, plan.n_irrelevant))
    return sparse.hstack([sparse.csc_array(signals), sparse.csc_array(copies), irrelevant], format="csc")


def _missing(plan: FeaturePlan, n_features: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    n_cells = plan.n_examples * n_features
    cells = rng.choice(n_cells, size=round(plan.missing_features * n_cells), replace=False)
    return np.divmod(cells, n_features)


def _sparse_table(words: Any, nominal: np.ndarray, missing: tuple[np.ndarray, np.ndarray]) -> Table:
    unknown = sparse.csc_array((np.full(len(missing[0]), np.nan), missing), shape=words.shape)
    return Table.from_sparse(
        words + unknown,
        numbered_names(words.shape[1], "x"),
        levels=[_WORD_LEVELS if flag else None for flag in nominal],
    )


def _dense_table(
    values: np.ndarray,
    nominal: np.ndarray,
    missing: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> Table:
    unknown = np.zeros(values.shape, bool)
    unknown[missing] = True
    if not nominal.any():
        return Table.from_numeric(np.where(unknown, np.nan, values), numbered_names(values.shape[1], "x"))
    columns: list[np.ndarray] = []
    levels: list[Levels | None] = []
    for column, hidden, flag in zip(values.T, unknown.T, nominal, strict=True):
        cells, names = _binned(column, rng) if flag else (column, None)
        columns.append(np.where(hidden, -1 if flag else np.nan, cells))
        levels.append(names)
    return Table.from_columns(numbered_names(len(columns), "x"), columns, levels)


def _binned(column: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, Levels]:
    """Codes of about equally frequent levels; their order says nothing about the values."""
    n_levels = int(rng.choice(_LEVEL_COUNTS))
    cuts = [NormalDist().inv_cdf(k / n_levels) * column.std() for k in range(1, n_levels)]
    return rng.permutation(n_levels)[np.searchsorted(cuts, column)], tuple(_LEVEL_NAMES[:n_levels])


class Draw:
    """One draw of a plan: its signals, scores made of them, and the data set of both.

    Features, target and hidden values have random streams of their own, so that fewer labels or more missing
    cells leave everything else as it was.
    """

    def __init__(self, plan: FeaturePlan) -> None:
        self.plan = plan
        for_signals, self._for_features, self.rng, self._for_hiding = plan.streams(4)
        self.signals = draw_signals(plan, for_signals)

    def scores(self, n_scores: int) -> np.ndarray:
        """Return weighted sums of all signals with variance 1, plus the noise; one column per score.

        Absolute weights lie between 0.5 and 1.5 before normalisation: every signal matters in every score.
        """
        signals = self.signals
        if self.plan.sparse:
            signals = (signals - WORD_SHARE) / np.sqrt(WORD_SHARE * (1 - WORD_SHARE))
        shape = (signals.shape[1], n_scores)
        weights = self.rng.uniform(0.5, 1.5, shape) * self.rng.choice((-1.0, 1.0), shape)
        weights /= np.linalg.norm(weights, axis=0)
        noise = self.rng.standard_normal((len(signals), n_scores))
        return signals @ weights + self.plan.noise * noise

    def dataset(
        self,
        task: str,
        values: np.ndarray,
        levels: Sequence[Levels | None] | None = None,
        missing_targets: float = 0.0,
        hierarchy: Hierarchy | None = None,
    ) -> tuple[Dataset, Relevance]:
        """Return the features with the given target, of which the plan's share is hidden."""
        features, relevance = build_features(self.plan, self.signals, self._for_features)
        n_targets = values.shape[1]
        hidden = self._hidden(n_targets, missing_targets)
        labelled = np.asarray(~hidden.all(axis=1))
        values = np.where(hidden, np.nan, values)
        if task_target(task).kind == "labels":
            names = numbered_names(n_targets, "label") if hierarchy is None else hierarchy.labels
            values = values if hierarchy is None else hierarchy.close(values)
            if self.plan.sparse:
                values = sparse.csr_array(np.where(labelled[:, None], values, 0.0))
            target = Target.labels(values, names, labelled)
        else:
            names = ("y",) if n_targets == 1 else numbered_names(n_targets, "y")
            target = Target(names, tuple(levels or repeat(None, n_targets)), values, labelled)
        return Dataset(features, target, task=task, hierarchy=hierarchy, name=task), relevance

    def _hidden(self, n_targets: int, missing_targets: float) -> np.ndarray:
        """Mask of hidden target cells; a labelled example keeps at least one."""
        check("missing_targets", missing_targets, share(below=1))
        hidden = np.ones((self.plan.n_examples, n_targets), bool)
        # A permutation first, whatever is labelled: fewer labels are a subset of more.
        n, asked = self.plan.n_examples, self.plan.labelled
        labelled = self._for_hiding.permutation(n)[: int(asked) if isinstance(asked, Integral) else round(asked * n)]
        hidden[labelled] = False
        if missing_targets == 0:
            return hidden
        n_cells = len(labelled) * n_targets
        kept = self._for_hiding.integers(n_targets, size=len(labelled))
        rows, columns = np.nonzero(np.arange(n_targets) != kept[:, None])
        count = round(missing_targets * n_cells)
        if count > len(rows):
            raise ParameterError(
                "missing_targets",
                missing_targets,
                f"every labelled example keeps one of its {n_targets} target values, so give at most "
                f"{(n_targets - 1) / n_targets:.3g}",
            )
        chosen = self._for_hiding.choice(len(rows), size=count, replace=False)
        hidden[labelled[rows[chosen]], columns[chosen]] = True
        return hidden


def cut(scores: np.ndarray, shares: Sequence[float] | np.ndarray) -> np.ndarray | None:
    """Cut scores into ``len(shares) + 1`` intervals, none empty; equal scores stay together.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        The scores.
    shares : sequence of float or ndarray
        Share of the scores below each cut, ascending; the possible cut that comes nearest is taken.

    Returns
    -------
    ndarray of int or None
        Number of the interval of each score; None when there are fewer different scores than intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.generated import cut
    >>> cut(np.array([0.5, 0.1, 0.9, 0.5]), [0.4])
    array([1, 0, 1, 1])
    """
    # Equal signals give equal scores only up to the order of summation.
    scores = np.round(scores, 9)
    distinct, counts = np.unique(scores, return_counts=True)
    below = np.cumsum(counts)[:-1]
    if len(below) < len(shares):
        return None
    ends: list[int] = []
    for k, part in enumerate(shares):
        first = ends[-1] + 1 if ends else 0
        candidates = below[first : len(below) - (len(shares) - k - 1)]
        ends.append(first + int(np.argmin(np.abs(candidates - part * len(scores)))))
    return np.searchsorted(distinct[ends], scores)


def draw_classes(scores: np.ndarray, counts: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Return codes of classes of about equal size: intervals of a score, numbered at random."""
    values = np.empty(scores.shape)
    for i, n_classes in enumerate(counts):
        codes = cut(scores[:, i], np.arange(1, n_classes) / n_classes)
        if codes is None:
            advice = "there are fewer different scores; raise n_examples, n_relevant or noise"
            raise ParameterError("n_classes", n_classes, advice)
        values[:, i] = rng.permutation(n_classes)[codes]
    return values


def class_names(counts: Sequence[int]) -> list[Levels | None]:
    """Return the names of the classes of each target: c1, c2, ..."""
    return [tuple(f"c{k}" for k in range(1, count + 1)) for count in counts]


def draw_labels(scores: np.ndarray, density: float, hierarchy: Hierarchy) -> np.ndarray:
    """Return 0/1 label sets: of the examples with all parents of a label, those of highest score have it."""
    values = np.zeros(scores.shape)
    for label in hierarchy.topological_order:
        allowed = np.flatnonzero(values[:, list(hierarchy.parents[label])].all(axis=1))
        codes = cut(scores[allowed, label], [1 - density])
        if codes is not None:
            values[allowed, label] = codes
    return values


def draw_hierarchy(n_labels: int, dag: bool, rng: np.random.Generator) -> Hierarchy:
    """Return trees with three children per label; in a DAG half of those below the roots have a second parent."""
    if dag and n_labels <= _BRANCHES:
        raise ParameterError("n_labels", n_labels, f"a DAG takes at least {_BRANCHES + 1} labels")
    above = [max(-1, i // _BRANCHES - 1) for i in range(n_labels)]
    tree = Hierarchy(numbered_names(n_labels, "label"), tuple(() if i < 0 else (i,) for i in above))
    if not dag:
        return tree
    parents = [list(own) for own in tree.parents]
    for label in range(_BRANCHES, n_labels, 2):
        level = np.flatnonzero(tree.depth == tree.depth[above[label]])
        parents[label].append(int(rng.choice(level[level != above[label]])))
    return Hierarchy(tree.labels, tuple(map(tuple, parents)))
