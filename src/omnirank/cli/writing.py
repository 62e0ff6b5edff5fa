"""Files that commands write: checked before any work, whole or not at all, also where SIGTERM ends the process."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnirank.cli.output import say

if TYPE_CHECKING:
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.data.dataset import Dataset

TERMINATED = 128 + 15
_RANKINGS = (".json", ".csv")
PICTURES = (".png", ".svg", ".pdf")
DATA_FILES = (".arff", ".arff.gz", ".csv", ".csv.gz", ".parquet", ".pq")
_DPI = 150


class Terminated(KeyboardInterrupt):
    """SIGTERM asked the process to end."""


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Make SIGTERM (as batch systems send it) raise `Terminated`, so that half-written files are removed.

    Elsewhere the system ends the process at once, without waiting for a kernel to return.

    Examples
    --------
    >>> import os, signal
    >>> from omnirank.cli.writing import Terminated, ending_on_sigterm
    >>> try:
    ...     with ending_on_sigterm():
    ...         signal.raise_signal(signal.SIGTERM)
    ... except Terminated:
    ...     print("in order")
    in order
    """

    def end(number: int, frame: Any) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # signals belong to the main thread
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def check_out(out: Path, data: Path) -> None:
    """Refuse a file that cannot be written, or that is the data file itself."""
    from omnirank.core.errors import ParameterError

    if out.is_dir():
        raise ParameterError(f"cannot write {out}: it is a folder")
    if not out.parent.is_dir():
        raise ParameterError(f"cannot write {out}: there is no folder {str(out.parent)!r}")
    if out.exists() and data.exists() and out.samefile(data):
        raise ParameterError(f"cannot write {out}: it is the data file itself; give another name")


def check_ending(path: Path | None, endings: tuple[str, ...]) -> None:
    """Refuse a file whose ending is none of these."""
    from omnirank.core.errors import ParameterError

    if path is not None and not path.name.lower().endswith(endings):
        one_of = "" if len(endings) == 1 else "one of "
        raise ParameterError(f"{path}: the ending must be {one_of}{', '.join(endings)}")


def write_text(text: str, path: Path) -> None:
    """Write a text, whole or not at all."""
    from omnirank.core.files import replacing

    with ending_on_sigterm(), replacing(path) as file:
        file.write(text.encode("utf-8"))


def write_picture(ax: Any, path: Path) -> None:
    """Write a picture in the format of the file's ending."""
    from omnirank.core.files import replacing

    with ending_on_sigterm(), replacing(path) as file:
        ax.get_figure(root=True).savefig(file, bbox_inches="tight", dpi=_DPI, format=path.suffix[1:].lower())


def write_data(dataset: "Dataset", out: Path) -> None:
    """Write a data set in the format of the file's ending."""
    from omnirank.data.parquet import write_parquet
    from omnirank.data.write import write_arff, write_csv

    name = out.name.lower().removesuffix(".gz")
    write = write_arff if name.endswith(".arff") else write_csv if name.endswith(".csv") else write_parquet
    with ending_on_sigterm():
        write(dataset, out)


@dataclass(frozen=True)
class RankingFiles:
    """The files that ``omnirank rank`` writes: rankings or pictures, and a report."""

    out: list[Path]
    report: Path | None

    def check(self) -> None:
        """Refuse wrong endings before anything is computed."""
        for path in self.out:
            check_ending(path, (*_RANKINGS, *PICTURES))
        if self.report is not None:  # imports most of the package
            from omnirank.report.page import PAGES

            check_ending(self.report, PAGES)

    def write(self, ranking: "Ranking", k: int, data: Any, **about: Any) -> None:
        """Write the files; the picture shows the k best features, the report takes the data and what is about them."""
        with ending_on_sigterm():
            for path in self.out:
                if path.suffix.lower() in PICTURES:
                    write_picture(ranking.plot(k=k), path)
                else:
                    ranking.save(path)
            if self.report is not None:
                ranking.report(self.report, data, **about)

    def say(self) -> None:
        """Print what was written."""
        for path in self.out:
            say(f"{'picture' if path.suffix.lower() in PICTURES else 'whole ranking'} written to {path}")
        if self.report is not None:
            say(f"report written to {self.report}")
