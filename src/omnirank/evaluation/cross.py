"""Rankings and learners fitted to training parts and judged on test parts; curves of performance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.immutable import frozen_floats
from omnirank.core.parameters import check, choice
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike, PathLike, RandomState
from omnirank.data.containers import in_memory
from omnirank.data.dataset import Dataset
from omnirank.data.notes import warn_about
from omnirank.data.table import Table, is_sparse
from omnirank.evaluation.alignment import RankingLike, aligned_targets, ranking_of_data
from omnirank.evaluation.evaluate import candidate_count, evaluate_counts, measured
from omnirank.evaluation.folds import Fold, make_folds, read_folds
from omnirank.neighbors.weighted import warn_of_many_neighbors
from omnirank.rankers.refits import ranking_of_part
from omnirank.tasks import get_task
from omnirank.tasks.measuring import measure

if TYPE_CHECKING:
    import pandas as pd

    from omnirank.relational.dataset import RelationalDataset


BASELINE = "constant"


# -- one fold -------------------------------------------------------------------------------------


class FoldParts(NamedTuple):
    """The parts of a fold: to train, the same with all labels that there are, and to test; tables or relational."""

    train: Any
    restored: Any
    test: Any

    @classmethod
    def of(cls, fold: Fold, dataset: Any) -> FoldParts:
        """Return the parts of a data set."""
        return cls(fold.training(dataset), fold.training_with_all_labels(dataset), fold.testing(dataset))

    @property
    def n_judged(self) -> int:
        """Number of test examples that count: those with a known target, all where there is no target."""
        return int(self.test.n_examples if self.test.target is None else self.test.labelled.sum())


def judge(model: Any, parts: FoldParts, evaluation: Mapping[str, Any]) -> Any:
    """Return all measures of a model on the test part of a fold.

    Parameters
    ----------
    model : Ranking or fitted predictor
        A ranking is judged by what neighbours predict in a distance that weighs features by it, a predictor by its own
        predictions.
    parts : FoldParts
        The fold. Neighbours of an oracle have all labels that there are.
    evaluation : mapping
        Keyword arguments of `omnirank.evaluate`; a predictor takes those of `omnirank.measures.measure`.

    Returns
    -------
    dict
        Values by measure; one such dict for each number where ``n_neighbors`` is a list.
    """
    if isinstance(model, Ranking):
        train = parts.restored if evaluation.get("neighbors") == "oracle" else parts.train
        values = measured(model, train, parts.test, **evaluation)
        return values if isinstance(evaluation.get("n_neighbors"), list) else next(iter(values.values()))
    train = parts.train
    training, truth = aligned_targets(train, parts.test)
    if training.levels != train.target.levels:
        raise DataError("the test data have classes that the training data do not declare")
    means = model.predict_means(parts.test)
    return measure(truth, means, training=training, task=train.task, hierarchy=train.hierarchy, **evaluation)


# -- all folds ------------------------------------------------------------------------------------


class JudgedFold(NamedTuple):
    """A fold, the models that were fitted to its training part, and their measures on its test part, by key."""

    fold: Fold
    parts: FoldParts
    models: Mapping[Any, Any]
    measures: Mapping[Any, Any]


def judge_folds(
    dataset: Any,
    folds: Iterable[Fold],
    models_of: Callable[[Fold, Any], Mapping[Any, Any]],
    evaluation: Mapping[str, Any],
) -> Iterator[JudgedFold]:
    """Fit models to every training part and judge them on the test parts, one fold in memory at a time.

    Parameters
    ----------
    dataset : Dataset or RelationalDataset
        The data with all labels that there are.
    folds : iterable of Fold
        The folds.
    models_of : callable
        From a fold and its training part to rankings or fitted predictors, by key.
    evaluation : mapping
        As in `judge`.
    """
    for fold in folds:
        parts = FoldParts.of(fold, dataset)
        models = models_of(fold, parts.train)
        yield JudgedFold(fold, parts, models, {key: judge(model, parts, evaluation) for key, model in models.items()})


def over_folds(values: ArrayLike, weights: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the means over folds and their standard errors; folds in which a value is not defined (NaN) are left out.

    All measures, F1 too, are such means: of the values in the folds, not of all predictions together.

    Parameters
    ----------
    values : array-like of shape (n_folds, n)
        One row per fold.
    weights : array-like of shape (n_folds,), optional
        Weights of the folds: their numbers of test examples. None: equal weights.

    Returns
    -------
    (ndarray, ndarray)
        NaN where no fold has a value. The standard error is 0 where one fold has.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.cross import over_folds
    >>> means, errors = over_folds([[0.5, 1.0], [0.8, np.nan]], weights=[10, 20])
    >>> means.round(3).tolist(), errors.round(3).tolist()
    ([0.7, 1.0], [0.158, 0.0])
    """
    values = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(values)
    shares = known * (1.0 if weights is None else np.asarray(weights, dtype=np.float64)[:, None])
    n, total = known.sum(axis=0), shares.sum(axis=0)
    means = np.where(
        total > 0, (np.where(known, values, 0.0) * shares).sum(axis=0) / np.where(total > 0, total, 1), np.nan
    )
    squares = (np.where(known, values - means, 0.0) ** 2).sum(axis=0)
    errors = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))
    return means, np.where(n > 0, errors, np.nan)


