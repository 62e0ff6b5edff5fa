"""Runs from a settings file to the files that they leave, as users of CLUS meet them."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app
from omnirank.clus.run import run_clus
from reference.clus_files import numbers, read_fimp, write_files

RUNNER = CliRunner()
FOREST = """[Ensemble]
EnsembleMethod = RForest
Iterations = [2, 4]
SelectRandomSubspaces = SQRT
FeatureRanking = [Genie3, Symbolic, RForest]
"""


def clus(*arguments, code=0):
    result = RUNNER.invoke(app, ["clus", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def names_in(folder):
    return {path.name for path in folder.iterdir()} - {"train.arff", "test.arff", "run.s"}


def section(text, title):
    """The lines below an underlined title, up to the next one."""
    lines = text.splitlines()
    start = lines.index(title) + 2
    ends = [i for i in range(start + 1, len(lines)) if re.fullmatch(r"\*{4,}|-{4,}", lines[i])]
    return lines[start : (ends[0] - 1 if ends else len(lines))]


def test_a_forest_leaves_a_ranking_for_each_score_and_size(tmp_path):
    run = run_clus(write_files(tmp_path, "numbers", FOREST), forest=True)
    fimps = {f"runTrees{n}{score}.fimp" for n in (2, 4) for score in ("Genie3", "Symbolic", "RForest")}
    assert names_in(tmp_path) == fimps | {"run.out"}
    assert {file.name for file in run.files} == fimps | {"run.out"}
    head = (tmp_path / "runTrees4Symbolic.fimp").read_text().splitlines()
    assert head[:3] == ["Ensemble method: RForest", "Ranking method: Symbolic", "Ensemble size: 4"]
    assert head[3] == "attributeDatasetIndex\tattributeName\t[w=0.5Rank]\t[w=0.5]"
    assert head[4] == "-" * len(head[3])
    text = (tmp_path / "run.out").read_text()
    assert "Forest with 2 trees: FOREST with 2 models" in text
    assert section(text, "Forest with 4 trees Model")[1] == "Forest with 4 models"


def test_rankings_are_those_of_the_library(tmp_path):
    path = write_files(tmp_path, "numbers", FOREST + "FeatureRankingPerTarget = Yes\n")
    run_clus(path, forest=True)
    ranker = om.EnsembleRanker(
        "permutation",
        ensemble="random-forest",
        n_trees=4,
        max_features="sqrt",
        symbolic_weight=0.5,
        permutation_error="rrmse",
        per_target=True,
        random_state=0,
    )
    ranker._rules = {"tie_break": "first"}
    ranker.fit(om.load(path))
    genie3 = read_fimp(tmp_path / "runTrees4Genie3.fimp")
    assert list(genie3) == ["overAll", "u", "v"]
    expected = ranker.rankings_["genie3"]
    assert [genie3["overAll"][name] for name in expected.names] == expected.scores.tolist()
    assert [genie3["v"][name] for name in expected.names] == expected.for_target("v").scores.tolist()
    permutation = read_fimp(tmp_path / "runTrees4RForest.fimp")["Relative root mean squared error (RRMSE):overall"]
    assert list(permutation.values()) == sorted(ranker.ranking_.scores.tolist(), reverse=True)
    symbolic = read_fimp(tmp_path / "runTrees4Symbolic.fimp")["w=0.5"]
    assert symbolic["a"] == ranker.rankings_["symbolic"].scores[0]


def test_features_keep_their_numbers_in_the_file_and_its_order_where_it_is_asked_for(tmp_path):
    more = FOREST + "SortRankingByRelevance = No\n[Attributes]\nDisable = 1\n"
    run_clus(write_files(tmp_path, "numbers", more), forest=True)
    rows = (tmp_path / "runTrees2Genie3.fimp").read_text().splitlines()[5:]
    assert [row.split("\t")[:2] for row in rows] == [["2", "b"], ["3", "colour"]]


def test_the_same_seed_gives_the_same_files(tmp_path):
    texts = []
    for seed in (3, 3, 4):
        run_clus(write_files(tmp_path, "labels", f"[General]\nRandomSeed = {seed}\n{FOREST}"), forest=True)
        texts.append((tmp_path / "runTrees4Genie3.fimp").read_text())
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.slow
def test_unlabelled_examples_of_another_file_count(tmp_path):
    more = "[SemiSupervised]\nUnlabeledData = test.arff\nPossibleWeights = 0.5\n"
    run_clus(write_files(tmp_path, "numbers", more), ssl=True)
    text = (tmp_path / "run.out").read_text()
    assert "Level of supervision: 0.5" in text
    assert "Number of examples: 180\nNumber of labelled examples: 120" in text
    assert section(text, "Default Model")[1].endswith(": 180")


def test_without_ssl_unlabelled_examples_do_not_count(tmp_path):
    path = write_files(tmp_path, "numbers")
    alone = run_clus(path).files[0].read_text()
    with (tmp_path / "train.arff").open("a") as file:
        file.write("1,1,red,?,?\n2,1,blue,?,?\n")
    both = run_clus(path).files[0].read_text()
    assert section(both, "Pruned Model") == section(alone, "Pruned Model")


def test_unsupervised_trees_predict_the_features(tmp_path):
    more = "[Attributes]\nDescriptive = 1-3\nTarget = 1-3\nDisable = 4-5\n" + FOREST.replace(", RForest", "")
    path = write_files(tmp_path, "numbers", more)
    run_clus(path)
    assert re.search(r"\[\S+,\S+,(red|green|blue)\] \[\S+\]: 120", (tmp_path / "run.out").read_text())
    run_clus(path, forest=True)
    expected = om.EnsembleRanker("genie3", "random-forest", n_trees=4, max_features="sqrt", random_state=0)
    expected._rules = {"tie_break": "first"}
    expected.fit(om.load(path))
    found = read_fimp(tmp_path / "runTrees4Genie3.fimp")["overAll"]
    np.testing.assert_allclose([found[name] for name in expected.ranking_.names], expected.ranking_.scores)


def test_row_weights_count(tmp_path):
    rows = ["1,0,{3}", "2,0,{1}", "3,8,{1}", "4,8,{3}"]
    (tmp_path / "w.arff").write_text(
        "@relation w\n@attribute a numeric\n@attribute y numeric\n@data\n" + "\n".join(rows)
    )
    path = tmp_path / "w.s"
    path.write_text("[Output]\nShowModels = [Original]\n")
    run_clus(path)
    assert section((tmp_path / "w.out").read_text(), "Original Model")[1:4] == [
        "a > 2.0",
        "+--yes: [8]: 4",
        "+--no:  [0]: 4",
    ]


def test_the_command_line_names_what_is_not_followed_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, "classes", "[Tree]\nSplitSampling = 50\nPruningMetod = M5\n[General]\nVerbose = 0\n")
    result = clus("run")  # CLUS adds the ending, too
    assert result.stdout == "Output written to: run.out\n"
    notes = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    assert "note: [Tree] SplitSampling = 50, PruningMetod = M5 (did you mean 'PruningMethod'?) is not followed" in notes
    assert len(set(notes)) == len(notes)
    text = (tmp_path / "run.out").read_text()
    assert all(note.removeprefix("note: ") in text for note in notes)


def test_faults_are_one_line(tmp_path):
    result = clus(write_files(tmp_path, "numbers", "[Data]\nTestSet = tset.arff\n"), code=2)
    [line] = result.stderr.splitlines()
    assert "[Data] TestSet = tset.arff" in line
    assert "did you mean 'test.arff'" in line
    other = write_files(tmp_path, "numbers", "[Data]\nTestSet = other.arff\n")
    (tmp_path / "other.arff").write_text(numbers(5, 1).replace("{red,green,blue}", "{green,red,blue}"))
    assert "declared in another way" in clus(other, code=2).stderr
    assert "there is no file" in clus(tmp_path / "none.s", code=2).stderr


@pytest.mark.slow
def test_levels_that_a_node_has_not_seen_go_to_no(tmp_path):
    """The fourth level is in no training example: CLUS's tests say no to it."""
    rows = ["r,0", "r,0", "g,5", "g,5", "b,9", "b,9"]
    header = "@relation l\n@attribute c {r,g,b,k}\n@attribute y numeric\n@data\n"
    (tmp_path / "l.arff").write_text(header + "\n".join(rows) + "\n")
    (tmp_path / "more.arff").write_text(header + "k,1\n")
    path = tmp_path / "l.s"
    path.write_text("[Data]\nTestSet = more.arff\n[Output]\nShowModels = [Original]\n")
    run_clus(path)
    text = (tmp_path / "l.out").read_text()
    assert "k" not in text.split("Original Model")[1]
    refused = [leaf for leaf in section(text, "Original Model") if "no:" in leaf and "]:" in leaf][-1]
    error = re.search(r"\nrmse\n.*\n   Original +: (\S+)", text.split("Testing error")[1])[1]
    assert float(error) == abs(float(re.search(r"\[(\S+)\]", refused)[1]) - 1)
