"""Ensembles of relational trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from omnirank.core.parallel import run_parallel
from omnirank.core.seeds import root_entropy
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.table import Table
from omnirank.ensembles.forest import Forest
from omnirank.ensembles.pct_forest import PCTForestClassifier, PCTForestRegressor
from omnirank.ensembles.plan import GrowingRules
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.learner import RelationalLearner

Self = TypeVar("Self", bound="_Forest")


class _Forest(RelationalLearner, Forest):
    """Bagging and random forests."""

    def __init__(
        self,
        ensemble: str = "bagging",
        n_trees: int = 50,
        preset: str = "AGG-All",
        aggregates: Sequence[str] | None = None,
        lookahead: int = 2,
        max_path_length: int | None = 4,
        modes: Mapping[str, Any] | None = None,
        dedupe_functional: bool = True,
        nominal_joins: bool = False,
        max_candidates: int | None = 10_000,
        inherit: str = "both",
        missing: str = "extreme",
        max_features: Any = None,
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        min_impurity_decrease: float = 0.0,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        normalize_targets: bool | None = None,
        oob_score: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.ensemble = ensemble
        self.n_trees = n_trees
        self.preset = preset
        self.aggregates = aggregates
        self.lookahead = lookahead
        self.max_path_length = max_path_length
        self.modes = modes
        self.dedupe_functional = dedupe_functional
        self.nominal_joins = nominal_joins
        self.max_candidates = max_candidates
        self.inherit = inherit
        self.missing = missing
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.nominal_tests = nominal_tests
        self.tie_break = tie_break
        self.normalize_targets = normalize_targets
        self.oob_score = oob_score
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(  # type: ignore[override]  # other data
        self: Self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : RelationalDataset
            The examples, with their target.
        y : None
            The target is that of X.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples, of mean about 1; they multiply bootstrap counts. Those of weight 0 are not used.

        Returns
        -------
        self
            The fitted forest.
        """
        rules = GrowingRules.of(self, max_features=None)
        training = self._read(X, y, sample_weight, rules)
        drawn = {"bagging": "all", "random-forest": "sqrt"}[self.ensemble]
        node_rules = self._node_rules(drawn if self.max_features is None else self.max_features)
        grow, plan = self._grower(training, rules, node_rules, root_entropy(self.random_state))
        grown = run_parallel(grow, range(self.n_trees), self.n_jobs, description="growing trees")
        self.trees_ = self._keep(grown, training.dataset)
        self._clear_out_of_bag()
        if self.oob_score:
            self._predict_out_of_bag(training, plan)
        return self

    def _training_table(self, training: Any) -> Table:
        return self._table(training.whole)


