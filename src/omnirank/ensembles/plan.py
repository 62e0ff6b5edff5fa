"""From data and parameters to what trees are grown on: what all plans of a fit share is computed once."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import ConstantTargetError, DataError, logger, setting
from omnirank.core.parameters import FLAG, check, check_all, choice, count, number, share
from omnirank.core.seeds import kernel_seed, stream
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.tasks import Task, clustering_columns, feature_columns, get_task
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns
from omnirank.trees.layout import (
    LaidOut,
    clustering_space,
    constant_space,
    feature_kind,
    grows_on_cells,
    lay_out,
    non_zero_cells,
    two_part_space,
)
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import Pruning, prune
from omnirank.trees.tree import Tree, routed_cells, tree_from_grown

ENSEMBLES = ("random-forest", "extra-trees", "bagging")
TIE_BREAKS = ("random", "first")
# Rules that rankers have no parameters for: runs of CLUS and plans of studies set them (`EnsembleRanker._rules`).
PRIVATE_RULES = ("tie_break", "normalize_targets", "hierarchy_weight")
# The domains of the parameters that estimators share with `GrowingRules`.
GROWING = {
    "ensemble": choice(*ENSEMBLES),
    "bootstrap": choice(None) | FLAG,
    "min_samples_leaf": number(above=0),
    "max_depth": choice(None) | count(0),
    "tie_break": choice(*TIE_BREAKS),
    "normalize_targets": choice(None) | FLAG,
    "hierarchy_weight": number(above=0, most=1),
    "min_labelled_leaf": number(0),
}
_NO_LIMIT = 2**31 - 1
# Most features that have more than two values show them in so many cells.
_CELLS_AHEAD = 64
# Least weight of a leaf beside a mean weight of 1: kernels let it be missed by 1e-9, and a leaf of less could weigh
# nothing but the rounding of sums.
_LEAST_LEAF = 2e-9


@dataclass(frozen=True)
class GrowingRules:
    """How trees are grown; parameters as in the estimators, and rules that these do not have.

    Attributes
    ----------
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)).
    """

    ensemble: str = "random-forest"
    max_features: Any = None
    bootstrap: bool | None = None
    min_samples_leaf: float = 2
    max_depth: int | None = None
    tie_break: str = "random"
    normalize_targets: bool | None = None
    hierarchy_weight: float = 0.75
    supervision: float = 1.0
    min_labelled_leaf: float = 0

    @classmethod
    def of(cls, estimator: Any, **others: Any) -> GrowingRules:
        """Return the rules of an estimator, but for the level of supervision: its parameters, its own rules, others."""
        names = [one.name for one in fields(cls) if one.name != "supervision" and hasattr(estimator, one.name)]
        return cls(
            **{name: getattr(estimator, name) for name in names} | dict(getattr(estimator, "_rules", {})) | others
        )

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

    def settings(self, n_tried: int) -> Any:
        """Return what kernels may do in a node that draws so many features."""
        from omnirank.trees.kernels.search_all import Settings

        return Settings(
            n_tried,
            float(self.min_samples_leaf),
            _NO_LIMIT if self.max_depth is None else int(self.max_depth),
            self.tie_break == "first",
        )


# -- what trees draw ------------------------------------------------------------------------------------------


def bootstrap_counts(entropy: int, i: int, strata: Sequence[np.ndarray]) -> np.ndarray:
    """Return how often tree i draws each row, with replacement, as many of each stratum as there are."""
    rng = stream(entropy, i)
    drawn = [np.bincount(rng.integers(0, len(rows), len(rows)), minlength=len(rows)) for rows in strata]
    if len(drawn) == 1:  # of all rows
        return drawn[0].astype(np.float64)
    counts = np.empty(sum(len(rows) for rows in strata))
    for rows, times in zip(strata, drawn, strict=True):
        counts[rows] = times
    return counts


def features_drawn(given: Any, n: int) -> int:
    """Return how many of n features a count, a share or a name stands for.

    Examples
    --------
    >>> from omnirank.ensembles.plan import features_drawn
    >>> features_drawn("sqrt", 10), features_drawn(0.5, 10), features_drawn(3, 10)
    (4, 5, 3)
    """
    named = {"sqrt": np.ceil(np.sqrt(n)), "log2": np.ceil(np.log2(n)), "all": n}
    check("max_features", given, choice(*named, None) | count(1, n, "features") | share(above=0))
    if isinstance(given, str):
        return max(1, int(named[given]))
    return int(given) if isinstance(given, int | np.integer) else max(1, round(given * n))


def features_per_node(rules: GrowingRules, dataset: Dataset) -> int:
    """Return how many features are drawn in a node.

    None: D in bagging. Elsewhere ceil(log2 D) in unsupervised trees, and ceil(sqrt D) in random forests and in
    semi-supervised trees: features are clustering columns there, so that a node costs a multiple of D for each feature
    that it tries. Supervised extra trees try all D, but ceil(sqrt D) where most features are binary: each has a single
    test then, and trees that see all of them are alike.
    """
    n = dataset.n_features
    given = rules.max_features
    if given is None:
        if rules.ensemble == "bagging":
            given = "all"
        elif dataset.target is None or rules.supervision == 0:
            given = "log2"
        elif rules.ensemble == "random-forest" or rules.supervision < 1 or mostly_binary(dataset.features):
            given = "sqrt"
        else:
            given = "all"
    return features_drawn(given, n)


def mostly_binary(table: Table) -> bool:
    """Whether most features have two values, or fewer."""
    binary = 0
    for f, levels in enumerate(table.levels):
        if levels is not None:
            binary += len(levels) <= 2
        elif table.is_sparse:
            stored = table.matrix.data[table.matrix.indptr[f] : table.matrix.indptr[f + 1]]
            binary += _two_values(np.append(stored, 0.0) if len(stored) < table.n_rows else stored)
        else:
            binary += _two_values(table.column(f))
    return binary > table.n_columns / 2


def _two_values(cells: np.ndarray) -> bool:
    first = cells[:_CELLS_AHEAD]
    if len(np.unique(first[~np.isnan(first)])) > 2:
        return False
    known = cells[~np.isnan(cells)]
    return len(known) == 0 or bool(((known == known.min()) | (known == known.max())).all())


# -- plans ----------------------------------------------------------------------------------------------------


class CodedColumns(NamedTuple):
    """Target or features as columns: what a leaf averages, and what a split separates."""

    columns: PrototypeColumns
    clustering: ClusteringColumns

    def counted(self, share: float) -> CodedColumns:
        """Return the columns with this share in the impurity."""
        if share == 1:
            return self
        return self._replace(clustering=replace(self.clustering, weights=self.clustering.weights * share))


@dataclass(frozen=True, eq=False)
class GrowingPlan:
    """Everything that the trees of one fit share; picklable, so that workers may be processes.

    ``columns`` and ``clustering`` are those of the target; without a target, those of the features. ``feature_part``
    are the features of semi-supervised trees, else None. ``groups`` as in `GrowingData`. No tree sees the examples of
    the mask ``left_out``.
    """

    dataset: Dataset
    rules: GrowingRules
    task: Task
    columns: PrototypeColumns
    clustering: ClusteringColumns
    coded: LaidOut
    space: Any
    settings: Any
    weight: np.ndarray
    entropy: int
    feature_part: CodedColumns | None = None
    # What kernels divide weights and gains by, a power of two: their tolerances are for weights of about 1.
    weight_unit: float = 1.0
    groups: np.ndarray | None = None
    left_out: np.ndarray | None = None

    @property
    def n_examples(self) -> int:
        """Number of training examples."""
        return len(self.weight)

    @cached_property
    def cells(self) -> Any:
        """The cells by which examples go down trees that have not seen them."""
        return routed_cells(self.dataset.features)

    def counts(self, i: int) -> np.ndarray:
        """Return how often tree i sees each example: bootstrap counts, or once each."""
        counts = np.ones(self.n_examples)
        if self.rules.bootstraps:
            drawn = bootstrap_counts(self.entropy, i, self._strata)
            counts = drawn if self.groups is None else drawn[self.groups]
        if self.left_out is None:
            return counts
        kept = ~self.left_out
        # of few labelled examples, all that were drawn may be left out
        return kept * (counts if (kept * counts)[self.columns.labelled].any() else 1.0)

    @cached_property
    def _strata(self) -> tuple[np.ndarray, ...]:
        """Groups among which bootstraps draw: labelled and unlabelled ones apart where the target counts."""
        labelled = self.columns.labelled
        if self.groups is not None:
            labelled = np.bincount(self.groups, labelled) > 0
        if labelled.all() or self.rules.supervision == 0:
            return (np.arange(len(labelled)),)
        # the labelled first: their counts are those of the supervised ensemble of the same seed
        return np.flatnonzero(labelled), np.flatnonzero(~labelled)

    def in_groups(self, rows: np.ndarray) -> np.ndarray:
        """Return the groups of rows: their numbers where each row is a group of its own."""
        return rows if self.groups is None else self.groups[rows]

    @property
    def group_weight(self) -> np.ndarray:
        """Weight of each group."""
        return self.weight if self.groups is None else np.bincount(self.groups, self.weight)

    def to_send(self) -> GrowingPlan:
        """Return the same plan as it travels to other machines, without what can be made anew from the rest."""
        return replace(self, coded=self.coded.to_send())

    def grow(self, i: int, counts: np.ndarray | None = None) -> Any:
        """Grow tree i."""
        counts = self.counts(i) if counts is None else counts
        unit, seed = self.weight_unit, kernel_seed(self.entropy, i)
        settings = self.settings._replace(min_leaf=max(self.settings.min_leaf / unit, _LEAST_LEAF))
        weight = self.weight if unit == 1 else self.weight / unit
        tree = self.coded.kernel(self.space, self.coded.cells, counts * weight, settings, seed)
        if unit == 1:
            return tree
        return tree._replace(gain=tree.gain * unit, weight=tree.weight * unit, row_weight=tree.row_weight * unit)

    def pruned(self, pruning: Pruning | None, i: int, counts: np.ndarray | None = None) -> Any:
        """Grow tree i, and prune it where that is asked for."""
        grown = self.grow(i, counts)
        if pruning is None:
            return grown
        return prune(grown, pruning, self.columns, self.clustering, self.weight, self.feature_part)

    def tree(self, pruning: Pruning | None, i: int) -> Tree:
        """Grow tree i, prune it where that is asked for, and keep its leaves' prototypes."""
        grown = self.pruned(pruning, i)
        return tree_from_grown(grown, self.dataset.features, *node_means(grown, self.columns))


