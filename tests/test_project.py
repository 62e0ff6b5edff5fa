"""The project as a whole: a light import, documented names, portable files."""

from __future__ import annotations

import ast
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
import yaml
from hatchling.builders.sdist import SdistBuilder

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


UNUSED = ("matplotlib", "typer", "omnirank.plots")


@pytest.mark.every(12)
@pytest.mark.parametrize("ranker", ["om.EnsembleRanker(n_trees=2)", "om.ReliefRanker()", "om.make_ranker('genie3')"])
def test_a_ranking_imports_nothing_that_it_does_not_use(ranker):
    fit = f"{ranker}.fit(np.eye(30), np.append(np.arange(20.0), [np.nan] * 10))"
    code = f"import sys, numpy as np, omnirank as om; {fit}; print(*(m for m in {UNUSED!r} if m in sys.modules))"
    assert run_python(code).split() == []


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_version_is_the_same_everywhere():
    assert omnirank.__version__ == project()["version"] == version("omnirank") == from_yaml("CITATION.cff")["version"]


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


def test_public_names_are_documented():
    found = {}
    for public in set(omnirank.__all__) - {"__version__"}:
        found |= callables_of(public)
    for name in ("experiments.Results", "experiments.RunSummary", "experiments.StudyPlan"):
        del found[name]  # what functions return
    for name in ("rankers.BaseRanker", "rankers.WeightedRanker"):
        del found[name]
    assert len(found) > 60
    for name, thing in found.items():
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


# -- parameters in messages -------------------------------------------------------------------------

SPELT_OUT = re.compile(r"\b[a-z_0-9]+=(\{|'|True|False|None|\d)")


def spelt_out(source: str) -> list[str]:
    """Texts in parameter errors that build ``name=value`` themselves; the command line could not name the option."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    errors = [call for call in calls if getattr(call.func, "id", "") == "ParameterError"]
    texts = [
        ast.unparse(text) for call in errors for text in call.args if isinstance(text, ast.JoinedStr | ast.Constant)
    ]
    return [text for text in texts if SPELT_OUT.search(text)]


@pytest.mark.slow
def test_no_error_spells_a_setting_out():
    for path in sorted((ROOT / "src").rglob("*.py")):
        assert spelt_out(path.read_text(encoding="utf-8")) == [], path


# -- the rooms ------------------------------------------------------------------------------------


def test_tests_mirror_the_rooms():
    rooms = {path.parent.name for path in (ROOT / "src" / "omnirank").glob("*/__init__.py")}
    mirrored = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert mirrored - {"backends"} == rooms  # estimators of all rooms, under every backend


# -- what newcomers and package indexes read ------------------------------------------------------


def from_yaml(name: str) -> dict:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


# [text](target), ![picture](target), and [name]: target
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)


def relative_links(text: str) -> list[str]:
    """Targets of links that mean nothing outside the repository."""
    targets = [inline or named for inline, named in LINK.findall(text)]
    return [target for target in targets if not target.startswith(("https://", "#"))]


def test_links_of_the_readme_work_on_a_package_index():
    assert project()["readme"] == "README.md"
    assert relative_links((ROOT / "README.md").read_text(encoding="utf-8")) == []


def test_the_citation_has_what_the_format_asks_for():
    citation = from_yaml("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == project()["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project()["authors"]]


def test_the_hook_before_commits_is_make_lint():
    [repository] = from_yaml(".pre-commit-config.yaml")["repos"]
    [hook] = repository["hooks"]
    assert (repository["repo"], hook["language"], hook["entry"]) == ("local", "system", "make lint")
    for name in ("src/omnirank/errors.py", "pyproject.toml", "Makefile"):
        assert re.search(hook["files"], name)


def test_the_hosted_ci_only_calls_make_for_every_python():
    [job] = from_yaml(".github/workflows/ci.yml")["jobs"].values()
    [command] = [step["run"] for step in job["steps"] if "run" in step]
    assert command == "make ${{ matrix.target }} PYTHON=python"
    matrix = job["strategy"]["matrix"]
    prefix = "Programming Language :: Python :: "
    classified = [line.removeprefix(prefix) for line in project()["classifiers"] if line.startswith(prefix)]
    assert matrix["python"] == classified
    assert project()["requires-python"] == f">={classified[0]}"
    called = {*matrix["target"], *(case["target"] for case in matrix["include"])}
    assert called >= {"test", "test-slow", "test-lowest"}
    [phony] = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert called <= set(phony.split())


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


@pytest.mark.slow
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


# Of use in a clone only.
NOT_SHIPPED = {".ci/run", ".gitignore", "docs/.gitignore"}
ALWAYS_SHIPPED = {"pyproject.toml"}


def test_the_source_distribution_holds_the_project():
    shipped = {file.distribution_path for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    missing = {path.relative_to(ROOT).as_posix() for path in project_files()} - shipped - NOT_SHIPPED - ALWAYS_SHIPPED
    assert missing == set()


def test_no_large_file_is_committed():
    large = [str(path.relative_to(ROOT)) for path in project_files() if path.stat().st_size > 1_000_000]
    assert large == []
