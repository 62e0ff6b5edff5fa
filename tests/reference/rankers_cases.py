"""Drawn columns of numbers and levels with missing cells, and the data frames of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import strategies as st


@st.composite
def columns(draw, n_rows, kinds, least=1, most=4):
    """Columns of Python values, None = missing."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=least, max_size=most))
    return [draw(st.lists(kind, min_size=n_rows, max_size=n_rows)) for kind in chosen]


def frame(values, stem, levels=None):
    """Columns of None and numbers or strings as a typed data frame; levels are those that occur, or those given."""
    typed = {}
    for i, column in enumerate(values):
        if any(isinstance(v, str) for v in column):
            own = sorted({v for v in column if v is not None}) if levels is None else levels
            typed[f"{stem}{i}"] = pd.Series(pd.Categorical(column, categories=own))
        else:
            typed[f"{stem}{i}"] = pd.Series([np.nan if v is None else v for v in column], dtype=float)
    return pd.DataFrame(typed)
