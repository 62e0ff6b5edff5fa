"""Examples as matrices whose products are weighted squared distances, beside the cells that give them exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.data.table import Table
from omnirank.neighbors.cells import feature_ranges

__all__ = ["DenseExamples", "SparseExamples", "weighted_examples"]

# Shares of stored cells up to which products of sparse matrices are faster than those of dense ones.
_SPARSE_SHARE = 0.03


def weighted_examples(train: Table, test: Table, weights: np.ndarray) -> DenseExamples | SparseExamples:
    """Return test and training examples ready for products; weights are positive, the largest is 1."""
    if _stays_sparse(train) and _stays_sparse(test):
        return SparseExamples.of(train, test, weights)
    return DenseExamples.of(train, test, weights)


def _stays_sparse(table: Table) -> bool:
    """Whether distances are squared differences of stored cells: no missing cell, no level but absent or 1."""
    if not table.is_sparse or table.n_missing:
        return False
    if any(levels is not None and len(levels) > 2 for levels in table.levels):
        return False
    return bool(table.matrix.nnz <= _SPARSE_SHARE * max(1, table.n_rows * table.n_columns))


@dataclass(frozen=True, eq=False)
class SparseExamples:
    """Sparse examples without missing cells: cells times the square roots of their weights, over their ranges.

    Parameters
    ----------
    test, train : csr_array
        The cells.
    """

    test: Any
    train: Any

    @classmethod
    def of(cls, train: Table, test: Table, weights: np.ndarray) -> SparseExamples:
        """Weigh the cells of both tables, by the ranges of the training table."""
        scale = np.sqrt(weights)
        numeric = np.flatnonzero(~train.is_nominal)
        numbers = train.matrix[:, numeric]
        # halves, because the difference of two numbers may be infinite
        high, low = (np.asarray(ends(axis=0).todense()).ravel() * 0.5 for ends in (numbers.max, numbers.min))
        span = 2 * (high - low) if train.n_rows else np.zeros(len(numeric))
        scale[numeric] *= np.divide(1.0, span, out=np.zeros(len(span)), where=span > 0)
        return cls(*(_scaled(table.matrix, scale) for table in (test, train)))

    def pairs(self) -> Any:
        """Return the cells from which exact distances are computed."""
        from omnirank.neighbors._kernels_nearest import SparsePairs

        parts = ((m.indptr.astype(np.int64), m.indices.astype(np.int64), m.data) for m in (self.test, self.train))
        return SparsePairs(*(array for part in parts for array in part))

    @cached_property
    def offsets(self) -> np.ndarray:
        """What is added to the rough distances of each test example."""
        return _row_sums(self.test)

    @cached_property
    def _transposed(self) -> tuple[Any, np.ndarray]:
        return self.train.T.tocsr(), _row_sums(self.train)

    def prepare(self, precision: Any, width: int) -> None:
        """Make what `rough` needs, before several workers ask for it."""
        assert precision == np.float64
        assert len(self._transposed[1])

    def errors(self, precision: Any) -> np.ndarray:
        """Largest error of the rough distances of each test example."""
        n_terms = int(np.diff(self.test.indptr).max(initial=0))
        largest = self._transposed[1].max(initial=0.0)
        bound = 2 * np.sqrt(self.offsets * largest) + largest + self.offsets
        return (n_terms + 8) * np.finfo(precision).eps * bound + 1e-30

    def rough(self, rows: np.ndarray, precision: Any, width: int) -> np.ndarray:
        """Approximate distances of test examples, in lanes of that width."""
        others, sizes = self._transposed
        n_blocks = -(-len(sizes) // width)
        found = np.full((len(rows), n_blocks * width), np.inf)
        found[:, : len(sizes)] = (self.test[rows] @ others).toarray()
        found[:, : len(sizes)] *= -2
        found[:, : len(sizes)] += sizes
        return found.reshape(-1, width)

    @property
    def precisions(self) -> tuple[Any, ...]:
        """In which precisions distances are sought, one after the other."""
        return (np.float64,)


def _scaled(matrix: Any, scale: np.ndarray) -> Any:
    found = (matrix @ sparse.diags_array(scale)).tocsr().astype(np.float64)
    found.sort_indices()
    return found


def _row_sums(matrix: Any) -> np.ndarray:
    """Sums of squares of the rows."""
    return np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()


@dataclass(frozen=True, eq=False)
class DenseExamples:
    """Dense examples of any kind.

    Parameters
    ----------
    test, train : ndarray
        Halves of the numbers (so that no range overflows), NaN where missing.
    test_codes, train_codes : ndarray of int32
        Levels, -1 where missing.
    low, span, weight : ndarray
        Smallest number and range (halves) in training, and weight, of each number.
    level_weight : ndarray
        Weight of each nominal feature.
    n_levels : ndarray of int
        Its number of levels.
    """

    test: np.ndarray
    train: np.ndarray
    test_codes: np.ndarray
    train_codes: np.ndarray
    low: np.ndarray
    span: np.ndarray
    weight: np.ndarray
    level_weight: np.ndarray
    n_levels: np.ndarray

    @classmethod
    def of(cls, train: Table, test: Table, weights: np.ndarray) -> DenseExamples:
        """Read the cells of both tables; features that no training example knows are left out."""
        ranges = feature_ranges(train)
        numeric, nominal = np.flatnonzero(~train.is_nominal), np.flatnonzero(train.is_nominal)
        n_levels = np.array([len(train.levels[i] or ()) for i in nominal.tolist()], np.int64)
        known, several = ~np.isnan(ranges.span), n_levels > 1
        far, near = (_numbers(table, numeric[known]) for table in (test, train))
        far_codes, near_codes = (_codes(table, nominal[several]) for table in (test, train))
        low, span, weight = ranges.low[known], ranges.span[known], weights[numeric][known]
        with np.errstate(over="ignore", divide="ignore"):
            tiny = (span > 0) & ~np.isfinite(1 / span)
        if tiny.any():  # ranges too small for a factor: cells are scaled beforehand
            for cells in (far, near):
                cells[:, tiny] = (cells[:, tiny] - low[tiny]) / span[tiny]
            low, span = np.where(tiny, 0.0, low), np.where(tiny, 1.0, span)
        level_weight = weights[nominal][several]
        return cls(far, near, far_codes, near_codes, low, span, weight, level_weight, n_levels[several])

    @cached_property
    def _factor(self) -> np.ndarray:
        return np.divide(np.sqrt(self.weight), self.span, out=np.zeros(len(self.span)), where=self.span > 0)

    @cached_property
    def _level_missing(self) -> np.ndarray:
        return self.level_weight * (1 - 1 / self.n_levels) ** 2

    def pairs(self) -> Any:
        """Return the cells from which exact distances are computed."""
        from omnirank.neighbors._kernels_nearest import DensePairs

        complete = not (np.isnan(self.test).any() or np.isnan(self.train).any())
        return DensePairs(
            self.test,
            self.train,
            self.test_codes,
            self.train_codes,
            self._factor,
            self.low,
            self.span,
            self.weight,
            self.level_weight,
            self._level_missing,
            np.int64(complete),
        )

    # -- products ---------------------------------------------------------------------------------------

    @cached_property
    def _masks(self) -> tuple[np.ndarray, np.ndarray]:
        return np.isnan(self.test), np.isnan(self.train)

    @cached_property
    def _center(self) -> np.ndarray:
        known = ~self._masks[1]
        return np.where(known, self.train, 0.0).sum(axis=0, dtype=np.float64) / np.maximum(known.sum(axis=0), 1)

    def _sides(self, part: int, precision: Any) -> tuple[np.ndarray, np.ndarray]:
        r"""Matrix of the test (0) or training (1) examples, last column 1, and what is added to the distances of each.

        A number contributes :math:`(v - v')^2 + g m' + m (g' + w m')`, where v is the centred number times its factor
        (0 if missing), m the mask of missing cells and :math:`g = w \max(t, 1 - t)^2 - v^2` (0 if missing); with both
        missing, w. A level contributes :math:`|h - h'|^2 + (u - w / 2)(m + m') + (w - u) m m'`, where h is its
        one-hot vector times :math:`\sqrt{w / 2}`, 0 if missing, and :math:`u = w (1 - 1 / |X|)^2`.
        """
        numbers, codes = ((self.test, self.test_codes), (self.train, self.train_codes))[part]
        missing = self._masks[part]
        v = numbers - self._center
        v *= self._factor
        v[missing] = 0.0
        offsets = np.einsum("ij,ij->i", v, v)
        sign = 1.0 if part else -2.0
        parts, known = [sign * v], codes >= 0
        if codes.shape[1]:
            hot = self._one_hot(codes)
            offsets += (hot**2).sum(axis=1) + (~known) @ (self._level_missing - self.level_weight / 2)
            parts.append(sign * hot)
        some = np.flatnonzero(self._masks[0].any(axis=0) | self._masks[1].any(axis=0))
        if len(some):
            m = missing[:, some].astype(np.float64)
            t = (numbers[:, some] - self.low[some]) / np.where(self.span[some] > 0, self.span[some], np.inf)
            g = self.weight[some] * np.maximum(t, 1 - t) ** 2 - v[:, some] ** 2
            g = np.where(missing[:, some], 0.0, g)
            parts += [m, g + self.weight[some] * m] if part else [g, m]
        unknown = np.flatnonzero((self.test_codes < 0).any(axis=0) | (self.train_codes < 0).any(axis=0))
        if len(unknown):
            both = np.sqrt(self.level_weight - self._level_missing)[unknown]
            parts.append(~known[:, unknown] * both)
        matrix = np.ones((len(numbers), sum(block.shape[1] for block in parts) + 1), precision)
        start = 0
        for block in parts:
            matrix[:, start : start + block.shape[1]] = block
            start += block.shape[1]
        return matrix, offsets

    def _one_hot(self, codes: np.ndarray) -> np.ndarray:
        start = np.concatenate([[0], np.cumsum(self.n_levels)]).astype(np.int64)
        hot = np.zeros((len(codes), start[-1]))
        rows, columns = np.nonzero(codes >= 0)
        hot[rows, start[columns] + codes[rows, columns]] = np.sqrt(self.level_weight / 2)[columns]
        return hot

    @cached_property
    def _matrices(self) -> dict[Any, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        return {}

    @property
    def offsets(self) -> np.ndarray:
        """What is added to the rough distances of each test example."""
        return next(iter(self._matrices.values()))[2]

    def prepare(self, precision: Any, width: int) -> None:
        """Make the matrices of one precision; the last column adds what belongs to the training examples."""
        if precision in self._matrices:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            (test, offsets), (train, sizes) = self._sides(0, precision), self._sides(1, precision)
        n_train = len(train)
        wide = np.zeros((train.shape[1], -(-n_train // width) * width), precision)
        wide[:, :n_train] = train.T
        with np.errstate(over="ignore"):
            wide[-1, :n_train] = sizes
        wide[-1, n_train:] = np.inf
        self._matrices[precision] = test, wide, offsets

    def errors(self, precision: Any) -> np.ndarray:
        """Largest error of the rough distances of each test example.

        A sum of n products rounded n times is wrong by at most n eps times the sum of their absolute values, which is
        at most the product of the norms.
        """
        rows, wide, _ = self._matrices[precision]
        n_train = len(self.train)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.sqrt(np.einsum("ij,ij->i", rows[:, :-1], rows[:, :-1], dtype=np.float64))
            others = wide[:-1, :n_train]
            largest = np.sqrt(np.einsum("ij,ij->j", others, others, dtype=np.float64).max(initial=0.0))
            bound = norms * largest + np.abs(wide[-1, :n_train]).max(initial=0.0) + np.abs(self.offsets)
            return (len(wide) + 8) * np.finfo(precision).eps * bound.astype(np.float64) + 1e-30

    def rough(self, rows: np.ndarray, precision: Any, width: int) -> np.ndarray:
        """Approximate distances of test examples, in lanes of that width."""
        test, train, _ = self._matrices[precision]
        chosen = test[rows[0] : rows[-1] + 1] if rows[-1] - rows[0] == len(rows) - 1 else test[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            return np.matmul(chosen, train).reshape(-1, width)

    @property
    def precisions(self) -> tuple[Any, ...]:
        """In which precisions distances are sought, one after the other."""
        return np.float32, np.float64


def _numbers(table: Table, columns: np.ndarray) -> np.ndarray:
    """Halves of numbers, dense."""
    part = table.select(columns)
    cells = part.matrix.toarray() if part.is_sparse else part.numeric
    return np.ascontiguousarray(cells * 0.5, dtype=np.float64)


def _codes(table: Table, columns: np.ndarray) -> np.ndarray:
    if not len(columns):
        return np.empty((table.n_rows, 0), np.int32)
    return np.column_stack([table.column(i) for i in columns.tolist()]).astype(np.int32)
