"""Relational data sets of a plan: a folder of tables, a database, or files of facts."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnirank.core.errors import DataError
from omnirank.evaluation.experiments.environment import with_variables

if TYPE_CHECKING:
    from omnirank.relational.dataset import RelationalDataset

# What names the data, and the constructor that reads them.
SOURCES = {"folder": "from_folder", "database": "from_database", "facts": "from_facts"}
# What no plan can write, or the plan says by other means.
_NOT_FOR_PLANS = ("path", "source", "facts", "target_facts", "settings", "hierarchy", "like", "name")


def relational_options(kind: str) -> tuple[str, ...]:
    """Return the keys that say how a source of some kind is read.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.relational_sources import relational_options
    >>> relational_options("facts")
    ('task', 'exclude', 'encoding')
    """
    from omnirank.relational.dataset import RelationalDataset

    known = inspect.signature(getattr(RelationalDataset, SOURCES[kind])).parameters
    return tuple(name for name in known if name not in _NOT_FOR_PLANS)


def load_relational(source: Mapping[str, Any]) -> RelationalDataset:
    """Read a relational data source.

    Parameters
    ----------
    source : mapping
        ``relational`` (``folder``, ``database``, or ``facts`` with ``target_facts`` and perhaps ``settings``) and
        ``options``. The URL of a database may hold ``${NAME}``: environment variables, whose values are not recorded.
    """
    from omnirank.relational.dataset import RelationalDataset

    named, options = source["relational"], dict(source["options"])
    if "keys" in options:  # TOML has no null
        options["keys"] = {of: None if key == "" else key for of, key in options["keys"].items()}
    if "folder" in named:
        return RelationalDataset.from_folder(named["folder"], **options)
    if "database" in named:
        url = with_variables(named["database"], os.environ.get, "database")
        if "target" not in options:
            raise DataError("a database has no schema file that names the target: give target = 'table.column'")
        return RelationalDataset.from_database(url, **options)
    target = named["target_facts"]
    pair = target if isinstance(target, str) else (target[0], target[1])
    return RelationalDataset.from_facts(named["facts"], pair, named.get("settings"), **options)


def files_of(named: Mapping[str, Any]) -> list[str]:
    """Return the files of a relational source: all files of a folder, none of a database."""
    if "folder" in named:
        folder = Path(named["folder"])
        return [str(path) for path in sorted(folder.iterdir())] if folder.is_dir() else [str(folder)]
    given = [named.get("facts", []), named.get("target_facts", []), named.get("settings", [])]
    return [path for one in given for path in ([one] if isinstance(one, str) else one)]
