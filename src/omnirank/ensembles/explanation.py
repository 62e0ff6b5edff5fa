"""What each feature contributes to the predictions of trees and forests, example by example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.parallel import parallel_results, worker_count
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import Shown, amount_in_words, counted, did_you_mean
from omnirank.core.types import ArrayLike
from omnirank.data.containers import FeaturesLike
from omnirank.data.table import Table, chosen_numbers, is_sparse
from omnirank.measures.table import first_largest, reaches
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prediction import leaves_of, row_blocks
from omnirank.trees.prototypes import parents_of
from omnirank.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Cells of the values of all nodes that are held at once.
_NODE_CELLS = 2**24
_MOST_BYTES = 2**34


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Shown):
    """Contributions of the features to predictions; `base` plus the contributions is the prediction.

    Attributes
    ----------
    base : ndarray (examples, columns)
        What would be predicted without any test: the mean over the trees of their roots.
    contributions : ndarray (examples, features, columns)
        What each feature adds to it. NaN for examples that no tree may explain (``oob=True``).
    feature_names, column_names : tuple of str
        Names of the features, and of what is predicted: numbers, labels, classes.
    features : Table
        The cells of the examples.
    task : str
        The task of the model.
    targets : tuple of str
        Names of the targets.
    variable : ndarray (columns,)
        Target of each column.
    scale : ndarray (columns,)
        What contributions are divided by where those to several targets are averaged.
    name : str
        Name of the data, "" where it has none.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.load_sample("iris")
    >>> forest = om.PCTForestClassifier(n_trees=20, random_state=0).fit(data)
    >>> explanation = forest.explain(data.take(slice(0, 60)))
    >>> explanation
    <Explanation: 60 examples, 4 features, classification: setosa, versicolor, virginica>
    >>> bool(abs(explanation.prediction - forest.predict_means(data.take(slice(0, 60)))).max() < 1e-12)
    True
    >>> explanation.example(0).columns.tolist()
    ['feature', 'value', 'contribution']
    """

    base: np.ndarray
    contributions: np.ndarray
    feature_names: tuple[str, ...]
    column_names: tuple[str, ...]
    features: Table
    task: str
    targets: tuple[str, ...]
    variable: np.ndarray
    scale: np.ndarray
    name: str = ""

    def __post_init__(self) -> None:
        for array in (self.base, self.contributions, self.variable, self.scale):
            array.flags.writeable = False

    @property
    def prediction(self) -> np.ndarray:
        """What is predicted, (examples, columns): base plus contributions."""
        return self.base + self.contributions.sum(axis=1)

    def example(self, i: int, column: str | None = None) -> pd.DataFrame:
        """Return the features of an example with their values and signed contributions, largest first.

        Parameters
        ----------
        i : int
            Number of the example, from 0.
        column : str, optional
            One of ``column_names``; by default the number, or the class that is predicted.
        """
        rows = self._rows(i)
        own = self._toward(rows, column)[0][0]
        order = np.argsort(-np.abs(own), kind="stable")
        cells = self.features.take(rows).to_frame().iloc[0].to_numpy(object)
        names = [self.feature_names[f] for f in order]
        return pd.DataFrame({"feature": names, "value": cells[order], "contribution": own[order]})

    def ranking(self, examples: Any = None, column: str | None = None) -> Ranking:
        """Return the features by the mean absolute contribution to the predictions of some examples.

        Parameters
        ----------
        examples : int, sequence of int, mask or slice, optional
            Which examples; by default all.
        column : str, optional
            One of ``column_names``. By default the number, or the class that is predicted; of several targets or
            labels the mean over all, in which numbers are divided by their standard deviations.
        """
        rows = self._rows(examples)
        rows = rows[~np.isnan(self.base[rows, 0])]
        if not len(rows):
            raise DataError("there is no example to explain: choose examples that are out of the bag of some tree")
        if column is None and self.variable.min() < self.variable.max():
            scores = (np.abs(self.contributions[rows]).mean(axis=0) / self.scale).mean(axis=1)
        else:
            scores = np.abs(self._toward(rows, column)[0]).mean(axis=0)
        return Ranking(self.feature_names, scores, "contributions", task=self.task, targets=self.targets)

    def rankings(self, groups: ArrayLike, column: str | None = None) -> dict[Any, Ranking]:
        """Return the ranking of each group of examples.

        Parameters
        ----------
        groups : array-like
            The group of each example; those without one (None, NaN) are left out.
        column : str, optional
            As in `ranking`.
        """
        codes, names = pd.factorize(np.asarray(groups))
        if len(codes) != len(self.base):
            raise DataError(f"groups of {counted(len(codes), 'example')} for {len(self.base)}")
        return {name: self.ranking(codes == code, column) for code, name in enumerate(names.tolist())}

    def to_frame(self, column: str | None = None) -> pd.DataFrame:
        """Return the signed contributions: one row per example, one column per feature.

        Parameters
        ----------
        column : str, optional
            One of ``column_names``; by default the number, or the class that is predicted for each example.
        """
        return pd.DataFrame(self._toward(self._rows(None), column)[0], columns=list(self.feature_names))

    def plot(self, i: int = 0, column: str | None = None, *, k: int = 10, ax: Axes | None = None) -> Axes:
        """Draw how the k largest contributions lead from the base to the prediction of example i."""
        from omnirank.plots.ranking import plot_explanation

        return plot_explanation(self, i, column, k=k, ax=ax)

    def _rows(self, examples: Any) -> np.ndarray:
        chosen = slice(None) if examples is None else [examples] if np.ndim(examples) == 0 else examples
        return chosen_numbers(examples if isinstance(examples, slice) else chosen, len(self.base), "example")

    def _toward(self, rows: np.ndarray, column: str | None) -> tuple[np.ndarray, np.ndarray]:
        """Contributions of features (rows, features) to a column, or to what is predicted, and its number by row."""
        if column is not None:
            if column not in self.column_names:
                known = ", ".join(self.column_names[:10]) + (", ..." if len(self.column_names) > 10 else "")
                hint = did_you_mean(column, self.column_names)
                raise ParameterError("column", column, f"choose one of {known}{hint}")
            chosen = np.full(len(rows), self.column_names.index(column))
        elif self.variable.min() < self.variable.max():
            raise ParameterError(f"there are several targets: give {setting('column', self.column_names[0])}")
        else:
            chosen = first_largest(self.prediction[rows])
        return self.contributions[rows, :, chosen], chosen

    def _in_words(self) -> str:
        shown = ", ".join(self.column_names[:3]) + (", ..." if len(self.column_names) > 3 else "")
        examples, features = counted(len(self.base), "example"), counted(len(self.feature_names), "feature")
        return f"{examples}, {features}, {self.task}: {shown}"


class Explaining:
    """What trees and forests that average their leaves explain."""

    def explain(self, X: FeaturesLike, *, columns: Sequence[str] | None = None, oob: bool = False) -> Explanation:
        """Return what each feature contributes to the predictions of examples.

        The value of a node is the mean prediction of the training examples in it. On the way of an example down a
        tree, each test changes the value; the change is credited to the feature of the test. Summed over the way and
        averaged over the trees, with the mean value of the roots this is what ``predict_means`` returns.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.
        columns : sequence of str, optional
            What to explain, of many labels or targets: names of labels, numbers or classes (``target=class`` where
            there are several targets). By default all.
        oob : bool
            X is the training data: explain each example only by the trees that have not seen it, so that
            contributions are not overfitted. Needs a forest fitted with ``oob_score=True``.

        Returns
        -------
        Explanation
            Contributions (examples, features, columns), rankings and pictures of them.

        References
        ----------
        Saabas: Interpreting random forests. 2014.

        Examples
        --------
        >>> import omnirank as om
        >>> data, truth = om.datasets.make_friedman(300, random_state=0)
        >>> forest = om.PCTForestRegressor(n_trees=30, oob_score=True, random_state=0).fit(data)
        >>> explanation = forest.explain(data, oob=True)
        >>> explanation.ranking().top(3), explanation.contributions.shape
        (['x1', 'x9', 'x8'], (300, 10, 1))
        """
        model: Any = self
        table = model._table(X)
        excluded = _bags(model, table) if oob else None
        return explained(model, table, columns, excluded, getattr(X, "name", "") or "")


def _bags(model: Any, table: Table) -> np.ndarray:
    """Which trees have seen which examples (trees, examples)."""
    packed = getattr(model, "_seen", None)
    if packed is None:
        fitted = f"fit a forest with {setting('oob_score', True)}, in memory"
        raise ParameterError("oob", True, f"the bags are not known: {fitted}")
    n = len(model._labelled)
    if table.n_rows != n:
        raise ParameterError("oob", True, f"X must be the training data, of {counted(n, 'example')}")
    return np.unpackbits(packed, axis=1, count=n).astype(bool)


def column_names(columns: PrototypeColumns) -> tuple[str, ...]:
    """Return names of prototype columns: targets, labels, classes (``target=class`` of several targets)."""
    several = columns.n_variables > 1
    names = []
    for v, level in zip(columns.variable.tolist(), columns.level.tolist(), strict=True):
        text = columns.names[v] if level < 0 else str((columns.levels[v] or ())[level])
        names.append(f"{columns.names[v]}={text}" if several and level >= 0 else text)
    return tuple(names)


def explained(
    model: Any, table: Table, chosen: Sequence[str] | None, excluded: np.ndarray | None = None, name: str = ""
) -> Explanation:
    """Return the contributions of features to the predictions of the rows of a table; see `Explaining.explain`."""
    columns: PrototypeColumns = model._columns
    names = column_names(columns)
    if isinstance(chosen, str):
        chosen = [chosen]
    unknown = [one for one in chosen or () if one not in names]
    if unknown:
        raise ParameterError(
            "columns", unknown[0], f"nothing of that name is predicted{did_you_mean(unknown[0], names)}"
        )
    kept = np.arange(len(names)) if chosen is None else np.array([names.index(one) for one in chosen], np.intp)
    trees = model._trees()
    shape = (table.n_rows, table.n_columns, len(kept))
    n_bytes = 8 * table.n_rows * table.n_columns * len(kept)
    if n_bytes > _MOST_BYTES:
        raise DataError(
            f"the contributions of {shape[1]} features to {shape[2]} columns for {shape[0]} examples would take "
            f"{amount_in_words(n_bytes)}: explain fewer examples, or name columns="
        )
    base, contributions = _contributions(trees, table, kept, excluded, model._n_jobs())
    numbers = columns.level[kept] < 0 if get_task(model.task_).kind != "labels" else np.zeros(len(kept), bool)
    spread = model._column_spread[kept]
    return Explanation(
        base,
        contributions,
        table.names,
        tuple(names[c] for c in kept),
        table,
        model.task_,
        tuple(model.target_names_),
        columns.variable[kept],
        np.where(numbers & (spread > 0), spread, 1.0),
        name,
    )


def _contributions(
    trees: Sequence[Tree], table: Table, columns: np.ndarray, excluded: np.ndarray | None, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    starts = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in trees])])
    nodes = leaves_of(trees, table, n_jobs) + starts[:-1]
    counted_in = np.ones(nodes.shape) if excluded is None else (~excluded.T).astype(np.float64)
    if excluded is not None:
        _check_training(trees, nodes, excluded, starts)
    forest = _Nodes.of(trees, starts)
    n_trees = counted_in.sum(axis=1)
    base = np.empty((table.n_rows, len(columns)))
    sums = np.empty((table.n_rows, table.n_columns, len(columns)))
    blocks = row_blocks(table.n_rows, table.n_columns, worker_count(n_jobs))
    step = max(1, _NODE_CELLS // starts[-1])
    for start in range(0, len(columns), step):
        part = slice(start, start + step)
        values = forest.values(trees, columns[part])
        base[:, part] = counted_in @ values[starts[:-1]]
        work = partial(_block_sums, forest, values, nodes, counted_in, table.n_columns)
        for rows, own in zip(blocks, parallel_results(work, blocks, n_jobs), strict=True):
            sums[rows, :, part] = own
    with np.errstate(invalid="ignore"):
        return base / n_trees[:, None], np.divide(sums, n_trees[:, None, None], out=sums)


def _check_training(trees: Sequence[Tree], nodes: np.ndarray, excluded: np.ndarray, starts: np.ndarray) -> None:
    """Refuse examples that are not those of the fit: each leaf of a tree holds some of its bag."""
    if not excluded.any():  # trees of one leaf
        return
    reached = np.zeros(starts[-1], bool)
    reached[nodes[excluded.T]] = True
    if not reached[np.concatenate([tree.is_leaf for tree in trees])].all():
        raise ParameterError("oob", True, "X must be the training data, in the same order")


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The nodes of all trees, one tree after the other."""

    feature: np.ndarray
    parent: np.ndarray  # -1 of a root
    depth: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, trees: Sequence[Tree], starts: np.ndarray) -> _Nodes:
        parents = [parents_of(tree) for tree in trees]
        parent = np.concatenate([np.where(up < 0, -1, up + start) for up, start in zip(parents, starts, strict=False)])
        feature, depth, weight = (
            np.concatenate([getattr(tree, name) for tree in trees]) for name in ("feature", "depth", "weight")
        )
        return cls(feature, parent, depth, weight)

    def values(self, trees: Sequence[Tree], columns: np.ndarray) -> np.ndarray:
        """Mean predictions of the training examples in each node, (nodes, columns)."""
        leaf = self.feature < 0
        values = np.empty((len(leaf), len(columns)))
        means = [tree.means(np.flatnonzero(tree.is_leaf))[:, columns] for tree in trees]
        values[leaf] = np.concatenate([own.toarray() if is_sparse(own) else own for own in means])
        right = np.zeros(len(leaf), np.intp)
        below = np.flatnonzero(self.parent >= 0)
        right[self.parent[below]] = below  # the later child
        for depth in range(int(self.depth.max()) - 1, -1, -1):
            here = np.flatnonzero((self.depth == depth) & ~leaf)
            left, other = values[here + 1], values[right[here]]
            share = self.weight[right[here]] / (self.weight[here + 1] + self.weight[right[here]])
            values[here] = left + (other - left) * share[:, None]  # exact where both are equal
        return values


