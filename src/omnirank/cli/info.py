"""``omnirank info``: what is in the data, and how omnirank takes them; ``omnirank methods``: the methods."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli import options
from omnirank.cli.output import data_notes, note, print_csv, say, shortened, table
from omnirank.cli.reading import ReadOptions, read_data
from omnirank.cli.writing import PICTURES, check_ending, write_picture
from omnirank.core.text import amount_in_words, counted, numbers

if TYPE_CHECKING:
    from omnirank.core.registry import Method
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import ShardedDataset

_OUT = "Draw several tables, their links and the target (.png, .svg, .pdf)."
_RANKING = "A ranking of relations, whose scores the picture shows."
_MOST_NAMES = 12
_MOST_COLUMNS = 40


def info(
    ctx: typer.Context,
    out: Annotated[Path | None, options.option("--out -o FILE", _OUT)] = None,
    ranking: Annotated[Path | None, options.option("--ranking FILE", _RANKING)] = None,
    csv: options.Csv = False,
) -> None:
    """Show what is in the data, and the task that is inferred."""
    from omnirank.data.dataset import Dataset
    from omnirank.shards.dataset import ShardedDataset

    check_ending(out, PICTURES)
    data = _read(ctx.obj)
    options.refuse({"--ranking": out is None and ranking}, "needs --out")
    if out is not None:
        _draw(data, out, ranking)
    facts = data.describe()
    if csv:
        print_csv(("fact", "value"), sorted(_flat(facts).items()))
        return
    say(data.name, style="bold")
    lines = (_lines if isinstance(data, Dataset | ShardedDataset) else _relational_lines)(data, facts)
    table((("", "left"), ("", "left")), list(lines.items()))
    if isinstance(data, ShardedDataset):
        _print_columns(data)
    elif not isinstance(data, Dataset):
        _print_tables(data)
    for text in data_notes(data):
        say(f"note: {text}")


def _draw(data: Any, out: Path, ranking: Path | None) -> None:
    """Write the picture of several tables."""
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.plots import plot_schema
    from omnirank.relational.dataset import RelationalDataset

    options.refuse({"--out": not isinstance(data, RelationalDataset)}, "draws several tables, and the data are one")
    write_picture(plot_schema(data, None if ranking is None else Ranking.load(ranking)), out)
    note(f"picture written to {out}")


def _read(how: ReadOptions) -> Any:
    """The data; where no table is named as the target, the first one is."""
    from omnirank.relational.dataset import NoTargetError

    try:
        return read_data(how, tables=True, parts=True, into_memory=False)
    except NoTargetError as error:
        first = error.tables[0]
        note(f"no target is named: the rows of {first} are the examples here; --target names another table or a column")
        return read_data(replace(how, target=[first]), tables=True)


def _lines(data: "Dataset | ShardedDataset", facts: dict[str, Any]) -> dict[str, str]:
    """The facts in words."""
    example: Any = getattr(data, "example", data)  # rows of data in parts are not in memory
    features = example.features
    lines = {"task": facts["task"], "examples": _examples(facts)}
    lines["features"] = str(facts["features"]) + (" (sparse)" if facts.get("sparse") else "")
    for kind, mask in (("numeric", ~features.is_nominal), ("nominal", features.is_nominal)):
        names = [name for name, chosen in zip(features.names, mask, strict=True) if chosen]
        if names:
            lines[f"  {kind}"] = f"{len(names)}: {shortened(names, _MOST_NAMES)}"
    lines["missing cells"] = f"{facts['missing cells']} ({100 * facts['missing share']:.2g} %)"
    if "shards" in facts:
        lines["examples"] += f", in {counted(facts['shards'], 'file')}"
        lines["memory"] = _memory(data)
    if "density" in facts:
        lines["stored cells"] = f"{100 * facts['density']:.2g} %"
    if example.target is None:
        lines["target"] = "none: features can be ranked by how they cluster the data; --target names one"
        return lines
    return lines | _target_lines(example, facts)


def _relational_lines(data: "RelationalDataset", facts: dict[str, Any]) -> dict[str, str]:
    lines = {"task": facts["task"], "examples": _examples(facts)}
    lines["objects of an example"] = ", ".join(data.example_types)
    if data.target is None:
        lines["target"] = "none: --target names one (table.column)"
    else:
        lines |= _target_lines(data, facts)
    lines["relations"] = f"{facts['relations']}, {facts['link relations']} of them links; {facts['facts']} facts"
    return lines


def _examples(facts: dict[str, Any]) -> str:
    """The number of examples, and of those that are labelled."""
    text = str(facts["examples"])
    if facts["targets"]:
        share = "all" if facts["labelled"] == facts["examples"] else str(facts["labelled"])
        text += f", {share} labelled"
    return text + (f" ({facts['partly labelled']} of them partly)" if facts.get("partly labelled") else "")


def _target_lines(data: "Dataset | RelationalDataset", facts: dict[str, Any]) -> dict[str, str]:
    """The target in words."""
    assert data.target is not None
    kinds = ["numeric" if levels is None else counted(len(levels), "class") for levels in data.target.levels]
    if data.target.is_labels:
        kinds = ["label"] * data.n_targets
    names = [f"{name} ({kind})" for name, kind in zip(data.target_names, kinds, strict=True)]
    if data.n_targets == 1:
        lines = {"target": names[0]}
    elif data.target.is_labels:
        listed = shortened(data.target_names, _MOST_NAMES)
        lines = {"targets": f"{counted(data.n_targets, 'label')}: {listed}"}
    else:
        lines = {"targets": f"{data.n_targets}: {shortened(names, _MOST_NAMES)}"}
    for name in ("classes", "label cardinality", "hierarchy", "hierarchy depth"):
        value = facts.get(name)
        if isinstance(value, dict):
            value = shortened([f"{level} {count}" for level, count in value.items()], _MOST_NAMES)
        if value is not None:
            lines[name] = f"{value:.4g}" if isinstance(value, float) else str(value)
    return lines


def _flat(facts: dict[str, Any]) -> dict[str, Any]:
    """One number per fact: the classes become facts of their own."""
    flat: dict[str, Any] = {}
    for name, value in facts.items():
        if isinstance(value, dict):
            flat |= {f"{name}: {level}": count for level, count in value.items()}
        else:
            flat[name] = int(value) if isinstance(value, bool) else value
    return flat


# -- data in parts --------------------------------------------------------------------------------------------


def _memory(data: Any) -> str:
    """The memory of a fit, whether the examples fit, and on what trees are grown where they do not."""
    from omnirank.core.errors import DataError
    from omnirank.ensembles.run import growing_samples

    needed, allowed = amount_in_words(data.n_bytes_of_fit), amount_in_words(data.source.max_memory)
    fit = f"a fit takes {needed} of {allowed} (--read max_memory=...); the examples"
    if data.fits_in_memory:
        return f"{fit} fit in memory"
    try:
        samples = counted(growing_samples(data, 0, "auto").n_samples, "sample")
    except DataError as error:
        return f"{fit} do not fit in memory: {error}"
    return f"{fit} do not fit in memory: trees are grown on {samples} of the rows"


def _print_columns(data: "ShardedDataset") -> None:
    """Print types, missing cells and ranges of the first columns."""
    shown = data.summary.head(_MOST_COLUMNS)
    rows = []
    for name, column in shown.iterrows():
        nominal = column["type"] == "nominal"
        low, high, mean = ("", "", "") if nominal else numbers([column["low"], column["high"], column["mean"]])
        levels = counted(int(column["n_levels"]), "category") if nominal else ""
        rows.append((name, column["type"], f"{100 * column['missing']:.2g} %", low, high, mean, levels))
    heads = ("column", "type", "missing", "low", "high", "mean", "")
    table([(head, "left" if head in ("column", "type", "") else "right") for head in heads], rows)
    if len(data.summary) > len(shown):
        say(f"... and {len(data.summary) - len(shown)} more columns: om.open_shards(...).summary has all")


# -- several tables -------------------------------------------------------------------------------------------


def _print_tables(data: "RelationalDataset") -> None:
    """Print keys, kinds of columns, and how many objects links lead to."""
    from omnirank.relational.summary import links, tables

    rows = [
        (
            *(t.name, ", ".join(t.identifier), ", ".join(t.references)),
            shortened([f"{column} ({kind})" for column, kind in t.columns], _MOST_NAMES),
        )
        for t in tables(data)
    ]
    table((("table", "left"), ("identifier", "left"), ("refers to", "left"), ("columns", "left")), rows)
    ends = [
        (link.relation, f"{_range(link.forward)} {link.destination}", f"{_range(link.backward)} {link.source}")
        for link in links(data.database)
    ]
    if ends:
        table((("link", "left"), ("leads to", "left"), ("and back to", "left")), ends)


def _range(counts: tuple[int, float, int]) -> str:
    least, mean, most = counts
    return str(most) if least == most else f"{least} to {most} (mean {mean:.3g})"


# -- methods --------------------------------------------------------------------------------------------------


def methods(
    task: Annotated[str | None, options.option("--task TASK", "Only methods that handle this task.")] = None,
    supervision: Annotated[
        str | None, options.option("--supervision KIND", "Only supervised, semi-supervised or unsupervised methods.")
    ] = None,
    csv: options.Csv = False,
) -> None:
    """List the ranking methods."""
    from omnirank.core.registry import SUPERVISION
    from omnirank.core.registry import methods as registered

    listed = registered(task, supervision, data=None)
    if csv:
        marks = [[int(s in m.supervision) for s in SUPERVISION] for m in listed]
        rows = [[m.name, ";".join(sorted(m.tasks)), *mark, m.data] for m, mark in zip(listed, marks, strict=True)]
        print_csv(("method", "tasks", *(s.replace("-", "_") for s in SUPERVISION), "data"), rows)
        return
    words = [["yes" if s in m.supervision else "-" for s in SUPERVISION] for m in listed]
    table(
        [(heading, "left") for heading in ("method", "what its scores are", "tasks", "sup.", "semi", "unsup.")],
        [[m.name, m.summary, _tasks(m), *marks] for m, marks in zip(listed, words, strict=True)],
        whole=("method",),  # to be typed as it is
    )


def _tasks(method: "Method") -> str:
    from omnirank.data.task_registry import TASKS

    return "all" if set(method.tasks) >= set(TASKS) else ", ".join(method.tasks)
