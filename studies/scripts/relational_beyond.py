"""Relational forests with few labels, and which score of relations predicts the loss when one is left out.

    python studies/scripts/relational_beyond.py FACTS few-labels|left-out SET [--draws 3]

FACTS is the folder of `relational.py`; ``movies`` is the sample. Appends to studies/results/relational_few_labels.csv:
accuracy and AUC of 30 bagged trees on the test part of three folds, with this many labels in the training part; and to
relational_left_out.csv: rank and Pearson correlations over relations of the Genie3, unbiased and permutation scores of
30 trees with the growth of the squared error on the other half once forests are refitted without a relation.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import omnirank as om
from omnirank.relational import RelationalForest, RelationalRanker
from relational import FIGURES, LONGEST, from_facts

TREES = 30
LEVELS = (1, 0.75, 0.5, 0.25, "auto")
SCORES = ("genie3", "unbiased", "permutation")


def few_labels(name, data, draws):
    """Accuracy and mean AUC of the classes, for each draw, fold, number of labels and level of supervision."""
    y = np.array(data.y)
    for draw in range(draws):
        dealt = StratifiedKFold(3, shuffle=True, random_state=100 + draw).split(y, y)
        for k, (train, test) in enumerate(dealt):
            order = np.random.default_rng([draw, k]).permutation(train)
            for n in (10, 20, 50):
                part, rest = data.hide_labels(np.setdiff1d(train, order[:n])).take(train), data.take(test)
                for w in LEVELS:
                    start = time.process_time()
                    longest = LONGEST.get(name, 4)
                    model = RelationalForest(n_trees=TREES, supervision=w, max_path_length=longest, random_state=draw)
                    means = model.fit(part).predict_means(rest)
                    accuracy = (model.predict(rest) == y[test]).mean()
                    areas = [
                        roc_auc_score(y[test] == c, means[:, i])
                        for i, c in enumerate(model.classes_)
                        if 0 < (y[test] == c).sum() < len(test)
                    ]
                    seconds = time.process_time() - start
                    yield name, draw, k, n, w, model.supervision_, accuracy, np.mean(areas), seconds


def left_out(name, data, draws):
    """Correlations of scores with losses, for each seed and half."""
    y, names, longest = np.array(data.y), data.feature_names, LONGEST.get(name, 4)

    def error(model, test, truth):
        return ((model.predict_means(test) - (truth[:, None] == model.classes_)) ** 2).sum(axis=1).mean()

    for seed in range(draws):
        dealt = StratifiedKFold(2, shuffle=True, random_state=seed).split(y, y)
        for k, (train, test) in enumerate(dealt):
            part, rest = data.take(train), data.take(test)
            shared = {"n_trees": TREES, "max_path_length": longest, "random_state": seed, "n_jobs": 1}
            fitted, seconds = {}, {}
            for score in SCORES:
                start = time.process_time()
                fitted[score] = RelationalRanker(score, **shared).fit(part)
                seconds[score] = time.process_time() - start
            before, start = error(fitted["genie3"].model_, rest, y[test]), time.process_time()
            without = [RelationalForest(modes=dict(data.modes or {}) | {one: ()}, **shared).fit(part) for one in names]
            losses = [error(model, rest, y[test]) - before for model in without]
            scores = [fitted[score].rankings_["relation"].scores for score in SCORES]
            ranks = [spearmanr(own, losses)[0] for own in scores]
            linear = [np.corrcoef(own, losses)[0, 1] for own in scores]
            yield name, seed, k, *ranks, *linear, len(names), *seconds.values(), time.process_time() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("facts", type=Path)
    parser.add_argument("part", choices=["few-labels", "left-out"])
    parser.add_argument("set")
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # candidates that are sampled, tests without matches
    loaded = om.datasets.make_movies(random_state=0) if given.set == "movies" else from_facts(given.facts, given.set)
    rows = (few_labels if given.part == "few-labels" else left_out)(given.set, loaded, given.draws)
    with open(FIGURES / f"relational_{given.part.replace('-', '_')}.csv", "a") as file:
        for row in rows:
            print(*(round(x, 4) if isinstance(x, float) else x for x in row), sep=",", file=file, flush=True)