def _block_sums(
    forest: _Nodes, values: np.ndarray, nodes: np.ndarray, counted_in: np.ndarray, n_features: int, rows: slice
) -> np.ndarray:
    """Contributions of features, summed over the trees, to the predictions of some rows."""
    leaves, places = np.unique(nodes[rows], return_inverse=True)
    n_rows, n_trees = nodes[rows].shape
    ends = np.arange(n_rows + 1) * n_trees
    reached = sparse.csr_array((counted_in[rows].ravel(), places.ravel(), ends), shape=(n_rows, len(leaves)))
    owners, passed = [], []
    owner, node = np.arange(len(leaves)), leaves
    while True:
        inner = forest.parent[node] >= 0
        owner, node = owner[inner], node[inner]
        if not len(node):
            break
        owners.append(owner)
        passed.append(node)
        node = forest.parent[node]
    sums = np.zeros((n_rows, n_features, values.shape[1]))
    if not owners:
        return sums
    owner, node = np.concatenate(owners), np.concatenate(passed)
    above = forest.parent[node]
    place = (owner, forest.feature[above])
    for c in range(values.shape[1]):
        changes = sparse.csr_array((values[node, c] - values[above, c], place), shape=(len(leaves), n_features))
        sums[:, :, c] = (reached @ changes).toarray()
    return sums


