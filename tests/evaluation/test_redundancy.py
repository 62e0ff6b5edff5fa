"""Features that stand for each other: associations of pairs, groups, known copies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from omnirank.data.table import Table
from omnirank.evaluation import redundancy
from omnirank.evaluation.redundancy import Pairs, associated_pairs, leader_groups
from reference.evaluation_associations import association


@st.composite
def tables(draw):
    """Small tables of all kinds of columns: related ones, ties, constants, missing cells."""
    n = draw(st.integers(4, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    signal = rng.normal(size=n)
    columns, levels = [], []
    for _ in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(["number", "ties", "constant", "nominal", "related levels", "related number"]))
        missing = rng.random(n) < draw(st.sampled_from([0.0, 0.0, 0.3, 0.9, 1.0]))
        if "nominal" in kind or "levels" in kind:
            k = draw(st.integers(1, 5))
            codes = rng.integers(0, k, n) if kind == "nominal" else np.clip((signal * k).astype(int), 0, k - 1)
            columns.append(np.where(missing, -1, codes).astype(np.int32))
            levels.append(tuple(range(k)))
            continue
        values = {
            "number": rng.normal(size=n),
            "ties": rng.integers(0, 3, n).astype(float),
            "constant": np.full(n, 2.5),
            "related number": np.exp(signal) + draw(st.sampled_from([0.0, 0.3])) * rng.normal(size=n),
        }[kind]
        columns.append(np.where(missing, np.nan, values))
        levels.append(None)
    return Table.from_columns([f"x{i}" for i in range(len(columns))], columns, levels)


@pytest.mark.slow
@given(tables(), st.sampled_from([1e-6, 0.3, 0.9]), st.booleans())
def test_associations_are_those_of_the_definitions(table, threshold, in_blocks):
    before = redundancy._BLOCK
    redundancy._BLOCK = 2 if in_blocks else before
    try:
        found = associated_pairs(table, threshold)
    finally:
        redundancy._BLOCK = before
    values = {(i, j): value for i, j, value in zip(*(part.tolist() for part in found), strict=True)}
    assert list(values) == sorted(values)
    for i in range(table.n_columns):
        for j in range(i + 1, table.n_columns):
            nominal = bool(table.is_nominal[i]), bool(table.is_nominal[j])
            expected = association(table.column(i), table.column(j), *nominal)
            if (i, j) in values:
                assert values[i, j] == pytest.approx(expected, abs=1e-6)
            else:
                assert expected < threshold + 1e-6


def test_a_feature_that_only_follows_from_another_does_not_stand_for_it():
    rng = np.random.default_rng(0)
    fine = rng.integers(0, 20, 500)
    frame = pd.DataFrame({"fine": fine.astype(str), "again": [f"n{v}" for v in fine], "coarse": (fine > 9).astype(str)})
    found = om.redundancy([3.0, 2.0, 1.0], frame)
    assert [str(group) for group in found.groups] == ["fine stands also for: again", "coarse"]
    assert found.groups[0].associations == (pytest.approx(1.0),)


def test_many_levels_of_noise_are_not_related():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"many": rng.integers(0, 60, 200).astype(str), "others": rng.integers(0, 80, 200).astype(str)}
        | {"number": rng.normal(size=200), "name": [f"id{i}" for i in range(200)]}
    )
    table = om.Dataset(frame).features
    assert associated_pairs(table, 0.35).first.tolist() == []


@pytest.mark.slow
def test_ten_copies_are_one():
    rng = np.random.default_rng(0)
    signals = rng.normal(size=(300, 3))
    copies = np.column_stack([signals[:, i % 3] + 0.05 * rng.normal(size=300) for i in range(30)])
    y = signals @ [3.0, 2.0, 1.0]
    for X in (copies, np.where(rng.random(copies.shape) < 0.1, np.nan, copies)):
        data = om.Dataset(X, y)
        ranker = om.EnsembleRanker(random_state=0).fit(data)
        found = om.redundancy(ranker, data)
        assert len(found.groups) == 3
        for group in found.groups:
            assert {int(name[1:]) % 3 for name in (group.representative, *group.others)} == {
                int(group.representative[1:]) % 3
            }
            best = min(
                ranker.ranking_.ranks[ranker.ranking_.names.index(n)] for n in (group.representative, *group.others)
            )
            assert ranker.ranking_.ranks[ranker.ranking_.names.index(group.representative)] == best
        assert sum(group.score for group in found.groups) == pytest.approx(ranker.ranking_.scores.sum())
        strongest = max(found.groups, key=lambda group: group.score)
        assert int(strongest.representative[1:]) % 3 == 0
    assert found.summary == "30 features form 3 groups (association of at least 0.9); redundant: 27"
    frame = found.to_frame()
    assert set(frame["feature"]) == set(data.feature_names)
    assert (frame["association"] >= 0.9).all()
    assert found.representatives == [group.representative for group in found.groups]
    assert len(found.redundant) == 27


def test_sparse_features():
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 12), density=0.05, random_state=1, format="csc").toarray()
    X[:, 7] = X[:, 2] * 3
    X[5, 7] = np.nan
    scores = rng.random(12)
    dense, thin = (om.redundancy(scores, data) for data in (X, sparse.csc_array(X)))
    assert dense.to_frame().equals(thin.to_frame())
    assert len(dense.redundant) == 1


@given(st.integers(1, 8), st.data())
def test_groups_have_leaders(n, data):
    pairs = data.draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12, unique=True).map(
            lambda drawn: sorted({(min(p), max(p)) for p in drawn if p[0] != p[1]})
        )
    )
    first, second = (np.array([pair[i] for pair in pairs], dtype=int) for i in (0, 1))
    groups = leader_groups(n, Pairs(first, second, np.ones(len(pairs))))
    everyone = sorted([*groups, *(i for others in groups.values() for i in others)])
    assert everyone == list(range(n))
    related = set(pairs)
    for leader, others in groups.items():
        assert all((leader, i) in related for i in others)
        assert not any((better, leader) in related for better in groups if better < leader)


def test_workers_change_no_bit(monkeypatch):
    monkeypatch.setattr(redundancy, "_BLOCK", 3)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12)) + rng.normal(size=(60, 1))
    one, two = (om.redundancy(np.arange(12.0), X, threshold=0.5, n_jobs=n_jobs).to_frame() for n_jobs in (1, 2))
    pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_nothing_to_group():
    names = [f"id{i}" for i in range(20)]
    found = om.redundancy([1.0, 2.0], pd.DataFrame({"a": names, "b": names}))
    assert found.summary == "none of 2 features stands for another (association below 0.9)"
    assert found.representatives == ["b", "a"]


def test_it_is_called_like_its_siblings():
    data = om.datasets.load_sample("iris")
    unfitted = om.UnivariateRanker()
    fitted = om.UnivariateRanker().fit(data.X, data.y)
    expected = om.redundancy(fitted.ranking_, data.X).groups
    assert om.redundancy(fitted, data.X, data.y).groups == om.redundancy(unfitted, data.X, data.y).groups == expected
    assert not hasattr(unfitted, "ranking_")
