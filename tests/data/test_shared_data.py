"""Every file of the benchmark data folder reads with the dimensions its README gives."""

import numpy as np
import pytest
from benchmarks.public_data import public_data

from omnirank.data.load import load

FOLDER = public_data()

pytestmark = pytest.mark.shared_data

# folder/name -> parts, examples, numeric features, nominal features, labels, label cardinality (two decimals)
MULTI_LABEL = {
    "emotions": (("emotions.arff.gz",), 593, 72, 0, 6, 1.868),
    "flags": (("flags.arff",), 194, 10, 9, 7, 3.392),
    "birds": (("birds-train.arff.gz", "birds-test.arff.gz"), 645, 258, 2, 19, 1.014),
    "scene": (("scene-train.arff.gz", "scene-test.arff.gz"), 2407, 294, 0, 6, 1.074),
    "genbase": (("genbase.arff.gz",), 662, 0, 1186, 27, 1.252),
    "medical": (("medical.arff",), 978, 0, 1449, 45, 1.245),
    "enron": (("enron.arff.gz",), 1702, 0, 1001, 53, 3.378),
    "bibtex": (("bibtex.arff.gz",), 7395, 0, 1836, 159, 2.402),
    "corel5k": (("Corel5k-sparse.arff.gz",), 5000, 0, 499, 374, 3.522),
}
SPARSE = {"medical", "enron", "bibtex", "corel5k"}

# name -> examples, numeric features, nominal features, targets, missing cells in the features
MULTI_TARGET = {
    "andro.arff": (49, 30, 0, 6, 0),
    "atp1d.arff.gz": (337, 411, 0, 6, 0),
    "atp7d.arff.gz": (296, 411, 0, 6, 0),
    "edm.arff": (154, 16, 0, 2, 0),
    "enb.arff": (768, 8, 0, 2, 0),
    "oes97.arff.gz": (334, 263, 0, 16, 0),
    "osales.arff.gz": (639, 401, 0, 12, 10012),
    "scpf.arff": (1137, 23, 0, 3, 9255),
    "sf1.arff": (323, 0, 10, 3, 0),
    "slump.arff": (103, 7, 0, 3, 0),
    "wq.arff.gz": (1060, 16, 0, 14, 0),
    "rf1.arff.gz": (9125, 64, 0, 8, 3264),
}

# name -> examples of each part, numeric features, nominal features, classes, kind, missing cells
HIERARCHICAL = {
    "church_FUN": ({"train": 1630, "valid": 844, "test": 1281}, 26, 1, 499, "tree", 9783),
    "pheno_FUN": ({"train": 656, "valid": 353, "test": 582}, 0, 69, 455, "tree", 0),
    "derisi_FUN": ({"train": 1608, "valid": 842, "test": 1275}, 63, 0, 499, "tree", 0),
    "cellcycle_FUN": ({"train": 1628, "valid": 848, "test": 1281}, 77, 0, 499, "tree", 16122),
    "cellcycle_GO": ({"train": 1625, "valid": 848, "test": 1278}, 77, 0, 4125, "dag", 16136),
    "pheno_GO": ({"train": 653, "valid": 352, "test": 581}, 0, 69, 3127, "dag", 0),
    "gasch1_FUN": ({"train": 1634, "valid": 846, "test": 1284}, 173, 0, 499, "tree", 18064),
    "enron_corr": ({"trainvalid": 988, "test": 660}, 1001, 0, 56, "tree", 0),
    "imclef07d": ({"train": 10000, "test": 1006}, 80, 0, 46, "tree", 0),
    "diatoms": ({"train": 2065, "test": 1054}, 371, 0, 398, "tree", 0),
}

# name -> examples, numeric features, nominal features, classes that occur, missing cells, options
CLASSIFICATION = {
    "arrhythmia.arff.gz": (452, 206, 73, 13, 408, {}),
    "kr-vs-kp.arff.gz": (3196, 0, 36, 2, 0, {}),
    "page-blocks.arff.gz": (5473, 10, 0, 5, 0, {}),
    "tic-tac-toe.arff": (958, 0, 9, 2, 0, {}),
    "sick.arff.gz": (3772, 7, 22, 2, 6064, {}),
    "spambase.arff.gz": (4601, 57, 0, 2, 0, {}),
    "soybean.arff.gz": (683, 0, 35, 19, 2337, {}),
    "ionosphere.arff": (351, 34, 0, 2, 0, {}),
    "phishing.csv.gz": (11055, 0, 30, 2, 0, {"nominal": "1-30"}),
    "coil2000-train.tsv.gz": (5822, 85, 0, 2, 0, {}),
    "digits.csv.gz": (1797, 64, 0, 10, 0, {}),
}