def reasons(model: Any, table: Table, means: np.ndarray, threshold: float, n: int) -> list[str]:
    """Return the n largest contributions to what is predicted for each row of a table, in words.

    One number or class: ``width +0.31, height -0.02``. Several targets or label sets: those of each target, or of each
    label that is predicted, after its name.
    """
    columns: PrototypeColumns = model._columns
    names = np.array(column_names(columns), object)
    is_labels = get_task(model.task_).kind == "labels"
    texts = []
    step = 256
    for start in range(0, len(means), step):
        own = means[start : start + step]
        if is_labels:
            told = reaches(own, threshold)
        else:
            told = np.zeros(own.shape, bool)
            for v in range(columns.n_variables):
                places = np.flatnonzero(columns.variable == v)
                told[np.arange(len(own)), places[first_largest(own[:, places])]] = True
        kept = np.flatnonzero(told.any(axis=0))
        block = explained(model, table.take(slice(start, start + step)), names[kept].tolist())
        for i, row in enumerate(told[:, kept]):
            parts = [_largest(block.contributions[i, :, c], block.feature_names, n) for c in np.flatnonzero(row)]
            alone = len(columns.names) == 1 and not is_labels
            labelled = zip(np.array(block.column_names, object)[row], parts, strict=True)
            texts.append(parts[0] if alone else "; ".join(f"{name}: {text}" for name, text in labelled))
    return texts


def _largest(own: np.ndarray, names: tuple[str, ...], n: int) -> str:
    order = np.argsort(-np.abs(own), kind="stable")[:n]
    return ", ".join(f"{names[f]} {own[f]:+.3g}" for f in order if own[f])
