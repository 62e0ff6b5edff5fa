"""Files of rankings: JSON that keeps everything, CSV for people and spreadsheets."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, DataTypeError, DataWarning, FileFormatError, ParameterError
from omnirank.core.files import check_heading, own_heading, parsed_json, replacing
from omnirank.core.immutable import thawed_json, which_names
from omnirank.core.ranking.accumulators import Accumulator, TargetScores
from omnirank.core.ranking.certainty import p_value_columns
from omnirank.core.seeds import SeedRanges
from omnirank.core.text import counted, did_you_mean, files_like, harmless, unharmed

_FORMAT = "omnirank-ranking"
_VERSION = 1
_BY_TARGET = "score: "
# What of a ranking the comment lines of a CSV file hold, each as JSON.
_CSV_FIELDS = ("method", "task", "parameters", "fingerprint", "targets", "constant", "p_value_test")
_CSV_COMMENTS = ("format", "version", "package_version", *_CSV_FIELDS, "n_features")
_OF_FEATURES = ("names", "scores", "standard_errors", "p_values", "p_given_others")
_FIELDS = (*_CSV_FIELDS, *_OF_FEATURES, "seeds", "state", "per_target")
# Method of a CSV file without comment lines.
_EXTERNAL = "external"


def write_fields(content: dict[str, Any], path: Path) -> None:
    """Write the fields of a ranking to a ``.json`` or ``.csv`` file, which appears whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "ranking.csv")
    ...     Ranking(["a", "b"], [0.25, 0.5], "genie3").save(path)
    ...     print(path.read_text().partition('package_version')[2].partition('\\n')[2])
    # method: "genie3"
    # parameters: {}
    # constant: []
    # n_features: 2
    rank,feature,score,position
    1,b,0.5,2
    2,a,0.25,1
    """
    text = (json_text if check_suffix(path) == ".json" else _csv_text)(content)
    with replacing(path) as file:
        file.write(text.encode("utf-8", "surrogatepass"))


def read_fields(path: Path) -> dict[str, Any]:
    """Read the fields of a ranking from a ``.json`` or ``.csv`` file.

    Raises
    ------
    DataError
        When the file cannot be read.
    FileFormatError
        When the file is malformed, or written by a newer version of the format.
    """
    read = fields_from_json if check_suffix(path) == ".json" else _from_csv
    try:
        # newline="": a name may hold a carriage return
        with path.open(encoding="utf-8-sig", errors="surrogatepass", newline="") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise FileFormatError(f"not a text file in UTF-8 ({error.reason})", path=path) from error
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}{files_like(path)}") from None
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    try:
        return read(text, path)
    except FileFormatError:
        raise
    except (DataError, DataTypeError, ParameterError) as error:
        raise FileFormatError(str(error), path=path) from error


def check_suffix(path: Path) -> str:
    """Return the ending of a ranking's file; any other ending is an error.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.core.ranking.files import check_suffix
    >>> check_suffix(Path("ranking.JSON"))
    '.json'
    """
    suffix = path.suffix.lower()
    if suffix not in (".json", ".csv"):
        raise ParameterError(f"a ranking is kept in a file named .json or .csv, not {str(path)!r}")
    return suffix


# -- JSON -------------------------------------------------------------------------------------------------


def json_text(content: dict[str, Any]) -> str:
    """Return the fields of a ranking as the text of a JSON file."""
    document = own_heading(_FORMAT, _VERSION) | {key: _plain(value) for key, value in content.items()}
    lines = (f"  {_dumped(key)}: {_dumped(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, SeedRanges):  # as text: other JSON readers round integers of 128 bits
        return [{"entropy": str(entropy), "start": start, "stop": stop} for entropy, start, stop in value.ranges]
    if isinstance(value, Accumulator):
        return value.to_json()
    if isinstance(value, TargetScores):
        return {name: _plain(getattr(value, name)) for name in ("names", "scores", "state")}
    return thawed_json(value)


def _dumped(value: Any) -> str:
    # not ensure_ascii: names stay readable, and two lone surrogates stay two
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def fields_from_json(text: str, path: Path) -> dict[str, Any]:
    """Return the fields of a ranking that `json_text` wrote; ``path`` is for errors."""
    document = check_heading(parsed_json(text, path), _FORMAT, _VERSION, what="a ranking", path=path)
    for key in ("method", "names", "scores"):
        if key not in document:
            raise FileFormatError(f"{key!r} is missing", path=path)
    content = {key: document[key] for key in _FIELDS if document.get(key) is not None}
    try:
        if "seeds" in content:
            ranges = ((int(str(one["entropy"])), one["start"], one["stop"]) for one in content["seeds"])
            content["seeds"] = SeedRanges(tuple(ranges))
        if "per_target" in content:
            parts = content["per_target"]
            content["per_target"] = TargetScores(
                parts["names"], parts["scores"], Accumulator.from_json(parts.get("state"))
            )
        return content | {"state": Accumulator.from_json(content.get("state"))}
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise FileFormatError(f"seeds, state or per_target are malformed ({error})", path=path) from error


# -- CSV --------------------------------------------------------------------------------------------------


def _csv_text(content: dict[str, Any]) -> str:
    targets, names = content["per_target"], content["names"]
    fields = {key: thawed_json(content[key]) for key in _CSV_FIELDS if content[key] is not None}
    text = StringIO(newline="")
    comments = own_heading(_FORMAT, _VERSION) | fields | {"n_features": len(names)}
    text.writelines(f"# {key}: {_dumped(value)}\n" for key, value in comments.items())
    columns = {"score": content["scores"], "standard_error": content["standard_errors"]}
    columns |= p_value_columns(content["p_values"], content["p_given_others"])
    if targets is not None:
        columns |= {f"{_BY_TARGET}{name}": row for name, row in zip(targets.names, targets.scores, strict=True)}
    cells = {name: values.tolist() for name, values in columns.items() if values is not None}
    text.write(",".join(map(_quoted, ("rank", "feature", *cells, "position"))) + "\n")
    order = np.lexsort((-content["scores"], which_names(names, content["constant"]))).tolist()
    for rank, i in enumerate(order, start=1):
        numbers = ",".join(repr(values[i]) for values in cells.values())
        text.write(f"{rank},{_quoted(harmless(names[i]))},{numbers},{i + 1}\n")
    return text.getvalue()


def _quoted(name: str) -> str:
    plain = name and not any(c in name for c in '",\r\n') and name == name.strip()
    return name if plain else '"' + name.replace('"', '""') + '"'


def _from_csv(text: str, path: Path) -> dict[str, Any]:
    comments, n_comments, table = _split_comments(text, path)
    if comments:
        check_heading(comments, _FORMAT, _VERSION, what="a ranking", path=path)
    columns = _csv_columns(table, n_comments, path, is_own=bool(comments))
    # what commands print (--csv) has no comments, but columns that others do not write
    if comments or table.startswith("rank,feature,score"):
        columns["names"] = [unharmed(name) for name in columns["names"]]
    if comments and comments.get("n_features") != len(columns["names"]):
        problem = f"{len(columns['names'])} features, not {comments.get('n_features')}: the file was cut or changed"
        raise FileFormatError(problem, path=path)
    positions = columns.pop("position", None)
    if positions is not None:
        if sorted(positions) != list(range(1, len(positions) + 1)):
            raise FileFormatError(f"the column 'position' must hold 1 to {len(positions)}, each once", path=path)
        order = np.argsort(positions).tolist()
        columns = {column: [values[i] for i in order] for column, values in columns.items()}
    content: dict[str, Any] = {"method": _EXTERNAL} | {key: comments[key] for key in _CSV_FIELDS if key in comments}
    targets = {name.removeprefix(_BY_TARGET): columns.pop(name) for name in [*columns] if name.startswith(_BY_TARGET)}
    if targets:
        content["per_target"] = TargetScores(tuple(targets), np.array(list(targets.values())))
    return content | columns


def _split_comments(text: str, path: Path) -> tuple[dict[str, Any], int, str]:
    """Return the values in the leading comment lines, the number of these lines, and the text after them."""
    comments: dict[str, Any] = {}
    n_lines = 0
    while text.startswith("#"):
        line, _, text = text.partition("\n")
        n_lines += 1
        key, colon, value = line.lstrip("# ").partition(":")
        if colon and key in _CSV_COMMENTS:
            comments[key] = parsed_json(value, path, line=n_lines)
    return comments, n_lines, text


def _csv_columns(table: str, n_lines: int, path: Path, *, is_own: bool) -> dict[str, list[Any]]:
    rows = _csv_rows(table, n_lines, path)
    header_line, header = next(rows, (n_lines + 1, []))
    wanted: dict[str, tuple[str, Callable[[str], Any]]] = {
        "feature": ("names", str),
        "score": ("scores", float),
        "standard_error": ("standard_errors", float),
        "p_value": ("p_values", float),
        "p_given_others": ("p_given_others", float),
        "position": ("position", int),
    }
    if is_own:
        wanted |= {column: (column, float) for column in header if column.startswith(_BY_TARGET)}
    for column in wanted:
        if header.count(column) > 1 or (column in ("feature", "score") and column not in header):
            problem = f"a ranking must have one column {column!r}: rank --out and Ranking.save write such files"
            raise FileFormatError(problem, path=path, line=header_line)
    # these follow from p values, which a file of others must have then
    derived = ("rank", "p_adjusted", "relevant", "adds") if is_own or "p_value" in header else ("rank",)
    unknown = [column for column in header if column not in (*wanted, *derived)]
    if unknown:
        hint = did_you_mean(unknown[0], wanted)
        shown = ", ".join(map(repr, unknown))
        warnings.warn(f"{path}: columns of a ranking that are not read: {shown}{hint}", DataWarning, stacklevel=5)
    places = [(header.index(column), *wanted[column]) for column in wanted if column in header]
    columns: dict[str, list[Any]] = {key: [] for _, key, _ in places}
    for line, row in rows:
        if len(row) != len(header):
            problem = f"{counted(len(row), 'cell')} under {counted(len(header), 'column')}"
            raise FileFormatError(problem, path=path, line=line)
        for i, key, convert in places:
            try:
                columns[key].append(convert(row[i]))
            except ValueError:
                problem = f"{row[i]!r} is not a number"
                raise FileFormatError(problem, path=path, line=line, column=i + 1) from None
    return columns


def _csv_rows(table: str, n_lines: int, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each row that is not empty."""
    reader = csv.reader(StringIO(table, newline=""), strict=True)
    line = n_lines + 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = n_lines + reader.line_num + 1
    except csv.Error as error:
        raise FileFormatError(f"not valid CSV: {error}", path=path, line=line) from error
