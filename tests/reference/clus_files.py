"""Small data sets in files for CLUS, the same on every machine: numbers, classes, labels and a hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

COLOURS = ("red", "green", "blue")
_HEADER = ["@relation made", "@attribute a numeric", "@attribute b numeric", "@attribute colour {red,green,blue}"]


def _features(rng: Random) -> tuple[float, float, str]:
    return round(rng.uniform(0, 10), 2), round(rng.gauss(0, 1), 2), rng.choice(COLOURS)


def _rows(n: int, seed: int, target: Callable[[Random, float, float, str], str]) -> list[str]:
    rng, rows = Random(seed), []
    for _ in range(n):
        a, b, colour = _features(rng)
        rows.append(f"{a},{b},{colour},{target(rng, a, b, colour)}")
    return rows


def numbers(n: int, seed: int) -> str:
    """Two numbers, the first of which depends on the colour too."""

    def target(rng: Random, a: float, b: float, colour: str) -> str:
        u = 3 * (a > 4) + b + (colour == "red") + rng.gauss(0, 0.3)
        v = 10 * (b > 0) - a + rng.gauss(0, 1)
        return f"{u:.3f},{v:.3f}"

    return _text(["@attribute u numeric", "@attribute v numeric"], _rows(n, seed, target))


def classes(n: int, seed: int) -> str:
    """One of three classes, one in ten at random."""

    def target(rng: Random, a: float, b: float, colour: str) -> str:
        if rng.random() < 0.1:
            return rng.choice("xyz")
        return "x" if a > 6 else "y" if colour == "red" or b > 0.5 else "z"

    return _text(["@attribute kind {x,y,z}"], _rows(n, seed, target))


def labels(n: int, seed: int) -> str:
    """Three labels, one in ten at random."""

    def target(rng: Random, a: float, b: float, colour: str) -> str:
        found = [a > 5, b > 0 and a > 3, colour == "blue" or a > 8]
        return ",".join(str(int(label if rng.random() > 0.1 else rng.random() < 0.5)) for label in found)

    return _text([f"@attribute l{i} {{1,0}}" for i in range(3)], _rows(n, seed, target))


def hierarchy(n: int, seed: int) -> str:
    """Label sets of a tree, the list of which ends in a comma."""

    def target(rng: Random, a: float, b: float, colour: str) -> str:
        first = "1/1/1" if a > 7 else "1/1" if a > 5 else "1/2"
        second = "2/1" if b > 0 else "2"
        return first if rng.random() < 0.3 else f"{first}@{second}"

    return _text(["@attribute class hierarchical 1,1/1,1/1/1,1/2,2,2/1,"], _rows(n, seed, target))


def _text(targets: list[str], rows: list[str]) -> str:
    return "\n".join([*_HEADER, *targets, "@data", *rows]) + "\n"


MADE = {
    "numbers": (numbers, "4-5"),
    "classes": (classes, "4"),
    "labels": (labels, "4-6"),
    "hierarchy": (hierarchy, "4"),
}


def write_files(folder: Path, kind: str, settings: str = "") -> Path:
    """Write training, test and settings file; of a setting that is given again the last value counts."""
    make, target = MADE[kind]
    (folder / "train.arff").write_text(make(120, 1))
    (folder / "test.arff").write_text(make(60, 2))
    lines = ["[Data]", "File = train.arff", "TestSet = test.arff", "[Attributes]", f"Target = {target}"]
    lines += ["[Tree]", "Heuristic = VarianceReduction", "[Hierarchical]", "Type = Tree", "HSeparator = /"]
    lines += ["[Output]", "ShowModels = [Default, Original, Pruned, Others]"]
    path = folder / "run.s"
    path.write_text("\n".join([*lines, settings]) + "\n")
    return path


def read_fimp(path: Path) -> dict[str, dict[str, float]]:
    """The scores of a file of importances, by ranking and feature, as programs that read CLUS's files find them."""
    lines = path.read_text().splitlines()
    rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
    names = lines[rule - 1].split("\t")[3].strip("[]").split(", ")
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    for line in lines[rule + 1 :]:
        _, feature, _, scores = line.split("\t")
        for name, score in zip(names, scores.strip("[]").split(", "), strict=True):
            found[name][feature] = float(score)
    return found