# name -> examples, numeric features, nominal features, target
REGRESSION = {
    "pol.arff.gz": (15000, 48, 0, "foo"),
    "tecator.arff.gz": (240, 124, 0, "protein"),
    "triazines.arff": (186, 60, 0, "activity"),
    "cpu-act.arff.gz": (8192, 21, 0, "usr"),
    "housing.arff": (506, 12, 1, "class"),
    "fried.arff.gz": (40768, 10, 0, "Y"),
    "abalone.arff.gz": (4177, 7, 1, "Class_Rings"),
    "mortgage.csv": (1049, 15, 0, "30Y-CMortgageRate"),
    "treasury.csv": (1049, 15, 0, "1MonthCDRate"),
    "pdgfr.csv.gz": (79, 320, 0, "target"),
}

# name -> examples, features, classes
UNSUPERVISED = {
    "colon.mat": (62, 2000, 2),
    "lung_small.mat": (73, 325, 7),
    "lymphoma.mat": (96, 4026, 9),
    "Yale.mat": (165, 1024, 15),
    "warpAR10P.mat": (130, 2400, 10),
    "madelon.mat": (2600, 500, 2),
}


def facts(data) -> tuple:
    """Task, examples, numeric and nominal features, targets, missing cells of the features."""
    nominal = int(data.features.is_nominal.sum())
    numeric = data.n_features - nominal
    return data.task, data.n_examples, numeric, nominal, data.n_targets, data.features.n_missing


@pytest.mark.parametrize("name", MULTI_LABEL)
def test_multi_label(name):
    files, n_examples, n_numeric, n_nominal, n_labels, cardinality = MULTI_LABEL[name]
    folder = FOLDER / "mlc" / name
    parts = [load(folder / file, labels=next(folder.glob("*.xml"))) for file in files]
    assert sum(part.n_examples for part in parts) == n_examples
    for part in parts:
        assert facts(part) == ("multi-label", part.n_examples, n_numeric, n_nominal, n_labels, 0)
        assert part.labelled.all()
        assert part.features.is_sparse == (name in SPARSE)
    n_relevant = sum(part.target.dense().sum() for part in parts)
    assert n_relevant / n_examples == pytest.approx(cardinality, abs=1e-3)


@pytest.mark.parametrize("name", HIERARCHICAL)
def test_hierarchical(name):
    parts, n_numeric, n_nominal, n_classes, kind, n_missing = HIERARCHICAL[name]
    options = {"duplicates": "number"} if name == "gasch1_FUN" else {}  # an attribute is declared twice there
    missing = 0
    for part, n_examples in parts.items():
        data = load(FOLDER / "hmlc" / name / f"{name}.{part}.arff.gz", **options)
        assert facts(data)[:5] == ("hierarchical-multi-label", n_examples, n_numeric, n_nominal, n_classes)
        assert data.hierarchy.is_tree == (kind == "tree")
        assert np.asarray(data.target.values.sum(axis=1)).min() >= 1
        missing += data.features.n_missing
    assert missing == n_missing


def single_files():
    """Each file with the options that read it, its facts, and the number of classes of its target (0: numbers)."""
    for name, (*sizes, n_targets, n_missing) in MULTI_TARGET.items():
        options = {"target": f"last:{n_targets}"}
        yield "mtr", name, options, ("multi-target-regression", *sizes, n_targets, n_missing), 0
    for name, (*sizes, n_classes, n_missing, options) in CLASSIFICATION.items():
        facts_of = ("classification", *sizes, 1, n_missing)
        yield "classification", name, options | {"target": "last"}, facts_of, n_classes
    for name, (*sizes, target) in REGRESSION.items():
        options = {"target": target, "task": "regression"}
        yield "regression", name, options, ("regression", *sizes, 1, 0), 0
    for name, (*sizes, n_classes) in UNSUPERVISED.items():
        yield "unsupervised", name, {}, ("classification", *sizes, 0, 1, 0), n_classes


@pytest.mark.parametrize(("folder", "name", "options", "facts_of", "n_classes"), list(single_files()))
def test_single_files(folder, name, options, facts_of, n_classes):
    data = load(FOLDER / folder / name, **options)
    assert facts(data) == facts_of
    if n_classes:
        assert len(np.unique(data.target.values)) == n_classes
    else:
        assert not np.isnan(data.y).any()
    assert folder != "regression" or data.target_names == (options["target"],)
