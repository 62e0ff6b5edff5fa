"""How much worse trees predict out of bag once a relation, or all relations of a table, are permuted.

With O_i the out-of-bag examples of tree i and e_i(D) its error on them, their features taken from the database D,

    score(r) = mean_i (e_i(D_r) - e_i(D)),    e_i = 1/T sum_v sum_{c of v} MSE_c / sum_{c of v} Var_c

where D_r is the database with relation r permuted, v a target and c its columns (a number, or one column per class).
An error of 1 is that of the mean of the training examples. A value goes to another fact of its relation; of a link, the
object in the last place does, so that every object keeps its number of links. Facts with one place get other objects.

References
----------
Breiman: Random forests. Machine Learning 45, 2001.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.seeds import stream
from omnirank.data.table import Table, is_sparse
from omnirank.ensembles.plan import bootstrap_counts
from omnirank.relational.database import Database, Relation, sorted_facts
from omnirank.trees.prediction import leaves_of

if TYPE_CHECKING:
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.relational.learners import RelationalForest
    from omnirank.tasks.columns import PrototypeColumns
    from omnirank.trees.tree import Tree

# Trees share this many permutations of each relation.
N_PERMUTATIONS = 10
# Keeps the streams of permutations apart from those of trees.
_FIRST_STREAM = 1 << 40


def permuted(database: Database, names: Collection[str], rng: np.random.Generator) -> Database:
    """Return the database with the last places of some relations permuted.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.relational.permutation import permuted
    >>> database = om.datasets.make_movies(random_state=0).database
    >>> new = permuted(database, ["ratings_stars"], np.random.default_rng(0))
    >>> before, after = (one.relations["ratings_stars"].facts[1] for one in (database, new))
    >>> bool((before == after).all()), bool((np.sort(before) == np.sort(after)).all())
    (False, True)
    """
    new = {name: _permuted(database.relations[name], database, rng) for name in names}
    return Database(database.objects, dict(database.relations) | new)


def _permuted(relation: Relation, database: Database, rng: np.random.Generator) -> Relation:
    *others, last = relation.facts
    if others:
        last = last[rng.permutation(len(last))]
    else:
        last = rng.permutation(database.domain_size(relation.components[0])).astype(last.dtype)[last]
    facts, times = sorted_facts((*others, last), relation.times, relation.is_bag)
    return replace(relation, facts=facts, times=times)


@dataclass(frozen=True, eq=False)
class PermutationScores:
    """Out-of-bag errors of the trees of a forest, on the database as it is and with relations permuted.

    Parameters
    ----------
    model : RelationalForest
        The fitted forest.
    dataset : RelationalDataset
        The examples that it was grown on.
    columns : PrototypeColumns
        Their coded target.
    weight : ndarray
        Their weights.
    entropy : int
        Root of the random streams.
    """

    model: RelationalForest
    dataset: RelationalDataset
    columns: PrototypeColumns
    weight: np.ndarray
    entropy: int

    def rows(self, groups: Sequence[Sequence[str]]) -> np.ndarray:
        """Return how much the error of each tree grows when the relations of each group are permuted together.

        Parameters
        ----------
        groups : sequence of sequences of str
            Names of relations.

        Returns
        -------
        ndarray (trees, groups)
            Trees that have seen all examples have 0, as have relations that no tree uses.
        """
        used = {step.relation for feature in self.model.features_ for step in feature.path}
        chosen = [(0, ()), *((g, group) for g, group in enumerate(groups, 1) if used & {*group})]
        jobs = [(g, k, group) for g, group in chosen for k in range(min(N_PERMUTATIONS, len(self.model.trees_)))]
        found = run_parallel(self._errors, jobs, self.model.n_jobs, description="permuting relations")
        errors = np.zeros((len(self.model.trees_), 1 + len(groups)))
        for (g, k, _), own in zip(jobs, found, strict=True):
            errors[k::N_PERMUTATIONS, g] = own - errors[k::N_PERMUTATIONS, 0]
        return errors[:, 1:]

    def _errors(self, job: tuple[int, int, Sequence[str]]) -> np.ndarray:
        """Errors of every tenth tree, from the k-th on, with the relations of group g permuted."""
        g, k, names = job
        numbers = range(k, len(self.model.trees_), N_PERMUTATIONS)
        database = permuted(self.dataset.database, names, stream(self.entropy, _FIRST_STREAM + g * N_PERMUTATIONS + k))
        trees = [self.model.trees_[i] for i in numbers]
        leaves = leaves_of(trees, self._table(database, trees, {*names}) if names else self._plain_table)
        return np.array([self._error(i, leaves[:, place]) for place, i in enumerate(numbers)])

    @cached_property
    def _plain_table(self) -> Table:
        return self.model._table(self.dataset)

    def _table(self, database: Database, trees: Sequence[Tree], names: set[str]) -> Table:
        """The features of the examples; those that the trees test and that depend on what is permuted are new."""
        used = np.unique(np.concatenate([tree.feature[~tree.is_leaf] for tree in trees])).tolist()
        new = [i for i in used if not names.isdisjoint(step.relation for step in self.model.features_[i].path)]
        with warnings.catch_warnings():  # what is undefined after a permutation says nothing about the data
            warnings.simplefilter("ignore", UserWarning)
            table = self.model._table(replace(self.dataset, database=database), new)
        plain, place = self._plain_table, {number: i for i, number in enumerate(new)}
        columns = [table.column(place[i]) if i in place else plain.column(i) for i in range(plain.n_columns)]
        return Table.from_columns(plain.names, columns, plain.levels)

    def _error(self, i: int, leaves: np.ndarray) -> float:
        """Error of tree i, whose leaves examples reach."""
        columns = self.columns
        rows = bootstrap_counts(self.entropy, i, (np.arange(len(self.weight)),)) == 0
        means = self.model.trees_[i].means(leaves[rows])
        squares = np.square(columns.scaled((means.toarray() if is_sparse(means) else means) - columns.dense()[rows]))
        known = ~np.isnan(squares) * self.weight[rows, None]
        means = np.nansum(squares * known, axis=0) / np.maximum(known.sum(axis=0), np.finfo(float).tiny)
        spread = np.bincount(columns.variable, columns.variance)
        relative = np.bincount(columns.variable, means)[spread > 0] / spread[spread > 0]
        return float(relative.sum() / max(1, len(relative)))  # of constant targets alone: 0
