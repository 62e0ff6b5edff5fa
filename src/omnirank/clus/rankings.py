"""Rankings of a run, and the files (fimp) that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from omnirank.clus.choices import ForestChoices, OutputChoices, TreeChoices, relief_parameters
from omnirank.clus.examples import Examples
from omnirank.clus.models import forest_rules
from omnirank.clus.settings import Values
from omnirank.core.files import replacing
from omnirank.core.ranking.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.data.target import Target
from omnirank.data.task_registry import task_named
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
    stem: Path,
    examples: Examples,
    trees: TreeChoices,
    forest: ForestChoices,
    output: OutputChoices,
    supervision: float | None,
    seed: int,
) -> list[Path]:
    """Rank features by the ensemble's scores, and write a file for each score and number of trees.

    Parameters
    ----------
    stem : Path
        The settings file without its ending.
    examples : Examples
        The training examples.
    trees, forest, output
        What the settings choose.
    supervision : float or None
        Level of supervision; None: there is no target.
    seed : int
        The seed.
    """
    scores_of: dict[tuple[str, int], dict[str, np.ndarray]] = {}
    for number, weight in enumerate(forest.symbolic_weights):
        wanted = forest.scores if number == 0 else tuple(score for score in forest.scores if score == "symbolic")
        if not wanted:
            continue
        ranker = _ranker(examples, trees, forest, output, supervision, seed, wanted, weight)
        for score, n in product(wanted, forest.sizes):
            ranking = ranker._ranking_at(importance=score, n_trees=n)
            named = _named(ranking, score, forest.permutation_error, weight)
            scores_of.setdefault((score, n), {}).update(named)
    written = []
    for (score, n), scores in scores_of.items():
        head = [f"Ensemble method: {forest.called}", f"Ranking method: {_CALLED[score]}", f"Ensemble size: {n}"]
        lines = fimp_lines(head, scores, examples.train.feature_names, examples.positions, output.by_relevance)
        written.append(write_lines(stem.with_name(f"{stem.name}Trees{n}{_CALLED[score]}.fimp"), lines))
    return written


def _ranker(
    examples: Examples,
    trees: TreeChoices,
    forest: ForestChoices,
    output: OutputChoices,
    supervision: float | None,
    seed: int,
    wanted: Sequence[str],
    weight: float,
) -> EnsembleRanker:
    """One fit for all scores: Genie3 and Symbolic come with the permutation score."""
    dataset, permuted = examples.train, "permutation" in wanted
    rules = forest_rules(trees, forest)
    ranker = EnsembleRanker(
        "permutation" if permuted else wanted[0],
        n_trees=forest.sizes,
        supervision="auto" if supervision is None else supervision,
        symbolic_weight=weight,
        permutation_error=forest.permutation_error if permuted else "auto",
        per_target=output.per_target and dataset.n_targets > 1 and dataset.hierarchy is None,
        random_state=seed,
        n_jobs=forest.n_jobs,
        **{name: value for name, value in rules.items() if name not in PRIVATE_RULES},
    )
    ranker._rules = {name: value for name, value in rules.items() if name in PRIVATE_RULES}
    return ranker.fit(dataset, sample_weight=examples.weight)


def _named(ranking: Ranking, score: str, error: str, weight: float | None) -> dict[str, np.ndarray]:
    """The scores of a ranking under the names that CLUS gives them."""
    if score == "symbolic":
        return {f"w={weight}": ranking.scores}
    first, rest = ("overAll", "") if score == "genie3" else (f"{_ERRORS[error]}:overall", f"{_ERRORS[error]}:")
    return {first: ranking.scores} | {f"{rest}{name}": scores for name, scores in _by_target(ranking)}


def _by_target(ranking: Ranking) -> list[tuple[str, np.ndarray]]:
    if ranking.per_target is None:
        return []
    return [(name, ranking.for_target(name).scores) for name in ranking.per_target.names]


class ClusRelief(ReliefRanker):
    """Relief with the place of the nearest neighbour as CLUS counts it: 0, not 1 as published."""

    _first_place = 0


def write_relief_ranking(stem: Path, examples: Examples, values: Values, output: OutputChoices, seed: int) -> Path:
    """Rank features by Relief, for all numbers of neighbours and iterations, and write the file.

    Parameters
    ----------
    stem : Path
        The settings file without its ending.
    examples : Examples
        The training examples.
    values : Values
        The settings.
    output : OutputChoices
        What is written.
    seed : int
        The seed.
    """
    dataset, parameters = examples.train, relief_parameters(values, examples.train)
    ranker = ClusRelief(random_state=seed, **parameters).fit(dataset)
    sizes = list(ranker.checkpoints_)
    scores = {f"overallIter{m}Neigh{k}": ranker.checkpoints_[m, k].scores for m, k in sizes}
    if output.per_target and dataset.n_targets > 1 and dataset.hierarchy is None:
        for i, name in enumerate(dataset.target_names):
            alone = ClusRelief(random_state=seed, **parameters | {"target_distance": "auto"}).fit(_one(dataset, i))
            for m, k in sizes:
                scores[f"{name}Iter{m}Neigh{k}"] = alone._ranking_at(n_iterations=m, n_neighbors=k).scores
    iterations, neighbors = (sorted({pair[i] for pair in sizes}) for i in (0, 1))
    head = [
        "Ranking method: Relief with all combinations of",
        f"numbers of neighbours: {neighbors}",
        f"numbers of iterations: {iterations}",
    ]
    lines = fimp_lines(head, scores, dataset.feature_names, examples.positions, output.by_relevance)
    return write_lines(stem.with_name(f"{stem.name}.fimp"), lines)


def _one(dataset: Dataset, target: int) -> Dataset:
    """The data with one of their targets, which is a class where it was a label."""
    assert dataset.target is not None
    values = dataset.target.dense()[:, [target]]
    levels = ("0", "1") if dataset.target.is_labels else dataset.target.levels[target]
    one = Target((dataset.target_names[target],), (levels,), values, ~np.isnan(values[:, 0]))
    task = task_named("numbers" if levels is None else "classes", single=True)
    return Dataset(dataset.features, one, task=task, name=dataset.name)


def fimp_lines(
    head: Sequence[str],
    scores: Mapping[str, np.ndarray],
    names: Sequence[str],
    positions: Sequence[int],
    by_relevance: bool = True,
) -> list[str]:
    """Return the lines of a file: for every feature its position, name, ranks and scores.

    Parameters
    ----------
    head : sequence of str
        What the file starts with: the method.
    scores : mapping of str to ndarray
        Scores of the features, by the name of the ranking.
    names : sequence of str
        Names of the features.
    positions : sequence of int
        Their numbers among the attributes of the data file, from 1.
    by_relevance : bool
        Whether features come in the order of the first ranking, else in that of the data file.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.clus.rankings import fimp_lines
    >>> scores = {"overAll": np.array([0.0, 0.5, 0.0])}
    >>> for line in fimp_lines(["Ranking method: Genie3"], scores, ["a", "b", "c"], [1, 2, 4]):
    ...     print(line.replace("\\t", " "))
    Ranking method: Genie3
    attributeDatasetIndex attributeName [overAllRank] [overAll]
    -----------------------------------------------------------
    2 b [1] [0.5]
    1 a [2] [0.0]
    4 c [2] [0.0]
    """
    table = np.array([np.asarray(values, float) for values in scores.values()])
    ranks = rankdata(-table, method="min", axis=1)
    columns = f"[{', '.join(f'{name}Rank' for name in scores)}]\t[{', '.join(scores)}]"
    heading = f"attributeDatasetIndex\tattributeName\t{columns}"
    order = np.argsort(ranks[0], kind="stable") if by_relevance else np.arange(len(names))
    lines = [*head, heading, "-" * len(heading)]
    for i in order:
        places = ", ".join(str(int(rank)) for rank in ranks[:, i])
        values = ", ".join(repr(float(value)) for value in table[:, i])
        lines.append(f"{positions[i]}\t{names[i]}\t[{places}]\t[{values}]")
    return lines


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    """Write a text file, whole or not at all, and return its path."""
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
    return path
