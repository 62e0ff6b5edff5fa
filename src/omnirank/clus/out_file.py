"""The text of the files ``.out`` and ``.xval``: what was run, how large the models are, their errors, the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from omnirank.clus.choices import OutputChoices
from omnirank.clus.error_text import error_lines
from omnirank.clus.examples import Examples
from omnirank.clus.known_settings import DEFAULTS
from omnirank.clus.model_text import model_lines, size_text
from omnirank.clus.models import Fitted, Model
from omnirank.clus.numbers_text import clus_number, heading
from omnirank.clus.values import Values
from omnirank.data.dataset import Dataset

# Which models ShowModels names; those of an ensemble are the others.
_SHOWN = {"Default": "default", "Original": "original", "Pruned": "pruned"}


def head_lines(path: Path, values: Values, examples: Examples) -> list[str]:
    """Return the start of a file: the run, its settings as they are given, and what is not followed.

    Parameters
    ----------
    path : Path
        The file that is written.
    values : Values
        The settings.
    examples : Examples
        The examples.
    """
    from omnirank import __version__

    train = examples.train
    missing = train.features.n_missing > 0 or not bool(train.labelled.all())
    n_targets = examples.n_attributes - train.n_features if train.target is not None else train.n_features
    lines = [
        *heading(f"Clus run {examples.relation}", "*"),
        "",
        f"Date: {datetime.now().strftime('%Y-%m-%d %H:%M')}",
        f"File: {path.name}",
        f"Written by: omnirank {__version__}",
        f"Attributes: {examples.n_attributes} (input: {train.n_features}, output: {n_targets})",
        f"Missing values: {'Yes' if missing else 'No'}",
        "",
    ]
    for section, given in values.settings.sections.items():
        names = {name.lower(): (section_name, name) for section_name in DEFAULTS for name in DEFAULTS[section_name]}
        called = next((name for name in DEFAULTS if name.lower() == section), section)
        lines.append(f"[{called}]")
        lines += [f"{names.get(name, ('', name))[1]} = {value}" for name, value in given.items()]
        lines.append("")
    if values.notes:
        lines += [*heading("Notes", "-"), "", *values.notes, ""]
    return lines


def run_lines(number: int, fitted: Fitted, level_is_chosen: bool) -> list[str]:
    """Return the start of a run: its number, times, and how large the models are.

    Parameters
    ----------
    number : int
        Number of the run, from 1.
    fitted : Fitted
        The models.
    level_is_chosen : bool
        Whether there are unlabelled examples that count, so that the level of supervision is told.
    """
    lines = [*heading(f"Run: {number:02d}", "*"), "", *heading("Statistics", "-"), ""]
    lines.append(f"FTValue (FTest): {fitted.f_test}")
    if level_is_chosen:
        lines.append(f"Level of supervision: {fitted.level:g}")
    grown = [model for model in fitted.models if model.name != "Pruned"]
    lines.append(f"Induction Time: {clus_number(max(model.seconds for model in grown))} sec")
    pruned = sum(model.seconds for model in fitted.models if model.name == "Pruned")
    lines += [f"Pruning Time: {clus_number(pruned)} sec", "Model information:"]
    return [*lines, *(f"     {model.name}: {size_text(model)}" for model in fitted.models), ""]


def errors_on(title: str, dataset: Dataset, means: Mapping[str, np.ndarray], train: Dataset) -> list[str]:
    """Return the errors of all models on some examples, under a title.

    Parameters
    ----------
    title : str
        What the examples are.
    dataset : Dataset
        The examples.
    means : mapping of str to ndarray
        What each model predicts.
    train : Dataset
        The training examples.
    """
    assert train.target is not None
    return [*heading(title, "-"), "", *error_lines(dataset, means, train.target), ""]


def shown_models(
    models: Sequence[Model], output: OutputChoices, names: Sequence[str], task: str, trees: bool
) -> list[str]:
    """Return the models that are to be shown.

    Parameters
    ----------
    models : sequence of Model
        The models.
    output : OutputChoices
        What is written.
    names : sequence of str
        Names of the features.
    task : str
        The task.
    trees : bool
        Whether the trees of ensembles are written, too.
    """
    lines = []
    for model in models:
        if _SHOWN.get(model.name, "others") in output.models:
            lines += [*heading(f"{model.name} Model", "*"), "", *model_lines(model, names, task, trees), ""]
    return lines
