"""Cross-validation of relational learners, on generated data and on mutagenesis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.public_data import public_data

import omnirank as om
from omnirank.errors import DataError, ParameterError
from omnirank.evaluation.cross import evaluate_relational
from omnirank.evaluation.folds import make_folds
from omnirank.plots import plot_convergence
from omnirank.relational import RelationalDataset, RelationalForest, RelationalRanker, RelationalTree

MOVIES = om.datasets.make_movies(random_state=0)


def test_values_are_those_of_the_folds():
    model = RelationalTree(random_state=0)
    found = evaluate_relational({"tree": model}, MOVIES, n_folds=3, random_state=1)
    right = []
    for fold in make_folds(MOVIES, n_folds=3, random_state=1):
        fitted = RelationalTree(random_state=0).fit(MOVIES.take(fold.train))
        right += (fitted.predict(MOVIES.take(fold.test)) == np.asarray(MOVIES.y)[fold.test]).tolist()
    value = found.set_index(["model", "measure"])["value"]
    assert value["tree", "accuracy"] == pytest.approx(np.mean(right))
    most = pd.Series(MOVIES.y).value_counts(normalize=True).max()
    assert value["constant", "accuracy"] == pytest.approx(most)
    assert not hasattr(model, "tree_")


def test_labels_of_the_test_fold_do_not_help():
    rng = np.random.default_rng(0)
    shuffled = replace(MOVIES, target=MOVIES.target.take(rng.permutation(MOVIES.n_examples)))
    found = evaluate_relational({"tree": RelationalTree(random_state=0)}, shuffled, n_folds=3, random_state=1)
    assert found.set_index(["model", "measure"])["value"]["tree", "accuracy"] < 0.5


def test_what_is_refused():
    with pytest.raises(DataError, match="no target"):
        evaluate_relational({}, replace(MOVIES, target=None))
    with pytest.raises(ParameterError, match="constant"):
        evaluate_relational({"constant": RelationalTree()}, MOVIES)


def test_stages_are_drawn():
    ranker = RelationalRanker(n_trees=4, random_state=0).fit(MOVIES)
    stages = ranker.staged_scores()
    ax = plot_convergence(stages, title="movies")
    assert len(ax.lines) == len(ranker.ranking_)
    assert [text.get_text() for text in ax.texts] == ranker.ranking_.top(3)
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), stages[ranker.ranking_.top(1)[0]])
    with pytest.raises(DataError, match="no stages"):
        plot_convergence(stages.iloc[:0])


@pytest.mark.shared_data
def test_mutagenesis():
    folder = public_data() / "relational" / "mutagenesis_188"
    if not folder.is_dir():
        pytest.skip("no relational data")
    # the class is derived from act; types of atoms and bonds are codes
    data = RelationalDataset.from_folder(
        folder,
        target="drugs.active",
        exclude=["drugs.act"],
        types={"atoms.atom_type": "nominal", "bonds.bond_type": "nominal"},
    )
    models = {"forest": RelationalForest(n_trees=15, random_state=0)}
    found = evaluate_relational(models, data, n_folds=3, random_state=0).set_index(["model", "measure"])["value"]
    assert found["constant", "accuracy"] == pytest.approx(125 / 188, abs=0.01)
    assert found["forest", "accuracy"] >= 0.85
