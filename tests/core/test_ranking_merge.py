import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnirank.core.ranking.accumulators import Accumulator, MeanAccumulator, ReliefSums, TargetScores
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import SeedRanges
from omnirank.errors import DataError

tree_scores = st.lists(
    st.lists(st.floats(-100, 100) | st.sampled_from([0.0, 1e6, 1e6 + 1]), min_size=3, max_size=3),
    min_size=1,
    max_size=12,
).map(np.array)


def close(a, b):
    """Whether two mean accumulators agree up to rounding."""
    scale = max(1.0, np.abs(b.mean).max())
    np.testing.assert_allclose(a.mean, b.mean, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(a.m2, b.m2, rtol=1e-7, atol=1e-10 * scale**2)
    return a.count == b.count


@given(tree_scores)
def test_mean_accumulator_gives_mean_and_standard_error(trees):
    scores, errors = MeanAccumulator.empty(3).update(trees).finish()
    scale = np.abs(trees).max() + 1
    np.testing.assert_allclose(scores, trees.mean(axis=0), atol=1e-12 * scale)
    if len(trees) == 1:
        assert errors is None
    else:
        expected = trees.std(axis=0, ddof=1) / np.sqrt(len(trees))
        np.testing.assert_allclose(errors, expected, rtol=1e-7, atol=1e-9 * scale)


@given(tree_scores, st.data())
def test_blocks_change_no_bit_and_merging_only_rounding(trees, data):
    cut = data.draw(st.integers(0, len(trees)))
    whole = MeanAccumulator.empty(3).update(trees)
    assert MeanAccumulator.empty(3).update(trees[:cut]).update(trees[cut:]) == whole
    left, right = MeanAccumulator.empty(3).update(trees[:cut]), MeanAccumulator.empty(3).update(trees[cut:])
    assert close(left.merge(right), whole) if left.count and right.count else left.merge(right) == whole
    assert left.merge(right) == right.merge(left)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: MeanAccumulator.empty(2).finish(),
        lambda: MeanAccumulator.empty(2).update([[1.0]]),
        lambda: MeanAccumulator.empty(1).update([[np.nan]]),
        lambda: MeanAccumulator(-1, [0.0], [0.0]),
        lambda: MeanAccumulator(1.5, [0.0], [0.0]),
        lambda: MeanAccumulator(1, [0.0], [0.0, 1.0]),
        lambda: MeanAccumulator(1, [0.0], [-1.0]),
        lambda: MeanAccumulator.empty(2).merge(MeanAccumulator.empty(3)),
        lambda: MeanAccumulator.empty(2).merge(ReliefSums.empty(2)),
        lambda: ReliefSums([1.0], [1.0, 2.0], 1.0, 2.0),
        lambda: Accumulator.from_json({"kind": "median"}),
        lambda: Accumulator.from_json({"kind": "mean", "count": 1}),
    ],
)
def test_impossible_sums_are_refused(wrong):
    with pytest.raises(DataError):
        wrong()


def relief_sums(pairs):
    """Sums over pairs, each a weight, a target distance and feature distances."""
    weight, target, features = (np.array(part) for part in zip(*pairs, strict=True))
    return ReliefSums((weight * target) @ features, weight @ features, weight @ target, weight.sum())


unit = st.floats(0, 1, width=16)
relief_pairs = st.lists(
    st.tuples(st.floats(0.125, 1, width=16), unit, st.lists(unit, min_size=2, max_size=2)),
    min_size=2,
    max_size=12,
)


@given(relief_pairs)
def test_relief_importance_is_the_weighted_closed_form(pairs):
    # w_i = s / (tau (s - tau)) * sum_q delta_q (tau_q - tau / s) alpha_q, with tau the weighted sum of tau_q
    weight, target, features = (np.array(part, dtype=float) for part in zip(*pairs, strict=True))
    s, tau = weight.sum(), weight @ target
    sums = relief_sums(pairs)
    if min(tau, s - tau) < 1e-6 * s:
        return
    expected = s / (tau * (s - tau)) * ((weight * (target - tau / s)) @ features)
    scores, errors = sums.finish()
    np.testing.assert_allclose(scores, expected, atol=1e-9 * s / min(tau, s - tau))
    assert errors is None
    assert not sums.degenerate


