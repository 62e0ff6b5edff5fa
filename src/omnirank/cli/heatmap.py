"""Scores of the pixels of an image in the terminal: colours where there are any, digits always."""

from typing import Any

from omnirank.cli.output import console

# From dark to light, as plots.score_map draws them; white or black digits on top.
_RAMP = (
    *("#000004", "#180f3d", "#440f76", "#721f81", "#9e2f7f"),
    *("#cd4071", "#f1605d", "#fd9668", "#feca8d", "#fcfdbf"),
)
_DARK = 6


def print_heatmap(scores: Any, shape: tuple[int, int]) -> None:
    """Print the scores as a grid of digits, 9 for the largest and a dot for less than a twentieth of it."""
    import numpy as np
    from rich.text import Text

    grid = np.maximum(np.asarray(scores, dtype=float), 0.0).reshape(shape)
    levels = np.rint(9 * grid / (grid.max() or 1.0)).astype(int)
    text = Text()
    for row in levels:
        text.append("  ")
        for level in row:
            ink = "white" if level < _DARK else "black"
            text.append(f" {level or '·'} ", style=f"{ink} on {_RAMP[level]}")
        text.append("\n")
    console().print(text, end="")
