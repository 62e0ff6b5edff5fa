"""Rankings from ensembles of predictive clustering trees."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import ParameterError, logger, setting
from omnirank.core.parameters import FLAG, choice, count, listed, number
from omnirank.core.ranking.accumulators import TargetScores
from omnirank.core.ranking.certainty import OUT_OF_BAG_TEST, Certainty, certainty_of
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import SeedRanges, root_entropy
from omnirank.core.types import ArrayLike
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.notes import caller_outside
from omnirank.ensembles.plan import GROWING, GrowingData, GrowingRules, features_per_node
from omnirank.ensembles.run import (
    MOST_TREES,
    AskedLevel,
    DealtSamples,
    Limits,
    ScoreSums,
    ScoreWork,
    WholeData,
    converged,
    growing_samples,
    grown_samples,
)
from omnirank.ensembles.scores import ScoreOptions, check_error, computed_scores, get_score
from omnirank.ensembles.supervision import (
    RANKING_LEVELS,
    SUPERVISION,
    Supervision,
    ToFit,
    check_feature_weights,
    weights_digest,
)
from omnirank.rankers.base import BaseRanker, recorded_of
from omnirank.shards.dataset import ShardedDataset

# Parameters that say which and how many trees there are, or what is kept, and nothing about a tree.
_NOT_OF_A_TREE = frozenset({"n_features_to_select", "n_trees", "p_values"})
# Of the memory allowed: what examples add to single trees of a sample, before it is added up.
_SHARE_OF_TREES = 16


@dataclass(eq=False, repr=False)
class EnsembleRanker(BaseRanker):
    """Rank features by the trees of an ensemble, for any target.

    One ensemble of predictive clustering trees gives the scores

    * ``genie3``: sum of the impurity reductions h* of a feature's tests,
    * ``symbolic``: sum of the shares of examples that reach a feature's tests (or of ``symbolic_weight`` to the
      power of their depth),
    * ``permutation``: relative growth of a tree's out-of-bag error when the feature's values are permuted,
    * ``unbiased``: sum of the impurity reductions that out-of-bag examples confirm, covariances of in-bag and
      out-of-bag means; at the root, where trees see all examples, the gains of all tests of all features (numeric
      targets are normal scores of their ranks there, so that a few large values do not decide). About 0 for features
      that tell nothing, however many tests they have. The formula is that of
      :class:`omnirank.core.ranking.accumulators.ConfirmedMeans`,

    each averaged over the trees. The impurity is the mean over targets of their variance (or Gini index) relative to
    the training set; labels of a hierarchy are weighted by their place in it. Where only some examples are labelled,
    the features count beside the target: the impurity is w times that of the targets plus 1 - w times that of the
    features, each over the examples in which it is known. Without a target it is that of the features alone.

    Parameters
    ----------
    importance : {"unbiased", "genie3", "symbolic", "permutation"}
        Which score ``ranking_`` and ``feature_importances_`` hold. Genie3 and Symbolic always come together in
        ``rankings_``; the other scores cost extra and are computed only where they are asked for.
    ensemble : {"extra-trees", "random-forest", "bagging"}
        Random forest and bagging try all tests of the features drawn in a node, extra trees one random test each.
    n_trees : int, "auto" or list of int
        Number of trees. "auto" adds 10 trees at a time until the ranking has converged: from 20 trees on, while
        1 - mean(squared standard errors) / variance(scores) is below 0.99, at most 1000. A list: one fit gives the
        rankings of all these numbers of trees, in ``checkpoints_``.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Features drawn in a node: a count, a share or a name. None: all D in bagging and in supervised extra trees
        (ceil(sqrt D) if most features are binary); ceil(sqrt D) in random forests and semi-supervised trees;
        ceil(log2 D) in unsupervised trees.
    bootstrap : bool or None
        Whether each tree sees a bootstrap replicate; None is True. The permutation and the unbiased score need it.
    min_samples_leaf : float
        Least weight of a leaf, counted with bootstrap multiplicity and sample weights.
    max_depth : int or None
        Greatest depth of a leaf; None: no limit.
    supervision : "auto", "cv", float or dict
        Level of supervision w in [0, 1]: 1 uses the labelled examples only, 0 the features only. "auto": 1 if all
        examples are labelled, 0 without a target. Otherwise 3-fold cross-validation of the labelled examples compares
        forests of a fifth of the trees, at most ten, at the levels 1/4, 1/2, 3/4 and 1. The level with the smallest
        loss is used if its loss is below that of level 1 by more than one standard error of the paired difference; if
        not, the level is 1. "cv": the level of 0, 0.1, ..., 1 with the best measure of the task in 3-fold
        cross-validation of ensembles of this size; slow. A dict is "cv" with other ``levels``, ``folds`` or
        ``measure``, such as ``{"levels": [0, 0.5, 1], "folds": 5}``.
    feature_weights : None, "auto", Ranking or array-like
        How much each feature counts in the features' part of the impurity, relative to the largest. "auto": its
        permutation score in a supervised random forest on the labelled examples.
    min_labelled_leaf : float
        Where unlabelled examples are used: a leaf has no labelled examples or at least this weight of them, and nodes
        without any are not split; 0: no such limit.
    symbolic_weight : float or None
        None: nodes weigh their share of examples; w in (0, 1]: w to the power of their depth.
    permutation_error : str
        Error of the permutation score. "auto": error rate of classes, relative mean squared error of numbers,
        (weighted) Hamming loss of label sets; where unlabelled examples are used, w times this plus 1 - w times the
        error of the features, each relative to a constant prediction; without a target the error of the features.
        "target" leaves the features out. "accuracy" (classes) and "auprc" (label sets: area under the pooled
        precision-recall curve of the tree) are larger for better predictions: the score is their relative fall.
        "rrmse" (numbers) is the mean over targets of the relative root mean squared error. Any other measure of the
        task (`omnirank.measures.measures_of`), which takes longer: of all predictions of a tree for the target, without
        weights; trees for which it is not positive are left out.
    per_target : bool
        Whether scores are also kept by target, in ``ranking_.per_target``. Genie3 of the targets sums to Genie3;
        the unbiased score of a target is that of its own credit, the permutation score that of its own error. The
        symbolic score cannot be split.
    p_values : bool
        Whether the unbiased score gets p values, from the same trees (:mod:`omnirank.ensembles.p_values`
        has the formula). They need extra time, and memory for one float per example and feature (at most 512 MB); of
        data that do not fit in memory, one float per feature and group of at least 32 groups of rows in each sample.
        :func:`omnirank.significance` computes p values for all scores.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The same seed gives the same bits for any number of workers, and the first trees of a
        larger ensemble are those of a smaller one. (Where ``supervision="auto"`` compares levels, from 50 trees on:
        smaller ensembles compare them by fewer trees, and may choose another one.)

    Attributes
    ----------
    n_trees_ : int
        Number of trees grown.
    certainty_ : Certainty
        Which first features are those of a run with infinitely many trees; ``certainty_.summary`` says it in words.
    supervision_ : float
        The level of supervision w.
    supervision_reason_ : str
        Why it is that level.
    supervision_curve_ : dict of float to float
        Values of the labelled examples in cross-validation by level, where several were compared: the loss relative to
        a constant prediction ("auto", without levels that left early), or the measure of the task ("cv").
    n_undefined_ : int
        Trees that make no out-of-bag error until a feature is permuted (or have no out-of-bag examples); they
        contribute 0 to the permutation or unbiased score.
    checkpoints_ : dict of int to dict of str to Ranking
        ``rankings_`` of the first trees, for each number in a list of ``n_trees``.

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
        "n_trees": choice("auto") | count(1) | listed(count(1)),
        "supervision": SUPERVISION,
        "symbolic_weight": choice(None) | number(above=0, most=1),
        "per_target": FLAG,
        "p_values": FLAG,
    }

    replicates = "n_trees"
    # Rules of growing that are no parameters (fields of `GrowingRules`): runs of CLUS and plans of studies need them.
    _rules = cast(Mapping[str, Any], MappingProxyType({}))

    importance: str = "unbiased"
    ensemble: str = "extra-trees"
    n_trees: Any = 100
    max_features: Any = None
    bootstrap: bool | None = None
    min_samples_leaf: float = 2
    max_depth: int | None = None
    supervision: Any = "auto"
    feature_weights: Ranking | ArrayLike | None = None
    min_labelled_leaf: float = 0
    symbolic_weight: float | None = None
    permutation_error: str = "auto"
    per_target: bool = False
    p_values: bool = False

    def __sklearn_clone__(self) -> EnsembleRanker:
        copy: EnsembleRanker = super().__sklearn_clone__()
        if self._rules:
            copy._rules = dict(self._rules)
        return copy

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

    @property
    def certainty_(self) -> Certainty:
        """Which first features are those of a run with infinitely many trees."""
        check_is_fitted(self)
        return certainty_of(self.ranking_, remark=self._ended)

    def with_p_values(self) -> EnsembleRanker | None:
        """Return such a ranker with ``p_values=True``, if the score has any."""
        return clone(self).set_params(p_values=True) if get_score(self.importance).has_p_values else None

    @classmethod
    def _one_fit_gives(cls, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the scores and the numbers of trees, but where "auto" ends by the score at hand."""
        return ("importance", "n_trees") if isinstance(parameters["n_trees"], int) else ()

    def _ranking_at(self, **values: Any) -> Ranking:
        """Return the ranking by one of the scores (``importance``) after one of the numbers of trees (``n_trees``)."""
        rankings = self.checkpoints_[values["n_trees"]] if "n_trees" in values else self.rankings_
        return rankings[values.get("importance", self.importance)]

    # -- ranking ----------------------------------------------------------------------------------------

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> dict[str, Ranking]:
        rules = self._checked_rules(dataset)
        if not rules.bootstraps and not rules.random_tests and self._limits.n_trees != 1:
            _warn_of_equal_trees(rules, dataset)
        entropy = root_entropy(self.random_state)
        data = growing_data(entropy, rules, dataset, self.n_jobs, sample_weight)
        return self._ranked(WholeData(data, self.n_jobs), rules, entropy)

    def _rank_parts(self, data: ShardedDataset) -> dict[str, Ranking]:
        rules = self._checked_rules(data.example)
        entropy = root_entropy(self.random_state)
        samples = growing_samples(data, entropy, self.supervision)
        dealt = DealtSamples(data, samples, partial(growing_data, entropy, rules), self.n_jobs)
        return self._ranked(dealt, rules, entropy, data.source.max_memory // _SHARE_OF_TREES)

    def _ranked(
        self, samples: WholeData | DealtSamples, rules: GrowingRules, entropy: int, *most_bytes: int
    ) -> dict[str, Ranking]:
        """Grow the trees, and return the rankings by each score that was computed, that of ``importance`` first."""
        scores = computed_scores(self.importance)
        options = ScoreOptions(self.per_target, self.symbolic_weight, self.permutation_error, self.p_values)
        limits = self._limits
        n_ranked = MOST_TREES if isinstance(limits.n_trees, str) else limits.n_trees
        to_fit = ToFit(n_ranked, levels=RANKING_LEVELS)
        asked = AskedLevel(self.supervision, self.feature_weights, rules, to_fit)
        self.checkpoints_: dict[int, dict[str, Ranking]] = {}
        with samples.ready(asked, limits) as level:
            recorded = _recorded(samples)
            work = ScoreWork(rules, level, scores, options, samples.samples, *most_bytes)
            for sums in grown_samples(samples, work, limits, lambda sums: converged(sums.state(self.importance))):
                if sums.n_trees in limits.sizes:
                    self.checkpoints_[sums.n_trees] = self._rankings(sums, level, entropy, dict(recorded))
        self.n_trees_, self.n_undefined_ = sums.n_trees, sums.n_undefined
        self.supervision_, self.supervision_reason_ = level.level, level.reason
        self.supervision_curve_ = dict(level.curve)
        has_ended = isinstance(limits.n_trees, int) or converged(sums.state(self.importance))
        self._ended = "" if has_ended else f"the ranking has not converged after {MOST_TREES} trees, the most of 'auto'"
        _warn_of_undefined(self.importance, sums.n_undefined, sums.n_trees)
        return self._rankings(sums, level, entropy, dict(recorded))

    def _rankings(
        self, sums: ScoreSums, level: Supervision, entropy: int, recorded: dict[str, Any]
    ) -> dict[str, Ranking]:
        """Return the rankings by each score; ``recorded`` is what they record of the data."""
        features, targets, more = (recorded.pop(key) for key in ("features", "split_by", "parameters"))
        rankings = {}
        for name in (self.importance, *(name for name in sums.rows if name != self.importance)):
            table = sums.target_state(name)
            own = {"importance": name, "n_trees": sums.n_trees, "supervision_level": level.level}
            rankings[name] = Ranking.from_state(
                features,
                sums.state(name),
                name,
                parameters=self._tree_parameters() | own | more,
                **recorded,
                seeds=SeedRanges.of(entropy, 0, sums.n_trees),
                per_target=None if table is None else TargetScores.from_state(targets, table),
                p_values=sums.p_values(name),
                p_value_test=OUT_OF_BAG_TEST,
            )
        return rankings

    # -- what was asked for -----------------------------------------------------------------------------

    def _checked_rules(self, dataset: Dataset) -> GrowingRules:
        """Check what parameters ask for together, and return how trees are grown."""
        score, rules = get_score(self.importance), GrowingRules.of(self)
        check_error(self.permutation_error, dataset.task if score.needs_error else None)
        if score.needs_out_of_bag and not rules.bootstraps:
            needed = "it needs out-of-bag examples: set bootstrap to None or True, or importance to 'genie3'"
            raise ParameterError("importance", self.importance, needed)
        if self.p_values and not score.has_p_values:
            raise ParameterError("p_values", True, f"{setting('importance', self.importance)}: use om.significance")
        check_feature_weights(self.feature_weights, dataset)
        return rules

    @property
    def _limits(self) -> Limits:
        """How many trees there may be, and the sizes of which rankings are kept, where several are asked for."""
        if isinstance(self.n_trees, str):
            return Limits(self.n_trees)
        sizes = sorted({int(n) for n in np.atleast_1d(self.n_trees)})
        return Limits(sizes[-1], tuple(sizes) if np.ndim(self.n_trees) else ())

    def _recorded_parameters(self) -> dict[str, Any]:
        return super()._recorded_parameters() | dict(self._rules)

    def _tree_parameters(self) -> dict[str, Any]:
        recorded = self._recorded_parameters()
        recorded["feature_weights"] = weights_digest(self.feature_weights)
        if isinstance(self.supervision, Mapping):
            recorded["supervision"] = {
                name: np.asarray(value).tolist() if name == "levels" else value
                for name, value in self.supervision.items()
            }
        return {name: value for name, value in recorded.items() if name not in _NOT_OF_A_TREE}


def growing_data(
    entropy: int, rules: GrowingRules, dataset: Dataset, n_jobs: int | None, weight: np.ndarray | None = None
) -> GrowingData:
    """Return the examples as trees are grown on them; bootstraps keep copies together."""
    groups = dataset.groups if rules.bootstraps else None
    return GrowingData(dataset, entropy, weight, n_jobs=n_jobs, groups=groups)


def _recorded(samples: WholeData | DealtSamples) -> dict[str, Any]:
    """What rankings record of the data."""
    if isinstance(samples, DealtSamples):
        data, more = samples.source, {"n_samples": samples.n_samples}
        targets = data.target_names if data.n_targets else data.feature_names
        return recorded_of(data) | {"features": data.feature_names, "split_by": targets, "parameters": more}
    own = samples.data.dataset
    targets = own.feature_names if own.target is None else own.target_names
    names = {"features": own.feature_names, "split_by": targets, "parameters": {}}
    return recorded_of(own) | names | {"fingerprint": samples.data.fingerprint}


def _warn_of_equal_trees(rules: GrowingRules, dataset: Dataset) -> None:
    if features_per_node(rules, dataset) == dataset.n_features:
        warnings.warn(
            "without bootstrap, trees that see all features are the same tree up to ties: set "
            f"{setting('bootstrap', True)} or {setting('max_features', 'sqrt')}, or grow one tree",
            UserWarning,
            stacklevel=caller_outside(),
        )


def _warn_of_undefined(importance: str, n_undefined: int, n_trees: int) -> None:
    """Log trees that contribute 0 to a score; warn where all do, as no score says anything then."""
    if n_undefined < n_trees or importance != "permutation":
        if n_undefined:
            logger.info("%d of %d trees have no out-of-bag error and contribute 0", n_undefined, n_trees)
        return
    warnings.warn(
        "all permutation scores are 0: no tree makes an error on its out-of-bag examples, so errors cannot grow "
        "relative to it. Leave out features that give the target away, or choose "
        f"{setting('importance', 'unbiased')}",
        UserWarning,
        stacklevel=caller_outside(),
    )
