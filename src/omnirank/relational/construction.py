"""What may be constructed from the examples of a relational data set, and trees over what was used of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from omnirank.data.table import Levels, Table
from omnirank.relational.bias import Bias
from omnirank.relational.candidates import candidates_by_path, continued_part, warn_of_cut
from omnirank.relational.coded_blocks import CodedBlock, code_groups, group_key
from omnirank.relational.columns import empty_as_missing, feature_columns
from omnirank.relational.database import Database
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.evaluation import FEW, MEMORY
from omnirank.relational.paths import Feature, Path
from omnirank.relational.value_cache import ValueCache, value_cache
from omnirank.relational.wording import describe
from omnirank.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class RelationalConstruction:
    """Features over the examples of a data set, within a bias; what workers need of the data set, and no more.

    Parameters
    ----------
    database : Database
        The relations.
    example_types : tuple of str
        Types of the objects that identify an example.
    example_codes : tuple of ndarray
        Codes of these objects.
    times : ndarray or None
        Cut-off time of each example.
    bias : Bias
        What may be constructed.
    undefined_are_missing : bool
        Whether values of nothing are missing cells, of which a test learns where they go, and no extreme values.
    told : list of str
        What the user was told of, once per fit and not once per node.
    """

    database: Database
    example_types: tuple[str, ...]
    example_codes: tuple[np.ndarray, ...]
    times: np.ndarray | None
    bias: Bias
    undefined_are_missing: bool = False
    told: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, dataset: RelationalDataset, bias: Bias, undefined_are_missing: bool = False) -> RelationalConstruction:
        """Return what may be constructed from the examples of a data set."""
        examples = dataset.example_types, dataset.example_codes, dataset.times
        return cls(dataset.database, *examples, bias, undefined_are_missing)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return len(self.example_codes[0])

    def continued_part(self, path: Path) -> Path:
        """Return the part of an inherited path that matters."""
        return continued_part(self.database, self.example_types, path, self.bias)

    def candidates(self, inherited: Path) -> list[tuple[Feature, ...]]:
        """Return the features that a node with this inherited path may test, path by path and without names."""
        groups, is_cut = candidates_by_path(self.database, self.example_types, inherited, self.bias, named=False)
        if is_cut and "cut" not in self.told:
            self.told.append("cut")
            warn_of_cut(self.bias)
        return groups

    def coded(self, groups: Sequence[tuple[Feature, ...]]) -> list[CodedBlock]:
        """Return the codes of the features of some paths.

        Where many of the objects are examples, all objects are coded, and the codes are kept with the database: other
        folds of the same examples take theirs.
        """
        if not self._are_most_objects:
            return code_groups(groups, self.columns, self.n_examples)
        kind, n_objects = self.example_types[0], self.database.n_objects(self.example_types[0])
        every = replace(self, example_codes=(np.arange(n_objects, dtype=np.int32),), times=None)
        same = (
            "block",
            kind,
            self.bias.preset,
            self.bias.allowed,
            self.bias.dedupe_functional,
            self.undefined_are_missing,
        )
        cache: ValueCache[CodedBlock] = value_cache(self.database, MEMORY, "blocks")
        found = [cache.get((*same, group_key(group))) for group in groups]
        new = [group for group, block in zip(groups, found, strict=True) if block is None]
        made = iter(code_groups(new, every.columns, n_objects))
        blocks = []
        for group, block in zip(groups, found, strict=True):
            if block is None:
                block = next(made)
                cache.put((*same, group_key(group)), block)
            blocks.append(block.take(self.example_codes[0]))
        return blocks

    @cached_property
    def _are_most_objects(self) -> bool:
        """Whether at least one of a few objects is an example, and what is known of it is always the same."""
        if len(self.example_types) > 1 or not (self.times is None or np.isposinf(self.times).all()):
            return False
        codes = self.example_codes[0]
        return bool((codes >= 0).all()) and FEW * len(codes) >= self.database.n_objects(self.example_types[0])

    def columns(self, features: Sequence[Feature]) -> Table:
        """Return the values of features."""
        table = feature_columns(self, features, named=False)
        return empty_as_missing(table) if self.undefined_are_missing else table


@dataclass(frozen=True, eq=False)
class UsedFeatures:
    """The features that the trees of an ensemble test, in the order of their first use.

    Attributes
    ----------
    features : tuple of Feature
        The features.
    levels : tuple
        Levels of each, None for a number.
    """

    features: tuple[Feature, ...]
    levels: tuple[Levels | None, ...]

    def described(self, database: Database, example_types: tuple[str, ...]) -> UsedFeatures:
        """Return the features with their names and sentences."""
        return replace(self, features=tuple(describe(database, example_types, f) for f in self.features))

    @property
    def header(self) -> Table:
        """A table of these features, named by their sentences, without rows."""
        nominal = np.array([levels is not None for levels in self.levels], bool)
        blocks = np.empty((0, int((~nominal).sum()))), np.empty((0, int(nominal.sum())), np.int32)
        return Table(distinct_names([feature.sentence for feature in self.features]), self.levels, *blocks)


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that differ: features whose sentences are the same are numbered.

    Examples
    --------
    >>> from omnirank.relational.construction import distinct_names
    >>> distinct_names(["count of its bonds", "charge", "count of its bonds"])
    ('count of its bonds', 'charge', 'count of its bonds (2)')
    """
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(found)


def over_used_features(grown: Sequence[tuple[Tree, tuple[Any, ...]]]) -> tuple[list[Tree], UsedFeatures]:
    """Return trees over the features that any of them tests, and these features.

    Parameters
    ----------
    grown : sequence of (Tree, tuple of Feature)
        Trees, each over the features that it tests itself.
    """
    number: dict[Any, int] = {}
    levels: list[Levels | None] = []
    for tree, features in grown:
        for feature, own in zip(features, tree.levels, strict=True):
            if feature not in number:
                number[feature] = len(number)
                levels.append(own)
    everywhere = tuple(levels)
    trees = []
    for tree, features in grown:
        numbers = np.array([number[feature] for feature in features] + [-1], np.int32)
        trees.append(replace(tree, feature=numbers[tree.feature], levels=everywhere))
    return trees, UsedFeatures(tuple(number), everywhere)