class RelationalForestClassifier(_Forest, PCTForestClassifier):
    """An ensemble of relational trees for classes, several classes, label sets and hierarchies of labels.

    A test asks for a value that is constructed along a path of relations from the example: "mean stars of its ratings
    <= 2.5". A node continues a prefix of the path of its parent's test.

    Parameters
    ----------
    ensemble : {"bagging", "random-forest"}
        Whether nodes try all candidates, or some that they draw.
    n_trees : int
        Number of trees.
    preset : {"AGG-All", "AGG-Exist", "NO-Rel"}
        What is constructed: all aggregates; only whether there is a match of a path; only columns of the target table.
    aggregates : sequence of str, optional
        Other aggregates than those of the preset: count, count_unique, min, max, mean, sum, mode, exists. None: with
        AGG-All, those that the settings of facts declare, if any.
    lookahead : int
        How many steps (relations) a test may add to a prefix of the path that its node inherits.
    max_path_length : int, optional
        Most steps of a path; None: no limit.
    modes : mapping, optional
        How steps may use some of the relations, as in :class:`omnirank.relational.bias.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    dedupe_functional : bool
        Whether a step with at most one match has one aggregate, which keeps its value, instead of all, which agree.
    nominal_joins : bool
        Whether steps may also join columns of the same named nominal domain.
    max_candidates : int or None
        Most candidates of a node; longer paths are left out first, with a warning.
    inherit : {"both", "yes_only"}
        Which children continue the path of a test: both, or the heavier one; the other then inherits what its parent
        has inherited.
    missing : {"extreme", "learned"}
        Where values that are undefined go, those of nothing to aggregate: to the end of the order where infinity is (a
        category of their own), or to the side of a test that is better in the training data.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Candidates drawn in a node: a count, a share or a name. None: all in bagging, ceil(sqrt F) of F in random
        forests.
    min_samples_leaf : float
        Least weight of a leaf, counted with bootstrap multiplicity and sample weights.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    min_impurity_decrease : float
        Least share of a node's impurity that its test takes away.
    nominal_tests : {"ordered", "greedy", "one-against-rest"}
        How subsets of a nominal feature's levels are searched.
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None: except labels of a hierarchy,
        which are all divided by the same number, so that frequent labels count more.
    oob_score : bool
        Whether to predict each example by the trees that have not seen it.
    hierarchy_weight : float
        w0 of the label weights w(l) = w0 * mean(w(parents)) in hierarchical multi-label classification.
    class_weight : None, "balanced", dict or list of them
        Weight of each class, times ``sample_weight``; see :class:`PCTClassifier`.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers and any order of the tables' rows.
    n_jobs : int or None
        Number of workers; -1: all cores.

    Attributes
    ----------
    trees_ : list of Tree
        The trees over ``features_``.
    classes_ : ndarray or list of ndarray
        The classes; several targets or labels: one array each.
    features_ : tuple of Feature
        The constructed features that trees test; ``feature_names_in_`` are their sentences.
    task_, n_outputs_, target_names_
        The task, the number of targets or labels, and their names.
    feature_importances_ : ndarray
        Genie3 of each of these features, averaged over the trees.
    oob_decision_function_, oob_error_
        Out-of-bag predictions and their error, as in :class:`PCTForestClassifier`.

    References
    ----------
    Petkovic, Ceci, Pio, Skrlj, Kersting, Dzeroski: Relational tree ensembles and feature rankings. Knowledge-Based
    Systems 251, 2022.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.make_movies(random_state=0)
    >>> model = om.RelationalForestClassifier(n_trees=10, random_state=0).fit(data)
    >>> model.score(data) > 0.9
    True
    """

    def __init__(
        self,
        ensemble: str = "bagging",
        n_trees: int = 50,
        preset: str = "AGG-All",
        aggregates: Sequence[str] | None = None,
        lookahead: int = 2,
        max_path_length: int | None = 4,
        modes: Mapping[str, Any] | None = None,
        dedupe_functional: bool = True,
        nominal_joins: bool = False,
        max_candidates: int | None = 10_000,
        inherit: str = "both",
        missing: str = "extreme",
        max_features: Any = None,
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        min_impurity_decrease: float = 0.0,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        normalize_targets: bool | None = None,
        oob_score: bool = False,
        hierarchy_weight: float = 0.75,
        class_weight: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        constructed = preset, aggregates, lookahead, max_path_length, modes
        counted = dedupe_functional, nominal_joins, max_candidates, inherit, missing
        limits = max_features, min_samples_leaf, max_depth, min_impurity_decrease
        tests = nominal_tests, tie_break, normalize_targets, oob_score
        super().__init__(ensemble, n_trees, *constructed, *counted, *limits, *tests, random_state, n_jobs)
        self.hierarchy_weight = hierarchy_weight
        self.class_weight = class_weight


class RelationalForestRegressor(_Forest, PCTForestRegressor):
    """An ensemble of relational trees for one number, several numbers, or numbers and classes together.

    A test asks for a value that is constructed along a path of relations from the example: "mean stars of its ratings
    <= 2.5". A node continues a prefix of the path of its parent's test.

    Parameters
    ----------
    ensemble : {"bagging", "random-forest"}
        Whether nodes try all candidates, or some that they draw.
    n_trees : int
        Number of trees.
    preset : {"AGG-All", "AGG-Exist", "NO-Rel"}
        What is constructed: all aggregates; only whether there is a match of a path; only columns of the target table.
    aggregates : sequence of str, optional
        Other aggregates than those of the preset: count, count_unique, min, max, mean, sum, mode, exists. None: with
        AGG-All, those that the settings of facts declare, if any.
    lookahead : int
        How many steps (relations) a test may add to a prefix of the path that its node inherits.
    max_path_length : int, optional
        Most steps of a path; None: no limit.
    modes : mapping, optional
        How steps may use some of the relations, as in :class:`omnirank.relational.bias.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    dedupe_functional : bool
        Whether a step with at most one match has one aggregate, which keeps its value, instead of all, which agree.
    nominal_joins : bool
        Whether steps may also join columns of the same named nominal domain.
    max_candidates : int or None
        Most candidates of a node; longer paths are left out first, with a warning.
    inherit : {"both", "yes_only"}
        Which children continue the path of a test: both, or the heavier one; the other then inherits what its parent
        has inherited.
    missing : {"extreme", "learned"}
        Where values that are undefined go, those of nothing to aggregate: to the end of the order where infinity is (a
        category of their own), or to the side of a test that is better in the training data.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Candidates drawn in a node: a count, a share or a name. None: all in bagging, ceil(sqrt F) of F in random
        forests.
    min_samples_leaf : float
        Least weight of a leaf, counted with bootstrap multiplicity and sample weights.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    min_impurity_decrease : float
        Least share of a node's impurity that its test takes away.
    nominal_tests : {"ordered", "greedy", "one-against-rest"}
        How subsets of a nominal feature's levels are searched.
    tie_break : {"random", "first"}
        Which of several equally good tests is taken: by the seed, or the first.
    normalize_targets : bool or None
        Divide the variance of every target by its variance on the training set. None is True.
    oob_score : bool
        Whether to predict each example by the trees that have not seen it.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers and any order of the tables' rows.
    n_jobs : int or None
        Number of workers; -1: all cores.

    Attributes
    ----------
    trees_ : list of Tree
        The trees over ``features_``.
    features_ : tuple of Feature
        The constructed features that trees test; ``feature_names_in_`` are their sentences.
    task_, n_outputs_, target_names_
        The task, the number of targets or labels, and their names.
    feature_importances_ : ndarray
        Genie3 of each of these features, averaged over the trees.
    oob_prediction_, oob_error_
        Out-of-bag predictions and their error, as in :class:`PCTForestRegressor`.

    References
    ----------
    Petkovic, Ceci, Pio, Skrlj, Kersting, Dzeroski: Relational tree ensembles and feature rankings. Knowledge-Based
    Systems 251, 2022.

    Examples
    --------
    >>> import omnirank as om
    >>> import pandas as pd
    >>> shops = pd.DataFrame({"id": [1, 2, 3, 4], "profit": [1.5, 2.5, 9.0, 8.5]})
    >>> sales = pd.DataFrame({"shop_id": [1, 2, 3, 4, 4], "price": [3.0, 4.0, 9.0, 7.0, 9.0]})
    >>> data = om.RelationalDataset.from_frames({"shops": shops, "sales": sales}, target="shops.profit")
    >>> model = om.RelationalForestRegressor(n_trees=20, random_state=0).fit(data)
    >>> model.score(data) > 0.8
    True
    """
