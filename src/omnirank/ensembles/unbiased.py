"""Impurity reductions that other examples confirm: features that tell nothing score 0 on average."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.seeds import stream
from omnirank.core.variances import centred_for_sums, near_centres
from omnirank.data.table import Table
from omnirank.ensembles.pair_test import pair_p_values
from omnirank.ensembles.permutation_moments import permutation_moments
from omnirank.ensembles.plan import GrowingPlan
from omnirank.ensembles.root_credit import Judges, OrderedRows, RootCredit, root_credit
from omnirank.ensembles.scores import Contributions, FeatureScores, ScoredTree, ScoreOptions
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns
from omnirank.trees.prototypes import membership
from omnirank.trees.tree import route

# Cells of columns of which sums are held at once, for at most twice as many nodes as rows.
_MOST_CELLS = 2**21
# Dense columns with at most this share of cells that are not 0 are label sets, summed by those cells alone.
_SPARSE = 1 / 16
# Columns of features that judge the tests of others at the root; of more, as many are drawn.
_MOST_JUDGES = 64
# Keeps the stream that draws them apart from those of trees.
_JUDGES_KEY = 2**31 + 2


def unbiased(tree: ScoredTree) -> FeatureScores:
    """Return the summed out-of-bag covariances h(t) of the nodes below the root that test each feature.

    Of thousands of features, trees test few. But at the root all trees see all examples, and the credit of every
    feature there is the same for all trees (:mod:`omnirank.ensembles.root_credit`), so that it is added to their mean,
    not to each of them (:class:`omnirank.core.ranking.accumulators.ConfirmedMeans`).

    Genie3 measures a test by the examples that chose it, so that features with many tests win by chance alone. Here
    the examples of the bag say how a test separates the target, by the means mu of its children, and those out of bag,
    by their means nu, whether it does:

        h(t) = (N0 / N0') sum_c lambda_c (N0 / K0_c) (K'_L K'_R / K'_t) (nu_L - nu_R) (mu_L - mu_R)

    over the columns c of the clustering space. K' are known weights out of bag, N0' is the weight of all examples out
    of bag, and N0, K0 and lambda are those of Genie3, of whose size the score is. A column adds 0 where one of the four
    children has no known value. A feature that is independent of the target and of the other features has the
    expectation 0, given the bag and the tree, however many tests it has: to which child its value sends an out-of-bag
    example says nothing of the example's target.

    Where features are clustering columns (no target, or few labels), a test tells much of its own feature, noise or
    not. So a feature's own columns are left out of its score, which says what the feature tells of all others.

    It is undefined where no example is out of bag.

    Where p values are asked for, the contributions of single examples are returned too, unless features count beside a
    target: p values are about the target, and those of few labels about the root alone. In node t, an out-of-bag
    example i with the child c(i) adds

        (N0 / N0') w_i sum_c lambda_c (N0 / K0_c) (z_ic - nu_tc) (mu_c(i),c - mbar_tc) sqrt(m_tc / (m_tc - 1))

    where mbar_t is the mean of mu_c(i) over the m_tc known examples, which count once whatever their weights: a feature
    that tells nothing sends examples of any weight to a child. Without the root, their sum over the examples is h(t).
    The root is there since they serve to estimate its variance: both factors are centred at means of the m_tc examples
    themselves (counted as at least 2), which makes the sum of squares too small by (m_tc - 1) / m_tc, half of it where
    one example meets another. Where bootstraps draw groups (copies, say), a group is what an example is here: its
    examples share its count, and it adds what they add.

    The distribution of the score depends also on what the bag promises, which is h(t) with mu in place of nu (see
    `omnirank.ensembles.p_values`).

    References
    ----------
    Li, Wang, Basu, Kumbier, Yu: A debiased MDI feature importance measure for random forests. NeurIPS 2019 (products of
    out-of-bag targets and changes of the in-bag mean; here the targets are centred at their out-of-bag mean in the
    node, without which the scores of noise drift away from 0).
    """
    assert tree.counts is not None  # the table says what it needs
    plan, grown = tree.plan, tree.grown
    described = described_parts(plan) if tree.prepared is None else tree.prepared
    n_features = plan.dataset.n_features
    row = np.zeros(n_features)
    table = np.zeros((plan.columns.n_variables if tree.options.per_target else 0, n_features))
    unseen = np.flatnonzero(tree.counts == 0)
    scores = FeatureScores(row, table if tree.options.per_target else None, undefined=not len(unseen))
    if scores.undefined or grown.feature[0] < 0:
        return scores
    bags = rows_by_node(grown, plan.dataset.features, plan.cells, unseen, plan.weight, described.shares)
    tests = np.flatnonzero((grown.feature >= 0) & (bags[1].first < bags[1].last))
    tests = tests[tests > 0]
    first, last = bags[1].first[tests], bags[1].last[tests]
    contributed = None
    if tree.options.p_values and described.tested and not (described.own and described.features):
        contributed = _Contributed(np.zeros(int((last - first).sum())), np.zeros(n_features))
    for parts, split in ((described.own, table), (described.features, table[:0])):
        for part in parts:
            part.add(grown, tests, bags, TreeSums(row, split, contributed))
    factor = plan.weight.sum() / plan.weight[unseen].sum()
    row *= factor
    table *= factor
    if contributed is None:
        return scores
    kept = Contributions(grown.feature[tests], first, last, plan.in_groups(bags[1].rows), *contributed)
    return scores._replace(contributions=(kept.scaled(factor),))


class _Contributed(NamedTuple):
    """What examples add, as in `Contributions`; changed in place."""

    by_example: np.ndarray
    in_bag: np.ndarray


class TreeSums(NamedTuple):
    """The score of a tree while columns are added: all, by variable unless empty, by example; changed in place."""

    row: np.ndarray
    table: np.ndarray
    contributed: _Contributed | None = None


def rows_by_node(
    grown: Any, table: Table, cells: Any, unseen: np.ndarray, weight: np.ndarray, shares: np.ndarray | None
) -> tuple[Any, Any, Any]:
    """Return rows in the bag and out of it by the nodes that they reach, the latter again with what each counts for."""
    from omnirank.ensembles.kernels.unbiased import NodeRows

    first, last, rows = (part.astype(np.int64) for part in (grown.first, grown.last, grown.rows))
    starts, ends, ordered = route(grown, table, unseen, cells)
    outside = NodeRows(starts, ends, ordered, weight[ordered])
    counted = outside if shares is None else outside._replace(row_weight=shares[ordered])
    return NodeRows(first, last, rows, grown.row_weight), outside, counted


class DescribedParts(NamedTuple):
    """The columns of the target (without one, those of the features), and the features beside a target.

    ``tested`` is the part that p values are about: the features where the target does not count. ``shares`` are those
    of rows in the weight of their group; None: all weights are 1, as are these.
    """

    own: tuple[_Columns, ...]
    features: tuple[_Columns, ...]
    tested: tuple[_Columns, ...]
    shares: np.ndarray | None


def described_parts(plan: GrowingPlan) -> DescribedParts:
    """Return what the scores of all trees of a plan need: columns that judge tests, centred and scaled.

    A column is scaled by sqrt(lambda N0 / K0), as for Genie3.
    """
    with one_blas_thread():
        own = _described(plan, plan.columns, plan.clustering, are_features=plan.dataset.target is None)
        beside = () if plan.feature_part is None else _described(plan, *plan.feature_part, are_features=True)
    shares = None
    if plan.groups is not None or (plan.weight != 1).any():
        of_groups = plan.group_weight[plan.in_groups(np.arange(plan.n_examples))]
        shares = plan.weight / np.where(of_groups > 0, of_groups, 1.0)
    return DescribedParts(own, beside, beside if beside and plan.rules.supervision == 0 else own, shares)


def credit_at_root(
    plan: GrowingPlan,
    described: DescribedParts,
    options: ScoreOptions,
    n_places: int = 0,
    rows: OrderedRows | None = None,
) -> RootCredit:
    """Return the credit of all features at the root, by the columns of both parts.

    Numeric targets are normal scores there (`normal_scores`), of the same variance: a few large
    values of a skewed target would decide the credit of all features. Below the root, targets are what they are, so
    that what only the large values tell counts there.

    That by features beside a target is not split by variable. With ``n_places``, there is also what groups of examples
    add, each numbered modulo the places, by the part that p values are about.
    """
    n_variables = plan.columns.n_variables if options.per_target else 0
    groups = np.arange(plan.n_examples) if plan.groups is None else plan.groups
    by_features = plan.dataset.target is None or bool(described.features)  # of many columns
    rows = rows or OrderedRows(plan.dataset.features, kept=by_features)
    n_features = plan.dataset.n_features
    shapes = (n_features,), (n_variables, n_features), (n_features if n_places else 0, n_places), (n_features,)
    row, table, by_example, of_themselves = map(np.zeros, shapes)
    nothing = RootCredit(row, table, by_example, of_themselves, np.ones(n_features, np.int64))
    credit = None
    for parts, split in ((described.own, n_variables), (described.features, 0)):
        places = n_places if parts is described.tested else 0
        for judges in _judges(plan, parts):
            one = root_credit(rows, plan.weight, judges, groups, split, places)
            if not split:
                one = one._replace(table=table)
            if parts is not described.tested:
                one = one._replace(by_example=by_example, of_themselves=of_themselves)
            credit = one if credit is None else credit.added(one)
    return nothing if credit is None else credit


def credit_with_null(plan: GrowingPlan, described: DescribedParts, options: ScoreOptions, n_places: int) -> RootCredit:
    """Return the credit at the root with its null; where groups are given, or columns large, with what groups add."""
    rows = OrderedRows(plan.dataset.features, kept=True)
    given = plan.groups is not None and plan.dataset.given_groups is not None
    n_cells = sum(len(part.owner) for part in described.tested) * plan.n_examples
    summed = given or n_cells > _MOST_CELLS / 2  # where other samples of the data may have no null
    credit = credit_at_root(plan, described, options, n_places if summed else 0, rows)
    if given or n_cells > _MOST_CELLS:
        return credit._replace(null=np.full((5, len(credit.row)), np.nan))
    return credit._replace(null=_null_at_root(plan, described, credit.row, rows))


def _null_at_root(plan: GrowingPlan, described: DescribedParts, credit: np.ndarray, rows: OrderedRows) -> np.ndarray:
    """What `RootCredit.null` holds.

    A feature that tells nothing is independent of what rows have of all columns, weights included. So their weighed
    columns are permuted, against a kernel of the feature that knows no weights. Copies are one row. Of few labels that
    count, the labelled rows are permuted.
    """
    blocks = list(_judges(plan, described.tested))
    if not blocks:
        return np.vstack([np.zeros((4, len(credit))), np.ones(len(credit))])
    of_all = plan.feature_part is None or described.tested is described.features
    known = np.flatnonzero(of_all | plan.columns.labelled)
    values, weight = np.hstack([block.values for block in blocks])[known], plan.weight[known]
    owner = np.concatenate([block.owner for block in blocks])
    if plan.groups is not None:
        _, first, group = np.unique(plan.groups[known], return_index=True, return_inverse=True)
        values = np.array([np.bincount(group, column) for column in values.T]).T
        known, weight = known[first], np.bincount(group, weight)
    if plan.groups is not None or len(known) < rows.table.n_rows:
        rows = OrderedRows(plan.dataset.features.take(known), kept=True)
    if plan.groups is None and of_all and (weight == weight[0]).all():
        values /= np.sqrt(weight[0])
    else:
        judges = Judges(values, owner, owner)
        credit = root_credit(rows, np.ones(len(values)), judges, np.arange(len(values))).row
    moments = permutation_moments(rows, values, owner)
    alone = credit / np.where(moments[0] > 0, moments[0], np.inf)
    in_pairs = np.full(len(credit), np.nan) if (owner >= 0).any() else pair_p_values(rows, values, alone)
    return np.vstack([credit, moments, in_pairs])


def _judges(plan: GrowingPlan, parts: tuple[_Columns, ...]) -> Iterator[Judges]:
    """Columns in blocks, weighed and centred, numeric targets in normal scores.

    Of the many columns of features some are drawn, and count for all.
    """
    n_columns = sum(len(part.owner) for part in parts)
    chosen, scale = np.ones(n_columns, bool), 1.0
    if parts and n_columns > _MOST_JUDGES and (parts[0].owner >= 0).all():
        drawn = stream(plan.entropy, _JUDGES_KEY).permutation(n_columns)[:_MOST_JUDGES]
        chosen, scale = np.isin(np.arange(n_columns), drawn), np.sqrt(n_columns / _MOST_JUDGES)
    start = 0
    for part in parts:
        columns = np.flatnonzero(chosen[start : start + len(part.owner)])
        start += len(part.owner)
        step = max(1, _MOST_CELLS // plan.n_examples)
        for some in np.split(columns, range(step, len(columns), step)):
            if len(some):
                values = part.dense(some)
                unknown = np.isnan(values)
                for c in _numbers(plan, part, some):
                    known = ~unknown[:, c]
                    values[known, c] = _in_normal_scores(values[known, c], plan.weight[known])
                total = plan.weight @ ~unknown  # no difference: light rows may be the only known ones
                values[unknown] = 0.0
                values -= (plan.weight @ values) / total
                values *= plan.weight[:, None]
                values *= scale * np.sqrt(plan.weight.sum() / total)
                values[unknown] = 0.0
                yield Judges(values, part.owner[some], part.variable[some])


def _numbers(plan: GrowingPlan, part: _Columns, columns: np.ndarray) -> list[int]:
    """Which of these columns of a part are numeric targets."""
    target = plan.dataset.target
    if target is None or target.is_labels or (part.owner >= 0).any():
        return []
    return [c for c, variable in enumerate(part.variable[columns]) if plan.columns.levels[variable] is None]


def normal_scores(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the normal quantile of the share of the weight that is below each value, and half of that at it.

    A few large values decide neither mean nor variance of these scores. An example counts as its weight says, so that
    one of weight 2 is two, and one of weight 0 none.

    Parameters
    ----------
    values : ndarray (examples,)
        Numbers, all known.
    weight : ndarray (examples,)
        Weights of the examples.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.unbiased import normal_scores
    >>> normal_scores(np.array([3.0, 1.0, 1e9, 1.0]), np.ones(4)).round(2).tolist()
    [0.32, -0.67, 1.15, -0.67]
    """
    _, place = np.unique(values, return_inverse=True)
    mass = np.bincount(place, weight)
    below, above = ((np.cumsum(part) - part / 2) / mass.sum() for part in (mass, mass[::-1]))
    # from the nearer end: so far out, the share of the other one has no digits left
    at, least = above[::-1], np.finfo(np.float64).tiny
    return np.where(below <= at, ndtri(np.maximum(below, least)), -ndtri(np.maximum(at, least)))[place]


def _in_normal_scores(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return normal scores of the variance of these numbers."""
    weight = weight / weight.sum()
    scores = normal_scores(values, weight)
    size = weight @ (scores - weight @ scores) ** 2
    return scores * np.sqrt(weight @ (values - weight @ values) ** 2 / size) if size > 0 else values


def _described(
    plan: GrowingPlan, columns: PrototypeColumns, clustering: ClusteringColumns, are_features: bool
) -> tuple[_Columns, ...]:
    from omnirank.trees.kernels.spaces import GramColumns

    if not len(clustering.columns) or not clustering.weights.any():
        return ()
    variable = columns.variable[clustering.columns]
    space = getattr(plan.space, "features", plan.space)
    if are_features and isinstance(space, GramColumns):
        return (_row_products(plan, space, variable),)
    owner = variable if are_features else np.full(len(variable), -1)
    matrix = clustering.cells(columns.matrix)
    if columns.is_sparse and not np.isnan(matrix.data).any():
        return (_sparse_columns(plan, matrix, columns.labelled, clustering.weights, owner, variable),)
    if not columns.is_sparse and np.count_nonzero(matrix) <= _SPARSE * matrix.size and not np.isnan(matrix).any():
        labelled = np.ones(len(matrix), bool)
        cells = sparse.csr_array(matrix)
        return (_sparse_columns(plan, cells, labelled, clustering.weights, owner, variable),)
    values = matrix.toarray() if columns.is_sparse else np.array(matrix, np.float64)
    if columns.is_sparse:
        values[~columns.labelled] = np.nan
    known = ~np.isnan(values)
    total = plan.weight @ known
    values -= near_centres(values, (plan.weight @ np.where(known, values, 0.0)) / total)
    values *= np.sqrt(clustering.weights * plan.weight.sum() / total)
    step = max(1, _MOST_CELLS // len(values))
    blocks = (slice(start, start + step) for start in range(0, len(variable), step))
    return tuple(
        _DenseColumns(np.ascontiguousarray(values[:, b]), bool(known[:, b].all()), owner[b], variable[b])
        for b in blocks
    )


def _row_products(plan: GrowingPlan, space: Any, owner: np.ndarray) -> _RowProducts:
    from omnirank.ensembles.kernels.unbiased import RowProducts

    starts = np.searchsorted(owner, np.arange(plan.dataset.n_features + 1))
    known = RowProducts(space.z, space.products, space.share, starts)
    return _RowProducts(known, owner, owner)


def _uncentred(m: np.ndarray) -> np.ndarray:
    """m / (m - 1) for m examples, at least 2: what centring takes from squares is put back."""
    m = np.maximum(m, 2.0)
    return m / (m - 1)


class _DenseColumns(NamedTuple):
    """Columns as rows of numbers, NaN = unknown."""

    values: np.ndarray
    all_known: bool
    owner: np.ndarray
    variable: np.ndarray

    def dense(self, columns: np.ndarray) -> np.ndarray:
        """Return some columns."""
        return self.values[:, columns]

    def add(self, grown: Any, inner: np.ndarray, bags: tuple[Any, ...], sums: TreeSums) -> None:
        """Add the gains of tests to the sums."""
        row, table, contributed = sums
        feature, left, right = grown.feature[inner], inner + 1, grown.right[inner]
        seen, unseen = (self._node_sums(grown, bag) for bag in bags[:2])
        weights = seen.known[left], seen.known[right], unseen.known[left], unseen.known[right]
        counts = np.logical_and.reduce([known > 0 for known in weights]) & (self.owner != feature[:, None])
        p, q, a, b = (np.where(known > 0, known, 1.0) for known in weights)
        directions = np.where(counts, seen.sums[left] / p - seen.sums[right] / q, 0.0)
        gains = a * b / (a + b) * (unseen.sums[left] / a - unseen.sums[right] / b) * directions
        row += np.bincount(np.repeat(feature, gains.shape[1]), gains.ravel(), len(row))
        if len(table):
            place = self.variable * len(row) + feature[:, None]
            table += np.bincount(place.ravel(), gains.ravel(), table.size).reshape(table.shape)
        if contributed is None:
            return
        contributed.in_bag[:] += np.bincount(feature, (a * b / (a + b) * directions**2).sum(axis=1), len(row))
        m = (unseen if bags[2] is bags[1] else self._node_sums(grown, bags[2])).known
        directions *= np.sqrt(_uncentred(m[left] + m[right]))
        self._add_contributions(np.column_stack([inner, right]), bags[1], (unseen, m), directions, contributed)

    def _node_sums(self, grown: Any, bag: Any) -> Any:
        """Sums over the rows of each node, and their known weights."""
        from omnirank.ensembles.kernels.unbiased import GainColumns, NodeSums, sum_nodes

        n_nodes, n_columns = len(grown.feature), self.values.shape[1]
        sums = NodeSums(np.zeros((n_nodes, n_columns)), np.zeros((n_nodes, 1 if self.all_known else n_columns)))
        sum_nodes(bag, grown.feature, grown.right, GainColumns(self.values, self.all_known), *sums)
        return sums

    def _add_contributions(
        self, tests: np.ndarray, outside: Any, sums: tuple[Any, ...], directions: np.ndarray, contributed: _Contributed
    ) -> None:
        from omnirank.ensembles.kernels.unbiased import GainColumns, add_contributions

        columns = GainColumns(self.values, self.all_known)
        add_contributions(tests, outside, columns, *sums, directions, contributed.by_example)


class _RowProducts(NamedTuple):
    """Features by the products of all pairs of rows, where there are more columns than rows."""

    columns: Any
    owner: np.ndarray
    variable: np.ndarray

    def dense(self, columns: np.ndarray) -> np.ndarray:
        """Return some columns."""
        return self.columns.z[:, columns] * np.sqrt(self.columns.share)

    def add(self, grown: Any, inner: np.ndarray, bags: tuple[Any, ...], sums: TreeSums) -> None:
        """Add the gains of tests to the sums."""
        row, table, contributed = sums
        from omnirank.ensembles.kernels.unbiased import add_gains_of_products

        if len(table):  # products hold no single columns
            values = self.dense(np.arange(len(self.owner)))
            columns = _DenseColumns(values, True, self.owner, self.variable)
            columns.add(grown, inner, bags, sums._replace(row=np.zeros(len(row)), contributed=None))
        tests = np.column_stack([inner, grown.right[inner], grown.feature[inner]]).astype(np.int64)
        work = np.empty((2, max(len(bags[0].rows), int(np.diff(self.columns.starts).max()))))
        kept = contributed or _Contributed(np.zeros(0), np.zeros(len(row)))
        add_gains_of_products(tests, *bags, self.columns, work, row, kept.in_bag, kept.by_example)


class _SparseColumns(NamedTuple):
    """Label sets or sparse features, known in the labelled rows; columns that a node lacks cost nothing."""

    matrix: Any
    labelled: np.ndarray
    owner: np.ndarray
    variable: np.ndarray

    def dense(self, columns: np.ndarray) -> np.ndarray:
        """Return some columns, NaN = unknown."""
        values = self.matrix[:, columns].toarray()
        values[self.labelled == 0] = np.nan
        return values

    def add(self, grown: Any, inner: np.ndarray, bags: tuple[Any, ...], sums: TreeSums) -> None:
        """Add the gains of tests to the sums."""
        row, table, contributed = sums
        feature = grown.feature[inner].astype(np.int64)
        seen, unseen, shares = (self._children(inner, grown, bag) for bag in bags)
        counts = np.logical_and.reduce([*(seen.known > 0), *(unseen.known > 0)])
        a, b = np.where(counts, unseen.known, 1.0)
        harmonic = np.where(counts, a * b / (a + b), 0.0)
        directions = self._difference(seen.members)
        by_feature, gain, variable = self._gains(feature, harmonic, directions * self._difference(unseen.members))
        row += np.bincount(by_feature, gain, len(row))
        if len(table):
            table += np.bincount(variable * len(row) + by_feature, gain, table.size).reshape(table.shape)
        if contributed is None:
            return
        m = np.where(counts, shares.known, 0.0)
        widened = sparse.diags_array(np.sqrt(_uncentred(m[0] + m[1]))) @ directions
        self._add_contributions(np.column_stack([inner, feature]), widened, m, bags[1], contributed.by_example)
        by_feature, gain, _ = self._gains(feature, harmonic, directions * directions)
        contributed.in_bag[:] += np.bincount(by_feature, gain, len(row))

    def _gains(self, feature: np.ndarray, harmonic: np.ndarray, product: Any) -> tuple[np.ndarray, ...]:
        """Gains of tests in columns that are not their own feature's: feature, gain, variable of the column."""
        cells = sparse.coo_array(product)
        others = self.owner[cells.col] != feature[cells.row]
        test, column = cells.row[others], cells.col[others]
        return feature[test], cells.data[others] * harmonic[test], self.variable[column]

    def _children(self, inner: np.ndarray, grown: Any, bag: Any) -> _Children:
        """Shares of the rows in the children of the tests, left ones first, and the known weights of these."""
        members = membership(bag, np.concatenate([inner + 1, grown.right[inner]]), len(self.labelled))
        members.data = members.data * self.labelled[members.indices]
        known = np.asarray(members.sum(axis=1)).ravel()
        members.data = members.data / np.repeat(np.where(known > 0, known, 1.0), np.diff(members.indptr))
        return _Children(members, known.reshape(2, -1))

    def _difference(self, members: Any) -> Any:
        """Means of the left children less those of the right ones."""
        means = members @ self.matrix
        half = means.shape[0] // 2
        return means[:half] - means[half:]

    def _add_contributions(
        self, tests: np.ndarray, directions: Any, counted: np.ndarray, outside: Any, contributed: np.ndarray
    ) -> None:
        from omnirank.ensembles.kernels.unbiased import CsrRows, add_contributions_by_cells

        directions, cells = (
            CsrRows(rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64))
            for rows in (sparse.csr_array(directions), self.matrix)
        )
        add_contributions_by_cells(tests, outside, counted, directions, cells, self.labelled, self.owner, contributed)


_Columns = _DenseColumns | _SparseColumns | _RowProducts


class _Children(NamedTuple):
    """Children of tests, left ones first."""

    members: Any  # (2 * tests, rows): the share of each row in its node
    known: np.ndarray  # (2, tests)


def _sparse_columns(
    plan: GrowingPlan, matrix: Any, labelled: np.ndarray, scale: np.ndarray, owner: np.ndarray, variable: np.ndarray
) -> _SparseColumns:
    weight = plan.weight
    if labelled.all():
        matrix = centred_for_sums(matrix, weight)
    matrix = sparse.csr_array(matrix, copy=True)
    matrix.eliminate_zeros()
    matrix.data = matrix.data * np.sqrt(scale * weight.sum() / weight[labelled].sum())[matrix.indices]
    return _SparseColumns(matrix, labelled.astype(np.float64), owner, variable)
