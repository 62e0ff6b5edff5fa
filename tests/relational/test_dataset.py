"""Relational data sets: targets of all kinds, views, times, fingerprints, generated movies, size."""

from __future__ import annotations

import pickle
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import DataError
from omnirank.relational import RelationalDataset
from reference.relational_tables import decoded_facts

R = RelationalDataset


def shop(**columns):
    frame = pd.DataFrame({"id": [3, 1, 2], **columns})
    return {"a": frame, "b": pd.DataFrame({"id": [1, 2], "a_id": [3, 1], "x": [0.5, 1.5]})}


@pytest.mark.parametrize(
    ("columns", "target", "task", "y"),
    [
        ({"y": ["u", None, "v"]}, "a.y", "classification", [None, "v", "u"]),
        ({"y": [0.5, np.nan, 1.5]}, "a.y", "regression", [np.nan, 1.5, 0.5]),
        ({"y": [1, 2, 2]}, "a.y", "classification", [2, 2, 1]),
        ({"y": [0.5, 1.5, 2.5], "z": [1.5, 2.5, 3.5]}, ["a.y", ("a", "z")], "multi-target-regression", None),
        ({"y": [0, 1, 1], "z": [1, 0, 1]}, ["a.y", "a.z"], "multi-label", None),
        ({"y": ["k", "l", "l"], "z": [0.5, 1.5, 1.5]}, ["a.y", "a.z"], "mixed-targets", None),
        ({"y": [{"p"}, {"q"}, {"p", "q"}]}, "a.y", "multi-label", None),
    ],
)
def test_targets_are_those_of_plain_data_sets(columns, target, task, y):
    data = R.from_frames(shop(**columns), target=target)
    assert data.task == task
    order = [1, 2, 0]  # by identifier
    if len(columns) == 1:
        given = [columns["y"][i] for i in order]
        plain = om.Dataset(np.zeros((3, 1)), given)
    else:
        plain = om.Dataset(np.zeros((3, 1)), pd.DataFrame(columns).iloc[order].reset_index(drop=True))
    assert plain.task == task
    assert np.array_equal(data.target.dense(), plain.target.dense(), equal_nan=True)
    assert data.labelled.tolist() == plain.labelled.tolist()
    assert set(data.database.relations) == {"b_a_id", "b_x"}
    if y is not None:
        assert [None if v != v else v for v in data.y.tolist()] == [None if v != v else v for v in y]


def test_hierarchies_and_given_tasks():
    hierarchy = om.Hierarchy(("p", "q"), ((), (0,)))
    data = R.from_frames(shop(y=[{"p"}, {"q"}, set()]), target="a.y", hierarchy=hierarchy)
    assert data.task == "hierarchical-multi-label"
    assert data.target.dense().tolist() == [[1, 1], [0, 0], [1, 0]]
    assert R.from_frames(shop(y=[1, 2, 2]), target="a.y", task="regression").task == "regression"
    assert R.from_frames(shop(y=[1, 2, 2]), target="a.y", task="clustering").target is None


def test_doubts_about_the_task_are_notes():
    n = 50
    frame = pd.DataFrame({"id": np.arange(n), "y": np.arange(n)})
    assert any("y" in note and "regression" in note for note in R.from_frames({"a": frame}, target="a.y").notes)


def test_views_share_the_database():
    data = om.datasets.make_movies(30, random_state=0)
    view = data.take([5, 2, 2])
    assert view.database is data.database
    assert view.example_ids.tolist() == [6, 3, 3]
    assert view.y.tolist() == data.y[[5, 2, 2]].tolist()
    assert len(view.labelled) == 3
    assert view.take(slice(1, None)).example_ids.tolist() == [3, 3]
    assert view.fingerprint != data.fingerprint
    assert data.take(slice(None)).fingerprint == data.fingerprint
    assert data.take(np.arange(30) < 3).n_examples == 3
    assert data.notes == view.notes
    with pytest.raises(DataError, match="there is no row 30"):
        data.take([30])


def test_data_sets_can_be_pickled():
    data = om.datasets.make_movies(10, random_state=0)
    again = pickle.loads(pickle.dumps(data))
    assert again.fingerprint == data.fingerprint
    assert decoded_facts(again) == decoded_facts(data)


def test_fingerprints_tell_data_apart():
    frames = om.datasets.make_movies(10, random_state=0, as_frames=True)
    found = {R.from_frames(frames, target="movies.genre").fingerprint}
    for table, column in (("users", "age"), ("ratings", "stars"), ("movies", "genre"), ("ratings", "user_id")):
        frame = frames[table].copy()
        frame.loc[0, column], frame.loc[1, column] = frame[column].iloc[-1], frame[column].iloc[-2]
        found.add(R.from_frames(frames | {table: frame}, target="movies.genre").fingerprint)
    assert len(found) > 3