# -- rankings -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FoldResults:
    """Measures of rankings over folds.

    Parameters
    ----------
    frame : DataFrame
        One row per fold and number of neighbours: ``key``, ``n_labelled`` (as asked for, or those there are),
        ``n_test``, ``n_neighbors`` and the measures.
    summary : DataFrame
        One row per number of labelled examples and of neighbours: ``n_labelled`` (None where folds hide no labels),
        ``n_folds``, ``n_neighbors`` and the means of the measures, weighted by the folds' labelled test examples.
    rankings : dict of str to Ranking
        The ranking of every fold, by key.
    """

    frame: pd.DataFrame
    summary: pd.DataFrame
    rankings: Mapping[str, Ranking] = field(repr=False)


def evaluate_folds(
    ranker: RankingLike,
    dataset: Dataset,
    folds: Sequence[Fold],
    n_neighbors: int | Sequence[int] | None = None,
    *,
    sample_weight: np.ndarray | None = None,
    **options: Any,
) -> FoldResults:
    """Rank the features on every training part and judge the rankings on the test parts.

    Parameters
    ----------
    ranker : ranker or Ranking or array-like
        A ranker, of which a copy is fitted to every training part; or one ranking for all folds.
    dataset : Dataset
        The data with all labels that there are.
    folds : sequence of Fold
        What `omnirank.evaluation.folds.make_folds` returned.
    n_neighbors : int, sequence of int or None
        As in `omnirank.evaluate`.
    sample_weight : ndarray, optional
        Weights of all examples, for rankers that take them.
    **options
        Further parameters of `omnirank.evaluate`. With ``neighbors="oracle"`` neighbours have all labels; the ranker
        has only those of the fold.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.cross import evaluate_folds
    >>> from omnirank.evaluation.folds import make_folds
    >>> data = om.datasets.load_sample("linnerud")
    >>> folds = make_folds(data, "cross-validation", n_folds=4, random_state=0)
    >>> results = evaluate_folds(om.UnivariateRanker(), data, folds, 5)
    >>> results.frame["key"].tolist()[:2], results.frame["n_test"].tolist(), len(results.summary)
    (['repetition=0 fold=0', 'repetition=0 fold=1'], [5, 5, 5, 5], 1)
    """
    import pandas as pd

    if not folds:
        raise DataError("there is no fold to evaluate")
    dataset = in_memory(dataset)
    warn_about(dataset)  # of all of it, not of the first training part
    counts = evaluate_counts(n_neighbors, dataset.task)
    options["n_neighbors"] = counts
    rows, rankings, candidates = [], {}, []
    groups: dict[int | None, list[tuple[dict[int, dict[str, float]], int]]] = {}

    def ranked(fold: Fold, train: Dataset) -> dict[str, Ranking]:
        weights = {} if sample_weight is None else {"sample_weight": sample_weight[fold.train]}
        fitted = hasattr(ranker, "fit")
        own = ranking_of_part(clone(ranker), train, dataset, **weights) if fitted else ranker
        return {"": ranking_of_data(own, train)}

    for fold, parts, models, measures in judge_folds(dataset, folds, ranked, options):
        rankings[fold.key] = models[""]
        train = parts.restored if options.get("neighbors") == "oracle" else parts.train
        candidates.append(candidate_count(train, options.get("neighbors", "labelled")))
        groups.setdefault(fold.n_labelled, []).append((measures[""], parts.n_judged))
        n_known = int(train.labelled.sum()) if fold.n_labelled is None else fold.n_labelled
        about: dict[str, Any] = {"key": fold.key, "n_labelled": n_known, "n_test": len(fold.test)}
        rows += [about | {"n_neighbors": k} | values for k, values in measures[""].items()]
    warn_of_many_neighbors(max(counts), *min(candidates))
    summary = []
    for n_labelled, group in groups.items():
        for k in counts:
            by_fold = [by_count[k] for by_count, _ in group]
            means, _ = over_folds([list(values.values()) for values in by_fold], [weight for _, weight in group])
            about = {"n_labelled": n_labelled, "n_folds": len(group), "n_neighbors": k}
            summary.append(about | dict(zip(by_fold[0], means.tolist(), strict=True)))
    return FoldResults(pd.DataFrame(rows), pd.DataFrame(summary), rankings)


