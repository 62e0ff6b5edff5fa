"""A run of CLUS from its settings file to its output files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from omnirank.clus.choices import (
    ForestChoices,
    OutputChoices,
    TreeChoices,
    forest_choices,
    output_choices,
    supervision_level,
    tree_choices,
)
from omnirank.clus.examples import Examples, predicting_features, read_examples
from omnirank.clus.models import Fitted, best_f_test, fit_forest, fit_tree
from omnirank.clus.rankings import write_forest_rankings, write_lines, write_relief_ranking
from omnirank.clus.settings import Values, check_values, n_folds, notes_on
from omnirank.clus.text import errors_on, head_lines, heading, run_lines, shown_models
from omnirank.core.types import PathLike
from omnirank.data.clus_settings import read_clus_settings
from omnirank.evaluation.folds import make_folds


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
    xval: bool = False,
    encoding: str = "utf-8",
) -> ClusRun:
    """Do what CLUS would do with a settings file, and write its output files beside it.

    ``NAME.out`` has the models and their errors; ``NAME.xval`` the models of the folds; ``NAME.fimp`` and
    ``NAMETrees10Genie3.fimp`` are rankings by Relief and by ensembles.

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
    xval : bool
        Whether the models are cross-validated, too.
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
        files = run.learn(forest, xval)
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

    def learn(self, forest: bool, xval: bool) -> list[Path]:
        ranked, examples = self.examples, self.examples
        if examples.train.target is None:
            predicting = predicting_features(examples.train)
            examples = replace(examples, train=predicting, test=None, prune=None)
        supervision = supervision_level(self.values, examples.train, self.semi_supervised)
        trees = tree_choices(self.values, examples.train)
        chosen = forest_choices(self.values, examples.train, supervision != 1) if forest else None
        if forest and trees.f_tests != (1.0,):
            self.values.tell("Tree", "FTest", "trees of ensembles are grown without the test")
        elif len(trees.f_tests) > 1 and examples.prune is None:
            self.values.tell("Tree", "FTest", "there is no PruneSet, so the training set chooses the level")
        if chosen is not None and chosen.scores and examples.target_weights is not None:
            self.values.tell("Attributes", "Weights", "rankings weigh targets alike; models follow it")
        whole, fitted = self._fit(examples, trees, chosen, supervision)
        written = []
        if chosen is not None and chosen.scores:
            of_target = None if ranked.train.target is None else fitted.level
            written = write_forest_rankings(self.stem, ranked, trees, chosen, self.output, of_target, self.seed)
        lines = run_lines(1, fitted, supervision != 1) + self._error_lines(fitted, whole)
        if xval:
            names = [model.name for model in fitted.models]
            predicted, text = self._cross_validate(examples, trees, chosen, supervision, names)
            title = "Testing error" if examples.test is None else "Testing error (cross-validation)"
            summary = errors_on(title, examples.train, predicted, examples.train)
            text += [*heading("Summary", "*"), "", *summary]
            written.append(self.write(".xval", [*self._head(".xval"), *text]))
            lines += summary
        lines += self._models(fitted, whole)
        written.insert(0, self.write(".out", [*self._head(".out"), *lines]))
        return written

    def _head(self, ending: str) -> list[str]:
        return head_lines(self.stem.with_name(self.stem.name + ending), self.values, self.examples)

    def _fit(
        self, examples: Examples, trees: TreeChoices, forest: ForestChoices | None, supervision: Any
    ) -> tuple[Examples, Fitted]:
        """The models, and the examples that they were learned from: those of a pruning set that chose train, too."""
        if forest is not None:
            return examples, fit_forest(examples, trees, forest, supervision, self.seed)
        if len(trees.f_tests) > 1:
            level = best_f_test(examples, trees, supervision, self.seed)
            trees, examples = replace(trees, f_tests=(level,)), examples.with_pruning_set
        return examples, fit_tree(examples, trees, supervision, self.seed)

    def _error_lines(self, fitted: Fitted, examples: Examples) -> list[str]:
        lines, train = [], examples.train
        if self.output.train_errors:
            means = {model.name: model.means(train) for model in fitted.models}
            lines += errors_on("Training error", train, means, train)
        if examples.test is not None and self.output.test_errors:
            means = {model.name: model.means(examples.test) for model in fitted.models}
            lines += errors_on("Testing error", examples.test, means, train)
        return lines

    def _models(self, fitted: Fitted, examples: Examples) -> list[str]:
        return shown_models(fitted.models, self.output, examples.train.feature_names, examples.train.task)

    def _cross_validate(
        self,
        examples: Examples,
        trees: TreeChoices,
        forest: ForestChoices | None,
        supervision: Any,
        names: Sequence[str],
    ) -> tuple[dict[str, np.ndarray], list[str]]:
        """What the models of the folds predict for the examples they have not seen, and the text of the folds."""
        n = examples.train.n_examples
        k = min(n_folds(self.values, n), n)
        folds = make_folds(examples.train, "cross-validation", n_folds=k, random_state=self.seed)
        predicted: dict[str, np.ndarray] = {}
        lines: list[str] = []
        for number, fold in enumerate(folds, start=1):
            rows = np.zeros(n, bool)
            rows[fold.train] = True
            part, fitted = self._fit(examples.take(rows), trees, forest, supervision)
            assert part.test is not None
            means = {model.name: model.means(part.test) for model in fitted.models}
            for name in names:  # where nothing can be divided, all models are the last one there is
                values = means.get(name, means[fitted.models[-1].name])
                predicted.setdefault(name, np.zeros((n, values.shape[1])))[~rows] = values
            lines += run_lines(number, fitted, supervision != 1)
            if self.output.fold_errors:
                lines += errors_on("Testing error", part.test, means, part.train)
            if self.output.fold_models:
                lines += self._models(fitted, part)
        return predicted, lines
