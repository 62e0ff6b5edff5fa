"""Targets of tables: kinds that are said, and examples that repeat an identifier."""

from __future__ import annotations

import pandas as pd
import pytest

from omnirank.errors import DataError
from omnirank.relational import RelationalDataset

SHOPS = pd.DataFrame({"id": range(8), "size": [1, 2, 3, 1, 2, 3, 1, 2], "code": list("12341234"), "x": range(8)})


def shops(target, frame=SHOPS, **options):
    return RelationalDataset.from_frames({"shops": frame}, target=target, **options)


@pytest.mark.parametrize(
    ("column", "kind", "task"),
    [
        ("size", None, "classification"),
        ("size", "numeric", "regression"),
        ("size", "nominal", "classification"),
        ("code", "nominal", "classification"),
        ("code", "nominal:codes", "classification"),
        ("code", "numeric", "regression"),
        ("x", "nominal", "classification"),
    ],
)
def test_the_kind_of_a_target_can_be_said(column, kind, task):
    types = None if kind is None else {f"shops.{column}": kind}
    data = shops(f"shops.{column}", types=types)
    assert data.task == task
    assert data.y.tolist() == (SHOPS[column].astype(float).tolist() if task == "regression" else SHOPS[column].tolist())
    assert f"shops_{column}" not in data.database.relations


def test_kinds_of_several_targets():
    both = ["shops.size", "shops.x"]
    assert shops(both, types={"shops.size": "numeric"}).task == "multi-target-regression"
    assert shops(both, types={"shops.size": "nominal", "shops.x": "nominal"}).task == "multi-target-classification"
    with pytest.raises(DataError, match="target 'code' of table 'shops' is to be numeric, but holds 'a'"):
        shops("shops.code", SHOPS.assign(code=list("abcdabcd")), types={"shops.code": "numeric"})


def test_a_schema_file_says_the_kind_of_the_target(tmp_path):
    SHOPS.to_csv(tmp_path / "shops.csv", index=False)
    (tmp_path / "schema.toml").write_text('target = "shops.size"\n[tables.shops]\ncolumns = {size = "numeric"}\n')
    assert RelationalDataset.from_folder(tmp_path).task == "regression"


@pytest.mark.parametrize(
    ("ids", "why"), [([0, 0, 1, 2, 3, 4, 5, 6], "its values repeat"), ([None, *range(7)], "known")]
)
@pytest.mark.parametrize("name", ["id", "shop_id"])
def test_examples_without_an_identifier_are_told(ids, why, name):
    frame = SHOPS.rename(columns={"id": name}).assign(**{name: ids})
    told = [note for note in shops("shops.size", frame).notes if "is called like" in note]
    assert len(told) == 1
    assert told[0].startswith(f"column shops.{name} is called like the identifier of the examples, but it")
    assert why in told[0]
    assert not any("called like" in note for note in shops("shops.size").notes)
    every_row = shops("shops.size", frame, keys={"shops": "*"})
    assert not any("identifier of the examples" in note for note in every_row.notes)
