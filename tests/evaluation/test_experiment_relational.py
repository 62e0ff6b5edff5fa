"""Plans over several tables: folders, databases and facts, relational learners and rankers, resumed runs."""

from __future__ import annotations

import sqlite3

import pytest

import omnirank as om
from omnirank.core.errors import DataError, ParameterError
from omnirank.evaluation.experiments import read_plan, read_results, run_plan
from omnirank.evaluation.folds import make_folds
from omnirank.measures import measure
from omnirank.relational import RelationalDataset, RelationalForest, RelationalRanker
from reference.experiment_plans import in_process

FRAMES = om.datasets.make_movies(60, random_state=0, as_frames=True)
SETTINGS = {"n_trees": 3, "lookahead": 2}
FOREST = {"use": "relational-forest", "parameters": SETTINGS}
RANKERS = {"use": ["relational-genie3", "relational-symbolic"], "parameters": SETTINGS}


@pytest.fixture(autouse=True)
def backend(monkeypatch):
    return in_process(monkeypatch)


@pytest.fixture
def films(tmp_path):
    (tmp_path / "films").mkdir()
    for name, frame in FRAMES.items():
        frame.to_csv(tmp_path / "films" / f"{name}.csv", index=False)
    return tmp_path / "films"


def plan_of(data, *methods, **more):
    return {"data": [data], "method": list(methods), "folds": {"n_folds": 2}, **more}


@pytest.mark.slow
def test_a_folder_is_ranked_and_predicted_by_folds(films, backend):
    plan = plan_of(
        {"folder": str(films), "target": "movies.genre"},
        FOREST,
        RANKERS,
        study={"keep_rankings": True, "name": "films"},
    )
    store = films.parent / "results.sqlite"
    assert run_plan(plan, store=store).counts == {"done": 6}
    assert len(backend[0].orders) == 4, "both rankings of a fold are one fit"
    study = read_results(store)["films"]
    assert list(study.table("accuracy").columns) == ["relational-forest", "relational-genie3", "relational-symbolic"]
    data = RelationalDataset.from_folder(films, target="movies.genre")
    for number, fold in enumerate(make_folds(data, "cross-validation", n_folds=2, random_state=0)):
        train, test = fold.training(data), fold.testing(data)
        model = RelationalForest(**SETTINGS, random_state=0).fit(train)
        found = measure(test.target, model.predict_means(test), training=train.target, task=train.task)
        rows = study.figures.query(f"method == 'relational-forest' and fold == {number}")
        assert dict(zip(rows["measure"], rows["value"], strict=True)) == pytest.approx(found)
        for name in ("genie3", "symbolic"):
            ranking = RelationalRanker(name, **SETTINGS, random_state=0).fit(train).ranking_
            kept = om.experiments.read_rankings(store, "films", "films", f"relational-{name}")[f"seed=0 fold={number}"]
            assert kept.names == ranking.names
            assert kept.scores.tolist() == ranking.scores.tolist()


@pytest.mark.slow
def test_a_run_that_is_started_again_computes_what_is_new(films):
    store = films.parent / "results.sqlite"
    data = {"folder": str(films), "target": "movies.genre"}
    assert run_plan(plan_of(data, FOREST), store=store).n_new == 2
    assert run_plan(plan_of(data, FOREST), store=store).n_new == 0
    assert run_plan(plan_of(data | {"exclude": ["nations"]}, FOREST), store=store).n_new == 2
    tree = {"use": "relational-tree", "grid": {"max_depth": [1, 3]}, "select": {"n_folds": 2}}
    assert run_plan(plan_of(data, FOREST, tree), store=store).n_new == 2
    ratings = FRAMES["ratings"].assign(stars=FRAMES["ratings"]["stars"] + 1)
    ratings.to_csv(films / "ratings.csv", index=False)
    assert run_plan(plan_of(data, FOREST), store=store).n_new == 2, "the data have changed"


@pytest.mark.slow
def test_labels_may_be_hidden(films):
    plan = plan_of({"folder": str(films), "target": "movies.genre"}, FOREST)
    plan["folds"] |= {"scheme": "semi-supervised", "labelled": [10, 20]}
    store = films.parent / "results.sqlite"
    assert run_plan(plan, store=store).counts == {"done": 4}
    assert sorted(read_results(store)["plan"].figures["labelled"].unique()) == [10, 20]


@pytest.mark.slow
def test_databases_and_facts(tmp_path, monkeypatch):
    connection = sqlite3.connect(tmp_path / "films.db")
    for name, frame in FRAMES.items():
        frame.to_sql(name, connection, index=False)
    connection.close()
    monkeypatch.setenv("FILMS", str(tmp_path / "films.db"))
    data = {"database": "sqlite:///${FILMS}", "target": "movies.genre", "name": "films", "keys": {"nations": ""}}
    store = tmp_path / "results.sqlite"
    assert run_plan(plan_of(data, FOREST), store=store).counts == {"done": 2}
    assert str(tmp_path).encode() not in store.read_bytes(), "where a database is may be a secret"
    facts = {"facts": str(tmp_path / "facts.txt"), "target_facts": str(tmp_path / "target.txt")}
    likes = [(f"p{i}", "beef" if i % 2 else "eggs") for i in range(12)]
    (tmp_path / "facts.txt").write_text("".join(f"likes({who}, {what}).\n" for who, what in likes))
    (tmp_path / "target.txt").write_text("".join(f"vegan({who}, {what == 'eggs'}).\n" for who, what in likes))
    assert run_plan(plan_of(facts, FOREST), store=store).counts == {"done": 2}
    assert read_results(store)["plan"].table("accuracy").loc["facts", "relational-forest"] == 1
    assert [entry.name for entry in read_plan(plan_of(facts, FOREST)).data] == ["facts"]


@pytest.mark.parametrize(
    ("data", "method", "message"),
    [
        ({"folder": "films", "targt": "a.b"}, FOREST, "number 1: unknown key 'targt' .did you mean 'target'"),
        ({"folder": "films", "path": "a.csv"}, FOREST, "of several tables folder, database, facts"),
        ({"facts": "facts.txt"}, FOREST, "facts and target_facts come together"),
        ({"folder": 5}, FOREST, "folder = 5: choose a text"),
        ({"database": "sqlite:///${NO_SUCH}", "target": "a.b"}, FOREST, "environment variable NO_SUCH is not set"),
        ({"sample": "iris"}, FOREST, "method 'relational-forest' takes several linked tables"),
        ({"folder": "films", "target": "movies.genre"}, {"use": "genie3"}, "takes one table.*omnirank features"),
        ({"folder": "films", "target": "movies.genre"}, FOREST | {"single_target": True}, "single_target is for"),
        ({"folder": "films", "target": "movies.gnre"}, FOREST, "did you mean 'genre'"),
    ],
)
def test_mistakes_are_named(data, method, message, films, monkeypatch):
    monkeypatch.chdir(films.parent)
    with pytest.raises((ParameterError, DataError), match=message):
        run_plan(plan_of(data, method), store=films.parent / "results.sqlite")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*nowhere"):
        run_plan(plan_of({"folder": str(tmp_path / "nowhere"), "target": "a.b"}, FOREST), store=tmp_path / "r.sqlite")
