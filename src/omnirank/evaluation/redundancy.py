"""Which features stand for each other: `omnirank.redundancy`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.parameters import check, count, number
from omnirank.core.plurals import counted
from omnirank.core.seeds import stream
from omnirank.data.containers import FeaturesLike, in_memory
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.evaluation.alignment import RankingLike, ranking_for
from omnirank.evaluation.associations import Pairs, associated_pairs
from omnirank.shards.dataset import ShardedDataset

if TYPE_CHECKING:
    import pandas as pd

_EXAMPLES_KEY = 2**31 + 4


@dataclass(frozen=True)
class FeatureGroup:
    """A feature and those that it stands for.

    Parameters
    ----------
    representative : str
        The best ranked feature of the group.
    others : tuple of str
        The other features, best ranked first.
    associations : tuple of float
        How closely each of them is related to the representative.
    score : float
        Sum of the scores of all features of the group. Trees share the score of a signal among its copies: the sum is
        about what the signal would have alone. Relief and scores of single features do not: their sums are too large.
    """

    representative: str
    others: tuple[str, ...]
    associations: tuple[float, ...]
    score: float

    def __str__(self) -> str:
        return (
            f"{self.representative} stands also for: {', '.join(self.others)}" if self.others else self.representative
        )


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Features in groups that stand for each other.

    Parameters
    ----------
    groups : tuple of FeatureGroup
        All groups, also those of one feature, by the rank of their representatives.
    threshold : float
        Association with the representative from which a feature belongs to its group.
    n_features : int
        Number of features of the ranking; those beyond the top that was asked for are in no group.
    """

    groups: tuple[FeatureGroup, ...]
    threshold: float
    n_features: int

    @property
    def representatives(self) -> list[str]:
        """One feature per group, best first."""
        return [group.representative for group in self.groups]

    @property
    def redundant(self) -> list[str]:
        """The features for which a better ranked one stands, group by group."""
        return [name for group in self.groups for name in group.others]

    def __str__(self) -> str:
        return self.summary

    @property
    def summary(self) -> str:
        """How many features are left, in words."""
        n = len(self.representatives) + len(self.redundant)
        top = f"the top {n} of {self.n_features} features" if n < self.n_features else counted(n, "feature")
        if not self.redundant:
            return f"none of {top} stands for another (association below {self.threshold:g})"
        groups = counted(len(self.groups), "group")
        return f"{top} form {groups} (association of at least {self.threshold:g}); redundant: {len(self.redundant)}"

    def to_frame(self) -> pd.DataFrame:
        """Return a table of all features in groups: group, feature, representative, association."""
        import pandas as pd

        rows: list[tuple[Any, ...]] = []
        for number_of, group in enumerate(self.groups, start=1):
            rows.append((number_of, group.representative, group.representative, 1.0))
            rows += [
                (number_of, name, group.representative, value)
                for name, value in zip(group.others, group.associations, strict=True)
            ]
        return pd.DataFrame(rows, columns=["group", "feature", "representative", "association"])


def redundancy(
    ranking: RankingLike,
    dataset: Dataset | ShardedDataset | FeaturesLike,
    threshold: float = 0.9,
    *,
    top: int = 2000,
    max_examples: int = 5000,
    n_jobs: int | None = None,
) -> Redundancy:
    """Group features that stand for each other, so that ten copies of one signal are seen as one.

    The best feature stands for all that are closely related to it; the best of the others for all of these that are
    closely related to it; and so on. So every feature is related to its representative, not only to another member of
    the group.

    Parameters
    ----------
    ranking : Ranking, fitted ranker or array-like of scores
        The order of the features.
    dataset : Dataset, ShardedDataset, or features
        The data; the target is not looked at. Of data in parts that do not fit in memory, only the examples that are
        drawn are read.
    threshold : float
        The least association between a feature and the one that stands for it: the absolute rank correlation of two
        numbers, the correlation ratio of a number and a nominal feature, Tschuprow's T of two nominal features, the
        latter two corrected for their levels (`omnirank.evaluation.associations.associated_pairs`).
    top : int
        Only that many of the best features are compared: the time grows with the square of their number.
    max_examples : int
        Associations are computed from that many examples, drawn at random with a fixed seed, where there are more.
    n_jobs : int or None
        Number of workers.

    Returns
    -------
    Redundancy
        The groups.

    Notes
    -----
    Associations see pairs, and of numbers only monotone relations: neither a feature that follows from two others
    together is found, nor the square of a feature that is as often negative as positive.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> rng = np.random.default_rng(0)
    >>> signal, other = rng.normal(size=(2, 200))
    >>> X = np.column_stack([signal, other, np.exp(signal), -signal + 0.1 * rng.normal(size=200)])
    >>> found = om.redundancy([0.3, 0.1, 0.2, 0.4], X)
    >>> [str(group) for group in found.groups]
    ['x3 stands also for: x0, x2', 'x1']
    >>> found.summary
    '4 features form 2 groups (association of at least 0.9); redundant: 2'
    """
    check("threshold", threshold, number(above=0, most=1))
    check("top", top, count(1))
    check("max_examples", max_examples, count(2))
    data = dataset if isinstance(dataset, Dataset | ShardedDataset) else Dataset(dataset)
    ordered = ranking_for(ranking, data.feature_names)
    compared = ordered.order[:top]
    pairs = associated_pairs(_part(data, compared, max_examples), threshold, n_jobs)
    groups = leader_groups(len(compared), pairs)
    names = [ordered.names[i] for i in compared.tolist()]
    scores = ordered.scores[compared]
    made = [
        FeatureGroup(
            names[leader],
            tuple(names[i] for i in others),
            tuple(others.values()),
            float(scores[[leader, *others]].sum()),
        )
        for leader, others in groups.items()
    ]
    return Redundancy(tuple(made), float(threshold), len(ordered))


def _part(data: Dataset | ShardedDataset, columns: np.ndarray, max_examples: int) -> Table:
    """The features that are compared, of so many examples; what leaves out more is done first."""
    n = data.n_examples
    if n <= max_examples:
        return in_memory(data).features.select(columns)
    rows = np.sort(stream(0, _EXAMPLES_KEY).permutation(n)[:max_examples])
    if isinstance(data, ShardedDataset):
        return data.take(rows).features.select(columns)
    if max_examples * data.n_features < n * len(columns):
        return data.take(rows).features.select(columns)
    return data.features.select(columns).take(rows)


def leader_groups(n: int, pairs: Pairs) -> dict[int, dict[int, float]]:
    """Return for each leader the others of its group with their association; the first of all are leaders first.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.associations import Pairs
    >>> from omnirank.evaluation.redundancy import leader_groups
    >>> leader_groups(4, Pairs(np.array([0, 1, 1]), np.array([1, 2, 3]), np.array([0.9, 0.95, 1.0])))
    {0: {1: 0.9}, 2: {}, 3: {}}
    """
    starts = np.searchsorted(pairs.first, np.arange(n + 1))
    led = np.zeros(n, bool)
    groups: dict[int, dict[int, float]] = {}
    for leader in range(n):
        if led[leader]:
            continue
        own = slice(starts[leader], starts[leader + 1])
        others = zip(pairs.second[own].tolist(), pairs.values[own].tolist(), strict=True)
        groups[leader] = {i: value for i, value in others if not led[i]}
        led[list(groups[leader])] = True
    return groups
