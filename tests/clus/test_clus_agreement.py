"""Single trees and Relief beside CLUS 2.12.8, which was run on the same files: sizes, errors and scores are its own."""

import re

import numpy as np
import pytest

from omnirank.clus.run import run_clus
from reference.clus_files import read_fimp, write_files

RMSE, ACCURACY, HAMMING, AUPRC = "rmse", "accuracy", "hamming_loss", "pooled_auprc"

# kind, settings -> nodes of Original and Pruned; measure, training and testing errors of Default, Original and Pruned
CLUS = [
    ("numbers", "", (107, 17), RMSE, (4.0249, 0.46348, 1.1008), (3.8523, 1.1953, 1.3315)),
    (
        "numbers",
        "[Model]\nMinimalWeight = 6\n[Constraints]\nMaxDepth = 3",
        (15, 13),
        RMSE,
        (4.0249, 1.1022, 1.1372),
        (3.8523, 1.337, 1.3374),
    ),
    ("classes", "", (11,), ACCURACY, (0.375, 0.95833), (0.41667, 0.91667)),
    ("labels", "", (53,), HAMMING, (0.44167, 0.041667), (0.47222, 0.088889)),
    ("labels", "[Tree]\nPruningMethod = M5", (53, 11), AUPRC, (0.49528, 0.99425, 0.94496), (0.50154, 0.93287, 0.92302)),
    ("hierarchy", "", (71,), AUPRC, (0.82082, 0.99815), (0.81669, 0.89555)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "settings", "nodes", "measure", "training", "testing"), CLUS)
def test_single_trees_are_those_of_clus(tmp_path, kind, settings, nodes, measure, training, testing):
    run_clus(write_files(tmp_path, kind, settings))
    text = (tmp_path / "run.out").read_text()
    sizes = re.findall(r"     (?:Original|Pruned): Nodes = (\d+)", text)
    assert tuple(int(n) for n in sizes) == nodes
    for section, errors in (("Training", training), ("Testing", testing)):
        lines = text.split(f"{section} error\n")[1].splitlines()
        start = lines.index(measure) + 1
        values = [float(line.split(": ")[1]) for line in lines[start : start + len(errors)]]
        np.testing.assert_allclose(values, errors, rtol=2e-5)


# kind -> scores of a, b and colour, by ranking: five neighbours of all examples, weighted by place
RELIEF = {
    "numbers": {
        "overallIter120Neigh1": (-0.003984333254389356, 0.015926011151238886, 0.0),
        "overallIter120Neigh5": (1.4741868179013462e-5, 0.023467427340683092, 0.0),
    },
    "classes": {
        "overallIter120Neigh1": (0.17717540587742717, 0.09264940457986798, 0.1346132208157525),
        "overallIter120Neigh5": (0.2065384923934221, 0.08184819871708648, 0.1366582206029507),
    },
    "labels": {"overallIter120Neigh5": (0.007094446033974092, 0.004270159064922202, 0.0)},
}
RELIEF_SETTINGS = """[Ensemble]
SortRankingByRelevance = No
[Relief]
Neighbours = [5,1]
WeightNeighbours = Yes
WeightingSigma = 0.4"""


@pytest.mark.parametrize("kind", RELIEF)
def test_relief_over_all_examples_is_that_of_clus(tmp_path, kind):
    run_clus(write_files(tmp_path, kind, RELIEF_SETTINGS), relief=True)
    scores = read_fimp(tmp_path / "run.fimp")
    for name, expected in RELIEF[kind].items():
        np.testing.assert_allclose([scores[name][feature] for feature in ("a", "b", "colour")], expected, atol=1e-14)


def test_a_tree_is_written_as_in_clus(tmp_path):
    run_clus(write_files(tmp_path, "classes"))
    text = (tmp_path / "run.out").read_text()
    assert "Original Model\n**************\n\na > 6.0\n+--yes: " in text
    # the sides of a test of levels are named in another order
    assert re.search(r"b > 0\.48\n[ |]+\+--yes: \[y\] \[14\.0\]: 15\n[ |]+\+--no:  \[z\] \[30\.0\]: 30\n", text)
    assert text.endswith("[24.0]: 24\n\n")
