"""Which examples train, which test, and which of the training examples keep their labels."""

from __future__ import annotations

import hashlib
import inspect
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, DataWarning, FileFormatError, ParameterError
from omnirank.core.immutable import PickledWithoutCaches
from omnirank.core.parameters import check, choice, count, listed, share
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.text import did_you_mean
from omnirank.core.types import PathLike, RandomState
from omnirank.data.containers import in_memory
from omnirank.data.dataset import Dataset, strata, whole_groups
from omnirank.data.files import read_whole
from omnirank.data.resampling import first_rows
from omnirank.data.table import chosen_numbers

LABELLED_COUNTS = (50, 100, 200, 350, 500)

# Numbers of labelled examples, or shares (below 1) of those that could be labelled.
Labelled = Sequence[int | float] | int | float


@dataclass(frozen=True, eq=False)
class Fold(PickledWithoutCaches):
    """One division of a data set, by row numbers.

    Parameters
    ----------
    train, test : ndarray of int
        Rows that train and rows that test.
    labelled : ndarray of int or None
        Rows of ``train`` that keep their targets; None: all that have one.
    key : str
        Name of the fold, unique in its scheme, such as ``"L=50 repetition=1 fold=3"``; it does not change when
        other folds are added.
    n_labelled : int or None
        The number L that was asked for, where the scheme hides labels.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.evaluation.folds import Fold
    >>> data = om.Dataset([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> fold = Fold(np.array([0, 1]), np.array([2]), np.array([1]), "L=1")
    >>> fold.training(data).labelled.tolist(), fold.testing(data).y.tolist()
    ([False, True], ['a'])
    """

    train: np.ndarray
    test: np.ndarray
    labelled: np.ndarray | None
    key: str
    n_labelled: int | None = None

    @cached_property
    def digest(self) -> str:
        """Hash of the row numbers."""
        digest = hashlib.blake2b(digest_size=16)
        for rows in (self.train, self.test, self.labelled):
            digest.update(b"-" if rows is None else np.ascontiguousarray(rows, dtype="<i8").tobytes() + b";")
        return digest.hexdigest()

    def training(self, dataset: Dataset) -> Dataset:
        """Return the training part, with the labels that are not kept hidden."""
        part = dataset.take(self.train)
        return part if self.labelled is None else part.hide_labels(~np.isin(self.train, self.labelled))

    def training_with_all_labels(self, dataset: Dataset) -> Dataset:
        """Return the training part with all its labels."""
        return dataset.take(self.train)

    def testing(self, dataset: Dataset) -> Dataset:
        """Return the test part."""
        return dataset.take(self.test)


def make_folds(dataset: Dataset, scheme: str = "cross-validation", **params: Any) -> list[Fold]:
    """Return the folds of a scheme.

    Parameters
    ----------
    dataset : Dataset
        The data. Folds and parts that are drawn keep groups of examples (`Dataset.groups`: those that are given, else
        copies) together; apart from that at most the target is looked at.
    scheme : str
        - ``"cross-validation"``: ``n_folds=10``, ``repetitions=1``, ``stratify=True``, ``random_state``.
        - ``"split"``: random parts; ``share=2/3`` of the examples train, ``repetitions=1``, ``stratify=True``,
          ``random_state``.
        - ``"predefined"``: ``test`` are the rows that test (slice, mask or numbers), the others train. With
          ``labelled``, the first L labelled ones of a random order keep their labels; ``repetitions=1``,
          ``random_state``.
        - ``"semi-supervised"``: cross-validation with ``labelled=(50, 100, 200, 350, 500)`` labelled training
          examples; ``n_folds=10``, ``repetitions=1``, ``stratify=True``, ``random_state``. Every fold has one random
          order; the first floor(L / (n_folds - 1)) of its labelled examples keep their labels, one more in the first
          L mod (n_folds - 1) folds: L or L - 1 training examples are labelled, and larger L hold smaller ones.
        - ``"transductive"``: all examples train, the first L of a random order with their labels; the others, with
          their labels restored, test; ``labelled``, ``repetitions=10``, ``random_state``.
          Numbers L of labelled examples may also be shares of those that can be labelled: 0.1.
        - ``"consecutive"``: rows shuffled by Python's ``random`` with ``seed=123``, cut into ``n_folds=10`` blocks, as
          in the published unsupervised study.
    **params
        Parameters of the scheme.

    Returns
    -------
    list of Fold
        In a fixed order; equal arguments with the same integer ``random_state`` give equal folds.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.folds import make_folds
    >>> data = om.datasets.load_sample("digits")
    >>> folds = make_folds(data, "semi-supervised", labelled=[50], random_state=0)
    >>> [len(fold.labelled) for fold in folds]
    [49, 49, 49, 49, 49, 50, 50, 50, 50, 50]
    >>> folds[0].key
    'L=50 repetition=0 fold=0'
    """
    check("scheme", scheme, choice(*SCHEMES))
    try:
        return list(_SCHEMES[scheme](in_memory(dataset), **params))
    except TypeError as error:
        known = scheme_parameters(scheme)
        unknown = sorted(set(params) - set(known))
        if not unknown and "missing" not in str(error):
            raise
        what = f"has no parameter {unknown[0]!r}" if unknown else "needs the parameter 'test'"
        raise ParameterError(f"fold scheme {scheme!r} {what}; its parameters: {', '.join(known)}") from None


