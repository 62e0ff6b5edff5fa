"""Reports and pictures that commands write."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.option_names import typed_command
from omnirank.cli.output import say

if TYPE_CHECKING:
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset

PICTURES = (".png", ".svg", ".pdf")
_DPI = 150


def check_files(report: Path | None, plot: Path | None) -> None:
    """Refuse, before anything is computed, endings that are not those of a report or a picture."""
    if report is not None:  # what writes reports imports most of the package
        from omnirank.report.page import PAGES

        _check_ending(report, PAGES)
    if plot is not None:
        _check_ending(plot, PICTURES)


def _check_ending(path: Path, endings: tuple[str, ...]) -> None:
    from omnirank.core.errors import ParameterError

    if path.suffix.lower() not in endings:
        raise ParameterError(f"{path}: the ending must be {' or '.join(endings)}")


def save_picture(ax: Any, path: Path) -> None:
    """Write a picture, in the format that the file's ending names."""
    from omnirank.core.files import replacing

    with ending_on_sigterm(), replacing(path) as file:
        ax.get_figure(root=True).savefig(file, bbox_inches="tight", dpi=_DPI, format=path.suffix[1:].lower())


def save_ranking(ranking: "Ranking", out: Path | None) -> None:
    """Write a ranking to the file that was named, if one was."""
    if out is not None:
        with ending_on_sigterm():
            ranking.save(out)


@dataclass(frozen=True)
class RankingFiles:
    """The files that ``omnirank rank`` is told to write: the ranking, a report, a picture."""

    out: Path | None
    report: Path | None
    plot: Path | None

    def check(self) -> None:
        """Refuse, before anything is computed, files with other endings than they should have."""
        from omnirank.core.ranking.files import check_suffix

        if self.out is not None:
            check_suffix(self.out)
        check_files(self.report, self.plot)

    def write(
        self, ranking: "Ranking", data: "Dataset | RelationalDataset", ranker: Any, seconds: float, k: int
    ) -> None:
        """Write what was named; the picture shows the k best features."""
        from omnirank.core.parallel import progress_bars

        save_ranking(ranking, self.out)
        if self.plot is not None:
            save_picture(ranking.plot(k=k), self.plot)
        if self.report is not None:
            about = {"ranker": ranker, "seconds": seconds, "command": typed_command()}
            with progress_bars(), ending_on_sigterm():
                ranking.report(self.report, data, **about)

    def tell(self) -> None:
        """Say what was written."""
        for what, path in (("whole ranking", self.out), ("report", self.report), ("picture", self.plot)):
            if path is not None:
                say(f"{what} written to {path}")
