"""Runs of plans: what is computed, what is not computed again, and what goes wrong without stopping the rest."""

from __future__ import annotations

import gc
import random
import weakref

import numpy as np
import pytest
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app
from omnirank.core.errors import DataError, OmnirankError, ParameterError
from omnirank.data.dataset import join_examples
from omnirank.evaluation.evaluate import evaluate
from omnirank.evaluation.experiments import Store, example_plan, fit, read_plan, read_results, run, run_plan
from omnirank.evaluation.experiments.fit import models_of_one_fit
from omnirank.evaluation.folds import make_folds
from omnirank.measures import measure
from reference.experiment_plans import HEAD, InProcess, in_process, method, write_plan

ONE = HEAD.replace('[[data]]\nsample = "wine"\n', "")
ROWS = 'path = "rows.csv"\ntarget = "last"\n'


@pytest.fixture(autouse=True)
def backend(monkeypatch):
    return in_process(monkeypatch)


def write_rows(folder, seed=0, name="rows.csv", n=40):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    lines = [",".join([*map(repr, row.tolist()), "ab"[int(row[0] > 0.5)]]) for row in X]
    (folder / name).write_text("\n".join(["x,y,z,kind", *lines]) + "\n")


def test_figures_are_those_of_the_single_steps(tmp_path):
    path = write_plan(tmp_path, method("genie3", parameters="{ n_trees = 5 }"), method("pct", name='"tree"'), head=ONE)
    assert run_plan(path).counts == {"done": 6}
    figures = read_results(path)["small"].figures
    data = om.datasets.load_sample("iris")
    for number, fold in enumerate(make_folds(data, "cross-validation", n_folds=2, random_state=0)):
        train, test = fold.training(data), fold.testing(data)
        ranking = om.EnsembleRanker("genie3", n_trees=5, random_state=0).fit(train).ranking_
        for k in (3, 5):
            rows = figures.query(f"method == 'genie3' and fold == {number} and neighbors == {k}")
            assert dict(zip(rows["measure"], rows["value"], strict=True)) == evaluate(ranking, train, test, k)
        tree = om.PCTClassifier(random_state=0).fit(train)
        found = measure(test.target, tree.predict_proba(test), training=train.target, task=train.task)
        rows = figures.query(f"method == 'tree' and fold == {number}")
        assert dict(zip(rows["measure"], rows["value"], strict=True)) == pytest.approx(found)


def test_several_tops_are_one_fit_and_a_row_of_results_each(tmp_path, backend):
    head = ONE.replace("n_neighbors = [3, 5]", "n_neighbors = [3, 5]\ntop = [1, 3]")
    head = head.replace("[study]", "[study]\nkeep_rankings = true")
    path = write_plan(tmp_path, method("univariate"), method("pct"), head=head)
    assert run_plan(path).counts == {"done": 2 * 2 * 2 + 2}
    assert len(backend[0].orders) == 4, "one fit a fold and method"
    study = read_results(path)["small"]
    assert list(study.table("accuracy", 3).columns) == ["univariate (top=1)", "univariate (top=3)", "pct"]
    data = om.datasets.load_sample("iris")
    [fold, _] = make_folds(data, "cross-validation", n_folds=2, random_state=0)
    train, test = fold.training(data), fold.testing(data)
    for top in (1, 3):
        rows = study.figures.query(f"choice == 'top={top}' and fold == 0 and neighbors == 5")
        found = evaluate(om.UnivariateRanker().fit(train), train, test, 5, top=top)
        assert dict(zip(rows["measure"], rows["value"], strict=True)) == found
    assert list(om.experiments.read_rankings(path, "small", "iris", "univariate")) == ["seed=0 fold=0", "seed=0 fold=1"]


def test_a_data_set_that_cannot_be_read_is_named(tmp_path):
    write_rows(tmp_path)
    head = ONE.replace('sample = "iris"', 'path = "rows.csv"\ntarget = "kin"')
    path = write_plan(tmp_path, method("uniform"), head=head)
    with pytest.raises(ParameterError, match=r"plan.toml, \[\[data\]\] number 1 .rows.: target='kin': .* 'kind'"):
        run_plan(path)


def test_a_dictionary_is_run_into_a_given_store(tmp_path):
    plan = {"data": [{"sample": "iris"}], "method": [{"use": "uniform"}], "folds": {"n_folds": 2}}
    with pytest.raises(ParameterError, match=r"give store='results.sqlite'"):
        run_plan(plan)
    assert run_plan(plan, store=tmp_path / "results.sqlite").counts == {"done": 2}


