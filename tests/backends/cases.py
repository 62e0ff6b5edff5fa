"""What is computed under every backend: named cases, from the registry and the public names, so that none is forgotten.

A case is a function without arguments; it leaves the choice of workers to ``joblib.parallel_config``. Data have more
rows than the blocks that one worker takes, so that work is really spread.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import omnirank as om
from omnirank.core.registry import Method
from omnirank.data.estimator_input import without_target
from omnirank.data.task_registry import TASKS
from omnirank.evaluation.cross import evaluate_folds
from omnirank.evaluation.folds import make_folds
from omnirank.tasks import get_task

Case = Callable[[], Any]

N_EXAMPLES = 640
N_TREES = 6
N_ITERATIONS = 5

LAYOUTS: dict[str, dict[str, Any]] = {
    "dense": {"n_irrelevant": 7},
    "nominal": {"n_irrelevant": 7, "share_nominal": 0.5},
    "missing": {"n_irrelevant": 7, "share_nominal": 0.4, "missing_features": 0.1},
    "sparse": {"n_irrelevant": 35, "sparse": True},
    "sparse missing": {"n_irrelevant": 35, "sparse": True, "share_nominal": 0.3, "missing_features": 0.02},
}

# Methods that do nothing which could be spread, or nothing where all features are of one kind.
UNSPREAD = ("random", "uniform", "univariate", "correlation", "svm-rfe", "agnos-s", "RelationalFeatures")
UNSPREAD += ("RelationalTree", "RelationalBoostingRegressor")


@cache
def data(task: str, layout: str = "dense", labelled: float = 1.0, n_examples: int = N_EXAMPLES) -> om.Dataset:
    """Return generated data of a task; labelled=0: without any known target."""
    options = {"random_state": 3, "n_relevant": 3, **LAYOUTS[layout]}
    if task == "clustering":  # there are no sparse clusters: the features of another task
        return without_target(data("regression", layout, 1.0, n_examples))
    if layout.endswith("missing") and task.startswith(("m", "h")):
        options["missing_targets"] = 0.1
    made, _ = getattr(om.datasets, f"make_{task.replace('-', '_')}")(n_examples, labelled=labelled, **options)
    return made


# -- what a fitted estimator is looked at for ------------------------------------------------------------------------


def ranked(
    make: Callable[..., Any], dataset: om.Dataset, rules: dict[str, Any] | None = None, **parameters: Any
) -> Any:
    """Return all rankings of a fitted ranker; ``rules`` are its rules of growing that are no parameters."""
    ranker = make(**parameters)
    if rules is not None:
        ranker._rules = rules
    fitted = ranker.set_params(**_seed(ranker)).fit(dataset)
    notes = [getattr(fitted, name, None) for name in ("supervision_", "supervision_curve_", "losses_", "influence_")]
    return [fitted.rankings_, getattr(fitted, "checkpoints_", None), notes]


def predicted(make: Callable[..., Any], dataset: om.Dataset, **parameters: Any) -> Any:
    """Return all that a predictor says about its training data, and its trees."""
    model = make(**parameters)
    fitted = model.set_params(**_seed(model)).fit(dataset)
    found = {name: getattr(fitted, name)(dataset) for name in _METHODS if hasattr(fitted, name)}
    kept = {name: getattr(fitted, name) for name in _KEPT if hasattr(fitted, name)}
    return [found, kept]


_METHODS = ("predict", "predict_proba", "predict_means", "apply")
_KEPT = ("trees_", "tree_", "labels_", "feature_importances_", "supervision_", "supervision_curve_", "oob_error_")
_KEPT += ("oob_prediction_", "oob_decision_function_")


def transduced(make: Callable[..., Any], dataset: om.Dataset, **parameters: Any) -> Any:
    """Return what is predicted for the unlabelled examples."""
    model = make(**parameters)
    return model.set_params(**_seed(model)).transduce(dataset)


def evaluated(train: om.Dataset, test: om.Dataset, **settings: Any) -> Any:
    """Return the measures of a ranking."""
    return om.evaluate(om.UnivariateRanker().fit(train), train, test, **settings)


def evaluated_on_folds(dataset: om.Dataset) -> Any:
    """Return the measures of a ranker over folds."""
    folds = make_folds(dataset, n_folds=2, random_state=0)
    found = evaluate_folds(om.EnsembleRanker(n_trees=3, random_state=0), dataset, folds, n_neighbors=5)
    return [found.frame, found.summary, found.rankings]


def constructed(preset: str) -> Any:
    """Return the constructed features of movies, of which some have no ratings."""
    movies = om.datasets.make_movies(mean_ratings=2.0, random_state=3)
    features = om.relational.RelationalFeatures(4, aggregates=preset).fit(movies)
    table = features.to_dataset(movies).features
    return table.names, table.levels, table.numeric, table.codes


@cache
def movies(what: str) -> om.relational.RelationalDataset:
    """Return movies, some of them without ratings, whose genre or length is predicted."""
    frames = om.datasets.make_movies(mean_ratings=2.0, as_frames=True, random_state=3)
    target = "movies.genre" if what == "classes" else "movies.minutes"
    task = "auto" if what == "classes" else "regression"
    return om.relational.RelationalDataset.from_frames(frames, target=target, task=task)


def chosen(dataset: om.Dataset, by: str) -> Any:
    """Return the curve by which features are chosen."""
    ranker = om.EnsembleRanker(n_trees=3, random_state=0)
    found = om.select(ranker, dataset, by=by, sizes=[1, 4], n_folds=3)
    return [found.curve, found.ranking, found.names]


def resampled(dataset: om.Dataset, resample: str) -> Any:
    """Return the ranks of features over resamples."""
    ranker = om.EnsembleRanker(n_trees=3, random_state=0)
    return om.stability(ranker, dataset, n_resamples=4, resample=resample)


def _seed(estimator: Any) -> dict[str, Any]:
    return {"random_state": 1} if "random_state" in estimator.get_params(deep=False) else {}


# -- the cases ---------------------------------------------------------------------------------------------------------


def cases() -> dict[str, Case]:
    """Return all cases by name."""
    found: dict[str, Case] = {}
    for make in (
        _methods,
        _few_labels,
        _ensembles,
        _resampled,
        _relief,
        _predictors,
        _neighbors,
        _refits,
        _large,
        _relational,
    ):
        for name, case in make():
            assert name not in found, name
            found[name] = partial(_quietly, case)
    return found


def _quietly(case: Case) -> Any:
    """Run a case; what it warns about is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case()