# -- times --------------------------------------------------------------------------------------------


def test_times_of_examples_and_facts():
    frames = {
        "customers": pd.DataFrame({"id": [2, 1], "asked": pd.to_datetime(["2020-01-02", None]), "y": ["a", "b"]}),
        "orders": pd.DataFrame(
            {"id": [8, 7], "customer_id": [1, 2], "day": pd.to_datetime(["1970-01-02", None]), "cost": [None, 2.0]}
        ),
        "visits": pd.DataFrame({"customer_id": [1, 1, 2], "place": ["x", "x", "y"], "when": [5.0, 3.0, 4.0]}),
    }
    options = {"target": "customers.y", "keys": {"visits": None}}
    data = R.from_frames(frames, time={"customers": "asked", "orders": "day", "visits": "when"}, **options)
    assert data.example_ids.tolist() == [1, 2]
    assert data.times.tolist() == [np.inf, pd.Timestamp("2020-01-02").timestamp()]
    assert data.take([1]).times.tolist() == data.times[1:].tolist()
    relations = data.database.relations
    # in the order of the facts; a fact without a time is later than all
    assert relations["orders_customer_id"].times.tolist() == [np.inf, 86400.0]
    assert relations["orders_cost"].times.tolist() == [np.inf]
    # of a fact that was known twice the earlier time counts
    assert decoded_facts(data)["visits_place"] == [(1, "x"), (2, "y")]
    assert relations["visits_place"].times.tolist() == [3.0, 4.0]
    assert relations["customers_asked"].times is not None
    assert any("customers.asked is missing in 1 row: examples without a time see all facts" in n for n in data.notes)
    assert any("orders.day is missing in 1 row: they count as later" in n for n in data.notes)
    assert data.time_columns == {"customers": "asked", "orders": "day", "visits": "when"}
    listed = R.from_frames(frames, time=["customers.asked", ("orders", "day"), "visits.when"], **options)
    assert listed.fingerprint == data.fingerprint
    plain = R.from_frames(frames, **options)
    assert plain.times is None
    assert all(relation.times is None for relation in plain.database.relations.values())
    assert plain.fingerprint != data.fingerprint
    assert R.from_frames(frames, target="customers.y", like=data).fingerprint == data.fingerprint


# -- movies -------------------------------------------------------------------------------------------


def test_movies_follow_their_rule():
    frames = om.datasets.make_movies(300, noise=0.0, random_state=1, as_frames=True)
    ratings = frames["ratings"].merge(frames["users"], left_on="user_id", right_on="id")
    means = ratings.groupby("movie_id")[["stars", "age"]].mean()
    genre = np.where(means["stars"] > 5.5, np.where(means["age"] > 42, "drama", "comedy"), "thriller")
    assert (frames["movies"].set_index("id")["genre"] == genre).all()
    assert frames["movies"]["genre"].value_counts(normalize=True).min() > 0.15
    again = om.datasets.make_movies(300, noise=0.0, random_state=1, as_frames=True)
    assert all(again[name].equals(frame) for name, frame in frames.items())
    noisy = om.datasets.make_movies(300, noise=0.1, random_state=1, as_frames=True)
    assert (noisy["movies"]["genre"] != frames["movies"]["genre"]).sum() == 30


# -- size ---------------------------------------------------------------------------------------------


def test_large_tables_are_coded_without_a_loop_and_without_much_memory():
    rng = np.random.default_rng(0)

    def table(n, parent=None, n_parents=0):
        columns = {"id": np.arange(n)} | ({} if parent is None else {parent: rng.integers(0, n_parents, n)})
        kinds = pd.Categorical.from_codes(rng.integers(0, 10, n), list("abcdefghij"))
        return pd.DataFrame(columns | {"a": rng.normal(size=n), "b": rng.normal(size=n), "c": kinds})

    frames = {
        "customers": table(20_000),
        "orders": table(300_000, "customer_id", 20_000),
        "items": table(900_000, "order_id", 300_000),
    }
    n_bytes = sum(frame.memory_usage(index=False).sum() for frame in frames.values())
    tracemalloc.start()
    start = time.process_time()
    data = R.from_frames(frames, target="customers")
    seconds = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(data.database.relations) == 11
    assert peak < 3 * n_bytes
    assert seconds < 5  # 0.1 to 0.2 s; a loop over rows takes longer
