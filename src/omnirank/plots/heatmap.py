"""Images of scores: a ranking over a pixel grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.ranking import Ranking
from omnirank.plots.style import new_axes, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Images with fewer rows per column have their scale below.
_FLAT = 0.35


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
    is_flat = n_rows < _FLAT * n_columns
    if ax is None:
        ax = new_axes(*_size(n_rows / n_columns, is_flat))
    pixels = np.maximum(values, 0).reshape(n_rows, n_columns)
    # without a positive score there is no scale: an image of zeros in the lowest colour
    image = ax.imshow(pixels, cmap=cmap, vmin=0.0, vmax=float(pixels.max()) or 1.0, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    if colorbar:
        # beside a single row the scale would be a dot
        place: dict[str, Any] = {"orientation": "horizontal", "pad": 0.08} if is_flat else {"shrink": 0.9, "pad": 0.03}
        bar = ax.figure.colorbar(image, ax=ax, **place)
        bar.outline.set_visible(False)
        bar.set_label("score")
    if title is None and isinstance(scores, Ranking):
        title = f"{scores.method}: scores by pixel"
    if title:
        set_title(ax, title)
    return ax


def _size(ratio: float, is_flat: bool) -> tuple[float, float]:
    """Width and height of a figure in inches, for rows per column: the longer side of the image is 4.2, at least."""
    if is_flat:
        return 5.4, max(1.4, 1.2 + 4.6 * ratio)
    return (5.0, 4.2 * ratio) if ratio <= 1 else (max(2.4, 1.2 + 4.6 / ratio), 4.6)