def _small(make: Callable[..., Any]) -> dict[str, Any]:
    """Few trees; few iterations where one is a ranking, which costs as much as a case of another method."""
    known = make().get_params(deep=False)
    few = {"n_trees": N_TREES} if "n_trees" in known else {}
    return few | ({"n_iterations": N_ITERATIONS} if {"base", "n_iterations"} <= known.keys() else {})


def _options(method: Method) -> dict[str, Any]:
    """Few trees: extra trees for the unbiased score, as by default, a random forest for the others."""
    found = _small(method.make)
    grows = "ensemble" in method.make().get_params(deep=False) and method.name != "unbiased"
    return found | ({"ensemble": "random-forest"} if grows else {})


def _methods() -> Iterator[tuple[str, Case]]:
    """Every ranker of the registry, on all its tasks and all kinds of features."""
    for method in om.methods():
        for task in method.tasks:
            for layout in LAYOUTS:
                case = partial(ranked, method.make, data(task, layout), **_options(method))
                yield f"{method.name}, {task}, {layout}", case
        if "unsupervised" in method.supervision:
            hidden = data("regression").hide_labels(slice(None))
            yield f"{method.name}, no label known", partial(ranked, method.make, hidden, **_options(method))


def _few_labels() -> Iterator[tuple[str, Case]]:
    layouts = list(LAYOUTS)
    grown = partial(ranked, om.EnsembleRanker, ensemble="random-forest")
    for i, task in enumerate(task for task in TASKS if task != "clustering"):
        few = data(task, layouts[i % len(layouts)], 0.2, 300)
        for level in ("auto", 0.5, 0.0):
            case = partial(grown, few, supervision=level, n_trees=24, importance="permutation")
            yield f"few labels, ensemble, {task}, {level}", case
        yield f"few labels, relief, {task}", partial(ranked, om.ReliefRanker, data(task, layouts[-i % 5], 0.2))
    for task in ("classification", "multi-target-regression", "multi-label"):
        small = data(task, "dense", 0.3, 120)
        yield (
            f"few labels, ensemble, {task}, cv",
            partial(ranked, om.EnsembleRanker, small, supervision="cv", n_trees=6),
        )
    chosen = partial(ranked, om.ReliefRanker, n_neighbors="auto", influence="cv")
    for task in ("classification", "regression", "multi-label"):
        yield f"few labels, relief, {task}, auto", partial(chosen, data(task, "missing", 0.2, 300))
    weighed = {"supervision": 0.5, "feature_weights": "auto", "min_labelled_leaf": 3, "n_trees": 4}
    yield (
        "few labels, weights of features",
        partial(ranked, om.EnsembleRanker, data("regression", "nominal", 0.3), **weighed),
    )