@dataclass(frozen=True, eq=False)
class GrowingData:
    """The examples of a fit; features are coded once, for plans of all levels of supervision and of subsets.

    Attributes
    ----------
    dataset : Dataset
        The examples. Without a target trees are unsupervised.
    entropy : int
        Root of the random streams: trees of all levels draw the same labelled examples.
    weight : ndarray, optional
        Weights of the examples.
    feature_weights : ndarray, optional
        How much each feature counts in the features' part of the impurity.
    n_jobs : int or None
        Number of workers.
    groups : ndarray, optional
        Number of the group of each example, every number from 0 on: a bootstrap replicate has all examples of a group,
        equally often, or none. By default, each example is a group.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.plan import GrowingData, GrowingRules
    >>> data = GrowingData(om.datasets.load_sample("linnerud").keep_labels(8, random_state=0), entropy=0)
    >>> data.plan(GrowingRules(supervision=0.5)).n_examples, data.labelled.plan(GrowingRules()).n_examples
    (20, 8)
    """

    dataset: Dataset
    entropy: int
    weight: np.ndarray | None = None
    feature_weights: np.ndarray | None = None
    n_jobs: int | None = None
    groups: np.ndarray | None = None
    # what has the same rows shares them
    _codes: dict[bool, Any] = field(default_factory=dict)

    def take(self, rows: np.ndarray) -> GrowingData:
        """Return some of the examples (a mask)."""
        if rows.all():
            return self
        weight = None if self.weight is None else self.weight[rows]
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1]
        dataset = self.dataset.take(rows)
        return replace(self, dataset=dataset, weight=weight, groups=groups, _codes={})

    @property
    def labelled(self) -> GrowingData:
        """The labelled examples."""
        # not cached where it is itself: what refers to itself keeps its memory until the garbage is collected
        return self if self.dataset.labelled.all() else self._labelled_part

    @cached_property
    def _labelled_part(self) -> GrowingData:
        return self.take(self.dataset.labelled)

    def at_level(self, supervision: float) -> GrowingData:
        """Return the examples that trees of this level see: supervised ones see the labelled examples only."""
        return self.labelled if supervision == 1 else self

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the data, weights of the examples included."""
        if self.weight is None:
            return self.dataset.fingerprint
        digest = hashlib.blake2b(self.dataset.fingerprint.encode(), digest_size=16)
        digest.update(np.ascontiguousarray(self.weight).tobytes())
        return digest.hexdigest()

    @cached_property
    def _cells(self) -> Any:
        return non_zero_cells(self.dataset.features)

    @cached_property
    def _feature_part(self) -> CodedColumns:
        columns = feature_columns(self.dataset.features, self.feature_weights, self._cells)
        part = CodedColumns(columns, clustering_columns(columns, self.weight))
        varies = columns.impurity > 0
        if self.feature_weights is None or not varies.any():
            return part
        # The mean over the features of weight times impurity, not a weighted mean: the less features weigh, the less
        # they count beside the target (Eq. (10) of Levatic et al., see `feature_weights`).
        return part.counted(float(self.feature_weights[varies].mean()))

    @cached_property
    def _feature_products(self) -> Any:
        """The space of the features for all levels of supervision, where it consists of products of rows; else None."""
        from omnirank.trees.kernels.spaces import GramColumns

        columns, clustering = self._feature_part
        if self._cells is not None or self.dataset.features.n_missing or len(clustering.columns) <= len(columns.matrix):
            return None
        space = clustering_space(columns, clustering, self.weight)
        return space if isinstance(space, GramColumns) else None

    def target_columns(self, rules: GrowingRules) -> PrototypeColumns:
        """Return the coded target; there is one."""
        target = self.dataset.target
        assert target is not None
        return get_task(self.dataset.task).columns(target, self.dataset.hierarchy, rules.hierarchy_weight)

    def _parts(self, rules: GrowingRules) -> tuple[CodedColumns, CodedColumns | None]:
        """Target and features with their shares w and 1 - w; without a target the features take its place."""
        w = float(rules.supervision)
        if self.dataset.target is None:
            return self._feature_part, None
        columns = self.target_columns(rules)
        target = CodedColumns(
            columns, get_task(self.dataset.task).clustering(columns, self.weight, rules.normalize_targets)
        )
        if not len(target.clustering.columns):
            if w == 1:
                raise ConstantTargetError(what_is_constant(columns))
            logger.info("%s; features alone decide on the tests", what_is_constant(columns))
        return target.counted(w), self._feature_part.counted(1 - w) if w < 1 else None

    def _space(
        self,
        rules: GrowingRules,
        target: CodedColumns,
        feature_part: CodedColumns | None,
        weight: np.ndarray,
        on_cells: bool = False,
    ) -> Any:
        """The clustering space of both parts."""
        if feature_part is not None:
            least = float(rules.min_labelled_leaf)
            warn_about_few_labels(weight[target.columns.labelled].sum(), least)
            products = self._feature_products
            if products is not None:
                products = products._replace(share=1 - float(rules.supervision))
            return two_part_space(target, feature_part, self.weight, least / weight_unit(weight), on_cells, products)
        if len(target.clustering.columns):
            return clustering_space(*target, self.weight, on_cells)
        return constant_space(self.dataset.n_examples)  # all features are constant, and no tree splits

    def plan(self, rules: GrowingRules) -> GrowingPlan:
        """Return what trees are grown on; with supervision 1, all examples are labelled (at least partly)."""
        rules.check()
        dataset = self.dataset
        weight = np.ones(dataset.n_examples) if self.weight is None else self.weight
        check_leaves(weight, rules.min_samples_leaf, self.weight is not None)
        unit = weight_unit(weight)
        target, feature_part = self._parts(rules)
        on_cells = grows_on_cells(self._cells, *target, labelled_only=feature_part is not None)
        space = self._space(rules, target, feature_part, weight, on_cells)
        n_tried = features_per_node(rules, dataset)
        settings, cells = rules.settings(n_tried), self._cells if on_cells else None
        kind, copied = feature_kind(dataset.features, cells, space, n_tried, rules.random_tests)
        coded = lay_out(dataset.features, kind, copied, cells, rules.random_tests, self.n_jobs, self._codes)
        task = get_task(dataset.task)
        arguments = dataset, rules, task, *target, coded, space, settings, weight, self.entropy, feature_part, unit
        plan = GrowingPlan(*arguments, self.groups)
        trees_see_all = settings.max_features == dataset.n_features and not rules.bootstraps
        if trees_see_all and rules.random_tests and mostly_binary(dataset.features):
            warnings.warn(
                "extra trees without bootstrap that see all features, most of them binary, are nearly the same "
                f"tree: set {setting('bootstrap', True)} or {setting('max_features', 'sqrt')}",
                UserWarning,
                stacklevel=2,
            )
        return plan


def check_leaves(weight: np.ndarray, least: float, given: bool) -> None:
    """Raise a DataError where the weights (given, or 1 each) do not do for two leaves of ``least``."""
    if weight.sum() < 2 * least:
        hint = "use weights of mean 1" if given else "lower it"
        raise DataError(
            f"the examples weigh {weight.sum():g} together, less than two leaves of "
            f"{setting('min_samples_leaf', least)}: {hint}"
        )


def what_is_constant(columns: PrototypeColumns) -> str:
    """Return why no tree can be grown for a target that does not vary."""
    name = repr(columns.names[0])
    if columns.n_variables > 1:
        return f"all {columns.n_variables} targets ({name}, ...) are constant: there is nothing to learn"
    if columns.levels[0] is not None:
        known = columns.matrix[columns.labelled]
        if not len(known):
            return f"no example with a positive weight has a known value of target {name}: there is nothing to learn"
        level = columns.levels[0][int(np.argmax(known[0]))]
        return f"target {name} has one class only ({_plain(level)!r}): there is nothing to learn"
    return f"target {name} is constant: there is nothing to learn"


def _plain(level: object) -> object:
    """The level as Python shows it: 'a', not numpy's str_('a')."""
    return level.item() if isinstance(level, np.generic) else level


def warn_about_few_labels(labelled: float, least: float) -> None:
    """Warn where no child can have labels: it has no labelled weight or at least ``least``, and there is less of it."""
    if labelled < least * (1 - 1e-9):  # weights are sums of floats
        warnings.warn(
            f"no split is admissible: the labelled examples weigh {labelled:g} together, less than one leaf of "
            f"{setting('min_labelled_leaf', least)}; lower it, or leave it at 0",
            UserWarning,
            stacklevel=4,
        )


def weight_unit(weight: np.ndarray) -> float:
    """Return the power of two below the mean of the positive weights; dividing by it changes no bit but the exponent.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.plan import weight_unit
    >>> weight_unit(np.array([0.0, 1.0, 2.0])), weight_unit(np.array([0.3, 0.3]))
    (1.0, 0.25)
    """
    positive = weight[weight > 0]
    if not len(positive):
        return 1.0
    largest = positive.max()
    return float(np.ldexp(1.0, int(np.frexp((positive / largest).mean() * largest)[1]) - 1))
