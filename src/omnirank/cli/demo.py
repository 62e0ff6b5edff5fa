"""``omnirank demo``: handwritten digits, a hundred of them labelled; which pixels matter?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from omnirank.cli.options import option
from omnirank.cli.output import console, say
from omnirank.cli.rank import print_ranking
from omnirank.cli.writing import check_out, write_picture

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset

_N_LABELLED = 100
_SHAPE = (8, 8)
_PICTURE = Path("omnirank-demo.png")
# From dark to light, as plots.score_map draws them; white or black digits on top.
_RAMP = (
    *("#000004", "#180f3d", "#440f76", "#721f81", "#9e2f7f"),
    *("#cd4071", "#f1605d", "#fd9668", "#feca8d", "#fcfdbf"),
)
_DARK = 6


def demo(
    out: Annotated[Path, option("--out -o FILE", "The picture to write (default: omnirank-demo.png).")] = _PICTURE,
) -> None:
    """Rank the pixels of handwritten digits; needs no data.

    Only 100 of the digits are labelled.
    """
    from omnirank.core.parallel import progress
    from omnirank.core.registry import default_method
    from omnirank.plots import score_map

    check_out(out, out.parent)
    data = _digits()
    method = default_method()
    say("Handwritten digits, 8 x 8 pixels each: which pixels tell the digits apart?\n", style="bold")
    with progress():
        # the question is what distinguishes the digits, not what describes the images
        ranker = method.make(supervision=1.0, random_state=0, n_jobs=-1).fit(data)
    ranking = ranker.ranking_
    say(f"task      {ranker.task_}, inferred from the labels")
    say(f"examples  {data.n_examples}, {int(data.labelled.sum())} of them labelled")
    say(f"features  {data.n_features} pixels, called pixel_<row>_<column>")
    say(f"method    {method.name}: {method.summary}\n")
    print_ranking(ranking, 10)
    say("\nAll pixels, from · (irrelevant) to 9 (most relevant):\n")
    _print_heatmap(ranking.scores)
    write_picture(score_map(ranking, _SHAPE, title="Which pixels tell handwritten digits apart?"), out)
    say(f"\nPicture written to {out}")
    say("Next: omnirank info YOUR_FILE, then omnirank rank YOUR_FILE --target last")


def _digits() -> "Dataset":
    """The digits with all but some labels hidden, as a user would bring them: without the task."""
    import numpy as np

    from omnirank.data.dataset import Dataset
    from omnirank.data.samples import load_sample

    digits = load_sample("digits")
    order = np.random.default_rng(0).permutation(digits.n_examples)
    hidden = digits.hide_labels(order[_N_LABELLED:])
    return Dataset(hidden.features, hidden.y, target_names=hidden.target_names, name="digits")


def _print_heatmap(scores: Any) -> None:
    """Print scores as a grid of digits, in colours where there are any: 9 for the largest, a dot for nearly 0."""
    import numpy as np
    from rich.text import Text

    grid = np.maximum(np.asarray(scores, dtype=float), 0.0).reshape(_SHAPE)
    text = Text()
    for row in np.rint(9 * grid / (grid.max() or 1.0)).astype(int):
        text.append("  ")
        for level in row:
            ink = "white" if level < _DARK else "black"
            text.append(f" {level or '·'} ", style=f"{ink} on {_RAMP[level]}")
        text.append("\n")
    console().print(text, end="")
