"""The promises that every ranker keeps, as checks: run them on a method of your own."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from omnirank.core.errors import DataWarning
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.registry import SUPERVISION
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import without_target
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TASKS, TaskTarget, is_unsupervised, task_named, task_target


def check_ranker(ranker: BaseEstimator) -> None:
    """Run all checks of `ranker_checks`, and raise an AssertionError at the first that fails.

    Run scikit-learn's ``check_estimator`` as well: the checks here are about what it does not know.

    Parameters
    ----------
    ranker : ranker
        An instance; its parameters are kept, but for ``random_state``, ``n_jobs`` and
        ``n_features_to_select``. Choose them so that it is fast: it is fitted some 50 times.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.testing import check_ranker
    >>> check_ranker(om.UnivariateRanker())
    """
    for name, check in ranker_checks(ranker):
        try:
            check()
        except Exception as error:
            raise AssertionError(f"{type(ranker).__name__} fails {name}: {error}") from error


def ranker_checks(ranker: BaseEstimator) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the name of each check and a function without arguments that runs it.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.testing import ranker_checks
    >>> names = [name for name, check in ranker_checks(om.UnivariateRanker())]
    >>> names[0], len(names) > 15
    ('fits classification', True)
    """
    return ((name, partial(_quietly, check)) for name, check in _checks_of(ranker))


