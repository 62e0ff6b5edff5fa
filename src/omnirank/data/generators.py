"""Generated data for every task, of which it is known which features matter.

Every generator makes relevant, redundant and irrelevant features with neutral names in random order, and returns the
data set and the roles of its features. Relevant features are the *signals*; targets are made of them alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from numbers import Integral
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from omnirank.core.errors import ParameterError, setting
from omnirank.core.parameters import FLAG, SEED, check, check_all, count, number, share
from omnirank.core.seeds import root_entropy
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Levels, Table, numbered_names
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target

if TYPE_CHECKING:
    import pandas as pd

Made: TypeAlias = "tuple[Dataset, Relevance]"
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
    "n_targets": count(1),
    "n_numeric": count(1),
    "n_nominal": count(1),
    "n_labels": count(1),
    "label_density": share(above=0, below=1),
}


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


def _features(plan: FeaturePlan, signals: np.ndarray, rng: np.random.Generator) -> tuple[Table, Relevance]:
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
    # each redundant feature copies a relevant one: all in turn, in random order
    copies = signals[:, rng.permutation(np.arange(plan.n_redundant) % plan.n_relevant)]
    slopes = rng.uniform(0.5, 2.0, plan.n_redundant) * rng.choice((-1.0, 1.0), plan.n_redundant)
    copies = slopes * (copies + _COPY_NOISE * rng.standard_normal(copies.shape))
    return np.hstack([signals, copies, rng.standard_normal((plan.n_examples, plan.n_irrelevant))])


def _words(plan: FeaturePlan, signals: np.ndarray, rng: np.random.Generator) -> Any:
    n = plan.n_examples
    copies = signals[:, rng.permutation(np.arange(plan.n_redundant) % plan.n_relevant)]
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
    levels = [_WORD_LEVELS if flag else None for flag in nominal]
    return Table.from_sparse(words + unknown, numbered_names(words.shape[1], "x"), levels)


def _dense_table(
    values: np.ndarray, nominal: np.ndarray, missing: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
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


class _Draw:
    """One draw of a plan: its signals, scores made of them, and the data set of both; ``own`` are further parameters.

    Features, target and hidden values have random streams of their own, so that fewer labels or more missing
    cells leave everything else as it was.
    """

    def __init__(self, n_examples: int, features: dict[str, Any], **own: Any) -> None:
        self.plan = plan = FeaturePlan(n_examples, **features)
        check_all(own, _DOMAINS)
        for_signals, self._for_features, self.rng, self._for_hiding = plan.streams(4)
        # independent relevant features: normal ones of mean 0 and variance 1, or rare words (0 and 1)
        self.signals = for_signals.standard_normal((n_examples, plan.n_relevant))
        if plan.sparse:
            self.signals = (for_signals.random(self.signals.shape) < WORD_SHARE).astype(np.float64)

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
        self, task: str, values: np.ndarray, missing_targets: float = 0.0, levels: Any = None, hierarchy: Any = None
    ) -> Made:
        """Return the features with the given target, of which the plan's share is hidden."""
        features, relevance = _features(self.plan, self.signals, self._for_features)
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
        kept = self._for_hiding.integers(n_targets, size=len(labelled))
        rows, columns = np.nonzero(np.arange(n_targets) != kept[:, None])
        n_hidden = round(missing_targets * len(labelled) * n_targets)
        if n_hidden > len(rows):
            advice = f"every labelled example keeps one target value, so give at most {(n_targets - 1) / n_targets:.3g}"
            raise ParameterError("missing_targets", missing_targets, advice)
        chosen = self._for_hiding.choice(len(rows), size=n_hidden, replace=False)
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
    >>> from omnirank.data.generators import cut
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


