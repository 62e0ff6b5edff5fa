"""What is not what an argument takes is refused by name, before a foreign error comes up."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import omnirank as om
from omnirank.errors import DataError, DataTypeError, ParameterError
from omnirank.relational import (
    RelationalBoosting,
    RelationalDataset,
    RelationalFeatures,
    RelationalForest,
    RelationalRanker,
    RelationalTree,
)

SHOPS = pd.DataFrame({"id": range(6), "left": list("ababab")})
VISITS = pd.DataFrame({"id": range(12), "shop_id": [i % 6 for i in range(12)], "spent": np.arange(12) * 1.5})


def shops(**options):
    return RelationalDataset.from_frames({"shop": SHOPS, "visit": VISITS}, **{"target": "shop.left"} | options)


WRONG = [
    ("keys", 5),
    ("keys", "shop"),
    ("keys", ["shop"]),
    ("keys", {"shop": 5}),
    ("keys", {"shop": ["id", "id"]}),
    ("types", 5),
    ("types", ["visit.spent"]),
    ("exclude", 5),
    ("time", 5),
    ("like", 5),
    ("like", SHOPS),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=[f"{name}={str(value)[:12]!r}" for name, value in WRONG])
def test_arguments_of_tables_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=rf"^{name}="):
        shops(**{name: value})


def test_one_name_is_left_out_as_a_list_of_one_is():
    assert shops(exclude="visit.spent").fingerprint == shops(exclude=["visit.spent"]).fingerprint
    assert shops(exclude="visit").fingerprint == shops(exclude=["visit"]).fingerprint


def test_arguments_of_databases_are_refused_by_name(tmp_path):
    url = f"sqlite:///{tmp_path}/shops.db"
    pytest.importorskip("sqlalchemy")
    SHOPS.to_sql("shop", url, index=False)
    for name, value in (("tables", 5), ("tables", []), ("schema", 5)):
        with pytest.raises(ParameterError, match=rf"^{name}="):
            RelationalDataset.from_database(url, target="shop.left", **{name: value})
    assert RelationalDataset.from_database(url, target="shop.left", tables="shop").n_examples == 6


@pytest.fixture
def of_facts(tmp_path):
    """Files of facts and of a target."""

    def written(facts):
        (tmp_path / "facts.txt").write_text(facts)
        (tmp_path / "target.txt").write_text("vegan(ana, yes).\nvegan(bob, no).\n")
        return tmp_path / "facts.txt", tmp_path / "target.txt"

    return written


@pytest.mark.parametrize("wrong", [None, 5, []], ids=str)
def test_files_of_facts_are_named_by_paths(of_facts, wrong):
    facts, target = of_facts("likes(ana, 1).\nlikes(bob, 2).\n")
    with pytest.raises(DataTypeError, match="of facts"):
        RelationalDataset.from_facts(wrong, target)
    with pytest.raises((DataError, DataTypeError), match="file"):
        RelationalDataset.from_facts(facts, wrong)
    if wrong is not None:
        with pytest.raises(DataTypeError, match="settings"):
            RelationalDataset.from_facts(facts, target, wrong)
    with pytest.raises(ParameterError, match=r"^exclude=5"):
        RelationalDataset.from_facts(facts, target, exclude=5)


def test_one_predicate_is_left_out_as_a_list_of_one_is(of_facts):
    data = RelationalDataset.from_facts(*of_facts("likes(ana, 1).\nage(bob, 2).\n"), exclude="likes")
    assert list(data.database.relations) == ["age"]


def test_a_number_too_large_for_a_float_is_no_number_of_a_fact(of_facts):
    # infinity stands for "nothing to aggregate" inside
    with pytest.raises(DataError, match=r"likes.*1e999.*too large"):
        RelationalDataset.from_facts(*of_facts("likes(ana, 1e999).\nlikes(bob, 2).\n"))


BIASED = [RelationalTree, RelationalForest, RelationalRanker, RelationalFeatures]


@pytest.mark.parametrize("made", BIASED, ids=lambda made: made.__name__)
@pytest.mark.parametrize("value", [5, 0, 2.5, "count", [3]], ids=repr)
def test_aggregates_are_a_list_of_names(made, value):
    with pytest.raises(ParameterError, match=r"^aggregates="):
        made(aggregates=value).fit(shops())


@pytest.mark.parametrize("made", BIASED, ids=lambda made: made.__name__)
@pytest.mark.parametrize("value", [5, 0, "x", ["visit_spent"], {"visit_spent": 5}, {"visit_spent": [5]}], ids=repr)
def test_modes_are_a_mapping_of_relations(made, value):
    with pytest.raises(ParameterError, match=r"^modes="):
        made(modes=value).fit(shops())


@pytest.mark.parametrize("value", [5, 0, True, "count(visit)", [5], ["count(visit)", None]], ids=repr)
def test_features_are_a_list_of_names_or_features(value):
    with pytest.raises(ParameterError, match=r"^features="):
        RelationalFeatures(features=value).fit(shops())


def test_data_are_aligned_with_data_or_a_signature():
    with pytest.raises(DataTypeError, match="RelationalDataset"):
        shops().aligned_with(5)


def test_two_columns_of_the_same_name_are_told_with_their_table():
    with pytest.raises(DataError, match="table 'visit' has two columns called 'id'"):
        RelationalDataset.from_frames(
            {"shop": SHOPS, "visit": VISITS.rename(columns={"spent": "id"})}, target="shop.left"
        )


def test_a_column_of_other_things_is_named_once():
    with pytest.raises(DataTypeError) as found:
        RelationalDataset.from_frames({"shop": SHOPS, "visit": VISITS.assign(spent=[[1]] * 12)}, target="shop.left")
    assert str(found.value).startswith("column 'spent' of table 'visit' holds a list in row 0")


def test_what_is_said_of_a_reference_to_several_columns_is_a_call_that_works():
    frames = {"shop": SHOPS, "line": VISITS.rename(columns={"id": "nr"}), "back": VISITS.rename(columns={"id": "nr"})}
    keys = {("back", ("shop_id", "nr")): "line"}
    with pytest.raises(DataError, match=r"not known: give keys=\{'line': \['shop_id', 'nr'\]\}"):
        RelationalDataset.from_frames(frames, target="shop.left", keys=keys)
    data = RelationalDataset.from_frames(frames, target="shop.left", keys=keys | {"line": ["shop_id", "nr"]})
    assert data.schema.tables["back"].foreign_keys[0].columns == ("shop_id", "nr")


LEARNERS = list(product((RelationalTree, RelationalForest, RelationalBoosting), ("left", "size")))


def sized(column, **options):
    frames = {"shop": SHOPS.assign(size=np.arange(6) * 1.5), "visit": VISITS}
    return RelationalDataset.from_frames(frames, target=f"shop.{column}", **options)


@pytest.mark.slow
@pytest.mark.parametrize(("made", "column"), LEARNERS, ids=lambda value: getattr(value, "__name__", value))
def test_no_examples_have_no_predictions(made, column):
    data = sized(column)
    model = made(random_state=0).fit(data)
    nobody = data.take([])
    assert model.predict(nobody).shape == (0,)
    for method in ("predict_proba", "apply"):
        if hasattr(model, method):
            assert getattr(model, method)(nobody).shape[0] == 0


@pytest.mark.parametrize(("made", "column"), LEARNERS, ids=lambda value: getattr(value, "__name__", value))
@pytest.mark.parametrize("method", ["predict", "predict_proba", "score", "apply"])
def test_what_is_not_fitted_says_so(made, column, method):
    if hasattr(made, method):
        with pytest.raises(NotFittedError):
            getattr(made(), method)(sized(column))


@pytest.mark.slow
@pytest.mark.parametrize(("made", "column"), LEARNERS, ids=lambda value: getattr(value, "__name__", value))
def test_a_score_needs_a_target(made, column):
    model = made(random_state=0).fit(sized(column))
    frames = {"shop": SHOPS.assign(size=1.5), "visit": VISITS}
    nothing = RelationalDataset.from_frames(frames, target="shop")
    with pytest.raises(DataError, match="no target"):
        model.score(nothing)


def test_a_target_without_a_known_value_is_told_from_no_target():
    unknown = RelationalDataset.from_frames({"shop": SHOPS.assign(left=None), "visit": VISITS}, target="shop.left")
    with pytest.raises(DataError, match=r"shop\.left.*no known value"):
        RelationalForest().fit(unknown)
    with pytest.raises(DataError, match="needs a target"):
        RelationalForest().fit(shops(target="shop"))
    for maker in (RelationalForest, RelationalRanker):
        with pytest.raises(DataError, match="no examples: the table of the target is empty"):
            maker().fit(shops().take([]))


ONE_TABLE = {
    "significance": om.significance,
    "stability": om.stability,
    "evaluate": om.evaluate,
    "redundancy": om.redundancy,
    "ranker": lambda ranker, data: om.EnsembleRanker().fit(data),
    "forest": lambda ranker, data: om.PCTForestClassifier().fit(data),
    "tree and target": lambda ranker, data: om.PCTClassifier().fit(data, data.y),
    "data set": lambda ranker, data: om.Dataset(data),
}


@pytest.mark.parametrize("use", ONE_TABLE.values(), ids=ONE_TABLE)
def test_what_needs_one_table_refuses_several_and_says_what_takes_them(use):
    ranker = RelationalRanker(n_trees=2, random_state=0).fit(shops())
    takes = r"several tables.*RelationalForest, RelationalTree.*RelationalFeatures.*om\.select.*evaluate_relational"
    with pytest.raises(DataError, match=takes):
        use(ranker, shops())


def test_what_needs_several_tables_says_what_takes_one(tmp_path):
    for made in (RelationalForest, RelationalRanker, RelationalFeatures):
        with pytest.raises(DataTypeError, match=r"not Dataset.*from_frames.*one table.*PCTForestClassifier"):
            made().fit(om.datasets.load_sample("iris"))
    with pytest.raises(DataTypeError, match=r"not DataFrame.*from_frames"):
        RelationalForest(n_trees=2, random_state=0).fit(shops()).predict(SHOPS)
    with pytest.raises(DataError, match=r"RelationalDataset\.from_folder"):
        om.load(tmp_path, target="shop.left")
    with pytest.raises(DataError, match=r"RelationalDataset\.from_database"):
        om.load("sqlite:///shops.db", target="shop.left")
