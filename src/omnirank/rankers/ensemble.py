"""Rankings from ensembles of predictive clustering trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import ParameterError, setting
from omnirank.core.parameters import FLAG, choice, count, listed, number
from omnirank.core.ranking.certainty import Certainty, certainty_of
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.ensembles.convergence import MOST_TREES, why_ended
from omnirank.ensembles.example_samples import MAX_SAMPLES
from omnirank.ensembles.feature_weights import check_feature_weights, resolve_feature_weights, weights_digest
from omnirank.ensembles.growing_checks import tell_undefined
from omnirank.ensembles.plan import GROWING, GrowingData, GrowingPlan, GrowingRules
from omnirank.ensembles.score_sums import ScoreSums, TreeScorer
from omnirank.ensembles.score_table import ScoreOptions, computed_scores, get_score
from omnirank.ensembles.supervision import SUPERVISION, Supervision, resolve_supervision
from omnirank.ensembles.target_errors import check_error
from omnirank.rankers._ensemble_in_memory import rank_in_memory
from omnirank.rankers._ensemble_in_parts import rank_in_samples
from omnirank.rankers.base import BaseRanker
from omnirank.shards.dataset import ShardedDataset

# Parameters that say which and how many trees there are, or what is kept, and nothing about a tree.
_NOT_OF_A_TREE = frozenset(
    {"checkpoints", "first_tree", "n_features_to_select", "n_trees", "p_values", "warm_start"}
    | {"max_memory", "max_samples", "max_seconds"}
)


class EnsembleRanker(BaseRanker):
    """Rank features by the trees of an ensemble, for any target.

    One ensemble of predictive clustering trees gives the scores

    * ``genie3``: sum of the impurity reductions h* of a feature's tests,
    * ``symbolic``: sum of the shares of examples that reach a feature's tests (or of ``symbolic_weight`` to the
      power of their depth),
    * ``permutation``: relative growth of a tree's out-of-bag error when the feature's values are permuted,
    * ``unbiased``: sum of the impurity reductions that out-of-bag examples confirm, covariances of in-bag and
      out-of-bag means; 0 on average for features that tell nothing, however many tests they have,

    each averaged over the trees. The impurity is the mean over targets of their variance (or Gini index) relative
    to the training set; labels of a hierarchy are weighted by their place in it. Where only some examples are labelled,
    the features count beside the target: the impurity is w times that of the targets plus 1 - w times that of the
    features, each over the examples in which it is known. Without a target it is that of the features alone.

    Parameters
    ----------
    importance : {"unbiased", "genie3", "symbolic", "permutation"}
        Which score ``ranking_`` and ``feature_importances_`` hold. Genie3 and Symbolic always come together in
        ``rankings_``; the permutation and the unbiased score cost extra and are computed only where they are asked for.
    ensemble : {"extra-trees", "random-forest", "bagging"}
        Random forest and bagging try all tests of the features drawn in a node, extra trees one random test each.
    n_trees : int or "auto"
        Number of trees. "auto" adds 10 trees at a time until the ranking has converged: from 20 trees on, while
        1 - mean(squared standard errors) / variance(scores) is below 0.99, at most 1000.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Features drawn in a node: a count, a share or a name. None: ceil(sqrt D) in random forests, all D in bagging
        and extra trees (ceil(sqrt D) in extra trees when most features are binary); without a target ceil(log2 D) in
        random forests and extra trees.
    bootstrap : bool or None
        Whether each tree sees a bootstrap replicate; None is True. The permutation and the unbiased score need it.
    min_samples_leaf : float
        Least weight of a leaf, counted with bootstrap multiplicity and sample weights.
    max_depth : int or None
        Greatest depth of a leaf; None: no limit.
    supervision : "auto", "cv" or float
        Level of supervision w in [0, 1]: 1 uses the labelled examples only, 0 the features only. "auto": 1 if all
        examples are labelled, 0 without a target; otherwise the labelled examples decide. The level is 0 if neighbours
        found by an unsupervised ranking predict them clearly better than neighbours found by supervised rankings that
        have not seen their labels, by both Genie3 and Symbolic scores. Otherwise small forests of several levels are
        compared by their out-of-bag loss. If unlabelled examples clearly help, each supervised tree is paired with one
        of the best level and their scores are averaged, in the unit of the supervised tree (Genie3 and Symbolic by the
        sum over the features, the unbiased score by the number of examples); if not, the level is 1. "cv": the level of
        0, 0.1, ..., 1 with the smallest error in 4-fold cross-validation of the labelled examples, for all trees; slow.
    feature_weights : None, "auto", Ranking or array-like
        How much each feature counts in the features' part of the impurity, relative to the largest. "auto": its
        permutation score in a supervised random forest on the labelled examples.
    min_labelled_leaf : float
        Where unlabelled examples are used: a leaf has no labelled examples or at least this weight of them, and nodes
        without any are not split; 0: no such limit.
    symbolic_weight : float or None
        None: nodes weigh their share of examples; w in (0, 1]: w to the power of their depth.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    permutation_error : {"auto", "accuracy", "rrmse", "auprc", "target"}
        Error of the permutation score. "auto": error rate of classes, relative mean squared error of numbers,
        (weighted) Hamming loss of label sets; where unlabelled examples are used, w times this plus 1 - w times the
        error of the features, each relative to a constant prediction; without a target the error of the features.
        "target" leaves the features out. "accuracy" (classes) and "auprc" (label sets: area under the pooled
        precision-recall curve of the tree) are larger for better predictions: the score is their relative fall.
        "rrmse" (numbers) is the mean over targets of the relative root mean squared error.
    per_target : bool
        Whether scores are also kept by target, in ``ranking_.per_target``. Genie3 of the targets sums to Genie3, the
        unbiased score likewise; the permutation score of a target is that of its own error. The symbolic score
        cannot be split.
    p_values : bool
        Whether the unbiased score gets p values, from the same trees (`omnirank.ensembles.example_sums.ExampleSums` has
        the formula). They cost some time, and a number per example and feature, at most 512 MB (with ``max_memory``, a
        sixteenth of it: examples share groups, of which there are 128 at least); of data that do not fit in memory, a
        number per feature and group of at least 32 groups of rows in each sample.
        :func:`omnirank.significance` computes p values for all scores.
    nominal_tests : {"ordered", "greedy", "one-against-rest"}
        How subsets of a nominal feature's levels are searched; "greedy" cuts more than 1024 levels in a node in order.
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)).
    checkpoints : sequence of int or None
        Numbers of trees at which the rankings are kept in ``checkpoints_``: one fit gives them for all sizes.
    first_tree : int
        Number of the first tree. Tree i has its own random stream, so that rankings of trees 0 to 49 and 50 to 99,
        grown on two machines with the same seed, merge into that of 100 trees.
    warm_start : bool
        Whether ``fit`` keeps the trees of the previous fit, on the same data with the same parameters, and adds trees
        until there are ``n_trees``.
    max_seconds : float or None
        For how long trees are grown: none is begun later, but for the first two. Of data in parts, the clock is looked
        at after each ten trees, or after one for each sample. How many trees there are depends on the machine then; a
        fit with ``n_trees`` set to ``n_trees_`` (and ``max_samples`` to ``max_samples_``) and the same seed gives the
        same bits.
    max_samples : None, int, float or "auto"
        Examples that a tree sees (a bootstrap replicate of them): a count or a share; None: all. Examples are dealt out
        at random to as many samples as needed, and tree i grows on sample i modulo their number. "auto": 20 trees
        each are grown with 2000, 4000, 8000, ... examples, as long as the scores change by more than 1 % of their
        variance (beyond their standard errors) and half of the time left is enough for the next step.
    max_memory : int, str or None
        What a fit may take in memory beside the data, about: bytes, or a text such as ``"500M"``. Where all examples
        take more, a tree sees as many of them as leave room for two trees at once, and two workers grow them.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The same seed gives the same bits for any number of workers, and the first trees of a
        larger ensemble are those of a smaller one. (Where ``supervision="auto"`` compares levels, from 48 trees on:
        smaller ensembles compare them by fewer trees, and may choose another one.)

    Attributes
    ----------
    n_trees_ : int
        Number of trees grown, or of pairs of trees.
    max_samples_ : int
        Number of examples that a tree sees, for data in memory.
    certainty_ : Certainty
        Which first features are those of a run with infinitely many trees; ``certainty_.summary`` says it in words.
    supervision_ : float
        The level of supervision w.
    supervision_reason_ : str
        Why it is that level, and whether trees are paired.
    supervision_curve_ : dict of float to float
        Errors of the labelled examples by level, where several were compared: loss relative to a constant prediction
        ("auto"; by neighbours where the level is 0, else out of bag), or the error of the task ("cv").
    n_undefined_ : int
        Trees that make no out-of-bag error until a feature is permuted (or have no out-of-bag examples); they
        contribute 0 to the permutation or unbiased score.
    checkpoints_ : dict of int to dict of str to Ranking
        ``rankings_`` of the first trees, for each of ``checkpoints`` that was reached.

    References
    ----------
    Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109, 2020. Petkovic,
    Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023. Eq. (1) (impurity), (2)
    (Symbolic), (3) (Genie3) and (4) (permutation). Li et al.: A debiased MDI feature importance measure. NeurIPS 2019.

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_friedman(300, random_state=0, shuffle=False)
    >>> ranker = om.EnsembleRanker(n_trees=50, random_state=0).fit(data)
    >>> sorted(ranker.ranking_.top(5))
    ['x1', 'x2', 'x3', 'x4', 'x5']
    """

    _parameter_checks = GROWING | {
        "n_trees": choice("auto") | count(1),
        "supervision": SUPERVISION,
        "symbolic_weight": choice(None) | number(above=0, most=1),
        "per_target": FLAG,
        "p_values": FLAG,
        "checkpoints": choice(None) | listed(count(1)),
        "first_tree": count(0),
        "warm_start": FLAG,
        "max_seconds": choice(None) | number(above=0),
        "max_samples": MAX_SAMPLES,
    }

    replicates = "n_trees"
    max_samples_: int
    checkpoints_: dict[int, dict[str, Ranking]]
    _sums: ScoreSums
    _chosen: tuple[Supervision, np.ndarray | None]

    def __init__(
        self,
        importance: str = "unbiased",
        ensemble: str = "extra-trees",
        n_trees: int | str = 100,
        max_features: Any = None,
        bootstrap: bool | None = None,
        min_samples_leaf: float = 2,
        max_depth: int | None = None,
        supervision: Any = "auto",
        feature_weights: Ranking | ArrayLike | None = None,
        min_labelled_leaf: float = 0,
        symbolic_weight: float | None = None,
        normalize_targets: bool | None = None,
        permutation_error: str = "auto",
        per_target: bool = False,
        p_values: bool = False,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        hierarchy_weight: float = 0.75,
        checkpoints: Sequence[int] | None = None,
        first_tree: int = 0,
        warm_start: bool = False,
        max_seconds: float | None = None,
        max_samples: int | float | str | None = None,
        max_memory: int | str | None = None,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.importance = importance
        self.ensemble = ensemble
        self.n_trees = n_trees
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.supervision = supervision
        self.feature_weights = feature_weights
        self.min_labelled_leaf = min_labelled_leaf
        self.symbolic_weight = symbolic_weight
        self.normalize_targets = normalize_targets
        self.permutation_error = permutation_error
        self.per_target = per_target
        self.p_values = p_values
        self.nominal_tests = nominal_tests
        self.tie_break = tie_break
        self.hierarchy_weight = hierarchy_weight
        self.checkpoints = checkpoints
        self.first_tree = first_tree
        self.warm_start = warm_start
        self.max_seconds = max_seconds
        self.max_samples = max_samples
        self.max_memory = max_memory

    def fit(
        self,
        X: FeaturesLike,
        y: TargetLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> EnsembleRanker:
        """Grow the ensemble and rank the features.

        Parameters
        ----------
        X, y
            As in :meth:`BaseRanker.fit`.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples; they multiply bootstrap counts, and weigh errors.
        groups : array-like of shape (n_examples,), optional
            Groups of examples that bootstraps draw together, as in :meth:`Dataset.with_groups`; None: copies.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y, sample_weight, groups)

    @classmethod
    def one_fit_gives(cls, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the scores and the numbers of trees, but where "auto" ends by the score at hand."""
        return ("importance", "n_trees") if isinstance(parameters["n_trees"], int) else ()

    def with_several(self, **values: Sequence[Any]) -> EnsembleRanker:
        """Set several numbers of trees (``n_trees``) and return the ranker."""
        sizes = values.get("n_trees")
        return self if sizes is None else self.set_params(n_trees=sizes[-1], checkpoints=sizes)

    def ranking_at(self, **values: Any) -> Ranking:
        """Return the ranking by one of the scores (``importance``) after one of the numbers of trees (``n_trees``)."""
        rankings = self.checkpoints_[values["n_trees"]] if "n_trees" in values else self.rankings_
        return rankings[values.get("importance", self.importance)]

    def with_p_values(self) -> EnsembleRanker | None:
        """Return such a ranker with ``p_values=True``, if the score has any."""
        return clone(self).set_params(p_values=True) if get_score(self.importance).has_p_values else None

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> dict[str, Ranking]:
        self._check(dataset.task)
        check_feature_weights(self.feature_weights, dataset)
        return rank_in_memory(self, dataset, sample_weight)

    def _rank_parts(self, data: ShardedDataset) -> dict[str, Ranking]:
        self._check(data.task)
        check_feature_weights(self.feature_weights, data.example)
        return rank_in_samples(self, data)

    def _note_sums(self, sums: ScoreSums, level: Supervision, kept: dict[int, dict[str, Ranking]]) -> None:
        self.checkpoints_ = kept
        self.n_trees_ = sums.n_trees
        self.n_undefined_ = sums.n_undefined
        self._sums = sums
        self.supervision_ = level.level
        self.supervision_reason_ = level.reason
        self.supervision_curve_ = dict(level.curve)
        tell_undefined(self.importance, sums.n_undefined, sums.n_trees)
        self._ended = why_ended(self.n_trees, sums.rows[self.importance])

    def _levels(self, data: GrowingData) -> tuple[Supervision, GrowingData]:
        """The level of supervision, and the data with the weights of features: those of the fit that this continues."""
        if self._continues:
            level, weights = self._chosen
            return level, replace(data, feature_weights=weights)
        rules, dataset = GrowingRules.of(self), data.dataset
        certain = isinstance(self.supervision, str) and dataset.target is not None and dataset.labelled.all()
        if self.supervision != 1 and not certain:
            data = resolve_feature_weights(self.feature_weights, data, rules)
        n_trees = MOST_TREES if self.n_trees == "auto" else int(self.n_trees)
        level = resolve_supervision(self.supervision, data, rules, n_ranked=n_trees)
        if level.paired:
            reason = f"{level.reason}; scores are means over pairs of a tree of this level and a supervised one"
            level = replace(level, reason=reason)
        return level, data

    def _scorer(self, plan: GrowingPlan, level: Supervision, data: GrowingData) -> TreeScorer:
        """What grows and scores trees: pairs of a supervised and a semi-supervised one where "auto" uses both."""
        names = computed_scores(self.importance)
        options = ScoreOptions(self.per_target, self.symbolic_weight, self.permutation_error, self.p_values)
        if not level.paired:
            return TreeScorer.make(plan, names, options)
        supervised = data.labelled.plan(GrowingRules.of(self))
        return TreeScorer.make(plan, names, options, partner=TreeScorer.make(supervised, names, options))

    @property
    def certainty_(self) -> Certainty:
        """Which first features are those of a run with infinitely many trees."""
        check_is_fitted(self)
        return certainty_of(self.ranking_, remark=self._ended)

    # -- what was asked for -----------------------------------------------------------------------------

    def _check(self, task: str) -> None:
        score = get_score(self.importance)
        check_error(self.permutation_error, task if score.needs_error else None)
        if score.needs_out_of_bag and not GrowingRules.of(self).bootstraps:
            needed = "it needs out-of-bag examples: set bootstrap to None or True, or importance to 'genie3'"
            raise ParameterError("importance", self.importance, needed)
        if self.p_values and not score.has_p_values:
            raise ParameterError("p_values", True, f"{setting('importance', self.importance)}: use om.significance")
        if self.n_trees != "auto" and self._sizes and max(self._sizes) > int(self.n_trees):
            raise ParameterError("checkpoints", self.checkpoints, f"they end at {setting('n_trees', self.n_trees)}")

    @property
    def _sizes(self) -> frozenset[int]:
        return frozenset(int(size) for size in self.checkpoints or ())

    # -- continuing the previous fit --------------------------------------------------------------------

    @property
    def _continues(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "_sums")

    def _tree_parameters(self) -> dict[str, Any]:
        recorded = self._recorded_parameters()
        recorded["feature_weights"] = weights_digest(self.feature_weights)
        return {name: value for name, value in recorded.items() if name not in _NOT_OF_A_TREE}
