"""Codes of the constructed features of one path, which trees are grown on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from omnirank.data.table import Levels, Table
from omnirank.relational.aggregation import NONE_LEVEL
from omnirank.trees.codes import DenseFeatures, code_features

# Bytes of the values that are computed at a time; codes, which are kept, take a quarter of that.
_VALUES_AT_ONCE = 2**26


@dataclass(frozen=True, eq=False)
class CodedBlock:
    """The features of one path, coded (see :class:`omnirank.trees.codes.DenseFeatures`).

    Attributes
    ----------
    features : tuple of Feature
        The features.
    codes : ndarray (features, rows)
        Their codes; only the order of those of numbers matters.
    levels : tuple
        Levels of each, None for a number.
    distinct : ndarray of bool
        Features of which all cells are known to differ.
    """

    features: tuple[Any, ...]
    codes: np.ndarray
    levels: tuple[Levels | None, ...]
    distinct: np.ndarray

    @cached_property
    def n_levels(self) -> np.ndarray:
        """Number of levels of each feature, 0 for a numeric one."""
        return np.array([len(levels or ()) for levels in self.levels], np.int32)

    @property
    def n_bytes(self) -> int:
        """Memory of its codes."""
        return self.codes.nbytes

    def take(self, rows: np.ndarray) -> CodedBlock:
        """Return the block of some rows. "Nothing" is a level only where one of them has it."""
        codes = self.codes[:, rows]
        levels = list(self.levels)
        for i, known in enumerate(levels):
            if known is not None and known[-1] == NONE_LEVEL and not (codes[i] == len(known) - 1).any():
                levels[i] = known[:-1]
        return replace(self, codes=codes, levels=tuple(levels))


def group_key(features: tuple[Any, ...]) -> tuple[Any, int]:
    """Return what tells a group from others: where there is no room for all features of a path, it has the first ones.

    Examples
    --------
    >>> from omnirank.relational.coded_blocks import group_key
    >>> from omnirank.relational.paths import Feature, Step
    >>> group_key((Feature((Step("age", ((0, 0),)),), 1, ("identity",)),))
    ((Step(relation='age', bound=((0, 0),), constants=()),), 1)
    """
    return features[0].path, len(features)


def code_groups(
    groups: Sequence[tuple[Any, ...]], columns: Callable[[list[Any]], Table], n_rows: int
) -> list[CodedBlock]:
    """Code the features of some paths, as many at a time as there is room for their values.

    Parameters
    ----------
    groups : sequence of tuple of Feature
        The features, path by path.
    columns : callable
        Returns the values of features.
    n_rows : int
        Number of examples.
    """
    found: list[CodedBlock] = []
    most = max(1, _VALUES_AT_ONCE // (8 * max(n_rows, 1)))
    waiting: list[tuple[Any, ...]] = []
    n_waiting = 0
    for group in groups:
        if waiting and n_waiting + len(group) > most:
            found += _coded(waiting, columns)
            waiting, n_waiting = [], 0
        waiting.append(group)
        n_waiting += len(group)
    return found + _coded(waiting, columns) if waiting else found


def _coded(groups: list[tuple[Any, ...]], columns: Callable[[list[Any]], Table]) -> list[CodedBlock]:
    table = columns([feature for group in groups for feature in group])
    coded = code_features(table, n_jobs=1)  # a part of what workers do
    assert isinstance(coded, DenseFeatures)
    found, start = [], 0
    for group in groups:
        part = slice(start, start + len(group))
        # copied: a view would keep the codes of all groups
        found.append(CodedBlock(group, coded.codes[part].copy(), table.levels[part], coded.distinct[part].copy()))
        start += len(group)
    return found
