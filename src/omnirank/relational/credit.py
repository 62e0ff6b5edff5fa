"""Who is paid for a test: the relations of its path, its tables, its aggregates, and the feature itself.

A constructed feature may become useless when any of its relations is dropped, so all relations of the part that a node
adds share the reward of the node. What the node inherits was paid above. With f(N) the test of node N of a tree T,

    Symbolic(r) = 1/|Ens| sum_T sum_N P[r | N] |E(N)| / |E|,    Genie3(r) = 1/|Ens| sum_T sum_N P[r | N] h*(N)

where P[r | N] is the share of relation r among the steps of the new part: those after the longest common prefix of the
test's path and of the path that N inherits. At least the last step is new: a path that is inherited as a whole is paid
for its last step again, as a column that is tested again is in a single table.

References
----------
Petkovic, Ceci, Pio, Skrlj, Kersting, Dzeroski: Relational tree ensembles and feature rankings. Knowledge-Based Systems
251, 2022.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.parameters import Domain, check_all, choice
from omnirank.relational.database import Relation
from omnirank.relational.paths import Feature, Path, Step
from omnirank.trees.prototypes import parents_of
from omnirank.trees.tree import Tree

IMPORTANCES = ("genie3", "symbolic")

CREDIT: Mapping[str, Domain] = {
    "importance": choice(*IMPORTANCES),
    "weighting": choice("examples", "none"),
    "share": choice("new", "all"),
    "credit": choice("steps", "last-column"),
    "inherit": choice("both", "yes_only"),
}


@dataclass(frozen=True)
class CreditRules:
    """How the reward of a node is measured and shared.

    Parameters
    ----------
    importance : {"genie3", "symbolic"}
        The reward: how much impurity the test takes away, h*, or the share of examples that reach the node.
    weighting : {"examples", "none"}
        Whether nodes count by their examples: h* is a sum over them. "none" divides h* by their weight, and makes the
        symbolic reward 1.
    share : {"new", "all"}
        Who shares it: the steps that the node adds, or all steps of its path.
    credit : {"steps", "last-column"}
        Whether these steps share equally, or the last one, whose values are aggregated, takes all: relations that only
        link tables then take nothing from the columns behind them.
    inherit : {"both", "yes_only"}
        Which paths nodes inherit, as in the learners.
    """

    importance: str = "genie3"
    weighting: str = "examples"
    share: str = "new"
    credit: str = "steps"
    inherit: str = "both"

    def __post_init__(self) -> None:
        check_all(vars(self), CREDIT)


class NodeCredit(NamedTuple):
    """The reward of a node, and the steps of its feature's path that share it."""

    feature: int
    steps: range
    reward: float


def new_steps(path: Path, inherited: Path) -> range:
    """Return the numbers of the steps that a path adds to what is inherited; the last one always.

    Examples
    --------
    >>> from omnirank.relational.credit import new_steps
    >>> from omnirank.relational.paths import Step
    >>> stars, user, age = Step("stars", ((0, 0),)), Step("user", ((0, 1),)), Step("age", ((0, 2),))
    >>> new_steps((stars, user, age), (stars,)), new_steps((stars,), (stars, user)), new_steps((age,), (stars,))
    (range(1, 3), range(0, 1), range(0, 1))
    """
    shared = 0
    while shared < min(len(path) - 1, len(inherited)) and path[shared] == inherited[shared]:
        shared += 1
    return range(shared, len(path))


def inherited_paths(tree: Tree, features: Sequence[Feature], inherit: str = "both") -> list[Path]:
    """Return the path that each node of a tree inherits; empty for the root."""
    found: list[Path] = [()] * tree.n_nodes
    parent = parents_of(tree)
    for node in range(1, tree.n_nodes):
        above = int(parent[node])
        goes_on = True
        if inherit == "yes_only":  # the heavier child, the left one of two equal ones
            left, right = tree.weight[above + 1], tree.weight[tree.right[above]]
            goes_on = bool(left >= right) == (node == above + 1)
        found[node] = features[tree.feature[above]].path if goes_on else found[above]
    return found


