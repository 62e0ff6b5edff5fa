"""Generated data known from the literature: Friedman's function, parity."""

from __future__ import annotations

import numpy as np

from omnirank.core.parameters import check, count, share
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.generators_features import FeaturePlan, Relevance
from omnirank.data.table import Table, numbered_names
from omnirank.data.target import Target


def make_friedman(
    n_examples: int = 200,
    n_features: int = 10,
    noise: float = 1.0,
    *,
    shuffle: bool = True,
    random_state: RandomState = None,
) -> tuple[Dataset, Relevance]:
    r"""Generate Friedman's regression data, in which five features matter.

    .. math:: y = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + \varepsilon

    All features are uniform on [0, 1].

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_features : int
        Number of features, at least 5.
    noise : float
        Standard deviation of the noise.
    shuffle : bool
        Whether the features are put in random order (and named in that order); else the five come first.
    random_state : None, int, RandomState or Generator
        Seed; the same seed gives the same data.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ...
    relevance : Relevance
        The roles of the features: relevant or irrelevant.

    References
    ----------
    J. H. Friedman: Multivariate adaptive regression splines. The Annals of Statistics 19 (1991).

    Examples
    --------
    >>> from omnirank.datasets import make_friedman
    >>> data, relevance = make_friedman(shuffle=False, random_state=0)
    >>> relevance.relevant.astype(int).tolist()
    [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    """
    check("n_features", n_features, count(5))
    plan = FeaturePlan(
        n_examples,
        n_relevant=5,
        n_irrelevant=n_features - 5,
        noise=noise,
        shuffle=shuffle,
        random_state=random_state,
    )
    for_values, for_order = plan.streams(2)
    X = for_values.random((n_examples, n_features))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    y += noise * for_values.standard_normal(n_examples)
    roles = np.repeat(("relevant", "irrelevant"), (5, n_features - 5))
    table, relevance = _ordered(X, roles, shuffle, for_order)
    return Dataset(table, Target.numeric(y[:, None], ["y"]), task="regression", name="friedman"), relevance


def make_xor(
    n_examples: int = 200,
    n_interacting: int = 2,
    n_irrelevant: int = 8,
    noise: float = 0.0,
    *,
    shuffle: bool = True,
    random_state: RandomState = None,
) -> tuple[Dataset, Relevance]:
    """Generate parity data: the class is the exclusive or of a few of the 0/1 features.

    All combinations of the interacting features are equally frequent, as far as the number of examples
    allows: where it is a multiple of ``2 ** n_interacting`` and there is no noise, features are informative about
    the class only if all the interacting ones are among them.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_interacting : int
        Number of features whose parity is the class, from 2 to 20.
    n_irrelevant : int
        Number of features that are not informative.
    noise : float in [0, 1]
        Share of the examples that get the wrong class.
    shuffle : bool
        Whether the features are put in random order (and named in that order); else the interacting ones come
        first.
    random_state : None, int, RandomState or Generator
        Seed; the same seed gives the same data.

    Returns
    -------
    dataset : Dataset
        The data, with numeric features x1, x2, ... and the classes 0 and 1.
    relevance : Relevance
        The roles of the features: interacting or irrelevant.

    Examples
    --------
    >>> from omnirank.datasets import make_xor
    >>> data, relevance = make_xor(8, shuffle=False, random_state=0)
    >>> bool((data.X[:, :2].sum(axis=1) % 2 == data.y).all())
    True
    """
    check("n_interacting", n_interacting, count(2, 20))
    check("noise", noise, share())
    plan = FeaturePlan(
        n_examples,
        n_relevant=0,
        n_interacting=n_interacting,
        n_irrelevant=n_irrelevant,
        shuffle=shuffle,
        random_state=random_state,
    )
    for_values, for_order = plan.streams(2)
    combination = for_values.permutation(np.arange(n_examples) % 2**n_interacting)
    bits = combination[:, None] >> np.arange(n_interacting) & 1
    X = np.hstack([bits, for_values.integers(2, size=(n_examples, n_irrelevant))]).astype(np.float64)
    classes = bits.sum(axis=1) % 2
    wrong = for_values.permutation(n_examples)[: round(noise * n_examples)]
    classes[wrong] = 1 - classes[wrong]
    roles = np.repeat(("interacting", "irrelevant"), (n_interacting, n_irrelevant))
    table, relevance = _ordered(X, roles, shuffle, for_order)
    target = Target(("y",), ((0, 1),), classes[:, None].astype(np.float64), np.ones(n_examples, bool))
    return Dataset(table, target, task="classification", name="xor"), relevance


def _ordered(X: np.ndarray, roles: np.ndarray, shuffle: bool, rng: np.random.Generator) -> tuple[Table, Relevance]:
    order = rng.permutation(len(roles)) if shuffle else np.arange(len(roles))
    return Table.from_numeric(X[:, order], numbered_names(len(order), "x")), Relevance.of(roles[order])
