"""``omnirank info`` of data in parts: what the summary tells, without reading the rows again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnirank.cli.data_notes import data_notes
from omnirank.cli.output import say, table
from omnirank.core.text import amount_in_words, counted, numbers

if TYPE_CHECKING:
    from omnirank.shards.dataset import ShardedDataset

_MOST_SHOWN = 40


def show_shards(data: ShardedDataset, lines: dict[str, str]) -> None:
    """Print what is known of data in parts: facts in words, and a line for each of the first columns.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    lines : dict of str to str
        Facts that all data sets have, in words.
    """
    say(data.name, style="bold")
    lines["examples"] += f", in {counted(data.n_shards, 'file')}"
    allowed = amount_in_words(data.source.max_memory)
    takes = f"a fit takes {amount_in_words(data.n_bytes_of_fit)} of {allowed} (--memory)"
    lines["memory"] = f"{takes}; the examples {_how_they_fit(data)}"
    table((("", "left"), ("", "left")), list(lines.items()))
    _print_columns(data)
    for text in data_notes(data):
        say(f"note: {text}")


def _how_they_fit(data: ShardedDataset) -> str:
    """Whether the examples fit in memory, and what trees are grown on where they do not."""
    from omnirank.core.errors import DataError
    from omnirank.ensembles.sampled_growth import growing_samples

    if data.fits_in_memory:
        return "fit in memory"
    try:
        n_samples = growing_samples(data, 0, "auto").n_samples
    except DataError as problem:
        return f"do not fit in memory: {problem}"
    return f"do not fit in memory: trees are grown on {counted(n_samples, 'sample')} of the rows"


def _print_columns(data: ShardedDataset) -> None:
    """Print types, missing cells and ranges of the first columns."""
    found = data.summary
    shown = found.head(_MOST_SHOWN)
    rows = []
    for name, column in shown.iterrows():
        nominal = column["type"] == "nominal"
        low, high, mean = ("", "", "") if nominal else numbers([column["low"], column["high"], column["mean"]])
        levels = counted(int(column["n_levels"]), "category") if nominal else ""
        rows.append((name, column["type"], f"{100 * column['missing']:.2g} %", low, high, mean, levels))
    heads = ("column", "type", "missing", "low", "high", "mean", "")
    table([(head, "left" if head in ("column", "type", "") else "right") for head in heads], rows)
    if len(found) > len(shown):
        say(f"... and {len(found) - len(shown)} more columns: om.open_shards(...).summary has all")
