"""Summaries kept beside the data, under a fingerprint, so that the next run need not read everything first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omnirank.core.atomic_file import replacing
from omnirank.core.errors import OmnirankError
from omnirank.core.log import logger
from omnirank.core.own_json import check_heading, own_heading, parsed_json
from omnirank.data.model_values import JsonFields, value_to_json
from omnirank.shards.source import ShardSource
from omnirank.shards.summary import ColumnSummary, Summary, summarize

_FORMAT = "omnirank-shards"
_VERSION = 3
# Folder beside the files in which things are kept.
KEPT_FOLDER = ".omnirank"


def summary_of(source: ShardSource, names: Sequence[str], targets: Sequence[str]) -> Summary:
    """Return the summary of some columns: the one that is kept beside the data, else of a pass over them.

    A pass is kept in the folder ``.omnirank`` beside the files, where they may be written to. What is kept counts for
    files of the same names, sizes, times and types only; a file that cannot be read is not believed but made anew.

    Parameters
    ----------
    source, names, targets
        As in `omnirank.shards.summary.summarize`.
    """
    path = _path(source, names, targets)
    if path is not None and path.exists():
        try:
            return _read(path, source, names)
        except (OmnirankError, OSError, UnicodeDecodeError) as problem:
            logger.info("%s is made anew: %s", path, problem)
    found = summarize(source, names, targets)
    for part in source.parts:
        part.check()
    if path is not None:
        _write(found, path)
    return found


def _path(source: ShardSource, names: Sequence[str], targets: Sequence[str]) -> Path | None:
    if source.folder is None or source.fingerprint is None:
        return None
    text = json.dumps([source.fingerprint, list(names), list(targets)])
    name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return source.folder / KEPT_FOLDER / f"{name}.json"


def _write(summary: Summary, path: Path) -> None:
    try:
        columns = {
            name: value_to_json(vars(column) | {"levels": list(column.levels.items())}, name)
            for name, column in summary.columns.items()
        }
        document = own_heading(_FORMAT, _VERSION) | {
            "n_rows": summary.n_rows,
            "n_labelled": summary.n_labelled,
            "columns": columns,
        }
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as file:
            file.write(json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except (OmnirankError, OSError) as problem:  # a folder that may only be read, levels that JSON does not hold
        logger.info("what was found is not kept: %s", problem)


def _read(path: Path, source: ShardSource, names: Sequence[str]) -> Summary:
    text = path.read_bytes().decode("utf-8", "surrogatepass")
    versions = range(_VERSION, _VERSION + 1)
    heading = check_heading(parsed_json(text, path), _FORMAT, versions, what="a summary", path=path)
    document = JsonFields(heading, path)
    if document.get("n_rows") != source.n_rows:
        document.refuse("it is of other data", "n_rows")
    n_labelled = document.get("n_labelled")
    if not isinstance(n_labelled, int) or not 0 <= n_labelled <= source.n_rows:
        document.refuse("malformed", "n_labelled")
    columns = document.part("columns")
    return Summary(source.n_rows, n_labelled, {name: _column(columns, name) for name in names})


def _column(columns: JsonFields, name: str) -> ColumnSummary:
    found: dict[str, Any] = columns.value(name)
    expected = vars(ColumnSummary()).keys()
    if not isinstance(found, dict) or found.keys() != expected or not isinstance(found["levels"], list):
        columns.refuse("malformed", name)
    numbers = [found[key] for key in ("n_known", "origin", "offset", "deviations", "low", "high")]
    if not all(isinstance(number, int | float) for number in numbers):
        columns.refuse("malformed", name)
    try:
        levels = {level: [int(count), int(part)] for level, (count, part) in found["levels"]}
    except (TypeError, ValueError):
        columns.refuse("malformed", name)
    return ColumnSummary(**found | {"levels": levels})
