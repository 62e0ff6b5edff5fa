"""Generated data for every task, of which it is known which features matter.

Every generator makes relevant, redundant and irrelevant features with neutral names in random order, and returns the
data set and the roles of its features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from omnirank.core.errors import ParameterError, setting
from omnirank.core.parameters import check, count, share
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.generated import (
    ClusterOptions,
    Draw,
    FeatureOptions,
    FeaturePlan,
    Relevance,
    build_features,
    class_names,
    cluster_signals,
    draw_classes,
    draw_hierarchy,
    draw_labels,
)
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Table, numbered_names
from omnirank.data.target import Target

if TYPE_CHECKING:
    import pandas as pd


def make_regression(
    n_examples: int = 200,
    **features: Unpack[FeatureOptions],
) -> tuple[Dataset, Relevance]:
    """Generate regression data: the target is a weighted sum of the relevant features and noise.

    Relevant features are standard normal; their absolute weights lie between 0.5 and 1.5.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generated.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_regression
    >>> data, relevance = make_regression(n_relevant=3, n_irrelevant=7, labelled=50, random_state=0)
    >>> data
    <Dataset 'regression': 200 examples, 10 features, regression, 1 target, 50 labelled>
    >>> int(relevance.relevant.sum())
    3
    """
    draw = Draw(FeaturePlan(n_examples, **features))
    return draw.dataset("regression", draw.scores(1))


def make_multi_target_regression(
    n_examples: int = 200,
    *,
    n_targets: int = 3,
    missing_targets: float = 0.0,
    **features: Unpack[FeatureOptions],
) -> tuple[Dataset, Relevance]:
    """Generate multi-target regression data: each target is a weighted sum of the signals and noise.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_targets : int
        Number of targets.
    missing_targets : float in [0, 1)
        Share of the target values of labelled examples that are unknown, at random; each labelled example
        keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generated.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and targets y1, y2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_multi_target_regression
    >>> data, relevance = make_multi_target_regression(n_targets=2, missing_targets=0.25, random_state=0)
    >>> data.target_names, data.target.n_unknown
    (('y1', 'y2'), 100)
    """
    draw = Draw(FeaturePlan(n_examples, **features))
    check("n_targets", n_targets, count(1))
    scores = draw.scores(n_targets)
    return draw.dataset("multi-target-regression", scores, missing_targets=missing_targets)


def make_classification(
    n_examples: int = 200,
    *,
    n_classes: int = 2,
    **features: Unpack[FeatureOptions],
) -> tuple[Dataset, Relevance]:
    """Generate classification data: classes of about equal size, each an interval of a sum of the signals.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_classes : int
        Number of classes; they are called c1, c2, ..., in an order that does not follow the sum.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generated.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_classification
    >>> data, relevance = make_classification(90, n_classes=3, share_nominal=0.5, random_state=0)
    >>> data.describe()["classes"]
    {'c1': 30, 'c2': 30, 'c3': 30}
    """
    draw = Draw(FeaturePlan(n_examples, **features))
    check("n_classes", n_classes, count(2))
    codes = draw_classes(draw.scores(1), [n_classes], draw.rng)
    return draw.dataset("classification", codes, class_names([n_classes]))


def make_multi_target_classification(
    n_examples: int = 200,
    *,
    n_targets: int = 3,
    n_classes: int | Sequence[int] = 3,
    missing_targets: float = 0.0,
    **features: Unpack[FeatureOptions],
) -> tuple[Dataset, Relevance]:
    """Generate multi-target classification data, each target as in :func:`make_classification`.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_targets : int
        Number of targets.
    n_classes : int or sequence of int
        Number of classes of all targets, or of each.
    missing_targets : float in [0, 1)
        Share of the target values of labelled examples that are unknown, at random; each labelled example
        keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generated.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and targets y1, y2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_multi_target_classification
    >>> data, relevance = make_multi_target_classification(n_targets=2, n_classes=(2, 4), random_state=0)
    >>> data.target.levels
    (('c1', 'c2'), ('c1', 'c2', 'c3', 'c4'))
    """
    draw = Draw(FeaturePlan(n_examples, **features))
    check("n_targets", n_targets, count(1))
    given = np.asarray(n_classes).tolist()
    counts = given if isinstance(given, list) else [given] * n_targets
    for n in counts:
        check("n_classes", n, count(2))
    if len(counts) != n_targets:
        raise ParameterError("n_classes", n_classes, f"give one number per target, {setting('n_targets', n_targets)}")
    codes = draw_classes(draw.scores(n_targets), counts, draw.rng)
    return draw.dataset("multi-target-classification", codes, class_names(counts), missing_targets)


def make_mixed_targets(
    n_examples: int = 200,
    *,
    n_numeric: int = 2,
    n_nominal: int = 2,
    n_classes: int = 3,
    missing_targets: float = 0.0,
    **features: Unpack[FeatureOptions],
) -> tuple[Dataset, Relevance]:
    """Generate data with numeric and nominal targets, made as in regression and classification.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_numeric, n_nominal : int
        Number of numeric and of nominal targets; the numeric ones come first.
    n_classes : int
        Number of classes of each nominal target.
    missing_targets : float in [0, 1)
        Share of the target values of labelled examples that are unknown, at random; each labelled example
        keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generated.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and targets y1, y2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_mixed_targets
    >>> data, relevance = make_mixed_targets(n_numeric=1, n_nominal=2, random_state=0)
    >>> data.task, data.target.is_nominal.tolist()
    ('mixed-targets', [False, True, True])
    """
    draw = Draw(FeaturePlan(n_examples, **features))
    check("n_numeric", n_numeric, count(1))
    check("n_nominal", n_nominal, count(1))
    check("n_classes", n_classes, count(2))
    values = draw.scores(n_numeric + n_nominal)
    counts = [n_classes] * n_nominal
    values[:, n_numeric:] = draw_classes(values[:, n_numeric:], counts, draw.rng)
    levels = [None] * n_numeric + class_names(counts)
    return draw.dataset("mixed-targets", values, levels, missing_targets)


def make_multi_label(
    n_examples: int = 200,
    *,
    n_labels: int = 5,
    label_density: float = 0.3,
    missing_targets: float = 0.0,
    **features: Unpack[FeatureOptions],
) -> tuple[Dataset, Relevance]:
    """Generate multi-label data: a label is held where its own weighted sum of the signals is high.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_labels : int
        Number of labels.
    label_density : float in (0, 1)
        Share of the examples that hold a label.
    missing_targets : float in [0, 1)
        Share of the single labels of labelled examples that are unknown, at random; each labelled example
        keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generated.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and labels label1, label2, ...
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_multi_label
    >>> data, relevance = make_multi_label(100, n_irrelevant=1000, sparse=True, random_state=0)
    >>> data.X.shape, data.features.is_sparse, data.target.values.shape
    ((100, 1005), True, (100, 5))
    """
    draw = Draw(FeaturePlan(n_examples, **features))
    check("n_labels", n_labels, count(1))
    check("label_density", label_density, share(above=0, below=1))
    flat = Hierarchy.flat(range(1, n_labels + 1))
    values = draw_labels(draw.scores(n_labels), label_density, flat)
    return draw.dataset("multi-label", values, missing_targets=missing_targets)


def make_hierarchical_multi_label(
    n_examples: int = 200,
    *,
    n_labels: int = 15,
    hierarchy: str | Hierarchy = "tree",
    label_density: float = 0.5,
    missing_targets: float = 0.0,
    **features: Unpack[FeatureOptions],
) -> tuple[Dataset, Relevance]:
    """Generate hierarchical multi-label data; label sets are closed under ancestors.

    Of the examples that hold all parents of a label, those hold the label for which its own weighted sum of
    the signals is high.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_labels : int
        Number of labels of a generated hierarchy; not used when one is given.
    hierarchy : {"tree", "dag"} or Hierarchy
        "tree": three roots, three children per label. "dag": the same, with a second parent for half of the
        labels below the roots. Or the hierarchy to use.
    label_density : float in (0, 1)
        Share of the examples that hold a label, among those that hold its parents.
    missing_targets : float in [0, 1)
        Share of the single labels of labelled examples that are hidden, at random; what the hierarchy implies
        stays known, so fewer are unknown in the end. Each labelled example keeps at least one.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``labelled``, ``sparse``, ``random_state``: see
        :class:`omnirank.data.generated.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ..., the labels and their hierarchy.
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_hierarchical_multi_label
    >>> data, relevance = make_hierarchical_multi_label(n_labels=20, hierarchy="dag", random_state=0)
    >>> data.hierarchy
    Hierarchy(20 labels, DAG, 3 roots, ... leaves, depth 2)
    """
    draw = Draw(FeaturePlan(n_examples, **features))
    check("n_labels", n_labels, count(1))
    check("label_density", label_density, share(above=0, below=1))
    if not isinstance(hierarchy, Hierarchy):
        if hierarchy not in ("tree", "dag"):
            raise ParameterError("hierarchy", hierarchy, "choose 'tree', 'dag' or a Hierarchy")
        hierarchy = draw_hierarchy(n_labels, hierarchy == "dag", draw.rng)
    values = draw_labels(draw.scores(len(hierarchy)), label_density, hierarchy)
    return draw.dataset("hierarchical-multi-label", values, missing_targets=missing_targets, hierarchy=hierarchy)


def make_clusters(
    n_examples: int = 200,
    *,
    n_clusters: int = 3,
    **features: Unpack[ClusterOptions],
) -> tuple[Dataset, Relevance]:
    """Generate data without target: clusters of equal size that only the informative features show.

    In each relevant feature the clusters have different centres, with variance 1 between them; the noise is
    the standard deviation within a cluster.

    Parameters
    ----------
    n_examples : int
        Number of examples.
    n_clusters : int
        Number of clusters.
    **features
        ``n_relevant``, ``n_redundant``, ``n_irrelevant``, ``share_nominal``, ``missing_features``,
        ``noise``, ``shuffle``, ``random_state``: see :class:`omnirank.data.generated.FeaturePlan`.

    Returns
    -------
    dataset : Dataset
        The data, with features x1, x2, ... and no target.
    relevance : Relevance
        The roles of the features.

    Examples
    --------
    >>> from omnirank.datasets import make_clusters
    >>> data, relevance = make_clusters(n_clusters=4, random_state=0)
    >>> data.task, data.y is None, data.n_features
    ('clustering', True, 20)
    """
    for name in ("labelled", "sparse"):
        if name in features:
            raise TypeError(f"make_clusters() has no parameter {name!r}: there is no target")
    plan = FeaturePlan(n_examples, **features)
    check("n_clusters", n_clusters, count(2))
    for_signals, for_features = plan.streams(2)
    signals = cluster_signals(plan, n_clusters, for_signals)
    table, relevance = build_features(plan, signals, for_features)
    return Dataset(table, name="clustering"), relevance


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
    plan = FeaturePlan(n_examples, noise=noise, shuffle=shuffle, random_state=random_state)
    check("n_features", n_features, count(5))
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
    plan = FeaturePlan(n_examples, n_irrelevant=n_irrelevant, noise=noise, shuffle=shuffle, random_state=random_state)
    check("n_interacting", n_interacting, count(2, 20))
    check("noise", noise, share())
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


# -- several tables ---------------------------------------------------------------------------------------

_STARS_OF_HITS = 5.5
_AGE_OF_DRAMAS = 42.0
_NATIONS = {
    "Africa": ("Egypt", "Kenya"),
    "America": ("Brazil", "Chile", "Peru"),
    "Asia": ("India", "Japan"),
    "Europe": ("Austria", "France", "Italy", "Slovenia", "Spain"),
}


def movie_tables(
    n_movies: int, n_users: int, mean_ratings: float, noise: float, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """Return the tables of :func:`omnirank.datasets.make_movies`."""
    import pandas as pd

    region_of = {nation: region for region, members in _NATIONS.items() for nation in members}
    names = sorted(region_of)
    nations = pd.DataFrame({"id": np.arange(1, len(names) + 1), "name": names, "region": [region_of[n] for n in names]})
    age = np.sort(rng.integers(16, 71, n_users))
    users = pd.DataFrame(
        {
            "id": np.arange(1, n_users + 1),
            "age": age,
            "gender": rng.choice(["f", "m"], n_users),
            "nation_id": rng.integers(1, len(names) + 1, n_users),
        }
    )
    movie = np.repeat(np.arange(n_movies), 1 + rng.poisson(mean_ratings - 1, n_movies))
    # the users of a movie are about as old as its audience, and its stars are about as many as it deserves
    audience = rng.normal(0.5, 0.35, n_movies)[movie] + rng.normal(0, 0.25, len(movie))
    user = np.clip((audience * n_users).astype(int), 0, n_users - 1)
    stars = np.clip(np.round(rng.normal(5.7, 2.0, n_movies)[movie] + rng.normal(0, 1.0, len(movie))), 1, 10)
    ratings = pd.DataFrame(
        {
            "id": np.arange(1, len(movie) + 1),
            "movie_id": movie + 1,
            "user_id": user + 1,
            "stars": stars.astype(int),
            "weekday": rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], len(movie)),
        }
    )
    movies = pd.DataFrame(
        {
            "id": np.arange(1, n_movies + 1),
            "year": rng.integers(1950, 2021, n_movies),
            "minutes": rng.integers(70, 181, n_movies),
            "country": rng.choice(names, n_movies),
            "genre": _genres(movie, stars, age[user], n_movies, noise, rng),
        }
    )
    return {"movies": movies, "nations": nations, "ratings": ratings, "users": users}


def _genres(
    movie: np.ndarray, stars: np.ndarray, age: np.ndarray, n_movies: int, noise: float, rng: np.random.Generator
) -> np.ndarray:
    n_ratings = np.bincount(movie, minlength=n_movies)
    mean_stars = np.bincount(movie, stars, n_movies) / n_ratings
    mean_age = np.bincount(movie, age, n_movies) / n_ratings
    genre = np.where(mean_stars > _STARS_OF_HITS, np.where(mean_age > _AGE_OF_DRAMAS, 1, 0), 2)
    wrong = rng.permutation(n_movies)[: round(noise * n_movies)]
    genre[wrong] = (genre[wrong] + rng.integers(1, 3, len(wrong))) % 3
    return np.array(["comedy", "drama", "thriller"], object)[genre]
