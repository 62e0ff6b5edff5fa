"""Options of commands that also read data in parts, which need not fit in memory: folders of Parquet files."""

# no postponed annotations: typer reads them as objects

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from omnirank.cli.options import refuse_given
from omnirank.cli.output import note
from omnirank.core.text import counted

_PANEL = "Data larger than memory"
# What columns of data in parts are told by; all else is for files that are read whole, or for several tables.
_SHARED = ("target", "features", "key", "ignore", "nominal", "task")
_ENDINGS = (".parquet", ".pq")


def _option(*names: str, text: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_PANEL, show_default=False, **more)


def reading_shards(
    read: Callable[..., Any], *, into_memory: bool = True, runs_on_samples: bool = True
) -> Callable[..., Any]:
    """Return a function that reads data in parts too, with the options of ``read`` and its own.

    Parameters
    ----------
    read : callable
        Reads other data.
    into_memory : bool
        Whether data that fit in memory become a Dataset.
    runs_on_samples : bool
        Whether the command deals out rows to samples, and has the options for that.
    """

    def load(
        shards: Annotated[
            bool | None,
            _option(
                "--shards/--tables",
                text="Parquet files of a folder are parts of one table, or several tables (default: parts where their "
                "columns are the same).",
            ),
        ] = None,
        memory: Annotated[
            str | None,
            _option("--memory", "--max-memory", text="What rows may take in memory, such as 500M or 2G."),
        ] = None,
        scratch: Annotated[
            Path | None, _option("--scratch", text="Folder for rows during the run (default: a temporary one).")
        ] = None,
        checkpoint: Annotated[
            Path | None,
            _option(
                "--checkpoint",
                text="Folder that keeps what is done until the run ends: the same command goes on where it was killed "
                "(default: .omnirank beside the files).",
            ),
        ] = None,
        **others: Any,
    ) -> Any:
        of_shards = {"max_memory": memory, "scratch": scratch, "checkpoint": checkpoint}
        asked = shards or any(value is not None for value in of_shards.values())
        if not (shards is not False and (asked or _is_in_parts(others["data"], others["target"]))):
            refuse_given(of_shards, read, "for Parquet files that are parts of one table")
            return read(**others)
        refuse_given({name: others[name] for name in others if name not in ("data", *_SHARED)}, read, "for whole files")
        data = _opened(others["data"], {name: others[name] for name in _SHARED} | of_shards, told=not asked)
        return data.in_memory() if into_memory and data.fits_in_memory else data

    def again(**options: Any) -> Any:
        """Read other data with the options of the first: a file is read whole, whatever the first was."""
        if not Path(options["data"]).is_file():
            return load(**options)
        return read(**{name: value for name, value in options.items() if name not in of_parts})

    own = [p for p in inspect.signature(load).parameters.values() if p.kind is not p.VAR_KEYWORD]
    if not runs_on_samples:
        own = [p for p in own if p.name not in ("scratch", "checkpoint")]
    of_parts = {p.name for p in own}
    load.again = again  # type: ignore[attr-defined]
    load.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*inspect.signature(read).parameters.values(), *own]
    )
    return load


def _opened(source: str, options: dict[str, Any], told: bool) -> Any:
    from omnirank.shards.opening import open_shards

    data = open_shards(source, **options)
    if told:
        files = counted(data.n_shards, "Parquet file")
        note(f"{source}: {files} with the same columns are read as one table; --tables reads a table from each")
    return data


def _is_in_parts(source: str, target: str | None) -> bool:
    """Whether files are parts of one table: a pattern, or a folder of Parquet files with the same columns.

    A schema file says that there are several tables, and so does a target that is called after one of the files.
    """
    from omnirank.core.errors import OmnirankError
    from omnirank.relational.folders import NAMES
    from omnirank.shards.parts import parts_of
    from omnirank.shards.source import agreed_columns

    path = Path(source)
    if not path.is_dir():
        return any(sign in source for sign in "*?[") and "://" not in source and not path.exists()
    files = [file for file in path.iterdir() if file.is_file() and not file.name.startswith((".", "_"))]
    if any(file.name in NAMES for file in files) or not all(file.suffix.lower() in _ENDINGS for file in files):
        return False
    tables = {file.stem for file in files}
    if any(name.strip() in tables or name.strip().partition(".")[0] in tables for name in (target or "").split(",")):
        return False
    try:
        agreed_columns(parts_of(path))
    except OmnirankError:
        return False
    return True