def _quietly(check: Callable[[], None]) -> None:
    """Run a check without what is said about its data, which are made to be easy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        check()


def _checks_of(ranker: BaseEstimator) -> Iterator[tuple[str, Callable[[], None]]]:
    tasks = getattr(ranker, "supported_tasks", TASKS)
    supervision = getattr(ranker, "supported_supervision", SUPERVISION)
    for task in tasks:
        if ("unsupervised" if is_unsupervised(task) else "supervised") in supervision:
            yield f"fits {task}", lambda task=task: _fits(ranker, task)  # type: ignore[misc]
    supervised = [task for task in tasks if not is_unsupervised(task)] if "supervised" in supervision else []
    first = supervised[0] if supervised else task_named("none")
    yield "takes or refuses data without known target", lambda: _no_known_target(ranker, supervision)
    if not is_unsupervised(first):
        yield "takes unlabelled examples", lambda: _unlabelled(ranker, first)
    checks = (
        _keeps_names,
        _any_number_of_workers,
        _same_seed,
        _dataset_or_arrays,
        _frames_and_arrays,
        _sparse_features,
        _leaves_input_alone,
        _clones_and_pickles,
        _selects,
        _refuses,
    )
    for check in checks:
        name = check.__name__.strip("_").replace("_", " ")
        yield name, lambda check=check: check(ranker, first)  # type: ignore[misc]


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _fresh(ranker: Any, **parameters: Any) -> Any:
    known = ranker.get_params(deep=False)
    settings = {"random_state": 0, "n_jobs": None, "n_features_to_select": None} | parameters
    return clone(ranker).set_params(**{name: value for name, value in settings.items() if name in known})


def _require_same(first: Any, second: Any, when: str) -> None:
    same = np.array_equal(first.feature_importances_, second.feature_importances_)
    _require(same, f"scores differ {when}: {first.feature_importances_} and {second.feature_importances_}")


def _require_scores(ranker: Any, data: Dataset) -> None:
    scores = ranker.feature_importances_
    _require(
        isinstance(scores, np.ndarray) and scores.shape == (data.n_features,),
        f"feature_importances_ must be an array of one score per feature, is {scores!r}",
    )
    _require(np.isfinite(scores).all(), f"scores must be finite, are {scores}")
    _require(ranker.n_features_in_ == data.n_features, f"n_features_in_ is {ranker.n_features_in_}")
    ranking = ranker.ranking_
    _require(isinstance(ranking, Ranking), f"ranking_ is a {type(ranking).__name__}, not a Ranking")
    _require(ranking.names == data.feature_names, f"ranking_ has the names {ranking.names}")
    _require(np.array_equal(ranking.scores, scores), "ranking_.scores and feature_importances_ differ")
    _require(ranking.task == ranker.task_, f"ranking_.task is {ranking.task}, task_ is {ranker.task_}")
    rankings = ranker.rankings_
    _require(any(r == ranking for r in rankings.values()), "rankings_ does not hold ranking_")
    _require(all(r.names == ranking.names for r in rankings.values()), "rankings_ differ in their names")


def _fits(ranker: Any, task: str) -> None:
    for missing in (False, True):
        data = tiny_dataset(task, missing=missing)
        fitted = _fresh(ranker)
        _require(fitted.fit(data) is fitted, "fit must return the ranker itself")
        _require(fitted.task_ == task, f"task_ is {fitted.task_!r} for {task} data")
        _require_scores(fitted, data)


def _no_known_target(ranker: Any, supervision: Any) -> None:
    data = tiny_dataset("regression")
    hidden = data.hide_labels(slice(None))
    if "unsupervised" not in supervision:
        for unlabelled in (hidden, without_target(data)):
            try:
                _fresh(ranker).fit(unlabelled)
            except ValueError as error:
                _require("target" in str(error) or "y" in str(error).split(), f"unclear error: {error}")
            else:
                raise AssertionError("data without any known target must be refused with a ValueError")
        return
    fitted = _fresh(ranker).fit(hidden)
    _require(is_unsupervised(fitted.task_), f"task_ is {fitted.task_!r} when no target value is known")
    _require_scores(fitted, hidden)
    _require_same(fitted, _fresh(ranker).fit(without_target(data)), "between unknown target and no target")


def _unlabelled(ranker: Any, task: str) -> None:
    data = tiny_dataset(task)
    half = data.hide_labels(np.arange(data.n_examples) % 2 == 0)
    fitted = _fresh(ranker).fit(half)
    _require(fitted.task_ == task, f"task_ is {fitted.task_!r} for half labelled {task} data")
    _require_scores(fitted, half)


def _plain(task: str) -> tuple[np.ndarray, Any, tuple[str, ...]]:
    """Numbers without missing cells, the target as users write it, and the names."""
    data = tiny_dataset(task, nominal=False, missing=False)
    return np.asarray(data.X), data.y, data.feature_names


def _keeps_names(ranker: Any, task: str) -> None:
    X, y, names = _plain(task)
    frame = pd.DataFrame(X, columns=pd.Index(list(names)))
    fitted = _fresh(ranker, task=task, n_features_to_select=2).fit(frame, y)
    _require(tuple(fitted.feature_names_in_) == names, f"feature_names_in_ is {fitted.feature_names_in_}")
    kept = fitted.get_feature_names_out().tolist()
    _require(set(kept) == set(fitted.ranking_.top(2)), f"get_feature_names_out gives {kept}")
    _require(list(fitted.transform(frame).columns) == kept, "transform must keep the data frame's names")


def _any_number_of_workers(ranker: Any, task: str) -> None:
    data = tiny_dataset(task)
    one = _fresh(ranker, n_jobs=1).fit(data)
    _require_same(one, _fresh(ranker, n_jobs=2).fit(data), "between one worker and two")


def _same_seed(ranker: Any, task: str) -> None:
    data = tiny_dataset(task)
    for seed in (0, 1):
        first = _fresh(ranker, random_state=seed).fit(data)
        _require_same(first, _fresh(ranker, random_state=seed).fit(data), "with the same random_state")
        before = first.feature_importances_.copy()
        _require(np.array_equal(before, first.fit(data).feature_importances_), "a second fit differs")


def _dataset_or_arrays(ranker: Any, task: str) -> None:
    X, y, _ = _plain(task)
    arrays = _fresh(ranker, task=task).fit(X, y)
    _require_same(arrays, _fresh(ranker).fit(Dataset(X, y, task=task)), "between Dataset and (X, y)")
    data = Dataset(X, y, task=task)
    kept = _fresh(ranker, n_features_to_select=2).fit(data).transform(data)
    _require(isinstance(kept, Dataset) and kept.n_features == 2, "transform(Dataset) must give a Dataset")


def _frames_and_arrays(ranker: Any, task: str) -> None:
    X, y, names = _plain(task)
    arrays = _fresh(ranker, task=task).fit(X, y)
    columns = {name: X[:, i] for i, name in enumerate(names)}
    frame = pd.DataFrame(columns)
    _require_same(arrays, _fresh(ranker, task=task).fit(frame, y), "between arrays and pandas")
    try:
        import polars
    except ImportError:
        return
    fitted = _fresh(ranker, task=task).fit(polars.DataFrame(columns), y)
    _require_same(arrays, fitted, "between arrays and polars")


def _sparse_features(ranker: Any, task: str) -> None:
    X, y, _ = _plain(task)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    fitted = _fresh(ranker, task=task).fit(sparse.csr_array(X), y)
    _require_scores(fitted, Dataset(X, y, task=task))


def _leaves_input_alone(ranker: Any, task: str) -> None:
    X, y, _ = _plain(task)
    X_before, y_before = X.copy(), None if y is None else y.copy()
    fitted = _fresh(ranker, task=task)
    parameters = repr(fitted.get_params())
    fitted.fit(X, y).transform(X)
    same = np.array_equal(X, X_before) and (y_before is None or np.array_equal(y, y_before))
    _require(same, "fit changes its input")
    _require(repr(fitted.get_params()) == parameters, "fit changes the ranker's parameters")


def _clones_and_pickles(ranker: Any, task: str) -> None:
    data = tiny_dataset(task)
    fitted = _fresh(ranker).fit(data)
    copy = pickle.loads(pickle.dumps(fitted))
    _require(copy.ranking_ == fitted.ranking_, "the ranking changes in a pickle")
    _require(not hasattr(clone(fitted), "ranking_"), "a clone must not be fitted")


def _selects(ranker: Any, task: str) -> None:
    X, y, _ = _plain(task)
    n = X.shape[1]
    for wanted, count in ((1, 1), (n, n), (1.0, n), (0.4, 2), (None, n // 2)):
        fitted = _fresh(ranker, task=task, n_features_to_select=wanted).fit(X, y)
        n_kept = fitted.transform(X).shape[1]
        _require(n_kept == count, f"n_features_to_select={wanted} keeps {n_kept} of {n} features")
        best = set(fitted.ranking_.order[:count].tolist())
        _require(set(fitted.get_support(indices=True).tolist()) == best, "the selected are not the best")


def _refuses(ranker: Any, task: str) -> None:
    X, y, _ = _plain(task)
    data = Dataset(X, y, task=task)
    cases: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("n_features_to_select=0", lambda: _fresh(ranker, n_features_to_select=0).fit(data)),
        ("more features than there are", lambda: _fresh(ranker, n_features_to_select=99).fit(data)),
        ("a Dataset and y", lambda: _fresh(ranker).fit(data, np.ones(len(X)))),
        ("an unknown task", lambda: _fresh(ranker, task="no-such-task").fit(X, y)),
        ("one example", lambda: _fresh(ranker).fit(data.take([0]))),
    )
    for what, call in cases:
        try:
            call()
        except ValueError:
            continue
        raise AssertionError(f"{what} must be refused with a ValueError")


# -- data sets of a few examples, one for every task, on which a ranker runs at once ---------------


_N_EXAMPLES = 36


def tiny_dataset(task: str, *, nominal: bool = True, missing: bool = True) -> Dataset:
    """Return a data set of 36 examples whose first feature is the most relevant one.

    Parameters
    ----------
    task : str
        A task name.
    nominal : bool
        Whether two of the five features are nominal.
    missing : bool
        Whether some cells are missing.

    Examples
    --------
    >>> from omnirank.testing import tiny_dataset
    >>> tiny_dataset("multi-label")
    <Dataset 'tiny': 36 examples, 5 features, multi-label, 3 targets, 36 labelled>
    """
    asked = task_target(task)
    rng = np.random.default_rng(7)
    signal = rng.normal(size=_N_EXAMPLES)
    y, hierarchy = _target(asked, signal, rng)
    X = _features(signal, rng, nominal, missing)
    return Dataset(X, y, task=task, hierarchy=hierarchy, name="tiny")


def _features(signal: np.ndarray, rng: np.random.Generator, nominal: bool, missing: bool) -> pd.DataFrame:
    n = len(signal)
    X = pd.DataFrame(
        {
            "strong": signal + 0.05 * rng.normal(size=n),
            "weak": signal + 2.0 * rng.normal(size=n),
            "noise": rng.normal(size=n),
            "group": rng.integers(0, 3, n).astype(float),
            "flag": (signal + rng.normal(size=n) > 0).astype(float),
        }
    )
    if nominal:
        X["group"] = pd.Categorical(np.array(["low", "mid", "top"])[X["group"].astype(int)])
        X["flag"] = X["flag"] == 1
    if missing:
        X.loc[[3, 11], "weak"] = np.nan
        X.loc[5, "group"] = None if nominal else np.nan
    return X


def _target(task: TaskTarget, signal: np.ndarray, rng: np.random.Generator) -> tuple[Any, Hierarchy | None]:
    other = rng.normal(size=len(signal))
    classes = np.array(["no", "yes"])[(signal > 0).astype(int)]
    levels = np.array(["a", "b", "c"])[np.digitize(signal, [-0.5, 0.5])]
    labels = np.column_stack([signal > 0, signal > 0.7, signal < -0.5]).astype(int)
    if task.hierarchical:
        hierarchy = Hierarchy.from_paths(["up", "up/high", "down"])
        return pd.DataFrame(labels, columns=pd.Index(["up", "up/high", "down"])), hierarchy
    targets = {
        "classes": levels if task.single else np.column_stack([levels, classes]),
        "numbers": signal if task.single else np.column_stack([signal, signal**2, other]),
        "labels": labels,
        "mixed": pd.DataFrame({"value": signal, "level": levels}),
        "none": None,
    }
    return targets[task.kind], None
