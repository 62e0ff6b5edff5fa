from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from omnirank.core.ranking.accumulators import MeanAccumulator, TargetScores
from omnirank.core.ranking.certainty import Certainty, adjusted_p_values, certain_sizes, certainty_of
from omnirank.core.ranking.comparison import compare_rankings, fuzzy_jaccard
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import SeedRanges
from omnirank.errors import DataError, DataTypeError, ParameterError
from reference import core_comparison as reference
from reference.certainty import certain_sizes as slow_sizes

scores_lists = st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0]) | st.floats(-1e9, 1e9), min_size=1, max_size=15)


def named(scores, **others):
    return Ranking([f"x{i}" for i in range(len(scores))], scores, "genie3", **others)


@given(scores_lists)
def test_order_is_by_decreasing_score_and_ties_keep_the_order_of_the_data(scores):
    ranking = named(scores)
    assert ranking.order.tolist() == sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    assert [ranking.ranks[i] for i in ranking.order] == list(range(1, len(scores) + 1))


@given(scores_lists)
def test_tied_ranks(scores):
    ranking = named(scores)
    better = [sum(other > score for other in scores) for score in scores]
    equal = [sum(other == score for other in scores) for score in scores]
    assert ranking.tied_ranks("min").tolist() == [b + 1 for b in better]
    assert ranking.tied_ranks().tolist() == [b + (e + 1) / 2 for b, e in zip(better, equal, strict=True)]


@given(scores_lists, st.integers(0, 20))
def test_top_and_positive_are_prefixes_of_the_order(scores, k):
    ranking = named(scores)
    best_first = [ranking.names[i] for i in ranking.order]
    assert ranking.top(k) == best_first[:k]
    assert ranking.positive() == [name for name in best_first if scores[int(name[1:])] > 0]


def test_select():
    ranking = named([0.1, 0.5, 0.0, 0.4])
    assert ranking.select(1).tolist() == [False, True, False, False]
    assert ranking.select(n=9).all()
    assert ranking.select(share=0.5).tolist() == [False, True, False, True]
    assert ranking.select(share=0.01).sum() == 1
    assert ranking.select(share=1.0).all()
    assert ranking.select(threshold=0.4).tolist() == [False, True, False, True]


@pytest.mark.parametrize("wrong", [{}, {"n": 1, "share": 0.5}, {"n": 0}, {"share": 0.0}])
def test_impossible_selections_are_refused(wrong):
    with pytest.raises(ParameterError):
        named([1.0, 2.0]).select(**wrong)


def test_frame_is_sorted_and_has_standard_errors_where_there_are_any():
    frame = named([1.0, 3.0, 2.0]).to_frame()
    assert frame.columns.tolist() == ["rank", "feature", "score"]
    frame = named([1.0, 3.0, 2.0], standard_errors=[0.1, 0.3, 0.2]).to_frame()
    assert frame.columns.tolist() == ["rank", "feature", "score", "standard_error"]
    assert frame["feature"].tolist() == ["x1", "x2", "x0"]
    assert frame["standard_error"].tolist() == [0.3, 0.2, 0.1]
    assert frame["rank"].tolist() == [1, 2, 3]


def test_relevant_features_are_the_significant_ones_best_first():
    p_values = [0.001, 0.03, 0.9, 0.02, 0.04]
    ranking = named([1.0, 3.0, 4.0, 5.0, 2.0], p_values=p_values)
    assert ranking.relevant(correction=None) == ["x3", "x1", "x4", "x0"]
    assert ranking.relevant() == ["x3", "x1", "x4", "x0"]  # 0.04 * 5 / 4 = 0.05
    assert ranking.relevant(0.049) == ["x0"]
    assert ranking.relevant(correction="family-wise") == ["x0"]
    frame = ranking.to_frame()
    assert frame["p_value"].tolist() == [0.02, 0.9, 0.03, 0.04, 0.001]
    assert frame["p_adjusted"].tolist() == pytest.approx([0.05, 0.9, 0.05, 0.05, 0.005])
    assert frame.loc[frame["relevant"], "feature"].tolist() == ranking.relevant()
    for wrong in ({"alpha": 0}, {"alpha": 1.0}, {"correction": "bonferroni"}):
        with pytest.raises(ParameterError):
            ranking.relevant(**wrong)
    with pytest.raises(DataError, match="from 0 to 1"):
        adjusted_p_values([0.5, 1.5])
    with pytest.raises(DataError, match=r"no p values: om\.significance"):
        named([1.0]).relevant()


@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_p_values_as_in_statsmodels(p_values):
    from statsmodels.stats.multitest import multipletests

    for correction, peer in (("fdr", "fdr_bh"), ("family-wise", "holm"), ("hochberg", "simes-hochberg")):
        expected = multipletests(p_values, method=peer)[1]
        np.testing.assert_allclose(adjusted_p_values(p_values, correction), expected, atol=1e-12, err_msg=correction)
    assert adjusted_p_values(p_values, None).tolist() == p_values


