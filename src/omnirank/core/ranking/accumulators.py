"""Score accumulators: what a method keeps while it runs, so that scores can be continued and merged.

An accumulator is an immutable value: ``update`` and ``merge`` return a new one, ``finish`` gives the scores.
Scores are one number per feature; with leading axes (targets x features) an accumulator holds several rows of
scores at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.immutable import frozen_floats, frozen_names
from omnirank.core.text import counted

if TYPE_CHECKING:
    import pandas as pd


# Share of the pair weights below which Relief's P_T (or s - P_T) is rounding and not a target difference, for all
# features, and for those of which pairs were left out (a difference of two large sums).
_RELIEF_TOLERANCE, _RELIEF_TOLERANCE_LEFT_OUT = 1e-12, 1e-9

# Chosen together by `studies/defaults.md`: how often chance credit must be exceeded to count by half, the share of a
# score that is borrowed, and the least number of features that tell what chance makes, or have a line of their kind.
_CHANCES, _BORROWED, _FEWEST_OF_A_KIND = 8.0, 0.2, 10


class _Fields:
    """Base of frozen dataclasses with arrays: compared by their fields, pickled through the constructor."""

    @classmethod
    def _field_names(cls, optional: bool = True) -> list[str]:
        own = fields(cls)  # type: ignore[arg-type]  # every subclass is a dataclass
        return [field.name for field in own if optional or field.default is MISSING]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self._field_names())

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor: arrays come back from a pickle writeable
        return type(self), tuple(getattr(self, name) for name in self._field_names())


class Accumulator(_Fields, ABC):
    """Base of the score accumulators; a subclass is a frozen dataclass of numbers and float64 arrays."""

    kind: ClassVar[str]
    _shaped: ClassVar[str] = "mean"  # a field that has the shape of the scores
    _kinds: ClassVar[dict[str, type[Accumulator]]] = {}

    def __init_subclass__(cls) -> None:
        Accumulator._kinds[cls.kind] = cls

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the scores."""
        return tuple(getattr(self, self._shaped).shape)

    @abstractmethod
    def merge(self, other: Self) -> Self:
        """Return the accumulator of what both have seen."""

    @abstractmethod
    def finish(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the scores and their standard errors (None where there are too few or no replicates)."""

    def to_json(self) -> dict[str, Any]:
        """Return a dict that ``json`` can write; floats come back bit for bit."""
        values = {name: getattr(self, name) for name in self._field_names()}
        return {"kind": self.kind} | {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items()
            if value is not None
        }

    @staticmethod
    def from_json(content: dict[str, Any] | None) -> Accumulator | None:
        """Return the accumulator that ``to_json`` described, of whatever kind; None for None."""
        if content is None:
            return None
        kind = content.get("kind") if isinstance(content, dict) else None
        if not isinstance(kind, str) or kind not in Accumulator._kinds:
            known = ", ".join(sorted(Accumulator._kinds))
            raise DataError(f"the state of a ranking must have one of the kinds {known}")
        cls = Accumulator._kinds[kind]
        absent = [name for name in cls._field_names(optional=False) if name not in content]
        if absent:
            raise DataError(f"the state of a ranking has no {absent[0]!r}")
        return cls(**{name: content[name] for name in cls._field_names() if name in content})

    def _check_same_shape(self, other: Accumulator) -> None:
        if type(self) is not type(other) or self.shape != other.shape:
            raise DataError(
                f"cannot merge {other.kind!r} sums of shape {other.shape} into {self.kind!r} sums of shape {self.shape}"
            )


@dataclass(frozen=True, eq=False)
class MeanAccumulator(Accumulator):
    """Count, mean and sum of squared deviations of the scores of replicates, such as the trees of a forest.

    Parameters
    ----------
    count : int
        Number of replicates.
    mean : ndarray
        Mean score of each feature.
    m2 : ndarray
        Sum over the replicates of the squared deviation from the mean, of each feature.

    Notes
    -----
    ``update`` takes one replicate after the other (Welford), so that the bits do not depend on how the
    replicates were cut into blocks. ``merge`` is the exact pairwise form [1]_: with delta = mean_b - mean_a,
    mean = (n_a mean_a + n_b mean_b) / n and M2 = M2_a + M2_b + delta^2 n_a n_b / n.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub, R. J. LeVeque: Algorithms for computing the sample variance. The American
       Statistician 37 (1983).

    Examples
    --------
    >>> from omnirank.core.ranking.accumulators import MeanAccumulator
    >>> trees = MeanAccumulator.empty(2).update([[1.0, 0.0], [3.0, 0.0]])
    >>> scores, standard_errors = trees.finish()
    >>> scores.tolist(), standard_errors.tolist()
    ([2.0, 0.0], [1.0, 0.0])
    """

    kind: ClassVar[str] = "mean"

    count: int
    mean: np.ndarray
    m2: np.ndarray

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int | np.integer):
            raise DataError(f"the number of replicates must be an integer, not {self.count!r}")
        if not 0 <= self.count < 2**63:
            raise DataError("the number of replicates must lie between 0 and 2**63 - 1")
        object.__setattr__(self, "count", int(self.count))
        _freeze(self, "mean", "m2")
        if self.mean.ndim == 0 or self.mean.shape != self.m2.shape:
            raise DataError(f"means of shape {self.mean.shape} with deviations of shape {self.m2.shape}")
        if np.any(self.m2 < 0):
            raise DataError("a sum of squared deviations is negative")

    @classmethod
    def empty(cls, shape: int | tuple[int, ...]) -> MeanAccumulator:
        """Return the accumulator of no replicate, for scores of the given shape."""
        return cls(0, np.zeros(shape), np.zeros(shape))

    def update(self, block: Any) -> MeanAccumulator:
        """Return the accumulator that has also seen a block of replicates (first axis: replicates)."""
        block = frozen_floats(block, "scores of replicates")
        if block.ndim == 0 or block.shape[1:] != self.shape:
            raise DataError(f"replicates of shape {block.shape} for scores of shape {self.shape}")
        count, mean, m2 = self.count, self.mean.copy(), self.m2.copy()
        for scores in block:
            count += 1
            delta = scores - mean
            mean += delta / count
            m2 += delta * (scores - mean)
        return MeanAccumulator(count, mean, m2)

    def merge(self, other: MeanAccumulator) -> MeanAccumulator:
        """Return the accumulator of the replicates of both."""
        self._check_same_shape(other)
        if not self.count or not other.count:
            return self if self.count else other
        count = self.count + other.count
        delta = other.mean - self.mean
        # symmetric in the two sides, so that the order of merging two rankings changes no bit
        mean = (self.count * self.mean + other.count * other.mean) / count
        m2 = self.m2 + other.m2 + delta**2 * (self.count * other.count / count)
        return MeanAccumulator(count, mean, m2)

    def finish(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the means and their standard errors, sqrt(M2 / (n - 1) / n); None for one replicate."""
        if not self.count:
            raise DataError("there is no replicate to average")
        if self.count == 1:
            return self.mean, None
        return self.mean, np.sqrt(self.m2 / (self.count - 1) / self.count)


@dataclass(frozen=True, eq=False)
class ConfirmedMeans(Accumulator):
    r"""Scores of trees that have credit at the root, the same for all trees, and below it, where single trees differ.

    For the credit r at the root (scaled so that noise of any kind varies alike, see `root`), the mean b of that below
    it, and the mean g of Genie3 of the same trees, features f of the kinds k(f) have the scores

    .. math:: s_f = \tfrac{4}{5}\, e_f + \tfrac{1}{5} \big(\bar e_{k(f)} + a\, (g_f - \bar g_{k(f)})\big), \qquad
              e_f = c\, r_f + \frac{b_f^3}{b_f^2 + (8 \tau)^2},

    .. math:: c = \frac{\max_f r_f}{\sum_f \max(r_f, 0)}, \qquad
              a = \max\Big(0, \frac{\sum_f (g_f - \bar g_{k(f)})\, e_f}{\sum_f (g_f - \bar g_{k(f)})^2}\Big),

    and :math:`\tau` is the root mean square of the negative b, which chance makes (0 for fewer than ten features: of so
    few, those above 0 would seem to be free of chance where none is below). At the root, features share what the
    best of them is credited with. Below it, credit counts the more, the more it exceeds chance. A fifth of the score is
    the line on which the features of a kind lie, given Genie3, which varies less but is biased: its bias is that of a
    kind, so that it does not count. Kinds of fewer than ten features have no line, and keep e.

    Parameters
    ----------
    count, mean, m2
        Of the credit below the root, as in `MeanAccumulator`.
    root : ndarray
        Credit at the root, divided by its standard deviation over permutations of the target, relative to that of
        numbers of many values.
    other_mean, other_m2
        Of Genie3.
    kinds : ndarray (features,)
        Number of the kind of each feature.

    Examples
    --------
    >>> from omnirank.core.ranking.accumulators import ConfirmedMeans
    >>> below, root, genie3, kinds = [9.0, -0.1, 0.0], [3.0, 1.0, -0.5], [5.0, 1.0, 1.0], [0, 0, 0]
    >>> ConfirmedMeans(2, below, [0.0] * 3, root, genie3, [0.0] * 3, kinds).finish()[0].round(3).tolist()
    [11.25, 0.65, -0.375]
    """

    kind: ClassVar[str] = "confirmed means"

    count: int
    mean: np.ndarray
    m2: np.ndarray
    root: np.ndarray
    other_mean: np.ndarray
    other_m2: np.ndarray
    kinds: np.ndarray

    def __post_init__(self) -> None:
        _ = self._below, self._other  # checks them
        _freeze(self, "mean", "m2", "root", "other_mean", "other_m2", "kinds")
        if not self.mean.shape == self.root.shape == self.other_mean.shape or self.kinds.shape != self.shape[-1:]:
            raise DataError("credit at the root, below it, Genie3 and kinds must be of the same features")

    @property
    def _below(self) -> MeanAccumulator:
        return MeanAccumulator(self.count, self.mean, self.m2)

    @property
    def _other(self) -> MeanAccumulator:
        return MeanAccumulator(self.count, self.other_mean, self.other_m2)

    def merge(self, other: ConfirmedMeans) -> ConfirmedMeans:
        """Return the means over the replicates of both."""
        self._check_same_shape(other)
        below, beside = self._below.merge(other._below), self._other.merge(other._other)
        root = (self.count * self.root + other.count * other.root) / max(below.count, 1)
        kinds = np.where(self.kinds < 0, np.minimum(self.kinds, other.kinds), np.maximum(self.kinds, other.kinds))
        return ConfirmedMeans(below.count, below.mean, below.m2, root, beside.mean, beside.m2, kinds)

    def finish(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the scores, and standard errors over trees; too large where those of credit and Genie3 differ."""
        (below, errors), (other, other_errors) = self._below.finish(), self._other.finish()
        none = np.zeros(self.shape)
        given = [below, self.root, other, *(none if x is None else x for x in (errors, other_errors))]
        rows = [self._finished(*row) for row in zip(*(x.reshape(-1, self.shape[-1]) for x in given), strict=True)]
        scores, spread = (np.reshape([row[i] for row in rows], self.shape) for i in (0, 1))
        return scores, None if errors is None else spread

    def _finished(
        self, below: np.ndarray, root: np.ndarray, other: np.ndarray, errors: np.ndarray, other_errors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores and standard errors of one row."""
        negative = below[below < 0] if len(below) >= _FEWEST_OF_A_KIND else below[:0]
        unit = -negative.min(initial=0.0)
        chance = _CHANCES * unit * float(np.sqrt(np.mean((negative / unit) ** 2))) if unit > 0 else 0.0
        with np.errstate(over="ignore"):  # b^3 / (b^2 + T^2) = b / (1 + doubt)
            doubt = np.divide(chance, below, out=np.zeros(len(below)), where=below != 0) ** 2
        slope = np.where(np.isfinite(doubt), (1 + 3 * doubt) / (1 + doubt) ** 2, 0.0)
        positive = np.maximum(root, 0.0)
        share = positive.max(initial=0.0) / positive.sum() if positive.any() else 1.0
        own, errors = share * root + below / (1 + doubt), slope * errors
        _, kind = np.unique(self.kinds, return_inverse=True)
        size = np.bincount(kind)
        many = size[kind] >= _FEWEST_OF_A_KIND
        away = np.where(many, other - (np.bincount(kind, other) / size)[kind], 0.0)
        squares = away @ away
        rise = max(float(away @ own / squares), 0.0) if squares > 0 else 0.0
        line = np.where(many, (np.bincount(kind, own) / size)[kind] + rise * away, own)
        spread = np.where(many, (1 - _BORROWED) * errors + _BORROWED * rise * other_errors, errors)
        return (1 - _BORROWED) * own + _BORROWED * line, spread


@dataclass(frozen=True, eq=False)
class ReliefSums(Accumulator):
    """The sums of Relief over pairs of neighbours: P_FT, P_F, P_T and the total pair weight s.

    Parameters
    ----------
    p_ft : ndarray of shape (..., n_features)
        Weighted sum of feature distance times target distance.
    p_f : ndarray of shape (..., n_features)
        Weighted sum of feature distances.
    p_t : float or ndarray of shape (...)
        Weighted sum of target distances.
    weight : float or ndarray of shape (...)
        Sum s of the pair weights.
    left_out_t, left_out : ndarray of shape (..., n_features), optional
        The parts of P_T and s that come from pairs in which a feature's cell is missing; P_FT and P_F are without them.
        By default nothing was left out.

    Notes
    -----
    The importance is P_FT / P_T - (P_F - P_FT) / (s - P_T), an estimate of P(feature differs | target
    differs) - P(feature differs | target is the same). It is undefined where no pair differs in the target
    (P_T = 0) or all pairs do so fully (P_T = s): then all scores are 0 and ``degenerate`` says so.

    Where pairs were left out, P_T and s are those of the feature's own pairs, and the importance is multiplied by the
    square root of the share of the pair weights that these have: fewer pairs give scores that vary more, and features
    that do not matter would rise to both ends of a ranking the less is known of them.

    References
    ----------
    Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109, 2020. Eq. (4) and
    Algorithm 3; with pair weights: Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine
    Learning 112, 2023. Algorithm 3.

    Examples
    --------
    >>> from omnirank.core.ranking.accumulators import ReliefSums
    >>> half = ReliefSums(p_ft=[2.0, 1.0], p_f=[2.0, 2.0], p_t=2.0, weight=4.0)
    >>> half.merge(half).finish()[0].tolist()
    [1.0, 0.0]
    """

    kind: ClassVar[str] = "relief"
    _shaped: ClassVar[str] = "p_ft"

    p_ft: np.ndarray
    p_f: np.ndarray
    p_t: np.ndarray
    weight: np.ndarray
    left_out_t: np.ndarray = None  # type: ignore[assignment]
    left_out: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        _freeze(self, "p_ft", "p_f", "p_t", "weight")
        rows = self.p_ft.shape[:-1]
        if not (self.p_ft.ndim and self.p_ft.shape == self.p_f.shape and self.p_t.shape == rows):
            raise DataError(f"P_FT, P_F and P_T have the shapes {self.p_ft.shape}, {self.p_f.shape}, {self.p_t.shape}")
        if self.weight.shape != rows:
            raise DataError(f"pair weights of shape {self.weight.shape} with P_T of shape {rows}")
        for name in ("left_out_t", "left_out"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.zeros(self.shape))
        _freeze(self, "left_out_t", "left_out")
        if not self.left_out_t.shape == self.left_out.shape == self.shape:
            raise DataError(
                f"what was left out has the shapes {self.left_out_t.shape} and {self.left_out.shape}, not {self.shape}"
            )

    @classmethod
    def empty(cls, shape: int | tuple[int, ...]) -> ReliefSums:
        """Return the sums over no pair, for scores of the given shape."""
        zeros = np.zeros(shape)
        return cls(zeros, zeros, np.zeros(zeros.shape[:-1]), np.zeros(zeros.shape[:-1]))

    @property
    def degenerate(self) -> bool:
        """Whether the scores (of a row) are undefined because the target never or always differs."""
        return not bool(np.all(_differs_in_part(self.p_t, self.weight, _RELIEF_TOLERANCE * self.weight)))

    def merge(self, other: ReliefSums) -> ReliefSums:
        """Return the sums over the pairs of both."""
        self._check_same_shape(other)
        return ReliefSums(*(getattr(self, name) + getattr(other, name) for name in self._field_names()))

    def finish(self) -> tuple[np.ndarray, None]:
        """Return the importances; Relief has no replicates, so there is no standard error."""
        all_pairs = np.broadcast_to(self.weight[..., None], self.shape)
        p_t, weight = self.p_t[..., None] - self.left_out_t, all_pairs - self.left_out
        tolerance = _RELIEF_TOLERANCE_LEFT_OUT if self.left_out.any() else _RELIEF_TOLERANCE
        defined = _differs_in_part(p_t, weight, tolerance * all_pairs)
        given_different = np.divide(self.p_ft, p_t, out=np.zeros(self.shape), where=defined)
        given_same = np.divide(self.p_f - self.p_ft, weight - p_t, out=np.zeros(self.shape), where=defined)
        scores = given_different - given_same
        if self.left_out.any():
            scores *= np.sqrt(np.divide(weight, all_pairs, out=np.zeros(self.shape), where=defined))
        return scores, None


def _differs_in_part(p_t: np.ndarray, weight: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Where a target differs, but not fully in all pairs."""
    return np.asarray((p_t > least) & (weight - p_t > least))


def check_finishes_to(state: Accumulator | None, scores: np.ndarray) -> None:
    """Raise `DataError` unless the scores are those of the state (if there is one).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.ranking.accumulators import MeanAccumulator, check_finishes_to
    >>> check_finishes_to(MeanAccumulator.empty(1).update([[2.0]]), np.array([3.0]))
    Traceback (most recent call last):
    omnirank.core.errors.DataError: the scores are not those of the given state
    """
    if state is None:
        return
    if not isinstance(state, Accumulator):
        raise DataTypeError(f"state must be an Accumulator, not {type(state).__name__}")
    with np.errstate(over="ignore", invalid="ignore"):  # sums from a damaged file may be huge
        agree = state.shape == scores.shape and np.allclose(state.finish()[0], scores, rtol=1e-9, atol=0)
    if not agree:
        raise DataError("the scores are not those of the given state")


def _freeze(accumulator: Accumulator, *names: str) -> None:
    for name in names:
        values = frozen_floats(getattr(accumulator, name), f"{name} of a score accumulator")
        object.__setattr__(accumulator, name, values)


# -- scores beside a ranking: of single targets, and of groups of features -------------------------


@dataclass(frozen=True, eq=False)
class TargetScores(_Fields):
    """Scores of the features for each single target.

    Parameters
    ----------
    names : sequence of str
        Target names.
    scores : array-like of shape (n_targets, n_features)
        Finite scores, features in the order of the ranking; kept as read-only float64.
    state : Accumulator or None
        The accumulator that gave the scores; without it the ranking cannot be merged.

    Examples
    --------
    >>> from omnirank.core.ranking.accumulators import TargetScores
    >>> TargetScores(("power", "cost"), [[1.0, 0.0], [0.5, 0.5]]).scores.shape
    (2, 2)
    """

    names: tuple[str, ...]
    scores: np.ndarray
    state: Accumulator | None = None

    def __post_init__(self) -> None:
        names = frozen_names(self.names, "target")
        scores = frozen_floats(self.scores, "per-target scores")
        if scores.ndim != 2 or len(scores) != len(names):
            raise DataError(f"per-target scores of shape {scores.shape} for {counted(len(names), 'target')}")
        check_finishes_to(self.state, scores)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "scores", scores)

    @classmethod
    def from_state(cls, names: tuple[str, ...], state: Accumulator) -> TargetScores:
        """Return the scores of an accumulator of shape (n_targets, n_features)."""
        return cls(names, state.finish()[0], state)


def summed_by_group(
    names: Sequence[str], scores: np.ndarray, groups: Mapping[str, str], as_shares: bool = False
) -> pd.Series:
    """Return the sum of the scores over each group of features, largest first; see `Ranking.group_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.ranking.accumulators import summed_by_group
    >>> summed_by_group(["a", "b"], np.array([1.0, 2.0]), {"a": "body", "b": "body"}).to_dict()
    {'body': 3.0}
    """
    import pandas as pd

    missing = [name for name in names if name not in groups]
    if missing:
        raise DataError(f"no group for {counted(len(missing), 'feature')}, the first is {missing[0]!r}")
    values = np.maximum(scores, 0.0) if as_shares else scores
    sums = pd.Series(values, dtype=np.float64).groupby([groups[name] for name in names], sort=False).sum()
    if as_shares and sums.sum() > 0:
        sums = sums / sums.sum()
    return sums.rename("share" if as_shares else "score").sort_values(ascending=False, kind="stable")