def node_credits(tree: Tree, features: Sequence[Feature], rules: CreditRules) -> Iterator[NodeCredit]:
    """Yield what the tests of a tree are paid, node by node.

    Parameters
    ----------
    tree : Tree
        The tree.
    features : sequence of Feature
        What it tests, by number.
    rules : CreditRules
        How rewards are shared.
    """
    inner = np.flatnonzero(~tree.is_leaf)
    if rules.importance == "genie3":
        reward = tree.gain if rules.weighting == "examples" else tree.gain / tree.weight
    else:
        reward = tree.weight / tree.weight[0] if rules.weighting == "examples" else np.ones(tree.n_nodes)
    above = inherited_paths(tree, features, rules.inherit)
    for node in inner.tolist():
        number = int(tree.feature[node])
        path = features[number].path
        paid = range(len(path)) if rules.share == "all" else new_steps(path, above[node])
        if rules.credit == "last-column":
            paid = paid[-1:]
        yield NodeCredit(number, paid, float(reward[node]))


class Credits(NamedTuple):
    """What the relations, the aggregates, the ways of using a relation and the features of one tree are paid."""

    relations: dict[str, float]
    aggregates: dict[str, float]
    bindings: dict[str, float]
    features: np.ndarray


def binding_name(step: Step, relation: Relation, n_example: int) -> str:
    """Return the name of a relation with what its places hold when a step uses it.

    ``example`` is a variable of the example, ``old`` one that an earlier step has introduced, ``new`` one that this
    step introduces, ``c`` a constant.

    Parameters
    ----------
    step : Step
        The step.
    relation : Relation
        Its relation.
    n_example : int
        Number of variables that identify an example.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.relational.credit import binding_name
    >>> from omnirank.relational.paths import Step
    >>> ratings = om.datasets.make_movies(random_state=0).database.relations["ratings_movie_id"]
    >>> binding_name(Step("ratings_movie_id", ((1, 0),)), ratings, 1)
    'ratings_movie_id[new,example]'
    """
    words = ["new"] * len(relation.components)
    for position, variable in step.bound:
        words[position] = "example" if variable < n_example else "old"
    for position, _ in step.constants:
        words[position] = "c"
    return f"{step.relation}[{','.join(words)}]"


def tree_credits(
    tree: Tree, features: Sequence[Feature], rules: CreditRules, called: Mapping[Step, str] | None = None
) -> Credits:
    """Return what a tree pays, each sum in the order of its nodes.

    Parameters
    ----------
    tree, features, rules
        As in `node_credits`.
    called : mapping of Step to str, optional
        How the steps are called where the ways of using a relation are told apart, see `binding_name`.
    """
    relations: dict[str, float] = {}
    aggregates: dict[str, float] = {}
    bindings: dict[str, float] = {}
    of_features = np.zeros(len(features))
    for number, steps, reward in node_credits(tree, features, rules):
        feature = features[number]
        of_features[number] += reward
        for step in steps:
            name, aggregate = feature.path[step].relation, feature.aggregates[step]
            relations[name] = relations.get(name, 0.0) + reward / len(steps)
            aggregates[aggregate] = aggregates.get(aggregate, 0.0) + reward / len(steps)
            if called is not None:
                way = called[feature.path[step]]
                bindings[way] = bindings.get(way, 0.0) + reward / len(steps)
    return Credits(relations, aggregates, bindings, of_features)


def credit_rows(found: Sequence[Mapping[str, float]], names: Sequence[str]) -> np.ndarray:
    """Return one row of credits per tree, one column per name; what a tree does not use is 0."""
    rows = [[credits.get(name, 0.0) for name in names] for credits in found]
    return np.array(rows, np.float64).reshape(len(found), len(names))


def averaged(rows: Any, n_together: int) -> np.ndarray:
    """Return the means over trees that are grown together, such as those of the classes in an iteration of boosting."""
    rows = np.asarray(rows, np.float64)
    return rows.reshape(-1, n_together, rows.shape[1]).mean(axis=1) if n_together > 1 else rows
