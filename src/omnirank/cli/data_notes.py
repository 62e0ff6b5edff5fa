"""What commands tell about their data: its own notes, and how a target of whole numbers was taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import ShardedDataset

# Fewer different whole numbers are hardly counts.
_FEWEST = 6


def data_notes(dataset: Dataset | RelationalDataset | ShardedDataset) -> tuple[str, ...]:
    """Return the notes of a data set, and a word on whole numbers that are taken as classes unless --task says so.

    In Python ``task_`` tells; on the command line nobody looks there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> from omnirank.cli.data_notes import data_notes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "eggs.csv")
    ...     _ = path.write_text("size,eggs\\n" + "".join(f"{i * i % 7},{i % 8}\\n" for i in range(80)))
    ...     data_notes(om.load(path, "eggs")), data_notes(om.load(path, "eggs", task="regression"))
    (("the whole numbers of 'eggs' are taken as 8 classes; if they are counts, say task='regression'",), ())
    """
    return (*dataset.notes, *_whole_numbers(dataset))


def _whole_numbers(dataset: Dataset | RelationalDataset | ShardedDataset) -> list[str]:
    from omnirank.core.errors import setting
    from omnirank.data.dataset import Dataset
    from omnirank.data.task_registry import task_named, task_target

    if not isinstance(dataset, Dataset) or dataset.target is None or task_target(dataset.task).kind != "classes":
        return []
    chosen = dataset.source is None or "task" in dataset.source.options
    if chosen or any("the whole numbers of" in text for text in dataset.notes):
        return []
    quantities = setting("task", task_named("numbers", single=dataset.n_targets == 1))
    return [
        f"the whole numbers of {name!r} are taken as {len(levels)} classes; if they are counts, say {quantities}"
        for name, levels in zip(dataset.target_names, dataset.target.levels, strict=True)
        if levels is not None
        and len(levels) >= _FEWEST
        and all(isinstance(level, int) and not isinstance(level, bool) for level in levels)
    ][:1]
