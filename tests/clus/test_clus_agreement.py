"""Single trees and Relief beside CLUS 2.12.8, which was run on the same files: sizes, errors and scores are its own."""

import re

import numpy as np
import pytest

from omnirank.clus.run import run_clus
from reference.clus_files import read_fimp, write_files

RMSE, ACCURACY, HAMMING, AUPRC = "Root mean squared error (RMSE)", "Accuracy", "HammingLoss", "pooledAUPRC"

# kind, settings -> nodes of Original and Pruned; measure, training and testing errors of Default, Original and Pruned
CLUS = [
    ("numbers", "", (107, 17), RMSE, (4.0249, 0.46348, 1.1008), (3.8523, 1.1953, 1.3315)),
    ("numbers", "[Tree]\nFTest = 0.01", (25, 17), RMSE, (4.0249, 0.91322, 1.1008), (3.8523, 1.2921, 1.3315)),
    (
        "numbers",
        "[Tree]\nPruningMethod = M5\nM5PruningMult = 1.0\nSplitPosition = Middle",
        (107, 25),
        RMSE,
        (4.0249, 0.46348, 0.91322),
        (3.8523, 1.1607, 1.257),
    ),
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
    ("hierarchy", "", (71,), HAMMING, (0.31806, 0.031944), (0.35, 0.10556)),
    (
        "hierarchy",
        "[Tree]\nFTest = 0.05\n[Hierarchical]\nWParam = 0.5",
        (17,),
        AUPRC,
        (0.82082, 0.98551),
        (0.81669, 0.96246),
    ),
]


def errors_in(text: str, section: str, measure: str) -> list[float]:
    """The mean errors of the models in a section of an output file."""
    part = text.split(f"{section} error\n")[1].split(" error\n")[0]
    if measure == ACCURACY:
        return [float(found) for found in re.findall(r"Accuracy: (\S+)", part)]
    lines = part.splitlines()
    start = lines.index(measure) + 1
    found = []
    for line in lines[start:]:
        if not line.startswith("   "):
            break
        found.append(float(re.split(r": |\[|\]", line)[-1] or line.split("[")[1].rstrip("]")))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "settings", "nodes", "measure", "training", "testing"), CLUS)
def test_single_trees_are_those_of_clus(tmp_path, kind, settings, nodes, measure, training, testing):
    run_clus(write_files(tmp_path, kind, settings))
    text = (tmp_path / "run.out").read_text()
    found = re.findall(r"     (?:Original|Pruned): Nodes = (\d+)", text)
    assert tuple(int(n) for n in found) == nodes
    np.testing.assert_allclose(errors_in(text, "Training", measure), training, rtol=2e-5)
    np.testing.assert_allclose(errors_in(text, "Testing", measure), testing, rtol=2e-5)


# kind -> scores of a, b and colour, by ranking: five neighbours of all examples, weighted by place
RELIEF = {
    "numbers": {
        "overallIter120Neigh1": (-0.003984333254389356, 0.015926011151238886, 0.0),
        "overallIter120Neigh5": (1.4741868179013462e-5, 0.023467427340683092, 0.0),
        "uIter120Neigh5": (0.005615370769930211, 0.026520550127211717, 0.0),
        "vIter120Neigh5": (-0.004340977056000013, 0.021188144456337155, 0.0),
    },
    "classes": {
        "overallIter120Neigh1": (0.17717540587742717, 0.09264940457986798, 0.1346132208157525),
        "overallIter120Neigh5": (0.2065384923934221, 0.08184819871708648, 0.1366582206029507),
    },
    "labels": {
        "overallIter120Neigh5": (0.007094446033974092, 0.004270159064922202, 0.0),
        "l0Iter120Neigh5": (0.15867145271799737, 0.0411836046159557, 0.0),
        "l2Iter120Neigh1": (0.21649711766700583, 0.07428355957767725, 0.008333333333333335),
        "l2Iter120Neigh5": (0.21064111949754052, 0.07822618034844389, 0.12975403606854782),
    },
}
RELIEF_SETTINGS = """[Ensemble]
SortRankingByRelevance = No
FeatureRankingPerTarget = Yes
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
    assert text.endswith(
        """
       +--no:  b > 0.48
              +--yes: [y] [14.0]: 15
              +--no:  [z] [30.0]: 30

"""
    )
