"""A run of CLUS from its settings file to its output files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from omnirank.clus.choices import forest_choices, supervision_level, tree_choices
from omnirank.clus.examples import Examples, predicting_features, read_examples
from omnirank.clus.models import fit_forest, fit_tree
from omnirank.clus.rankings import write_forest_rankings, write_lines, write_relief_ranking
from omnirank.clus.settings import Values, check_flags, notes_on
from omnirank.clus.text import error_lines, head_lines, run_lines, shown_models
from omnirank.core.types import PathLike
from omnirank.data.clus_settings import read_clus_settings


@dataclass(frozen=True)
class ClusRun:
    """What a run has left.

    Attributes
    ----------
    files : tuple of Path
        The files that were written.
    notes : tuple of str
        What the user should know: settings that are not followed, and what happened instead.
    """

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def run_clus(
    path: PathLike, *, forest: bool = False, ssl: bool = False, relief: bool = False, encoding: str = "utf-8"
) -> ClusRun:
    """Do what CLUS would do with a settings file, and write its output files beside it.

    ``NAME.out`` has the models and their errors; ``NAME.fimp`` and ``NAMETrees10Genie3.fimp`` are rankings by Relief
    and by ensembles.

    Parameters
    ----------
    path : str or Path
        The settings file. Files that it names are looked for in the working directory, then beside it.
    forest : bool
        Whether an ensemble is learned, and its rankings are written; else a single tree.
    ssl : bool
        Whether unlabelled examples count.
    relief : bool
        Whether features are ranked by Relief; no model is learned then.
    encoding : str
        The encoding of the settings and of the data files.

    Returns
    -------
    ClusRun
        The files, and what there is to tell.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.clus.run import run_clus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = "@relation r\\n@attribute x real\\n@attribute y real\\n@data\\n1,0\\n2,0\\n4,3\\n5,3\\n"
    ...     _ = pathlib.Path(folder, "small.arff").write_text(data)
    ...     path = pathlib.Path(folder, "small.s")
    ...     _ = path.write_text("[Data]\\nFile = small.arff\\n[Output]\\nShowModels = [Original]\\n")
    ...     run = run_clus(path)
    ...     print(*run.files[0].read_text().splitlines()[-7:], sep="\\n")
    Original Model
    **************
    <BLANKLINE>
    x > 2.0
    +--yes: [3]: 2
    +--no:  [0]: 2
    """
    path = Path(path)
    if not path.exists() and path.with_name(f"{path.name}.s").exists():  # CLUS adds the ending, too
        path = path.with_name(f"{path.name}.s")
    settings = read_clus_settings(path, encoding)
    values = Values(settings, notes_on(settings))
    check_flags(values)
    seed = int(values.number("General", "RandomSeed", least=0))
    examples, stem = read_examples(values, ssl), path.with_suffix("")
    out = stem.with_name(f"{stem.name}.out")
    lines: list[str] = []
    if relief:
        rankings = [write_relief_ranking(stem, examples, values, seed)]
    else:
        lines, rankings = _learn(stem, examples, values, forest, ssl, seed)
    write_lines(out, [*head_lines(out, values, examples), *lines])
    return ClusRun((out, *rankings), tuple(values.notes))


def _learn(
    stem: Path, examples: Examples, values: Values, forest: bool, ssl: bool, seed: int
) -> tuple[list[str], list[Path]]:
    """Learn models: what is said of them, and the files of rankings by ensembles."""
    train, rankings = examples.train, []
    supervised = train.target is not None
    learned = examples
    if not supervised:
        learned = replace(examples, train=predicting_features(train), test=None)
    supervision = supervision_level(values, learned.train, ssl)
    growing, pruning = tree_choices(values, learned.train)
    if forest:
        chosen = forest_choices(values, learned.train, growing, supervision != 1)
        fitted = fit_forest(learned, chosen, supervision, seed)
        if chosen.scores:
            level = fitted.level if supervised else None
            rankings = write_forest_rankings(stem, examples, values, chosen, level, seed)
    else:
        fitted = fit_tree(learned, growing, pruning, supervision, seed)
    lines = run_lines(fitted, supervision != 1)
    assert learned.train.target is not None
    for name, title, dataset in (
        ("TrainErrors", "Training error", learned.train),
        ("TestErrors", "Testing error", learned.test),
    ):
        if dataset is not None and values.flag("Output", name):
            lines += error_lines(title, dataset, fitted.models, learned.train.target)
    return [*lines, *shown_models(fitted.models, values, learned.train)], rankings