def test_group_scores():
    ranking = named([1.0, -2.0, 4.0])
    groups = {"x0": "body", "x1": "body", "x2": "head", "unused": "tail"}
    assert ranking.group_scores(groups).to_dict() == {"head": 4.0, "body": -1.0}
    assert ranking.group_scores(groups).index.tolist() == ["head", "body"]
    assert ranking.group_scores(groups, as_shares=True).to_dict() == {"head": 0.8, "body": 0.2}
    assert named([0.0]).group_scores({"x0": "g"}, as_shares=True).to_dict() == {"g": 0.0}
    with pytest.raises(DataError, match="no group for 2 features, the first is 'x1'"):
        ranking.group_scores({"x0": "body"})


def test_per_target_scores():
    per_target = TargetScores(("power", "cost"), [[1.0, 2.0], [4.0, 3.0]])
    ranking = named([2.5, 2.5], per_target=per_target, task="multi-target-regression")
    assert ranking.for_target("power").top(1) == ["x1"]
    assert ranking.for_target("cost").top(1) == ["x0"]
    assert ranking.for_target("cost").task == "multi-target-regression"
    with pytest.raises(DataError, match="no target 'weight'; targets: power, cost"):
        ranking.for_target("weight")
    with pytest.raises(DataError, match="no per-target"):
        named([1.0]).for_target("power")
    with pytest.raises(DataError, match="per-target scores of 2 features for 3"):
        named([1.0, 2.0, 3.0], per_target=per_target)
    with pytest.raises(DataError, match="for 1 target"):
        TargetScores(("power",), [[1.0], [2.0]])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["a", "a"], [1, 2], "m"), DataError, "two features are called 'a'"),
        ((["a", 1], [1, 2], "m"), DataTypeError, "1 is int"),
        (([], [], "m"), DataError, "no feature"),
        ((["a"], [1, 2], "m"), DataError, r"shape \(2,\) for 1 feature"),
        ((["a", "b"], [1, np.nan], "m"), DataError, "scores must be finite: there is nan at position 1"),
        ((["a", "b"], [0.5, "0.25"], "m"), DataTypeError, "scores must be numbers .there is the text"),
        ((["a"], [1], None), DataTypeError, "method"),
    ],
)
def test_impossible_rankings_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Ranking(*arguments)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"standard_errors": [-1.0]}, "standard error of feature 'x0' is -1: it must not be negative"),
        ({"p_values": [1.5]}, "p value of feature 'x0' is 1.5: it must lie between 0 and 1"),
        ({"task": 3}, "task of a ranking must be a string"),
        ({"parameters": [1]}, "must be a mapping"),
        ({"parameters": {"base": object()}}, r"parameters\['base'\] is of type object"),
        ({"state": "trees"}, "state must be an Accumulator"),
        ({"state": MeanAccumulator.empty(1).update([[2.0]])}, "not those of the given state"),
        ({"state": MeanAccumulator.empty(2).update([[1.0, 1.0]])}, "not those of the given state"),
    ],
)
def test_impossible_fields_are_refused(others, message):
    with pytest.raises((DataError, DataTypeError), match=message):
        named([1.0], **others)


def full_ranking():
    trees = MeanAccumulator.empty(2).update([[1.0, 2.0], [3.0, 2.5]])
    targets = MeanAccumulator.empty((1, 2)).update([[[1.0, 2.0]], [[3.0, 2.5]]])
    return Ranking.from_state(
        ["a", "b"],
        trees,
        "genie3",
        parameters={"n_trees": np.int64(2), "influence": (0.0, 1.0), "nested": {"on": np.True_, "none": None}},
        task="regression",
        fingerprint="f00d",
        seeds=SeedRanges.of(42, 0, 2),
        per_target=TargetScores.from_state(("y",), targets),
    )


def test_from_state_finishes_scores_and_errors():
    ranking = full_ranking()
    assert ranking.scores.tolist() == [2.0, 2.25]
    assert ranking.standard_errors.tolist() == [1.0, 0.25]
    assert named([1.0], state=MeanAccumulator.empty(1).update([[1.0]])).standard_errors is None


def test_a_ranking_cannot_be_changed():
    scores = np.array([1.0, 2.0])
    ranking = named(scores, parameters={"deep": {"list": [1]}})
    scores[0] = 99
    assert ranking.scores.tolist() == [1.0, 2.0]
    with pytest.raises(AttributeError):
        ranking.scores = scores
    for array in (ranking.scores, ranking.order, ranking.ranks, full_ranking().state.mean):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
    with pytest.raises(TypeError):
        ranking.parameters["deep"]["list"] = 3
    with pytest.raises(TypeError):
        ranking.parameters["new"] = 3


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_copies_are_equal_and_cannot_be_changed(duplicate):
    ranking = full_ranking()
    other = duplicate(ranking)
    assert other == ranking
    assert hash(other) == hash(ranking)
    for array in (other.scores, other.state.m2, other.per_target.scores, other.per_target.state.mean):
        assert not array.flags.writeable
    with pytest.raises(TypeError):
        other.parameters["new"] = 3