def test_a_second_run_computes_nothing_and_a_changed_plan_what_is_new(tmp_path, backend):
    first = method("univariate")
    path = write_plan(tmp_path, first)
    assert run_plan(path).n_new == 8
    assert run_plan(path).n_new == 0
    assert len(backend) == 1
    more = HEAD.replace("[3, 5]", "[5, 7]")
    write_plan(tmp_path, method("univariate", name='"renamed"'), method("uniform"), head=more)
    summary = run_plan(path)
    assert summary.n_new == 4 + 8, "a new number of neighbours for one method, all of the other"
    assert summary.counts == {"done": 16}
    assert set(read_results(path)["small"].figures["method"]) == {"renamed", "uniform"}
    kept = read_results(path)["small"].figures.query("method == 'uniform'")
    write_plan(tmp_path, method("univariate", parameters="{ adjusted = false }"), method("uniform"), head=more)
    assert run_plan(path).n_new == 8, "another parameter computes its method anew"
    wider = more + '\n[[data]]\nsample = "linnerud"\n'
    write_plan(tmp_path, method("uniform"), head=wider)
    assert run_plan(path).n_new == 4, "another data set is computed alone"
    study = read_results(path)["small"]
    assert set(study.jobs["method"]) == {"uniform"}
    assert study.figures.query("data != 'linnerud'").equals(kept.reset_index(drop=True))
    write_plan(tmp_path, first, head=HEAD.replace('code = "test"', 'code = "newer"'))
    assert run_plan(path).n_new == 8, "another version of the code computes anew"


@pytest.mark.slow
def test_scores_sizes_and_numbers_of_neighbours_come_from_one_fit(tmp_path, backend):
    forests = method(["genie3", "symbolic", "permutation"], grid="{ n_trees = [2, 4] }")
    relief = method("relief", grid="{ n_neighbors = [3, 6], n_iterations = [0.5, 1.0] }")
    path = write_plan(tmp_path, forests, relief)
    run_plan(path)
    assert len(backend[0].orders) == 2 * 2 * 2, "data sets, folds, fits"
    assert len(read_results(path)["small"].jobs) == 2 * 2 * (6 + 4) * 2


@pytest.mark.slow
@pytest.mark.parametrize("use", ["genie3", "permutation", "relief", "relieff"])
def test_a_shared_fit_gives_the_scores_of_single_fits(use):
    data = om.datasets.load_sample("wine").hide_labels(slice(0, 20))
    values = {"relief": "n_neighbors", "relieff": "n_neighbors"}.get(use, "n_trees")
    methods = {str(n): {"use": use, "parameters": {values: n}} for n in (3, 7, 1000 if values != "n_trees" else 9)}
    found = models_of_one_fit(methods, data, seed=1)
    for key, wanted in methods.items():
        alone = om.make_ranker(use, **wanted["parameters"], random_state=1).fit(data).ranking_
        np.testing.assert_allclose(found[key].scores, alone.scores, rtol=1e-12, atol=1e-15)


def test_failures_are_recorded_and_the_rest_goes_on(tmp_path):
    bad = method("odd", name='"bad"', parameters="{ fails = true }")
    path = write_plan(tmp_path, bad, method("univariate"))
    summary = run_plan(path)
    assert summary.counts == {"done": 8, "failed": 8}
    failures = read_results(path)["small"].failures()
    assert set(failures["method"]) == {"bad"}
    assert set(failures["error"]) == {"ZeroDivisionError: this method always fails"}
    assert failures["traceback"].str.contains("experiment_methods.py").all()
    assert run_plan(path).n_new == 0
    assert run_plan(path, retry_failed=True).n_new == 8


def test_one_bad_parameter_does_not_fail_those_that_share_its_fit(tmp_path):
    path = write_plan(tmp_path, method(["genie3", "permutation"], parameters="{ bootstrap = false, n_trees = 3 }"))
    assert run_plan(path).counts == {"done": 8, "failed": 8}
    assert set(read_results(path)["small"].failures()["method"]) == {"permutation"}


def test_a_file_that_never_was_is_refused_before_anything_runs(tmp_path, backend):
    path = write_plan(tmp_path, method("univariate"), head=HEAD + '[[data]]\nname = "mine"\n' + ROWS)
    with pytest.raises(DataError, match=r"\[\[data\]\] number 3 \(mine\): there is no file .*rows.csv"):
        run_plan(path)
    assert backend == []
    assert not path.with_suffix(".sqlite").exists()


def test_data_that_vanish_or_change_after_planning_are_recorded(tmp_path, monkeypatch):
    write_rows(tmp_path)
    path = write_plan(tmp_path, method("univariate"), head=ONE + "[[data]]\n" + ROWS)

    def run_after(change):
        class Changed(InProcess):
            def submit(self, order):
                change()
                return super().submit(order)

        monkeypatch.setattr(run, "WorkerPool", lambda *_: Changed())
        return run_plan(path, retry_failed=True)

    assert run_after(lambda: (tmp_path / "rows.csv").unlink(missing_ok=True)).counts == {"done": 4, "failed": 4}
    assert "cannot be read: No such file" in read_results(path)["small"].failures()["error"].iloc[0]
    write_rows(tmp_path)
    assert run_after(lambda: write_rows(tmp_path, seed=1)).counts == {"done": 4, "failed": 4}
    assert "changed since" in read_results(path)["small"].failures()["error"].iloc[0]
    write_rows(tmp_path)
    assert run_after(lambda: None).counts == {"done": 8}


