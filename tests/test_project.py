"""The project as a whole: a light import, documented names, portable files."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import omnirank

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("numba", "matplotlib", "rich", "typer", "networkx", "pyarrow", "polars")


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


# -- the package ----------------------------------------------------------------------------------


def heavy_after(statement: str) -> set[str]:
    code = f"import sys, json; {statement}; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    return set(json.loads(run_python(code)))


def test_import_is_light():
    # pandas 3 imports pyarrow by itself where it is installed.
    assert heavy_after("import omnirank") <= heavy_after("import pandas") <= {"pyarrow"}


def test_version_is_the_same_everywhere():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert omnirank.__version__ == declared == version("omnirank")


def test_all_names_what_is_there():
    assert len(set(omnirank.__all__)) == len(omnirank.__all__)
    for name in omnirank.__all__:
        assert hasattr(omnirank, name), name


def callables_of(name: str) -> dict[str, object]:
    """A public class or function, or those of a public module, by full name."""
    thing = getattr(omnirank, name)
    found = {name: thing}
    if inspect.ismodule(thing):
        found = {f"{name}.{inner}": getattr(thing, inner) for inner in thing.__all__}
    return {full: value for full, value in found.items() if callable(value)}


def docstring_sections(text: str) -> dict[str, str]:
    """Sections of a numpydoc docstring by title; what stands before the first is called Summary."""
    pieces = re.split(r"^(\w[\w ]*)\n-{3,}$", text, flags=re.MULTILINE)
    return {"Summary": pieces[0]} | dict(zip(pieces[1::2], pieces[2::2], strict=True))


def described_parameters(section: str) -> set[str]:
    entries = re.findall(r"^(\S[^:\n]*)(?: : .*)?$", section, flags=re.MULTILINE)
    return {name.strip().lstrip("*") for entry in entries for name in entry.split(",")}


@pytest.mark.parametrize("public", sorted(set(omnirank.__all__) - {"__version__"}))
def test_public_name_is_documented(public):
    for name, thing in callables_of(public).items():
        sections = docstring_sections(inspect.getdoc(thing) or "")
        assert sections["Summary"].strip(), f"{name} has no docstring"
        if inspect.isclass(thing) and issubclass(thing, BaseException):
            continue  # an error is seen, not called
        assert ">>> " in sections.get("Examples", ""), f"{name} has no example"
        described = described_parameters(sections.get("Parameters", ""))
        missing = [parameter for parameter in inspect.signature(thing).parameters if parameter not in described]
        assert not missing, f"{name}: parameters without description: {missing}"


def test_every_module_says_what_it_is_for():
    modules = [
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((ROOT / "src").rglob("*.py"))
    ]
    for name in modules:
        if not name.endswith("__main__"):
            assert importlib.import_module(name).__doc__, f"{name} has no docstring"


# -- the files ------------------------------------------------------------------------------------


def project_files() -> list[Path]:
    """Files under version control, or about to be."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).is_file()]


# Put together from pieces, so that this file passes its own test.
TOPS = ("root", "home", "Users", "work")
MACHINE_PATHS = re.compile("|".join(rf"(?<![\w.])/{top}/" for top in TOPS))
HOSTS = ("index" + "-url", "trusted" + "-host", "pythonhosted" + r"\.", "/simple" + "/")
REGISTRIES = re.compile("|".join(HOSTS))


def test_no_file_names_a_place_on_a_machine_or_a_registry():
    found = []
    for path in project_files():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue  # pictures and compressed samples
        for number, line in enumerate(lines, 1):
            if MACHINE_PATHS.search(line) or REGISTRIES.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert found == []


def test_the_search_for_places_can_find_one():
    assert MACHINE_PATHS.search("see /ro" + "ot/data")
    assert not MACHINE_PATHS.search("docs/ho" + "me/index")
    assert REGISTRIES.search("--index" + "-url=x")


def test_no_large_file_is_committed():
    large = [str(path.relative_to(ROOT)) for path in project_files() if path.stat().st_size > 1_000_000]
    assert large == []
