"""Rankings of the relations, tables, aggregates and constructed features of a database: who is paid for a test.

A constructed feature may become useless when any of its relations is dropped, so all relations of the part that a node
adds share the reward of the node. What the node inherits was paid above. With f(N) the test of node N of a tree T,

    Symbolic(r) = 1/|Ens| sum_T sum_N P[r | N] |E(N)| / |E|,    Genie3(r) = 1/|Ens| sum_T sum_N P[r | N] h*(N)

and unbiased(r) with the out-of-bag covariance h(N) of `omnirank.ensembles.unbiased` in place of h*(N). Here P[r | N] is
the share of relation r among the steps of the new part: those after the longest common prefix of the
test's path and of the path that N inherits. At least the last step is new: a path that is inherited as a whole is paid
for its last step again, as a column that is tested again is in a single table.

Many tests divide the examples of a node in the same way, and nothing but chance decides which of them is taken. So P is
the mean over all of them that add the fewest steps; relations that such tests have in common, or that stand for each
other, are paid alike.

References
----------
Petkovic, Ceci, Pio, Skrlj, Kersting, Dzeroski: Relational tree ensembles and feature rankings. Knowledge-Based Systems
251, 2022.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.parameters import JOBS, SEED, Domain, check_parameters, choice, count
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import SeedRanges, root_entropy
from omnirank.core.types import ArrayLike
from omnirank.data.notes import warn_about
from omnirank.data.task_registry import TaskNames, task_named
from omnirank.ensembles.plan import GrowingRules
from omnirank.ensembles.supervision import SUPERVISION
from omnirank.relational.aggregation import AGGREGATES, EXISTS, IDENTITY
from omnirank.relational.candidates import Bias
from omnirank.relational.dataset import RelationalDataset, check_relational
from omnirank.relational.growing import Ties
from omnirank.relational.learners import ConstructionParameters, RelationalBoosting, RelationalForest, RelationalLearner
from omnirank.relational.paths import Feature, new_steps
from omnirank.relational.permutation import PermutationScores
from omnirank.trees.prototypes import parents_of
from omnirank.trees.tree import Tree

if TYPE_CHECKING:
    import pandas as pd


_OF_RESIDUALS = ("genie3", "symbolic")
_OF_TESTS = ("unbiased", *_OF_RESIDUALS)
IMPORTANCES = (*_OF_TESTS, "permutation")

BY = ("relation", "column", "link", "table", "aggregate", "feature")


class Credits(NamedTuple):
    """What the relations, the aggregates and the features of one tree are paid.

    ``pairs`` has for pairs of relations what the first is paid in nodes where an equal test does with the second, but
    without the first.
    """

    relations: dict[str, float]
    aggregates: dict[str, float]
    features: np.ndarray
    pairs: dict[tuple[str, str], float]


_NO_CREDIT = Credits({}, {}, np.zeros(0), {})


def tree_credits(
    tree: Tree, features: Sequence[Feature], rewards: np.ndarray, share: str = "new", ties: Ties | None = None
) -> Credits:
    """Return what a tree pays, each sum in the order of its nodes.

    Parameters
    ----------
    tree : Tree
        The tree.
    features : sequence of Feature
        What it tests, by number.
    rewards : ndarray
        The reward of each node.
    share : {"new", "all"}
        Who shares it: the steps that the node adds, or all steps of its path.
    ties : dict, optional
        For each node the features that share its credit; by default the one tested has it all.
    """
    parent = parents_of(tree)
    found = Credits(defaultdict(float), defaultdict(float), np.zeros(len(features)), defaultdict(float))
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        inherited = features[tree.feature[parent[node]]].path if node else ()
        tied: dict[frozenset[str], float] = defaultdict(float)
        for feature, part in ties[node] if ties else ((features[tree.feature[node]], 1.0),):
            reward = part * float(rewards[node])
            steps = range(len(feature.path)) if share == "all" else new_steps(feature.path, inherited)
            found.features[tree.feature[node]] += reward
            for step in steps:
                found.relations[feature.path[step].relation] += reward / len(steps)
                found.aggregates[feature.aggregates[step]] += reward / len(steps)
            tied[frozenset(feature.path[step].relation for step in steps)] += reward / len(steps)
        for one in frozenset().union(*tied) if len(tied) > 1 else ():
            own = sum(part for names, part in tied.items() if one in names)
            for other in frozenset().union(*(names for names in tied if one not in names)):
                found.pairs[one, other] += own
    return found


def credit_table(
    found: Sequence[Mapping[Any, float]] | Sequence[np.ndarray], names: Iterable[str], n_together: int = 1
) -> pd.DataFrame:
    """Return one row of credits per tree, one column per name; what a tree does not use is 0.

    Trees that are grown together, such as those of the classes in an iteration of boosting, are averaged.

    Examples
    --------
    >>> from omnirank.relational.ranker import credit_table
    >>> credit_table([{"a": 1.0}, {"a": 3.0, "b": 2.0}], ["a", "b"], 2).to_numpy().tolist()
    [[2.0, 1.0]]
    """
    import pandas as pd

    names = list(names)
    keyed = (own if isinstance(own, Mapping) else dict(zip(names, own, strict=True)) for own in found)
    rows = np.array([[own.get(name, 0.0) for name in names] for own in keyed], np.float64)
    return pd.DataFrame(rows.reshape(len(rows) // n_together, n_together, len(names)).mean(axis=1), columns=names)


# Shares of a relation's credit below this are chance, since in small nodes many tests are equal; so are all shares of
# relations with less than this of all credit.
_LEAST_SHARE, _LEAST_CREDIT = 0.5, 0.01


def _interchangeable(paid: Sequence[Credits]) -> pd.DataFrame:
    """Pairs of relations of which the one often stands for the other, with shares of credit."""
    import pandas as pd

    pairs, relations = Counter[tuple[str, str]](), Counter[str]()
    for credits in paid:
        pairs.update(credits.pairs)
        relations.update(credits.relations)
    least = _LEAST_CREDIT * sum(relations.values())
    shares = [(one, other, value / relations[one]) for (one, other), value in pairs.items() if relations[one] > least]
    found = pd.DataFrame([row for row in shares if row[2] >= _LEAST_SHARE], columns=["relation", "other", "share"])
    return found.sort_values(["share", "relation", "other"], ascending=[False, True, True], ignore_index=True)


def _by_kind(dataset: RelationalDataset, rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Scores of all relations, of columns and of links."""
    is_link = np.array([relation.is_link for relation in dataset.database.relations.values()])
    return {"relation": rows, "column": rows.loc[:, ~is_link], "link": rows.loc[:, is_link]}


