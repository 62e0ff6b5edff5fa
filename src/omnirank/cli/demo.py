"""``omnirank demo``: handwritten digits, a hundred of them labelled; which pixels matter?"""

from pathlib import Path
from typing import Annotated

from omnirank.cli.options import option
from omnirank.cli.output import say
from omnirank.cli.rank import print_ranking
from omnirank.cli.writing import check_out, write_picture

_N_LABELLED = 100
_SHAPE = (8, 8)
_PICTURE = Path("omnirank-demo.png")


def demo(
    out: Annotated[Path, option("--out -o FILE", "The picture to write (default: omnirank-demo.png).")] = _PICTURE,
) -> None:
    """Rank the pixels of handwritten digits; needs no data.

    Only 100 of the digits are labelled.
    """
    import numpy as np

    from omnirank.core.parallel import progress
    from omnirank.core.registry import default_method
    from omnirank.data.dataset import Dataset
    from omnirank.data.samples import load_sample
    from omnirank.plots import score_map

    check_out(out, out.parent)
    digits = load_sample("digits")
    hidden = digits.hide_labels(np.random.default_rng(0).permutation(digits.n_examples)[_N_LABELLED:])
    # as a user would bring them: without the task
    data = Dataset(hidden.features, hidden.y, target_names=hidden.target_names, name="digits")
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
    write_picture(score_map(ranking, _SHAPE, title="Which pixels tell handwritten digits apart?"), out)
    say(f"\nPicture written to {out}")
    say("Next: omnirank info YOUR_FILE, then omnirank rank YOUR_FILE --target last")