def _ensembles() -> Iterator[tuple[str, Case]]:
    grown = partial(ranked, om.EnsembleRanker, n_trees=N_TREES, importance="permutation")
    for ensemble in ("random-forest", "extra-trees", "bagging"):
        for layout in LAYOUTS:
            many = data("multi-label", layout)
            yield f"{ensemble}, per target, {layout}", partial(grown, many, ensemble=ensemble, per_target=True)
    yield "as many trees as it takes", partial(ranked, om.EnsembleRanker, data("classification"), n_trees="auto")
    yield "two workers asked for", partial(grown, data("regression", "missing"), n_jobs=2)
    for task in ("multi-target-regression", "multi-label", "mixed-targets"):
        for ranker in (om.EnsembleRanker(n_trees=3), om.ReliefRanker(), om.UnivariateRanker()):
            made = partial(ranked, om.PerTargetRanker, data(task, "missing"), ranker=ranker)
            yield f"PerTargetRanker, {task}, {type(ranker).__name__}", made


def _resampled() -> Iterator[tuple[str, Case]]:
    for task in ("classification", "multi-label", "multi-target-regression"):
        for layout in LAYOUTS:
            few = data(task, layout, 0.5, 200)
            drawn = {"feature_share": 0.5, "label_share": "sqrt", "n_iterations": 5, "aggregate": "rank-mean"}
            yield f"ResampledRanker, {task}, {layout}", partial(ranked, om.ResampledRanker, few, base="relief", **drawn)
    for layout in LAYOUTS:
        made = partial(
            ranked, om.rankers.ThreeWayRanker, data("multi-label", layout, 0.3), base="univariate", n_iterations=5
        )
        yield f"ThreeWayRanker, {layout}", made


def _relief() -> Iterator[tuple[str, Case]]:
    for task in (task for task in TASKS if task != "clustering"):
        for distance in get_task(task).distances:
            for layout in ("missing", "sparse"):
                made = partial(ranked, om.ReliefRanker, data(task, layout), target_distance=distance, per_target=True)
                yield f"relief, {distance} distance, {task}, {layout}", made
    several = partial(ranked, om.ReliefRanker, n_neighbors=[5, 15], n_iterations=[100, 1.0], sigma=0.1)
    for layout in LAYOUTS:
        for algorithm in ("rrelieff", "relieff"):
            made = partial(several, data("classification", layout), algorithm=algorithm)
            yield f"relief, {algorithm}, several sizes, {layout}", made


def _predictors() -> Iterator[tuple[str, Case]]:
    """Every public predictor, on all its tasks and all kinds of features, with all and with few labels."""
    for name, make in predictors().items():
        options = _small(make) | ({"oob_score": True} if "oob_score" in make().get_params() else {})
        for task in getattr(make, "supported_tasks", ("clustering",)):
            for layout in LAYOUTS:
                yield f"{name}, {task}, {layout}", partial(predicted, make, data(task, layout), **options)
            if task == "clustering":
                continue
            few = data(task, "missing", 0.3, 400)
            for level in ("auto", 0.5):
                yield (
                    f"{name}, {task}, few labels, {level}",
                    partial(transduced, make, few, supervision=level, **_small(make)),
                )
        if task != "clustering":
            few = data(make.supported_tasks[0], "dense", 0.3, 120)
            yield f"{name}, few labels, cv", partial(transduced, make, few, supervision="cv", **_small(make))


def _neighbors() -> Iterator[tuple[str, Case]]:
    for task in (task for task in TASKS if task != "clustering"):
        for layout in LAYOUTS:
            whole = data(task, layout)
            train, test = whole, whole.take(slice(0, 600))
            yield f"evaluate, {task}, {layout}", partial(evaluated, train, test, n_neighbors=[3, 9])
    labels = data("multi-label", "missing")
    yield "evaluate, ml-knn", partial(evaluated, labels, labels, predictor="ml-knn", n_neighbors=5)
    yield "evaluate on folds", partial(evaluated_on_folds, data("classification"))


