"""``omnirank info``: what is in a file, and how omnirank takes it."""

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from omnirank.cli.data_notes import data_notes
from omnirank.cli.options import CsvOption, with_data
from omnirank.cli.output import figures, note, say, table
from omnirank.cli.relational_options import load_any
from omnirank.cli.shard_options import reading_shards
from omnirank.core.text import counted

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import ShardedDataset

_MOST_SHOWN = 12


def _read(**options: Any) -> Any:
    """Read the data; tables of which none is named are shown by the first of them."""
    from omnirank.relational.dataset import NoTargetError

    try:
        return load_any(**options)
    except NoTargetError as error:
        first = error.tables[0]
        note(f"no target is named: rows of {first} are the examples here; --target names another table, or a column")
        return load_any(**options | {"target": first})


_read.__signature__ = inspect.signature(load_any)  # type: ignore[attr-defined]


def _with_tables(command: Callable[..., None]) -> Callable[..., None]:
    return with_data(command, reading_shards(_read, into_memory=False, runs_on_samples=False))


@_with_tables
def info(dataset: "Dataset | RelationalDataset | ShardedDataset", csv: CsvOption = False) -> None:
    """Show what is in a file, or in several tables: features or relations, the target and the task that is inferred."""
    from omnirank.data.dataset import Dataset
    from omnirank.shards.dataset import ShardedDataset

    facts = dataset.describe()
    if csv:
        figures(("fact", "value"), sorted(_flat(facts).items()))
        return
    if isinstance(dataset, ShardedDataset):
        from omnirank.cli.info_shards import show_shards

        show_shards(dataset, _lines(dataset, facts))
        return
    if not isinstance(dataset, Dataset):
        from omnirank.cli.info_relational import show

        show(dataset)
        return
    say(dataset.name, style="bold")
    table((("", "left"), ("", "left")), list(_lines(dataset, facts).items()))
    for text in data_notes(dataset):
        say(f"note: {text}")


def _lines(dataset: "Dataset | ShardedDataset", facts: dict[str, Any]) -> dict[str, str]:
    """The facts in words."""
    example: Any = getattr(dataset, "example", dataset)  # rows of data in parts are not in memory
    table_ = example.features
    lines = {"task": facts["task"], "examples": examples_in_words(facts)}
    lines["features"] = str(facts["features"]) + (" (sparse)" if facts.get("sparse") else "")
    for kind, mask in (("numeric", ~table_.is_nominal), ("nominal", table_.is_nominal)):
        names = [name for name, chosen in zip(table_.names, mask, strict=True) if chosen]
        if names:
            lines[f"  {kind}"] = f"{len(names)}: {listed(names)}"
    lines["missing cells"] = f"{facts['missing cells']} ({100 * facts['missing share']:.2g} %)"
    if "density" in facts:
        lines["stored cells"] = f"{100 * facts['density']:.2g} %"
    if example.target is None:
        lines["target"] = "none: features can be ranked by how they cluster the data; --target names one"
        return lines
    lines["targets" if facts["targets"] > 1 else "target"] = target_in_words(example)
    for name in ("classes", "label cardinality", "hierarchy", "hierarchy depth"):
        if name in facts:
            lines[name] = value_in_words(facts[name])
    return lines


def examples_in_words(facts: dict[str, Any]) -> str:
    """Return the number of examples, and of those that are labelled."""
    text = str(facts["examples"])
    if facts["targets"]:
        share = "all" if facts["labelled"] == facts["examples"] else str(facts["labelled"])
        text += f", {share} labelled"
    return text + (f" ({facts['partly labelled']} of them partly)" if facts.get("partly labelled") else "")


def target_in_words(dataset: "Dataset | RelationalDataset") -> str:
    """Return what the target is."""
    target = dataset.target
    if target is None or dataset.n_targets == 1:
        return f"{dataset.target_names[0]} ({_kind(dataset, 0)})"
    if target.is_labels:
        return f"{counted(dataset.n_targets, 'label')}: {listed(dataset.target_names)}"
    names = [f"{name} ({_kind(dataset, i)})" for i, name in enumerate(dataset.target_names)]
    return f"{dataset.n_targets}: {listed(names)}"


def _kind(dataset: "Dataset | RelationalDataset", i: int) -> str:
    levels = dataset.target.levels[i] if dataset.target is not None else None
    if dataset.target is not None and dataset.target.is_labels:
        return "label"
    return "numeric" if levels is None else counted(len(levels), "class")


def listed(names: Sequence[str]) -> str:
    """Return some names; of many the first."""
    more = f", ... ({len(names) - _MOST_SHOWN} more)" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more


def value_in_words(value: Any) -> str:
    """Return a number, or numbers by name."""
    if isinstance(value, dict):
        return listed([f"{name} {count}" for name, count in value.items()])
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _flat(facts: dict[str, Any]) -> dict[str, Any]:
    """One number per fact: the classes become facts of their own."""
    flat: dict[str, Any] = {}
    for name, value in facts.items():
        if isinstance(value, dict):
            flat |= {f"{name}: {level}": count for level, count in value.items()}
        else:
            flat[name] = int(value) if isinstance(value, bool) else value
    return flat
