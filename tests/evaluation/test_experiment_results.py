"""Tables of results: means, gaps, best combinations, areas, several stores; and the commands that print them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from omnirank.cli.app import app
from omnirank.core.errors import DataError, ParameterError
from omnirank.evaluation.experiments import Store, read_rankings, read_results, run_plan
from omnirank.evaluation.experiments.store import Job, Member
from reference.experiment_plans import HEAD, in_process, method, write_plan

FACTS = {
    "measures": ["accuracy"],
    "data": ["wine", "iris"],
    "columns": ["b", "a", "grid"],
    "best_of_grid": [],
    "tasks": {"wine": "classification", "iris": "classification"},
}


MEASURES = ("--measure", "accuracy", "--measure", "kappa")


def write_store(path, values, facts=FACTS, study="s", measure="accuracy"):
    """A store with one job a value; values by (data, method, choice, labelled, neighbors, seed, fold)."""
    jobs = [(Member(*place), Job("-".join(map(str, place)), "f", {})) for place in values]
    with Store(path, create=True) as store:
        store.enlist(study, facts, jobs)
        done = {
            job.key: {"figures": {measure: value, "kappa": 0.0}, "seconds": 2.0 + place.fold, "n_test": 10 + place.fold}
            for (place, job), value in zip(jobs, values.values(), strict=True)
            if value != "failed"
        }
        failed = {
            job.key: {"error": "Boom", "traceback": "where"}
            for (_, job), value in zip(jobs, values.values(), strict=True)
            if value == "failed"
        }
        store.record(done, failed)
    return path


def place(data="iris", method="a", choice="", labelled=0, neighbors=5, seed=0, fold=0):
    return (data, method, choice, labelled, neighbors, seed, fold)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plan.sqlite"


def test_means_over_folds_weigh_test_examples_and_leave_out_what_is_undefined(path):
    values = {place(fold=0): 1.0, place(fold=1): 0.0, place(method="b", fold=0): 0.5, place(method="b", fold=1): None}
    study = read_results(write_store(path, values))["s"]
    table = study.table("accuracy")
    assert list(table.columns) == ["b", "a"], "in the order of the plan"
    assert table.loc["iris", "a"] == pytest.approx(10 / 21)
    assert table.loc["iris", "b"] == 0.5
    assert study.times().loc["iris", "a"] == 2.5
    assert study.measures == ["accuracy"]


@pytest.mark.slow
def test_choices_of_a_grid_are_in_the_order_of_the_plan(tmp_path, monkeypatch):
    in_process(monkeypatch)
    grid = method("relief", grid="{ n_neighbors = [10, 5, 20] }", name='"z (y)"')
    best = method("relief", grid="{ n_neighbors = [7, 3] }", name='"best (of two)"', select='"best"')
    head = HEAD.replace("n_neighbors = [3, 5]", "n_neighbors = 3")
    head = head.replace('sample = "iris"', 'name = "zoo"\nsample = "iris"')
    plan = write_plan(tmp_path, grid, method("uniform"), best, method("odd", parameters="{ fails = true }"), head=head)
    run_plan(plan)
    study = read_results(plan)["small"]
    columns = [*(f"z (y) (n_neighbors={k})" for k in (10, 5, 20)), "uniform", "best (of two)"]
    assert list(study.table("accuracy").columns) == columns
    assert list(study.table("accuracy").index) == ["zoo", "wine"]
    assert list(study.times().columns) == columns
    means = study.means("accuracy")
    assert list(means["method"]) == columns * 2
    assert list(means["data"]) == ["zoo"] * 5 + ["wine"] * 5
    assert list(study.jobs["method"].unique()) == ["z (y)", "uniform", "best (of two)", "odd"]
    assert list(study.failures()["data"].unique()) == ["zoo", "wine"]
    shown = CliRunner().invoke(app, ["experiment", "status", str(plan)]).output
    failed = shown[shown.index("error") :]
    assert failed.index("zoo") < failed.index("wine")


def test_of_equally_good_choices_the_first_of_the_grid_is_taken(path):
    values = {place(method="grid", choice=choice): 0.5 for choice in ("k=10", "k=9")}
    columns = ["b", "a", "grid (k=9)", "grid (k=10)"]
    jobs = read_results(write_store(path, values, FACTS | {"columns": columns, "best_of_grid": ["grid"]}))["s"].jobs
    assert list(jobs["choice"]) == ["k=9", "k=10"]


def test_gaps_stay_gaps(path):
    values = {place(fold=i, data=data): 0.5 for i in (0, 1) for data in ("iris", "wine")}
    values |= {place(method="b", fold=i, data=data): 0.6 for i in (0, 1) for data in ("iris", "wine")}
    values[place(fold=1)] = "failed"
    study = read_results(write_store(path, values))["s"]
    table = study.table("accuracy")
    assert list(table.index) == ["wine", "iris"]
    assert np.isnan(table.loc["iris", "a"]), "a mean of the other folds would not be comparable"
    assert study.compare("accuracy").friedman.n_datasets == 1
    [failure] = study.failures().to_dict("records")
    assert (failure["data"], failure["error"], failure["traceback"]) == ("iris", "Boom", "where")


@pytest.mark.parametrize(("measure", "best"), [("accuracy", [0.9, 0.8]), ("log_loss", [0.2, 0.1])])
def test_the_best_of_a_grid_is_that_of_each_data_set(path, measure, best):
    values = {
        place(method="grid", choice=choice, data=data): value
        for choice, data, value in [
            ("k=1", "iris", 0.9),
            ("k=2", "iris", 0.2),
            ("k=1", "wine", 0.1),
            ("k=2", "wine", 0.8),
        ]
    }
    write_store(path, values, FACTS | {"best_of_grid": ["grid"]}, measure=measure)
    table = read_results(path)["s"].table(measure)
    assert table["grid"].to_dict() == {"iris": best[0], "wine": best[1]}
    write_store(path, values, measure=measure)
    assert list(read_results(path)["s"].table(measure).columns) == ["grid (k=1)", "grid (k=2)"]


def test_areas_under_curves_over_labelled_examples(path):
    values = {place(labelled=count): value for count, value in [(50, 0.2), (100, 0.6), (500, 0.8)]}
    study = read_results(write_store(path, values))["s"]
    assert study.table("accuracy").loc["iris", "a"] == pytest.approx((0.1 + 0.6 + 0.4) / 2)
    assert study.table("accuracy", labelled=100).loc["iris", "a"] == 0.6
    curve = study.curves("accuracy")["iris"]
    assert curve.index.tolist() == [50, 100, 500]
    assert curve["a"].tolist() == [0.2, 0.6, 0.8]


@pytest.fixture
def varied(path):
    """Two seeds, a grid of two parameters on two data sets, and a method without any."""
    facts = FACTS | {"columns": ["a", *(f"grid (k={k} top={top})" for k in (1, 2) for top in (5, 10))]}
    values = {}
    for seed, data in ((0, "iris"), (1, "iris"), (0, "wine"), (1, "wine")):
        values[place(data, seed=seed)] = 0.5 + 0.1 * seed
        for k in (1, 2):
            for top in (5, 10):
                values[place(data, "grid", f"k={k} top={top}", seed=seed)] = 0.1 * k + 0.01 * top + 0.2 * seed
    write_store(path, values, facts)
    return read_results(path)["s"]


def test_curves_over_any_parameter(varied):
    curve = varied.curves("accuracy", over="top")["iris"]
    assert list(curve.columns) == ["a", "grid (k=1)", "grid (k=2)"]
    assert curve.index.tolist() == [5, 10]
    np.testing.assert_allclose(curve, [[0.55, 0.25, 0.35], [0.55, 0.3, 0.4]])
    np.testing.assert_allclose(varied.curves("accuracy", over="k")["wine"]["grid (top=10)"], [0.3, 0.4])
    spread = varied.curves("accuracy", over="top", deviations=True)["iris"]
    np.testing.assert_allclose(spread["grid (k=1)"], np.sqrt(2) * 0.1)
    np.testing.assert_allclose(varied.deviations("accuracy")["a"], np.sqrt(2) * 0.05)
    ax = varied.plot_curves("accuracy", "iris", over="top", chosen=[None, 5, 10])
    assert ax.get_xlabel() == "top features"
    assert [line.get_linestyle() for line in ax.lines] == ["-", "-", "None", "-", "None"]
    assert len(ax.collections) == 3, "a band for each"
    with pytest.raises(DataError, match="varies 'n_trees' over numbers; parameters in grids: k, top"):
        varied.curves("accuracy", over="n_trees")


def test_of_a_grid_the_reported_combination_is_marked(varied):
    best = replace(varied, facts=varied.facts | {"best_of_grid": ["grid"]})
    assert list(best.table("accuracy").columns) == ["a", "grid"]
    ax = best.plot_curves("accuracy", "iris", over="top")
    [ring] = [line for line in ax.lines if line.get_markersize() == 10]
    assert (ring.get_color(), ring.get_xydata().tolist()) == ("C2", [[1, pytest.approx(0.4)]])
    assert best.rank_grid("accuracy", "k", "top").equals(varied.rank_grid("accuracy", "k", "top"))


@pytest.mark.slow
def test_files_with_deviations_and_a_control(varied, path, command, tmp_path):
    printed = command("compare", path, "--control", "a", "--out", tmp_path, *MEASURES)
    assert "0.55 ± 0.071" in printed
    assert "against a" in printed
    files = {file.name.removeprefix("s-") for file in tmp_path.glob("*.csv")}
    assert {"accuracy-5-ranks.csv", "accuracy-5-against.csv", "average-ranks.csv"} <= files
    assert "s-accuracy-5-ranks.png" in {file.name for file in tmp_path.glob("*.png")}
    header, first, *_ = (tmp_path / "s-accuracy-5.csv").read_text().splitlines()
    cells = dict(zip(header.split(","), first.split(","), strict=True))
    assert float(cells["a SD"]) == pytest.approx(np.sqrt(2) * 0.05)
    assert r"0.55 $\pm$ 0.071" in (tmp_path / "s-accuracy-5.tex").read_text()


def test_ranks_of_measures_times_and_grids(varied):
    ranks = varied.ranks(["accuracy", "seconds"])
    assert ranks.loc["a"].tolist() == [1.0, 3.0], "all take the same time"
    facts = varied.facts | {"columns": varied.facts["columns"][::-1]}
    assert list(replace(varied, facts=facts).ranks().index) == facts["columns"], "in the order of the plan"
    grid = varied.rank_grid("accuracy", "k", "top")
    assert grid.to_numpy().tolist() == [[5.0, 4.0], [3.0, 2.0]]
    with pytest.raises(DataError, match="varies 'k' and 'depth'"):
        varied.rank_grid("accuracy", "k", "depth")


def test_predictors_stand_beside_rankings_of_every_number_of_neighbours(path):
    values = {place(neighbors=3): 0.3, place(neighbors=7): 0.7, place(method="b", neighbors=0): 0.5}
    study = read_results(write_store(path, values))["s"]
    assert study.neighbor_counts == [3, 7]
    assert study.table("accuracy").loc["iris"].to_dict() == {"b": 0.5, "a": 0.3}
    assert study.table("accuracy", neighbors=7).loc["iris"].to_dict() == {"b": 0.5, "a": 0.7}
    with pytest.raises(ParameterError, match="measure='accurate': choose one of"):
        study.table("accurate")


def test_what_was_not_recorded_is_named(path, command):
    values = {place(method=method): value for method, value in (("a", 0.5), ("b", 0.6))}
    facts = FACTS | {"measures": ["accuracy", "rrmse"], "tasks": {"iris": "classification", "wine": "clustering"}}
    study = read_results(write_store(path, values, facts))["s"]
    with pytest.raises(DataError, match="no 'rrmse'; its data sets have accuracy, kappa"):
        study.table("rrmse")
    for neighbors in (7, -1, "x"):
        with pytest.raises(ParameterError, match="the numbers of neighbours of study 's' are 5"):
            study.table("accuracy", neighbors)
    shown = " ".join(CliRunner().invoke(app, ["compare", str(path)]).output.split())
    assert "no data set has rrmse" in shown
    assert "wine (clustering): left out" in shown
    assert "at least two methods with results on two data sets" in shown
    for options in ((), ("--csv",)):
        refused = " ".join(command("compare", path, "--measure", "rrmse", *options, code=2).split())
        assert "choose 'accuracy' or 'kappa'" in refused


def test_stores_of_a_folder_are_read(tmp_path):
    write_store(tmp_path / "one.sqlite", {place(): 0.5, place("wine"): 0.25})
    write_store(tmp_path / "other.sqlite", {place(): 0.75}, study="t")
    results = read_results(tmp_path)
    assert [study.name for study in results] == ["s", "t"]
    assert results["s"].table("accuracy")["a"].to_dict() == {"wine": 0.25, "iris": 0.5}
    with pytest.raises(DataError, match="there is no study 'u'; there are 's', 't'"):
        results["u"]
    write_store(tmp_path / "two.sqlite", {place("wine"): 0.25})
    with pytest.raises(DataError, match=r"two\.sqlite: another store has a study 's'"):
        read_results(tmp_path)
    Store(tmp_path / "new.sqlite", create=True).close()
    with pytest.raises(DataError, match="holds no study yet"):
        read_results(tmp_path / "new.sqlite")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no store"):
        read_results(tmp_path / "empty")


# -- commands -------------------------------------------------------------------------------------


@pytest.fixture
def command(monkeypatch):
    in_process(monkeypatch)

    def run(*arguments, code=0):
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert found.exit_code == code, found.output
        return found.output if code == 2 else found.stdout

    return run


def test_run_status_and_compare(command, tmp_path):
    head = HEAD.replace('code = "test"', 'code = "test"\nkeep_rankings = true\nmeasures = ["accuracy"]')
    plan = write_plan(
        tmp_path, method("univariate"), method("uniform"), method("odd", parameters="{ fails = true }"), head=head
    )
    printed = command("experiment", "run", plan, "--jobs", "1", code=1)
    assert "16 of 24 jobs done, 24 finished in this run, 8 failed" in printed
    assert "ZeroDivisionError: this method always fails" in printed
    assert "Traceback" in command("experiment", "status", plan, "--errors")
    rows = command("experiment", "status", plan, "--csv").splitlines()
    assert rows == ["study,data,done,failed,open", "small,iris,8,4,0", "small,wine,8,4,0"]
    assert len(read_rankings(plan, "small", "iris", "univariate")) == 2

    write_plan(tmp_path, method("univariate"), method("uniform"), head=head)
    assert "16 of 16 jobs done, 0 finished in this run, 0 failed" in command("experiment", "run", plan)
    printed = command("compare", plan, "--out", tmp_path / "out")
    assert "accuracy, 3 neighbours (larger is better)" in printed
    assert "Wilcoxon" in printed
    written = {file.name for file in (tmp_path / "out").iterdir()}
    for k in (3, 5):
        assert {
            f"small-accuracy-{k}{end}" for end in (".md", ".tex", ".csv", "-ranks.csv", "-ranks.svg", "-ranks.png")
        } <= written
    assert "small-seconds.csv" in written
    assert r"\begin{tabular}{lrr}" in (tmp_path / "out" / "small-accuracy-3.tex").read_text()


def test_what_is_not_in_a_store_is_named(path, tmp_path):
    write_store(path, {place(): 0.5})
    for names, message in [
        (("t", "iris", "a"), "there is no study 't'; there are 's'"),
        (("s", "iri", "a"), "there is no data set 'iri' .did you mean 'iris'"),
        (("s", "iris", "b"), "there is no method 'b'; there are 'a'"),
        (("s", "iris", "a"), "keep_rankings = true"),
    ]:
        with pytest.raises(DataError, match=message):
            read_rankings(path, *names)
    for file in ("absent.toml", "absent"):
        with pytest.raises(DataError, match="there is no file or folder"):
            read_rankings(tmp_path / file, "s", "iris", "a")
    with pytest.raises(DataError, match=r"om\.Ranking\.load reads the file of a ranking"):
        read_results(tmp_path / "ranking.json")


@pytest.mark.slow
def test_curves_are_drawn(command, path, tmp_path):
    values = {place(d, m, labelled=n): n / 1000 for d in ("wine", "iris") for m in ("b", "a") for n in (50, 100)}
    write_store(path, values)
    assert "area over labelled examples" in command("compare", path, "--out", tmp_path / "out")
    assert (tmp_path / "out" / "s-accuracy-5-iris-curve.svg").is_file()
    assert (tmp_path / "out" / "s-accuracy-5-iris-curve.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "s-accuracy-5-iris-curve.csv").read_text().splitlines()[1] == "50,0.05,0.05"
