"""EnsembleRanker on real data, where the folder with the benchmark data is there."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.public_data import public_data

import omnirank as om

DATA = public_data()

pytestmark = pytest.mark.shared_data


def load(path, **options):
    if not (DATA / path).exists():
        pytest.skip(f"no {path} in the folder of benchmark data")
    return om.load(DATA / path, **options)


@pytest.mark.parametrize("ensemble", ["random-forest", "extra-trees", "bagging"])
def test_fried(ensemble):
    data = load("regression/fried.arff.gz", target="last")
    true = set(data.feature_names[:5])
    fitted = om.EnsembleRanker("permutation", ensemble, n_trees=20, random_state=0, n_jobs=2).fit(data)
    for name, ranking in fitted.rankings_.items():
        assert set(ranking.top(5)) == true, name


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("mlc/medical/medical.arff", {"labels": DATA / "mlc/medical/medical.xml"}),
        ("hmlc/pheno_FUN/pheno_FUN.train.arff.gz", {}),
        ("mtr/sf1.arff", {"target": "last:3"}),
        ("classification/soybean.arff.gz", {"target": "last"}),
    ],
)
def test_two_seeds_agree(path, options):
    """Sparse label sets, hierarchies, nominal features and missing cells: rankings do not depend on the seed."""
    data = load(path, **options)
    pair = [
        om.EnsembleRanker("permutation", n_trees=50, random_state=seed, n_jobs=2).fit(data).rankings_ for seed in (0, 1)
    ]
    for name in ("genie3", "symbolic", "permutation"):
        first, second = (rankings[name] for rankings in pair)
        assert np.isfinite(first.scores).all()
        assert om.compare_rankings(first, second).fuji_area > 0.8, name
