"""Declaring benchmarks in modules ``bench_*.py`` and finding them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, overload

from benchmarks._measure import Comparison, Figure, figure

__all__ = ["Benchmark", "benchmark", "discover", "select"]

PREFIX = "bench_"


@dataclass(frozen=True)
class Benchmark:
    """A named function that returns comparisons and figures."""

    name: str
    module: str
    description: str
    function: Callable[[bool], Any]
    has_quick: bool = True

    def run(self, quick: bool = False) -> list[Comparison | Figure]:
        """Run it and return its results as a list."""
        results = _as_list(self.function(quick))
        names = [result.name for result in results]
        if len(set(names)) != len(names):
            raise ValueError(f"benchmark {self.name!r}: two of its results have the same name")
        return results


@overload
def benchmark(function: Callable[[bool], Any]) -> Benchmark: ...
@overload
def benchmark(function: str) -> Callable[[Callable[[bool], Any]], Benchmark]: ...


def benchmark(function: Callable[[bool], Any] | str) -> Any:
    """Declare a function ``f(quick) -> results`` as a benchmark.

    It is called after the function (with hyphens), or as said: ``@benchmark("reading-arff")``. The
    results are a `Comparison`, a `Figure`, a list of them, or a dict of figures. `quick` asks for a case
    of a second or two that shows that the benchmark runs; its figures are not kept.
    """
    if isinstance(function, str):
        name = function
        return lambda f: _declare(f, name)
    return _declare(function, function.__name__.replace("_", "-"))


def discover(package: str = "benchmarks") -> list[Benchmark]:
    """Import the modules ``bench_*`` of a package and return their benchmarks, by name."""
    folder = importlib.import_module(package).__path__
    names = sorted(info.name for info in pkgutil.iter_modules(folder) if info.name.startswith(PREFIX))
    found: dict[str, Benchmark] = {}
    for name in names:
        for item in _declared_in(importlib.import_module(f"{package}.{name}")):
            if item.name in found:
                raise ValueError(f"two benchmarks are called {item.name!r}: {found[item.name].module}, {name}")
            found[item.name] = item
    return [found[name] for name in sorted(found)]


def select(benchmarks: Iterable[Benchmark], names: Iterable[str]) -> list[Benchmark]:
    """Choose by name of the benchmark or of its module (with or without ``bench_``); no name: all.

    Raises
    ------
    KeyError
        For a name that nothing has.
    """
    benchmarks = list(benchmarks)
    chosen: dict[str, Benchmark] = {}
    names = list(names)
    for name in names:
        wanted = {name, f"{PREFIX}{name}"}
        hits = [item for item in benchmarks if item.name == name or item.module in wanted]
        if not hits:
            raise KeyError(name)
        chosen |= {item.name: item for item in hits}
    return list(chosen.values()) if names else benchmarks


def _declare(function: Callable[[bool], Any], name: str) -> Benchmark:
    module = function.__module__.rpartition(".")[2]
    return Benchmark(name, module, _summary(function), function)


def _declared_in(module: ModuleType) -> list[Benchmark]:
    # A benchmark imported from another module belongs to that module.
    stem = module.__name__.rpartition(".")[2]
    declared = [v for v in vars(module).values() if isinstance(v, Benchmark) and v.module == stem]
    run = getattr(module, "run", None)
    if not inspect.isfunction(run):
        return declared
    takes_quick = "quick" in inspect.signature(run).parameters
    function = (lambda quick: run(quick=quick)) if takes_quick else (lambda quick: run())
    name = stem.removeprefix(PREFIX).replace("_", "-")
    return [*declared, Benchmark(name, stem, _summary(module), function, has_quick=takes_quick)]


def _summary(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").strip().partition("\n")[0]


def _as_list(results: Any) -> list[Comparison | Figure]:
    if isinstance(results, Comparison | Figure):
        return [results]
    if isinstance(results, Mapping):
        return _from_mapping(results, "")
    if isinstance(results, Iterable):
        return [item for result in results for item in _as_list(result)]
    raise TypeError(f"a benchmark returned {type(results).__name__}: expected comparisons or figures")


def _from_mapping(results: Mapping[str, Any], prefix: str) -> list[Comparison | Figure]:
    """Turn a dict of numbers, results and such dicts into results; texts and None are remarks, not kept."""
    found: list[Comparison | Figure] = []
    for key, value in results.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found += _from_mapping(value, f"{name} / ")
        elif isinstance(value, Comparison | Figure):
            found.append(value)
        elif value is not None and not isinstance(value, str):
            found.append(figure(name, float(value)))
    return found
