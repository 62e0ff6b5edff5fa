"""Growing, keeping and averaging the trees of a forest that predicts."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy import sparse

from omnirank.core.array_file import StoredArrays
from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import FLAG, Domain, check_parameters, count
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.models import JsonFields, value_to_json
from omnirank.data.notes import caller_outside
from omnirank.data.table import Table
from omnirank.ensembles.forest_in_parts import fit_in_samples
from omnirank.ensembles.plan import GrowingRules
from omnirank.ensembles.predictor import PCTPredictor, Training, tree_grower
from omnirank.shards.dataset import ShardedDataset, check_given
from omnirank.tasks import get_task
from omnirank.trees.prediction import leaves_of, paths_of, prefix_means, sum_means
from omnirank.trees.tree import Tree

Self = TypeVar("Self", bound="Forest")


class Forest(PCTPredictor):
    """Many trees: growing them, adding to them, averaging them."""

    _parameter_checks: ClassVar[dict[str, Domain]] = {"n_trees": count(1), "warm_start": FLAG, "oob_score": FLAG}

    # Features drawn in a node of a random forest where ``max_features`` is None; None: as `features_per_node` says.
    _default_max_features: ClassVar[float | None] = None

    trees_: list[Tree]
    oob_error_: float
    _data: str | None

    def __init__(
        self,
        ensemble: str = "random-forest",
        n_trees: int = 100,
        max_features: Any = None,
        bootstrap: bool | None = None,
        min_samples_leaf: float = 2,
        max_depth: int | None = None,
        oob_score: bool = False,
        warm_start: bool = False,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        normalize_targets: bool | None = None,
        supervision: Any = "auto",
        feature_weights: Ranking | ArrayLike | None = None,
        min_labelled_leaf: float = 2,
        task: str = "auto",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        growing = max_features, min_samples_leaf, max_depth, nominal_tests, tie_break, normalize_targets
        super().__init__(*growing, supervision, feature_weights, min_labelled_leaf, task, random_state)
        self.ensemble = ensemble
        self.n_trees = n_trees
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(self: Self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : Dataset, ShardedDataset, array-like, scipy.sparse container or data frame
            A data set with its target, or the features: numbers are numeric; categoricals, strings and booleans are
            nominal; NaN, None and NA are missing. Of data in parts that do not fit in memory, each tree sees a random
            sample.
        y : array-like, data frame, scipy.sparse container or sequence of sets
            The target; NaN, None and NA are unknown. ``supervision`` decides how examples without any known target
            value are used. Not with a Dataset.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples, of mean about 1; they multiply bootstrap counts. Those of weight 0 are not used.

        Returns
        -------
        self
            The fitted forest.
        """
        rules = GrowingRules.of(self)
        self._check(rules)
        if self.max_features is None and self.ensemble == "random-forest":
            rules = replace(rules, max_features=self._default_max_features)
        if not (self.warm_start and getattr(self, "trees_", [])):
            self._entropy = root_entropy(self.random_state)
        if isinstance(X, ShardedDataset) and not X.fits_in_memory:
            check_given(self, X, y, sample_weight)
            self.trees_, error = fit_in_samples(self, X, rules)
            self._clear_out_of_bag()
            if error is not None:
                self.oob_error_ = error
            return self
        training = self._training(X, y, sample_weight, rules, self._entropy)
        kept = self._kept_trees(training.data.fingerprint if self.warm_start else None)
        plan = self._plan(training, rules)
        grow = tree_grower(plan, training, None)
        grown = run_parallel(grow, range(len(kept), self.n_trees), self.n_jobs, description="growing trees")
        self.trees_ = [*kept, *grown]
        self._clear_out_of_bag()
        if self.oob_score:
            self._predict_out_of_bag(training, plan)
        return self

    def _check(self, rules: GrowingRules) -> None:
        check_parameters(self)
        if self.oob_score and not rules.bootstraps:
            raise ParameterError("oob_score", True, "it needs out-of-bag examples: set bootstrap to None or True")

    def _kept_trees(self, print_of_data: str | None) -> list[Tree]:
        """The trees of the previous fit, where they are to stay."""
        before = getattr(self, "trees_", []) if self.warm_start else []
        if before:
            if self._data != print_of_data:
                raise DataError("warm_start adds trees to those grown on the same data, but the data have changed")
            if self.n_trees < len(before):
                raise ParameterError("n_trees", self.n_trees, f"{len(before)} trees are grown already (warm_start)")
            if self.n_trees == len(before):
                warnings.warn("warm_start without a larger n_trees grows no new trees", UserWarning, stacklevel=3)
        self._data = print_of_data
        return list(before)

    def _trees(self) -> list[Tree]:
        return self.trees_

    def _take_trees(self, trees: list[Tree]) -> None:
        self.trees_ = trees

    # -- files ----------------------------------------------------------------------------------------

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts, arrays = super()._contents()
        # with these, warm_start grows the trees that it would have grown
        facts |= {"entropy": str(self._entropy), "data": self._data}
        if hasattr(self, "oob_error_"):
            facts["oob_error"] = value_to_json(self.oob_error_, "oob_error_")
        return facts, arrays

    def _restore(self, facts: JsonFields, stored: StoredArrays) -> None:
        super()._restore(facts, stored)
        self._entropy = facts.digits("entropy")
        self._data = None if facts.get("data") is None else facts.text("data")
        if "oob_error" in facts.keys():  # noqa: SIM118
            self.oob_error_ = facts.number("oob_error")

    # -- predicting -----------------------------------------------------------------------------------

    def apply(self, X: FeaturesLike) -> np.ndarray:
        """Return the number of the leaf that each example reaches in each tree, (examples, trees).

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.
        """
        table = self._table(X)  # says so where nothing is fitted
        return leaves_of(self._trees(), table, self.n_jobs)

    def decision_path(self, X: FeaturesLike) -> tuple[Any, np.ndarray]:
        """Return which nodes each example passes, and where the nodes of each tree start.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.

        Returns
        -------
        indicator : csr_array (examples, nodes of all trees)
            1 where an example passes a node.
        starts : ndarray (trees + 1,)
            The columns from ``starts[i]`` to ``starts[i + 1]`` are the nodes of tree i.
        """
        table = self._table(X)
        paths = run_parallel(partial(paths_of, table=table), self.trees_, self.n_jobs)
        starts = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in self.trees_])])
        return sparse.hstack(paths, format="csr"), starts

    def staged_predict(self, X: FeaturesLike, threshold: float | None = None) -> Iterator[Any]:
        """Yield the predictions of the first 1, 2, ... trees: those of smaller forests with the same seed.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.
        threshold : float, optional
            Label sets: frequency from which a label is predicted, by default 1/2.
        """
        means_of_prefixes = self._staged_means(X)
        cut = self._threshold(threshold)
        for means in means_of_prefixes:
            yield self._decide(means, cut)

    def _staged_means(self, X: FeaturesLike) -> Iterator[np.ndarray]:
        table = self._table(X)
        return prefix_means(self.trees_, table, self._columns.n_columns, self.n_jobs)

    # -- out of bag -----------------------------------------------------------------------------------

    def _predict_out_of_bag(self, training: Any, plan: Any) -> None:
        """Predict each example by the trees that have not seen it; examples never used are out of every bag."""
        whole, used = training.whole, training.used
        seen = np.zeros((len(self.trees_), whole.n_examples), bool)
        if plan is not None:
            for i, bag in enumerate(seen):
                bag[used] = plan.counts(i) > 0
        means, covered, self.oob_error_ = self._judged_out_of_bag(training, self.trees_, seen)
        self._keep_out_of_bag(means, covered)

    def _judged_out_of_bag(
        self, training: Training, trees: list[Tree], seen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Means over the trees that have not seen an example, whether there are any, and the error of these means."""
        whole, table = training.whole, self._training_table(training)
        sums, counts = sum_means(trees, table, training.columns.n_columns, seen, self.n_jobs)
        covered = counts > 0
        if not covered.all():
            warnings.warn(
                f"{int((~covered).sum())} examples are in the bag of every tree and have no out-of-bag prediction: "
                "grow more trees",
                UserWarning,
                stacklevel=caller_outside(),
            )
        with np.errstate(invalid="ignore"):
            means = sums / counts[:, None]
        rated = covered & training.used & whole.labelled
        task = get_task(self.task_)
        target = whole.take(rated).target
        truth = task.columns(target, whole.hierarchy) if target is not None else training.columns
        error = task.error(truth, means[rated], training.columns) if rated.any() else float("nan")
        return means, covered, float(error)

    def _training_table(self, training: Any) -> Table:
        """Return the features of all examples of a fit."""
        found: Table = training.whole.features
        return found

    @abstractmethod
    def _keep_out_of_bag(self, means: np.ndarray, covered: np.ndarray) -> None:
        """Keep the out-of-bag means as the attribute of the kind of forest."""

    def _clear_out_of_bag(self) -> None:
        for name in ("oob_error_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)
