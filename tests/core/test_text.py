"""What people see of results and slips: short texts, tables in notebooks, hints for habits of other libraries."""

import numpy as np
import pandas as pd
import pytest

import omnirank as om

BOLD = "<b>x"


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    data = om.Dataset(rng.normal(size=(40, 12)), ["a", BOLD] * 20, feature_names=[f"{BOLD}{i}" for i in range(12)])
    ranker = om.UnivariateRanker()
    ranking = ranker.fit(data).ranking_
    selection = om.select(ranker, data, n_folds=2)
    forest = om.PCTForestClassifier(n_trees=2, max_depth=2, random_state=0).fit(data)
    table = pd.DataFrame(rng.random((6, 3)), columns=[BOLD, "b", "c"])
    return {
        "ranking": ranking,
        "selection": selection,
        "curve": selection.curve,
        "stability": om.stability(ranker, data, n_resamples=3),
        "redundancy": om.redundancy(ranking, data),
        "comparison": om.compare_methods(table, larger_is_better=True),
        "explanation": forest.explain(data),
    }


def test_results_are_short_and_notebooks_run_nothing(results):
    for name, result in results.items():
        assert len(repr(result)) < 300, name
        shown = result._repr_html_()
        assert "<table" in shown or name == "selection", name
        assert BOLD not in shown, name
        assert shown.count("<tr") <= 11, name


@pytest.mark.parametrize("estimator", [om.EnsembleRanker, om.PCTForestRegressor])
@pytest.mark.parametrize(
    ("name", "hint"),
    [("n_estimators", "'n_trees'"), ("groups", "groups to fit"), ("verbose", "om.progress"), ("x", "'x'")],
)
def test_habits_of_other_libraries_get_a_hint(estimator, name, hint):
    with pytest.raises(TypeError, match=rf"{estimator.__name__} has no parameter '{name}'.*{hint}|{hint}$"):
        estimator(**{name: 1})
