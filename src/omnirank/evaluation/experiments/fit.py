"""One fit of a study: its data, methods as estimators, one fit for several of them, and the results of each."""

from __future__ import annotations

import inspect
import math
import re
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError, OmnirankError, ParameterError
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.registry import get_method
from omnirank.data.dataset import Dataset, join_examples
from omnirank.data.target import Target
from omnirank.data.task_registry import task_named
from omnirank.ensembles.plan import PRIVATE_RULES
from omnirank.ensembles.scores import SCORES
from omnirank.evaluation.cross import FoldParts, judge, judge_folds, over_folds
from omnirank.evaluation.experiments.store import canonical_json, content_key, sources_hash
from omnirank.evaluation.folds import Fold, labelled_folds, make_folds
from omnirank.rankers.base import BaseRanker
from omnirank.tasks import get_task
from omnirank.tasks.measuring import measure_of

# Learners that are judged by their own predictions: an estimator for classes and labels, and one for numbers.
PREDICTORS = {
    "pct": ("omnirank.ensembles.pct", "PCTClassifier", "PCTRegressor"),
    "pct-forest": ("omnirank.ensembles.pct", "PCTForestClassifier", "PCTForestRegressor"),
}


def make(use: str, parameters: Mapping[str, Any], seed: int, *, single_target: bool = False) -> Any:
    """Return a method as an estimator.

    Parameters
    ----------
    use : str
        Name in the registry, or of a predictor (then for classes).
    parameters : mapping
        Its parameters; lists stand for tuples where the estimator wants these.
    seed : int
        Value of ``random_state``, where the method has one.
    single_target : bool
        Whether to rank for each target alone and average.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.fit import make
    >>> make("genie3", {"n_trees": 20}, seed=1)
    EnsembleRanker(importance='genie3', n_trees=20, random_state=1)
    """
    if use in PREDICTORS:
        return make_predictor(use, task_named("classes", single=True), parameters, seed)
    method = get_method(use)
    known = inspect.signature(method.load()).parameters
    settings = dict(parameters) | ({"random_state": seed} if "random_state" in known else {})
    if "influence" in settings and isinstance(settings["influence"], list):
        settings["influence"] = tuple(settings["influence"])
    private = PRIVATE_RULES if hasattr(method.load(), "_rules") else ()
    rules = {name: settings.pop(name) for name in private if name in settings}
    ranker = method.make(**settings)
    if rules:
        ranker._rules = rules
    if not single_target:
        return ranker
    from omnirank.rankers.per_target import PerTargetRanker

    return PerTargetRanker(ranker)


def make_predictor(use: str, task: str, parameters: Mapping[str, Any], seed: int) -> Any:
    """Return a predictor for a task."""
    kind = get_task(task).kind
    if kind == "none":
        raise ParameterError(f"method {use!r} predicts a target, but the data set has none")
    module, for_classes, for_numbers = PREDICTORS[use]
    maker = getattr(import_module(module), for_classes if kind in ("classes", "labels") else for_numbers)
    known = list(inspect.signature(maker).parameters)
    for name in parameters:
        if name not in known:
            raise ParameterError(f"method {use!r} has no parameter {name!r} for {task}; it has {', '.join(known)}")
    return maker(**parameters, random_state=seed)


# -- one fit for several methods ------------------------------------------------------------------


