"""A run of CLUS from its settings file to its output files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from omnirank.clus.choices import (
    OutputChoices,
    forest_choices,
    output_choices,
    supervision_level,
    tree_choices,
)
from omnirank.clus.examples import Examples, predicting_features, read_examples
from omnirank.clus.models import Fitted, fit_forest, fit_tree
from omnirank.clus.rankings import write_forest_rankings, write_lines, write_relief_ranking
from omnirank.clus.settings import Values, check_values, notes_on
from omnirank.clus.text import errors_on, head_lines, run_lines, shown_models
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
    path: PathLike,
    *,
    forest: bool = False,
    ssl: bool = False,
    relief: bool = False,
    encoding: str = "utf-8",
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
    check_values(values)
    seed = int(values.number("General", "RandomSeed", least=0))
    run = _Run(values, read_examples(values, ssl, seed), output_choices(values), seed, ssl)
    if relief:
        files = run.rank_by_relief()
    else:
        files = run.learn(forest)
    return ClusRun(tuple(files), tuple(values.notes))


@dataclass(eq=False)
class _Run:
    """The parts of a run."""

    values: Values
    examples: Examples
    output: OutputChoices
    seed: int
    semi_supervised: bool

    @property
    def stem(self) -> Path:
        return self.values.settings.path.with_suffix("")

    def write(self, ending: str, lines: list[str]) -> Path:
        return write_lines(self.stem.with_name(self.stem.name + ending), lines)

    def rank_by_relief(self) -> list[Path]:
        ranking = write_relief_ranking(self.stem, self.examples, self.values, self.output, self.seed)
        return [ranking, self.write(".out", self._head(".out"))]

    def learn(self, forest: bool) -> list[Path]:
        """Learn models, and rankings from ensembles."""
        examples = self.examples
        if examples.train.target is None:
            examples = replace(examples, train=predicting_features(examples.train), test=None)
        supervision = supervision_level(self.values, examples.train, self.semi_supervised)
        trees = tree_choices(self.values, examples.train)
        rankings: list[Path] = []
        if forest:
            chosen = forest_choices(self.values, examples.train, supervision != 1)
            if trees.f_test != 1:
                self.values.tell("Tree", "FTest", "trees of ensembles are grown without the test")
            fitted = fit_forest(examples, trees, chosen, supervision, self.seed)
            if chosen.scores:
                level = None if self.examples.train.target is None else fitted.level
                rankings = write_forest_rankings(self.stem, self.examples, trees, chosen, self.output, level, self.seed)
        else:
            fitted = fit_tree(examples, trees, supervision, self.seed)
        names, task = examples.train.feature_names, examples.train.task
        lines = run_lines(fitted, supervision != 1) + self._error_lines(fitted, examples)
        lines += shown_models(fitted.models, self.output, names, task)
        return [self.write(".out", [*self._head(".out"), *lines]), *rankings]

    def _head(self, ending: str) -> list[str]:
        return head_lines(self.stem.with_name(self.stem.name + ending), self.values, self.examples)

    def _error_lines(self, fitted: Fitted, examples: Examples) -> list[str]:
        lines, train = [], examples.train
        if self.output.train_errors:
            means = {model.name: model.means(train) for model in fitted.models}
            lines += errors_on("Training error", train, means, train)
        if examples.test is not None and self.output.test_errors:
            means = {model.name: model.means(examples.test) for model in fitted.models}
            lines += errors_on("Testing error", examples.test, means, train)
        return lines
