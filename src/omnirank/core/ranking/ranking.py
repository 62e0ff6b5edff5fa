"""The result of every ranking method: features with scores, and what is needed to continue or merge them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from omnirank.core.errors import DataError, DataTypeError, FileFormatError, ParameterError
from omnirank.core.immutable import frozen_floats, frozen_json, frozen_names, thawed_json, which_names
from omnirank.core.parameters import check, count, number
from omnirank.core.ranking.accumulators import Accumulator, TargetScores, check_finishes_to, summed_by_group
from omnirank.core.ranking.certainty import (
    ALPHA,
    CONFIDENCE,
    Certainty,
    adjusted_p_values,
    certainty_of,
    p_value_columns,
)
from omnirank.core.ranking.files import read_fields, write_fields
from omnirank.core.registry import get_method
from omnirank.core.seeds import SeedRanges
from omnirank.core.text import Shown, counted
from omnirank.core.types import PathLike

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def checked_fields(ranking: Ranking) -> dict[str, Any]:
    """Return the fields of a ranking that are kept in another form than given, checked and read-only."""
    for name in ("method", "task", "fingerprint", "p_value_test"):
        value = getattr(ranking, name)
        if not isinstance(value, str) and (name == "method" or value is not None):
            raise DataTypeError(f"{name} of a ranking must be a string, not {type(value).__name__}")
    if not isinstance(ranking.parameters, Mapping):
        raise DataTypeError(f"parameters must be a mapping, not {type(ranking.parameters).__name__}")
    names = frozen_names(ranking.names, "feature")
    scores = _one_per_feature(ranking.scores, "scores", names)
    errors = _one_per_feature(ranking.standard_errors, "standard errors", names, "standard error")
    p_values = _one_per_feature(ranking.p_values, "p values", names, "p value", 1.0)
    p_given_others = _one_per_feature(ranking.p_given_others, "p values given the others", names, "p value", 1.0)
    check_finishes_to(ranking.state, scores)
    if ranking.per_target is not None and ranking.per_target.scores.shape[1] != len(names):
        n_scored = ranking.per_target.scores.shape[1]
        raise DataError(f"per-target scores of {n_scored} features for {len(names)} features")
    targets = ranking.targets
    return {
        "names": names,
        "scores": scores,
        "standard_errors": errors,
        "p_values": p_values,
        "p_value_test": None if p_values is None else ranking.p_value_test,
        "p_given_others": None if p_values is None else p_given_others,
        "parameters": frozen_json(ranking.parameters, "parameters"),
        "targets": targets if targets is None else _some_names(targets, "target"),
        "constant": _constant(ranking.constant, names),
    }


def _one_per_feature(values: Any, what: str, names: tuple[str, ...], one: str = "", most: float = np.inf) -> Any:
    """Numbers; where one of them has a name, from 0 to ``most``, and there may be none."""
    if values is None and one:
        return None
    array = frozen_floats(values, what)
    if array.shape != (len(names),):
        raise DataError(f"{what} of shape {array.shape} for {counted(len(names), 'feature')}")
    for i in np.flatnonzero((array < 0) | (array > most))[:1] if one else ():
        must = "must not be negative" if most == np.inf else f"must lie between 0 and {most:g}"
        raise DataError(f"the {one} of feature {names[i]!r} is {array[i]:g}: it {must}")
    return array


def _some_names(names: Any, what: str) -> tuple[str, ...]:
    """Names as a tuple; there may be none."""
    empty = isinstance(names, Sequence) and not isinstance(names, str) and not len(names)
    return () if empty else frozen_names(names, what)


def _constant(chosen: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    constant = _some_names(chosen, "feature")
    unknown = sorted(set(constant) - set(names))
    if unknown:
        raise DataError(f"the constant feature {unknown[0]!r} is no feature of the ranking")
    return constant


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Shown):
    """Features with their scores; a larger score means a more relevant feature.

    Parameters
    ----------
    names : sequence of str
        Feature names, in the order of the data.
    scores : array-like of shape (n_features,)
        Finite scores in the same order; kept as read-only float64.
    method : str
        Name of the method in the registry.
    parameters : mapping, optional
        Parameters of the method: strings, numbers, booleans, None, and lists and dicts of these.
    task : str or None
        Task that was solved.
    standard_errors : array-like of shape (n_features,) or None
        Standard errors over replicates (such as trees) of the same examples, where the method has some.
    p_values : array-like of shape (n_features,) or None
        For each feature the probability of such a score if it told nothing, not corrected for the number of features.
    p_value_test : str or None
        The test that gave them: "out-of-bag test" (of trees), "permuted copies", or one of your own; None: not known.
    p_given_others : array-like of shape (n_features,) or None
        For each feature the p value given the other features (:func:`omnirank.significance`).
    state : Accumulator or None
        The accumulator that gave the scores; needed by `merge`.
    fingerprint : str or None
        Fingerprint of the data; needed by `merge`.
    seeds : SeedRanges or None
        Random streams used; needed by `merge`.
    per_target : TargetScores or None
        Scores for each single target.
    targets : sequence of str or None
        Names of the targets it was made for, none where it was made without; None: not known.
    constant : sequence of str
        Features with one known value or none. They come last, whatever their scores are: a score of 0 can be better
        than those of noise.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> ranking = Ranking(["height", "width", "noise"], [0.2, 0.7, 0.0], "genie3", task="regression")
    >>> ranking
    Ranking(genie3, regression, 3 features: width 0.7, height 0.2, noise 0)
    >>> ranking.ranks.tolist()
    [2, 1, 3]
    >>> ranking.top(2)
    ['width', 'height']
    >>> ranking.to_frame()
       rank feature  score
    0     1   width    0.7
    1     2  height    0.2
    2     3   noise    0.0
    """

    names: tuple[str, ...]
    scores: np.ndarray
    method: str
    _: KW_ONLY
    parameters: Mapping[str, Any] = field(default_factory=dict)
    task: str | None = None
    standard_errors: np.ndarray | None = None
    p_values: np.ndarray | None = None
    p_value_test: str | None = None
    p_given_others: np.ndarray | None = None
    state: Accumulator | None = None
    fingerprint: str | None = None
    seeds: SeedRanges | None = None
    per_target: TargetScores | None = None
    targets: tuple[str, ...] | None = None
    constant: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in checked_fields(self).items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_state(cls, names: Sequence[str], state: Accumulator, method: str, **others: Any) -> Ranking:
        """Return the ranking with the scores and standard errors of an accumulator.

        Examples
        --------
        >>> from omnirank.core.ranking.accumulators import MeanAccumulator
        >>> from omnirank.core.ranking.ranking import Ranking
        >>> trees = MeanAccumulator.empty(2).update([[1.0, 0.0], [3.0, 0.0]])
        >>> Ranking.from_state(["a", "b"], trees, "genie3").standard_errors.tolist()
        [1.0, 0.0]
        """
        scores, errors = state.finish()
        return cls(tuple(names), scores, method, standard_errors=errors, state=state, **others)

    # -- order ----------------------------------------------------------------------------------------

    @property
    def order_scores(self) -> np.ndarray:
        """The scores by which features are ordered: minus infinity for constant ones."""
        return np.where(which_names(self.names, self.constant), -np.inf, self.scores)

    @cached_property
    def order(self) -> np.ndarray:
        """Indices of the features, best first, constant ones last; tied features keep the order of the data."""
        order = np.argsort(-self.order_scores, kind="stable")
        order.flags.writeable = False
        return order

    @cached_property
    def ranks(self) -> np.ndarray:
        """Rank of each feature, 1 to n_features without gaps (1 = best); ties in the order of the data."""
        ranks = np.empty(len(self.names), dtype=np.int64)
        ranks[self.order] = np.arange(1, len(self.names) + 1)
        ranks.flags.writeable = False
        return ranks

    def tied_ranks(self, method: Literal["average", "min", "max", "dense"] = "average") -> np.ndarray:
        """Return the ranks (1 = best) in which features of equal score share theirs.

        Examples
        --------
        >>> from omnirank.core.ranking.ranking import Ranking
        >>> Ranking(["a", "b", "c"], [0.5, 0.5, 1.0], "genie3").tied_ranks().tolist()
        [2.5, 2.5, 1.0]
        """
        from scipy.stats import rankdata

        return np.asarray(rankdata(-self.order_scores, method=method), dtype=np.float64)

    def __len__(self) -> int:
        return len(self.names)

    # -- choosing features ----------------------------------------------------------------------------

    def top(self, k: int = 10) -> list[str]:
        """Return the names of the k best features, best first (all of them where there are fewer)."""
        return [self.names[i] for i in self.order[: check("k", k, count(0))]]

    def positive(self) -> list[str]:
        """Return the names of the features with a score above 0, best first; no constant ones."""
        return self.top(int(np.count_nonzero(self.order_scores > 0)))

    def relevant(self, alpha: float = ALPHA, correction: str | None = "fdr") -> list[str]:
        """Return the names of the features whose p values are significant, best first; no constant ones.

        Parameters
        ----------
        alpha : float
            The error that is accepted: by ``correction`` the expected share of irrelevant features among those
            returned, the probability of any, or the probability of each single one to be returned.
        correction : {"fdr", "family-wise"} or None
            How p values are corrected for the number of features: Benjamini and Hochberg's false discovery rate,
            Holm's family-wise error, or not at all.

        Examples
        --------
        >>> from omnirank.core.ranking.ranking import Ranking
        >>> ranking = Ranking(["a", "b", "c"], [0.1, 0.5, 0.2], "unbiased", p_values=[0.3, 0.001, 0.03])
        >>> ranking.relevant(), ranking.relevant(correction="family-wise"), ranking.relevant(alpha=0.01)
        (['b', 'c'], ['b'], ['b'])
        """
        if self.p_values is None:
            raise DataError("this ranking has no p values: om.significance(ranker, X, y) or rank --significance has")
        check("alpha", alpha, number(above=0, below=1))
        significant = (adjusted_p_values(self.p_values, correction) <= alpha) & np.isfinite(self.order_scores)
        return [self.names[i] for i in self.order if significant[i]]

    def certainty(self, confidence: float = CONFIDENCE) -> Certainty:
        """Say which first features are those of a full run, with infinitely many trees: see `Certainty`.

        Examples
        --------
        >>> import omnirank as om
        >>> om.EnsembleRanker(random_state=0).fit(om.datasets.load_sample("iris")).ranking_.certainty().summary
        'More trees would not change the top 3 (95 % confident, 100 trees)'
        """
        return certainty_of(self, confidence)

    def select(self, n: int | None = None, *, share: float | None = None, threshold: float | None = None) -> np.ndarray:
        """Return which features to keep: one bool per feature, in the order of the data; no constant ones.

        Parameters
        ----------
        n : int, optional
            Keep the n best.
        share : float, optional
            Keep this share of the features, rounded, at least one.
        threshold : float, optional
            Keep the features with this score or a larger one.

        Examples
        --------
        >>> from omnirank.core.ranking.ranking import Ranking
        >>> ranking = Ranking(["a", "b", "c", "d"], [0.1, 0.5, 0.0, 0.4], "genie3")
        >>> ranking.select(2).tolist()
        [False, True, False, True]
        >>> ranking.select(threshold=0.1).tolist()
        [True, True, False, True]
        """
        if sum(value is not None for value in (n, share, threshold)) != 1:
            raise ParameterError("give exactly one of n, share and threshold")
        if share is not None:
            n = max(1, round(check("share", share, number(above=0, most=1)) * len(self.names)))
        chosen = self.ranks <= check("n", n, count(1)) if threshold is None else self.scores >= threshold
        return np.asarray(chosen & np.isfinite(self.order_scores))

    # -- other views ----------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """Return a table, best first; where there are p values, with p_value (raw), p_adjusted and relevant."""
        import pandas as pd

        order = self.order
        columns: dict[str, Any] = {
            "rank": self.ranks[order],
            "feature": [self.names[i] for i in order],
            "score": self.scores[order],
        }
        if self.standard_errors is not None:
            columns["standard_error"] = self.standard_errors[order]
        columns |= {name: values[order] for name, values in p_value_columns(self.p_values, self.p_given_others).items()}
        return pd.DataFrame(columns)

    def group_scores(self, groups: Mapping[str, str], *, as_shares: bool = False) -> pd.Series:
        """Return the sum of the scores over each group of features, largest first.

        Parameters
        ----------
        groups : mapping
            Feature name -> group; every feature of the ranking must be in it.
        as_shares : bool
            Divide by the total; negative scores count as 0 then.

        Examples
        --------
        >>> from omnirank.core.ranking.ranking import Ranking
        >>> ranking = Ranking(["a", "b", "c"], [1.0, 2.0, 5.0], "genie3")
        >>> ranking.group_scores({"a": "body", "b": "body", "c": "head"}, as_shares=True)
        head    0.625
        body    0.375
        Name: share, dtype: float64
        """
        return summed_by_group(self.names, self.scores, groups, as_shares)

    def for_target(self, target: str) -> Ranking:
        """Return the ranking for one target, from the per-target scores."""
        if self.per_target is None:
            raise DataError("this ranking has no per-target scores")
        if target not in self.per_target.names:
            raise DataError(f"there is no target {target!r}; targets: {', '.join(self.per_target.names)}")
        scores = self.per_target.scores[self.per_target.names.index(target)]
        kept = {name: getattr(self, name) for name in ("parameters", "task", "fingerprint", "constant")}
        return Ranking(self.names, scores, self.method, targets=(target,), **kept)

    def plot(self, ax: Axes | None = None, k: int = 20, **options: Any) -> Axes:
        """Draw the k best features as horizontal bars; see `omnirank.plots.plot_ranking`."""
        from omnirank.plots import plot_ranking

        return plot_ranking(self, ax=ax, k=k, **options)

    def report(self, path: PathLike, data: Any = None, *, fits: bool = True, **options: Any) -> None:
        """Write a report of the ranking: one HTML file that needs no network.

        Parameters
        ----------
        path : str or Path
            The file (``.html``).
        data : Dataset, optional
            What was ranked; what needs the data is left out without it.
        fits : bool
            Whether to fit the ranker further, which takes about seven times as long as the ranking; needs ``data``.
        **options
            Further parameters of `omnirank.report.write_report`: ``ranker``, ``seconds``, ``title``, ``n_jobs``.
        """
        from omnirank.report import write_report

        write_report(self, path, data, fits=fits, **options)

    # -- files ----------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Write the ranking to a ``.json`` or ``.csv`` file, in one step: never half a file.

        JSON keeps everything, floats bit for bit. CSV is for people and spreadsheets: best feature first, with a
        column for each target (``score: target``), without what `merge` needs. A name that a spreadsheet would run
        (``=``, ``+``, ``-`` or ``@`` first) is written with an apostrophe before it, which `load` removes.
        """
        write_fields(self._fields(), Path(path))

    @classmethod
    def load(cls, path: PathLike) -> Ranking:
        """Read a ranking that `save` wrote, or any CSV file with the columns ``feature`` and ``score``."""
        content = read_fields(Path(path))
        try:
            return cls(**content)
        except (DataError, DataTypeError) as error:
            raise FileFormatError(str(error), path=path) from error

    # -- merging --------------------------------------------------------------------------------------

    def merge(self, other: Ranking) -> Ranking:
        """Return the ranking that both rankings' replicates give together.

        Two rankings of the same method with the same parameters on the same data, grown with different
        seeds or with different trees of the same seed (on different machines, say), give the ranking of one
        larger run. The order in which rankings are merged matters only for rounding. The p values are not kept:
        those of both runs together do not follow from the two. Rankings that do not belong together are refused
        with a `DataError` that says why.

        Examples
        --------
        >>> from omnirank.core.ranking.accumulators import MeanAccumulator
        >>> from omnirank.core.ranking.ranking import Ranking
        >>> from omnirank.core.seeds import SeedRanges
        >>> def grow(scores, first):
        ...     trees = MeanAccumulator.empty(2).update(scores)
        ...     seeds = SeedRanges.of(42, first, first + len(scores))
        ...     return Ranking.from_state(["a", "b"], trees, "genie3", fingerprint="f00d", seeds=seeds)
        >>> both = grow([[1.0, 0.0]], first=0).merge(grow([[2.0, 0.5], [3.0, 1.0]], first=1))
        >>> both.scores.tolist(), both.seeds
        ([2.0, 0.5], SeedRanges(ranges=((42, 0, 3),)))
        """
        return Ranking(**merged_fields(self, other))

    # -- Python's own ---------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranking):
            return NotImplemented
        pairs = zip(self._fields().values(), other._fields().values(), strict=True)
        return all(
            # a field may be an array in one ranking and None in the other
            np.array_equal(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else a == b
            for a, b in pairs
        )

    def __hash__(self) -> int:
        return hash((self.names, self.method, self.task, self.fingerprint))

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor: arrays come back from a pickle writeable, and a mapping proxy has no pickle
        return partial(Ranking, **self._fields() | {"parameters": thawed_json(self.parameters)}), ()

    def _fields(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def __repr__(self) -> str:
        best = [f"{self.names[i]} {self.scores[i]:.4g}" for i in self.order[:3]]
        more = ", ..." if len(self.names) > len(best) else ""
        task = f"{self.task}, " if self.task else ""
        return f"Ranking({self.method}, {task}{counted(len(self), 'feature')}: {', '.join(best)}{more})"

    def _in_words(self) -> str:
        return f"{self.method}{', ' + self.task if self.task else ''}: {counted(len(self), 'feature')}"


# -- merging ---------------------------------------------------------------------------------------


# Parameters without influence on the scores of a replicate: they may differ.
_FREE = frozenset({"n_features_to_select", "n_jobs", "random_state", "verbose"})


def merged_fields(a: Ranking, b: Ranking) -> dict[str, Any]:
    """Return the fields of the ranking that the replicates of two rankings give together.

    Raises `DataError` when the rankings do not belong together; which rankings are accepted does not depend
    on the order in which several are merged.

    Examples
    --------
    >>> from omnirank.core.ranking.accumulators import MeanAccumulator
    >>> from omnirank.core.ranking.ranking import merged_fields
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.core.seeds import SeedRanges
    >>> def grow(entropy):
    ...     trees = MeanAccumulator.empty(1).update([[float(entropy)]])
    ...     seeds = SeedRanges.of(entropy, 0, 1)
    ...     return Ranking.from_state(["a"], trees, "genie3", fingerprint="f00d", seeds=seeds)
    >>> merged_fields(grow(1), grow(3))["scores"]
    array([2.])
    >>> merged_fields(grow(1), grow(1))
    Traceback (most recent call last):
    omnirank.core.errors.DataError: these rankings cannot be merged: both used the random streams 0 to 0 ...
    """
    amount = _amount(a.method)
    _check_agreement(a, b, amount)
    if a.seeds is None or b.seeds is None or not (a.seeds.ranges and b.seeds.ranges):
        raise _refusal("it is not known which random streams they used")
    shared = a.seeds.overlap(b.seeds)
    if shared:
        entropy, start, stop = shared
        raise _refusal(
            f"both used the random streams {start} to {stop - 1} of seed {entropy}, so they hold the same "
            "replicates; give the runs different values of random_state"
        )
    state = _merged_state(a.state, b.state, f"method {a.method!r} keeps no sums (or they were not saved)")
    scores, errors = state.finish()
    return {
        **a._fields(),
        "scores": scores,
        "standard_errors": errors,
        "p_values": None,
        "parameters": _merged_parameters(a.parameters, b.parameters, amount),
        "state": state,
        "seeds": a.seeds.union(b.seeds),
        "per_target": _merged_targets(a.per_target, b.per_target),
        # the data are the same; a file of an older version does not tell
        "targets": b.targets if a.targets is None else a.targets,
        "constant": a.constant or b.constant,
    }


def _refusal(reason: str) -> DataError:
    return DataError(f"these rankings cannot be merged: {reason}")


def _amount(method: str) -> str | None:
    """The parameter that says how much was computed, which merging adds up."""
    try:
        ranker = get_method(method).load()
    except ParameterError:
        raise _refusal(
            f"the method {method!r} is not registered here, so it is not known which parameter counts its replicates; "
            "import or install the package that has it"
        ) from None
    return getattr(ranker, "replicates", None)


def _check_agreement(a: Ranking, b: Ranking, amount: str | None) -> None:
    for what in ("method", "task"):
        if getattr(a, what) != getattr(b, what):
            raise _refusal(f"the {what} is {getattr(a, what)!r} in one and {getattr(b, what)!r} in the other")
    if a.names != b.names:
        raise _refusal(f"the feature names differ{_first_difference(a.names, b.names)}")
    if a.fingerprint is None or b.fingerprint is None:
        raise _refusal("it is not known on which data they were computed (no fingerprint)")
    if a.fingerprint != b.fingerprint:
        raise _refusal(f"they come from different data (fingerprints {a.fingerprint} and {b.fingerprint})")
    for key in sorted((a.parameters.keys() | b.parameters.keys()) - {amount} - _FREE):
        if key not in a.parameters or key not in b.parameters:
            raise _refusal(f"the parameter {key!r} is given in one only")
        one, other = a.parameters[key], b.parameters[key]
        if one != other:
            raise _refusal(f"the parameter {key!r} is {one!r} in one and {other!r} in the other")


def _first_difference(a: tuple[str, ...], b: tuple[str, ...]) -> str:
    if len(a) != len(b):
        return f": {counted(len(a), 'feature')} in one and {len(b)} in the other"
    i = next(i for i, (left, right) in enumerate(zip(a, b, strict=True)) if left != right)
    return f": feature {i + 1} is {a[i]!r} in one and {b[i]!r} in the other"


def _merged_state(a: Accumulator | None, b: Accumulator | None, problem: str) -> Accumulator:
    if a is None or b is None:
        raise _refusal(problem)
    return a.merge(b)


def _merged_targets(a: TargetScores | None, b: TargetScores | None) -> TargetScores | None:
    if a is None and b is None:
        return None
    if a is None or b is None:
        raise _refusal("only one of them has per-target scores")
    if a.names != b.names:
        raise _refusal("the target names differ")
    return TargetScores.from_state(a.names, _merged_state(a.state, b.state, "the per-target scores have no sums"))


def _merged_parameters(a: Mapping[str, Any], b: Mapping[str, Any], amount: str | None) -> dict[str, Any]:
    """Amounts of the same type (counts, or shares) are summed; anything else stays where it is the same."""
    merged = {}
    for key in a.keys() & b.keys():
        summable = type(a[key]) is type(b[key]) and type(a[key]) in (int, float)
        if key == amount and summable:
            merged[key] = a[key] + b[key]
        elif key != amount and a[key] == b[key]:
            merged[key] = a[key]
    return {key: merged[key] for key in a if key in merged}