def read_folds(path: PathLike, identifiers: Sequence[Any]) -> list[Fold]:
    """Read folds from a file of identifiers: those of the test examples of each fold, one per line.

    Lines of bars (``|||``) or empty lines divide the folds; other lines that start with a bar are comments. All
    examples that the file names and that a fold does not test train in it. Files whose folds are no partition (an
    example stands in several folds) are read with a warning.

    Parameters
    ----------
    path : str or Path
        The file.
    identifiers : sequence
        Those of the examples, in their order.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.evaluation.folds import read_folds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "folds.txt")
    ...     _ = path.write_text("|courses\\n|||\\nc1\\nc2\\n|||\\nc3\\n")
    ...     [fold.test.tolist() for fold in read_folds(path, ["c1", "c2", "c3"])]
    [[0, 1], [2]]
    """
    row_of = {str(one): row for row, one in enumerate(identifiers)}
    parts: list[list[int]] = [[]]
    for line, text in enumerate(read_whole(Path(path)).decode("utf-8").splitlines(), start=1):
        name = text.strip()
        if not name or set(name) == {"|"}:
            parts.append([])
        elif not name.startswith("|"):
            if name not in row_of:
                raise FileFormatError(f"there is no example {name!r}{did_you_mean(name, row_of)}", path=path, line=line)
            parts[-1].append(row_of[name])
    tests = [np.unique(part) for part in parts if part]
    if len(tests) < 2:
        raise FileFormatError("there are fewer than two folds: empty lines or ||| divide them", path=path)
    every = np.unique(np.concatenate(tests))
    if sum(map(len, parts)) > len(every):
        warnings.warn(
            f"{path}: {sum(map(len, parts))} entries of {len(every)} examples: the folds are no partition; an example "
            "does not train in the folds that test it",
            DataWarning,
            stacklevel=2,
        )
    return [Fold(np.setdiff1d(every, test), test, None, f"fold={i}") for i, test in enumerate(tests)]


def labelled_folds(dataset: Dataset, n_folds: int, random_state: RandomState = None) -> list[Fold]:
    """Return folds whose test parts are the labelled examples; all unlabelled ones train each time.

    Groups of examples (`Dataset.groups`), such as copies, stay in one fold.

    Parameters
    ----------
    dataset : Dataset
        The data; without target all its examples are dealt into folds.
    n_folds : int
        Number of folds.
    random_state : None, int, RandomState or Generator
        The seed.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.folds import labelled_folds
    >>> data = om.datasets.load_sample("iris").keep_labels(30, random_state=0)
    >>> [(len(fold.train), len(fold.test)) for fold in labelled_folds(data, 3, random_state=0)]
    [(140, 10), (140, 10), (140, 10)]
    """
    known = np.arange(dataset.n_examples) if dataset.target is None else np.flatnonzero(dataset.labelled)
    folds = make_folds(dataset.take(known), "cross-validation", n_folds=n_folds, random_state=random_state)
    return [Fold(_others(known[fold.test], dataset), known[fold.test], None, fold.key) for fold in folds]


