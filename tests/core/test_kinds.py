"""Kernel steps that are written once per kind: one that lacks a kind is told when kernels are imported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numba
import pytest

import omnirank
from omnirank.core.compiled import Kinds, No, Yes, dispatched


class Apple(NamedTuple):
    weight: int


class Pear(NamedTuple):
    weight: int


def test_a_step_without_a_kind_is_named():
    fruit = Kinds("kinds of fruit")

    @dispatched(fruit)
    def peel(one):
        """Peel it."""

    @peel.kind(Apple)
    def _peel_apple(one):
        return one.weight - 1

    fruit.require(Apple)
    with pytest.raises(TypeError, match="kernel step peel is not written for Pear, one of the kinds of fruit"):
        fruit.require(Apple, Pear)
    assert peel(Apple(3)) == 2


class Basket(NamedTuple):
    weight: int
    full: Yes | No


def test_flags_choose_a_step_that_is_copied_or_called():
    @dispatched(Kinds("baskets"), 0, "full")
    def carry(basket):
        """Carry it."""

    @carry.kind((Yes,))
    def _carry_full(basket):
        return basket.weight

    @carry.called((No,))
    def _carry_empty(basket):
        return 0

    @numba.njit
    def kernel(basket):
        return carry(basket)

    for step in (carry, kernel):
        assert [step(Basket(3, full)) for full in (Yes(), No())] == [3, 0]


def test_all_steps_of_trees_know_all_kinds():
    from omnirank.trees.kernels import cells, grow, search_all
    from omnirank.trees.kernels.labels import LabelSets
    from omnirank.trees.kernels.partial_targets import DenseBlocks, TwoParts
    from omnirank.trees.kernels.spaces import SPACES, DenseColumns, GramColumns, OneColumn

    assert grow.grow_nodes  # imports all steps
    codes = (search_all.NumericCodes, search_all.MixedCodes)
    draws = (search_all.NumericDraws, search_all.RowDraws, search_all.ListedDraws, search_all.MixedDraws)
    known = {
        SPACES: (OneColumn, DenseColumns, GramColumns, LabelSets, DenseBlocks, TwoParts),
        cells.CELL_SPACES: (OneColumn, DenseColumns, LabelSets, cells.SparseRows, TwoParts),
        search_all.CODES: codes + draws,
    }
    for kinds, classes in known.items():
        kinds.require(*classes)
        with pytest.raises(TypeError, match="not written for Apple"):
            kinds.require(Apple)


PACKAGE = Path(omnirank.__file__).parent
COMPILER = "omnirank.core.compiled", "omnirank.core.numba_internals"
IMPORTED = re.compile(r"^\s*(?:from|import) (omnirank[\w.]*)", re.MULTILINE)


def test_kernels_import_kernels_only():
    # the hash of these folders names the compiled code: what stood elsewhere could change unnoticed
    for path in PACKAGE.glob("*/kernels/*.py"):
        for module in IMPORTED.findall(path.read_text()):
            assert ".kernels." in f"{module}." or module in COMPILER, f"{path.name} imports {module}"


def test_only_kernels_compile():
    users = [p for p in PACKAGE.rglob("*.py") if "omnirank.core.compiled" in IMPORTED.findall(p.read_text())]
    assert {p.parent.name for p in users} == {"kernels"}
