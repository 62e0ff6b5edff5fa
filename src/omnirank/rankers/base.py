"""What every ranker shares: reading the data, the fitted attributes, and choosing the top features."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from omnirank.core.errors import DataError, DataTypeError, ParameterError, logger, setting
from omnirank.core.parameters import JOBS, SEED, Domain, Hinting, check, check_parameters, choice, count, share
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.registry import SUPERVISION, method_name, methods
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.columns import is_frame
from omnirank.data.containers import FeaturesLike, TargetLike, checked_sparse, in_memory, unmasked
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import any_table, check_sample_weight, read_features, read_input
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.notes import caller_outside, of_one_value
from omnirank.data.table import is_sparse
from omnirank.data.task_registry import TASKS, task_named, task_target
from omnirank.shards.dataset import ShardedDataset, check_given

Self = TypeVar("Self", bound="BaseRanker")
SelfWeighted = TypeVar("SelfWeighted", bound="WeightedRanker")


class DependsOn:
    """A class attribute that is another one in instances with certain values of a parameter.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    by_value : mapping
        The attribute by value of the parameter.
    otherwise : sequence of str
        The attribute of the class, and for all other values.
    """

    def __init__(self, parameter: str, by_value: Mapping[str, Sequence[str]], otherwise: Sequence[str]) -> None:
        self._parameter, self._by_value, self._otherwise = parameter, by_value, otherwise

    def __get__(self, ranker: Any, owner: type) -> Sequence[str]:
        return self._by_value.get(getattr(ranker, self._parameter, ""), self._otherwise)


class _TableSelector(Hinting, SelectorMixin, BaseEstimator):
    """Keeps columns of arrays, sparse containers and data frames; ``set_output`` decides what comes out."""

    def transform(self, X: FeaturesLike) -> Any:
        """Keep the selected columns."""
        if is_frame(X):
            return self._kept_columns(nw.from_native(X, eager_only=True))
        return super().transform(checked_sparse(X) if is_sparse(X) else unmasked(X))

    def inverse_transform(self, X: ArrayLike) -> Any:
        """Put selected columns back in their places, with zeros elsewhere; as scikit-learn, without missing cells."""
        return super().inverse_transform(unmasked(X))

    def _kept_columns(self, frame: Any) -> Any:
        validate_data(self, nw.to_native(frame), skip_check_array=True, reset=False)
        return nw.to_native(frame[:, self.get_support(indices=True).tolist()])


# Without keys, scikit-learn leaves `transform` as it is written here: a Dataset stays a Dataset.
@dataclass(kw_only=True, eq=False, repr=False)
class BaseRanker(_TableSelector, auto_wrap_output_keys=()):  # type: ignore[call-arg]
    """Base of all rankers: a scikit-learn selector whose subclasses only compute scores.

    A subclass has a method ``_rank(dataset)``. Parameters of its own are fields of a dataclass, decorated by
    ``@dataclass(eq=False, repr=False)``, or stored by a constructor that passes on those of all rankers.
    One that uses weights of examples is a `WeightedRanker` and has ``_rank(dataset, sample_weight=None)``; rows
    of weight 0 are dropped before.

    Where ``supported_supervision`` is ("unsupervised",), the target is not read. Where the method takes numbers as
    target and nothing else, whole numbers are numbers too, not classes.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Scores in the order of the input.
    ranking_ : Ranking
        The ranking.
    rankings_ : dict of str to Ranking
        All rankings that the method gives at once, by name of the score.
    task_ : str
        The task as inferred or given.
    selection_curve_ : SelectionCurve
        With ``n_features_to_select="auto"`` or ``"forest"``: how well the top features predict, by their number.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    ``n_features_to_select`` is a count, a share, None for half of the features, or says who chooses: "auto", the
    smallest number by which neighbours predict as well as by the best one, within one standard error, cross-validated
    inside the training data (`omnirank.select`); "forest", the same by random forests; "significant", all features
    that are significant.

    Examples
    --------
    A method of one's own:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.rankers.base import BaseRanker
    >>> @dataclass(eq=False, repr=False)
    ... class RangeRanker(BaseRanker):
    ...     power: float = 1.0
    ...
    ...     def _rank(self, dataset):
    ...         return self._ranking(dataset, np.ptp(dataset.features.numeric, axis=0) ** self.power, "range")
    >>> ranker = RangeRanker(n_features_to_select=1).fit([[1.0, 5.0], [2.0, 9.0]])
    >>> ranker.ranking_
    Ranking(range, clustering, 2 features: x1 4, x0 1)
    >>> ranker.transform([[0.0, 7.0]])
    array([[7.]])
    """

    # What the method can do; the registry says the same of its entries.
    supported_tasks: ClassVar[Sequence[str]] = TASKS
    supported_supervision: ClassVar[Sequence[str]] = SUPERVISION
    # The parameter that counts the replicates of a fit (trees, iterations): rankings of more of them can be merged.
    replicates: ClassVar[str | None] = None

    # The domains of parameters, checked by fit; a subclass adds its own.
    _parameter_checks: ClassVar[Mapping[str, Domain]] = {"random_state": SEED, "n_jobs": JOBS}

    task: str = "auto"
    hierarchy: Hierarchy | None = None
    n_features_to_select: int | float | str | None = None
    random_state: RandomState = None
    n_jobs: int | None = None

    @abstractmethod
    def _rank(self, dataset: Dataset) -> Ranking | Mapping[str, Ranking]:
        """Return the ranking, or several by name of the score; the first of them is ``ranking_``."""

    def fit(self: Self, X: FeaturesLike, y: TargetLike | None = None) -> Self:
        """Rank the features.

        Parameters
        ----------
        X : Dataset, ShardedDataset, array-like, scipy.sparse container or data frame
            A data set with its target, or the features: numbers are numeric; categoricals, strings and
            booleans are nominal; NaN, None and NA are missing.
        y : array-like, data frame, scipy.sparse container, sequence of sets or None
            The target of any task; NaN, None and NA are unlabelled. None: unsupervised. Not with a Dataset.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y)

    def _fit(
        self: Self,
        X: FeaturesLike,
        y: TargetLike | None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        if isinstance(X, ShardedDataset) and not X.fits_in_memory:
            if groups is not None:
                raise DataError(f"groups need all examples in memory: {X.why_not_in_memory}")
            return self._fit_parts(X, y, sample_weight)
        with all_or_nothing(self):
            check_parameters(self)
            dataset = read_input(self, X, y, task=self._asked_task(X, y), hierarchy=self.hierarchy)
            self._check_supported(dataset)
            self._n_selected(dataset.n_features)
            dataset = dataset if groups is None else dataset.with_groups(groups)
            more: tuple[np.ndarray, ...] = ()
            if sample_weight is not None:
                weights = check_sample_weight(sample_weight, dataset.n_examples)
                if not weights.all():
                    dataset, weights = dataset.take(weights > 0), weights[weights > 0]
                more = (weights,)
            if dataset.target is not None and "semi-supervised" not in self.supported_supervision:
                if not dataset.labelled.any():
                    raise DataError("no example has both a known target value and a positive weight")
                dataset, more = labelled_part(dataset, more)
            self._take_rankings(self._rank(dataset, *more), dataset.task)
            self._choose_features(dataset, *more)
        return self

    @property
    def _uses_target(self) -> bool:
        return not {"supervised", "semi-supervised"}.isdisjoint(self.supported_supervision)

    def _asked_task(self, X: FeaturesLike, y: TargetLike | None) -> str:
        """Return the task as given, or as the method implies it: no target is read, or whole numbers are numbers."""
        if not isinstance(self.task, str) or self.task != "auto":
            return self.task
        if not self._uses_target:
            logger.info("%s does not use the target", type(self).__name__)
            return task_named("none")
        if y is None or {task_target(task).kind for task in self.supported_tasks} != {"numbers"}:
            return "auto"
        target, task = target_from(y)
        levels = () if target is None else [level for own in target.levels for level in own or ()]
        if task_target(task).kind not in ("classes", "labels") or any(isinstance(one, str | bool) for one in levels):
            return "auto"
        return task_named("numbers", single=task_target(task).single)

    def _take_rankings(self, ranked: Ranking | Mapping[str, Ranking], task: str) -> None:
        if not isinstance(ranked, Ranking | Mapping):
            kind = type(ranked).__name__
            raise DataTypeError(
                f"{type(self).__name__}._rank must return self._ranking(dataset, scores, name), not {kind}"
            )
        self.task_ = task
        self.rankings_ = {ranked.method: ranked} if isinstance(ranked, Ranking) else dict(ranked)
        self.ranking_ = next(iter(self.rankings_.values()))
        self.feature_importances_ = self.ranking_.scores.copy()

    def _fit_parts(self: Self, data: ShardedDataset, y: TargetLike | None, sample_weight: ArrayLike | None) -> Self:
        """Rank the features of data that do not fit in memory, if the method can."""
        with all_or_nothing(self):
            check_parameters(self)
            check_parts(self, data, y, sample_weight)
            read_features(self, data.example, reset=True)
            self._check_supported(data.example)
            self._n_selected(data.n_features)
            self._take_rankings(self._rank_parts(data), data.task)
            self._choose_features(data)
        return self

    def _rank_parts(self, data: ShardedDataset) -> Ranking | Mapping[str, Ranking]:
        """Return the ranking of data that do not fit in memory; a method that cannot stream them says so."""
        return self._rank(data.in_memory())

    def _choose_features(self, dataset: Dataset | ShardedDataset, sample_weight: np.ndarray | None = None) -> None:
        """Let the data choose the features, where the user leaves it to them."""
        self.__dict__.pop("selection_curve_", None)
        self._kept_features: tuple[str, np.ndarray] | None = None
        if isinstance(self.n_features_to_select, str):
            # late, and the one way up: what judges rankings knows all rankers
            from omnirank.evaluation.selection import chosen_features

            mask, curve = chosen_features(self, dataset, self.n_features_to_select, sample_weight)
            self._kept_features = self.n_features_to_select, mask
            if curve is not None:
                self.selection_curve_ = curve

    def transform(self, X: FeaturesLike) -> Any:
        """Keep the top features.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame
            Examples with all the features of the training data.

        Returns
        -------
        Dataset, data frame, sparse container or array
            The same kind of container with the selected features, in the order of the input. For arrays and frames
            of pandas and polars, ``set_output`` may ask for another kind.
        """
        check_is_fitted(self)
        X = in_memory(X)
        if isinstance(X, Dataset):
            read_features(self, X, reset=False)
            return X.select_features(self.get_support(indices=True))
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if is_frame(X) and not (frame.implementation.is_pandas_like() or frame.implementation.is_polars()):
            return self._kept_columns(frame)  # a kind of frame that set_output does not know
        return super().transform(X)

    def fit_transform(self, X: FeaturesLike, y: TargetLike | None = None, **fit_params: Any) -> Any:
        """Rank the features and keep the top ones: ``fit`` and ``transform`` at once.

        Parameters
        ----------
        X, y
            As in `fit`.
        **fit_params
            Further arguments of `fit`, such as ``sample_weight`` where the method takes it.

        Returns
        -------
        Dataset, data frame, sparse container or array
            As in `transform`.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the selected features, in the order of the input.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of all features, where the training data had none; by default those of ``ranking_``.
        """
        check_is_fitted(self)
        if input_features is None and not hasattr(self, "feature_names_in_"):
            input_features = np.array(self.ranking_.names, dtype=object)
        return np.asarray(super().get_feature_names_out(input_features))

    def with_p_values(self: Self) -> Self | None:
        """Return such a ranker whose rankings have p values, where the method has any of its own; else None."""
        return None

    # -- rankings of several parameters from one fit ----------------------------------------------------

    @classmethod
    def _one_fit_gives(cls, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the parameters that may be lists: one fit gives the rankings of all their values.

        ``parameters`` are all parameters of the ranker: values that the data decide give one ranking only.
        """
        return ()

    def _ranking_at(self, **values: Any) -> Ranking:
        """Return the ranking for one value of each such parameter; by default those of ``ranking_``.

        Where a fit gives several scores, ``importance`` is the name of one.
        """
        return self.rankings_[values["importance"]] if values else self.ranking_

    def __sklearn_tags__(self) -> Any:
        tags = any_table(super().__sklearn_tags__())
        tags.target_tags.required = "unsupervised" not in self.supported_supervision
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _ranking(self, dataset: Dataset | ShardedDataset, scores: Any, method: str, **others: Any) -> Ranking:
        """Return a Ranking with what all methods record: names, parameters, and what is known of the data."""
        known = recorded_of(dataset) | others
        return Ranking(dataset.feature_names, scores, method, parameters=self._recorded_parameters(), **known)

    def _recorded_parameters(self) -> dict[str, Any]:
        """Parameters as a file can hold them; how many workers there were is no property of the result."""
        values = self.get_params(deep=False)
        plain = (str, int, float, bool, type(None))
        return {
            name: value
            for name, value in values.items()
            if name not in ("hierarchy", "n_jobs") and isinstance(value, plain)
        }

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        wanted = self.n_features_to_select
        if not isinstance(wanted, str):
            return self.ranking_.select(self._n_selected(len(self.ranking_)))
        if self._kept_features is None or self._kept_features[0] != wanted:
            chosen = setting("n_features_to_select", wanted)
            raise DataError(f"{chosen} was set after fit, but the training data have to choose: fit again")
        return self._kept_features[1].copy()

    def _n_selected(self, n_features: int) -> int | None:
        """Check the number of features to select, and return it; None where the data choose."""
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n_features // 2)
        domain = choice(None, "auto", "forest", "significant") | count(1, n_features, "features") | share(above=0)
        check("n_features_to_select", wanted, domain)
        if isinstance(wanted, str):
            return None
        return int(wanted) if isinstance(wanted, Integral) else max(1, round(float(wanted) * n_features))

    def _check_supported(self, dataset: Dataset) -> None:
        if not self._uses_target and self.task == "auto":
            return
        if dataset.target is None and "unsupervised" not in self.supported_supervision:
            raise DataError(
                f"{_named(self)} needs a target: it requires y to be passed, but the target y is None or has no known "
                "value (--target names it on the command line); "
                + _other_methods("need none", supervision="unsupervised")
            )
        if dataset.task not in self.supported_tasks:
            handled, others = ", ".join(self.supported_tasks), _other_methods("do", dataset.task)
            raise DataError(f"{_named(self)} does not handle {dataset.task}; it handles {handled}; {others}")


def _named(ranker: BaseRanker) -> str:
    """The class of a ranker, and the method that it is."""
    registered = method_name(ranker)
    return type(ranker).__name__ + ("" if registered is None else f" (method {registered!r})")


class WeightedRanker(BaseRanker):
    """Base of rankers that take weights of examples: ``_rank(dataset, sample_weight=None)``."""

    def fit(
        self: SelfWeighted, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None
    ) -> SelfWeighted:
        """Rank the features.

        Parameters
        ----------
        X, y
            As in :meth:`BaseRanker.fit`.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples; with rankers inside, for those that take them. They do not change what is drawn.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y, sample_weight)


def _other_methods(can: str, task: str | None = None, supervision: str | None = None) -> str:
    # controls take a target and do not look at it
    names = [m.name for m in methods(task, supervision) if m.uses_target or supervision == "unsupervised"]
    return f"methods that {can}: {', '.join(names)}"


# -- what fits begin and end with -------------------------------------------------------------------------


def recorded_of(dataset: Dataset | ShardedDataset) -> dict[str, Any]:
    """Return what a ranking records of the data: task, fingerprint, names of targets, constant features."""
    if isinstance(dataset, ShardedDataset):
        constant = dataset.constant
    else:
        constant = tuple(name for name, _ in of_one_value(dataset.features))
    return {
        "task": dataset.task,
        "fingerprint": dataset.fingerprint,
        "targets": dataset.target_names,
        "constant": constant,
    }


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator if its fit fails: the result before stays, not parts of two."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_parts(ranker: Any, data: ShardedDataset, y: Any, sample_weight: Any) -> None:
    """Refuse what is not possible with data that do not fit in memory."""
    check_given(ranker, data, y, sample_weight)
    wanted, has_p_values = ranker.n_features_to_select, ranker.with_p_values() is not None
    if isinstance(wanted, str) and not (wanted == "significant" and has_p_values):
        advice = "it is for data in memory: give a number"
        if has_p_values:
            advice += ", or 'significant'"
        elif wanted == "significant":
            advice += f", since {type(ranker).__name__} has no p values of its own"
        raise ParameterError("n_features_to_select", wanted, advice)


def labelled_part(dataset: Dataset, more: tuple[Any, ...]) -> tuple[Dataset, tuple[Any, ...]]:
    """Return the labelled examples of the data, and of arrays with a value for each example."""
    labelled = dataset.labelled
    if labelled.all():
        return dataset, more
    logger.info("%d unlabelled examples are not used", int((~labelled).sum()))
    return dataset.take(labelled), tuple(values[labelled] for values in more)


def warn_unless(converged: bool, method: str, n_iterations: int) -> None:
    """Warn where an iteration has ended before it converged."""
    if not converged:
        warnings.warn(
            f"{method} has not converged in {n_iterations} iterations: its scores are those of the last one; "
            "allow more of them, or stop earlier",
            ConvergenceWarning,
            stacklevel=caller_outside(),
        )
