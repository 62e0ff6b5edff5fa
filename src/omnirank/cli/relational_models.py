"""What ``rank``, ``tree`` and ``evaluate`` do with several linked tables."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from omnirank.cli.output import figures, note, say, table
from omnirank.core.text import counted, numbers

if TYPE_CHECKING:
    from omnirank.cli.files import RankingFiles
    from omnirank.relational.dataset import RelationalDataset

_SHOWN = 20
_SHOWN_MEASURES = 3


def refuse(given: dict[str, Any]) -> None:
    """Refuse options that are for one table.

    Examples
    --------
    >>> from omnirank.cli.relational_models import refuse
    >>> refuse({"--supervision": None})
    """
    from omnirank.core.errors import ParameterError

    for name, value in given.items():
        if value:
            raise ParameterError(f"{name} is for one table: leave it out for several")


def rank(
    dataset: RelationalDataset,
    method: str | None,
    parameters: dict[str, Any],
    top: int | None,
    files: RankingFiles,
    csv: bool,
) -> None:
    """Rank the relations of a database, or what else ``by`` says."""
    from omnirank.cli.rank import print_csv, print_ranking
    from omnirank.core.errors import ParameterError
    from omnirank.core.parallel import progress_bars
    from omnirank.core.registry import get_method, methods

    chosen = get_method(method or "relational-genie3")
    if chosen.data != "relational":
        others = ", ".join(known.name for known in methods(data="relational"))
        raise ParameterError(f"method {chosen.name!r} ranks the columns of one table; of several: {others}")
    ranker = chosen.make(**parameters)
    start = time.perf_counter()
    with progress_bars():
        ranking = ranker.fit(dataset).ranking_
    files.write(ranking, dataset, ranker, time.perf_counter() - start, top or _SHOWN)
    for text in dataset.notes:
        note(text)
    if csv:
        print_csv(ranking.to_frame(), top)
        return
    say(f"{_heading(dataset)}, by {ranker.by}")
    say(f"{chosen.name}: {chosen.summary}")
    k = top or _SHOWN
    print_ranking(ranking, k)
    if len(ranking) > k:
        say(f"... and {len(ranking) - k} more: --top shows more of them, --out writes all")
    links = ranker.rankings_.get("link")
    if ranker.by == "relation" and links is not None and links.scores.any():
        say("relations that only link tables take credit from the columns behind them: --by column ranks these alone")
    files.tell()


def tree_model(dataset: RelationalDataset, parameters: dict[str, Any]) -> Any:
    """Return a relational tree that is not fitted."""
    from omnirank.core.errors import ParameterError
    from omnirank.relational import RelationalTree

    if dataset.target is None:
        raise ParameterError("several tables need a target: name it by --target table.column")
    return RelationalTree(**parameters)


def evaluate(
    dataset: RelationalDataset, presets: list[str], parameters: dict[str, Any], folds: int, seed: int, csv: bool
) -> None:
    """Cross-validate a tree and a forest of each preset, beside a constant prediction."""
    from omnirank.cli.tree import with_parameters
    from omnirank.core.parallel import progress_bars
    from omnirank.evaluation.cross import evaluate_relational
    from omnirank.measures import MEASURES
    from omnirank.relational import RelationalForest

    jobs = parameters.pop("n_jobs")
    models = {}
    for preset in presets or ["AGG-All"]:
        shared: dict[str, Any] = {"preset": preset, "random_state": seed}
        of_trees = {name: value for name, value in parameters.items() if name not in ("n_trees", "ensemble")}
        models[f"tree, {preset}"] = with_parameters(tree_model(dataset, shared), of_trees)
        models[f"forest, {preset}"] = with_parameters(RelationalForest(**shared, n_jobs=jobs), parameters)
    for text in dataset.notes:
        note(text)
    with progress_bars():
        found = evaluate_relational(models, dataset, n_folds=folds, random_state=seed)
    if csv:
        figures(list(found.columns), found.itertuples(index=False))
        return
    say(f"{_heading(dataset)}, {folds}-fold cross-validation")
    names = list(dict.fromkeys(found["measure"]))[:_SHOWN_MEASURES]
    rows = []
    for name in dict.fromkeys(found["model"]):
        own = found[found["model"] == name].set_index("measure").loc[names]
        cells = zip(numbers(own["value"]), numbers(own["standard_error"]), strict=True)
        rows.append([name, *(f"{value} ± {error}" for value, error in cells)])
    table([("model", "left"), *((MEASURES[name].title, "right") for name in names)], rows)
    say("--csv has all measures")


def _heading(dataset: RelationalDataset) -> str:
    n = len(dataset.database.relations)
    return f"{dataset.name}: {dataset.task}, {counted(dataset.n_examples, 'example')}, {counted(n, 'relation')}"
