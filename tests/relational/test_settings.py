"""Modes and aggregates that the settings of fact files declare: learners, rankers and features keep to them."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from omnirank.cli.app import app
from omnirank.relational import (
    RelationalBoosting,
    RelationalDataset,
    RelationalFeatures,
    RelationalForest,
    RelationalRanker,
    RelationalTree,
)

SETTINGS = """
[Relations]
liked(Shop, nominal)
sale(Item, Shop)
price(Item, numeric)
leak(Shop, numeric)
famous(Shop)
[Aggregates]
max
count
[AtomTests]
sale(new, old)
famous(old)
price(old, new)
"""


@pytest.fixture
def files(tmp_path):
    """Shops that are liked for a cheap item; a relation that the modes do not name tells the class as well."""
    facts, target = [], []
    for shop in range(24):
        liked = shop % 2
        prices = [1, 9, 5 + shop % 5] if liked else [3, 9, 5 + shop % 7]
        facts.append(f"leak(s{shop}, {liked}).")
        facts += [f"famous(s{shop})."] if shop % 3 else []
        for number, price in enumerate(prices):
            facts += [f"sale(i{shop}_{number}, s{shop}).", f"price(i{shop}_{number}, {price})."]
        target.append(f"liked(s{shop}, {'yes' if liked else 'no'}).")
    found = tmp_path / "facts.txt", tmp_path / "target.txt", tmp_path / "shops.s"
    for path, text in zip(found, ("\n".join(facts), "\n".join(target), SETTINGS), strict=True):
        path.write_text(text)
    return found


@pytest.fixture
def shops(files):
    return RelationalDataset.from_facts(*files)


def used(model):
    relations = {step.relation for feature in model.features_ for step in feature.path}
    return relations, {name for feature in model.features_ for name in feature.aggregates}


@pytest.mark.parametrize(
    "model",
    [
        RelationalTree(random_state=0),
        RelationalForest(n_trees=5, random_state=0),
        RelationalBoosting(n_trees=5, random_state=0),
        RelationalFeatures(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_learners_keep_to_what_settings_declare(shops, model):
    relations, aggregates = used(model.fit(shops))
    assert relations <= {"sale", "price", "famous"}
    assert "sale" in relations
    assert aggregates <= {"max", "count", "identity"}


def test_what_is_given_wins(shops):
    relations, _ = used(RelationalTree(modes={}, random_state=0).fit(shops))
    assert relations == {"leak"}
    model = RelationalTree(aggregates=["min"], random_state=0).fit(shops)
    assert used(model) == ({"sale", "price"}, {"min", "identity"})
    assert model.aggregates == ["min"]
    assert model.modes is None
    assert model.score(shops) == 1


def test_another_preset_has_its_own_aggregates(shops):
    features = RelationalFeatures(preset="AGG-Exist").fit(shops)
    assert used(features) == ({"famous"}, {"exists"})


def test_ranker_and_command_line(shops, files):
    ranking = RelationalRanker(n_trees=5, random_state=0).fit(shops).ranking_
    scores = dict(zip(ranking.to_frame()["feature"], ranking.to_frame()["score"], strict=True))
    assert scores["leak"] == 0
    assert scores["sale"] > 0
    facts, target, settings = map(str, files)
    given = [facts, "--target-facts", target, "--settings", settings]
    tree = CliRunner().invoke(app, ["tree", *given], env={"COLUMNS": "200"})
    assert tree.exit_code == 0, tree.output
    assert "leak" not in tree.stdout
    features = CliRunner().invoke(app, ["features", *given], env={"COLUMNS": "200"})
    assert features.exit_code == 0, features.output
    assert "max(" in features.stdout
    assert "min(" not in features.stdout