@pytest.mark.parametrize(
    "change",
    [
        {"names": ["a", "c"]},
        {"scores": [2.0, 2.25 + 1e-15]},
        {"method": "symbolic"},
        {"parameters": {}},
        {"task": None},
        {"standard_errors": None},
        {"p_values": [0.5, 1.0]},
        {"state": None},
        {"fingerprint": "beef"},
        {"seeds": None},
        {"per_target": None},
    ],
)
def test_every_field_counts_for_equality(change):
    ranking = full_ranking()
    assert Ranking(**(ranking._fields() | change)) != ranking
    assert Ranking(**ranking._fields()) == ranking
    assert ranking != "ranking"


def test_texts_are_short_and_safe():
    ranking = named(np.arange(100.0), task="classification")
    assert repr(ranking) == "Ranking(genie3, classification, 100 features: x99 99, x98 98, x97 97, ...)"
    shown = ranking._repr_html_()
    assert "x99" in shown
    assert "x89" not in shown
    assert "90 more" in shown
    assert "<b>bold" not in Ranking(["<b>bold"], [1.0], "<b>bold")._repr_html_()
    assert len(ranking) == 100


def test_importing_the_core_stays_light():
    # a bare package in place of omnirank's own __init__, which imports the other rooms
    code = (
        "import importlib.util, sys, types\n"
        "bare = types.ModuleType('omnirank')\n"
        "bare.__path__ = importlib.util.find_spec('omnirank').submodule_search_locations\n"
        "sys.modules['omnirank'] = bare\n"
        "import omnirank.core.ranking.comparison, omnirank.core.parallel, omnirank.plots\n"
        "heavy = {'matplotlib', 'rich', 'numba', 'sklearn', 'scipy', 'pandas', 'joblib'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- which first features are those of a run with infinitely many trees, and how often that is wrong


def ranking_of(trees, **others):
    trees = np.asarray(trees, float)
    names = [f"x{i}" for i in range(trees.shape[1])]
    return Ranking.from_state(names, MeanAccumulator.empty(len(names)).update(trees), "genie3", **others)


scores = st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 6)), min_size=1, max_size=9)


@given(scores, st.sampled_from([2, 3, 4, 5, 60]), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_intervals_and_pairs_agree(found, n, confidence):
    x, s = np.array(found, float).T
    assert certain_sizes(x, s / 4, n, confidence) == slow_sizes(x, s / 4, n, confidence)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [-0.95, 0.0, 0.95])
def test_wrong_statements_are_as_rare_as_promised(correlation):
    """Pairs of nearly equal features are where statements go wrong; scores of a tree compete or go together."""
    rng = np.random.default_rng(0)
    expected = np.repeat(np.arange(0, 20, 2.0), 2) + np.tile([0.0, 1e-6], 10)
    right = {k: set(np.argsort(-expected)[:k]) for k in range(1, 20)}
    wrong = made = 0
    for _ in range(1000):
        shared, own = rng.normal(size=(30, 10, 1)), rng.normal(size=(30, 10, 2))
        sign = np.array([1, np.sign(correlation)])
        noise = np.sqrt(abs(correlation)) * shared * sign + np.sqrt(1 - abs(correlation)) * own
        ranking = ranking_of(expected + noise.reshape(30, 20))
        sizes = ranking.certainty().sizes
        made += len(sizes)
        wrong += any(set(ranking.order[:k]) != right[k] for k in sizes)
    assert made >= 9 * 900
    assert wrong <= 50 + 2 * np.sqrt(1000 * 0.05 * 0.95)


def test_equal_features_are_never_told_apart():
    assert certain_sizes(np.array([1.0, 1.0, 0.0, 0.0]), np.zeros(4), 10) == (2,)
    assert ranking_of([[3.0, 1.0], [3.0, 1.0]]).certainty().sizes == (1,)


def test_constant_features_are_last_in_every_run():
    trees = np.random.default_rng(0).normal([5.0, -1.0, 0.0], 0.1, size=(20, 3))
    assert ranking_of(trees, constant=("x2",)).certainty().sizes == (1,)
    assert ranking_of(trees).certainty().sizes == (1, 2)