def splitter_folds(dataset: Dataset, cv: Any) -> list[Fold]:
    """Return the folds into which a splitter of scikit-learn divides the labelled examples; all others train.

    Parameters
    ----------
    dataset : Dataset
        The data; without target all examples are divided. Groups that are given (`Dataset.with_groups`) go to the
        splitter.
    cv : splitter, or iterable of (train, test)
        Row numbers are among the labelled examples.

    Examples
    --------
    >>> import omnirank as om
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from omnirank.evaluation.folds import splitter_folds
    >>> [len(fold.test) for fold in splitter_folds(om.datasets.load_sample("iris"), StratifiedKFold(3))]
    [50, 50, 50]
    """
    known = np.arange(dataset.n_examples) if dataset.target is None else np.flatnonzero(dataset.labelled)
    used = dataset.take(known)
    if isinstance(cv, str) or (not hasattr(cv, "split") and not hasattr(cv, "__iter__")):
        raise ParameterError("cv", cv, "give a splitter of scikit-learn, such as GroupKFold(5), or pairs of rows")
    pairs = cv.split(np.zeros((len(known), 1)), used.y, used.given_groups) if hasattr(cv, "split") else cv
    others = np.setdiff1d(np.arange(dataset.n_examples), known)
    folds = []
    for i, (train, test) in enumerate(pairs):
        rows = np.sort(np.concatenate([known[chosen_numbers(train, len(known))], others]))
        folds.append(Fold(rows, known[chosen_numbers(test, len(known))], None, f"fold={i}"))
    if not folds:
        raise ParameterError("cv", cv, "it gives no fold")
    return folds


def scheme_parameters(scheme: str) -> tuple[str, ...]:
    """Return the names of the parameters of a fold scheme.

    Examples
    --------
    >>> from omnirank.evaluation.folds import scheme_parameters
    >>> "n_folds" in scheme_parameters("cross-validation")
    True
    """
    return tuple(inspect.signature(_SCHEMES[scheme]).parameters)[1:]


def labelled_in_fold(n_labelled: int, n_folds: int, fold: int) -> int:
    """Return how many examples of a fold keep their labels, so that at most ``n_labelled`` do in all others together.

    Examples
    --------
    >>> from omnirank.evaluation.folds import labelled_in_fold
    >>> [labelled_in_fold(50, 10, i) for i in range(10)]
    [6, 6, 6, 6, 6, 5, 5, 5, 5, 5]
    """
    whole, rest = divmod(n_labelled, n_folds - 1)
    return whole + (fold < rest)


def _cross_validation(
    dataset: Dataset, n_folds: int = 10, repetitions: int = 1, stratify: bool = True, random_state: RandomState = None
) -> Iterator[Fold]:
    check("n_folds", n_folds, count(2, dataset.n_examples, "examples"))
    entropy = root_entropy(random_state)
    for repetition in _numbers(repetitions):
        tests = deal_folds(dataset, n_folds, stream(entropy, repetition), stratify)
        for i, test in enumerate(tests):
            yield Fold(_others(test, dataset), test, None, f"repetition={repetition} fold={i}")


def _split(
    dataset: Dataset,
    share: float = 2 / 3,
    repetitions: int = 1,
    stratify: bool = True,
    random_state: RandomState = None,
) -> Iterator[Fold]:
    entropy = root_entropy(random_state)
    # a data set of row numbers, so that the rule by which a Dataset is split exists once
    numbered = Dataset(np.arange(dataset.n_examples, dtype=np.float64)[:, None], dataset.target, task=dataset.task)
    groups = whole_groups(dataset, 2)
    numbered = numbered if groups is None else numbered.with_groups(groups)
    for repetition in _numbers(repetitions):
        parts = numbered.split(share, random_state=stream(entropy, repetition), stratify=stratify)
        train, test = (part.features.numeric[:, 0].astype(np.intp) for part in parts)
        yield Fold(train, test, None, f"repetition={repetition}")


def _semi_supervised(
    dataset: Dataset,
    labelled: Labelled = LABELLED_COUNTS,
    n_folds: int = 10,
    repetitions: int = 1,
    stratify: bool = True,
    random_state: RandomState = None,
) -> Iterator[Fold]:
    check("n_folds", n_folds, count(2, dataset.n_examples, "examples"))
    entropy = root_entropy(random_state)
    for repetition in _numbers(repetitions):
        rng = stream(entropy, repetition)
        tests = deal_folds(dataset, n_folds, rng, stratify)
        orders = [rng.permutation(test[dataset.labelled[test]]) for test in tests]
        in_training = round(sum(map(len, orders)) * (n_folds - 1) / n_folds)
        for n_labelled in _counts(labelled, in_training):
            kept = [order[: labelled_in_fold(n_labelled, n_folds, i)] for i, order in enumerate(orders)]
            for i, test in enumerate(tests):
                rows = np.sort(np.concatenate([part for j, part in enumerate(kept) if j != i]))
                key = f"L={n_labelled} repetition={repetition} fold={i}"
                yield Fold(_others(test, dataset), test, rows, key, n_labelled)