# -- relational learners --------------------------------------------------------------------------


class _Constant:
    """Predicts the mean of the training target, or the frequencies of its classes."""

    def __init__(self, train: RelationalDataset) -> None:
        assert train.target is not None
        self._means = np.nanmean(get_task(train.task).columns(train.target, train.hierarchy).dense(), axis=0)

    def predict_means(self, test: RelationalDataset) -> np.ndarray:
        return np.tile(self._means, (test.n_examples, 1))


class RelationalEvaluation(NamedTuple):
    """What a cross-validation of relational learners finds.

    Parameters
    ----------
    summary : DataFrame
        A row per model and measure, and for ``"constant"``, which predicts the mean or the most frequent class: the
        mean over the folds, weighted by their test examples, and its standard error.
    values : DataFrame
        The same fold by fold, with the number of training and test examples.
    predictions : DataFrame
        A row per fold, model and test example: its identifier, its target and what is predicted (one column each, of
        several targets named after them).
    rankings : dict of str to list of Ranking
        For each model that ranks, its ranking of every fold.
    """

    summary: pd.DataFrame
    values: pd.DataFrame
    predictions: pd.DataFrame
    rankings: dict[str, list[Ranking]]


def evaluate_relational(
    models: Any,
    dataset: RelationalDataset,
    *,
    by: str = "ensemble",
    n_folds: int = 10,
    folds: PathLike | Sequence[Fold] | ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
) -> RelationalEvaluation:
    """Cross-validate relational learners and rankers.

    Examples are dealt into folds; the facts of the database, but for the target, stay known to all. The targets of the
    test examples are hidden. Examples without a label are not dealt.

    Parameters
    ----------
    models : estimator or mapping of str to estimator
        A relational tree, forest, boosting or ranker, or several by name; they stay as they are.
    dataset : RelationalDataset
        The data, with a target.
    by : {"ensemble", "neighbors"}
        What judges a ranking of relations: its ensemble, or neighbours in a distance that it weighs
        (:mod:`omnirank.evaluation.relational`), as in `omnirank.evaluate`; then ``"equal weights"`` is a model too.
    n_folds : int
        Number of folds; classes are spread evenly.
    folds : path, sequence of Fold, or array-like of shape (n_examples,), optional
        The folds instead: a file of identifiers (see :func:`omnirank.evaluation.folds.read_folds`), folds over the
        examples of ``dataset``, or the fold of each example.
    groups : array-like of shape (n_examples,), optional
        Examples of a group stay in one fold.
    random_state : None, int, RandomState or Generator
        The seed of the folds.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.cross import evaluate_relational
    >>> data = om.datasets.make_movies(random_state=0)
    >>> models = {"tree": om.relational.RelationalTree(random_state=0)}
    >>> found = evaluate_relational(models, data, n_folds=3, random_state=0)
    >>> accuracy = found.summary[found.summary["measure"] == "accuracy"].set_index("model")["value"]
    >>> bool(accuracy["tree"] > accuracy["constant"] + 0.2)
    True
    >>> found.predictions.columns.tolist()
    ['fold', 'model', 'example', 'truth', 'predicted']
    """
    import pandas as pd

    from omnirank.evaluation.relational import RelationalNeighbors

    check("by", by, choice("ensemble", "neighbors"))
    if dataset.target is None:
        raise DataError("there is no target to predict: name a column of the table whose rows are the examples")
    models = models if isinstance(models, Mapping) else {type(models).__name__: models}
    if BASELINE in models:
        raise ParameterError(f"the name {BASELINE!r} is that of the constant prediction: choose another one")

    values: list[tuple[Any, ...]] = []
    predictions: list[pd.DataFrame] = []
    rankings: dict[str, list[Ranking]] = {}

    def fitted(_: Fold, train: RelationalDataset) -> dict[str, Any]:
        predictors: dict[str, Any] = {BASELINE: _Constant(train)}
        if by == "neighbors":
            predictors["equal weights"] = RelationalNeighbors(None, train)
        for name, model in models.items():
            own = clone(model).fit(train)
            if hasattr(own, "ranking_"):
                rankings.setdefault(name, []).append(own.ranking_)
                own = own.model_ if by == "ensemble" else RelationalNeighbors(own.ranking_, train)
            predictors[name] = own
        return predictors

    dealt = _folds_of(dataset, n_folds, folds, groups, random_state)
    for fold, parts, predictors, measures in judge_folds(dataset, dealt, fitted, {}):
        sizes = parts.train.n_examples, parts.n_judged
        values += [(fold.key, name, one, value, *sizes) for name, of in measures.items() for one, value in of.items()]
        predictions += [_predictions(fold.key, name, model, parts) for name, model in predictors.items()]
    columns = ["fold", "model", "measure", "value", "n_train", "n_test"]
    by_fold = pd.DataFrame(values, columns=columns)
    rows = []
    for (name, one), part in by_fold.groupby(["model", "measure"], sort=False):
        [value], [error] = over_folds([[value] for value in part["value"]], part["n_test"].tolist())
        rows.append((name, one, value, error))
    summary = pd.DataFrame(rows, columns=["model", "measure", "value", "standard_error"])
    return RelationalEvaluation(summary, by_fold, pd.concat(predictions, ignore_index=True), rankings)


