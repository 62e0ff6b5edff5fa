"""``omnirank features`` as a user meets it."""

from __future__ import annotations

import pytest

import omnirank as om
from omnirank.relational import RelationalDataset, RelationalFeatures
from tools.command import output


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "movies"
    folder.mkdir()
    for name, frame in om.datasets.make_movies(n_movies=30, as_frames=True, random_state=0).items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.mark.slow
def test_features_of_a_folder_are_written_with_the_target(shop, tmp_path):
    out = tmp_path / "table.parquet"
    text = output("features", shop, "--target", "movies.genre", "--out", out)
    assert "number of its ratings" in text
    assert "... and 2 more" in text
    assert "30 examples, all labelled, 12 features written" in text
    table = om.load(out, target="genre")
    expected = RelationalFeatures(2).fit(RelationalDataset.from_folder(shop, target="movies.genre"))
    assert list(table.feature_names) == expected.get_feature_names_out().tolist()
    assert om.make_ranker("univariate").fit(table).ranking_.names == table.feature_names


def test_aggregates_steps_and_presets_can_be_chosen(shop):
    text = output("features", shop, "--target", "movies.genre", "--aggregates", "mean,count", "--lookahead", "3")
    assert "mean age of the users of its ratings" in text
    assert "minimum" not in text
    own = output("features", shop, "--target", "movies.genre", "--preset", "NO-Rel")
    assert "its year" in own
    assert "ratings" not in own.split("feature")[1]


def test_nothing_to_construct_is_an_error(shop):
    # Every movie has ratings, every rating a user: there is nothing to ask.
    text = output("features", shop, "--target", "movies.genre", "--preset", "AGG-Exist", code=2)
    assert "there is no feature to construct" in text


@pytest.mark.filterwarnings("default")
def test_too_many_features_are_told(shop):
    text = output("features", shop, "--target", "movies.genre", "--max-candidates", 3)
    assert "more than 3 candidate features" in " ".join(text.split())
    assert "--max-candidates 6" in text
    assert "... and" not in text


def test_a_wrong_name_is_told_before_anything_is_written(shop, tmp_path):
    out = tmp_path / "table.csv"
    assert "did you mean 'mean'" in output(
        "features", shop, "--target", "movies.genre", "--aggregates", "meen", "--out", out, code=2
    )
    assert not out.exists()
    assert "the ending must be one of" in output(
        "features", shop, "--target", "movies.genre", "--out", tmp_path / "table.doc", code=2
    )


def test_one_table_has_no_features_to_construct(shop):
    assert "is one table" in output("features", shop / "movies.csv", "--target", "genre", code=2)
