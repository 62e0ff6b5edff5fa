"""Cross-validation: rankings and learners fitted to training parts and judged on test parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, choice, count
from omnirank.core.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.in_memory import in_memory
from omnirank.data.remarks import warn_about
from omnirank.data.target import Target
from omnirank.evaluation.alignment import RankingLike, ranking_of_data
from omnirank.evaluation.evaluate import (
    Predictions,
    candidate_count,
    evaluate,
    evaluate_counts,
    measured_predictions,
    predictions,
)
from omnirank.evaluation.folds import Fold, make_folds
from omnirank.neighbors.weighted_knn import warn_of_many_neighbors
from omnirank.rankers.refits import ranking_of_part
from omnirank.relational.dataset import RelationalDataset
from omnirank.tasks import get_task
from omnirank.tasks.measuring import measure, measure_of

if TYPE_CHECKING:
    import pandas as pd


_AGGREGATES = ("auto", "pooled", "mean")
_SETTINGS = ("variant", "variance", "threshold")


@dataclass(frozen=True, eq=False)
class FoldResults:
    """Measures of rankings over folds.

    Parameters
    ----------
    frame : DataFrame
        One row per fold and number of neighbours: ``key``, ``n_labelled`` (as asked for, or those there are),
        ``n_test``, ``n_neighbors`` and the measures.
    summary : DataFrame
        One row per number of labelled examples and of neighbours, over the folds: ``n_labelled`` (None where folds hide
        no labels), ``n_neighbors``, ``n_folds`` and the measures.
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
    use_unlabelled: bool = True,
    aggregate: str = "auto",
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
    use_unlabelled : bool
        Whether the ranker sees the unlabelled training examples (and, with ``neighbors="published"``, whether they
        take neighbours' places): False is the supervised ranking of a semi-supervised study.
    aggregate : {"auto", "pooled", "mean"}
        How measures of several folds become one. "pooled": all predictions are measured together, which for classes
        is the sum of the confusion matrices. "mean": the mean, weighted by the number of test examples. "auto": pooled
        for classes, mean for everything else.
    **options
        Further parameters of `omnirank.evaluate`. With ``neighbors="oracle"`` neighbours have all labels; the ranker
        has only those of the fold.

    Notes
    -----
    Experiments (`omnirank.run_plan`, `omnirank.read_results`, ``omnirank compare``) record measures fold by fold and
    take means for all tasks. So F1 and other measures of classes that do not add up over examples differ from those
    here, which come from the summed confusion matrices; ``aggregate="mean"`` gives those of experiments.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.folds import make_folds
    >>> from omnirank.evaluation.cross import evaluate_folds
    >>> data = om.datasets.load_sample("linnerud")
    >>> folds = make_folds(data, "cross-validation", n_folds=4, random_state=0)
    >>> results = evaluate_folds(om.UnivariateRanker(), data, folds, 5)
    >>> results.frame["key"].tolist()[:2], results.frame["n_test"].tolist(), len(results.summary)
    (['repetition=0 fold=0', 'repetition=0 fold=1'], [5, 5, 5, 5], 1)
    """
    import pandas as pd

    check("aggregate", aggregate, choice(*_AGGREGATES))
    if not folds:
        raise DataError("there is no fold to evaluate")
    dataset = in_memory(dataset)
    warn_about(dataset)  # of all of it, not of the first training part
    counts = evaluate_counts(n_neighbors, dataset.task)
    settings = {name: options.pop(name) for name in _SETTINGS if name in options}
    rows, rankings, candidates = [], {}, []
    groups: dict[Any, list[tuple[Predictions, dict[int, dict[str, float]]]]] = {}
    for fold in folds:
        train = fold.training(dataset)
        if not use_unlabelled:
            train = train.take(train.labelled)
        ranking = _ranking_of(ranker, train, dataset)
        if options.get("neighbors") == "oracle":
            train = fold.training_with_all_labels(dataset)
        found = predictions(ranking, train, fold.testing(dataset), counts, **options)
        measured = measured_predictions(found, **settings)
        rankings[fold.key] = ranking
        candidates.append(candidate_count(train, options.get("neighbors", "labelled")))
        groups.setdefault(fold.n_labelled, []).append((found, measured))
        n_labelled = int(train.labelled.sum()) if fold.n_labelled is None else fold.n_labelled
        about = {"key": fold.key, "n_labelled": n_labelled, "n_test": len(fold.test)}
        rows += [about | {"n_neighbors": k} | values for k, values in measured.items()]
    warn_of_many_neighbors(max(counts), *min(candidates))
    together = aggregate == "pooled" or (aggregate == "auto" and get_task(dataset.task).kind == "classes")
    summary = []
    for n_labelled, group in groups.items():
        joined = _pooled_measures(group, settings) if together else _mean_measures(group)
        about = {"n_labelled": n_labelled, "n_folds": len(group)}
        summary += [about | {"n_neighbors": k} | joined[k] for k in counts]
    return FoldResults(pd.DataFrame(rows), pd.DataFrame(summary), rankings)


def pooled(parts: Sequence[Predictions]) -> Predictions:
    """Return the predictions of several folds of the same data as one; the training target is that of the first.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.evaluate import predictions
    >>> from omnirank.evaluation.cross import pooled
    >>> train, test = om.datasets.load_sample("linnerud").split(0.5, random_state=0)
    >>> part = predictions([1.0, 0.5, 0.0], train, test, 3)
    >>> pooled([part, part]).truth.n_examples
    20
    """
    first, truth = parts[0], Target.joined([part.truth for part in parts])
    means = {k: np.vstack([part.means[k] for part in parts]) for k in first.means}
    return first._replace(truth=truth, means=means)


def _pooled_measures(group: list[Any], settings: dict[str, Any]) -> dict[int, dict[str, float]]:
    return measured_predictions(pooled([found for found, _ in group]), **settings)


def _mean_measures(group: list[Any]) -> dict[int, dict[str, float]]:
    """Means over folds, weighted by labelled test examples; folds where a measure is not defined are left out."""
    sizes = np.array([found.truth.labelled.sum() for found, _ in group], dtype=np.float64)
    joined: dict[int, dict[str, float]] = {}
    for k, first in group[0][1].items():
        joined[k] = {}
        for name in first:
            values = np.array([measured[k][name] for _, measured in group])
            defined = ~np.isnan(values)
            joined[k][name] = float(np.average(values[defined], weights=sizes[defined])) if defined.any() else np.nan
    return joined


def _ranking_of(ranker: RankingLike, train: Dataset, whole: Dataset) -> Ranking:
    if hasattr(ranker, "fit"):
        ranker = ranking_of_part(clone(ranker), train, whole)
    return ranking_of_data(ranker, train)


@dataclass(frozen=True)
class Relevance:
    """A ranking compared with rankings that do not look at the data, by one measure.

    Parameters
    ----------
    measure : str
        The measure.
    larger_is_better : bool
        Its direction.
    value : float
        Of the ranking.
    uniform : float
        With equal weights of all features (without target: of the first features of the data).
    random : tuple of float
        Of random rankings.

    Examples
    --------
    >>> from omnirank.evaluation.cross import Relevance
    >>> found = Relevance("rrmse", False, 0.5, 0.75, (0.9, 0.8, 0.4, 0.9))
    >>> found.gain, found.random_mean, found.share_beaten
    (0.25, 0.75, 0.75)
    """

    measure: str
    larger_is_better: bool
    value: float
    uniform: float
    random: tuple[float, ...]

    @property
    def gain(self) -> float:
        """How much better the ranking is than equal weights; positive is better."""
        return self.value - self.uniform if self.larger_is_better else self.uniform - self.value

    @property
    def random_mean(self) -> float:
        """Mean of the random rankings."""
        return float(np.mean(self.random))

    @property
    def share_beaten(self) -> float:
        """Share of the random rankings that are worse; ties count half."""
        sign = 1 if self.larger_is_better else -1
        differences = sign * (self.value - np.array(self.random))
        return float(np.mean((differences > 0) + 0.5 * (differences == 0)))


def relevance(
    ranking: RankingLike,
    train: Dataset,
    test: Dataset,
    n_neighbors: int | None = None,
    *,
    n_random: int = 10,
    measure: str | None = None,
    random_state: RandomState = None,
    **options: Any,
) -> Relevance:
    """Compare a ranking with equal weights and with random rankings.

    Parameters
    ----------
    ranking, train, test, n_neighbors
        As in `omnirank.evaluate`.
    n_random : int
        Number of random rankings; their scores are uniform in [0, 1).
    measure : str, optional
        By default the task's primary measure.
    random_state : None, int, RandomState or Generator
        Seed of the random rankings.
    **options
        Further parameters of `omnirank.evaluate`.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.cross import relevance
    >>> train, test = om.datasets.load_sample("digits").split(0.5, random_state=0)
    >>> ranking = om.UnivariateRanker().fit(train).ranking_
    >>> relevance(ranking, train, test, random_state=0, top=10).share_beaten
    1.0
    """
    check("n_random", n_random, count(1))
    shown = measure_of(train.task, measure)
    entropy = root_entropy(random_state)
    n = train.n_features
    scores = [ranking, np.ones(n), *(stream(entropy, i).random(n) for i in range(n_random))]
    found = [evaluate(each, train, test, n_neighbors, **options) for each in scores]
    value, uniform, *random = (values[shown.name] for values in found)
    return Relevance(shown.name, shown.larger_is_better, value, uniform, tuple(random))


BASELINE = "constant"


def evaluate_relational(
    models: Mapping[str, Any], dataset: RelationalDataset, *, n_folds: int = 10, random_state: RandomState = None
) -> pd.DataFrame:
    """Cross-validate relational learners.

    Examples are dealt into folds; the facts of the database, but for the target, stay known to all. The targets of the
    test examples are hidden.

    Parameters
    ----------
    models : mapping of str to estimator
        Relational trees, forests and boosting, by name; they stay as they are.
    dataset : RelationalDataset
        The data, with a target.
    n_folds : int
        Number of folds; classes are spread evenly.
    random_state : None, int, RandomState or Generator
        The seed of the folds.

    Returns
    -------
    DataFrame
        A row per model and measure, and for ``"constant"``, which predicts the mean or the most frequent class: the
        mean over the folds, weighted by their test examples, and its standard error.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.cross import evaluate_relational
    >>> data = om.datasets.make_movies(random_state=0)
    >>> models = {"tree": om.RelationalTreeClassifier(random_state=0)}
    >>> found = evaluate_relational(models, data, n_folds=3, random_state=0)
    >>> accuracy = found[found["measure"] == "accuracy"].set_index("model")["value"]
    >>> bool(accuracy["tree"] > accuracy["constant"] + 0.2)
    True
    """
    import pandas as pd

    if dataset.target is None:
        raise DataError("there is no target to predict: name a column of the table whose rows are the examples")
    if BASELINE in models:
        raise ParameterError(f"the name {BASELINE!r} is that of the constant prediction: choose another one")
    labelled = dataset.take(dataset.labelled)
    folds = make_folds(labelled, n_folds=n_folds, random_state=random_state)  # type: ignore[arg-type]  # target only
    values: dict[tuple[str, str], list[float]] = {}
    for fold in folds:
        train, test = labelled.take(fold.train), labelled.take(fold.test)
        for name, means in _predicted(models, train, test).items():
            for what, value in _measured(train, test, means).items():
                values.setdefault((name, what), []).append(value)
    weights = np.array([len(fold.test) for fold in folds], float)
    rows = [(*key, *_mean(np.array(found), weights)) for key, found in values.items()]
    return pd.DataFrame(rows, columns=["model", "measure", "value", "standard_error"])


def _predicted(models: Mapping[str, Any], train: RelationalDataset, test: RelationalDataset) -> dict[str, np.ndarray]:
    """Means that each model predicts for the test examples, and those of the training target."""
    assert train.target is not None
    constant = np.nanmean(get_task(train.task).columns(train.target, train.hierarchy).dense(), axis=0)
    found = {BASELINE: np.tile(constant, (test.n_examples, 1))}
    return found | {name: clone(model).fit(train).predict_means(test) for name, model in models.items()}


def _measured(train: RelationalDataset, test: RelationalDataset, means: np.ndarray) -> dict[str, float]:
    assert train.target is not None
    assert test.target is not None
    return measure(test.target, means, training=train.target, task=train.task, hierarchy=train.hierarchy)


def _mean(found: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Weighted mean over the folds in which there is a value, and its standard error."""
    known = ~np.isnan(found)
    if not known.any():
        return float("nan"), float("nan")
    n = int(known.sum())
    error = float(np.std(found[known], ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return float(np.average(found[known], weights=weights[known])), error
