"""What may be constructed from the examples of a relational data set, and trees over what was used of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omnirank.data.table import Levels, Table
from omnirank.relational.bias import Bias
from omnirank.relational.candidates import candidates
from omnirank.relational.columns import feature_columns
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.paths import Feature, Path
from omnirank.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class RelationalConstruction:
    """Features over the examples of a data set, within a bias.

    Parameters
    ----------
    dataset : RelationalDataset
        The examples.
    bias : Bias
        What may be constructed.
    """

    dataset: RelationalDataset
    bias: Bias

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return self.dataset.n_examples

    def candidates(self, inherited: Path) -> Sequence[Feature]:
        """Return the features that a node with this inherited path may test."""
        return candidates(self.dataset.database, self.dataset.example_types, inherited, self.bias)

    def columns(self, features: Sequence[Feature]) -> Table:
        """Return the values of features."""
        return feature_columns(self.dataset, features)


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
