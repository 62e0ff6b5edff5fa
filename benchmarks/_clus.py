"""CLUS, the Java system in which these rankings were first written: getting it, writing its data, reading its scores.

CLUS is not part of omnirank: its jar is taken from the wheel ``pyclus`` with ``pip download``, into a temporary folder.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import omnirank as om
from benchmarks.public_data import public_data

__all__ = ["SHARED", "SLACK", "arff_lines", "call_clus", "clus_jar", "read_scores"]

SHARED = public_data()
CACHE = Path(tempfile.gettempdir()) / "omnirank-benchmark-clus"
WHEEL = "pyclus==1.0.2"
# "As closely as two seeds of CLUS agree", up to the noise of one pair of seeds.
SLACK = 0.05
# What CLUS's forests need to be opened of Java 17.
OPENED = [
    *(f"java.base/java.{name}" for name in ("lang", "lang.ref", "lang.reflect", "util", "util.concurrent")),
    *(f"java.base/java.util.{name}" for name in ("concurrent.atomic", "concurrent.locks", "regex", "stream")),
    *(f"java.base/java.{name}" for name in ("util.function", "text", "math", "io", "net", "nio", "time")),
    "java.base/java.nio.charset",
    "java.base/sun.nio.cs",
    "java.base/jdk.internal.misc",
    "java.logging/java.util.logging",
]


@cache
def clus_jar() -> Path | str:
    """Return the path of the jar, or why there is none."""
    if shutil.which("java") is None:
        return "java is not installed"
    jar = CACHE / "clus.jar"
    if jar.exists():
        return jar
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WHEEL]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return f"{WHEEL} cannot be downloaded"
        [wheel] = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as content:
            content.extract("clus/clus.jar", folder)
        Path(folder, "clus", "clus.jar").replace(jar)
    return jar


def arff_lines(data: om.Dataset) -> list[str]:
    """Dense ARFF with plain names: x1, x2, ... and t1, t2, ..."""
    table, target = data.features, data.target
    kinds, columns = [], []
    for f, levels in enumerate(table.levels):
        cells = table.column(f)
        kinds.append((f"x{f + 1}", None if levels is None else [f"v{k}" for k in range(len(levels))]))
        columns.append([_cell(value, levels is not None, "v") for value in cells])
    values = target.dense()
    for j, levels in enumerate(target.levels):
        nominal = levels is not None or target.is_labels
        size = 2 if target.is_labels else len(levels or ())
        prefix = "" if target.is_labels else "c"
        kinds.append((f"t{j + 1}", [f"{prefix}{k}" for k in range(size)] if nominal else None))
        columns.append([_cell(value, nominal, prefix) for value in values[:, j]])
    header = [f"@attribute {name} {'numeric' if k is None else '{' + ','.join(k) + '}'}" for name, k in kinds]
    rows = [",".join(cells) for cells in zip(*columns, strict=True)]
    return ["@relation data", *header, "@data", *rows]


def _cell(value: Any, nominal: bool, prefix: str) -> str:
    if np.isnan(value) or (nominal and value < 0):
        return "?"
    return f"{prefix}{int(value)}" if nominal else repr(float(value))


def call_clus(folder: Path, settings: str, options: Sequence[str], outputs: Sequence[str]) -> None:
    """Run CLUS in a folder, with the text of its settings file; a RuntimeError unless it writes the outputs.

    Parameters
    ----------
    folder : Path
        Where the data are and the outputs go.
    settings : str
        What the settings file says.
    options : sequence of str
        What is asked of CLUS: ``-forest``, ``-ssl``, ...
    outputs : sequence of str
        Names of the files that it must write; older ones are removed first.
    """
    (folder / "run.s").write_text(settings)
    for name in outputs:
        (folder / name).unlink(missing_ok=True)
    opened = [f"--add-opens={package}=ALL-UNNAMED" for package in OPENED]
    command = ["java", "-Xmx12G", *opened, "-jar", str(clus_jar()), *options, "run.s"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode or not all((folder / name).exists() for name in outputs):
        raise RuntimeError(f"CLUS failed on {folder.name}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


def read_scores(path: Path, n_features: int) -> np.ndarray:
    """Read the scores of a .fimp file, in the order of the features."""
    scores = np.zeros(n_features)
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("---")) + 1
    for line in lines[start:]:
        if line.strip():
            cells = line.split("\t")
            scores[int(cells[0]) - 1] = ast.literal_eval(cells[-1])[0]
    return scores