def _folds_of(dataset: Any, n_folds: int, folds: Any, groups: Any, random_state: RandomState) -> list[Fold]:
    """The folds of the labelled examples, by their numbers among all."""
    if isinstance(folds, str | Path):
        return read_folds(Path(folds), dataset.example_ids)
    if folds is not None and len(folds) and isinstance(folds[0], Fold):
        return list(folds)
    rows = np.flatnonzero(dataset.labelled)
    if folds is not None:
        number = np.asarray(folds)
        if number.shape != (dataset.n_examples,):
            raise ParameterError(
                "folds", folds, f"give a file, folds, or the fold of each of {dataset.n_examples} examples"
            )
        parts = [rows[number[rows] == one] for one in np.unique(number[rows])]
        return [Fold(np.setdiff1d(rows, part), part, None, f"fold={i}") for i, part in enumerate(parts)]
    labelled = dataset.take(rows)
    if groups is not None:
        table = Table.from_numeric(np.zeros((len(rows), 1)), ("x",))
        dealt = Dataset(table, labelled.target, task=dataset.task, hierarchy=dataset.hierarchy)
        labelled = dealt.with_groups(np.asarray(groups)[rows])
    found = make_folds(labelled, n_folds=n_folds, random_state=random_state)
    return [Fold(rows[fold.train], rows[fold.test], None, fold.key) for fold in found]