@pytest.mark.slow
def test_data_sets_are_held_one_at_a_time(tmp_path, monkeypatch):
    held, at_reading = [], []
    read = fit._read

    def watched(source):
        gc.collect()
        at_reading.append(sum(one() is not None for one in held))
        loaded = read(source)
        held.append(weakref.ref(loaded))
        return loaded

    monkeypatch.setattr(fit, "_read", watched)
    head = HEAD.replace('sample = "wine"', 'sample = "wine"\n[[data]]\nsample = "breast-cancer"')
    assert run_plan(write_plan(tmp_path, method("univariate"), head=head)).counts == {"done": 12}
    assert at_reading == [0] * 6, "each is read to plan, and to compute"


def test_an_interrupted_run_continues_where_it_stopped(tmp_path, monkeypatch):
    class Interrupted(InProcess):
        def submit(self, order):
            if len(self.orders) == 2:
                raise KeyboardInterrupt
            return super().submit(order)

    path = write_plan(tmp_path, method("univariate"))
    monkeypatch.setattr(run, "WorkerPool", lambda *_: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        run_plan(path)
    with Store(path.with_suffix(".sqlite")) as store:
        assert store.counts("small") == {"done": 4, "pending": 4}
    monkeypatch.setattr(run, "WorkerPool", lambda *_: InProcess())
    assert run_plan(path).n_new == 4


def test_parameters_are_chosen_inside_the_training_examples(tmp_path):
    # with level = 0 all scores are 0, that is: all features weigh the same, which iris likes better than chance
    chosen = method(
        "odd", name='"chosen"', grid="{ level = [0.0, -1.0, 1.0] }", select='{ n_folds = 3, measure = "log_loss" }'
    )
    fixed = method("odd", grid="{ level = [0.0, -1.0, 1.0] }")
    path = write_plan(tmp_path, chosen, fixed, head=ONE)
    assert run_plan(path).counts == {"done": 16}
    figures = read_results(path)["small"].figures
    keys = ["neighbors", "fold", "measure"]
    own = figures[figures["method"] == "chosen"].set_index(keys)["value"]
    others = [part.set_index(keys)["value"] for _, part in figures[figures["method"] == "odd"].groupby("choice")]
    for (k, fold), part in own.groupby(["neighbors", "fold"]):
        assert any(part.equals(other.xs((k, fold), level=(0, 1), drop_level=False)) for other in others), (k, fold)


def test_train_and_test_files_and_numbers_of_labelled_examples(tmp_path):
    write_rows(tmp_path, name="a.csv")
    write_rows(tmp_path, seed=1, name="b.csv", n=30)
    first, second = str(tmp_path / "a.csv"), str(tmp_path / "b.csv")
    plan = {
        "study": {"name": "files", "keep_rankings": True, "seeds": [3, 4]},
        "folds": {"scheme": "semi-supervised", "labelled": [10, 20], "n_folds": 3},
        "evaluation": {"neighbors": "oracle", "n_neighbors": 3},
        "data": [{"name": "pair", "train": first, "test": second, "target": "kind"}, {"path": first, "target": "kind"}],
        "method": [{"use": "relief"}, {"use": "relief", "name": "SL", "labelled_only": True}],
    }
    path = tmp_path / "results.sqlite"
    assert run_plan(plan, store=path).counts == {"done": 2 * 2 * 2 * (1 + 3)}
    study = read_results(path)["files"]
    assert study.labelled_counts == [10, 20]
    counts = study.jobs.groupby(["data", "labelled"]).size().to_dict()
    assert counts == {("a", 10): 12, ("a", 20): 12, ("pair", 10): 4, ("pair", 20): 4}
    train, test = (om.load(file, target="kind") for file in (first, second))
    with Store(path) as store:
        for member, facts in store.rows("files"):
            kept = store.ranking(facts["key"])
            assert kept["names"] == ["x", "y", "z"]
            if member.data == "pair":
                ranking = om.Ranking(kept["names"], kept["scores"], "relief")
                assert evaluate(ranking, train, test, 3, neighbors="oracle") == facts["figures"]


def test_a_training_set_in_parts_is_joined(tmp_path):
    files = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for seed, file in enumerate(files):
        write_rows(tmp_path, seed=seed, name=file.name, n=30)
    first, test, second = (str(file) for file in files)
    plan = {"evaluation": {"n_neighbors": 3}, "method": [{"use": "univariate"}]}
    plan["data"] = [{"name": "parts", "train": [first, second], "test": test, "target": "kind"}]
    assert run_plan(plan, store=tmp_path / "results.sqlite").counts == {"done": 1}
    first, test, second = (om.load(file, target="kind") for file in files)
    train = join_examples([first, second])
    expected = evaluate(om.UnivariateRanker().fit(train).ranking_, train, test, 3)
    with Store(tmp_path / "results.sqlite") as store:
        [(_, facts)] = store.rows("plan")
    assert facts["figures"] == expected
    files[2].unlink()
    with pytest.raises(OmnirankError, match=r"c\.csv"):
        run_plan(plan, store=tmp_path / "other.sqlite")


@pytest.mark.parametrize("labelled_only", [True, False])
def test_unlabelled_examples_are_left_out_where_the_plan_says_so(tmp_path, labelled_only):
    head = ONE.replace("n_folds = 2", 'scheme = "semi-supervised"\nlabelled = [30]\nn_folds = 2')
    head = head.replace("n_neighbors = [3, 5]", 'n_neighbors = 9\nneighbors = "published"')
    path = write_plan(tmp_path, method("relief", labelled_only=str(labelled_only).lower()), head=head)
    assert run_plan(path).counts == {"done": 2}
    with Store(path.with_suffix(".sqlite")) as store:
        found = [facts["figures"] for _, facts in store.rows("small")]
    data = om.datasets.load_sample("iris")
    for figures, fold in zip(
        found, make_folds(data, "semi-supervised", labelled=[30], n_folds=2, random_state=0), strict=True
    ):
        train = fold.training(data)
        train = train.take(train.labelled) if labelled_only else train
        ranking = om.ReliefRanker(random_state=0).fit(train).ranking_
        expected = evaluate(ranking, train, fold.testing(data), 9, neighbors="published")
        assert figures == {name: value if np.isfinite(value) else None for name, value in expected.items()}


def test_seeds_repeat_the_study(tmp_path):
    path = write_plan(tmp_path, method("random"), head=ONE.replace('code = "test"', "seeds = [0, 1]"))
    run_plan(path)
    figures = read_results(path)["small"].figures
    first, second = (figures[figures["seed"] == seed]["value"].tolist() for seed in (0, 1))
    assert first != second


def test_ranking_for_each_target_alone_is_another_method(tmp_path):
    head = ONE.replace("iris", "linnerud").replace("[3, 5]", "3")
    both = [
        method("genie3", name=f'"{flag}"', parameters="{ n_trees = 3 }", single_target=flag)
        for flag in ("true", "false")
    ]
    path = write_plan(tmp_path, *both, head=head)
    assert run_plan(path).counts == {"done": 4}
    study = read_results(path)["small"]
    table = study.table("rrmse")
    assert table.loc["linnerud", "true"] != table.loc["linnerud", "false"]


# -- a plan that is edited between runs: only what is new is run, and reports show what the plan says now


def test_a_plan_that_was_edited_and_not_run_shows_its_gaps(tmp_path, monkeypatch):
    """Interrupted after planning: old results stay, new places are open, and compare says so."""
    path = write_plan(tmp_path, method("univariate"))
    run.run_plan(path)
    write_plan(tmp_path, method("univariate"), method("uniform"))

    class Interrupted(InProcess):
        def submit(self, order):
            raise KeyboardInterrupt

    monkeypatch.setattr(run, "WorkerPool", lambda *arguments: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        run.run_plan(path)
    study = read_results(path)["small"]
    assert study.jobs.groupby("method")["state"].unique().map(set).to_dict() == {
        "uniform": {"pending"},
        "univariate": {"done"},
    }
    told = CliRunner().invoke(app, ["compare", str(path)])
    assert told.exit_code == 0
    assert "8 of 16 jobs are done" in " ".join(told.output.split())


@pytest.mark.slow
def test_changed_plans_are_plans_or_errors(tmp_path):
    path = tmp_path / "plan.toml"
    chance = random.Random(0)
    whole = example_plan()
    n_refused = 0
    for n in range(400):
        at = chance.randrange(len(whole))
        if n % 4 == 0:
            text = whole[:at]
        elif n % 4 == 1:
            text = whole[:at] + chance.choice("0-[]{}=\"'\n.x\0é") + whole[at + 1 :]
        else:
            text = whole[:at] + whole[at + chance.randrange(1, 30) :]
        path.write_bytes(text.encode() if n % 7 else text.encode()[:-1] + b"\xff")
        try:
            read_plan(path)
        except OmnirankError:
            n_refused += 1
    assert n_refused > 100
    path.write_text("a = " + "[" * 100_000)
    with pytest.raises(OmnirankError):
        read_plan(path)
