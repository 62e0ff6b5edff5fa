"""Who is paid for a test: the worked examples, and the variants."""

from __future__ import annotations

import numpy as np
import pytest

from omnirank.relational.paths import Feature, Step
from omnirank.relational.ranker import CreditRules, averaged, new_steps, tree_credits
from omnirank.trees.tree import Tree

STARS = Step("stars", ((0, 0),))
NATION = Step("nationID", ((0, 1),))
NAME = Step("nationName", ((0, 3),))
AGE = Step("age", ((0, 1),))

ROOT = Feature((STARS,), 2, ("mean",))
CHILD = Feature((STARS, NATION, NAME), 4, ("mode", "identity", "identity"))


def tree(feature, right, gain, weight, depth) -> Tree:
    n = len(feature)
    zeros = np.zeros(n)
    return Tree(
        np.array(feature, np.int32), zeros, np.array(right, np.int32), zeros.astype(bool), zeros.astype(np.int64),
        np.zeros(0, np.uint64), np.array(gain, float), np.array(weight, float), np.array(depth, np.int32), (None,) * 3,
    )  # fmt: skip


# 8 examples of classes (4, 2, 2); yes: (0, 2, 2), split into pure leaves; no: (4, 0, 0)
WORKED = tree([0, 1, -1, -1, -1], [4, 3, 0, 0, 0], [3, 2, 0, 0, 0], [8, 4, 2, 2, 4], [0, 1, 2, 2, 1])


def test_worked_example_symbolic():
    paid = tree_credits(WORKED, (ROOT, CHILD), CreditRules("symbolic"))
    assert paid.relations == {"stars": 1.0, "nationID": 0.25, "nationName": 0.25}
    assert paid.features.tolist() == [1.0, 0.5]


def test_worked_example_genie3():
    paid = tree_credits(WORKED, (ROOT, CHILD), CreditRules("genie3"))
    assert paid.relations == {"stars": 3.0, "nationID": 1.0, "nationName": 1.0}
    assert paid.aggregates == {"mean": 3.0, "identity": 2.0}
    assert paid.features.tolist() == [3.0, 2.0]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (CreditRules("symbolic", weighting="none"), {"stars": 1.0, "nationID": 0.5, "nationName": 0.5}),
        (CreditRules("genie3", weighting="none"), {"stars": 3 / 8, "nationID": 0.25, "nationName": 0.25}),
        (CreditRules("genie3", share="all"), {"stars": 3 + 2 / 3, "nationID": 2 / 3, "nationName": 2 / 3}),
        (CreditRules("genie3", credit="last-column"), {"stars": 3.0, "nationName": 2.0}),
        (CreditRules("genie3", share="all", credit="last-column"), {"stars": 3.0, "nationName": 2.0}),
    ],
)
def test_variants(rules, expected):
    assert tree_credits(WORKED, (ROOT, CHILD), rules).relations == pytest.approx(expected)


def test_a_relation_that_occurs_twice_is_paid_twice():
    again = Step("stars", ((1, 1),))
    feature = Feature((STARS, again, Step("stars", ((0, 3),))), 5, ("mean", "mean", "mean"))
    stump = tree([0, -1, -1], [2, 0, 0], [3, 0, 0], [4, 2, 2], [0, 1, 1])
    assert tree_credits(stump, (feature,), CreditRules("genie3")).relations == {"stars": 3.0}


def test_new_part():
    assert new_steps((STARS,), ()) == range(1)
    assert new_steps((STARS, NATION, NAME), (STARS, AGE)) == range(1, 3)  # backtracked to the first step
    assert new_steps((STARS, NATION), (STARS, NATION, NAME)) == range(1, 2)  # inherited as a whole: its last step
    assert new_steps((STARS,), (STARS,)) == range(1)  # as a column that is tested again
    assert new_steps((STARS, NATION), (Step("stars", ((1, 0),)), NATION)) == range(2)  # another binding


def test_trees_of_an_iteration_are_averaged():
    assert averaged([[1.0, 0.0], [3.0, 2.0], [0.0, 0.0], [2.0, 4.0]], 2).tolist() == [[2.0, 1.0], [1.0, 2.0]]