def _refits() -> Iterator[tuple[str, Case]]:
    """What fits a ranker again and again."""
    for task in ("classification", "regression"):
        for layout in ("dense", "missing", "sparse"):
            few = data(task, layout, 0.5, 200)
            yield f"select by neighbors, {task}, {layout}", partial(chosen, few, "neighbors")
            yield f"stability, {task}, {layout}", partial(resampled, few, "subsample")
    yield "select by forest", partial(chosen, data("classification", "dense", 0.5, 200), "forest")
    yield "stability by bootstrap", partial(resampled, data("classification", "dense", 0.5, 200), "bootstrap")


def _large() -> Iterator[tuple[str, Case]]:
    """Arrays of more than a megabyte, which joblib hands to processes as mapped files."""
    large = data("multi-target-regression", "dense", 1.0, 30_000)
    few = large.hide_labels(np.arange(30_000) % 3 > 0)
    yield "large, ensemble", partial(ranked, om.EnsembleRanker, large, n_trees=4, max_depth=5, importance="permutation")
    yield (
        "large, extra trees",
        partial(ranked, om.EnsembleRanker, large, n_trees=4, max_depth=5, ensemble="extra-trees"),
    )
    yield "large, few labels", partial(ranked, om.EnsembleRanker, few, n_trees=3, max_depth=4, supervision=0.5)
    yield "large, relief", partial(ranked, om.ReliefRanker, large, n_iterations=1200)
    yield "large, univariate", partial(ranked, om.UnivariateRanker, data("classification", "nominal", 1.0, 60_000))
    forest = partial(predicted, om.PCTForestRegressor, large, n_trees=4, max_depth=4, oob_score=True)
    yield "large, forest", forest
    yield "large, evaluate", partial(evaluated, large, large.take(slice(0, 1100)), n_neighbors=5)


def _relational() -> Iterator[tuple[str, Case]]:
    for preset in ("AGG-All", "AGG-Exist"):
        yield f"RelationalFeatures, {preset}", partial(constructed, preset)
    for preset in ("AGG-All", "NO-Rel"):
        for name, make in relational().items():
            what = "number" if name.endswith("Regressor") else "classes"
            options = _small(make) | {"aggregates": preset}
            look = predicted if hasattr(make, "predict") else ranked
            yield f"{name}, {preset}", partial(look, make, movies(what), **options)


# -- what is covered ---------------------------------------------------------------------------------------------------


def estimators() -> dict[str, Any]:
    """Return the public estimators by name."""
    named = {name: getattr(room, name) for room in (om.rankers, om) for name in room.__all__}
    fitted = {name: made for name, made in named.items() if isinstance(made, type) and hasattr(made, "fit")}
    return {name: made for name, made in fitted.items() if not inspect.isabstract(made)}


def predictors() -> dict[str, Any]:
    """Return the public estimators that predict from trees, grown on one table."""
    return {name: made for name, made in estimators().items() if hasattr(made, "predict")}


def relational() -> dict[str, Any]:
    """Return the public estimators that learn from several tables, predictors once for classes and once for numbers."""
    learners = om.relational.RelationalTree, om.relational.RelationalForest, om.relational.RelationalBoosting
    found = {f"{made.__name__}{kind}": made for made in learners for kind in ("Classifier", "Regressor")}
    return found | {"RelationalRanker": om.relational.RelationalRanker}


def quick(names: list[str]) -> list[str]:
    """Return the cases that the suite runs: two of every method and predictor, some of what else there is."""
    chosen = set(_QUICK)
    for i, what in enumerate(
        [*(method.name for method in om.methods()), *predictors(), *("evaluate", "RelationalFeatures"), *relational()]
    ):
        own = [name for name in names if name.startswith(f"{what}, ")]
        chosen |= {own[7 * i % len(own)], own[(7 * i + 18) % len(own)]}  # another task, and other features
    return [name for name in names if name in chosen]


def half(chosen: list[str]) -> list[str]:
    """Return about half of these cases: every second one, and one of the cross-validations, of 50 pools of workers."""
    validated = [name for name in chosen if name.endswith(", cv")]
    return [name for name in chosen if name not in validated[1:]][::2]


_QUICK = (
    "select by forest",
    "select by neighbors, classification, missing",
    "stability, regression, dense",
    "few labels, ensemble, classification, 0.5",
    "few labels, ensemble, multi-label, auto",
    "few labels, relief, regression",
    "PCTForestClassifier, multi-label, few labels, 0.5",
    "PerTargetRanker, multi-label, UnivariateRanker",
    "ResampledRanker, multi-label, missing",
    "ThreeWayRanker, sparse",
    "random-forest, per target, missing",
    "two workers asked for",
    "large, ensemble",
)
