"""Everything the pages show is run: python blocks, interpreter sessions and omnirank commands."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.public_data import public_data

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
PAGES = [page for page in PAGES if not {"_build", "gallery"} & set(page.relative_to(ROOT).parts)]

FENCE = re.compile(r"^```(?P<kind>[\w-]*)[^\n]*\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = ("python", "pycon", "console")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, with the line its code starts on."""

    kind: str
    code: str
    line: int


def blocks_of(text: str, kinds: tuple[str, ...] = LANGUAGES) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        found.append(Block(match["kind"], match["code"], line))
    return [block for block in found if block.kind in kinds]


def blocks_in(page: Path) -> list[Block]:
    return blocks_of(page.read_text(encoding="utf-8"))


def run_block(block: Block, page: str, namespace: dict) -> None:
    if block.kind == "python":
        padded = "\n" * (block.line - 1) + block.code  # so that a traceback names the page's line
        exec(compile(padded, page, "exec"), namespace)
    elif block.kind == "pycon":
        run_session(block, page, namespace)
    else:
        for command, shown in commands_of(block.code):
            printed = run_command(command, page)
            # Tables for people follow the width of the terminal; figures are the same everywhere.
            if shown and "--csv" in command:
                assert printed.splitlines() == shown, f"{page}: {command}"


def run_session(block: Block, page: str, namespace: dict) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.FAIL_FAST
    session = doctest.DocTestParser().get_doctest(block.code, namespace, page, page, block.line - 1)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(session, out=report.append, clear_globs=False)
    namespace |= session.globs
    assert not runner.failures, "".join(report)


def commands_of(code: str) -> list[tuple[str, list[str]]]:
    """Commands after a prompt (a backslash continues the line), each with the output shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in code.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif found:
            found[-1][1].append(line)
    return [(command, shown) for command, shown in found if command.startswith("omnirank")]


def run_command(command: str, page: str) -> str:
    """Run a command in this process and return what it prints; ``> file`` sends that to a file."""
    from omnirank.cli import main

    arguments, _, target = command.partition(">")
    status: object = None
    before = sys.argv
    sys.argv = shlex.split(arguments)
    try:
        with redirect_stdout(io.StringIO()) as output:
            main()
    except SystemExit as ended:
        status = ended.code
    finally:
        sys.argv = before
    assert status in (None, 0), f"{page}: {command}: ended with {status}"
    if target:
        Path(target.strip()).write_text(output.getvalue(), encoding="utf-8")
    return output.getvalue()


PAGES_WITH_CODE = [page for page in PAGES if blocks_in(page)]


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "MPLBACKEND", "Agg")
    # classes that a page defines are in no module where a pickle would find them
    monkeypatch.delenv("OMNIRANK_PICKLED_WORK", raising=False)
    namespace: dict = {"__name__": "__main__"}
    for block in blocks_in(page):
        run_block(block, page.name, namespace)


def sessions_on_public_data(page: Path) -> list[Block]:
    """Sessions that are shown as text: their data are in no checkout."""
    blocks = blocks_of(page.read_text(encoding="utf-8"), ("text",))
    return [block for block in blocks if block.code.startswith(">>> ")]


@pytest.mark.shared_data
@pytest.mark.parametrize("page", [page for page in PAGES if sessions_on_public_data(page)], ids=lambda page: page.stem)
def test_sessions_on_public_data(page, monkeypatch):
    monkeypatch.chdir(public_data() / "relational")
    namespace: dict = {}
    for block in sessions_on_public_data(page):
        run_session(block, page.name, namespace)


def test_the_guide_shows_code():
    guide = [page for page in PAGES if page.parent.name == "user_guide"]
    without = [page.name for page in guide if not blocks_in(page)]
    assert len(guide) >= 5
    assert without == []


def test_the_table_of_tasks_is_complete():
    from omnirank.data.task_registry import TASKS
    from omnirank.tasks import get_task

    page = (ROOT / "docs" / "user_guide" / "tasks.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:3] == "| `"
    ]
    measures = {row[0]: row[-1] for row in rows if row[0] != "task"}
    assert measures == {name: get_task(name).default_measure for name in TASKS}


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
    [(command, shown)] = commands_of(blocks[2].code)
    assert shlex.split(command) == ["omnirank", "rank", "a.csv", "--target", "last"]
    assert shown == ["output"]


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
