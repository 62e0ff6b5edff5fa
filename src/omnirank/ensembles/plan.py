"""From data and parameters to what trees are grown on, once a fit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError, setting
from omnirank.core.log import logger
from omnirank.core.parameters import FLAG, check, check_all, choice, count, number, share
from omnirank.core.seeds import kernel_seed, stream
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.tasks import Task, clustering_columns, feature_columns, get_task
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns
from omnirank.trees.codes import CodedFeatures, code_features
from omnirank.trees.space import clustering_space, constant_space, two_part_space
from omnirank.trees.sparse_codes import suits_sparse_kernel

__all__ = ["ENSEMBLES", "GROWING", "GrowingPlan", "GrowingRules", "Part", "make_plan"]

ENSEMBLES = ("random-forest", "extra-trees", "bagging")
NOMINAL_TESTS = ("ordered", "greedy", "one-against-rest")
TIE_BREAKS = ("random", "first")

# The domains of the parameters that estimators share with `GrowingRules`.
GROWING = {
    "ensemble": choice(*ENSEMBLES),
    "bootstrap": choice(None) | FLAG,
    "min_samples_leaf": number(above=0),
    "max_depth": choice(None) | count(0),
    "nominal_tests": choice(*NOMINAL_TESTS),
    "tie_break": choice(*TIE_BREAKS),
    "normalize_targets": FLAG,
    "hierarchy_weight": number(above=0, most=1),
    "min_labelled_leaf": number(0),
}

# Gains below this share of the root's impurity are rounding.
_LEAST_GAIN = 1e-10
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class GrowingRules:
    """How trees are grown; parameters as in the estimators."""

    ensemble: str = "random-forest"
    max_features: Any = None
    bootstrap: bool | None = None
    min_samples_leaf: float = 2
    max_depth: int | None = None
    nominal_tests: str = "ordered"
    tie_break: str = "random"
    normalize_targets: bool = True
    hierarchy_weight: float = 0.75
    supervision: float = 1.0
    min_labelled_leaf: float = 0

    @classmethod
    def of(cls, estimator: Any, **others: Any) -> GrowingRules:
        """Return the rules that the parameters of an estimator are, but for the level of supervision, and others."""
        names = [field.name for field in fields(cls) if field.name != "supervision" and hasattr(estimator, field.name)]
        return cls(**{name: getattr(estimator, name) for name in names} | others)

    def check(self) -> None:
        """Raise a ParameterError for a value outside its domain."""
        check_all(vars(self), GROWING | {"supervision": number(0, 1)})

    @property
    def bootstraps(self) -> bool:
        """Whether each tree sees a bootstrap replicate."""
        return self.bootstrap is None or bool(self.bootstrap)

    @property
    def random_tests(self) -> bool:
        """Whether one random test a feature is tried."""
        return self.ensemble == "extra-trees"


class Part(NamedTuple):
    """Target or features as columns: what a leaf averages, and what a split separates."""

    columns: PrototypeColumns
    clustering: ClusteringColumns


@dataclass(frozen=True, eq=False)
class GrowingPlan:
    """Everything that the trees of one fit share; picklable, so that workers may be processes.

    ``columns`` and ``clustering`` are those of the target; without a target, those of the features. ``around`` are the
    features of semi-supervised trees, else None.
    """

    dataset: Dataset
    rules: GrowingRules
    task: Task
    columns: PrototypeColumns
    clustering: ClusteringColumns
    coded: CodedFeatures
    space: Any
    settings: Any
    weight: np.ndarray
    entropy: int
    around: Part | None = None

    @property
    def n_examples(self) -> int:
        """Number of training examples."""
        return len(self.weight)

    @property
    def trees_are_equal(self) -> bool:
        """Whether all trees see the same examples, features and tests, so that they differ by ties only."""
        sees_all = features_per_node(self.rules, self.dataset) == self.dataset.n_features
        return sees_all and not self.rules.bootstraps and not self.rules.random_tests

    def counts(self, i: int) -> np.ndarray:
        """Return how often tree i sees each example: bootstrap counts, or once each."""
        if not self.rules.bootstraps:
            return np.ones(self.n_examples)
        rng, counts = stream(self.entropy, i), np.zeros(self.n_examples)
        for rows in self._strata:
            counts[rows] = np.bincount(rng.integers(0, len(rows), len(rows)), minlength=len(rows))
        return counts

    @cached_property
    def _strata(self) -> tuple[np.ndarray, ...]:
        """Rows among which bootstraps draw: labelled and unlabelled ones apart where the target counts."""
        labelled = self.columns.labelled
        if labelled.all() or self.rules.supervision == 0:
            return (np.arange(self.n_examples),)
        # the labelled first: their counts are those of the supervised ensemble of the same seed
        return np.flatnonzero(labelled), np.flatnonzero(~labelled)

    def grow(self, i: int, counts: np.ndarray | None = None) -> Any:
        """Grow tree i."""
        counts = self.counts(i) if counts is None else counts
        return self.coded.grow(self.space, counts * self.weight, self.settings, kernel_seed(self.entropy, i))


def make_plan(
    dataset: Dataset,
    rules: GrowingRules,
    entropy: int,
    sample_weight: np.ndarray | None = None,
    n_jobs: int | None = None,
    feature_weights: np.ndarray | None = None,
) -> GrowingPlan:
    """Prepare a data set for growing trees.

    Parameters
    ----------
    dataset : Dataset
        With supervision 1, all its examples are labelled (at least partly). Without a target trees are unsupervised.
    rules : GrowingRules
        How trees are grown.
    entropy : int
        Root of the random streams.
    sample_weight : ndarray, optional
        Weights of the examples.
    n_jobs : int or None
        Number of workers that code the features.
    feature_weights : ndarray, optional
        How much each feature counts in the features' part of the impurity.
    """
    from omnirank.trees.kernels.split import Settings

    rules.check()
    weight = np.ones(dataset.n_examples) if sample_weight is None else sample_weight
    if weight.sum() < 2 * rules.min_samples_leaf:
        hint = "lower it" if sample_weight is None else "use weights of mean 1"
        raise DataError(
            f"the examples weigh {weight.sum():g} together, less than two leaves of "
            f"{setting('min_samples_leaf', rules.min_samples_leaf)}: {hint}"
        )
    task = get_task(dataset.task)
    target, around = _parts(dataset, rules, task, sample_weight, feature_weights)
    _warn_about(dataset, rules)
    sparse_features = suits_sparse_kernel(dataset.features)
    if around is not None:
        least = float(rules.min_labelled_leaf)
        _warn_about_few_labels(weight[target.columns.labelled].sum(), least)
        space = two_part_space(target, around, sample_weight, least, sparse_features)
    elif len(target.clustering.columns):
        space = clustering_space(target.columns, target.clustering, sample_weight, sparse_features)
    else:  # all features are constant, and no tree splits
        space = constant_space(dataset.n_examples)
    coded = code_features(dataset.features, rules.random_tests, space, n_jobs)
    settings = Settings(
        features_per_node(rules, dataset),
        float(rules.min_samples_leaf),
        _NO_LIMIT if rules.max_depth is None else int(rules.max_depth),
        rules.tie_break == "first",
        NOMINAL_TESTS.index(rules.nominal_tests),
        _LEAST_GAIN,
    )
    return GrowingPlan(
        dataset,
        rules,
        task,
        target.columns,
        target.clustering,
        coded,
        space,
        settings,
        weight,
        entropy,
        around,
    )


def _parts(
    dataset: Dataset,
    rules: GrowingRules,
    task: Task,
    sample_weight: np.ndarray | None,
    feature_weights: np.ndarray | None,
) -> tuple[Part, Part | None]:
    """Target and features with their shares w and 1 - w; without a target the features take its place."""
    w = float(rules.supervision)
    around = None
    if dataset.target is None or w < 1:
        columns = feature_columns(dataset.features, feature_weights)
        share = 1.0 if dataset.target is None else 1 - w
        around = Part(columns, _counted(clustering_columns(columns, sample_weight), share))
    if dataset.target is None:
        if around is None:  # for the type checker: there is no target
            raise DataError("there is nothing to grow trees for")
        return around, None
    columns = task.columns(dataset.target, dataset.hierarchy, rules.hierarchy_weight)
    clustering = clustering_columns(columns, sample_weight, rules.normalize_targets)
    if not len(clustering.columns):
        if around is None:
            raise DataError(_what_is_constant(columns))
        logger.info("%s; features alone decide on the tests", _what_is_constant(columns))
    return Part(columns, _counted(clustering, w)), around


def _counted(clustering: ClusteringColumns, share: float) -> ClusteringColumns:
    return clustering if share == 1 else replace(clustering, weights=clustering.weights * share)


def features_per_node(rules: GrowingRules, dataset: Dataset) -> int:
    """Return how many features are drawn in a node.

    None: ceil(sqrt D) in a random forest, D in bagging and extra trees, but ceil(sqrt D) in extra trees when most
    features are binary (each has a single test then, and trees that see all of them are alike). Without a target
    ceil(log2 D), except in bagging.
    """
    n = dataset.n_features
    given = rules.max_features
    if given is None:
        if dataset.target is None and rules.ensemble != "bagging":
            given = "log2"
        elif rules.ensemble == "random-forest" or (rules.ensemble == "extra-trees" and _mostly_binary(dataset)):
            given = "sqrt"
        else:
            given = "all"
    named = {"sqrt": np.ceil(np.sqrt(n)), "log2": np.ceil(np.log2(n)), "all": n}
    check("max_features", given, choice(*named, None) | count(1, n, "features") | share(above=0))
    if isinstance(given, str):
        return max(1, int(named[given]))
    return int(given) if isinstance(given, int | np.integer) else max(1, round(given * n))


def _mostly_binary(dataset: Dataset) -> bool:
    table = dataset.features
    binary = 0
    for f, levels in enumerate(table.levels):
        if levels is not None:
            binary += len(levels) <= 2
            continue
        if table.is_sparse:
            stored = table.matrix.data[table.matrix.indptr[f] : table.matrix.indptr[f + 1]]
            binary += len(stored) == 0 or bool((stored == stored[0]).all())
        else:
            cells = table.numeric[:, table.slots[f]]
            binary += _two_values(cells)
    return binary > table.n_columns / 2


def _two_values(cells: np.ndarray) -> bool:
    known = cells[~np.isnan(cells)]
    return len(known) == 0 or bool(((known == known.min()) | (known == known.max())).all())


def _what_is_constant(columns: PrototypeColumns) -> str:
    name = repr(columns.names[0])
    if columns.n_variables > 1:
        return f"all {columns.n_variables} targets ({name}, ...) are constant: there is nothing to learn"
    if columns.levels[0] is not None:
        known = columns.matrix[columns.labelled]
        level = columns.levels[0][int(np.argmax(known[0]))]
        return f"target {name} has one class only ({level!r}): there is nothing to learn"
    return f"target {name} is constant: there is nothing to learn"


def _without_known_value(table: Table) -> list[str]:
    """Names of the features of which every cell is missing."""
    if table.is_sparse:
        full = np.flatnonzero(np.diff(table.matrix.indptr) == table.n_rows)
        starts = table.matrix.indptr
        return [table.names[f] for f in full if np.isnan(table.matrix.data[starts[f] : starts[f + 1]]).all()]
    # Looking at the first row spares most columns a second look.
    found = []
    for f in range(table.n_columns):
        cells = table.column(f)
        if _missing(cells[:1]).all() and _missing(cells).all():
            found.append(f)
    return [table.names[f] for f in found]


def _missing(cells: np.ndarray) -> np.ndarray:
    return np.isnan(cells) if cells.dtype.kind == "f" else cells < 0


def _warn_about_few_labels(labelled: float, least: float) -> None:
    """A child has no labelled weight or at least ``least``; where there is less of it, no child can have any."""
    if labelled < least * (1 - 1e-9):  # weights are sums of floats
        warnings.warn(
            f"no split is admissible: the labelled examples weigh {labelled:g} together, less than one leaf of "
            f"{setting('min_labelled_leaf', least)}; lower it, or leave it at 0",
            UserWarning,
            stacklevel=3,
        )


def _warn_about(dataset: Dataset, rules: GrowingRules) -> None:
    table = dataset.features
    empty = _without_known_value(table)
    if empty:
        more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
        warnings.warn(f"feature {empty[0]!r}{more} has no known value: no tree can test it", UserWarning, stacklevel=2)
    for f, levels in enumerate(table.levels):
        if levels is not None and len(levels) > max(2, table.n_rows / 2) and not table.is_sparse:
            warnings.warn(
                f"feature {table.names[f]!r} has {len(levels)} levels for {table.n_rows} examples: "
                "is it an identifier? Leave it out of the ranking",
                UserWarning,
                stacklevel=2,
            )
    if (
        rules.ensemble == "extra-trees"
        and not rules.bootstraps
        and features_per_node(rules, dataset) == dataset.n_features
        and _mostly_binary(dataset)
    ):
        warnings.warn(
            "extra trees without bootstrap that see all features, most of them binary, are nearly the same "
            f"tree: set {setting('bootstrap', True)} or {setting('max_features', 'sqrt')}",
            UserWarning,
            stacklevel=2,
        )