@pytest.mark.parametrize("p_t", [0.0, 3.0, 3.0 * (1 - 1e-15), 3.0 * 1e-15])
def test_relief_without_target_differences_scores_zero(p_t):
    sums = ReliefSums([0.5, 0.2], [1.0, 0.5], p_t, 3.0)
    assert sums.degenerate
    assert sums.finish()[0].tolist() == [0.0, 0.0]
    assert ReliefSums.empty(2).finish()[0].tolist() == [0.0, 0.0]


def test_pairs_that_were_left_out_of_a_feature():
    """The first feature is known in half of the weights: it has its own P_T and s, and the root of a half."""
    sums = ReliefSums([1.0, 1.0], [1.5, 1.5], 2.0, 4.0, [0.5, 0.0], [2.0, 0.0])
    first = (1.0 / 1.5 - 0.5 / 0.5) * np.sqrt(0.5)
    np.testing.assert_allclose(sums.finish()[0], [first, 1.0 / 2.0 - 0.5 / 2.0])
    whole = ReliefSums([1.0, 1.0], [1.5, 1.5], 2.0, 4.0)
    merged = sums.merge(whole)
    assert merged.left_out.tolist() == [2.0, 0.0]
    assert merged == whole.merge(sums)
    assert Accumulator.from_json(sums.to_json()) == sums
    nothing_left = ReliefSums([0.0, 1.0], [0.0, 1.5], 2.0, 4.0, [2.0, 0.0], [4.0, 0.0])
    assert nothing_left.finish()[0][0] == 0
    assert not nothing_left.degenerate
    for part in ({"left_out": [1.0]}, {"left_out": [1.0], "left_out_t": [1.0]}):
        with pytest.raises(DataError, match="left out"):
            ReliefSums([1.0, 1.0], [1.5, 1.5], 2.0, 4.0, **part)


def test_relief_sums_of_several_targets_are_rows():
    rows = [([2.0, 1.0], [2.0, 2.0], 2.0, 4.0), ([0.0, 0.0], [2.0, 2.0], 0.0, 4.0)]
    together = ReliefSums(*(np.array(part) for part in zip(*rows, strict=True)))
    for i, row in enumerate(rows):
        np.testing.assert_array_equal(together.finish()[0][i], ReliefSums(*row).finish()[0])
    assert together.degenerate
    assert together.merge(together).shape == (2, 2)


# -- rankings ---------------------------------------------------------------------------------------------


def grown(trees, first=0, entropy=42, names=("a", "b", "c"), **changes):
    fields = {
        "parameters": {"n_trees": len(trees), "max_features": 2, "random_state": entropy, "n_jobs": 1},
        "task": "regression",
        "fingerprint": "f00d",
        "seeds": SeedRanges.of(entropy, first, first + len(trees)),
    }
    state = MeanAccumulator.empty(len(names)).update(trees)
    return Ranking.from_state(names, state, "genie3", **(fields | changes))


@given(tree_scores, st.data())
def test_merged_parts_are_the_whole_in_any_order(trees, data):
    cuts = sorted(data.draw(st.lists(st.integers(1, max(1, len(trees) - 1)), max_size=2, unique=True)))
    edges = [0, *[cut for cut in cuts if cut < len(trees)], len(trees)]
    parts = [grown(trees[a:b], first=a) for a, b in itertools.pairwise(edges)]
    whole = grown(trees)
    for order in itertools.permutations(parts):
        merged = order[0]
        for part in order[1:]:
            merged = merged.merge(part)
        assert close(merged.state, whole.state)
        np.testing.assert_array_equal(merged.scores, merged.state.finish()[0])
        assert merged.seeds == whole.seeds
        assert merged.parameters == whole.parameters
        assert (merged.standard_errors is None) == (whole.standard_errors is None)


def refused_both_ways(a, b, reason):
    for one, other in ((a, b), (b, a)):
        with pytest.raises(DataError, match=f"these rankings cannot be merged: .*{reason}"):
            one.merge(other)


TREES = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"fingerprint": "beef"}, "different data .*beef"),
        ({"fingerprint": None}, "no fingerprint"),
        ({"task": "classification"}, "task is"),
        ({"names": ("a", "b", "d")}, "feature names differ"),
        ({"parameters": {"n_trees": 2, "max_features": 3}}, "parameter 'max_features' is"),
        (
            {"parameters": {"n_trees": 2, "max_features": 2, "bootstrap": True}},
            "'bootstrap' is given in one only",
        ),
        ({"seeds": None}, "random streams"),
        ({"seeds": SeedRanges(())}, "random streams"),
        ({"first": 1}, "streams 1 to 1 of seed 42"),
        ({"per_target": TargetScores(("y",), [[1.0, 2.0, 3.0]])}, "only one of them has per-target"),
    ],
)
def test_rankings_that_do_not_belong_together_are_refused(changes, reason):
    other = {"first": 2} | changes
    refused_both_ways(grown(TREES), grown(TREES, **other), reason)


