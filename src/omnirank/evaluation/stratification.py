"""Dividing examples into folds at random, evenly by class, label or labelled and unlabelled."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.data.dataset import Dataset, strata
from omnirank.data.resampling import first_rows


def deal_folds(dataset: Dataset, n_folds: int, rng: np.random.Generator, stratify: bool = True) -> list[np.ndarray]:
    """Divide the examples into folds whose sizes differ by at most one (by a few for label sets, or by whole groups).

    Stratified means: every class has its share in every fold (classification); every label has (label sets, by
    iterative stratification [1]_); labelled and unlabelled examples have theirs (all tasks). Groups that are given
    (`Dataset.with_groups`) stay in one fold, by their first example; examples that are only copies do not, so that the
    folds depend on the target at most.

    Parameters
    ----------
    dataset : Dataset
        The examples.
    n_folds : int
        Number of folds, at most that of the examples.
    rng : Generator
        Source of random numbers.
    stratify : bool
        Otherwise the folds are drawn without looking at the target.

    Returns
    -------
    list of ndarray of int
        Row numbers of each fold, ascending.

    References
    ----------
    .. [1] K. Sechidis, G. Tsoumakas, I. Vlahavas: On the stratification of multi-label data. ECML PKDD (2011).

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.evaluation.stratification import deal_folds
    >>> data = om.Dataset(np.zeros((6, 1)), ["a", "b", "a", "b", "a", "b"])
    >>> [sorted(data.take(fold).y.tolist()) for fold in deal_folds(data, 3, np.random.default_rng(0))]
    [['a', 'b'], ['a', 'b'], ['a', 'b']]
    """
    groups = getattr(dataset, "given_groups", None)  # data of several tables have none
    if groups is not None:
        if groups.max() + 1 < n_folds:
            raise DataError(f"{n_folds} folds need as many groups, there are {groups.max() + 1}: lower n_folds")
        firsts = dataset.take(first_rows(groups)).with_groups(np.arange(groups.max() + 1))
        return [np.flatnonzero(np.isin(groups, fold)) for fold in deal_folds(firsts, n_folds, rng, stratify)]
    order = rng.permutation(dataset.n_examples)
    target = dataset.target
    if not stratify or target is None:
        return _dealt(order, n_folds)
    if not target.is_labels:
        return _dealt(order[np.argsort(strata(dataset)[order], kind="stable")], n_folds)
    labelled, unlabelled = order[dataset.labelled[order]], order[~dataset.labelled[order]]
    fold_of = _spread_labels(_relevant(target.values, labelled), n_folds, rng)
    parts = [labelled[fold_of == i] for i in range(n_folds)]
    # unlabelled examples go first to the folds that have the fewest labelled ones
    sizes = np.array([len(part) for part in parts])
    extra: list[list[int]] = [[] for _ in parts]
    for row in unlabelled.tolist():
        smallest = int(np.argmin(sizes))
        extra[smallest].append(row)
        sizes[smallest] += 1
    return [np.sort(np.concatenate([part, more])).astype(np.intp) for part, more in zip(parts, extra, strict=True)]


def _dealt(order: np.ndarray, n_folds: int) -> list[np.ndarray]:
    return [np.sort(order[i::n_folds]) for i in range(n_folds)]


def _relevant(values: Any, rows: np.ndarray) -> Any:
    """The relevant labels of the given examples as a sparse matrix of columns; unknown ones are not relevant."""
    from scipy import sparse

    found = sparse.csr_array(values[rows])
    return sparse.csc_array((found == 1).astype(np.int8))


def _spread_labels(relevant: Any, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Fold of each example: the rarest label that is left is dealt first, to the folds that want most of it."""
    n_examples = relevant.shape[0]
    by_row = relevant.tocsr()
    fold_of = np.full(n_examples, -1)
    left = np.diff(relevant.indptr).astype(np.int64)
    wanted = np.repeat(left[:, None] / n_folds, n_folds, axis=1)
    room = np.full(n_folds, n_examples / n_folds)

    def put(row: int, fold: int) -> None:
        labels = by_row.indices[by_row.indptr[row] : by_row.indptr[row + 1]]
        fold_of[row] = fold
        room[fold] -= 1
        wanted[labels, fold] -= 1
        left[labels] -= 1

    while (left > 0).any():
        label = int(np.argmin(np.where(left > 0, left, n_examples + 1)))
        members = relevant.indices[relevant.indptr[label] : relevant.indptr[label + 1]]
        for row in members[fold_of[members] < 0].tolist():
            put(row, _neediest(wanted[label], room, rng))
    for row in np.flatnonzero(fold_of < 0).tolist():
        put(row, _neediest(room, room, rng))
    return fold_of


def _neediest(wanted: np.ndarray, room: np.ndarray, rng: np.random.Generator) -> int:
    """The fold that wants most; among equals the one with most room, then a random one."""
    best = np.flatnonzero(wanted >= wanted.max() - 1e-9)
    best = best[room[best] >= room[best].max() - 1e-9]
    return int(best[0]) if len(best) == 1 else int(rng.choice(best))
