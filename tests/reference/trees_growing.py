"""Growing a tree straight from the definitions, on raw feature values and unscaled target columns.

Every candidate test is a mask over the rows of the node, and its gain is the printed formula

    h = sum_c lambda_c (N0 / K0_c) [ S_L^2 / K_L + S_R^2 / K_R - S^2 / K ],    a term with K = 0 is 0

of columns that are centred on their means in the node, which are exact. Whether anything is gained is decided exactly.
Only the random numbers come from the package, so that draws and ties agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import fsum
from typing import NamedTuple

import numpy as np

from omnirank.trees.kernels import candidates as random

TIE = 1e-9
SLACK = 1e-9
REDRAW = np.uint64(0x2545F4914F6CDD1D)
EQUAL_LEVELS = 1e-14
OWN_START, GOLDEN = 1e-3, 0.6180339887498949


class Problem(NamedTuple):
    """Features (one array each: numbers with NaN, or levels with -1 = missing) and target columns (with NaN)."""

    features: list
    n_levels: list  # 0 = numeric
    columns: np.ndarray
    lambdas: np.ndarray
    training_weight: np.ndarray  # gives N0 and K0_c
    labelled: np.ndarray | None = None  # rows with a known target, where a child needs 0 or enough of them
    min_labelled: float = 0.0

    @property
    def scale(self):
        """lambda_c N0 / K0_c."""
        known = ~np.isnan(self.columns)
        return self.lambdas * self.training_weight.sum() / (self.training_weight[:, None] * known).sum(axis=0)


class Node(NamedTuple):
    """One node in preorder; the parts of a test are None in a leaf, or where the kind of feature has none."""

    feature: int | None
    threshold: float | None
    subset: frozenset | None
    missing_left: bool | None
    gain: float
    weight: float
    depth: int


@dataclass
class Test:
    """A candidate: which rows of the node it sends left, before missing values are sent anywhere."""

    __test__ = False

    feature: int
    left: np.ndarray
    position: int
    threshold: float | None = None
    subset: frozenset | None = None
    missing_left: bool = False
    ways: tuple = (False, True)  # where missing values may go
    gain: float = field(default=0.0, init=False)


# -- random numbers: the package's own, as 64-bit scalars ------------------------------------------------


def _uint64(function):
    return lambda *arguments: np.uint64(int(function(*arguments)))


mix, child_seed, tie_priority = map(_uint64, (random.mix, random.child_seed, random.tie_priority))


def below(state, limit):
    return int(random.below(state, limit))


# -- the formula -----------------------------------------------------------------------------------------


def spread(columns, weight):
    """S^2 / K of every column over its known values."""
    out = np.zeros(columns.shape[1])
    for c, cells in enumerate(columns.T):
        known = ~np.isnan(cells)
        if known.any():
            out[c] = fsum(weight[known] * cells[known]) ** 2 / fsum(weight[known])
    return out


def heuristic(columns, weight, scale, left):
    """Gain h of splitting rows into those on the left and the others."""
    parts = spread(columns[left], weight[left]) + spread(columns[~left], weight[~left])
    return float(scale @ (parts - spread(columns, weight)))


def written(x):
    """A number as it is written, as a fraction: 0.1 and 0.3 have the mean of 0.2 and 0.2."""
    return Fraction(str(float(x)))


def exact_mean(cells, weight, number=Fraction):
    """The mean of known cells as a fraction."""
    weight = [number(w) for w in weight]
    return sum(w * number(x) for w, x in zip(weight, cells, strict=True)) / sum(weight)


def centred(columns, weight):
    """Columns minus the exact means of their known cells, which are rounded once."""
    out = columns.copy()
    for cells in out.T:
        known = np.flatnonzero(~np.isnan(cells))
        if len(known):
            mean = exact_mean(cells[known], weight[known])
            cells[known] = [float(Fraction(x) - mean) for x in cells[known]]
    return out


def differ(columns, weight, left):
    """Whether the means of a column differ between both sides, however little."""
    for cells in columns.T:
        sides = [side & ~np.isnan(cells) for side in (left, ~left)]
        if all(side.any() for side in sides):
            one, other = (exact_mean(cells[side], weight[side], written) for side in sides)
            if one != other:
                return True
    return False


def impurity(columns, weight, scale):
    """Weighted squared distances of known values from their mean."""
    total = 0.0
    for c, cells in enumerate(columns.T):
        known = ~np.isnan(cells)
        if known.any():
            mean = np.average(cells[known], weights=weight[known])
            total += scale[c] * (weight[known] @ (cells[known] - mean) ** 2)
    return float(total)


def is_constant(columns):
    """Whether no column has two different known values."""
    return all(len(np.unique(cells[~np.isnan(cells)])) < 2 for cells in columns.T)


# -- growing ---------------------------------------------------------------------------------------------


def grow(problem, weight, settings, seed, random_tests=False):
    """Return the nodes of the tree grown on the rows of positive weight."""
    return _Growing(problem, weight, settings, random_tests).run(seed)


class _Growing:
    def __init__(self, problem, weight, settings, random_tests):
        self.problem, self.weight, self.settings = problem, weight, settings
        self.random_tests = random_tests
        self.scale = problem.scale
        self.nodes = []

    def run(self, seed):
        rows = np.flatnonzero(self.weight > 0)
        self.grow_node(rows, 0, mix(np.uint64(seed)))
        return self.nodes

    def grow_node(self, rows, depth, seed):
        weight = self.weight[rows]
        me = len(self.nodes)
        self.nodes.append(Node(None, None, None, None, 0.0, weight.sum(), depth))
        if depth >= self.settings.max_depth or is_constant(self.problem.columns[rows]):
            return
        if self.problem.min_labelled > 0 and not self.problem.labelled[rows].any():
            return
        self.centred = centred(self.problem.columns[rows], weight)
        test = self.best_test(rows, seed)
        if test is None:
            return
        larger_is_left = weight[test.left].sum() >= weight[~test.left].sum()
        cells = self.problem.features[test.feature][rows]
        never_missing = not missing_cells(cells).any()
        subset = test.subset
        if subset is not None and larger_is_left:  # levels absent from the node follow its larger child
            subset = subset | (set(range(self.problem.n_levels[test.feature])) - set(cells))
        self.nodes[me] = Node(
            test.feature,
            test.threshold,
            subset,
            larger_is_left if never_missing else test.missing_left,
            test.gain,
            weight.sum(),
            depth,
        )
        self.grow_node(rows[test.left], depth + 1, child_seed(seed, 0))
        self.grow_node(rows[~test.left], depth + 1, child_seed(seed, 1))

    def best_test(self, rows, seed):
        """Draw features until enough are drawn and one of them splits; return the best test of all."""
        pool = list(range(len(self.problem.features)))
        state = seed
        base = mix(seed ^ np.uint64(0x5851F42D4C957F2D))
        good = []
        for drawn in range(len(pool)):
            if drawn >= self.settings.max_features and good:
                break
            state = mix(state)
            j = drawn + below(state, len(pool) - drawn)
            pool[drawn], pool[j] = pool[j], pool[drawn]
            self.test_state = mix(base ^ np.uint64(pool[drawn]))
            for test in self.tests(pool[drawn], rows):
                good += self.admissible(test, rows)
        if not good:
            return None
        most = max(test.gain for test in good)
        tied = [test for test in good if test.gain > most * (1 - TIE)]
        return max(tied, key=lambda t: tie_priority(seed, t.feature, t.position, self.settings.first_tie))

    def admissible(self, test, rows):
        """The test with missing values right and left, where leaves are large enough and something is gained."""
        weight = self.weight[rows]
        missing = missing_cells(self.problem.features[test.feature][rows])
        found = []
        for missing_left in test.ways if missing.any() else (False,):
            left = test.left | (missing & missing_left)
            if min(weight[left].sum(), weight[~left].sum()) < self.settings.min_leaf - SLACK:
                continue
            if not all(self.enough_labelled(rows[side]) for side in (left, ~left)):
                continue
            gain = heuristic(self.centred, weight, self.scale, left)
            # fractions take long: they are asked only where rounding might matter
            sure = gain > 1e-6 * impurity(self.centred, weight, self.scale)
            if sure or differ(self.problem.columns[rows][:, self.scale > 0], weight, left):
                position = 2 * test.position + missing_left
                new = Test(test.feature, left, position, test.threshold, test.subset, missing_left)
                new.gain = gain
                found.append(new)
        return found

    def enough_labelled(self, rows):
        """Whether rows have no known target, or enough of them have one."""
        if self.problem.min_labelled <= 0:
            return True
        labelled = rows[self.problem.labelled[rows]]
        return not len(labelled) or self.weight[labelled].sum() >= self.problem.min_labelled - SLACK

    def tests(self, f, rows):
        cells = self.problem.features[f][rows]
        if self.problem.n_levels[f] == 0:
            return self.drawn_thresholds(f, cells, self.weight[rows]) if self.random_tests else thresholds(f, cells)
        present = [int(v) for v in np.unique(cells) if v >= 0]
        if self.random_tests:
            return self.drawn_subset(f, cells, present, self.weight[rows])
        if len(present) < 2:
            return []
        if len(present) == 2:
            return subsets(f, cells, present)
        return subsets(f, cells, self.ordered_levels(rows, cells, present))

    # -- random tests ------------------------------------------------------------------------------------

    def drawn_thresholds(self, f, cells, weight):
        """For each way that missing values may go: a threshold, uniform among those that leave enough on both sides."""
        ways = (False, True) if np.isnan(cells).any() else (False,)
        found = [self.drawn_threshold(cells, weight, missing_left) for missing_left in ways]
        return [
            Test(f, cells <= threshold, 0, threshold=threshold, ways=(missing_left,))
            for missing_left, threshold in zip(ways, found, strict=True)
            if threshold is not None
        ]

    def drawn_threshold(self, cells, weight, missing_left):
        """Draw between the least and the largest value; a draw that leaves too little moves that end, and so on."""
        state = self.test_state
        known = ~np.isnan(cells)
        values = np.unique(cells[known])
        if not len(values):
            return None
        low, high = values[0], values[-1]
        while low < high:
            threshold = min(low + random.unit(state) * (high - low), np.nextafter(high, low))
            left = (cells <= threshold) | (~known & missing_left)
            if weight[left].sum() < self.settings.min_leaf - SLACK:
                low = values[values > threshold].min()
            elif weight[~left].sum() < self.settings.min_leaf - SLACK:
                high = values[values <= threshold].max()
            else:
                return threshold
            state = mix(state ^ REDRAW)
        return None

    def drawn_subset(self, f, cells, present, weight):
        """A fair coin for each level, tossed again until both sides have one; then enough levels change sides."""
        if len(present) < 2:
            return []
        left = set()
        while not 0 < len(left) < len(present):
            left = set()
            for v in present:
                self.test_state = mix(self.test_state)
                if below(self.test_state, 2) == 0:
                    left.add(v)
        return [level_set(f, cells, self.heavy_enough(left, cells, present, weight))]

    def heavy_enough(self, left, cells, present, weight):
        """Levels of the heavier side join the others, in random order, until both sides are heavy enough.

        Missing values go with the lighter side. A level stays where it is if its side could not spare it.
        """
        least = self.settings.min_leaf - SLACK
        of_level = {v: weight[cells == v].sum() for v in present}
        missing = weight[cells < 0].sum()
        right = set(present) - left
        light, heavy = sorted((left, right), key=lambda side: sum(of_level[v] for v in side))
        lighter = missing + sum(of_level[v] for v in light)
        heavier = sum(of_level[v] for v in heavy)
        if lighter >= least:
            return left
        moved, state = set(), self.test_state
        for v in shuffled(sorted(heavy), state):
            if lighter < least and heavier - of_level[v] >= least:
                moved.add(v)
                lighter, heavier = lighter + of_level[v], heavier - of_level[v]
        return left | moved if light is left else left - moved

    # -- nominal searches --------------------------------------------------------------------------------

    def ordered_levels(self, rows, cells, present):
        """Levels along the first principal component of their mean target values."""
        columns = np.sqrt(self.scale) * self.centred
        weight = self.weight[rows]
        centre = known_means(columns, weight, np.zeros(columns.shape[1]))
        means = np.array([known_means(columns[cells == v], weight[cells == v], centre) for v in present])
        share = np.array([weight[cells == v].sum() for v in present])
        means -= np.average(means, axis=0, weights=share)
        least = EQUAL_LEVELS * impurity(self.centred, weight, self.scale)
        score = first_component(np.sqrt(share)[:, None] * means, least) / np.sqrt(share)
        return [present[i] for i in order_with_ties(score)]


def shuffled(items, state):
    """The items in random order (Fisher and Yates)."""
    items = list(items)
    for i in range(len(items)):
        state = mix(state ^ REDRAW)
        j = i + below(state, len(items) - i)
        items[i], items[j] = items[j], items[i]
    return items


def missing_cells(cells):
    return np.isnan(cells) if cells.dtype.kind == "f" else cells < 0


def thresholds(f, cells):
    """All midpoints between consecutive distinct values."""
    values = np.unique(cells[~np.isnan(cells)])
    out = []
    for low, high in pairwise(values):
        left = cells <= low
        out.append(Test(f, left, int(left.sum()) - 1, threshold=(low + high) / 2))
    return out


def subsets(f, cells, ordered):
    """The first levels of an order against the others."""
    out = []
    for k in range(1, len(ordered)):
        left = np.isin(cells, ordered[:k])
        out.append(Test(f, left, int(left.sum()) - 1, subset=frozenset(ordered[:k])))
    return out


def level_set(f, cells, levels):
    """The given levels against the others; the place among ties is a hash of the set."""
    position = 0
    for v in sorted(levels):
        position = (position * 31 + v + 1) % 2**30
    return Test(f, np.isin(cells, list(levels)), position, subset=frozenset(levels))


def known_means(columns, weight, default):
    """Mean of the known values of each column, a default where there is none."""
    out = np.array(default, float)
    for c, cells in enumerate(columns.T):
        known = ~np.isnan(cells)
        if known.any():
            out[c] = np.average(cells[known], weights=weight[known])
    return out


def first_component(matrix, least, steps=200):
    """Leading left singular vector as power iteration finds it, starting near the largest row.

    The start fixes the sign, and the vector where the largest singular values are equal. Each level adds a number of
    its own to it, so that no component is absent from the start by symmetry.
    """
    gram = matrix @ matrix.T
    sizes = np.diag(gram)
    if sizes.max() <= least:
        return np.zeros(len(gram))
    start = int(np.flatnonzero(sizes > sizes.max() * (1 - TIE))[0])
    values, vectors = np.linalg.eigh(gram)
    own = np.arange(1, len(gram) + 1) * GOLDEN % 1.0 - 0.5
    along = vectors.T @ (gram[:, start] + OWN_START * sizes.max() * own)
    values = np.maximum(values, 0.0) / values.max()
    return vectors @ (values**steps * along)


def order_with_ties(score):
    """Positions by score; scores closer than a part in 1e9 of their range are equal, the first comes first."""
    by_score = sorted(range(len(score)), key=lambda i: score[i])
    span = score.max() - score.min()
    groups = [[by_score[0]]]
    for before, i in pairwise(by_score):
        if score[i] - score[before] > TIE * span:
            groups.append([])
        groups[-1].append(i)
    return [i for group in groups for i in sorted(group)]