def fit_parts(method: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divide a method into what its fit is and what it takes from the fit.

    Methods whose first parts are equal are served by one fit: the scores and sizes of an ensemble, the numbers of
    neighbours and iterations of Relief.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.fit import fit_parts
    >>> fit, taken = fit_parts({"use": "symbolic", "parameters": {"n_trees": 50, "ensemble": "bagging"}})
    >>> fit["parameters"], taken
    ({'ensemble': 'bagging'}, {'importance': 'symbolic', 'n_trees': 50})
    """
    rest = {key: value for key, value in method.items() if key not in ("use", "parameters")}
    use, parameters = method["use"], dict(method["parameters"])
    if use in PREDICTORS or "grid" in method:
        return {"use": use, "parameters": parameters, **rest}, {}
    registered = get_method(use)
    settings, ranker = dict(registered.parameters) | parameters, registered.load()
    full = {name: known.default for name, known in inspect.signature(ranker).parameters.items()} | settings
    shared = ranker._one_fit_gives(full) if issubclass(ranker, BaseRanker) else ()
    # for single targets only the scores are kept for all of them together
    taken = {name: full[name] for name in shared if name == "importance" or not method.get("single_target")}
    own = {name: value for name, value in settings.items() if name not in taken}
    # which parameters are taken is part of the fit: one that the data decide cannot be listed with numbers
    return {"ranker": registered.ranker, "parameters": own, "varied": list(taken), **rest}, taken


def models_of_one_fit(methods: Mapping[str, Mapping[str, Any]], train: Any, seed: int) -> dict[str, Any]:
    """Fit once and return the rankings of several methods that share the fit (or a fitted predictor), by their keys.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.experiments.fit import models_of_one_fit
    >>> wanted = {score: {"use": score, "parameters": {"n_trees": 5}} for score in ("genie3", "symbolic")}
    >>> found = models_of_one_fit(wanted, om.datasets.load_sample("iris"), seed=0)
    >>> [ranking.method for ranking in found.values()]
    ['genie3', 'symbolic']
    """
    parts = {key: fit_parts(method) for key, method in methods.items()}
    fit, taken = next(iter(parts.values()))
    method = next(iter(methods.values()))
    single = bool(method.get("single_target"))
    if method["use"] in PREDICTORS:
        predictor = make_predictor(method["use"], train.task, method["parameters"], seed).fit(train)
        return dict.fromkeys(methods, predictor)
    if not taken:
        ranking = make(method["use"], method["parameters"], seed, single_target=single).fit(train).ranking_
        return dict.fromkeys(methods, ranking)
    wanted = {key: part[1] for key, part in parts.items()}
    several = {name: sorted({one[name] for one in wanted.values()}) for name in taken}
    scores = several.pop("importance", [])
    # a fit gives its own score and those that cost nothing
    own = [name for name in scores if SCORES[name].on_demand] or scores[:1] or [method["use"]]
    rankers = {name: make(name, fit["parameters"], seed, single_target=single) for name in own}
    fitted = {name: ranker.set_params(**several).fit(train) for name, ranker in rankers.items()}
    return {key: fitted.get(one.get("importance"), fitted[own[0]])._ranking_at(**one) for key, one in wanted.items()}


# -- parameters chosen inside the training examples -----------------------------------------------


def chosen_method(
    method: Mapping[str, Any], train: Dataset, seed: int, evaluation: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the method with the combination of its grid that predicts held-out labelled examples best.

    The labelled training examples are divided into folds; all unlabelled ones train each time. Of equally good
    combinations the first is taken, in the order of the grid's values (parameters in alphabetical order).

    Parameters
    ----------
    method : mapping
        With ``grid`` (lists of values by parameter) and ``select`` (``n_folds`` and perhaps ``measure``).
    train : Dataset
        The training examples.
    seed : int
        Seed of the folds and of the method.
    evaluation : mapping
        How rankings are judged.
    """
    measure = measure_of(train.task, method["select"].get("measure"))
    methods = _combinations(method)
    folds = labelled_folds(train, method["select"]["n_folds"], seed)
    values, weights = [], []
    for judged in judge_folds(train, folds, lambda _, part: _models(methods, part, seed), evaluation):
        values.append([judged.measures[key][measure.name] for key in methods])
        weights.append(judged.parts.n_judged)
    means, _ = over_folds(values, weights)
    if np.isnan(means).any():
        raise DataError(f"{measure.name!r} is undefined in all internal folds: use fewer folds or another measure")
    best = np.argmax(means) if measure.larger_is_better else np.argmin(means)
    return methods[str(best)]


def _combinations(method: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The method with each combination of its grid, by number."""
    plain = {key: value for key, value in method.items() if key not in ("grid", "select", "parameters")}
    chosen = enumerate(combinations(method["grid"]))
    return {str(i): plain | {"parameters": {**method["parameters"], **values}} for i, values in chosen}


def combinations(grid: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """Return all combinations of the values of a grid."""
    names = sorted(grid)
    return [dict(zip(names, values, strict=True)) for values in product(*(grid[name] for name in names))]


def _models(methods: Mapping[str, dict[str, Any]], train: Dataset, seed: int) -> dict[str, Any]:
    """Fit all combinations, those that share a fit at once."""
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for key, method in methods.items():
        groups.setdefault(canonical_json(fit_parts(method)[0]), {})[key] = method
    return {key: model for group in groups.values() for key, model in models_of_one_fit(group, train, seed).items()}


# -- the jobs of one fit --------------------------------------------------------------------------

# The users' code that this process has imported, by method and task.
_own: dict[tuple[str, str], str] = {}


def own_code(use: str, task: str) -> str:
    """Return a hash of the users' code behind a method and a task; "" where both are omnirank's.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.fit import own_code
    >>> own_code("genie3", "regression")
    ''
    """
    rankers = [] if use in PREDICTORS else [get_method(use).ranker.partition(":")[0]]
    return sources_hash([*rankers, type(get_task(task)).__module__])


def perform(order: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the jobs of one fit: read the data, fit once, judge; errors are part of the outcome, not raised.

    Parameters
    ----------
    order : mapping
        ``specs`` of the jobs (by key), and of the study ``code``, ``modules``, ``keep_rankings``.

    Returns
    -------
    dict
        ``done`` (figures, seconds of the fit and perhaps the ranking, by key) and ``failed`` (error and traceback, by
        key); JSON-like.
    """
    specs = order["specs"]
    outcome: dict[str, Any] = {"done": {}, "failed": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there would be one per fold; fits one by one show them
        try:
            for module in order["modules"]:
                import_module(module)
            parts = _parts(next(iter(specs.values())))
        except Exception as error:  # the other fits go on
            return {"done": {}, "failed": dict.fromkeys(specs, _failure(error))}
        for key, result in _results(specs, _fitted(specs, parts.train), parts, order["keep_rankings"]):
            if isinstance(result, Exception):
                outcome["failed"][key] = _failure(result)
            else:
                outcome["done"][key] = result
    return outcome


class _Fitted(NamedTuple):
    """A model, or why there is none."""

    model: Any
    seconds: float
    error: Exception | None = None


def _parts(spec: Mapping[str, Any]) -> FoldParts:
    """The parts of the fold; a supervised method neither learns from unlabelled examples nor has them as neighbours."""
    loaded = load_source(spec["data"]["source"])
    if loaded.fingerprint != spec["data"]["fingerprint"]:
        raise DataError("the data are not those that were planned: they have changed since; run the plan again")
    use, task = spec["method"]["use"], loaded.dataset.task
    if (use, task) not in _own:
        _own[use, task] = own_code(use, task)
    if _own[use, task] != spec.get("own", ""):
        raise OmnirankError(
            f"modules behind method {use!r} or task {task!r} have been edited: run the plan again, with new workers"
        )
    wanted = spec["fold"]
    folds = loaded.folds(wanted["scheme"], wanted["parameters"], spec["seed"])
    parts = loaded.parts(next(one for one in folds if (one.key, one.digest) == (wanted["key"], wanted["digest"])))
    if not spec["method"]["labelled_only"] or parts.train.target is None:
        return parts
    return parts._replace(train=parts.train.take(parts.train.labelled))


def _fitted(specs: Mapping[str, Mapping[str, Any]], train: Dataset) -> dict[str, _Fitted]:
    """Fit once for all jobs; where that fails, each on its own, so that one does not fail the others."""
    start = time.perf_counter()
    try:
        methods = {key: _method(spec, train) for key, spec in specs.items()}
        models = models_of_one_fit(methods, train, next(iter(specs.values()))["seed"])
        seconds = time.perf_counter() - start
        return {key: _Fitted(model, seconds) for key, model in models.items()}
    except Exception as error:
        if len(specs) == 1:
            return {key: _Fitted(None, 0.0, error) for key in specs}
    return {key: fitted for key, spec in specs.items() for key, fitted in _fitted({key: spec}, train).items()}


def _method(spec: Mapping[str, Any], train: Dataset) -> Mapping[str, Any]:
    """The method with all its parameters; those of a grid are chosen on the training examples."""
    method = spec["method"]
    return chosen_method(method, train, spec["seed"], spec["evaluation"]) if "grid" in method else method


def _results(
    specs: Mapping[str, Mapping[str, Any]], fitted: Mapping[str, _Fitted], parts: FoldParts, keep_rankings: bool
) -> Iterator[tuple[str, dict[str, Any] | Exception]]:
    """Judge every model; jobs that differ in the number of neighbours only are judged at once."""
    groups: dict[str, list[str]] = {}
    for key, spec in specs.items():
        alike = {name: value for name, value in spec["evaluation"].items() if name != "n_neighbors"}
        groups.setdefault(canonical_json([spec["method"], alike]), []).append(key)
    for keys in groups.values():
        one, evaluation = fitted[keys[0]], specs[keys[0]]["evaluation"]
        try:
            if one.error is not None:
                raise one.error
            if "n_neighbors" in evaluation:
                counts = {key: specs[key]["evaluation"]["n_neighbors"] for key in keys}
                by_count = judge(one.model, parts, evaluation | {"n_neighbors": sorted(set(counts.values()))})
                figures = {key: by_count[k] for key, k in counts.items()}
            else:
                figures = dict.fromkeys(keys, judge(one.model, parts, evaluation))
            yield from ((key, _result(figures[key], fitted[key], parts, keep_rankings)) for key in keys)
        except Exception as error:  # the other groups go on
            yield from ((key, error) for key in keys)


def _result(figures: Mapping[str, float], fitted: _Fitted, parts: FoldParts, keep_ranking: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
        "figures": {name: value if math.isfinite(value) else None for name, value in figures.items()},
        "seconds": fitted.seconds,
        "n_test": parts.n_judged,
    }
    ranking = fitted.model
    if keep_ranking and isinstance(ranking, Ranking):
        result["ranking"] = {name: list(getattr(ranking, name)) for name in ("names", "constant")}
        result["ranking"]["scores"] = ranking.scores.tolist()
    return result


def _failure(error: Exception) -> dict[str, Any]:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return {"error": text, "traceback": "".join(traceback.format_exception(error))}


# -- data sets -------------------------------------------------------------------------------------


# ${NAME}, or ${NAME:-what stands for it where it is not set}
_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}")
# The data set of this process, by its source and the stamps of its files.
_held: dict[str, Loaded] = {}


@dataclass(frozen=True, eq=False)
class Loaded:
    """A Dataset in memory; ``test`` where the test examples have a file of their own."""

    dataset: Dataset
    test: Dataset | None = None
    _folds: dict[str, list[Fold]] = field(default_factory=dict, repr=False)

    @property
    def fingerprint(self) -> str:
        """Hash of all that is in it."""
        parts = [self.dataset.fingerprint, None if self.test is None else self.test.fingerprint]
        return content_key({"parts": parts})

    def folds(self, scheme: str, parameters: Mapping[str, Any], seed: int) -> list[Fold]:
        """Return the folds of the data.

        Parameters
        ----------
        scheme, parameters
            As in `omnirank.evaluation.folds.make_folds`. Where the test examples have a file of their own, that is the
            fold: of the parameters only ``labelled`` and ``repetitions`` (with ``labelled``) count.
        seed : int
            ``random_state`` of the scheme unless ``parameters`` has one.

        Examples
        --------
        >>> from omnirank.evaluation.experiments.fit import load_source
        >>> iris = load_source({"sample": "iris"})
        >>> [fold.key for fold in iris.folds("cross-validation", {"n_folds": 2}, seed=0)]
        ['repetition=0 fold=0', 'repetition=0 fold=1']
        """
        seeded = {} if scheme == "consecutive" else {"random_state": seed}
        used = seeded | dict(parameters)
        mark = canonical_json([scheme, used])
        if mark not in self._folds:
            self._folds.clear()  # jobs come in the order of their folds
            alone = self.test is None
            self._folds[mark] = make_folds(self.dataset, scheme, **used) if alone else self._file_folds(used)
        return self._folds[mark]

    def _file_folds(self, parameters: Mapping[str, Any]) -> list[Fold]:
        """Folds in which the rows of the test file come after those of the training file."""
        assert self.test is not None
        n, m = self.dataset.n_examples, self.test.n_examples
        rows = slice(n, n + m)
        # only which examples are labelled matters, so the two files need not be put together
        known = np.concatenate([self.dataset.labelled, self.test.labelled])
        target = Target.numeric(np.where(known, 0.0, np.nan)[:, None], ["known"])
        numbered = Dataset(np.zeros((n + m, 1)), target, task="regression")
        used = {name: parameters[name] for name in ("labelled", "repetitions", "random_state") if name in parameters}
        return make_folds(numbered, "predefined", test=rows, **used)

    def parts(self, fold: Fold) -> FoldParts:
        """Return the training part of a fold, the same with all its labels, and the test part."""
        if self.test is None:
            return FoldParts.of(fold, self.dataset)
        return FoldParts(fold.training(self.dataset), fold.training_with_all_labels(self.dataset), self.test)


def missing_files(source: Mapping[str, Any]) -> list[str]:
    """Return the files of a data source that are not there."""
    named = [*_files(source), source.get("options", {}).get("labels")]
    return [path for path in named if path is not None and not Path(path).is_file()]


def load_source(source: Mapping[str, Any]) -> Loaded:
    """Read a data source; the last one is kept, because jobs come in the order of their data, and no other.

    Parameters
    ----------
    source : mapping
        ``{"sample": name, "n_irrelevant": count}`` or ``{"path": file, "more": files, "test": file, "options": ...}``.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.fit import load_source
    >>> load_source({"sample": "iris"}).dataset.n_examples
    150
    """
    mark = canonical_json([source, [_stamp(path) for path in _files(source)]])
    if mark not in _held:
        # before the next one is read: there may be no room for two
        _held.clear()
        _held[mark] = _read(source)
    return _held[mark]


def _read(source: Mapping[str, Any]) -> Loaded:
    from omnirank.data.load import load
    from omnirank.data.samples import load_sample

    if "sample" in source:
        return Loaded(load_sample(source["sample"], source.get("n_irrelevant", 0)), None)
    options = source["options"]
    dataset = join_examples([load(path, **options) for path in (source["path"], *source.get("more", ()))])
    return Loaded(dataset, load(source["test"], **options) if "test" in source else None)


def _files(source: Mapping[str, Any]) -> list[str]:
    """The data files of a source."""
    named = (source.get("path"), *source.get("more", ()), source.get("test"))
    return [path for path in named if path is not None]


def _stamp(path: str) -> tuple[int, int]:
    """Changes when the file does."""
    try:
        status = Path(path).stat()
    except OSError as error:
        raise DataError(f"the data file {path!r} cannot be read: {error.strerror}") from None
    return status.st_mtime_ns, status.st_size


def with_variables(text: str, value_of: Callable[[str], str | None], what: str) -> str:
    """Return a text in which variables stand for their values.

    Parameters
    ----------
    text : str
        The text.
    value_of : callable
        Returns the value of a variable; None and "" are not set.
    what : str
        What the text says, as an error names it.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.fit import with_variables
    >>> with_variables("${HERE}/a/${THERE:-b}", {"HERE": "x"}.get, "folder")
    'x/a/b'
    """

    def set_to(variable: re.Match[str]) -> str:
        name, default = variable["name"], variable["default"]
        held = value_of(name)
        if not held and default is None:
            raise ParameterError(
                f"{what} = {text!r}, but the environment variable {name} is not set: set it, or give a default as in "
                f"${{{name}:-data}}"
            )
        return held or str(default)

    return _VARIABLE.sub(set_to, text)