@dataclass(eq=False, repr=False)
class RelationalRanker(ConstructionParameters, BaseEstimator):
    """Rank what a database tells about the target, by an ensemble of relational trees.

    A test of a relational tree asks for a value that is constructed along a path of relations. What the test is worth
    is shared by the steps that its node adds to the path: see :mod:`omnirank.relational.ranker`.

    Parameters
    ----------
    importance : {"unbiased", "genie3", "symbolic", "permutation"}
        What a test is worth: how much impurity it takes away among out-of-bag examples, so that noise scores 0 on
        average however many tests it offers (without target: but for what a test tells of its own feature); how much it
        takes away among the examples that chose it, as in published rankings; or the share of examples that reach it.
        All are computed; this one is ``ranking_``. "permutation" does not look at tests: it is how much the out-of-bag
        error of a tree grows when the values of a relation, or the ends of a link, are permuted (see
        :mod:`omnirank.relational.permutation`). It ranks relations, columns, links and tables, a table by permuting all
        its relations at once. It and "unbiased" need bagging or random forests.
    by : {"relation", "column", "link", "table", "aggregate", "feature"}
        What ``ranking_`` ranks. "column" are the relations that hold values, "link" those that only link tables:
        they take credit from the columns behind them, so that their scores depend on how the database is cut into
        tables, and are best looked at apart. Of features, those are ranked that the trees use.
    ensemble : {"bagging", "random-forest", "boosting"}
        Which trees. Random forests find weak signals beside columns with many levels, which win the tests of bagging;
        but another seed, or order of the tables, moves their scores more.
    n_trees : int
        Number of trees; of boosting, of iterations.
    share : {"new", "all"}
        Who shares the worth of a test, in equal parts: the steps that its node adds, or all steps of its path.
    tie_break : {"share", "random", "first"}
        Which of several tests that divide a node in the same way is paid: all that add the fewest steps, in equal
        parts; the one that the seed chooses; or the first, in the order of the relations. Trees take the first with
        "first", else one by the seed. The ranking of features pays the one that is tested.
    supervision : float, "auto", "cv" or dict
        Level of supervision, as in :class:`RelationalForest`; 1 uses the labelled examples only. Without a target it is
        0: relations are ranked by how they cluster the examples.
    aggregates, lookahead, max_path_length, modes, max_candidates
        What is constructed, as in :class:`RelationalForest`.
    min_samples_leaf : float
        Least weight of a leaf.
    max_depth : int or None
        Greatest depth of a leaf. None: no limit, but 4 in boosting.
    random_state : None, int, RandomState or Generator
        The seed.
    n_jobs : int or None
        Number of workers; -1: all cores.

    Attributes
    ----------
    ranking_ : Ranking
        By ``by`` and ``importance``; its standard errors are over trees.
    rankings_ : dict of str to Ranking
        By ``importance``, for each value of ``by`` that the data have.
    interchangeable_ : DataFrame
        For pairs of relations, the share of the credit of ``relation`` that is paid in nodes where a test with
        ``other`` in its place is equal, largest first. Shares below 0.5 are left out, and relations with less than 1 %
        of all credit. Empty unless ties share.
    model_ : RelationalForest or RelationalBoosting
        The fitted ensemble.
    task_ : str
        The task.

    Notes
    -----
    Scores are means over trees; of boosting, over iterations, each the mean over its trees. The impurity is relative to
    that of the training set, as in :class:`EnsembleRanker`, but not in boosting, whose residuals become smaller.

    References
    ----------
    Petkovic, Ceci, Pio, Skrlj, Kersting, Dzeroski: Relational tree ensembles and feature rankings. Knowledge-Based
    Systems 251, 2022. Petkovic, Ceci, Kersting, Dzeroski: Estimating the importance of relational features by using
    gradient boosting. ISMIS, 2020.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.make_movies(random_state=0)
    >>> ranker = om.relational.RelationalRanker(by="column", n_trees=10, random_state=0).fit(data)
    >>> len(ranker.ranking_.top(3))
    3
    """

    importance: str = "unbiased"
    by: str = "relation"
    ensemble: str = "bagging"
    n_trees: int = 50
    _: KW_ONLY
    share: str = "new"
    tie_break: str = "share"
    supervision: Any = 1.0
    n_jobs: int | None = None

    supported_tasks: ClassVar[Sequence[str]] = TaskNames("classes", "labels", "numbers", "mixed", "none")
    supported_data: ClassVar[str] = "relational"
    replicates: ClassVar[str] = "n_trees"

    _parameter_checks: ClassVar[Mapping[str, Domain]] = {
        "importance": choice(*IMPORTANCES),
        "share": choice("new", "all"),
        "tie_break": choice("share", "random", "first"),
        "supervision": SUPERVISION,
        "by": choice(*BY),
        "ensemble": choice("bagging", "random-forest", "boosting"),
        "n_trees": count(1),
        "random_state": SEED,
        "n_jobs": JOBS,
    }

    def fit(self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None) -> RelationalRanker:
        """Grow the ensemble, and rank.

        Parameters
        ----------
        X : RelationalDataset
            The examples, with their target.
        y : None
            The target is that of X.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples.

        Returns
        -------
        self
            The fitted ranker.
        """
        check_parameters(self)
        boosts = self.ensemble == "boosting"
        if boosts and self.importance not in _OF_RESIDUALS:
            advice = f"its trees have no out-of-bag examples: set {setting('importance', 'genie3')}"
            raise ParameterError("ensemble", self.ensemble, advice)
        if boosts and self.supervision not in ("auto", 1):
            advice = "unlabelled examples need 'bagging' or 'random-forest'"
            raise ParameterError("ensemble", self.ensemble, advice)
        if not check_relational(X, "RelationalRanker").database.relations:
            raise DataError("the database holds no relation: there is nothing to rank; check what was read or left out")
        warn_about(X)
        X = X if X.labelled.any() else replace(X, target=None, task=task_named("none"))
        entropy = root_entropy(self.random_state)
        self.model_ = self._learner(entropy, X.target is not None).fit(X, y, sample_weight)
        self.task_ = X.task
        self._used_bias = self._bias(X)
        self._rows = {name: self._rows_of(X, name) for name in (_OF_RESIDUALS if boosts else _OF_TESTS)}
        if self.importance == "permutation":
            self._rows[self.importance] = self._permuted_rows(X, sample_weight, entropy)
        self._told = {"task": X.task, "fingerprint": X.fingerprint, "seeds": SeedRanges.of(entropy, 0, self.n_trees)}
        self.rankings_ = {by: self._ranking_at(by=by) for by in self._rows[self.importance]}
        if self.by not in self.rankings_:
            raise DataError(f"there is no {self.by} to rank: {', '.join(self.rankings_)} can be ranked")
        self.ranking_ = self.rankings_[self.by]
        return self

    def staged_scores(self, importance: str | None = None, by: str | None = None) -> pd.DataFrame:
        """Return the scores after 1, 2, ... trees: means over the trees so far, or sums over iterations of boosting.

        Curves that have become flat (means) or grow no more (sums) say that more trees would change little.

        Parameters
        ----------
        importance, by : str, optional
            As the parameters; by default those of ``ranking_``.

        Returns
        -------
        DataFrame
            One row per number of trees, one column per name.
        """
        check_is_fitted(self)
        rows = self._rows[importance or self.importance][by or self.by]
        stages = rows.cumsum() if self.ensemble == "boosting" else rows.expanding().mean()
        return stages.set_axis(range(1, len(rows) + 1)).rename_axis("trees")

    def _ranking_at(self, importance: str | None = None, by: str | None = None) -> Ranking:
        """One of the rankings of the fit, by default ``ranking_``."""
        score, wanted = importance or self.importance, by or self.by
        rows = self._rows[score][wanted]
        names = tuple(rows.columns)
        state = MeanAccumulator.empty(len(names)).update(rows.to_numpy())
        parameters = self._recorded_parameters() | {"importance": score, "by": wanted}
        return Ranking.from_state(names, state, f"relational-{score}", parameters=parameters, **self._told)

    # -- the ensemble ---------------------------------------------------------------------------------

    def _learner(self, entropy: int, has_target: bool) -> RelationalLearner:
        shared = (*(field.name for field in fields(Bias)), "min_samples_leaf", "n_trees", "n_jobs")
        given = {name: getattr(self, name) for name in shared} | {"random_state": entropy}
        given |= {} if self.max_depth is None else {"max_depth": self.max_depth}
        boosts = self.ensemble == "boosting"
        level = self.supervision if has_target or self.supervision != 1 else 0
        given |= {} if boosts else {"ensemble": self.ensemble, "supervision": level}
        learner: RelationalLearner = RelationalBoosting(**given) if boosts else RelationalForest(**given)
        learner._ranked_by, learner._may_cluster = self.tie_break, not boosts
        # as in rankings of one table, nodes without labels are split too
        learner._rules = {"tie_break": "first" if self.tie_break == "first" else "random", "min_labelled_leaf": 0}
        return learner

    # -- scores ---------------------------------------------------------------------------------------

    def _rows_of(self, dataset: RelationalDataset, importance: str) -> dict[str, pd.DataFrame]:
        """For each thing to rank by, a row of scores per tree (or iteration)."""
        trees, features, relations = self.model_._trees(), self.model_.features_, dataset.database.relations
        rewards = {
            "unbiased": lambda tree, of: of.confirmed,
            "genie3": lambda tree, of: tree.gain,
            "symbolic": lambda tree, of: tree.weight / tree.weight[0],
        }[importance]
        grown = zip(trees, self.model_._paid, strict=True)
        # boosting grows no tree where there is nothing to learn
        paid = [tree_credits(t, features, rewards(t, of), self.share, of.ties) for t, of in grown] or [_NO_CREDIT]
        if importance == "genie3":
            self.interchangeable_ = _interchangeable(paid)
        together = len(self.model_.trees_[0]) if self.ensemble == "boosting" and trees else 1
        rows = credit_table([own.relations for own in paid], relations, together)
        found = _by_kind(dataset, rows) | {
            "table": rows.T.groupby(lambda name: relations[name].table, sort=False).sum().T,
            "aggregate": credit_table([own.aggregates for own in paid], (*AGGREGATES, EXISTS, IDENTITY), together),
            "feature": credit_table([own.features for own in paid], self.model_.feature_names_in_, together),
        }
        return {by: scores for by, scores in found.items() if scores.shape[1]}

    def _permuted_rows(self, dataset: RelationalDataset, sample_weight: Any, entropy: int) -> dict[str, pd.DataFrame]:
        """The same of the permutation score."""
        import pandas as pd

        weight = np.ones(dataset.n_examples) if sample_weight is None else np.asarray(sample_weight, np.float64)
        used = (dataset.labelled | (self.model_.supervision_ == 0)) & (weight > 0)  # what bootstraps draw from
        dataset, weight = dataset.take(used), weight[used]
        relations = dataset.database.relations
        tables = {
            own.table: [name for name in relations if relations[name].table == own.table] for own in relations.values()
        }
        growing = self.model_._growing(dataset, entropy, weight)
        columns = growing.target_columns(GrowingRules(hierarchy_weight=self.model_.hierarchy_weight))
        scores = PermutationScores(self.model_, dataset, columns, weight, entropy)
        rows, n = scores.rows([*([name] for name in relations), *tables.values()]), len(relations)
        found = _by_kind(dataset, pd.DataFrame(rows[:, :n], columns=list(relations)))
        found["table"] = pd.DataFrame(rows[:, n:], columns=list(tables))
        return {by: own for by, own in found.items() if own.shape[1]}

    def _recorded_parameters(self) -> dict[str, Any]:
        """Parameters as a file can hold them, with the aggregates and modes that were in force.

        How many workers there were is no property of the result.
        """
        plain = (str, int, float, bool, type(None))
        values = {k: v for k, v in self.get_params(deep=False).items() if k != "n_jobs" and isinstance(v, plain)}
        modes = {name: [list(mode) for mode in ways] for name, ways in (self._used_bias.modes or {}).items()}
        aggregates = self._used_bias.aggregates
        aggregates = aggregates if isinstance(aggregates, str) else list(self._used_bias.allowed)
        return values | {"aggregates": aggregates, "modes": modes or None}
