"""Images of scores: a ranking over a pixel grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.ranking import Ranking
from omnirank.plots.style import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def score_map(
    scores: Ranking | Any,
    shape: tuple[int, int],
    ax: Axes | None = None,
    *,
    cmap: str = "magma",
    colorbar: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw the scores of features that are the pixels of an image, row by row.

    Parameters
    ----------
    scores : Ranking or array-like of shape (n_features,)
        Scores in the order of the pixels. Negative scores mean irrelevance and are drawn like 0.
    shape : tuple of int
        Rows and columns of the image.
    ax : Axes, optional
        Where to draw; by default a new figure outside pyplot (no display is needed).
    cmap : str
        Name of a matplotlib colour map.
    colorbar : bool
        Draw the scale.
    title : str, optional
        Title; by default the method of the ranking.

    Returns
    -------
    Axes
        Its ``figure`` has ``savefig``.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.plots import score_map
    >>> score_map(np.arange(6.0), shape=(2, 3)).images[0].get_array().shape
    (2, 3)
    """
    values = scores.scores if isinstance(scores, Ranking) else np.asarray(scores, dtype=np.float64)
    n_rows, n_columns = shape
    if values.ndim != 1 or n_rows * n_columns != values.size:
        raise DataError(f"scores of shape {values.shape} do not fill an image of {n_rows} x {n_columns} pixels")
    if ax is None:
        ax = new_axes(width=5.0, height=max(1.5, min(10.0, 4.2 * n_rows / n_columns)))
    pixels = np.maximum(values, 0).reshape(n_rows, n_columns)
    # without a positive score there is no scale: an image of zeros in the lowest colour
    image = ax.imshow(pixels, cmap=cmap, vmin=0.0, vmax=float(pixels.max()) or 1.0, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    if colorbar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.9, pad=0.03)
        bar.outline.set_visible(False)
        bar.set_label("score")
    if title is None and isinstance(scores, Ranking):
        title = f"{scores.method}: scores by pixel"
    if title:
        ax.set_title(title, loc="left", fontsize="medium")
    return ax