def _draw_classes(scores: np.ndarray, counts: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Return codes of classes of about equal size: intervals of a score, numbered at random."""
    values = np.empty(scores.shape)
    for i, n_classes in enumerate(counts):
        codes = cut(scores[:, i], np.arange(1, n_classes) / n_classes)
        if codes is None:
            advice = "there are fewer different scores; raise n_examples, n_relevant or noise"
            raise ParameterError("n_classes", n_classes, advice)
        values[:, i] = rng.permutation(n_classes)[codes]
    return values


def _class_names(counts: Sequence[int]) -> list[Levels | None]:
    """Return the names of the classes of each target: c1, c2, ..."""
    return [tuple(f"c{k}" for k in range(1, count + 1)) for count in counts]


def _draw_labels(scores: np.ndarray, density: float, hierarchy: Hierarchy) -> np.ndarray:
    """Return 0/1 label sets: of the examples with all parents of a label, those of highest score have it."""
    values = np.zeros(scores.shape)
    for label in hierarchy.topological_order:
        allowed = np.flatnonzero(values[:, list(hierarchy.parents[label])].all(axis=1))
        codes = cut(scores[allowed, label], [1 - density])
        if codes is not None:
            values[allowed, label] = codes
    return values


def _draw_hierarchy(n_labels: int, dag: bool, rng: np.random.Generator) -> Hierarchy:
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


# -- tasks -------------------------------------------------------------------------------------------


def make_regression(n_examples: int = 200, **features: Any) -> Made:
    """Generate regression data: the target is a weighted sum of the relevant features and noise.

    Relevant features are standard normal; their absolute weights lie between 0.5 and 1.5.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generators.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_regression
    >>> data, relevance = make_regression(n_relevant=3, n_irrelevant=7, labelled=50, random_state=0)
    >>> data
    <Dataset 'regression': 200 examples, 10 features, regression, 1 target, 50 labelled>
    >>> int(relevance.relevant.sum())
    3
    """
    draw = _Draw(n_examples, features)
    return draw.dataset("regression", draw.scores(1))


def make_multi_target_regression(
    n_examples: int = 200, *, n_targets: int = 3, missing_targets: float = 0.0, **features: Any
) -> Made:
    """Generate multi-target regression data: each target is a weighted sum of the signals and noise.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_targets : int
        Number of targets.
    missing_targets : float in [0, 1)
        Share of the target values of labelled examples that are unknown, at random; each labelled example
        keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generators.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and targets y1, y2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_multi_target_regression
    >>> data, relevance = make_multi_target_regression(n_targets=2, missing_targets=0.25, random_state=0)
    >>> data.target_names, data.target.n_partly_labelled
    (('y1', 'y2'), 100)
    """
    draw = _Draw(n_examples, features, n_targets=n_targets)
    scores = draw.scores(n_targets)
    return draw.dataset("multi-target-regression", scores, missing_targets)


def make_classification(n_examples: int = 200, *, n_classes: int = 2, **features: Any) -> Made:
    """Generate classification data: classes of about equal size, each an interval of a sum of the signals.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_classes : int
        Number of classes; they are called c1, c2, ..., in an order that does not follow the sum.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generators.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_classification
    >>> data, relevance = make_classification(90, n_classes=3, share_nominal=0.5, random_state=0)
    >>> data.describe()["classes"]
    {'c1': 30, 'c2': 30, 'c3': 30}
    """
    draw = _Draw(n_examples, features)
    check("n_classes", n_classes, count(2))
    codes = _draw_classes(draw.scores(1), [n_classes], draw.rng)
    return draw.dataset("classification", codes, levels=_class_names([n_classes]))


def make_multi_target_classification(
    n_examples: int = 200,
    *,
    n_targets: int = 3,
    n_classes: int | Sequence[int] = 3,
    missing_targets: float = 0.0,
    **features: Any,
) -> Made:
    """Generate multi-target classification data, each target as in :func:`make_classification`.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_targets : int
        Number of targets.
    n_classes : int or sequence of int
        Number of classes of all targets, or of each.
    missing_targets : float in [0, 1)
        Share of the target values of labelled examples that are unknown, at random; each labelled example
        keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generators.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and targets y1, y2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_multi_target_classification
    >>> data, relevance = make_multi_target_classification(n_targets=2, n_classes=(2, 4), random_state=0)
    >>> data.target.levels
    (('c1', 'c2'), ('c1', 'c2', 'c3', 'c4'))
    """
    draw = _Draw(n_examples, features, n_targets=n_targets)
    given = np.asarray(n_classes).tolist()
    counts = given if isinstance(given, list) else [given] * n_targets
    for n in counts:
        check("n_classes", n, count(2))
    if len(counts) != n_targets:
        raise ParameterError("n_classes", n_classes, f"give one number per target, {setting('n_targets', n_targets)}")
    codes = _draw_classes(draw.scores(n_targets), counts, draw.rng)
    return draw.dataset("multi-target-classification", codes, missing_targets, _class_names(counts))


def make_mixed_targets(
    n_examples: int = 200,
    *,
    n_numeric: int = 2,
    n_nominal: int = 2,
    n_classes: int = 3,
    missing_targets: float = 0.0,
    **features: Any,
) -> Made:
    """Generate data with numeric and nominal targets, made as in regression and classification.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_numeric, n_nominal : int
        Number of numeric and of nominal targets; the numeric ones come first.
    n_classes : int
        Number of classes of each nominal target.
    missing_targets : float in [0, 1)
        Share of the target values of labelled examples that are unknown, at random; each labelled example
        keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generators.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and targets y1, y2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_mixed_targets
    >>> data, relevance = make_mixed_targets(n_numeric=1, n_nominal=2, random_state=0)
    >>> data.task, data.target.is_nominal.tolist()
    ('mixed-targets', [False, True, True])
    """
    draw = _Draw(n_examples, features, n_numeric=n_numeric, n_nominal=n_nominal)
    check("n_classes", n_classes, count(2))
    values = draw.scores(n_numeric + n_nominal)
    counts = [n_classes] * n_nominal
    values[:, n_numeric:] = _draw_classes(values[:, n_numeric:], counts, draw.rng)
    levels = [None] * n_numeric + _class_names(counts)
    return draw.dataset("mixed-targets", values, missing_targets, levels)


def make_multi_label(
    n_examples: int = 200,
    *,
    n_labels: int = 5,
    label_density: float = 0.3,
    missing_targets: float = 0.0,
    **features: Any,
) -> Made:
    """Generate multi-label data: a label is held where its own weighted sum of the signals is high.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_labels : int
        Number of labels.
    label_density : float in (0, 1)
        Share of the examples that hold a label.
    missing_targets : float in [0, 1)
        Share of the single labels of labelled examples that are unknown, at random; each labelled example
        keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generators.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and labels label1, label2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_multi_label
    >>> data, relevance = make_multi_label(100, n_irrelevant=1000, sparse=True, random_state=0)
    >>> data.X.shape, data.features.is_sparse, data.target.values.shape
    ((100, 1005), True, (100, 5))
    """
    draw = _Draw(n_examples, features, n_labels=n_labels, label_density=label_density)
    flat = Hierarchy.flat(range(1, n_labels + 1))
    values = _draw_labels(draw.scores(n_labels), label_density, flat)
    return draw.dataset("multi-label", values, missing_targets)


def make_hierarchical_multi_label(
    n_examples: int = 200,
    *,
    n_labels: int = 15,
    hierarchy: str | Hierarchy = "tree",
    label_density: float = 0.5,
    missing_targets: float = 0.0,
    **features: Any,
) -> Made:
    """Generate hierarchical multi-label data; label sets are closed under ancestors.

    Of the examples that hold all parents of a label, those hold the label for which its own weighted sum of
    the signals is high.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_labels : int
        Number of labels of a generated hierarchy; not used when one is given.
    hierarchy : {"tree", "dag"} or Hierarchy
        "tree": three roots, three children per label. "dag": the same, with a second parent for half of the
        labels below the roots. Or the hierarchy to use.
    label_density : float in (0, 1)
        Share of the examples that hold a label, among those that hold its parents.
    missing_targets : float in [0, 1)
        Share of the single labels of labelled examples that are hidden, at random; what the hierarchy implies
        stays known, so fewer are unknown in the end. Each labelled example keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generators.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ..., the labels and their hierarchy.
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_hierarchical_multi_label
    >>> data, relevance = make_hierarchical_multi_label(n_labels=20, hierarchy="dag", random_state=0)
    >>> data.hierarchy
    Hierarchy(20 labels, DAG, 3 roots, ... leaves, depth 2)
    """
    draw = _Draw(n_examples, features, n_labels=n_labels, label_density=label_density)
    if not isinstance(hierarchy, Hierarchy):
        if hierarchy not in ("tree", "dag"):
            raise ParameterError("hierarchy", hierarchy, "choose 'tree', 'dag' or a Hierarchy")
        hierarchy = _draw_hierarchy(n_labels, hierarchy == "dag", draw.rng)
    values = _draw_labels(draw.scores(len(hierarchy)), label_density, hierarchy)
    return draw.dataset("hierarchical-multi-label", values, missing_targets, hierarchy=hierarchy)


def make_clusters(n_examples: int = 200, *, n_clusters: int = 3, **features: Any) -> Made:
    """Generate data without target: clusters of equal size that only the informative features show.

    In each relevant feature the clusters have different centres, with variance 1 between them; the noise is
    the standard deviation within a cluster.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_clusters : int
        Number of clusters.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``random_state``: see :class:`omnirank.data.generators.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and no target.
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_clusters
    >>> data, relevance = make_clusters(n_clusters=4, random_state=0)
    >>> data.task, data.y is None, data.n_features
    ('clustering', True, 20)
    """
    for name in ("labelled", "sparse"):
        if name in features:
            raise TypeError(f"make_clusters() has no parameter {name!r}: there is no target")
    plan = FeaturePlan(n_examples, **features)
    check("n_clusters", n_clusters, count(2))
    rng, for_features = plan.streams(2)
    cluster = rng.permutation(np.arange(plan.n_examples) % n_clusters)
    centres = np.arange(n_clusters) - (n_clusters - 1) / 2
    centres /= centres.std()
    signals = np.column_stack([rng.permutation(centres)[cluster] for _ in range(plan.n_relevant)])
    signals += plan.noise * rng.standard_normal(signals.shape)
    table, relevance = _features(plan, signals, for_features)
    return Dataset(table, name="clustering"), relevance


def make_friedman(
    n_examples: int = 200,
    n_features: int = 10,
    noise: float = 1.0,
    *,
    shuffle: bool = True,
    random_state: RandomState = None,
) -> Made:
    r"""Generate Friedman's regression data, in which five features matter.

    .. math:: y = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + \varepsilon

    All features are uniform on [0, 1].

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_features : int
        Number of features, at least 5.
    noise : float
        Standard deviation of the noise.
    shuffle : bool
        Whether the features are put in random order (and named in that order); else the five come first.
    random_state : None, int, RandomState or Generator
        Seed; the same seed gives the same data.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ...
    relevance : Relevance
        The roles of the features: relevant or irrelevant.

    References
    ----------
    J. H. Friedman: Multivariate adaptive regression splines. The Annals of Statistics 19 (1991).

    Examples
    --------
    >>> from omnirank.datasets import make_friedman
    >>> data, relevance = make_friedman(shuffle=False, random_state=0)
    >>> relevance.relevant.astype(int).tolist()
    [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    """
    plan = FeaturePlan(n_examples, noise=noise, shuffle=shuffle, random_state=random_state)
    check("n_features", n_features, count(5))
    for_values, for_order = plan.streams(2)
    X = for_values.random((n_examples, n_features))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    y += noise * for_values.standard_normal(n_examples)
    roles = np.repeat(("relevant", "irrelevant"), (5, n_features - 5))
    table, relevance = _ordered(X, roles, shuffle, for_order)
    return Dataset(table, Target.numeric(y[:, None], ["y"]), task="regression", name="friedman"), relevance


def make_xor(
    n_examples: int = 200,
    n_interacting: int = 2,
    n_irrelevant: int = 8,
    noise: float = 0.0,
    *,
    shuffle: bool = True,
    random_state: RandomState = None,
) -> Made:
    """Generate parity data: the class is the exclusive or of a few of the 0/1 features.

    All combinations of the interacting features are equally frequent, as far as the number of examples
    allows: where it is a multiple of ``2 ** n_interacting`` and there is no noise, features are informative about
    the class only if all the interacting ones are among them.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_interacting : int
        Number of features whose parity is the class, from 2 to 20.
    n_irrelevant : int
        Number of features that are not informative.
    noise : float in [0, 1]
        Share of the examples that get the wrong class.
    shuffle : bool
        Whether the features are put in random order (and named in that order); else the interacting ones come
        first.
    random_state : None, int, RandomState or Generator
        Seed; the same seed gives the same data.

    Returns
    -------
    dataset : Dataset
        The data, with numeric features x1, x2, ... and the classes 0 and 1.
    relevance : Relevance
        The roles of the features: interacting or irrelevant.

    Examples
    --------
    >>> from omnirank.datasets import make_xor
    >>> data, relevance = make_xor(8, shuffle=False, random_state=0)
    >>> bool((data.X[:, :2].sum(axis=1) % 2 == data.y).all())
    True
    """
    plan = FeaturePlan(n_examples, n_irrelevant=n_irrelevant, noise=noise, shuffle=shuffle, random_state=random_state)
    check("n_interacting", n_interacting, count(2, 20))
    check("noise", noise, share())
    for_values, for_order = plan.streams(2)
    combination = for_values.permutation(np.arange(n_examples) % 2**n_interacting)
    bits = combination[:, None] >> np.arange(n_interacting) & 1
    X = np.hstack([bits, for_values.integers(2, size=(n_examples, n_irrelevant))]).astype(np.float64)
    classes = bits.sum(axis=1) % 2
    wrong = for_values.permutation(n_examples)[: round(noise * n_examples)]
    classes[wrong] = 1 - classes[wrong]
    roles = np.repeat(("interacting", "irrelevant"), (n_interacting, n_irrelevant))
    table, relevance = _ordered(X, roles, shuffle, for_order)
    target = Target(("y",), ((0, 1),), classes[:, None].astype(np.float64), np.ones(n_examples, bool))
    return Dataset(table, target, task="classification", name="xor"), relevance


def _ordered(X: np.ndarray, roles: np.ndarray, shuffle: bool, rng: np.random.Generator) -> tuple[Table, Relevance]:
    order = rng.permutation(len(roles)) if shuffle else np.arange(len(roles))
    return Table.from_numeric(X[:, order], numbered_names(len(order), "x")), Relevance.of(roles[order])


# -- several tables ---------------------------------------------------------------------------------------

_STARS_OF_HITS = 5.5
_AGE_OF_DRAMAS = 42.0
_NATIONS = {
    "Africa": ("Egypt", "Kenya"),
    "America": ("Brazil", "Chile", "Peru"),
    "Asia": ("India", "Japan"),
    "Europe": ("Austria", "France", "Italy", "Slovenia", "Spain"),
}


def movie_tables(
    n_movies: int, n_users: int, mean_ratings: float, noise: float, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """Return the tables of :func:`omnirank.datasets.make_movies`."""
    import pandas as pd

    region_of = {nation: region for region, members in _NATIONS.items() for nation in members}
    names = sorted(region_of)
    nations = pd.DataFrame({"id": np.arange(1, len(names) + 1), "name": names, "region": [region_of[n] for n in names]})
    age = np.sort(rng.integers(16, 71, n_users))
    users = pd.DataFrame(
        {
            "id": np.arange(1, n_users + 1),
            "age": age,
            "gender": rng.choice(["f", "m"], n_users),
            "nation_id": rng.integers(1, len(names) + 1, n_users),
        }
    )
    movie = np.repeat(np.arange(n_movies), 1 + rng.poisson(mean_ratings - 1, n_movies))
    # the users of a movie are about as old as its audience, and its stars are about as many as it deserves
    audience = rng.normal(0.5, 0.35, n_movies)[movie] + rng.normal(0, 0.25, len(movie))
    user = np.clip((audience * n_users).astype(int), 0, n_users - 1)
    stars = np.clip(np.round(rng.normal(5.7, 2.0, n_movies)[movie] + rng.normal(0, 1.0, len(movie))), 1, 10)
    ratings = pd.DataFrame(
        {
            "id": np.arange(1, len(movie) + 1),
            "movie_id": movie + 1,
            "user_id": user + 1,
            "stars": stars.astype(int),
            "weekday": rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], len(movie)),
        }
    )
    movies = pd.DataFrame(
        {
            "id": np.arange(1, n_movies + 1),
            "year": rng.integers(1950, 2021, n_movies),
            "minutes": rng.integers(70, 181, n_movies),
            "country": rng.choice(names, n_movies),
            "genre": _genres(movie, stars, age[user], n_movies, noise, rng),
        }
    )
    return {"movies": movies, "nations": nations, "ratings": ratings, "users": users}


def _genres(
    movie: np.ndarray, stars: np.ndarray, age: np.ndarray, n_movies: int, noise: float, rng: np.random.Generator
) -> np.ndarray:
    n_ratings = np.bincount(movie, minlength=n_movies)
    mean_stars = np.bincount(movie, stars, n_movies) / n_ratings
    mean_age = np.bincount(movie, age, n_movies) / n_ratings
    genre = np.where(mean_stars > _STARS_OF_HITS, np.where(mean_age > _AGE_OF_DRAMAS, 1, 0), 2)
    wrong = rng.permutation(n_movies)[: round(noise * n_movies)]
    genre[wrong] = (genre[wrong] + rng.integers(1, 3, len(wrong))) % 3
    return np.array(["comedy", "drama", "thriller"], object)[genre]
