"""The folder of public benchmark data, which no checkout holds; tests look for it here as well."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["ROOT", "VARIABLE", "public_data"]

ROOT = Path(__file__).resolve().parent.parent
VARIABLE = "OMNIRANK_DATA"


def public_data() -> Path:
    """Return the folder that the environment variable names, else ``../shared/data``, seen from the checkout."""
    named = os.environ.get(VARIABLE)
    return Path(named).absolute() if named else ROOT.parent / "shared" / "data"