def _predefined(
    dataset: Dataset,
    test: Any,
    labelled: Labelled | None = None,
    repetitions: int = 1,
    random_state: RandomState = None,
) -> Iterator[Fold]:
    rows = np.unique(chosen_numbers(test, dataset.n_examples))
    if not 0 < len(rows) < dataset.n_examples:
        raise DataError(f"{len(rows)} of {dataset.n_examples} examples test: both parts need at least one example")
    train = _others(rows, dataset)
    if labelled is None:
        yield Fold(train, rows, None, "predefined")
        return
    entropy = root_entropy(random_state)
    for repetition in _numbers(repetitions):
        order = stream(entropy, repetition).permutation(train[dataset.labelled[train]])
        for n_labelled in _counts(labelled, len(order)):
            key = f"L={n_labelled} repetition={repetition}"
            yield Fold(train, rows, np.sort(order[:n_labelled]), key, n_labelled)


def _transductive(
    dataset: Dataset, labelled: Labelled = LABELLED_COUNTS, repetitions: int = 10, random_state: RandomState = None
) -> Iterator[Fold]:
    known = np.flatnonzero(dataset.labelled)
    counts = _counts(labelled, len(known))
    if max(counts) >= len(known):
        raise DataError(
            f"of {len(known)} labelled examples, {max(counts)} with labels leave none to test: give smaller numbers"
        )
    groups = whole_groups(dataset, 2)
    entropy = root_entropy(random_state)
    for repetition in _numbers(repetitions):
        order = stream(entropy, repetition).permutation(known)
        if groups is not None:  # one group at most is cut, so that the numbers are those asked for
            _, at, number = np.unique(groups[order], return_index=True, return_inverse=True)
            order = order[np.argsort(at[number], kind="stable")]
        for n_labelled in counts:
            kept, test = np.sort(order[:n_labelled]), np.sort(order[n_labelled:])
            key = f"L={n_labelled} repetition={repetition}"
            yield Fold(np.arange(dataset.n_examples), test, kept, key, n_labelled)


def _consecutive(dataset: Dataset, n_folds: int = 10, seed: int = 123) -> Iterator[Fold]:
    check("n_folds", n_folds, count(2, dataset.n_examples, "examples"))
    rows = list(range(dataset.n_examples))
    random.Random(seed).shuffle(rows)
    for i, part in enumerate(np.array_split(np.array(rows), n_folds)):
        test = np.sort(part)
        yield Fold(_others(test, dataset), test, None, f"fold={i}")


_SCHEMES: dict[str, Callable[..., Iterator[Fold]]] = {
    "cross-validation": _cross_validation,
    "split": _split,
    "predefined": _predefined,
    "semi-supervised": _semi_supervised,
    "transductive": _transductive,
    "consecutive": _consecutive,
}
SCHEMES = tuple(_SCHEMES)


def _others(test: np.ndarray, dataset: Dataset) -> np.ndarray:
    return np.setdiff1d(np.arange(dataset.n_examples), test)


def _numbers(repetitions: int) -> range:
    return range(check("repetitions", repetitions, count(1)))


def _counts(labelled: Labelled, n: int) -> list[int]:
    """Numbers of labelled examples; shares are of n."""
    check("labelled", labelled, listed(count(1) | share(above=0), or_one=True, different=True))
    numbers = [labelled] if isinstance(labelled, Real) else list(labelled)  # type: ignore[arg-type]
    counts = [int(one) if isinstance(one, Integral) else max(1, round(float(one) * n)) for one in numbers]
    if len(set(counts)) < len(counts):
        raise ParameterError("labelled", labelled, f"of {n} examples, two of these are the same number")
    return counts


def deal_folds(dataset: Dataset, n_folds: int, rng: np.random.Generator, stratify: bool = True) -> list[np.ndarray]:
    """Divide the examples into folds whose sizes differ by at most one (by a few for label sets, or by whole groups).

    Stratified means: every class has its share in every fold (classification); every label has (label sets, by
    iterative stratification [1]_); labelled and unlabelled examples have theirs (all tasks). Groups of examples
    (`Dataset.groups`: copies, by default) stay in one fold, by their first example; copies do where there are at least
    as many groups as folds.

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
    >>> from omnirank.evaluation.folds import deal_folds
    >>> data = om.Dataset(np.zeros((6, 1)), ["a", "b", "a", "b", "a", "b"])
    >>> [sorted(data.take(fold).y.tolist()) for fold in deal_folds(data, 3, np.random.default_rng(0))]
    [['a', 'b'], ['a', 'b'], ['a', 'b']]
    """
    groups = whole_groups(dataset, n_folds)
    if groups is not None:
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

    labels = sparse.csr_array(values[rows])
    return sparse.csc_array((labels == 1).astype(np.int8))


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
        label = int(np.argmin(np.where(left > 0, left, np.inf)))
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
