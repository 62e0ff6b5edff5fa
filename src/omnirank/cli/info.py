"""``omnirank info``: what is in a file, and how omnirank takes it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from omnirank.cli.options import CsvOption, with_data
from omnirank.cli.output import figures, say, table
from omnirank.core.plurals import counted

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset

_MOST_SHOWN = 12


@with_data
def info(dataset: "Dataset", csv: CsvOption = False) -> None:
    """Show what is in a file: its features, its target and the task that omnirank infers."""
    facts = dataset.describe()
    if csv:
        figures(("fact", "value"), sorted(_flat(facts).items()))
        return
    say(dataset.name, style="bold")
    table((("", "left"), ("", "left")), list(_lines(dataset, facts).items()))
    for text in dataset.notes:
        say(f"note: {text}")


def _lines(dataset: "Dataset", facts: dict[str, Any]) -> dict[str, str]:
    """The facts in words."""
    table_ = dataset.features
    lines = {"task": facts["task"], "examples": _examples(facts)}
    lines["features"] = str(facts["features"]) + (" (sparse)" if facts["sparse"] else "")
    for kind, mask in (("numeric", ~table_.is_nominal), ("nominal", table_.is_nominal)):
        names = [name for name, chosen in zip(table_.names, mask, strict=True) if chosen]
        if names:
            lines[f"  {kind}"] = f"{len(names)}: {_list(names)}"
    lines["missing cells"] = f"{facts['missing cells']} ({100 * facts['missing share']:.2g} %)"
    if "density" in facts:
        lines["stored cells"] = f"{100 * facts['density']:.2g} %"
    if dataset.target is None:
        lines["target"] = "none: features can be ranked by how they cluster the data; --target names one"
        return lines
    lines["targets" if facts["targets"] > 1 else "target"] = _target(dataset)
    for name in ("classes", "label cardinality", "hierarchy", "hierarchy depth"):
        if name in facts:
            lines[name] = _value(facts[name])
    return lines


def _examples(facts: dict[str, Any]) -> str:
    text = str(facts["examples"])
    if facts["targets"]:
        share = "all" if facts["labelled"] == facts["examples"] else str(facts["labelled"])
        text += f", {share} labelled"
    return text + (f" ({facts['partly labelled']} of them partly)" if facts["partly labelled"] else "")


def _target(dataset: "Dataset") -> str:
    target = dataset.target
    if target is None or dataset.n_targets == 1:
        return f"{dataset.target_names[0]} ({_kind(dataset, 0)})"
    if target.is_labels:
        return f"{dataset.n_targets} labels: {_list(dataset.target_names)}"
    names = [f"{name} ({_kind(dataset, i)})" for i, name in enumerate(dataset.target_names)]
    return f"{dataset.n_targets}: {_list(names)}"


def _kind(dataset: "Dataset", i: int) -> str:
    levels = dataset.target.levels[i] if dataset.target is not None else None
    if dataset.target is not None and dataset.target.is_labels:
        return "label"
    return "numeric" if levels is None else counted(len(levels), "class")


def _list(names: Sequence[str]) -> str:
    more = f", ... ({len(names) - _MOST_SHOWN} more)" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return _list([f"{name} {count}" for name, count in value.items()])
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
