"""Print the lowest versions that pyproject.toml claims, as constraints for pip.

    python tests/tools/lowest_versions.py EXTRA ...

Direct dependencies only, those of the extras and of the extras they name included; what these depend on, pip chooses.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def lowest_versions(project: dict, extras: list[str]) -> dict[str, str]:
    """Lowest version of each direct dependency, by name.

    Examples
    --------
    >>> project = {"name": "us", "dependencies": ["numpy>=1.26"], "optional-dependencies": {"all": ["us[far]"]}}
    >>> project["optional-dependencies"]["far"] = ["dask>=2024.5"]
    >>> lowest_versions(project, ["all"])
    {'numpy': '1.26', 'dask': '2024.5'}
    """
    lowest = {}
    waiting = [*project["dependencies"], f"{project['name']}[{','.join(extras)}]"]
    while waiting:
        requirement = waiting.pop(0)
        own = re.fullmatch(rf"{project['name']}\[([\w,-]*)\]", requirement)
        if own:
            for extra in filter(None, own[1].split(",")):
                waiting += project["optional-dependencies"][extra]
            continue
        bound = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
        if not bound:
            raise SystemExit(f"{PYPROJECT.name}: {requirement!r} is not of the form NAME>=VERSION")
        lowest[bound[1]] = bound[2]
    return lowest


if __name__ == "__main__":
    declared = tomllib.loads(PYPROJECT.read_text())["project"]
    for name, version in lowest_versions(declared, sys.argv[1:]).items():
        print(f"{name}=={version}")
