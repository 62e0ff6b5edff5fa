"""Everything the pages show is run: python blocks, interpreter sessions and omnirank commands."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from docs._api_groups import GROUPS, MODULES
from docs._api_pages import write_api_pages
from docs._executed import FENCE, WIDTH, Block, blocks_of, commands_of, page_environment, run_block

import omnirank

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
PAGES = [page for page in PAGES if not {"_build", "gallery"} & set(page.relative_to(ROOT).parts)]


def blocks_in(page: Path) -> list[Block]:
    return blocks_of(page.read_text(encoding="utf-8"))


PAGES_WITH_CODE = [page for page in PAGES if blocks_in(page)]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, tmp_path, monkeypatch):
    # classes that a page defines are in no module where a pickle would find them
    monkeypatch.delenv("OMNIRANK_PICKLED_WORK", raising=False)
    with page_environment(tmp_path) as namespace:
        for block in blocks_in(page):
            run_block(block, page.name, namespace)


def lacking(page: str, files: list[Path], sources: str) -> list[str]:
    """Modules and names in code type that are not there; names count by their last part."""
    named = set(re.findall(r"`([\w./]+)`", page))
    modules = {name for name in named if name.endswith(".py")}
    words = {name for name in named if re.fullmatch(r"[\w.]+", name)} - modules
    gone = [name for name in modules if not any(f"/{file.as_posix()}".endswith(f"/{name}") for file in files)]
    known = set(re.findall(r"\w+", sources))
    return sorted(gone + [name for name in words if name.split(".")[-1] not in known])


def test_the_page_of_the_architecture_names_what_there_is():
    files = [file for part in ("src", "tests", "docs", "benchmarks") for file in (ROOT / part).rglob("*.py")]
    sources = "\n".join(file.read_text(encoding="utf-8") for file in files) + (ROOT / "Makefile").read_text("utf-8")
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert page.count(".py`") >= 10
    assert len(page.split()) <= 2500
    assert lacking(page, files, sources) == []
    assert lacking("`core/nowhere.py` `core.no_such_name_at_all` `cli/options.py`", files, "") == [
        "core.no_such_name_at_all",
        "core/nowhere.py",
    ]


def test_the_guide_shows_code():
    guide = [page for page in PAGES if page.parent.name in ("user_guide", "howto") and page.stem != "index"]
    without = [page.name for page in guide if not blocks_in(page)]
    assert len(guide) >= 30
    assert without == []


def too_wide(text: str) -> list[str]:
    code = (match["code"] for match in FENCE.finditer(text))
    return [line for lines in code for line in lines.splitlines() if len(line) > WIDTH]


def test_code_needs_no_scroll_bar():
    wide = {page.name: too_wide(page.read_text(encoding="utf-8")) for page in PAGES}
    assert {name: lines for name, lines in wide.items() if lines} == {}


def test_the_table_of_tasks_is_complete():
    from omnirank.data.task_registry import TASKS
    from omnirank.tasks import get_task

    page = (ROOT / "docs" / "user_guide" / "tasks.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:3] == "| `"
    ]
    measures = {row[0]: row[-1] for row in rows if row[0] != "task"}
    assert measures == {name: get_task(name).default_measure for name in TASKS}


# -- the reference --------------------------------------------------------------------------------


def test_every_public_name_is_in_one_group_of_the_reference(tmp_path):
    modules = [import_module(name) for name in MODULES]
    write_api_pages(omnirank, modules, GROUPS, tmp_path / "api")
    table = (tmp_path / "api" / "table.txt").read_text(encoding="utf-8")
    assert "   plot_ranking\n" in table
    assert "   make_folds\n" in table
    assert (tmp_path / "api" / "EnsembleRanker.rst").is_file()
    with pytest.raises(ValueError, match="'Dataset'"):
        write_api_pages(omnirank, modules, {**GROUPS, "Data": GROUPS["Data"][1:]}, tmp_path / "api")


# -- the runner itself ----------------------------------------------------------------------------

SAMPLE = """
Text.

```python
x = 1
```

```text
not run
```

```pycon
>>> x + 1
2
```

```console
$ omnirank rank a.csv \\
    --target last
output
$ ls
```
"""


def test_blocks_and_commands_are_found():
    blocks = blocks_of(SAMPLE)
    assert [(block.kind, block.line) for block in blocks] == [("python", 5), ("pycon", 13), ("console", 18)]
    [command] = commands_of(blocks[2].code)
    assert shlex.split(command.text) == ["omnirank", "rank", "a.csv", "--target", "last"]
    assert command.shown == ["output"]


def test_pictures_of_a_report_are_not_shown_a_second_time(tmp_path, monkeypatch):
    """The page on reports was 14,000 pixels long: it had every picture of every report that it writes."""
    monkeypatch.chdir(tmp_path)
    code = "import omnirank as om\nom.Ranking(['a', 'b'], [2.0, 1.0], 'genie3').report('report.html')\n"
    figures = run_block(Block("python", code, 1), "page", {}).figures
    assert len(figures) > 0
    assert [figure for figure in figures if figure.axes] == []


def test_figures_and_printed_text_are_kept():
    code = "from matplotlib.figure import Figure\nfigure = Figure()\nprint('drawn')\n"
    namespace: dict = {}
    outcome = run_block(Block("python", code, 1), "page", namespace)
    assert outcome.printed == "drawn\n"
    assert outcome.figures == [namespace["figure"]]
    assert run_block(Block("pycon", ">>> 1\n1\n", 1), "page", namespace).figures == []


def test_blocks_share_a_namespace_and_failures_are_seen():
    python, session, _ = blocks_of(SAMPLE)
    namespace: dict = {}
    run_block(python, "page", namespace)
    run_block(session, "page", namespace)
    namespace["x"] = 2
    with pytest.raises(AssertionError, match="Expected"):
        run_block(session, "page", namespace)
    with pytest.raises(ZeroDivisionError) as caught:
        run_block(Block("python", "1 / 0\n", 7), "page", namespace)
    assert caught.traceback[-1].lineno + 1 == 7


def test_commands_are_run_and_what_they_print_is_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = Block("console", "$ omnirank --version > version.txt\n", 1)
    run_block(good, "page", {})
    assert (tmp_path / "version.txt").read_text().startswith("omnirank ")
    with pytest.raises(AssertionError, match="ended with 2"):
        run_block(Block("console", "$ omnirank info absent.csv\n", 1), "page", {})
    with pytest.raises(AssertionError, match="methods --csv"):
        run_block(Block("console", "$ omnirank methods --csv\nmethod,other\n", 1), "page", {})