def _predictions(fold: str, name: str, model: Any, parts: FoldParts) -> pd.DataFrame:
    """What a model predicts for the test examples of a fold."""
    import pandas as pd

    test, task = parts.test, get_task(parts.train.task)
    predicted = task.predict(model.predict_means(test), task.columns(parts.train.target, parts.train.hierarchy), 0.5)
    parted = [pd.DataFrame({"fold": fold, "model": name, "example": list(test.example_ids)})]
    for what, values in (("truth", test.y), ("predicted", predicted)):
        cells = pd.DataFrame(values.toarray() if is_sparse(values) else values)
        several = cells.shape[1] > 1
        parted.append(cells.set_axis([f"{what}.{t}" for t in test.target_names] if several else [what], axis=1))
    return pd.concat(parted, axis=1)


# -- curves ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Curve:
    """Performance at several positions.

    Parameters
    ----------
    positions : ndarray
        Where: numbers of labelled examples, features, trees or iterations, increasing.
    values : ndarray
        The measure there.
    measure : str
        Name of the measure.
    axis : str
        What the positions count.
    larger_is_better : bool
        Direction of the measure.
    name : str
        Name of the curve in plots.

    Examples
    --------
    >>> from omnirank.evaluation.cross import Curve
    >>> curve = Curve([50, 100, 500], [0.5, 0.75, 1.0], "f1_macro", "labelled examples", True)
    >>> curve.area
    0.75
    """

    positions: np.ndarray
    values: np.ndarray
    measure: str
    axis: str
    larger_is_better: bool
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", frozen_floats(self.positions, "positions"))
        object.__setattr__(self, "values", np.array(self.values, np.float64))

    @property
    def area(self) -> float:
        """Mean height by the trapezoidal rule, positions taken as equally far apart: few labels weigh more."""
        return curve_area(self.values)


def top_sizes(n_features: int) -> list[int]:
    """Return the sizes at which top features are judged: the powers of 2 up to the number of features, and that.

    Examples
    --------
    >>> from omnirank.evaluation.cross import top_sizes
    >>> top_sizes(10)
    [1, 2, 4, 8, 10]
    """
    return sorted({2**i for i in range(n_features.bit_length()) if 2**i <= n_features} | {n_features})


def curve_area(values: ArrayLike) -> float:
    """Return the area under a curve, divided by its width: the mean height by the trapezoidal rule.

    Parameters
    ----------
    values : array-like
        Performance at each point, in order; points are equally far apart whatever the numbers of labelled examples
        are, so that few labels weigh more.

    Returns
    -------
    float
        The value itself for a single point.

    Examples
    --------
    Five numbers of labelled examples; the first and the last count half:

    >>> from omnirank.evaluation.cross import curve_area
    >>> curve_area([0.2, 0.4, 0.6, 0.6, 0.6])
    0.5
    """
    heights = np.asarray(values, dtype=np.float64)
    if heights.ndim != 1 or not len(heights):
        raise DataError(f"a curve is a list of at least one value, not an array of shape {heights.shape}")
    if len(heights) == 1:
        return float(heights[0])
    trapezoids = (heights[1:] + heights[:-1]) / 2
    return float(trapezoids.sum() / len(trapezoids))