def test_a_file_knows_it_too(tmp_path):
    ranking = om.EnsembleRanker(n_trees=30, random_state=0).fit(om.datasets.load_sample("iris")).ranking_
    ranking.save(tmp_path / "ranking.json")
    assert om.Ranking.load(tmp_path / "ranking.json").certainty() == ranking.certainty()
    ranking.save(tmp_path / "ranking.csv")
    with pytest.raises(DataError, match="not known how sure"):
        om.Ranking.load(tmp_path / "ranking.csv").certainty()
    with pytest.raises(ParameterError, match="confidence=1"):
        ranking.certainty(1)


def test_one_tree_is_certain_of_nothing():
    assert certainty_of(ranking_of([[3.0, 1.0]])).summary == ("More trees could still change the top features (1 tree)")


@pytest.mark.parametrize(
    ("sizes", "top"), [((1,), "the best feature"), ((1, 4, 20, 30), "the top 20"), ((40, 50), "the top 40")]
)
def test_words(sizes, top):
    assert str(Certainty(sizes, 0.95, 9)) == f"More trees would not change {top} (95 % confident, 9 trees)"


# -- agreement of two rankings ---------------------------------------------------------------------


# few distinct values, so that ties and zeros are common; and sizes that differ by many orders
values = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0, 0.1, 1e-12, 1e12, 1e-300]) | st.floats(0, 1e6, width=32)
pairs = st.lists(st.tuples(values, values), min_size=1, max_size=12)


def ranking(scores, names=None):
    names = [f"x{i}" for i in range(len(scores))] if names is None else names
    return Ranking(names, scores, "genie3")


@given(pairs)
def test_fuzzy_jaccard_agrees_with_its_definition(pair):
    a, b = zip(*pair, strict=True)
    expected = [reference.fuji(a, b, j) for j in range(1, len(a) + 1)]
    np.testing.assert_allclose(fuzzy_jaccard(a, b), expected, rtol=1e-12)


def test_fuzzy_jaccard_does_not_lose_small_scores_beside_huge_ones():
    # 1e20 leaves the sums at j = 2; a running sum with subtraction would have lost the 1 by then
    a, b = [1.0, 8.0, 4.0, 2.0], [2.0, 1.0, 1e20, 3.0]
    expected = [reference.fuji(a, b, j) for j in range(1, 5)]
    np.testing.assert_allclose(fuzzy_jaccard(a, b), expected, rtol=1e-12)


def test_fuzzy_jaccard_refuses_negative_scores_and_other_shapes():
    with pytest.raises(DataError, match="not negative"):
        fuzzy_jaccard([1, -1], [1, 1])
    with pytest.raises(DataError, match="shape"):
        fuzzy_jaccard([1, 2], [1])


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=12))
def test_correlations_agree_with_their_definitions(pair):
    a, b = zip(*pair, strict=True)
    comparison = compare_rankings(ranking(a), ranking(b))
    np.testing.assert_allclose(comparison.kendall, reference.kendall_tau_b(a, b), atol=1e-12)
    np.testing.assert_allclose(comparison.spearman, reference.spearman(a, b), atol=1e-12)


@pytest.mark.parametrize("n", [2, 5, 60])
def test_a_ranking_is_exactly_as_itself(n):
    assert compare_rankings(ranking(range(n)), ranking(range(n))).spearman == 1


@given(pairs, st.data())
def test_top_k_measures_agree_with_their_definitions(pair, data):
    a, b = zip(*pair, strict=True)
    n = len(a)
    k = data.draw(st.integers(1, n))
    comparison = compare_rankings(ranking(a), ranking(b), k=k)
    common = len(reference.top(a, k) & reference.top(b, k))
    assert comparison.jaccard == pytest.approx(common / (2 * k - common))
    expected = 1 if k == n else (common * n - k * k) / (k * (n - k))
    assert comparison.kuncheva == pytest.approx(expected)
    assert comparison.to_dict()["k"] == k


@given(pairs, st.randoms())
def test_rankings_are_aligned_by_name(pair, random):
    a, b = zip(*pair, strict=True)
    names = [f"x{i}" for i in range(len(a))]
    shuffled = list(range(len(a)))
    random.shuffle(shuffled)
    other = ranking([b[i] for i in shuffled], [names[i] for i in shuffled])
    straight, aligned = compare_rankings(ranking(a), ranking(b)), compare_rankings(ranking(a), other)
    np.testing.assert_array_equal(straight.fuji, aligned.fuji)
    np.testing.assert_equal(straight.to_dict(), aligned.to_dict())


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 2), (4, 2), (5, 3), (9, 3), (10, 4), (100, 10)])
def test_default_k_is_the_square_root_rounded_up(n, k):
    a = ranking(np.arange(n))
    assert compare_rankings(a, a).k == k


def test_different_features_are_named():
    with pytest.raises(DataError, match=r"1 only in the first ranking \(such as 'b'\) and 2 only in the second"):
        compare_rankings(ranking([1, 2], ["a", "b"]), ranking([1, 2, 3], ["a", "c", "d"]))
