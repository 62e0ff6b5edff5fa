"""The importance scores of trees: a table with one entry for each, and what grows and scores a tree.

Entries name their function by import path, so that the registry lists scores without importing what computes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.errors import ParameterError
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import check, choice
from omnirank.core.registry import Method, register, unregister
from omnirank.core.seeds import kernel_seed
from omnirank.data.table import is_sparse
from omnirank.data.task_registry import TASKS, TaskNames

if TYPE_CHECKING:
    from omnirank.ensembles.errors import ErrorGrowth, ErrorMeasure, OutOfBag
    from omnirank.ensembles.plan import GrowingPlan


# Keeps the stream of permutations apart from that of the same tree's growing.
_PERMUTATION_KEY = np.uint64(0xA5A5A5A5A5A5A5A5)

# Errors of the permutation score, and the tasks for which they are defined; any measure of the task is one, too.
ERRORS = {
    "auto": TASKS,
    "accuracy": TaskNames("classes"),
    "rrmse": TaskNames("numbers"),
    "auprc": TaskNames("labels"),
    "target": TaskNames("classes", "numbers", "labels", "mixed"),
}


class ScoreOptions(NamedTuple):
    """Parameters of `EnsembleRanker` that say how trees are scored."""

    per_target: bool = False
    symbolic_weight: float | None = None
    permutation_error: str = "auto"
    p_values: bool = False


class ScoredTree(NamedTuple):
    """One grown tree and what its scores are computed from.

    Attributes
    ----------
    plan : GrowingPlan
        What the tree was grown on.
    grown : GrownTree
        The tree.
    counts : ndarray (examples,) or None
        How often each example was drawn; 0 is out of bag. None: where no score needs to know.
    number : int
        Number of the tree, which gives it its random stream.
    options : ScoreOptions
        How it is scored.
    measure : ErrorMeasure or None
        Error of the plan's trees, where a score needs one.
    prepared : object
        What the score's ``preparation`` made of the plan; None: the score makes it.
    """

    plan: GrowingPlan
    grown: Any
    counts: np.ndarray | None = None
    number: int = 0
    options: ScoreOptions = ScoreOptions()
    measure: ErrorMeasure | None = None
    prepared: Any = None


class Contributions(NamedTuple):
    """What single examples out of bag add to the score of one tree.

    Attributes
    ----------
    feature : ndarray (tests,)
        Feature of each test.
    first, last : ndarray (tests,)
        The examples that reach test j are ``rows[first[j] : last[j]]``.
    rows : ndarray (examples out of bag,)
        Numbers of their groups (`GrowingPlan.groups`), by default their own.
    by_example : ndarray
        What each example adds at each test that it reaches, one test after the other.
    in_bag : ndarray (features,)
        The score by examples of the bag in place of those out of it: what the tests promise.
    """

    feature: np.ndarray
    first: np.ndarray
    last: np.ndarray
    rows: np.ndarray
    by_example: np.ndarray
    in_bag: np.ndarray

    def scaled(self, factor: float) -> Contributions:
        """Return the contributions to a multiple of the score."""
        return self._replace(by_example=self.by_example * factor, in_bag=self.in_bag * factor)


class FeatureScores(NamedTuple):
    """The score of one tree.

    Attributes
    ----------
    row : ndarray (features,)
        The score of each feature.
    table : ndarray (targets, features) or None
        The same for single targets.
    undefined : bool
        Whether the score is undefined for this tree; then it is 0.
    contributions : tuple of Contributions
        What single examples add, where p values are asked for.
    """

    row: np.ndarray
    table: np.ndarray | None = None
    undefined: bool = False
    contributions: tuple[Contributions, ...] = ()


@dataclass(frozen=True)
class Score:
    """One importance score; a ranking is its mean over the trees.

    Attributes
    ----------
    function : str or callable
        The function, or its import path "package.module:function". It takes a `ScoredTree` and returns
        `FeatureScores`.
    summary, reference : str
        As in :class:`omnirank.core.registry.Method`.
    preparation : str
        Where the function is that makes of a plan what the score needs of every tree; "": there is none.
    on_demand : bool
        Whether it costs extra: it is computed only where it is asked for.
    needs_out_of_bag : bool
        Whether it needs examples that the tree has not seen.
    needs_error : bool
        Whether it needs an error measure of the trees.
    splits_by_target : bool
        Whether it can be computed for single targets.
    has_p_values : bool
        Whether it is a sum over examples of which each adds 0 on average where the feature tells nothing, so that they
        give p values (see `omnirank.ensembles.p_values`).
    has_root : bool
        Whether the scores of trees are those below the root, where all trees credit features alike, and the ranking is
        that of `omnirank.core.ranking.accumulators.ConfirmedMeans`.
    """

    function: str | Callable[[ScoredTree], FeatureScores]
    summary: str
    reference: str = ""
    preparation: str = ""
    on_demand: bool = False
    needs_out_of_bag: bool = False
    needs_error: bool = False
    splits_by_target: bool = True
    has_p_values: bool = False
    has_root: bool = False

    def prepare(self, plan: GrowingPlan) -> Any:
        """Return what the score needs of every tree of a plan; None where that is nothing."""
        return imported(self.preparation)(plan) if self.preparation else None

    def of_tree(self, tree: ScoredTree) -> FeatureScores:
        """Return the scores of the features in one tree."""
        function = imported(self.function) if isinstance(self.function, str) else self.function
        scores: FeatureScores = function(tree)
        return scores


SCORES = {
    "genie3": Score(
        "omnirank.ensembles.scores:genie3",
        "Impurity reductions of the feature's tests in an ensemble of trees",
        "Huynh-Thu et al.: Inferring regulatory networks from expression data. PLoS ONE 5(9), 2010",
    ),
    "symbolic": Score(
        "omnirank.ensembles.scores:symbolic",
        "How many examples reach the feature's tests in an ensemble of trees",
        "Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Mach. Learn. 109, 2020",
        splits_by_target=False,
    ),
    "permutation": Score(
        "omnirank.ensembles.scores:permutation",
        "Growth of the trees' out-of-bag error when the feature is permuted",
        "Breiman: Random forests. Machine Learning 45, 2001",
        on_demand=True,
        needs_out_of_bag=True,
        needs_error=True,
    ),
    "unbiased": Score(
        "omnirank.ensembles.unbiased:unbiased",
        "How much the feature helps trees to predict examples that they have not seen; noise scores 0 on average",
        "Li et al.: A debiased MDI feature importance measure for random forests. NeurIPS 2019",
        preparation="omnirank.ensembles.unbiased:described_parts",
        on_demand=True,
        needs_out_of_bag=True,
        has_p_values=True,
        has_root=True,
    ),
}


def register_score(name: str, score: Score, *, replace: bool = False) -> Score:
    """Add a score of trees: ``EnsembleRanker(importance=name)`` and the method ``name`` then compute it.

    Parameters
    ----------
    name : str
        Name for users, in lower case.
    score : Score
        The score. Set ``on_demand=True`` unless it costs next to nothing: all other scores are computed in every fit.
    replace : bool
        Whether a method of the same name may be replaced; otherwise that is an error.

    Examples
    --------
    The number of splits on a feature, counting a split at depth *d* as 1 / (1 + *d*):

    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.ensembles import FeatureScores, Score, register_score, unregister_score
    >>> def early(tree):
    ...     splits = tree.grown.feature >= 0
    ...     weights = 1 / (1 + tree.grown.depth[splits])
    ...     n_features = tree.plan.dataset.n_features
    ...     return FeatureScores(np.bincount(tree.grown.feature[splits], weights, n_features))
    >>> summary = "How early trees split on the feature"
    >>> score = register_score("early", Score(early, summary, on_demand=True, splits_by_target=False))
    >>> om.make_ranker("early", n_trees=10)
    EnsembleRanker(importance='early', n_trees=10)
    >>> unregister_score("early")
    """
    register(score_method(name, score), replace=replace)
    SCORES[name] = score
    return score


def unregister_score(name: str) -> None:
    """Remove a score that was registered, and its method."""
    get_score(name)  # an error where there is none
    del SCORES[name]
    unregister(name)


def score_method(name: str, score: Score) -> Method:
    """Return the method that ranks by a score."""
    ranker = "omnirank.rankers.ensemble:EnsembleRanker"
    return Method(name, ranker, score.summary, TASKS, parameters={"importance": name}, reference=score.reference)


@cache
def imported(path: str) -> Any:
    """Return the function that an import path, "package.module:function", stands for."""
    module, _, function = path.partition(":")
    return getattr(import_module(module), function)


def get_score(importance: Any) -> Score:
    """Return the score of that name.

    Examples
    --------
    >>> from omnirank.ensembles.scores import get_score
    >>> get_score("symbolic").splits_by_target
    False
    >>> get_score("entropy")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: importance='entropy': choose one of genie3, symbolic, permutation, ...
    """
    return SCORES[check("importance", importance, choice(*SCORES))]


def check_error(error: str, task: str | None = None) -> None:
    """Raise a ParameterError if there is no such error, or none for this task.

    Examples
    --------
    >>> from omnirank.ensembles.scores import check_error
    >>> check_error("rrmse", "classification")
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: permutation_error='rrmse': it is for regression, ... not for classification
    """
    from omnirank.tasks.measuring import MEASURES, measures_of

    if isinstance(error, str) and error == "auto":
        return
    measures = MEASURES if task is None else [one.name for one in measures_of(task)]
    if isinstance(error, str) and error in ERRORS and error not in measures:
        tasks = ERRORS[error]
        if task is not None and task not in tasks:
            raise ParameterError("permutation_error", error, f"it is for {', '.join(tasks)}, not for {task}")
        return
    check("permutation_error", error, choice(*dict.fromkeys([*ERRORS, *measures])))


def computed_scores(*asked: str) -> tuple[str, ...]:
    """Return the names of the scores that a fit computes: those that cost nothing, and those that are asked for.

    Examples
    --------
    >>> from omnirank.ensembles.scores import computed_scores
    >>> computed_scores("symbolic")
    ('genie3', 'symbolic')
    >>> computed_scores("permutation")
    ('genie3', 'symbolic', 'permutation')
    """
    return tuple(name for name, score in SCORES.items() if name in asked or not score.on_demand)


# -- scores of one tree ---------------------------------------------------------------------------------------


def genie3(tree: ScoredTree) -> FeatureScores:
    """Return the summed heuristic values h*(N) of the nodes that test each feature.

    References
    ----------
    Huynh-Thu et al.: Inferring regulatory networks from expression data. PLoS ONE 5(9), 2010. For structured targets:
    Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023. Eq. (3).
    """
    plan, grown = tree.plan, tree.grown
    row = _sums_by_feature(tree, grown.gain)
    return FeatureScores(row, genie3_per_target(plan, grown) if tree.options.per_target else None)


def symbolic(tree: ScoredTree) -> FeatureScores:
    """Return the summed weights of the nodes that test each feature.

    A node N weighs |E(N)| / |D_train| (its share of the tree's training sample), or ``symbolic_weight`` to the
    power of its depth.

    References
    ----------
    By examples: Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023.
    Eq. (2). By depth: Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109,
    2020. Eq. (1).
    """
    grown, depth_weight = tree.grown, tree.options.symbolic_weight
    weight = grown.weight / grown.weight[0] if depth_weight is None else np.float64(depth_weight) ** grown.depth
    return FeatureScores(_sums_by_feature(tree, weight))


def _sums_by_feature(tree: ScoredTree, values: np.ndarray) -> np.ndarray:
    """Return the sums of a number per node over the nodes that test each feature.

    Leaves are counted too, and left out afterwards: picking the others would take longer.
    """
    return np.bincount(tree.grown.feature + 1, values, tree.plan.dataset.n_features + 1)[1:]


def genie3_per_target(plan: GrowingPlan, grown: Any) -> np.ndarray:
    """Return Genie3 split by target, (targets, features); its sum over the targets is Genie3.

    The share of target j in a node is what its columns add to the heuristic
    (:func:`omnirank.trees.prototypes.column_gains`).
    """
    from omnirank.trees.prototypes import column_gains

    out = np.zeros((plan.columns.n_variables, plan.dataset.n_features))
    inner = np.flatnonzero(grown.feature >= 0)
    tested = sparse.csr_array(
        (np.ones(len(inner)), (grown.feature[inner], np.arange(len(inner)))), shape=(out.shape[1], len(inner))
    )
    for block, gains in column_gains(grown, plan.columns, plan.clustering, plan.weight):
        by_feature = tested @ gains
        by_feature = by_feature.toarray() if is_sparse(by_feature) else by_feature
        np.add.at(out, plan.columns.variable[block], by_feature.T)
    return out


def out_of_bag(plan: GrowingPlan, grown: Any, counts: np.ndarray, i: int) -> OutOfBag | None:
    """Return tree i with its out-of-bag rows and their permutation; None where there are none."""
    from omnirank.ensembles.errors import OutOfBag
    from omnirank.ensembles.kernels.permutation import shuffle
    from omnirank.trees.tree import routing_tests

    rows = np.flatnonzero(counts == 0).astype(np.uint32)
    if not len(rows):
        return None
    order = shuffle(rows, plan.dataset.n_features, kernel_seed(plan.entropy, i) ^ _PERMUTATION_KEY)
    return OutOfBag(grown, routing_tests(grown, plan.dataset.features), order)


def permutation(tree: ScoredTree) -> FeatureScores:
    """Return the relative growth (Err(permuted) - Err) / Err of a tree's out-of-bag error when a feature is permuted.

    It is undefined where the tree makes no error until a feature is permuted, or has no out-of-bag rows.

    References
    ----------
    Breiman: Random forests. Machine Learning 45, 2001. In this relative form: Petkovic, Dzeroski, Kocev: Feature
    ranking for semi-supervised learning. Machine Learning 112, 2023. Eq. (4).
    """
    assert tree.counts is not None  # the table says what it needs
    assert tree.measure is not None
    case = out_of_bag(tree.plan, tree.grown, tree.counts, tree.number)
    if case is None:
        n_targets, n_features = tree.plan.columns.n_variables, tree.plan.dataset.n_features
        scores = FeatureScores(np.zeros(n_features), np.zeros((n_targets, n_features)), True)
    else:
        scores = relative_growth(tree.measure.growth(case))
    return scores if tree.options.per_target else scores._replace(table=None)


def relative_growth(errors: ErrorGrowth) -> FeatureScores:
    """Return growths divided by the errors before, 0 where there was no error.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.errors import ErrorGrowth
    >>> from omnirank.ensembles.scores import relative_growth
    >>> relative_growth(ErrorGrowth(0.25, np.array([0.5, 0.0]))).row
    array([2., 0.])
    """
    per_target = None
    if errors.target_before is not None and errors.target_growth is not None:
        before = errors.target_before[:, None]
        per_target = np.divide(errors.target_growth, before, out=np.zeros(errors.target_growth.shape), where=before > 0)
    if errors.before > 0:
        return FeatureScores(errors.growth / errors.before, per_target)
    return FeatureScores(np.zeros(len(errors.growth)), per_target, bool(errors.growth.any()))


# -- growing and scoring --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TreeScorer:
    """Grows trees of a plan and returns their scores by name; the trees themselves are not kept.

    Picklable, so that workers may be processes.
    """

    plan: GrowingPlan
    scores: dict[str, Score]  # not their names: other processes lack the scores that this one registered
    options: ScoreOptions
    measure: ErrorMeasure | None
    prepared: dict[str, Any] | None

    @classmethod
    def make(cls, plan: GrowingPlan, names: tuple[str, ...], options: ScoreOptions) -> TreeScorer:
        """Return what computes the scores of these names for the trees of a plan."""
        measure = None
        if any(SCORES[name].needs_error for name in names):
            from omnirank.ensembles.errors import error_measure

            measure = error_measure(plan, options.permutation_error, options.per_target)
        scores = {name: SCORES[name] for name in names}
        if any(score.needs_out_of_bag for score in scores.values()):
            _ = plan.cells  # workers would each make their own
        return cls(plan, scores, options, measure, {name: score.prepare(plan) for name, score in scores.items()})

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores."""
        return tuple(self.scores)

    @cached_property
    def _prepared(self) -> dict[str, Any]:
        """What scores make of the plan, once for all trees."""
        if self.prepared is None:
            return {name: score.prepare(self.plan) for name, score in self.scores.items()}
        return self.prepared

    def to_send(self) -> TreeScorer:
        """Return what computes the same scores, without what can be made anew from the data: that is several times."""
        return replace(self, plan=self.plan.to_send(), prepared=None)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return self.plan.n_examples

    def at_root(self, name: str, n_places: int) -> Any:
        """Return the credit at the root, the same for all trees; with what p values need, groups in so many places."""
        from omnirank.ensembles.unbiased import credit_at_root, credit_with_null

        if (name, n_places) not in self._at_root:
            given = self.plan, self._prepared[name], self.options
            with one_blas_thread():
                credit = credit_with_null(*given, n_places) if n_places else credit_at_root(*given)
            self._at_root[name, n_places] = credit
        return self._at_root[name, n_places]

    @cached_property
    def _at_root(self) -> dict[tuple[str, int], Any]:
        return {}

    @property
    def n_groups(self) -> int:
        """Number of groups of examples."""
        return len(self.plan.group_weight)

    def __call__(self, i: int) -> dict[str, FeatureScores]:
        """Grow tree i and return its scores."""
        counts = self.plan.counts(i)
        tree = ScoredTree(self.plan, self.plan.grow(i, counts), counts, i, self.options, self.measure)
        prepared = self._prepared
        return {name: score.of_tree(tree._replace(prepared=prepared[name])) for name, score in self.scores.items()}


def mean_scores(
    plan: GrowingPlan, names: tuple[str, ...], n_trees: int, n_jobs: int | None, description: str
) -> dict[str, np.ndarray]:
    """Return the scores of these names, averaged over the first trees of a plan."""
    scorer = TreeScorer.make(plan, names, ScoreOptions())
    trees = run_parallel(scorer, range(n_trees), n_jobs, description=description)
    return {name: np.mean([tree[name].row for tree in trees], axis=0) for name in names}
