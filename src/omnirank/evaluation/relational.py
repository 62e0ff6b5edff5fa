"""Neighbours in a relational distance that weighs relations by a ranking: a judge of such rankings.

    D(e, e') = sum_r max(score(r), 0) d_r(e, e'),    d_r = the mean of m(p(e), p(e'))^2 over walks p that end in r

A walk p has at most two steps and leads from an example to a bag of values of one variable. Bags are matched: m is the
share of objects or levels that are in one of the two bags only; of numbers, the mean distance of their ten quantiles,
relative to the range of the numbers (the cost of the best matching of two equally large bags, if they hold ten numbers
or fewer, and 10 is a multiple of that). Two empty bags are alike, an empty and another one are at distance 1.

References
----------
Emde, Wettschereck: Relational instance-based learning. ICML, 1996. Kirsten, Wrobel, Horvath: Distance based approaches
to relational learning and clustering. Relational Data Mining, 2001.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError, logger
from omnirank.core.ranking.ranking import Ranking
from omnirank.neighbors.weighted import neighbor_means
from omnirank.relational.candidates import Bias, Candidates
from omnirank.relational.database import Component, Database
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.evaluation import Bindings, Evaluator
from omnirank.relational.paths import Path, example_variables
from omnirank.tasks import get_task

_STEPS = 2
_QUANTILES = 10
# Walks of more matches are left out.
_MOST_MATCHES = 2**25


class Bags(NamedTuple):
    """Bags of values of some examples: for each value the example it belongs to, examples in order."""

    owner: np.ndarray
    values: np.ndarray
    n_examples: int

    @property
    def sizes(self) -> np.ndarray:
        """Number of values of each example."""
        return np.bincount(self.owner, minlength=self.n_examples)

    def quantiles(self) -> np.ndarray:
        """Return ten quantiles of the numbers of each example, (examples, quantiles); NaN where there are none."""
        sizes, ordered = self.sizes, self.values[np.lexsort([self.values, self.owner])]
        starts = np.cumsum(sizes) - sizes
        places = ((np.arange(_QUANTILES) + 0.5) / _QUANTILES * sizes[:, None]).astype(np.int64) + starts[:, None]
        found = np.full((self.n_examples, _QUANTILES), np.nan)
        found[sizes > 0] = ordered[places[sizes > 0]]
        return found

    def members(self, n_codes: int) -> sparse.csr_array:
        """Return which codes each example has, (examples, codes) of 0 and 1."""
        shape = self.n_examples, n_codes
        found = sparse.csr_array((np.ones(len(self.owner)), (self.owner, self.values)), shape=shape)
        found.data[:] = 1.0  # equal places were added up
        return found


def matched(one: Bags, other: Bags, component: Component, database: Database, span: float) -> np.ndarray:
    """Return the distances of all pairs of bags, (examples of the one, examples of the other).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.database import Component, Database
    >>> from omnirank.evaluation.relational import Bags, matched
    >>> stars = Component("stars", "numeric", "numeric")
    >>> bags = Bags(np.array([0, 0, 1]), np.array([3.0, 5.0, 4.0]), 3)
    >>> matched(bags, bags, stars, Database({}, {}), 4.0).tolist()
    [[0.0, 0.25, 1.0], [0.25, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    if component.kind == "numeric":
        pairs = zip(one.quantiles().T, other.quantiles().T, strict=True)
        costs = sum(np.abs(a[:, None] - b[None]) for a, b in pairs) / (_QUANTILES * (span if span > 0 else 1.0))
    else:
        n_codes = database.domain_size(component)
        shared = (one.members(n_codes) @ other.members(n_codes).T).toarray()
        sizes = [bags.members(n_codes).sum(axis=1) for bags in (one, other)]
        with np.errstate(invalid="ignore"):
            costs = 1.0 - shared / (sizes[0][:, None] + sizes[1][None] - shared)
    empty = (one.sizes == 0)[:, None], (other.sizes == 0)[None]
    return np.where(empty[0] | empty[1], empty[0] != empty[1], costs)


@dataclass(frozen=True, eq=False)
class RelationalNeighbors:
    """Predicts by the labelled examples that are nearest in a distance that a ranking of relations weighs.

    Parameters
    ----------
    ranking : Ranking or None
        Scores of relations; those that it does not name have 0. None: all count alike, as where no score is positive.
    dataset : RelationalDataset
        The examples that may be neighbours.
    n_neighbors : int, optional
        Number of neighbours; by default that of the task, or the root of the number of examples where that is less.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.relational import RelationalNeighbors
    >>> data = om.datasets.make_movies(random_state=0)
    >>> train, test = data.take(slice(0, 150)), data.take(slice(150, None))
    >>> ranking = om.relational.RelationalRanker(by="column", n_trees=10, random_state=0).fit(train).ranking_
    >>> judge = RelationalNeighbors(ranking, train)
    >>> judge.predict_means(test).shape
    (50, 3)
    """

    ranking: Ranking | None
    dataset: RelationalDataset
    n_neighbors: int | None = None

    @cached_property
    def _weights(self) -> dict[str, float]:
        names = list(self.dataset.database.relations)
        given = {} if self.ranking is None else dict(zip(self.ranking.names, self.ranking.scores, strict=True))
        if given and given.keys().isdisjoint(names):
            raise DataError(f"the ranking is of {next(iter(given))!r} and others: neighbours weigh relations")
        found = {name: float(score) for name in names if (score := given.get(name, 0.0)) > 0}
        return found or dict.fromkeys(names, 1.0)

    def distances(self, test: RelationalDataset, train: RelationalDataset) -> np.ndarray:
        """Return the distances of all pairs, (test examples, training examples), both in one database."""
        if test.database is not train.database:
            raise DataError("neighbours are looked for in the database of the training examples only")
        total = np.zeros((test.n_examples, train.n_examples))
        evaluator = Evaluator(train.database)
        sums: dict[str, np.ndarray] = {}
        n_walks = Counter[str]()
        for path in self._walks(train):
            relation = train.database.relations[path[-1].relation]
            ends = [_bags(evaluator, path, examples) for examples in (test, train)]
            if ends[0] is None or ends[1] is None:
                logger.info("a walk of more than %d matches is left out of the distance: %s", _MOST_MATCHES, path)
                continue
            for place, one, other in zip(ends[0], ends[0].values(), ends[1].values(), strict=True):
                component, values = relation.components[place], relation.facts[place]
                span = float(np.ptp(values)) if component.kind == "numeric" and len(values) else 0.0
                squares = np.square(matched(one, other, component, train.database, span))
                sums[relation.name] = sums.get(relation.name, 0.0) + squares
                n_walks[relation.name] += 1
        for name, squares in sums.items():
            total += self._weights[name] / n_walks[name] * squares
        return total

    def _walks(self, dataset: RelationalDataset) -> Iterator[Path]:
        """Walks of at most two steps that end in a relation that counts; constants of modes may be anything."""
        modes = {
            name: tuple(dict.fromkeys(tuple("old" if word == "old" else "new" for word in mode) for mode in ways))
            for name, ways in (dataset.modes or {}).items()
        }
        bias = Bias(lookahead=_STEPS, modes=modes, max_candidates=None)
        for paths in Candidates(dataset.database, dataset.example_types, bias).levels(()):
            yield from (path for path in paths if path[-1].relation in self._weights)

    def predict_means(self, X: RelationalDataset) -> np.ndarray:
        """Return the mean target of the neighbours, as trees do."""
        train = self.dataset.take(self.dataset.labelled)
        assert train.target is not None
        k = self.n_neighbors or min(get_task(train.task).default_neighbors, max(1, math.isqrt(train.n_examples)))
        nearest = np.argsort(self.distances(X, train), axis=1, kind="stable")[:, :k]
        return neighbor_means(get_task(train.task).columns(train.target, train.hierarchy).dense(), nearest)


def _bags(evaluator: Evaluator, path: Path, examples: RelationalDataset) -> dict[int, Bags] | None:
    """For each free place of the last step, what a walk leads to; of a step without one, whether it has a match.

    None where there are too many matches.
    """
    kinds, n = example_variables(tuple(examples.example_types)), examples.n_examples
    codes = {number: np.asarray(column, np.int32) for number, column in enumerate(examples.example_codes)}
    bindings, owner = Bindings(codes, kinds, n, examples.times), np.arange(n)
    found: dict[int, np.ndarray] = {}
    for step in path:
        relation = evaluator.database.relation(step.relation)
        starts, ends = evaluator.ranges(step, bindings)
        if (ends - starts).sum() > _MOST_MATCHES:
            return None
        offsets, facts = evaluator.matches(step, bindings)
        rows = np.repeat(np.arange(bindings.n_rows), np.diff(offsets))
        fresh = step.fresh(relation)
        owner = owner[rows]
        columns = {variable: column[rows] for variable, column in bindings.columns.items()}
        chosen = [relation.facts[place] if facts is None else relation.facts[place][facts] for place in fresh]
        columns |= dict(enumerate(chosen, start=len(bindings.kinds)))
        kinds = bindings.kinds + tuple(relation.components[place] for place in fresh)
        times = None if bindings.times is None else bindings.times[rows]
        bindings = Bindings(columns, kinds, len(rows), times)
        nothing = {step.bound[0][0]: np.zeros(len(rows), np.int32)}
        found = dict(zip(fresh, chosen, strict=True)) or nothing
    order = np.argsort(owner, kind="stable")
    return {place: Bags(owner[order], values[order], n) for place, values in found.items()}
