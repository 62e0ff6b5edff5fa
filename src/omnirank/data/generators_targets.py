"""From the signals of generated features to targets: scores, classes, label sets, hidden values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

import numpy as np
from scipy import sparse

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import check, share
from omnirank.data.dataset import Dataset
from omnirank.data.generators_features import FeaturePlan, Relevance, build_features, draw_signals
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Levels, numbered_names
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target

_BRANCHES = 3


class Draw:
    """One draw of a plan: its signals, scores made of them, and the data set of both.

    Features, target and hidden values have random streams of their own, so that fewer labels or more missing
    cells leave everything else as it was.
    """

    def __init__(self, plan: FeaturePlan) -> None:
        self.plan = plan
        for_signals, self._for_features, self.rng, self._for_hiding = plan.streams(4)
        self.signals = draw_signals(plan, for_signals)

    def scores(self, n_scores: int) -> np.ndarray:
        """Return weighted sums of all signals with variance 1, plus the noise; one column per score.

        Absolute weights lie between 0.5 and 1.5 before normalisation: every signal matters in every score.
        """
        relevant, parity = self.signals
        if self.plan.sparse:
            share = self.plan.word_share
            relevant = (relevant - share) / np.sqrt(share * (1 - share))
        signals = np.hstack([relevant, parity])
        shape = (signals.shape[1], n_scores)
        weights = self.rng.uniform(0.5, 1.5, shape) * self.rng.choice((-1.0, 1.0), shape)
        weights /= np.linalg.norm(weights, axis=0)
        noise = self.rng.standard_normal((len(signals), n_scores))
        return signals @ weights + self.plan.noise * noise

    def dataset(
        self,
        task: str,
        values: np.ndarray,
        levels: Sequence[Levels | None] | None = None,
        missing_targets: float = 0.0,
        hierarchy: Hierarchy | None = None,
    ) -> tuple[Dataset, Relevance]:
        """Return the features with the given target, of which the plan's share is hidden."""
        features, relevance = build_features(self.plan, self.signals, self._for_features)
        n_targets = values.shape[1]
        hidden = self._hidden(n_targets, missing_targets)
        labelled = np.asarray(~hidden.all(axis=1))
        values = np.where(hidden, np.nan, values)
        if task_target(task).kind == "labels":
            names = numbered_names(n_targets, "label") if hierarchy is None else hierarchy.labels
            values = values if hierarchy is None else hierarchy.close(values)
            target = _label_sets(values, names, labelled, self.plan.sparse)
        else:
            names = ("y",) if n_targets == 1 else numbered_names(n_targets, "y")
            target = Target(names, tuple(levels or repeat(None, n_targets)), values, labelled)
        return Dataset(features, target, task=task, hierarchy=hierarchy, name=task), relevance

    def _hidden(self, n_targets: int, missing_targets: float) -> np.ndarray:
        """Mask of hidden target cells; a labelled example keeps at least one."""
        check("missing_targets", missing_targets, share(below=1))
        hidden = np.ones((self.plan.n_examples, n_targets), bool)
        # A permutation first, whatever is labelled: fewer labels are a subset of more.
        labelled = self._for_hiding.permutation(self.plan.n_examples)[: self.plan.n_labelled]
        hidden[labelled] = False
        if missing_targets == 0:
            return hidden
        n_cells = len(labelled) * n_targets
        kept = self._for_hiding.integers(n_targets, size=len(labelled))
        rows, columns = np.nonzero(np.arange(n_targets) != kept[:, None])
        count = round(missing_targets * n_cells)
        if count > len(rows):
            raise ParameterError(
                "missing_targets",
                missing_targets,
                f"every labelled example keeps one of its {n_targets} target values, so give at most "
                f"{(n_targets - 1) / n_targets:.3g}",
            )
        chosen = self._for_hiding.choice(len(rows), size=count, replace=False)
        hidden[labelled[rows[chosen]], columns[chosen]] = True
        return hidden


def _label_sets(values: np.ndarray, names: Sequence[str], labelled: np.ndarray, as_sparse: bool) -> Target:
    if not as_sparse:
        return Target.labels(values, names)
    return Target.labels(sparse.csr_array(np.where(labelled[:, None], values, 0.0)), names, labelled)


def cut(scores: np.ndarray, shares: Sequence[float] | np.ndarray) -> np.ndarray | None:
    """Cut scores into ``len(shares) + 1`` intervals, none empty; equal scores stay together.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        The scores.
    shares : sequence of float or ndarray
        Share of the scores below each cut, ascending; the possible cut that comes nearest is taken.

    Returns
    -------
    ndarray of int or None
        Number of the interval of each score; None when there are fewer different scores than intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.generators_targets import cut
    >>> cut(np.array([0.5, 0.1, 0.9, 0.5]), [0.4])
    array([1, 0, 1, 1])
    """
    # Equal signals give equal scores only up to the order of summation.
    scores = np.round(scores, 9)
    distinct, counts = np.unique(scores, return_counts=True)
    below = np.cumsum(counts)[:-1]
    if len(below) < len(shares):
        return None
    ends: list[int] = []
    for k, part in enumerate(shares):
        first = ends[-1] + 1 if ends else 0
        candidates = below[first : len(below) - (len(shares) - k - 1)]
        ends.append(first + int(np.argmin(np.abs(candidates - part * len(scores)))))
    return np.searchsorted(distinct[ends], scores)


def draw_classes(scores: np.ndarray, counts: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Return codes of classes of about equal size: intervals of a score, numbered at random."""
    values = np.empty(scores.shape)
    for i, count in enumerate(counts):
        codes = cut(scores[:, i], np.arange(1, count) / count)
        if codes is None:
            advice = "there are fewer different scores; raise n_examples, n_relevant or noise"
            raise ParameterError("n_classes", count, advice)
        values[:, i] = rng.permutation(count)[codes]
    return values


def class_names(counts: Sequence[int]) -> list[Levels | None]:
    """Return the names of the classes of each target: c1, c2, ..."""
    return [tuple(f"c{k}" for k in range(1, count + 1)) for count in counts]


def draw_labels(scores: np.ndarray, density: float, hierarchy: Hierarchy) -> np.ndarray:
    """Return 0/1 label sets: of the examples with all parents of a label, those of highest score have it."""
    values = np.zeros(scores.shape)
    for label in hierarchy.topological_order:
        allowed = np.flatnonzero(values[:, list(hierarchy.parents[label])].all(axis=1))
        codes = cut(scores[allowed, label], [1 - density])
        if codes is not None:
            values[allowed, label] = codes
    return values


def draw_hierarchy(n_labels: int, dag: bool, rng: np.random.Generator) -> Hierarchy:
    """Return trees with three children per label; in a DAG half of those below the roots have a second parent."""
    if dag and n_labels <= _BRANCHES:
        raise ParameterError("n_labels", n_labels, f"a DAG takes at least {_BRANCHES + 1} labels")
    above = [max(-1, i // _BRANCHES - 1) for i in range(n_labels)]
    tree = Hierarchy.from_array(above)
    if not dag:
        return tree
    parents = [list(own) for own in tree.parents]
    for label in range(_BRANCHES, n_labels, 2):
        level = np.flatnonzero(tree.depth == tree.depth[above[label]])
        parents[label].append(int(rng.choice(level[level != above[label]])))
    return Hierarchy(tree.labels, tuple(map(tuple, parents)))
