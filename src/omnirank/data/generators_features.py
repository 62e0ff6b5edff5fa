"""Generated features with known roles: relevant, interacting, redundant, irrelevant.

Relevant features and the parities of interacting ones are the *signals*; targets are made of them alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from omnirank.core.errors import ParameterError, setting
from omnirank.core.parameters import FLAG, SEED, check, check_all, count, number, share
from omnirank.core.seeds import root_entropy
from omnirank.core.types import RandomState
from omnirank.data.table import Levels, Table, numbered_names

# Even numbers of levels: one cut lies at 0, so that binning keeps the signs of interacting features.
_LEVEL_COUNTS = (2, 4, 6)
_LEVEL_NAMES = "abcdef"
_WORD_LEVELS = ("absent", "present")
# Noise of a redundant feature: standard deviation (numeric), or share of its words left out (sparse).
_COPY_NOISE = 0.1


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
    "n_relevant": count(0),
    "n_redundant": count(0),
    "n_irrelevant": count(0),
    "n_interacting": count(0),
    "share_nominal": share(),
    "missing_features": share(below=1),
    "noise": number(0),
    "shuffle": FLAG,
    "random_state": SEED,
    "sparse": FLAG,
    "word_share": share(above=0, below=1),
}


@dataclass(frozen=True)
class FeaturePlan:
    """The parameters that all generators share, checked; `generators.make_regression` describes them."""

    n_examples: int
    n_relevant: int = 5
    n_redundant: int = 0
    n_irrelevant: int = 15
    n_interacting: int = 0
    share_nominal: float = 0.0
    missing_features: float = 0.0
    noise: float = 0.1
    shuffle: bool = True
    random_state: RandomState = None
    labelled: float = 1.0
    sparse: bool = False
    word_share: float = 0.05

    def __post_init__(self) -> None:
        check_all(vars(self), _DOMAINS)
        check("labelled", self.labelled, share() | count(0, self.n_examples, "examples"))
        self._check_roles()

    def _check_roles(self) -> None:
        if self.n_interacting == 1:
            raise ParameterError("n_interacting", 1, "it takes two features or more to interact")
        if self.n_relevant + self.n_interacting == 0:
            raise ParameterError("n_relevant", 0, f"with {setting('n_interacting', 0)} no feature would matter")
        if self.n_redundant and not self.n_relevant:
            none = setting("n_relevant", 0)
            raise ParameterError("n_redundant", self.n_redundant, f"there is no relevant feature to copy ({none})")
        if self.sparse and self.n_interacting:
            advice = f"{setting('sparse', True)} allows none, as a rare word tells alone"
            raise ParameterError("n_interacting", self.n_interacting, advice)

    @property
    def group_sizes(self) -> list[int]:
        """Sizes of the groups of interacting features: pairs, and a last triple where the number is odd."""
        n_groups = self.n_interacting // 2
        return [2] * (n_groups - 1) + [2 + self.n_interacting % 2] if n_groups else []

    def streams(self, number: int) -> list[np.random.Generator]:
        """Return independent random streams of the plan's seed; call it once."""
        return np.random.default_rng(root_entropy(self.random_state)).spawn(number)

    @property
    def n_labelled(self) -> int:
        """Number of examples that keep their labels."""
        if isinstance(self.labelled, Integral):
            return int(self.labelled)
        return round(self.labelled * self.n_examples)


class Signals(NamedTuple):
    """What targets are made of: independent columns of mean 0 and variance 1 (words: 0 and 1)."""

    relevant: np.ndarray
    parity: np.ndarray


def draw_signals(plan: FeaturePlan, rng: np.random.Generator) -> Signals:
    """Return independent signals: normal relevant features (or rare words) and parities of -1 and 1."""
    relevant = rng.standard_normal((plan.n_examples, plan.n_relevant))
    if plan.sparse:
        relevant = (rng.random(relevant.shape) < plan.word_share).astype(np.float64)
    parity = rng.choice((-1.0, 1.0), size=(plan.n_examples, len(plan.group_sizes)))
    return Signals(relevant, parity)


def cluster_signals(plan: FeaturePlan, n_clusters: int, rng: np.random.Generator) -> Signals:
    """Return signals that depend on one of several equally large clusters, drawn for each example."""
    cluster = rng.permutation(np.arange(plan.n_examples) % n_clusters)
    centres = np.arange(n_clusters) - (n_clusters - 1) / 2
    centres /= centres.std()
    relevant = np.column_stack(
        [rng.permutation(centres)[cluster] for _ in range(plan.n_relevant)] or [np.empty((len(cluster), 0))]
    )
    relevant += plan.noise * rng.standard_normal(relevant.shape)
    signs = np.where(np.arange(n_clusters) % 2, 1.0, -1.0)
    parity = np.empty((len(cluster), len(plan.group_sizes)))
    for group in range(parity.shape[1]):
        parity[:, group] = rng.permutation(signs)[cluster]
    return Signals(relevant, parity)


def build_features(plan: FeaturePlan, signals: Signals, rng: np.random.Generator) -> tuple[Table, Relevance]:
    """Return the table of all features, in random order unless the plan says otherwise, and their roles."""
    roles = np.repeat(
        ("relevant", "interacting", "redundant", "irrelevant"),
        (plan.n_relevant, plan.n_interacting, plan.n_redundant, plan.n_irrelevant),
    )
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


def _values(plan: FeaturePlan, signals: Signals, rng: np.random.Generator) -> np.ndarray:
    n = plan.n_examples
    groups = [_interacting(parity, size, rng) for parity, size in zip(signals.parity.T, plan.group_sizes, strict=True)]
    copies = signals.relevant[:, _sources(plan, rng)]
    slopes = rng.uniform(0.5, 2.0, plan.n_redundant) * rng.choice((-1.0, 1.0), plan.n_redundant)
    copies = slopes * (copies + _COPY_NOISE * rng.standard_normal(copies.shape))
    return np.hstack([signals.relevant, *groups, copies, rng.standard_normal((n, plan.n_irrelevant))])


def _interacting(parity: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Normal columns whose product has the sign of the parity; fewer of them do not depend on it."""
    columns = rng.standard_normal((len(parity), size))
    columns[:, -1] *= np.sign(columns).prod(axis=1) * parity
    return columns


def _sources(plan: FeaturePlan, rng: np.random.Generator) -> np.ndarray:
    """Relevant feature that each redundant one copies: all in turn, in random order."""
    return rng.permutation(np.arange(plan.n_redundant) % max(1, plan.n_relevant))


def _words(plan: FeaturePlan, signals: Signals, rng: np.random.Generator) -> Any:
    n = plan.n_examples
    copies = signals.relevant[:, _sources(plan, rng)]
    copies = copies * (rng.random(copies.shape) >= _COPY_NOISE)
    # Poisson draws with repetition give every cell the same chance of at least one hit, independently,
    # without a dense matrix of random numbers.
    n_cells = n * plan.n_irrelevant
    hits = rng.integers(n_cells, size=rng.poisson(-np.log1p(-plan.word_share) * n_cells)) if n_cells else []
    rows, columns = np.divmod(np.unique(np.asarray(hits, dtype=np.int64)), max(1, plan.n_irrelevant))
    others = sparse.csc_array((np.ones(len(rows)), (rows, columns)), shape=(n, plan.n_irrelevant))
    return sparse.hstack([sparse.csc_array(signals.relevant), sparse.csc_array(copies), others], format="csc")


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