def test_other_refusals():
    whole = grown(TREES)
    unknown = [Ranking(**(grown(TREES, first=first)._fields() | {"method": "unheard-of"})) for first in (0, 2)]
    refused_both_ways(*unknown, "the method 'unheard-of' is not registered here")
    bare = Ranking(**(grown(TREES, first=2)._fields() | {"state": None}))
    refused_both_ways(whole, bare, "keeps no sums")
    renamed = Ranking(**(grown(TREES, first=2)._fields() | {"method": "symbolic"}))
    refused_both_ways(whole, renamed, "method is")
    refused_both_ways(whole, grown([[1.0]], first=2, names=("a",)), "feature names differ")
    refused_both_ways(whole, whole, "streams 0 to 1")
    # the overlap is found in merged rankings as well, whichever came first
    refused_both_ways(whole.merge(grown(TREES, entropy=7)), grown(TREES, first=1, entropy=7), "of seed 7")


def test_different_seeds_and_free_parameters_are_accepted():
    other = grown(TREES, entropy=7, parameters={"max_features": 2, "n_jobs": 8, "n_trees": 2})
    merged = grown(TREES).merge(other)
    assert merged.parameters == {"n_trees": 4, "max_features": 2}
    assert merged.seeds.ranges == ((7, 0, 2), (42, 0, 2))
    assert merged.state.count == 4


@pytest.mark.parametrize("method", ["relief", "univariate"])
def test_only_what_the_ranker_counts_adds_up(method):
    def of(n_trees, first):
        parameters = {"n_trees": n_trees, "n_iterations": 5} if method == "relief" else {"n_trees": n_trees}
        return Ranking(**(grown(TREES, first=first, parameters=parameters)._fields() | {"method": method}))

    refused_both_ways(of(2, 0), of(3, 2), "parameter 'n_trees' is")
    merged = of(2, 0).merge(of(2, 2))
    assert merged.parameters["n_trees"] == 2
    assert merged.parameters.get("n_iterations") == (10 if method == "relief" else None)


def test_amounts_that_cannot_be_added_are_left_out():
    def relief(amount, entropy):
        return Ranking.from_state(
            ["a", "b"],
            ReliefSums([2.0, 1.0], [2.0, 2.0], 2.0, 4.0),
            "relief",
            parameters={"n_iterations": amount, "n_neighbors": 15},
            fingerprint="f00d",
            seeds=SeedRanges.of(entropy, 0, 4),
        )

    merged = relief(0.25, 1).merge(relief(0.5, 2))
    assert merged.parameters == {"n_iterations": 0.75, "n_neighbors": 15}
    assert merged.scores.tolist() == [1.0, 0.0]
    assert merged.standard_errors is None
    mixed = relief(10, 1).merge(relief(0.5, 2))
    assert mixed.parameters == {"n_neighbors": 15}
    assert mixed.merge(relief(10, 3)).parameters == {"n_neighbors": 15}


def test_per_target_scores_are_merged():
    rng = np.random.default_rng(0)
    trees = rng.random((5, 2, 3))

    def part(start, stop):
        state = MeanAccumulator.empty((2, 3)).update(trees[start:stop])
        targets = TargetScores.from_state(("y", "z"), state)
        return grown(trees[start:stop].mean(axis=1), first=start, per_target=targets)

    merged = part(0, 2).merge(part(2, 5))
    np.testing.assert_allclose(merged.per_target.scores, trees.mean(axis=0), rtol=1e-14)
    bare = Ranking(**(part(2, 5)._fields() | {"per_target": TargetScores(("y", "z"), part(2, 5).per_target.scores)}))
    refused_both_ways(part(0, 2), bare, "per-target scores have no sums")
    renamed = TargetScores.from_state(("y", "v"), part(2, 5).per_target.state)
    refused_both_ways(part(0, 2), Ranking(**(part(2, 5)._fields() | {"per_target": renamed})), "target names")


def test_merged_rankings_have_no_p_values():
    """Those of all trees together do not follow from those of two parts."""
    a, b = (grown([[1.0, 2.0, 3.0]], first=k, p_values=[0.1, 0.2, 0.3]) for k in range(2))
    assert a.merge(b).p_values is None
