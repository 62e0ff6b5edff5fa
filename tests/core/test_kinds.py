"""Kernel steps that are written once per kind: one that lacks a kind is told when kernels are imported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import omnirank
from omnirank.core.compiled import Kinds, dispatched


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


def test_all_steps_of_trees_know_all_kinds():
    from omnirank.trees.kernels.grow import SPACES
    from omnirank.trees.kernels.sparse import CELL_SPACES, CELLS

    for kinds in (SPACES, CELL_SPACES, CELLS):
        with pytest.raises(TypeError, match="not written for Apple"):
            kinds.require(Apple)


PACKAGE = Path(omnirank.__file__).parent
IMPORTED = re.compile(r"^\s*(?:from|import) (omnirank[\w.]*)", re.MULTILINE)


def test_kernels_import_kernels_only():
    # the hash of these folders names the compiled code: what stood elsewhere could change unnoticed
    for path in PACKAGE.glob("*/kernels/*.py"):
        for module in IMPORTED.findall(path.read_text()):
            assert ".kernels." in f"{module}." or module == "omnirank.core.compiled", f"{path.name} imports {module}"


def test_only_kernels_compile():
    users = [p for p in PACKAGE.rglob("*.py") if "omnirank.core.compiled" in IMPORTED.findall(p.read_text())]
    assert {p.parent.name for p in users} == {"kernels"}
