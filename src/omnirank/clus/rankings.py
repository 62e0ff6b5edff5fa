"""Rankings of a run, and the files (fimp) that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from omnirank.clus.choices import ForestChoices, relief_parameters
from omnirank.clus.examples import Examples
from omnirank.clus.settings import Values
from omnirank.core.files import replacing
from omnirank.core.ranking.ranking import Ranking
from omnirank.ensembles.plan import PRIVATE_RULES
from omnirank.rankers.ensemble import EnsembleRanker
from omnirank.rankers.relief import ReliefRanker

_CALLED = {"genie3": "Genie3", "symbolic": "Symbolic", "permutation": "RForest"}
_ERRORS = {
    "accuracy": "Accuracy",
    "rrmse": "Relative root mean squared error (RRMSE)",
    "auprc": "Pooled AUPRC",
    "auto": "HammingLoss",
    "target": "Target error",
}


def write_forest_rankings(
    stem: Path, examples: Examples, values: Values, forest: ForestChoices, supervision: float | None, seed: int
) -> list[Path]:
    """Rank features by the ensemble's scores, and write a file for each score and number of trees.

    Parameters
    ----------
    stem : Path
        The settings file without its ending.
    examples : Examples
        The training examples.
    values : Values
        The settings.
    forest : ForestChoices
        The ensemble.
    supervision : float or None
        Level of supervision; None: there is no target.
    seed : int
        The seed.
    """
    dataset, permuted = examples.train, "permutation" in forest.scores
    per_target = values.flag("Ensemble", "FeatureRankingPerTarget")
    ranker = EnsembleRanker(
        "permutation" if permuted else forest.scores[0],  # Genie3 and Symbolic come with it
        n_trees=forest.sizes,
        supervision="auto" if supervision is None else supervision,
        symbolic_weight=forest.symbolic_weight,
        permutation_error=forest.permutation_error if permuted else "auto",
        per_target=per_target and dataset.n_targets > 1 and dataset.hierarchy is None,
        random_state=seed,
        n_jobs=forest.n_jobs,
        **{name: value for name, value in forest.rules.items() if name not in PRIVATE_RULES},
    )
    ranker._rules = {name: value for name, value in forest.rules.items() if name in PRIVATE_RULES}
    ranker.fit(dataset, sample_weight=examples.weight)
    written = []
    for score, n in product(forest.scores, forest.sizes):
        scores = _named(ranker._ranking_at(importance=score, n_trees=n), score, forest)
        head = [f"Ensemble method: {forest.called}", f"Ranking method: {_CALLED[score]}", f"Ensemble size: {n}"]
        path = stem.with_name(f"{stem.name}Trees{n}{_CALLED[score]}.fimp")
        written.append(write_lines(path, fimp_lines(head, scores, examples, values)))
    return written


def _named(ranking: Ranking, score: str, forest: ForestChoices) -> dict[str, np.ndarray]:
    """The scores of a ranking under the names that CLUS gives them."""
    if score == "symbolic":
        return {f"w={forest.symbolic_weight}": ranking.scores}
    error = f"{_ERRORS[forest.permutation_error]}:"
    first, rest = ("overAll", "") if score == "genie3" else (f"{error}overall", error)
    targets = () if ranking.per_target is None else ranking.per_target.names
    return {first: ranking.scores} | {f"{rest}{name}": ranking.for_target(name).scores for name in targets}


class ClusRelief(ReliefRanker):
    """Relief with the place of the nearest neighbour as CLUS counts it: 0, not 1 as published."""

    _first_place = 0


def write_relief_ranking(stem: Path, examples: Examples, values: Values, seed: int) -> Path:
    """Rank features by Relief, for all numbers of neighbours and iterations, and write the file.

    Parameters
    ----------
    stem : Path
        The settings file without its ending.
    examples : Examples
        The training examples.
    values : Values
        The settings.
    seed : int
        The seed.
    """
    if values.flag("Ensemble", "FeatureRankingPerTarget"):
        values.tell("Ensemble", "FeatureRankingPerTarget", "Relief ranks for all targets together")
    ranker = ClusRelief(random_state=seed, **relief_parameters(values, examples.train)).fit(examples.train)
    scores = {f"overallIter{m}Neigh{k}": ranking.scores for (m, k), ranking in ranker.checkpoints_.items()}
    iterations, neighbors = (sorted({pair[i] for pair in ranker.checkpoints_}) for i in (0, 1))
    head = [
        "Ranking method: Relief with all combinations of",
        f"numbers of neighbours: {neighbors}",
        f"numbers of iterations: {iterations}",
    ]
    return write_lines(stem.with_name(f"{stem.name}.fimp"), fimp_lines(head, scores, examples, values))


def fimp_lines(head: Sequence[str], scores: Mapping[str, np.ndarray], examples: Examples, values: Values) -> list[str]:
    """Return the lines of a file: for every feature its position, name, ranks and scores.

    Parameters
    ----------
    head : sequence of str
        What the file starts with: the method.
    scores : mapping of str to ndarray
        Scores of the features, by the name of the ranking.
    examples : Examples
        The training examples.
    values : Values
        The settings: the order of the features.
    """
    table, names = np.array(list(scores.values())), examples.train.feature_names
    ranks = rankdata(-table, method="min", axis=1).astype(int)
    columns = f"[{', '.join(f'{name}Rank' for name in scores)}]\t[{', '.join(scores)}]"
    heading = f"attributeDatasetIndex\tattributeName\t{columns}"
    by_relevance = values.flag("Ensemble", "SortRankingByRelevance")
    order = np.argsort(ranks[0], kind="stable") if by_relevance else range(len(names))
    rows = (f"{examples.positions[i]}\t{names[i]}\t{ranks[:, i].tolist()}\t{table[:, i].tolist()}" for i in order)
    return [*head, heading, "-" * len(heading), *rows]


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    """Write a text file, whole or not at all, and return its path."""
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
    return path
