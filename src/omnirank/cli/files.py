"""Reports and pictures that commands write."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.option_names import typed_command

if TYPE_CHECKING:
    from omnirank.core.ranking import Ranking
    from omnirank.data.dataset import Dataset

PICTURES = (".png", ".svg", ".pdf")
_PAGES = (".html", ".htm")
_DPI = 150


def check_files(report: Path | None, plot: Path | None) -> None:
    """Refuse, before anything is computed, endings that are not those of a report or a picture."""
    from omnirank.core.errors import ParameterError

    for path, endings in ((report, _PAGES), (plot, PICTURES)):
        if path is not None and path.suffix.lower() not in endings:
            raise ParameterError(f"{path}: the ending must be {' or '.join(endings)}")


def draw(ranking: "Ranking", path: Path | None, k: int) -> None:
    """Draw the best features to the file that was named, if one was."""
    if path is not None:
        save_picture(ranking.plot(k=k), path)


def save_picture(ax: Any, path: Path) -> None:
    """Write a picture, in the format that the file's ending names."""
    from omnirank.data.atomic_file import replacing

    with ending_on_sigterm(), replacing(path) as file:
        ax.get_figure(root=True).savefig(file, bbox_inches="tight", dpi=_DPI, format=path.suffix[1:].lower())


def write_report(
    ranking: "Ranking", path: Path | None, data: "Dataset", ranker: Any, seconds: float, budget: float
) -> None:
    """Write a report to the file that was named, if one was."""
    if path is None:
        return
    from omnirank.core.parallel import progress_bars

    with progress_bars(), ending_on_sigterm():
        ranking.report(path, data, budget=budget, ranker=ranker, seconds=seconds, command=typed_command())
